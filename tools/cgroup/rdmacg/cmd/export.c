// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg export: figures for a monitoring system. The format requires all samples of a family
 * together. So rdmacg reads the tree once, and then prints one family after the other.
 */
#include <sys/file.h>

#include "core/core.h"

/*
 * A tenant with a delegated cgroup chooses the number, the depth and the names of the cgroups below
 * it. These bounds keep the output below 64 MiB, which is LimitFSIZE= of rdmacg-export.service: a
 * line has at most EXPORT_LONGEST bytes for the labels of the cgroup, and about 110 other bytes.
 */
#define EXPORT_SERIES	100000
#define EXPORT_DEPTH	16
#define EXPORT_LONGEST	512
/* A cgroup with a limit and a usage has about this many series for each resource. */
#define EXPORT_PER_CGROUP	5

/* A cgroup of the walk, before its descendants and after its ancestors. */
struct export_cgroup {
	uint64_t inode;
	unsigned int depth;
	size_t own, total;	/* weight of this cgroup and of the subtree, for the share */
	size_t end;	/* the cgroup after the descendants */
	bool kept;
	bool is_other;	/* only the parent has series: its usage is part of the others */
	char *label;	/* the label cgroup="a" and a comma, or NULL if there are no samples */
};

/* There can be a million samples, so the struct is small. */
struct export_sample {
	const char *labels;	/* device="rxe0",resource="qp", for all samples of the resource */
	uint64_t value;
	uint32_t cgroup;	/* the index of the cgroup, or one of the next two numbers */
};

#define EXPORT_DEVICE	UINT32_MAX
#define EXPORT_OTHERS	(UINT32_MAX - 1)

/* Besides the bits for files: the capacity and the usage of devices, rdma.control.stat, netlink. */
#define EXPORT_CAPACITY	POOL_BIT(POOL_FILES)
#define EXPORT_IN_USE	POOL_BIT(POOL_FILES + 1)
#define EXPORT_WAITS	POOL_BIT(POOL_FILES + 2)
#define EXPORT_OWNED	POOL_BIT(POOL_FILES + 3)

static struct export_family {
	const char *name;
	const char *help;
	size_t at;		/* the figure in struct slot */
	unsigned int has;	/* the files that have the figure */
	bool bytes;
	bool counter;		/* a number of attempts, for objects and for memory */
	const char *key;	/* only of this key; the values are millionths of the unit */
	struct export_sample *samples;
	size_t nr_samples;
} export_families[] = {
	{ "rdmacg_usage", "Objects that a cgroup and its descendants use.",
	  offsetof(struct slot, usage), POOL_BIT(POOL_CURRENT) },
	{ "rdmacg_usage_bytes", "Memory that a cgroup and its descendants use.",
	  offsetof(struct slot, usage), POOL_BIT(POOL_CURRENT), true },
	{ "rdmacg_netlink_usage",
	  "Objects of the processes of a cgroup and its descendants, by types that this kernel cannot limit.",
	  offsetof(struct slot, usage), EXPORT_OWNED },
	{ "rdmacg_limit", "Smallest limit of a cgroup and its ancestors.",
	  offsetof(struct slot, limit), POOL_ALL },
	{ "rdmacg_limit_bytes", "Smallest limit of memory of a cgroup and its ancestors.",
	  offsetof(struct slot, limit), POOL_ALL, true },
	{ "rdmacg_peak", "Largest number of objects that a cgroup and its descendants have used.",
	  offsetof(struct slot, peak), POOL_BIT(POOL_PEAK) },
	{ "rdmacg_peak_bytes",
	  "Largest amount of memory that a cgroup and its descendants have used.",
	  offsetof(struct slot, peak), POOL_BIT(POOL_PEAK), true },
	{ "rdmacg_capacity", "Number of objects that a device can have.",
	  offsetof(struct slot, max), EXPORT_CAPACITY },
	{ "rdmacg_capacity_bytes", "Memory that a device can have.",
	  offsetof(struct slot, max), EXPORT_CAPACITY, true },
	{ "rdmacg_device_usage", "Objects of a device, also of kernel users.",
	  offsetof(struct slot, usage), EXPORT_IN_USE },
	{ "rdmacg_refused_attempts",
	  "Refused attempts of a cgroup and its descendants, whichever cgroup has the limit.",
	  offsetof(struct slot, events.alloc_fail), POOL_BIT(POOL_EVENTS), .counter = true },
	{ "rdmacg_limit_refusals",
	  "Attempts that the limits of a cgroup and its descendants refused.",
	  offsetof(struct slot, events.max), POOL_BIT(POOL_EVENTS), .counter = true },
	{ "rdmacg_throttled_commands",
	  "Commands of a cgroup and its descendants that waited for a limit of rdma.control.max.",
	  offsetof(struct slot, max), EXPORT_WAITS, .counter = true, .key = "throttled" },
	{ "rdmacg_throttled_seconds",
	  "Time that commands of a cgroup and its descendants waited for limits.",
	  offsetof(struct slot, max), EXPORT_WAITS, .counter = true, .key = "throttled_usec" },
};

static struct export {
	const char *output;
	bool prometheus;
	uint64_t depth, series;
	struct export_cgroup *cgroups;
	size_t nr_cgroups;
	uint64_t *chosen;	/* the cgroups to read, sorted by inode, or NULL for all */
	size_t nr_chosen;
	size_t deep, long_names, unread, others;	/* subtrees without series, by reason */
	int64_t begin;
} export = { .depth = EXPORT_DEPTH, .series = EXPORT_SERIES };

static void export_take_format(const char *text, void *to)
{
	if (strcmp(text, "openmetrics") && strcmp(text, "prometheus"))
		options_fail(text, "is not a format; the formats are openmetrics and prometheus");
	export.prometheus = *text == 'p';
}

static const struct syntax export_syntax = {
	.choices = {
		{ "format", 'f', "openmetrics (the default) or prometheus", NULL,
		  "FORMAT", export_take_format },
		{ "output", 'o', "write to a new file, and replace FILE when it is complete",
		  &export.output, "FILE" },
		{ "depth", 0, "leave out cgroups below N levels (16)", &export.depth, "N" },
		{ "series", 0, "print at most N series of cgroups (100000)", &export.series, "N" },
	},
	.lists = { filter_choices },
	.example = "rdmacg export -o /var/lib/prometheus/node-exporter/rdmacg.prom",
	.doc =
		"Print usage, limit, peak and refusals of all cgroups that have limits or have used a device, and the capacity of the devices.\vRun it in a cron job or timer, with -o FILE in the folder of node_exporter's textfile collector.",
};

/* NAME="VALUE" and a comma. The value does not control a terminal. */
static char *export_label(const char *name, const char *value)
{
	char *printable __autofree = text_filter(value, true, false);
	struct json_object *quoted = json_object_new_string(printable);
	char *label = memory_format("%s=%s,", name, json_object_to_json_string_ext(quoted,
					JSON_C_TO_STRING_NOSLASHESCAPE));

	json_object_put(quoted);
	return label;
}

/* Add the first uid of a pod, after "pod", and the first id of a container. */
static void export_add_ids(char **label, const char *name)
{
	char *pod __autofree = NULL, *container __autofree = NULL, *dash;
	const char *at = name;

	for (at += !!*name; *at; at++) {
		size_t hex = strspn(at, "0123456789abcdef"), before = at - name;
		size_t all = strspn(at, "0123456789abcdef-_");

		if (!pod && before > 3 && !memcmp(at - 3, "pod", 3) && (all == 36 || hex == 32))
			pod = memory_format("%.*s", (int)all, at);
		if (!container && hex == 64 && !isalnum((unsigned char)at[-1]) &&
		    !isalnum((unsigned char)at[hex]) &&
		    (before < 7 || memcmp(at - 7, "conmon-", 7)) &&
		    (before < 4 || memcmp(at - 4, "pod_", 4)))
			container = memory_format("%.*s", (int)hex, at);
	}
	for (dash = pod; dash && (dash = strchr(dash, '_')); )
		*dash = '-';
	if (pod)
		memory_extend(label, "pod_uid=\"%s\",", pod);
	if (container)
		memory_extend(label, "container_id=\"%s\",", container);
}

/* The labels of a cgroup, or NULL if they are too long. */
static char *export_label_cgroup(const struct cgroup *cgroup)
{
	char *label;

	if (strlen(cgroup->name) > EXPORT_LONGEST)
		return NULL;
	label = export_label("cgroup", cgroup_name(cgroup));
	export_add_ids(&label, cgroup->name);
	if (strlen(label) <= EXPORT_LONGEST)
		return label;
	free(label);
	return NULL;
}

/* The labels of a resource of a device, which are stored with the capacity. */
static const char *export_label_slot(const struct slot *slot, bool has_resource)
{
	const struct device *device = &slot->pool->device;
	struct slot *known = pools_get_slot(&capacity.pools, device, slot->key);

	if (known->labels)
		return known->labels;
	known->labels = export_label("device", device->name);
	known->labels[strlen(known->labels) - 1] = '\0';
	if (device->has_index)
		memory_extend(&known->labels, ",index=\"%u\"", device->index);
	if (has_resource)
		memory_extend(&known->labels, ",resource=\"%s\"", slot->key);
	return known->labels;
}

/* Add the figures of a slot that come from the files in @has. Returns their number. */
static size_t export_add(uint32_t cgroup, const struct slot *slot, unsigned int has)
{
	struct export_family *family = export_families, *end = family + ARRAY_SIZE(export_families);
	const char *labels = export_label_slot(slot, !(has & EXPORT_WAITS));
	size_t count = 0;
	uint64_t value;

	for (; family < end; family++) {
		value = *(const uint64_t *)((const char *)slot + family->at);
		if (!(has & family->has) || value == NUMBER_MAX ||
		    (family->key ? strcmp(family->key, slot->key) :
		     !family->counter && family->bytes != number_is_bytes(slot->key)))
			continue;
		*memory_append(family->samples, family->nr_samples) =
			(struct export_sample){ labels, value, cgroup };
		count++;
	}
	return count;
}

/* The statistics include descendants, so skip those of an unmarked cgroup. */
static size_t export_add_waits(struct cgroup *cgroup, uint32_t index)
{
	struct pools stat = { 0 };
	const struct slot *slot = NULL;
	size_t count = 0;

	cgroup->marked = !cgroup->parent;
	if (cgroup->parent && cgroup->parent->marked)
		pools_read_file(&stat, cgroup->dir, "rdma.control.stat");
	while ((slot = pools_next(&stat, slot)))
		if (slot->max && hierarchy_has_word("throttled throttled_usec", slot->key))
			count += export_add(index, slot, EXPORT_WAITS);
	cgroup->marked |= count;
	pools_free(&stat);
	return count;
}

/* Fill in the weights and ends of subtrees. */
static void export_weigh(void)
{
	struct export_cgroup *cgroups = export.cgroups;
	size_t i, next;

	for (i = export.nr_cgroups; i--; cgroups[i].end = next) {
		cgroups[i].total = cgroups[i].own;
		for (next = i + 1;
		     next < export.nr_cgroups && cgroups[next].depth > cgroups[i].depth;
		     next = cgroups[next].end)
			cgroups[i].total += cgroups[next].total;
	}
}

/* What the children of a cgroup take if each takes at most @level. */
static size_t export_level(size_t i, size_t level)
{
	size_t next, sum = 0;

	for (next = i + 1; next < export.cgroups[i].end; next = export.cgroups[next].end)
		sum += min(export.cgroups[next].total, level);
	return sum;
}

/*
 * Keep cgroups of a subtree whose weight is at most @share. Each child gets the same part, and what
 * a child does not need goes to the others. So a tenant with many cgroups cannot make the series of
 * a sibling disappear. Returns the weight of the cgroups that are kept.
 */
static size_t export_share(size_t i, size_t share)
{
	struct export_cgroup *cgroup = &export.cgroups[i], *child;
	size_t low = 0, high, middle, part, used, rest;

	cgroup->kept = cgroup->own <= share;
	if (!cgroup->kept)
		return 0;
	rest = share - cgroup->own;
	for (high = rest; low < high; ) {
		middle = high - (high - low) / 2;
		if (export_level(i, middle) <= rest)
			low = middle;
		else
			high = middle - 1;
	}
	rest -= export_level(i, low);
	used = cgroup->own;
	for (i++; i < cgroup->end; i = child->end) {
		child = &export.cgroups[i];
		part = min(child->total, low) + rest;
		rest = part - export_share(i, part);
		used += part - rest;
		child->is_other = !child->kept;
	}
	return used;
}

/* Whether descendants of a cgroup can have the controller and are not too deep. */
static void export_bound(struct cgroup *cgroup)
{
	bool counts = !hierarchy.v2 || !cgroup->parent || cgroup_has_controller(cgroup);

	cgroup->leave_below = !counts || cgroup->depth >= export.depth;
}

static int export_compare(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

/* Choose the cgroups to read, without reading their files, if there are too many of them. */
static void export_choose(void)
{
	struct walk walk = { 0 };
	struct cgroup *cgroup;
	struct stat status;
	size_t i;

	while ((cgroup = walk_next(&walk))) {
		export_bound(cgroup);
		cgroup->leave_below |= strlen(cgroup->name) > EXPORT_LONGEST;
		if (!fstat(cgroup->dir, &status))
			*memory_append(export.cgroups, export.nr_cgroups) = (struct export_cgroup){
				.inode = status.st_ino, .depth = cgroup->depth, .own = 1,
			};
	}
	if (export.nr_cgroups > export.series / EXPORT_PER_CGROUP) {
		export_weigh();
		export_share(0, max(export.series / EXPORT_PER_CGROUP, 1));
		for (i = 0; i < export.nr_cgroups; i++)
			if (export.cgroups[i].kept)
				*memory_append(export.chosen, export.nr_chosen) =
					export.cgroups[i].inode;
		qsort(export.chosen, export.nr_chosen, sizeof(*export.chosen), export_compare);
	}
	export.nr_cgroups = 0;
	free(export.cgroups);
	export.cgroups = NULL;
}

/* Whether to read a cgroup. If not, count the reason. */
static bool export_wants(struct cgroup *cgroup, const struct stat *status, const char *label)
{
	uint64_t inode = status->st_ino;
	bool chosen = !export.chosen || bsearch(&inode, export.chosen, export.nr_chosen,
						sizeof(inode), export_compare);

	export_bound(cgroup);
	if (chosen && label) {
		/* A folder has a link in itself, in its parent, and in each subfolder. */
		if (cgroup->depth >= export.depth && status->st_nlink > 2)
			export.deep += status->st_nlink - 2;
		return true;
	}
	cgroup->leave_below = true;
	export.long_names += !label;
	export.unread += !!label;
	return false;
}

/* Read a cgroup and add its figures. Returns false after a printed error. */
static bool export_read(struct cgroup *cgroup)
{
	char *label __autofree = export_label_cgroup(cgroup);
	unsigned int files = (POOL_ALL & ~POOL_BIT(POOL_EVENTS_LOCAL)) | POOL_SCAN;
	const struct slot *slot = NULL;
	struct export_cgroup *added;
	struct stat status;
	uint32_t index = export.nr_cgroups;

	if (fstat(cgroup->dir, &status) || !export_wants(cgroup, &status, label))
		return true;
	if (!cgroup_read(cgroup, files)) {
		cgroup->leave_below = true;
		return false;
	}
	added = memory_append(export.cgroups, export.nr_cgroups);
	added->depth = cgroup->depth;
	while ((slot = pools_next(&cgroup->pools, slot)))
		if (slot_is_telling(slot))
			added->own += export_add(index, slot, slot->class == POOL_NETLINK ?
						 EXPORT_OWNED : slot->has);
	added->own += export_add_waits(cgroup, index);
	if (added->own) {
		added->label = label;
		label = NULL;
	}
	return true;
}

/* If there are too many series, add the usage of the cgroups that lose their series. */
static void export_add_others(void)
{
	struct export_family *family = export_families;
	struct export_sample *sample, *end;
	size_t i, first, at;

	export_weigh();
	if (export.nr_cgroups)
		export_share(0, export.series);
	for (i = 0; i < export.nr_cgroups; i++)
		export.others += export.cgroups[i].is_other;
	for (; family < export_families + ARRAY_SIZE(export_families); family++) {
		first = family->nr_samples;
		if (family->has != POOL_BIT(POOL_CURRENT) && family->has != EXPORT_OWNED)
			first = 0;
		for (i = 0; i < first; i++) {
			if (!export.cgroups[family->samples[i].cgroup].is_other)
				continue;
			for (at = first; at < family->nr_samples &&
			     family->samples[at].labels != family->samples[i].labels; at++)
				;
			if (at == family->nr_samples) {
				sample = memory_append(family->samples, family->nr_samples);
				sample->labels = family->samples[i].labels;
				sample->cgroup = EXPORT_OTHERS;
			}
			family->samples[at].value += family->samples[i].value;
		}
		end = family->samples + family->nr_samples;
		for (at = 0, sample = family->samples; sample < end; sample++)
			if (sample->cgroup >= EXPORT_OTHERS || export.cgroups[sample->cgroup].kept)
				family->samples[at++] = *sample;
		family->nr_samples = at;
	}
}

/* In the format of Prometheus, a counter has the name of its samples. */
static void export_print_heading(FILE *to, const struct export_family *family)
{
	const char *suffix = family->counter && export.prometheus ? "_total" : "";

	fprintf(to, "# HELP %s%s %s\n", family->name, suffix, family->help);
	fprintf(to, "# TYPE %s%s %s\n", family->name, suffix,
		family->counter ? "counter" : "gauge");
	if (family->bytes && !export.prometheus)
		fprintf(to, "# UNIT %s bytes\n", family->name);
}

static void export_print_family(FILE *to, const struct export_family *family)
{
	const struct export_sample *sample, *end = family->samples + family->nr_samples;

	if (!family->nr_samples)
		return;
	export_print_heading(to, family);
	for (sample = family->samples; sample < end; sample++) {
		const char *cgroup = sample->cgroup == EXPORT_DEVICE ? "" :
				     sample->cgroup == EXPORT_OTHERS ? "cgroup=\"/others\"," :
				     export.cgroups[sample->cgroup].label;

		fprintf(to, "%s%s{%s%s} ", family->name, family->counter ? "_total" : "", cgroup,
			sample->labels);
		if (family->key && !strcmp(family->key, "throttled_usec"))
			fprintf(to, "%" PRIu64 ".%06" PRIu64 "\n", sample->value / 1000000,
				sample->value % 1000000);
		else
			fprintf(to, "%" PRIu64 "\n", sample->value);
	}
}

/* Print the figures of the export itself. */
static void export_print_self(FILE *to)
{
	static const struct export_family build = {
		"rdmacg_build_info", "The version of rdmacg.",
	}, duration = {
		"rdmacg_export_duration_seconds", "Time that rdmacg needed to read the cgroups.",
	}, omitted = {
		"rdmacg_export_omitted_subtrees",
		"Cgroups without series of their own, each with its descendants.",
	};
	const struct { const char *reason; size_t count; } reasons[] = {
		{ "depth", export.deep }, { "name", export.long_names },
		{ "cgroups", export.unread }, { "series", export.others },
	};
	size_t i;

	export_print_heading(to, &build);
	fprintf(to, "%s{version=\"%s\"} 1\n", build.name, RDMACG_VERSION);
	export_print_heading(to, &duration);
	fprintf(to, "%s %.3f\n", duration.name, (clock_now() - export.begin) / 1000.0);
	export_print_heading(to, &omitted);
	for (i = 0; i < ARRAY_SIZE(reasons); i++)
		fprintf(to, "%s{reason=\"%s\"} %zu\n", omitted.name, reasons[i].reason,
			reasons[i].count);
}

static void export_print(FILE *to)
{
	const struct export_family *family = export_families;

	for (; family < export_families + ARRAY_SIZE(export_families); family++)
		export_print_family(to, family);
	export_print_self(to);
	if (!export.prometheus)
		fputs("# EOF\n", to);
}

/*
 * Create the temporary file, with a lock until the file is closed. Its name is always the same, so
 * a file that a killed export has left is replaced. Returns -1 and EWOULDBLOCK if another export
 * holds the lock.
 */
static int export_create(const char *path)
{
	int left = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), fd = -1;

	if (left < 0 || !flock(left, LOCK_EX | LOCK_NB)) {
		unlink(path);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
			close(fd);
			fd = -1;
		}
	}
	if (left >= 0)
		close(left);
	return fd;
}

/* Write to a new file, and rename it to @name. */
static bool export_replace(const char *name)
{
	char *path __autofree = memory_format("%s.tmp", name);
	mode_t mask = umask(0);
	int fd = export_create(path), error;
	FILE *to;

	umask(mask);
	if (fd < 0)
		return false;
	to = memory_check(fdopen(fd, "w"));
	export_print(to);
	/* Rename before the file is closed, because another export could then replace it. */
	if (!fflush(to) && !ferror(to) && !fchmod(fd, 0666 & ~mask) && !fsync(fd) &&
	    !rename(path, name))
		return !fclose(to);
	error = errno;
	unlink(path);
	fclose(to);
	errno = error;
	return false;
}

/*
 * Replace only a regular file. Other users who can write to the folder may have created a link or a
 * FIFO with the name. They may replace the temporary file, so set its mode through the descriptor.
 */
static void export_write(void)
{
	struct stat status;

	if (!lstat(export.output, &status) && !S_ISREG(status.st_mode))
		say_failure(export.output, "is not a regular file; redirect the output instead");
	if (!export_replace(export.output))
		say_failure(export.output, "cannot write: %s", errno == EWOULDBLOCK ?
			    "another export is writing it" : strerror(errno));
}

int cmd_export(int argc, char **argv)
{
	struct walk walk = { 0 };
	const struct slot *slot = NULL;
	struct cgroup *cgroup;
	bool failed = false;

	options_read(&export_syntax, argc, argv);
	if (options.json)
		options_fail("-j", "export prints openmetrics or prometheus, not JSON");
	export.begin = clock_now();
	hierarchy_open(EXIT_FAILED);
	if (hierarchy.partial)
		say_warning("rdmacg_limit",
			    "limits of cgroups above / also apply, but are not visible here");
	capacity_read();
	capacity.by_owner = true;
	export_choose();
	while ((cgroup = walk_next(&walk)))
		failed |= !export_read(cgroup);
	export_add_others();
	while ((slot = pools_next(&capacity.pools, slot)))
		export_add(EXPORT_DEVICE, slot, EXPORT_CAPACITY |
			   (slot->has & POOL_BIT(POOL_CURRENT) ? EXPORT_IN_USE : 0));
	/* A missing device is not an error, because a monitoring system may wait for the device. */
	filter_check(&filter_devices);
	filter_check(&filter_keys);
	if (export.output)
		export_write();
	else
		export_print(stdout);
	return walk.failed || failed ? EXIT_FAILED : EXIT_DONE;
}
