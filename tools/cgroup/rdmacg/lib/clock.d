lib/clock.o: lib/clock.c lib/lib.h
lib/lib.h:
