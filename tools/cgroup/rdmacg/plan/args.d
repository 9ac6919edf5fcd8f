plan/args.o: plan/args.c plan/plan.h core/core.h lib/lib.h
plan/plan.h:
core/core.h:
lib/lib.h:
