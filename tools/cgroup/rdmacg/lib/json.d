lib/json.o: lib/json.c lib/lib.h
lib/lib.h:
