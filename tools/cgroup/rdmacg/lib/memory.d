lib/memory.o: lib/memory.c lib/lib.h
lib/lib.h:
