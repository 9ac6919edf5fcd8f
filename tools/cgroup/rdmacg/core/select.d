core/select.o: core/select.c core/core.h lib/lib.h
core/core.h:
lib/lib.h:
