lib/number.o: lib/number.c lib/lib.h
lib/lib.h:
