plan/lnet-link.o: plan/lnet-link.c plan/lnet.h plan/plan.h core/core.h \
 lib/lib.h
plan/lnet.h:
plan/plan.h:
core/core.h:
lib/lib.h:
