top/screen.o: top/screen.c lib/lib.h top/top.h core/core.h
lib/lib.h:
top/top.h:
core/core.h:
