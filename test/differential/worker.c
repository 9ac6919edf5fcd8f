// SPDX-License-Identifier: GPL-2.0
/*
 * worker CHANNEL: do system calls on request, until killed. verbs.py makes the requests. The memory
 * is at fixed addresses, so that verbs.py can compute pointers.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A request, and its answer. */
struct call {
	long	number;		/* in the answer: the result, or a negative error */
	long	arguments[6];
	long	child;		/* the channel of the child, if the call is clone() */
	char	data[512];	/* the system call can read and change this */
};

static void *map(unsigned long address, size_t size, int flags)
{
	void *memory = mmap((void *)address, size, PROT_READ | PROT_WRITE,
			    flags | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (memory == MAP_FAILED)
		exit(2);
	return memory;
}

int main(int argc, char *argv[])
{
	struct call *call = map(0x10000000, sizeof(*call), MAP_PRIVATE);
	int channel = atoi(argv[1]);
	long result;

	/* Memory to register. */
	map(0x20000000, 0x100000, MAP_SHARED);
	while (read(channel, call, sizeof(*call)) == sizeof(*call)) {
		result = syscall(call->number, call->arguments[0], call->arguments[1],
				 call->arguments[2], call->arguments[3], call->arguments[4],
				 call->arguments[5]);
		if (call->number == SYS_clone && !result) {
			channel = call->child;
			continue;
		}
		call->number = result < 0 ? -errno : result;
		if (write(channel, call, sizeof(*call)) != sizeof(*call))
			break;
	}
	return 2;
}
