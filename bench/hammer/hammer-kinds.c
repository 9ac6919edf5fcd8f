// SPDX-License-Identifier: GPL-2.0
/*
 * Hammer: the work of the processes of the delegated cgroup, and its setup. The cgroups are /own0,
 * /own1 and so on, or a chain of nested cgroups.
 */
#define _GNU_SOURCE
#include <sys/stat.h>
#include <time.h>

#include "hammer.h"

/* A text of limits, as large as the file takes; its last line may be wrong. */
#define LINE		HAMMER_DEVICE " max\n"
#define WRONG_LINE	HAMMER_DEVICE " mix\n"
#define DEFAULT		"hca_object=5"
#define NO_DEFAULT	"max"
static char text[256 * 1024];
static size_t text_len;

/* The wanted and the actual number of cgroups in the chain, and the lowest cgroup. */
unsigned int hammer_depth;
static unsigned int chain_length;
int hammer_leaf = -1;

static void act_burn(unsigned int number)
{
	unsigned int i;

	for (i = 0; i < 100000; i++)
		asm volatile("");
}

/* A cgroup that one of the processes writes to, or a file in it. */
static void own_path(char *path, unsigned int number, const char *file)
{
	sprintf(path, HAMMER_TOP "/own%u%s", number, file);
}

/* Each call of a process writes to the same file, which it opens once. */
static void write_own(unsigned int number, const char *string, size_t len, int wanted)
{
	static int file = -1;
	char path[64];
	int error;

	if (file < 0) {
		own_path(path, number, "/rdma.max");
		file = hammer_open(AT_FDCWD, path, O_WRONLY);
	}
	error = write(file, string, len) == (ssize_t)len ? 0 : errno;
	if (error != wanted)
		hammer_fail("own%u/rdma.max: wanted %s of %zu bytes, got %s", number,
			    strerrorname_np(wanted), len, strerrorname_np(error));
}

void hammer_write_texts(unsigned int number)
{
	write_own(number, text, text_len, 0);
}

static void act_write_wrong(unsigned int number)
{
	write_own(number, text, text_len, EINVAL);
}

/* All in one cgroup, in which process 0 also has work. */
static void act_write_default(unsigned int number)
{
	char path[64];

	if (number) {
		own_path(path, 0, "/rdma.default");
		hammer_write(AT_FDCWD, path, DEFAULT);
		hammer_write(AT_FDCWD, path, NO_DEFAULT);
	} else {
		write_own(0, text, text_len, 0);
	}
}

void hammer_write_leaf(const char *string)
{
	static int file = -1;

	if (file < 0)
		file = hammer_open(hammer_leaf, "rdma.max", O_WRONLY);
	if (write(file, string, strlen(string)) < 0)
		hammer_fail("rdma.max of the leaf: wanted \"%s\" written, got %m", string);
}

static void act_chain_max(unsigned int number)
{
	hammer_write_leaf(LINE);
}

static void act_chain_limit(unsigned int number)
{
	hammer_write_leaf(HAMMER_DEVICE " hca_object=5\n");
	hammer_write_leaf(LINE);
}

static void act_chain_refuse(unsigned int number)
{
	errno = 0;
	if (ibv_open_device(hammer_device) || errno != EAGAIN)
		hammer_fail("open in the leaf: wanted EAGAIN, got %s", strerrorname_np(errno));
}

/* Process 0 removes and creates the cgroups to which the @count other processes write. */
static void remove_and_make(unsigned int count)
{
	char path[64];
	unsigned int i;

	for (i = 1; i <= count; i++) {
		own_path(path, i, "");
		hammer_rmdir(AT_FDCWD, path);
		hammer_shared->blows[0]++;
	}
	for (i = 1; i <= count; i++) {
		own_path(path, i, "");
		hammer_mkdir(AT_FDCWD, path);
	}
}

/* Write to a file whose cgroup may be removed meanwhile, or already is. */
static void write_removed(const char *path, const char *string, size_t len)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);

	if (file < 0) {
		if (errno != ENOENT && errno != ENODEV)
			hammer_fail("%s: wanted it open or ENOENT, got %m", path);
		hammer_sleep_ms(1);
		return;
	}
	if (write(file, string, len) < 0 && errno != ENODEV)
		hammer_fail("%s: wanted it written or ENODEV, got %m", path);
	close(file);
}

/*
 * Five hundred busy processes would delay all others, whatever they do, so all writers together
 * use one processor on average.
 */
static void write_one_of_many(unsigned int number, const char *file,
			      const char *const strings[2])
{
	static unsigned int next;
	static clock_t used;
	clock_t begin;
	char path[64];

	usleep(used * HAMMER_MANY);
	begin = clock();
	own_path(path, number, file);
	next = !next;
	write_removed(path, strings[next], strlen(strings[next]));
	/* The first time includes the page faults of a new process. */
	used = hammer_shared->blows[number] ? clock() - begin : 0;
}

static void act_removed(unsigned int number)
{
	static const char *const limits[] = { HAMMER_DEVICE " hca_object=5\n", LINE };

	if (number)
		write_one_of_many(number, "/rdma.max", limits);
	else
		remove_and_make(HAMMER_MANY);
}

/* The control of the above: the only difference is that a write to this file takes no lock. */
static void act_removed_pids(unsigned int number)
{
	static const char *const limits[] = { "5\n", "max\n" };

	if (number)
		write_one_of_many(number, "/pids.max", limits);
	else
		remove_and_make(HAMMER_MANY);
}

/* rmdir waits for writers of the cgroup's files, with a lock of all cgroups held. */
static void act_removed_text(unsigned int number)
{
	char path[64];

	own_path(path, number, "/rdma.max");
	if (number)
		write_removed(path, text, text_len);
	else
		remove_and_make(HAMMER_FEW);
}

static void make_own(unsigned int first, unsigned int count)
{
	char path[64];

	while (count--) {
		own_path(path, first + count, "");
		hammer_mkdir(AT_FDCWD, path);
	}
}

/* Some may not exist, if this kind removes them all the time. */
void hammer_remove_own(void)
{
	char path[64];
	unsigned int i;

	for (i = 0; i <= HAMMER_MANY; i++) {
		own_path(path, i, "");
		if (!access(path, F_OK))
			hammer_rmdir(AT_FDCWD, path);
	}
}

/* Write lines up to @size bytes. Returns whether the file accepts them. */
static bool takes_text(const char *path, size_t size)
{
	int file = hammer_open(AT_FDCWD, path, O_WRONLY);
	ssize_t written;

	text_len = 0;
	while (text_len + strlen(LINE) <= size) {
		memcpy(text + text_len, LINE, strlen(LINE));
		text_len += strlen(LINE);
	}
	written = write(file, text, text_len);
	if (written < 0 && errno != E2BIG)
		hammer_fail("%s: wanted %zu bytes written or E2BIG, got %m", path, text_len);
	close(file);
	return written > 0;
}

static void fill_text(const char *path)
{
	if (!takes_text(path, sizeof(text)) && !takes_text(path, 64 * 1024 - 1))
		hammer_fail("%s: wanted %zu bytes written, got E2BIG", path, text_len);
}

void hammer_make_texts(void)
{
	make_own(0, HAMMER_FEW);
	fill_text(HAMMER_TOP "/own0/rdma.max");
}

static void set_up_write_wrong(void)
{
	hammer_make_texts();
	memcpy(text + text_len - strlen(WRONG_LINE), WRONG_LINE, strlen(WRONG_LINE));
}

static void set_up_removed(void)
{
	make_own(1, HAMMER_MANY);
}

static void set_up_removed_text(void)
{
	make_own(1, HAMMER_FEW);
	fill_text(HAMMER_TOP "/own1/rdma.max");
}

/*
 * As deep as the kernel allows, at most @hammer_depth. A path cannot be that long, so each step
 * begins in the previous cgroup.
 */
void hammer_make_chain(void)
{
	unsigned int level;
	int next;

	hammer_mkdir(AT_FDCWD, HAMMER_CHAIN);
	hammer_leaf = hammer_open(AT_FDCWD, HAMMER_CHAIN, O_DIRECTORY);
	for (level = 1; level < hammer_depth; level++) {
		hammer_write(hammer_leaf, "cgroup.subtree_control", "+rdma");
		if (mkdirat(hammer_leaf, "c", 0755)) {
			if (errno != EAGAIN)
				hammer_fail("level %u: wanted mkdir or EAGAIN, got %m", level);
			hammer_write(hammer_leaf, "cgroup.subtree_control", "-rdma");
			break;
		}
		next = hammer_open(hammer_leaf, "c", O_DIRECTORY);
		close(hammer_leaf);
		hammer_leaf = next;
	}
	chain_length = level;
}

static void make_refusing_chain(void)
{
	hammer_make_chain();
	hammer_write(AT_FDCWD, HAMMER_CHAIN "/rdma.max", HAMMER_DEVICE " hca_handle=0");
}

void hammer_remove_chain(void)
{
	unsigned int level;
	int next;

	for (level = 1; level < chain_length; level++) {
		next = hammer_open(hammer_leaf, "..", O_DIRECTORY);
		close(hammer_leaf);
		hammer_leaf = next;
		hammer_rmdir(hammer_leaf, "c");
	}
	close(hammer_leaf);
	hammer_rmdir(AT_FDCWD, HAMMER_CHAIN);
}

static const struct hammer_kind hammer_kinds[] = {
	{ "idle" },
	{ "burn", NULL, act_burn, HAMMER_FEW },
	{ "write-max", "burn", hammer_write_texts, HAMMER_FEW, hammer_make_texts,
	  hammer_remove_own },
	{ "write-wrong", "burn", act_write_wrong, HAMMER_FEW, set_up_write_wrong,
	  hammer_remove_own },
	{ "write-default", "burn", act_write_default, HAMMER_FEW, hammer_make_texts,
	  hammer_remove_own },
	{ "chain-max", "burn", act_chain_max, HAMMER_FEW, hammer_make_chain, hammer_remove_chain },
	{ "chain-limit", "burn", act_chain_limit, HAMMER_FEW, hammer_make_chain,
	  hammer_remove_chain },
	{ "chain-refuse", "burn", act_chain_refuse, HAMMER_FEW, make_refusing_chain,
	  hammer_remove_chain, .is_in_leaf = true },
	{ "texts-rmdir", "burn", act_removed_text, HAMMER_FEW + 1, set_up_removed_text,
	  hammer_remove_own },
	{ "pids-rmdir", NULL, act_removed_pids, HAMMER_MANY + 1, set_up_removed,
	  hammer_remove_own },
	{ "writers-rmdir", "pids-rmdir", act_removed, HAMMER_MANY + 1, set_up_removed,
	  hammer_remove_own },
};

const struct hammer_kind *hammer_find_kind(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hammer_kinds); i++)
		if (!strcmp(hammer_kinds[i].name, name))
			return &hammer_kinds[i];
	for (i = 0; hammer_sibling_kinds[i].name; i++)
		if (!strcmp(hammer_sibling_kinds[i].name, name))
			return &hammer_sibling_kinds[i];
	return NULL;
}
