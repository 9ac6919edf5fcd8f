main.o: main.c lib/lib.h
lib/lib.h:
