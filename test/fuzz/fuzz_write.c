// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_write COUNT SEED CGROUP...: random writes to the files of limits of the
 * cgroups, as root in the guest. The model says of each write what it has to do, and
 * after each one the files of its cgroup and of another one are read:
 *
 * - a refused write has changed nothing, and its error is one that the documentation
 *   has for a mistake in that text;
 * - an accepted one has changed what it names and nothing else, and what is then read
 *   can be written back, which changes nothing.
 *
 * Every error that the documentation lists has to occur. A run depends on COUNT, SEED
 * and the devices alone; COUNT as small as the number of the write that failed
 * repeats it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz_write.h"

#define MAX_CGROUPS	8

/* One file, and what it has to say. */
struct file {
	char path[256];
	int fd;
	struct limits limits;
	char text[8192];
	size_t len;
};

static const char *const names[] = { "rdma.max", "rdma.verb.max", "rdma.hw.max" };

#define CLASSES ARRAY_SIZE(names)

/* Refusals by the documentation; a set of them has a bit for each. */
static const struct {
	int error;
	const char *name;
} errors[] = {
	{ EINVAL, "EINVAL" },
	{ ENODEV, "ENODEV" },
	{ ENOTUNIQ, "ENOTUNIQ" },
	{ E2BIG, "E2BIG" },
	{ ENOMEM, "ENOMEM" },
};

#define ERRORS ARRAY_SIZE(errors)

static struct file files[MAX_CGROUPS * CLASSES];
static unsigned int nr_files;
static int fail_nth_fd;
static unsigned long writes, accepted, refused[ERRORS];

static void print_text(void)
{
	size_t i;

	for (i = 0; i < text.len && i < 1024; i++)
		if (text.at[i] < ' ' || text.at[i] > '~' || text.at[i] == '\\')
			printf("\\x%02x", (unsigned char)text.at[i]);
		else
			putchar(text.at[i]);
}

/* End with what was wrong with the last write. */
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

/* The model of the files. */

static unsigned int mistake(int error)
{
	unsigned int i = 0;

	while (errors[i].error != error)
		i++;
	return 1u << i;
}

static bool model_key_is(struct model_text key, const char *name)
{
	return !key.len || model_is(key, name);
}

static unsigned int model_set_limit(struct device *device, const struct model_limit *limit)
{
	bool found = false;
	unsigned int i;

	for (i = 0; i < device->nr_keys; i++) {
		if (!model_key_is(limit->key, device->keys[i]))
			continue;
		device->max[i] = limit->max;
		found = true;
	}
	return found ? 0 : mistake(EINVAL);
}

/* The only device that the line can mean; or NULL, and the mistake. */
static struct device *model_find(struct limits *limits, const struct model_line *line,
				 unsigned int *mistakes)
{
	struct device *device, *found = NULL;

	for (device = limits->devices; device < limits->devices + limits->nr_devices; device++) {
		if (!model_is(line->name, device->name) ||
		    (line->has_index && line->index != device->index))
			continue;
		if (found) {
			*mistakes |= mistake(ENOTUNIQ);
			return NULL;
		}
		found = device;
	}
	if (!found)
		*mistakes |= mistake(ENODEV);
	return found;
}

/* All mistakes of the line, and what it sets. */
static unsigned int model_set_line(struct limits *limits, const struct model_line *line)
{
	unsigned int mistakes = line->good ? 0 : mistake(EINVAL);
	struct device *device = model_find(limits, line, &mistakes);
	struct model_text rest = line->limits;
	struct model_limit limit;

	while (device && line->good && model_next_limit(&rest, &limit) > 0)
		mistakes |= model_set_limit(device, &limit);
	return mistakes;
}

/*
 * All mistakes of the text, of which the kernel may tell any; without one, *@limits
 * is what the file holds afterwards. A write of nothing is none.
 */
static unsigned int model_write(struct limits *limits)
{
	struct model_text rest = { text.at, text.len };
	unsigned int mistakes = 0, lines = 0;
	struct model_line line;

	if (text.len > MAX_WRITE)
		return mistake(E2BIG);
	if (memchr(text.at, '\0', text.len))
		return mistake(EINVAL);
	if (!model_lines_end(rest))
		mistakes |= mistake(EINVAL);
	for (; model_next_line(&rest, &line); lines++)
		mistakes |= model_set_line(limits, &line);
	return lines || !text.len ? mistakes : mistake(EINVAL);
}

static void print_into(struct file *file, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	file->len += vsnprintf(file->text + file->len, sizeof(file->text) - file->len, format,
			       args);
	va_end(args);
	if (file->len >= sizeof(file->text))
		die("not enough room for the text of", file->path);
}

static void model_print_device(struct file *file, const struct device *device)
{
	unsigned int i;

	print_into(file, "%s", device->name);
	if (device->index_is_shown)
		print_into(file, " index=%u", device->index);
	for (i = 0; i < device->nr_keys; i++)
		if (device->max[i] == MODEL_NO_LIMIT)
			print_into(file, " %s=max", device->keys[i]);
		else
			print_into(file, " %s=%llu", device->keys[i],
				   device->max[i]);
	print_into(file, "\n");
}

static void model_print(struct file *file)
{
	unsigned int i;

	file->len = 0;
	for (i = 0; i < file->limits.nr_devices; i++)
		model_print_device(file, &file->limits.devices[i]);
}

/* The files themselves. */

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

	for (class = 0; class < CLASSES; class++)
		check_file(&files[cgroup * CLASSES + class]);
}

/* Let the @nth allocation of this thread fail; 0: none. */
static void fail_nth(unsigned int nth)
{
	char digits[16];
	int len = snprintf(digits, sizeof(digits), "%u", nth);

	if (pwrite(fail_nth_fd, digits, len, 0) != len)
		die("cannot write", "fail-nth");
}

static void count_refusal(const struct file *file, int error, unsigned int allowed)
{
	unsigned int i;

	for (i = 0; i < ERRORS; i++) {
		if (errors[i].error != error || !(allowed & (1u << i)))
			continue;
		refused[i]++;
		return;
	}
	fail(file, "%s, which is no error for that", strerror(error));
}

/*
 * Write the text, with the @nth allocation failing, which may refuse any write; 0:
 * none. Whether it was accepted.
 */
static bool write_text(struct file *file, unsigned int nth)
{
	static struct limits limits;
	unsigned int mistakes;
	ssize_t ret;
	int error;

	limits = file->limits;
	mistakes = model_write(&limits);
	if (nth)
		fail_nth(nth);
	ret = pwrite(file->fd, text.at, text.len, 0);
	error = errno;
	if (nth)
		fail_nth(0);
	if (ret < 0) {
		count_refusal(file, error, nth ? mistakes | mistake(ENOMEM) : mistakes);
		return false;
	}
	if ((size_t)ret != text.len)
		fail(file, "only %zd bytes were taken", ret);
	if (mistakes)
		fail(file, "this is to be refused");
	file->limits = limits;
	model_print(file);
	return true;
}

/* What was read can be written, and changes nothing. */
static void write_back(struct file *file)
{
	check_file(file);
	text.len = 0;
	add(file->text, file->len);
	if (!write_text(file, 0))
		fail(file, "what was read cannot be written back");
	if (file->len != text.len || memcmp(file->text, text.at, text.len))
		fail(file, "what was read means something else when written back");
}

/* One write and its judgement: the files of its cgroup and of one other. */
static void fuzz_one(void)
{
	unsigned int nr_cgroups = nr_files / CLASSES;
	unsigned int cgroup = below(nr_cgroups);
	unsigned int neighbour = (cgroup + 1 + below(nr_cgroups - 1)) % nr_cgroups;
	struct file *file = &files[cgroup * CLASSES + below(CLASSES)];
	const struct file *other = &files[below(nr_files)];

	writes++;
	make_text(&file->limits, &other->limits, (struct model_text){ other->text, other->len });
	if (write_text(file, one_in(64) ? 1 + below(6) : 0)) {
		accepted++;
		write_back(file);
	}
	check_cgroup(cgroup);
	check_cgroup(neighbour);
}

/* What is there: a cgroup's files, their devices and keys. */

static void learn_key(struct device *device, struct model_text key, unsigned long long max)
{
	if (device->nr_keys == MAX_KEYS || key.len >= sizeof(device->keys[0])) {
		errno = EOVERFLOW;
		die("too many or too long keys of", device->name);
	}
	memcpy(device->keys[device->nr_keys], key.at, key.len);
	device->max[device->nr_keys++] = max;
}

static void learn_device(struct file *file, const struct model_line *line)
{
	struct device *device = &file->limits.devices[file->limits.nr_devices++];
	struct model_text rest = line->limits;
	struct model_limit limit;

	if (!line->good || file->limits.nr_devices > MAX_DEVICES ||
	    line->name.len >= sizeof(device->name)) {
		errno = EBADMSG;
		die("cannot understand", file->path);
	}
	memcpy(device->name, line->name.at, line->name.len);
	device->index = line->index;
	device->index_is_shown = line->has_index;
	while (model_next_limit(&rest, &limit) > 0)
		learn_key(device, limit.key, limit.max);
}

/* The index of a device of which the file does not show it: the one that is taken. */
static void learn_index(const struct file *file, struct device *device)
{
	unsigned int index, taken = 0;

	for (index = 0; index < MAX_INDEX; index++) {
		text.len = 0;
		add_string(device->name);
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

static void learn_file(struct file *file, const char *cgroup, const char *name)
{
	struct model_text rest;
	struct model_line line;
	unsigned int i;
	ssize_t len;

	snprintf(file->path, sizeof(file->path), "%s/%s", cgroup, name);
	file->fd = open(file->path, O_RDWR | O_CLOEXEC);
	if (file->fd < 0)
		die("cannot open", file->path);
	len = pread(file->fd, text.at, sizeof(text.at), 0);
	if (len <= 0)
		die("no limits in", file->path);
	rest = (struct model_text){ text.at, len };
	while (model_next_line(&rest, &line))
		learn_device(file, &line);
	for (i = 0; i < file->limits.nr_devices; i++)
		if (!file->limits.devices[i].index_is_shown)
			learn_index(file, &file->limits.devices[i]);
	model_print(file);
	check_file(file);
}

static void learn_cgroup(const char *cgroup)
{
	unsigned int class;

	for (class = 0; class < CLASSES; class++)
		learn_file(&files[nr_files++], cgroup, names[class]);
}

static void report(void)
{
	unsigned int i;

	printf("%lu writes, %lu accepted and read and written back", writes, accepted);
	for (i = 0; i < ERRORS; i++)
		printf(", %lu %s", refused[i], errors[i].name);
	printf("\n");
	for (i = 0; i < ERRORS; i++) {
		if (refused[i])
			continue;
		printf("no write failed with %s; take a larger COUNT\n", errors[i].name);
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
	for (cgroup = 0; cgroup < nr_files / CLASSES; cgroup++)
		check_cgroup(cgroup);
	report();
	return 0;
}
