core/hierarchy.o: core/hierarchy.c core/core.h lib/lib.h
core/core.h:
lib/lib.h:
