write/limits.o: write/limits.c write/write.h core/core.h lib/lib.h
write/write.h:
core/core.h:
lib/lib.h:
