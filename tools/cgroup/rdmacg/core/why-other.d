core/why-other.o: core/why-other.c core/core.h lib/lib.h
core/core.h:
lib/lib.h:
