run/run-cgroup.o: run/run-cgroup.c core/core.h lib/lib.h run/run-cgroup.h \
 run/child.h write/write.h
core/core.h:
lib/lib.h:
run/run-cgroup.h:
run/child.h:
write/write.h:
