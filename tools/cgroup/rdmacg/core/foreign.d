core/foreign.o: core/foreign.c core/core.h lib/lib.h
core/core.h:
lib/lib.h:
