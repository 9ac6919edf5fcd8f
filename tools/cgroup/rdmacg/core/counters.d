core/counters.o: core/counters.c core/core.h lib/lib.h
core/core.h:
lib/lib.h:
