core/capacity.o: core/capacity.c core/core.h lib/lib.h
core/core.h:
lib/lib.h:
