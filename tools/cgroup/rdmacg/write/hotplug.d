write/hotplug.o: write/hotplug.c write/write.h core/core.h lib/lib.h
write/write.h:
core/core.h:
lib/lib.h:
