// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg export: figures for a monitoring system. The format requires all samples of a family
 * together. So rdmacg reads the tree once, and then prints one family after the other.
 */
#include <sys/stat.h>

#include "core/core.h"

/* There can be a million samples, so the struct is small. */
struct export_sample {
	/* The label cgroup="a" and a comma, which all samples of the cgroup share; or "". */
	const char *cgroup;
	/* The labels device="rxe0",resource="qp", which all samples of the resource share. */
	const char *labels;
	uint64_t value;
};

/* The bit for the capacity of devices, besides the bits for the files of cgroups. */
#define EXPORT_CAPACITY	POOL_BIT(POOL_FILES)

static struct export_family {
	const char *name;
	const char *help;
	size_t at;		/* the figure in struct slot */
	unsigned int has;	/* the files that have the figure */
	bool bytes;
	bool counter;		/* a number of attempts, for objects and for memory */
	struct export_sample *samples;
	size_t nr_samples;
} export_families[] = {
	{ "rdmacg_usage", "Objects that a cgroup and its descendants use.",
	  offsetof(struct slot, usage), POOL_BIT(POOL_CURRENT) },
	{ "rdmacg_usage_bytes", "Memory that a cgroup and its descendants use.",
	  offsetof(struct slot, usage), POOL_BIT(POOL_CURRENT), true },
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
	{ "rdmacg_refused_attempts",
	  "Refused attempts of a cgroup and its descendants, whichever cgroup has the limit.",
	  offsetof(struct slot, events.alloc_fail), POOL_BIT(POOL_EVENTS), .counter = true },
	{ "rdmacg_limit_refusals",
	  "Attempts that the limits of a cgroup and its descendants refused.",
	  offsetof(struct slot, events.max), POOL_BIT(POOL_EVENTS), .counter = true },
};

static const char *export_output;
static bool export_prometheus;

static void export_take_format(const char *text, void *to)
{
	if (strcmp(text, "openmetrics") && strcmp(text, "prometheus"))
		options_fail(text, "is not a format; the formats are openmetrics and prometheus");
	export_prometheus = *text == 'p';
}

static const struct syntax export_syntax = {
	.choices = {
		{ "format", 'f', "openmetrics (the default) or prometheus", NULL,
		  export_take_format, "FORMAT" },
		{ "output", 'o', "write to a new file, and replace FILE when it is complete",
		  &export_output, options_take_text, "FILE" },
	},
	.lists = { filter_choices },
	.doc =
		"Print usage, limit, peak and refusals of all cgroups that have limits or have used a device, and the capacity of the devices.\vRun it in a cron job or timer, with -o FILE in the folder of node_exporter's textfile collector.",
};

/*
 * The label NAME="VALUE", with a comma and JSON's escapes. The value has no character that controls
 * a terminal. The caller frees the result.
 */
static char *export_label(const char *name, const char *value)
{
	char *printable __autofree = text_filter(value, true, false);
	struct json_object *quoted = json_object_new_string(printable);
	char *label = memory_format("%s=%s,", name, json_object_to_json_string_ext(quoted,
					JSON_C_TO_STRING_NOSLASHESCAPE));

	json_object_put(quoted);
	return label;
}

/*
 * Add the figures of a slot that come from the files in @has. The labels are stored with the
 * capacity of the device and resource.
 */
static void export_add(const char *cgroup, const struct slot *slot, unsigned int has)
{
	struct export_family *family = export_families, *end = family + ARRAY_SIZE(export_families);
	const struct device *device = &slot->pool->device;
	struct slot *known = pools_get_slot(&capacity.pools, device, slot->key);
	uint64_t value;

	if (!known->labels) {
		known->labels = export_label("device", device->name);
		if (device->has_index)
			memory_extend(&known->labels, "index=\"%u\",", device->index);
		memory_extend(&known->labels, "resource=\"%s\"", slot->key);
	}
	for (; family < end; family++) {
		value = *(const uint64_t *)((const char *)slot + family->at);
		if (has & family->has && value != NUMBER_MAX &&
		    (family->counter || family->bytes == number_is_bytes(slot->key)))
			*memory_append(family->samples, family->nr_samples) =
				(struct export_sample){ cgroup, known->labels, value };
	}
}

/* Print all families. In the format of Prometheus, a counter has the name of its samples. */
static void export_print(FILE *to)
{
	const struct export_family *family = export_families;
	const struct export_sample *sample, *end;

	for (; family < export_families + ARRAY_SIZE(export_families); family++) {
		const char *suffix = family->counter ? "_total" : "";
		const char *heading = export_prometheus ? suffix : "";

		if (!family->nr_samples)
			continue;
		fprintf(to, "# HELP %s%s %s\n", family->name, heading, family->help);
		fprintf(to, "# TYPE %s%s %s\n", family->name, heading,
			family->counter ? "counter" : "gauge");
		if (family->bytes && !export_prometheus)
			fprintf(to, "# UNIT %s bytes\n", family->name);
		end = family->samples + family->nr_samples;
		for (sample = family->samples; sample < end; sample++)
			fprintf(to, "%s%s{%s%s} %" PRIu64 "\n", family->name, suffix,
				sample->cgroup, sample->labels, sample->value);
	}
	if (!export_prometheus)
		fputs("# EOF\n", to);
}

/*
 * Write directly to a device or FIFO, and through a link such as /dev/stdout, whose file the shell
 * has opened. Replace another regular file, even if the name is a link to it: write a temporary
 * file in the same folder, and rename the temporary file when it is complete.
 * Other users who can write to the folder may replace the temporary file, so set the mode through
 * the descriptor. They may also create a link or FIFO with the name, so check its owner.
 */
static void export_write(void)
{
	char *target __autofree = realpath(export_output, NULL), *path __autofree = NULL;
	struct stat status;
	bool special = !lstat(export_output, &status) && !S_ISREG(status.st_mode);
	const char *name = special && target ? target : export_output;
	bool direct, done = false;
	mode_t mask = umask(0);
	FILE *to;
	int fd;

	umask(mask);
	if (special && status.st_uid && status.st_uid != geteuid())
		say_failure(export_output, "belongs to another user, and is not a regular file");
	/* A link without a target is not replaced: open() refuses it. */
	direct = special && !lstat(name, &status) &&
		 (!S_ISREG(status.st_mode) || hierarchy_below(export_output, "/dev") ||
		  hierarchy_below(export_output, "/proc"));
	path = memory_format("%s.XXXXXX", name);
	fd = direct ? open(name, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY) :
		      mkostemp(path, O_CLOEXEC);
	if (fd >= 0) {
		to = memory_check(fdopen(fd, "w"));
		export_print(to);
		done = !fflush(to) && !ferror(to) &&
		       (direct || (!fchmod(fd, 0666 & ~mask) && !fsync(fd)));
		done = !fclose(to) && done && (direct || !rename(path, name));
	}
	if (fd >= 0 && !direct && !done)
		unlink(path);
	if (!done)
		say_failure(export_output, "cannot write: %s", strerror(errno));
}

int cmd_export(int argc, char **argv)
{
	struct walk walk = { .files = (POOL_ALL & ~POOL_BIT(POOL_EVENTS_LOCAL)) | POOL_SCAN };
	const struct slot *slot = NULL;
	struct cgroup *cgroup;

	options_read(&export_syntax, argc, argv);
	if (options.json)
		options_fail("-j", "export prints openmetrics or prometheus, not JSON");
	hierarchy_open(EXIT_FAILED);
	if (hierarchy.partial)
		say_warning("rdmacg_limit",
			    "limits of cgroups above / also apply, but are not visible here");
	capacity_read();
	while ((cgroup = walk_next(&walk))) {
		char *label = NULL;

		while ((slot = pools_next(&cgroup->pools, slot))) {
			if (!slot_is_telling(slot))
				continue;
			if (!label)
				label = export_label("cgroup", cgroup_name(cgroup));
			export_add(label, slot, slot->has);
		}
	}
	while ((slot = pools_next(&capacity.pools, slot)))
		export_add("", slot, EXPORT_CAPACITY);
	/* A missing device is not an error, because a monitoring system may wait for the device. */
	filter_check(&filter_devices);
	filter_check(&filter_keys);
	if (export_output)
		export_write();
	else
		export_print(stdout);
	return walk.failed ? EXIT_FAILED : EXIT_DONE;
}
