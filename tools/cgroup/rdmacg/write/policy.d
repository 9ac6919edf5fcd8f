write/policy.o: write/policy.c write/write.h core/core.h lib/lib.h
write/write.h:
core/core.h:
lib/lib.h:
