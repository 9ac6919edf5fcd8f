run/child.o: run/child.c lib/lib.h run/child.h
lib/lib.h:
run/child.h:
