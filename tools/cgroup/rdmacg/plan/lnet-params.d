plan/lnet-params.o: plan/lnet-params.c plan/lnet.h plan/plan.h \
 core/core.h lib/lib.h
plan/lnet.h:
plan/plan.h:
core/core.h:
lib/lib.h:
