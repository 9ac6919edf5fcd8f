lib/file.o: lib/file.c lib/lib.h
lib/lib.h:
