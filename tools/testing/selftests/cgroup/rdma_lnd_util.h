/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers for the tests of samples/rdmacg. They create two connected ends, set the parameters of
 * the module, and compute the sizes of Lustre's o2iblnd.
 */
#ifndef RDMA_LND_UTIL_H
#define RDMA_LND_UTIL_H

#include <arpa/inet.h>
#include <stdarg.h>

#include "rdma_verbs_util.h"

#define LND_FILE	"/dev/rdmacg_lnd"
#define LND_PARAMS	"/sys/module/rdmacg_lnd/parameters/"
#define LND_FRAGS	257

/* A kernel with all checks needs minutes for thousands of MRs. */
#define LND_TEST(fixture, test)	TEST_F_TIMEOUT(fixture, test, 180)

/* The parameters of the module, with their defaults. */
static const struct {
	const char *name;
	int value;
} lnd_params[] = {
	{ "credits", 256 },
	{ "peer_credits", 8 },
	{ "conns_per_peer", 1 },
	{ "fmr_pool_size", 512 },
	{ "cpu_npartitions", 1 },
};

/* The two ends of a test. The test's own process is in the root cgroup. */
struct lnd_ends {
	struct rdmacg_tree tree;
	char address[INET_ADDRSTRLEN];
	/*
	 * @left is the end that connects, and is charged to the cgroup "left". @right is its peer,
	 * and is charged to the cgroup "right".
	 */
	int left;
	int right;
};

static inline int lnd_send_wrs(int depth)
{
	return (1 + LND_FRAGS + 2) * depth;
}

static inline int lnd_recv_wrs(int depth)
{
	return 2 * depth + 2;
}

static inline int lnd_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret = fd < 0 || write(fd, text, strlen(text)) < 0 ? errno : 0;

	close(fd);
	return ret;
}

/* Set a parameter of the module. An end reads it when the end listens. Returns 0 or the error. */
static inline int lnd_set(const char *name, int value)
{
	char path[128], text[16];

	snprintf(path, sizeof(path), LND_PARAMS "%s", name);
	snprintf(text, sizeof(text), "%d", value);
	return lnd_write(path, text);
}

/* Write a command. Returns 0 or the error. */
static inline int lnd_say(int fd, const char *format, ...)
{
	char text[128];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return write(fd, text, strlen(text)) < 0 ? errno : 0;
}

/* Read the report of an end. The next call overwrites the text. */
static inline char *lnd_read(int fd)
{
	static char text[4096];
	ssize_t len = pread(fd, text, sizeof(text) - 1, 0);

	text[len > 0 ? len : 0] = '\0';
	return text;
}

/* Returns the value of @key in the report, or -1. */
static inline long long lnd_value(int fd, const char *key)
{
	char *word, *words, *text = lnd_read(fd);
	size_t len = strlen(key);

	for (word = strtok_r(text, "\n ", &words); word; word = strtok_r(NULL, "\n ", &words))
		if (!strncmp(word, key, len) && word[len] == '=')
			return atoll(word + len + 1);
	return -1;
}

/* Open an end that is charged to @cgroup. Returns -1 after a failure. */
static inline int lnd_open(struct rdmacg_tree *tree, const char *cgroup)
{
	int fd = cg_enter_current(cgroup) ? -1 : open(LND_FILE, O_RDWR | O_CLOEXEC);

	return cg_enter_current(tree->root) ? -1 : fd;
}

static inline int lnd_listen(struct lnd_ends *ends, int fd)
{
	return lnd_say(fd, "listen %s", ends->address);
}

static inline int lnd_connect(struct lnd_ends *ends)
{
	return lnd_say(ends->left, "connect %s %lld", ends->address,
		       lnd_value(ends->right, "port"));
}

/* Let both ends listen, and connect them. Returns 0 or the error. */
static inline int lnd_join(struct lnd_ends *ends)
{
	return lnd_listen(ends, ends->left) ?: lnd_listen(ends, ends->right) ?: lnd_connect(ends);
}

static inline void lnd_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/*
 * Returns whether @cgroup is charged for exactly these objects. Each interface has one PD, and each
 * QP has a CQ.
 */
static inline bool lnd_uses(struct rdmacg_tree *tree, const char *cgroup, int pd, int qp, int mr)
{
	const struct {
		const char *key;
		int count;
	} wanted[] = { { "pd", pd }, { "qp", qp }, { "cq", qp }, { "mr", mr } };
	int objects = pd + 2 * qp + mr;
	bool is_so = true;
	long long count;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		count = rdmacg_verbs(tree, cgroup, wanted[i].key);
		if (count == wanted[i].count)
			continue;
		ksft_print_msg("%s: wanted %s=%d, got %lld\n", cgroup, wanted[i].key,
			       wanted[i].count, count);
		is_so = false;
	}
	if (rdmacg_handles(tree, cgroup) == pd && rdmacg_objects(tree, cgroup) == objects)
		return is_so;
	ksft_print_msg("%s: wanted hca_handle=%d hca_object=%d, got %s", cgroup, pd, objects,
		       rdmacg_read(cgroup, "rdma.current"));
	return false;
}

static inline bool lnd_uses_nothing(struct rdmacg_tree *tree, const char *cgroup)
{
	return lnd_uses(tree, cgroup, 0, 0, 0) && !rdmacg_verbs(tree, cgroup, "mr_mem");
}

/* Load the module with the program that the kernel itself uses. */
static inline bool lnd_load(void)
{
	system("$(cat /proc/sys/kernel/modprobe) rdmacg_lnd 2>/dev/null");
	return !access(LND_FILE, F_OK);
}

static inline const char *lnd_find_address(struct lnd_ends *ends)
{
	struct ibv_context *context = rdmacg_open(&ends->tree);
	struct in_addr address = { context ? rdmacg_find_address(context) : 0 };

	if (context)
		ibv_close_device(context);
	inet_ntop(AF_INET, &address, ends->address, sizeof(ends->address));
	return address.s_addr ? NULL : "the device has no IPv4 address";
}

/* Reset the parameters, which this test or a killed test may have set. */
static inline bool lnd_set_defaults(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lnd_params); i++)
		if (lnd_set(lnd_params[i].name, lnd_params[i].value))
			return false;
	return true;
}

static inline void lnd_ends_destroy(struct lnd_ends *ends)
{
	lnd_set_defaults();
	lnd_close(&ends->left);
	lnd_close(&ends->right);
	rdmacg_tree_destroy(&ends->tree);
}

/* Open both ends, without limits. Returns NULL, or a text that names what is missing. */
static inline const char *lnd_ends_create(struct lnd_ends *ends)
{
	const char *missing = rdmacg_tree_create(&ends->tree);

	ends->left = -1;
	ends->right = -1;
	if (missing)
		return missing;
	if (!strncmp(ends->tree.device, "siw", 3))
		missing = "the MRs of Soft-iWARP are a page too short for o2iblnd";
	else if (!lnd_load())
		missing = "there is no module rdmacg_lnd (CONFIG_SAMPLE_RDMACG_LND)";
	else if (!lnd_set_defaults())
		missing = "the module's parameters cannot be set";
	else
		missing = lnd_find_address(ends);
	if (!missing) {
		ends->left = lnd_open(&ends->tree, ends->tree.left);
		ends->right = lnd_open(&ends->tree, ends->tree.right);
		if (ends->left < 0 || ends->right < 0)
			missing = LND_FILE " cannot be opened";
	}
	if (missing)
		lnd_ends_destroy(ends);
	return missing;
}

#endif /* RDMA_LND_UTIL_H */
