core/filter.o: core/filter.c core/core.h lib/lib.h
core/core.h:
lib/lib.h:
