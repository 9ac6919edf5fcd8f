lib/table.o: lib/table.c lib/lib.h
lib/lib.h:
