plan/ceph.o: plan/ceph.c plan/plan.h core/core.h lib/lib.h
plan/plan.h:
core/core.h:
lib/lib.h:
