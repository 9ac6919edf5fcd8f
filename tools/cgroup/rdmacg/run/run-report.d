run/run-report.o: run/run-report.c run/run-report.h core/core.h lib/lib.h
run/run-report.h:
core/core.h:
lib/lib.h:
