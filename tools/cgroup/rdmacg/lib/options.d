lib/options.o: lib/options.c lib/lib.h
lib/lib.h:
