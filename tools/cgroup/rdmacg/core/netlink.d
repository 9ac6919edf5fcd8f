core/netlink.o: core/netlink.c core/core.h lib/lib.h
core/core.h:
lib/lib.h:
