lib/message.o: lib/message.c lib/lib.h
lib/lib.h:
