// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_write COUNT SEED CGROUP...: random writes to the files of limits of the cgroups, as root in
 * the guest. The model predicts the result of each write. After it, the files of its cgroup and of
 * another one are read:
 *
 * - a refused write has the error of the model, and has changed nothing;
 * - an accepted write has changed what it names and nothing else. What is then read can be written
 *   back, which changes nothing that is read. That makes all limits the devices' own, so it is not
 *   done each time.
 *
 * Each documented error must occur. A run depends only on COUNT, SEED and the devices. To repeat a
 * failed run, give the number of the failed write as COUNT.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz_write.h"

#define MAX_CGROUPS	8

static const char *const names[] = {
	[MODEL_HCA] = "rdma.max",
	[MODEL_VERB] = "rdma.verb.max",
	[MODEL_HW] = "rdma.hw.max",
	[MODEL_CONTROL] = "rdma.control.max",
	[DEFAULT_FILE] = "rdma.default",
};

/* The documented errors. */
static const int errors[] = { EINVAL, ENODEV, ENOTUNIQ, E2BIG, ENOMEM };

static struct file files[MAX_CGROUPS * FILES];
static unsigned int nr_files;
static int fail_nth_fd;
static unsigned long writes, accepted, written_back, refused[ENOTUNIQ + 1];	/* by error */

static void print_text(void)
{
	size_t i;

	for (i = 0; i < text.len && i < 1024; i++)
		if (text.at[i] < ' ' || text.at[i] > '~' || text.at[i] == '\\')
			printf("\\x%02x", (unsigned char)text.at[i]);
		else
			putchar(text.at[i]);
}

/* Report the error of the last write, and exit. */
static void fail(const struct file *file, const char *format, ...)
{
	va_list args;

	printf("write %lu, %zu bytes to %s: ", writes, text.len, file->path);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\nwritten: ");
	print_text();
	printf("\n");
	exit(1);
}

static void die(const char *what, const char *which)
{
	fprintf(stderr, "fuzz_write: %s %s: %s\n", what, which, strerror(errno));
	exit(2);
}

/* Update the expected text of the file. */
static void expect(struct file *file)
{
	FILE *stream = fmemopen(file->text, sizeof(file->text), "w");
	unsigned int i;

	if (!stream)
		die("no memory for", file->path);
	if (file->class == DEFAULT_FILE)
		model_print_defaults(stream, file->defaults);
	for (i = 0; i < file->nr_devices; i++)
		model_print(stream, &file->devices[i]);
	file->len = ftell(stream);
	if (fclose(stream))
		die("not enough room for the text of", file->path);
}

static void check_file(const struct file *file)
{
	static char seen[sizeof(file->text)];
	ssize_t len = pread(file->fd, seen, sizeof(seen), 0);

	if (len < 0)
		die("cannot read", file->path);
	if ((size_t)len != file->len || memcmp(seen, file->text, len))
		fail(file, "this file has to read\n%.*s\nand reads\n%.*s",
		     (int)file->len, file->text, (int)len, seen);
}

static void check_cgroup(unsigned int cgroup)
{
	unsigned int class;

	for (class = 0; class < FILES; class++)
		check_file(&files[cgroup * FILES + class]);
}

/* Let the @nth allocation of this thread fail; 0: none. */
static void fail_nth(unsigned int nth)
{
	char digits[16];
	int len = snprintf(digits, sizeof(digits), "%u", nth);

	if (pwrite(fail_nth_fd, digits, len, 0) != len)
		die("cannot write", "fail-nth");
}

/* The verdict of the model. Other files may show what one file sets. */
static int write_model(struct file *file)
{
	struct model_text written = { text.at, text.len };
	struct file *other;
	int error;

	if (file->class != DEFAULT_FILE)
		return -model_write(file->devices, file->nr_devices, file->class, file->defaults,
				    written);
	error = -model_write_defaults(file->defaults, written);
	for (other = file->all; !error && other < file; other++) {
		model_use_defaults(other->devices, other->nr_devices, other->class, file->defaults);
		expect(other);
	}
	return error;
}

/*
 * Write the text; true if it was accepted. The @nth allocation fails meanwhile (0: none
 * does), so ENOMEM is also right.
 */
static bool write_text(struct file *file, unsigned int nth)
{
	int error, wanted;
	ssize_t ret;

	if (nth)
		fail_nth(nth);
	ret = pwrite(file->fd, text.at, text.len, 0);
	error = ret < 0 ? errno : 0;
	if (nth)
		fail_nth(0);
	wanted = nth && error == ENOMEM ? ENOMEM : write_model(file);
	if (error != wanted)
		fail(file, "%s instead of %s", strerror(error), strerror(wanted));
	if (error) {
		refused[error]++;
		return false;
	}
	if ((size_t)ret != text.len)
		fail(file, "only %zd bytes were taken", ret);
	expect(file);
	return true;
}

/* What was read can be written, and changes nothing. */
static void write_back(struct file *file)
{
	check_file(file);
	text.len = 0;
	add(file->text, file->len);
	written_back++;
	if (!write_text(file, 0))
		fail(file, "what was read cannot be written back");
	if (file->len != text.len || memcmp(file->text, text.at, text.len))
		fail(file, "what was read means something else when written back");
}

/* Write once, and check the files of that cgroup and of another one. */
static void fuzz_one(void)
{
	unsigned int nr_cgroups = nr_files / FILES;
	unsigned int cgroup = below(nr_cgroups);
	unsigned int neighbour = (cgroup + 1 + below(nr_cgroups - 1)) % nr_cgroups;
	struct file *file = &files[cgroup * FILES + below(FILES)];

	writes++;
	make_text(file, &files[below(nr_files)]);
	if (write_text(file, one_in(64) ? 1 + below(6) : 0)) {
		accepted++;
		if (one_in(4))
			write_back(file);
	}
	check_cgroup(cgroup);
	check_cgroup(neighbour);
}

/* Read the cgroup's files, their devices and keys. */

static void learn_device(struct file *file, const struct model_line *line)
{
	unsigned long long *max = calloc(MAX_KEYS, sizeof(*max));
	bool *own = calloc(MAX_KEYS, sizeof(*own));
	const char **keys = calloc(MAX_KEYS, sizeof(*keys));
	struct model_text rest = line->limits;
	unsigned int nr_keys = 0;
	struct model_limit limit;
	char name[MAX_NAME];

	while (nr_keys < MAX_KEYS && model_next_limit(&rest, &limit)) {
		keys[nr_keys] = strndup(limit.key.at, limit.key.len);
		max[nr_keys++] = limit.max;
	}
	if (!line->good || file->nr_devices == MAX_DEVICES || model_next_limit(&rest, &limit)) {
		errno = EBADMSG;
		die("cannot understand", file->path);
	}
	model_unescape(line->name, name);
	file->devices[file->nr_devices++] = (struct model_device){
		.name = strdup(name),
		.index = line->index,
		.index_is_shown = line->has_index,
		.nr_keys = nr_keys,
		.keys = keys,
		.max = max,
		.own = own,
	};
}

/* The file does not show the index of this device: find the valid index. */
static void learn_index(const struct file *file, struct model_device *device)
{
	unsigned int index, taken = 0;

	for (index = 0; index < MAX_INDEX; index++) {
		text.len = 0;
		add_name(device->name);
		add_string(" index=");
		add_number(index);
		add_string(" max");
		if (pwrite(file->fd, text.at, text.len, 0) < 0)
			continue;
		device->index = index;
		taken++;
	}
	if (taken != 1)
		fail(file, "%u indices of %s below %u are taken", taken, device->name, MAX_INDEX);
}

static void learn_file(struct file *file, const char *cgroup, enum model_class class)
{
	const char *name = names[class];
	struct model_text rest;
	struct model_line line;
	unsigned int i;
	ssize_t len;

	snprintf(file->path, sizeof(file->path), "%s/%s", cgroup, name);
	file->fd = open(file->path, O_RDWR | O_CLOEXEC);
	if (file->fd < 0)
		die("cannot open", file->path);
	file->class = class;
	len = pread(file->fd, text.at, sizeof(text.at), 0);
	if (len < 0 || (!len && class != DEFAULT_FILE))
		die("no limits in", file->path);
	rest = (struct model_text){ text.at, len };
	while (model_next_line(&rest, &line))
		learn_device(file, &line);
	for (i = 0; i < file->nr_devices; i++)
		if (!file->devices[i].index_is_shown)
			learn_index(file, &file->devices[i]);
	expect(file);
	check_file(file);
}

static void learn_cgroup(const char *cgroup)
{
	struct model_defaults *defaults = malloc(sizeof(*defaults));
	struct file *all = &files[nr_files];
	unsigned int class;

	model_defaults_init(defaults);
	for (class = 0; class < FILES; class++) {
		all[class].all = all;
		all[class].defaults = defaults;
		learn_file(&files[nr_files++], cgroup, class);
	}
}

static void report(void)
{
	unsigned int i;

	printf("%lu writes, %lu accepted and read, %lu written back", writes, accepted,
	       written_back);
	for (i = 0; i < ARRAY_SIZE(errors); i++)
		printf(", %lu %s", refused[errors[i]], strerrorname_np(errors[i]));
	printf("\n");
	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		if (refused[errors[i]])
			continue;
		printf("no write failed with %s; take a larger COUNT\n",
		       strerrorname_np(errors[i]));
		exit(1);
	}
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned int cgroup;

	if (argc < 5 || argc > 3 + MAX_CGROUPS || !count) {
		fprintf(stderr, "usage: fuzz_write COUNT SEED CGROUP CGROUP...\n");
		return 2;
	}
	random_seed(strtoul(argv[2], NULL, 10));
	fail_nth_fd = open("/proc/thread-self/fail-nth", O_WRONLY | O_CLOEXEC);
	if (fail_nth_fd < 0)
		die("cannot open", "fail-nth (CONFIG_FAULT_INJECTION?)");
	for (argv += 3; *argv; argv++)
		learn_cgroup(*argv);
	while (writes < count)
		fuzz_one();
	for (cgroup = 0; cgroup < nr_files / FILES; cgroup++)
		check_cgroup(cgroup);
	report();
	return 0;
}
