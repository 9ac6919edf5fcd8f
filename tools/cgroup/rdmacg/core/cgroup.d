core/cgroup.o: core/cgroup.c core/core.h lib/lib.h
core/core.h:
lib/lib.h:
