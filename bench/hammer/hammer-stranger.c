// SPDX-License-Identifier: GPL-2.0
/* Hammer: the operations of the stranger, one after the other, and their times. */
#define _GNU_SOURCE
#include "hammer.h"

/* The second device has a link and two names. */
#define LINK	"hammer0"
#define NAME	"hammer_a"
#define RENAMED	"hammer_b"

/* The time to open the device, reported through a pipe. */
[[gnu::noreturn]] static void time_open(int out)
{
	unsigned long long begin = hammer_now(), ns;
	struct ibv_context *context = ibv_open_device(hammer_device);

	ns = hammer_now() - begin;
	if (!context)
		hammer_fail("stranger's open: wanted " HAMMER_DEVICE ", got %m");
	if (write(out, &ns, sizeof(ns)) != sizeof(ns))
		hammer_fail("stranger's pipe: wanted %zu bytes written, got %m", sizeof(ns));
	ibv_close_device(context);
	_exit(0);
}

static void do_open(void)
{
	static unsigned int number;
	unsigned long long ns;
	char path[64];
	int ends[2];
	int dir;
	pid_t child;

	snprintf(path, sizeof(path), HAMMER_STRANGER "-%u", ++number);
	hammer_mkdir(AT_FDCWD, path);
	dir = hammer_open(AT_FDCWD, path, O_DIRECTORY);
	if (pipe2(ends, O_CLOEXEC))
		hammer_fail("pipe: wanted one, got %m");
	child = hammer_spawn(dir);
	if (!child)
		time_open(ends[1]);
	close(ends[1]);
	hammer_await("stranger's open", child);
	if (read(ends[0], &ns, sizeof(ns)) != sizeof(ns))
		hammer_fail("stranger's pipe: wanted %zu bytes, got less", sizeof(ns));
	hammer_sample(HAMMER_OPEN, ns);
	close(ends[0]);
	close(dir);
	hammer_rmdir(AT_FDCWD, path);
}

static void do_mkdir(void)
{
	unsigned long long begin = hammer_now();

	hammer_mkdir(AT_FDCWD, HAMMER_STRANGER "-made");
	hammer_rmdir(AT_FDCWD, HAMMER_STRANGER "-made");
	hammer_sample(HAMMER_MKDIR, hammer_now() - begin);
}

/* The time of the tool "rdma", for which an administrator waits. */
static unsigned long long time_rdma(const char *const *words)
{
	unsigned long long begin = hammer_now();
	pid_t child = hammer_spawn(-1);
	char what[64];

	if (!child) {
		execvp("rdma", (char **)words);
		_exit(127);
	}
	snprintf(what, sizeof(what), "rdma %s %s", words[1], words[2]);
	hammer_await(what, child);
	return hammer_now() - begin;
}

#define RDMA(...) time_rdma((const char *const []) { "rdma", __VA_ARGS__, NULL })

static void do_link(void)
{
	unsigned long long ns;

	ns = RDMA("link", "add", NAME, "type", "rxe", "netdev", LINK);
	hammer_sample(HAMMER_RENAME, RDMA("dev", "set", NAME, "name", RENAMED));
	ns += RDMA("link", "delete", RENAMED);
	hammer_sample(HAMMER_LINK, ns);
}

void hammer_measure(const struct hammer_kind *kind, unsigned int ms)
{
	unsigned long long end = hammer_now() + ms * 1000000ULL;
	unsigned int i;

	do {
		for (i = 0; i < 16; i++) {
			do_open();
			do_mkdir();
		}
		do_link();
		if (hammer_shared->failed)
			hammer_fail("%s: %s", kind->name, hammer_shared->reason);
	} while (hammer_now() < end);
}
