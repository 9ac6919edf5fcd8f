core/device.o: core/device.c core/core.h lib/lib.h
core/core.h:
lib/lib.h:
