core/parse-line.o: core/parse-line.c core/core.h lib/lib.h
core/core.h:
lib/lib.h:
