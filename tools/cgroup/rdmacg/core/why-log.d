core/why-log.o: core/why-log.c core/core.h lib/lib.h
core/core.h:
lib/lib.h:
