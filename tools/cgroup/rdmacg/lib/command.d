lib/command.o: lib/command.c lib/lib.h
lib/lib.h:
