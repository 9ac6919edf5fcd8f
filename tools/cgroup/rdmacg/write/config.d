write/config.o: write/config.c core/core.h lib/lib.h write/write.h
core/core.h:
lib/lib.h:
write/write.h:
