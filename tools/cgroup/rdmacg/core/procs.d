core/procs.o: core/procs.c core/core.h lib/lib.h
core/core.h:
lib/lib.h:
