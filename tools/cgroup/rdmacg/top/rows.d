top/rows.o: top/rows.c top/top.h core/core.h lib/lib.h
top/top.h:
core/core.h:
lib/lib.h:
