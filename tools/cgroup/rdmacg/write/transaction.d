write/transaction.o: write/transaction.c write/write.h core/core.h \
 lib/lib.h
write/write.h:
core/core.h:
lib/lib.h:
