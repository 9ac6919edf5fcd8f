lib/text.o: lib/text.c lib/lib.h
lib/lib.h:
