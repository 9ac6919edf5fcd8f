plan/libfabric.o: plan/libfabric.c plan/plan.h core/core.h lib/lib.h
plan/plan.h:
core/core.h:
lib/lib.h:
