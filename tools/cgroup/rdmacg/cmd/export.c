// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg export: figures for a monitoring system, as OpenMetrics or Prometheus text.
 *
 * The format requires all samples of a family together. So rdmacg reads the tree once, and then
 * prints one family after the other.
 */
#include <sys/stat.h>

#include "core/core.h"

enum export_kind {
	EXPORT_USAGE,
	EXPORT_LIMIT,
	EXPORT_PEAK,
	EXPORT_CAPACITY,
	EXPORT_REFUSED,
	EXPORT_LIMITED,
	EXPORT_KINDS,
};

/* A figure in bytes has a family of its own. Refused attempts are never counted in bytes. */
struct export_family {
	const char *name;
	enum export_kind kind;
	const char *help;
	bool bytes;
	bool counter;
};

static const struct export_family export_families[] = {
	{ "rdmacg_usage", EXPORT_USAGE, "Objects that a cgroup and its descendants use." },
	{ "rdmacg_usage_bytes", EXPORT_USAGE,
	  "Memory that a cgroup and its descendants use.", true },
	{ "rdmacg_limit", EXPORT_LIMIT, "Smallest limit of a cgroup and its ancestors." },
	{ "rdmacg_limit_bytes", EXPORT_LIMIT,
	  "Smallest limit of memory of a cgroup and its ancestors.", true },
	{ "rdmacg_peak", EXPORT_PEAK,
	  "Largest number of objects that a cgroup and its descendants have used." },
	{ "rdmacg_peak_bytes", EXPORT_PEAK,
	  "Largest amount of memory that a cgroup and its descendants have used.", true },
	{ "rdmacg_capacity", EXPORT_CAPACITY, "Number of objects that a device can have." },
	{ "rdmacg_capacity_bytes", EXPORT_CAPACITY, "Memory that a device can have.", true },
	{ "rdmacg_refused_attempts", EXPORT_REFUSED,
	  "Refused attempts of a cgroup and its descendants, whichever cgroup has the limit.",
	  .counter = true },
	{ "rdmacg_limit_refusals", EXPORT_LIMITED,
	  "Attempts that the limits of a cgroup and its descendants refused.", .counter = true },
};

/* A slot that is exported. There can be hundreds of thousands, so the struct is small. */
struct export_row {
	/* The label cgroup="a" and a comma, which all rows of the cgroup share; or "". */
	const char *cgroup;
	/* The labels device="rxe0",resource="qp", which all rows of the resource share. */
	const char *labels;
	bool bytes;
	/* The numbers, or NUMBER_MAX if there is none. */
	uint64_t values[EXPORT_KINDS];
};

static struct export {
	const char *output;
	bool prometheus;
	struct export_row *rows;
	size_t nr_rows;
	/* The labels of each device and resource. */
	struct pools known;
} export;

static void export_take_format(const char *text, void *to)
{
	if (strcmp(text, "openmetrics") && strcmp(text, "prometheus"))
		options_fail(text, "is not a format; the formats are openmetrics and prometheus");
	export.prometheus = *text == 'p';
}

static const struct syntax export_syntax = {
	.choices = {
		{ "format", 'f', "openmetrics (the default) or prometheus", NULL,
		  export_take_format, "FORMAT" },
		{ "output", 'o', "write to a new file, and replace FILE when it is complete",
		  &export.output, options_take_text, "FILE" },
	},
	.lists = { filter_choices },
	.doc =
		"Print usage, limit, peak and refusals of all cgroups that have limits or have used a device, and the capacity of the devices.\vRun it in a cron job or timer, with -o FILE in the folder of node_exporter's textfile collector.",
};

/*
 * The label NAME="VALUE", with a comma. The value has no character that controls a terminal, and
 * its double quotes are escaped. The caller frees the result.
 */
static char *export_label(const char *name, const char *value)
{
	char *printable __autofree = text_filter(value, true, false);
	char *quoted __autofree = memory_zeroed(strlen(printable) * 2 + 1, 1);
	const char *from = printable;
	char *to = quoted;

	for (; *from; from++) {
		if (*from == '\\' || *from == '"')
			*to++ = '\\';
		*to++ = *from;
	}
	return memory_format("%s=\"%s\",", name, quoted);
}

static struct export_row *export_add_row(const char *cgroup, const struct slot *slot)
{
	struct export_row *row = memory_append(export.rows, export.nr_rows);
	const struct device *device = &slot->pool->device;
	struct slot *known = pools_get_slot(&export.known, device, slot->key);

	if (!known->labels) {
		known->labels = export_label("device", device->name);
		if (device->has_index)
			memory_extend(&known->labels, "index=\"%u\",", device->index);
		memory_extend(&known->labels, "resource=\"%s\"", slot->key);
	}
	row->cgroup = cgroup;
	row->labels = known->labels;
	row->bytes = number_is_bytes(slot->key);
	memset(row->values, 0xff, sizeof(row->values));
	return row;
}

static void export_slot(const char *cgroup, const struct slot *slot)
{
	struct export_row *row = export_add_row(cgroup, slot);

	row->values[EXPORT_LIMIT] = slot->limit;
	if (slot->has & POOL_BIT(POOL_CURRENT))
		row->values[EXPORT_USAGE] = slot->usage;
	if (slot->has & POOL_BIT(POOL_PEAK))
		row->values[EXPORT_PEAK] = slot->peak;
	if (slot->has & POOL_BIT(POOL_EVENTS)) {
		row->values[EXPORT_REFUSED] = slot->events.alloc_fail;
		row->values[EXPORT_LIMITED] = slot->events.max;
	}
}

static void export_cgroup(const struct cgroup *cgroup)
{
	const struct slot *slot = NULL;
	char *label = NULL;

	while ((slot = pools_next(&cgroup->pools, slot))) {
		if (!slot_is_telling(slot))
			continue;
		if (!label)
			label = export_label("cgroup", cgroup_name(cgroup));
		export_slot(label, slot);
	}
}

/* Print the heading. In the format of Prometheus, a counter has the name of its samples. */
static void export_print_heading(FILE *to, const struct export_family *family)
{
	const char *suffix = export.prometheus && family->counter ? "_total" : "";

	fprintf(to, "# HELP %s%s %s\n", family->name, suffix, family->help);
	fprintf(to, "# TYPE %s%s %s\n", family->name, suffix,
		family->counter ? "counter" : "gauge");
	if (family->bytes && !export.prometheus)
		fprintf(to, "# UNIT %s bytes\n", family->name);
}

static void export_print(FILE *to)
{
	const struct export_family *family = export_families;
	const struct export_row *row;
	bool begun;

	for (; family < export_families + ARRAY_SIZE(export_families); family++) {
		begun = false;
		for (row = export.rows; row < export.rows + export.nr_rows; row++) {
			if (row->values[family->kind] == NUMBER_MAX ||
			    (!family->counter && row->bytes != family->bytes))
				continue;
			if (!begun)
				export_print_heading(to, family);
			begun = true;
			fprintf(to, "%s%s{%s%s} %" PRIu64 "\n", family->name,
				family->counter ? "_total" : "", row->cgroup, row->labels,
				row->values[family->kind]);
		}
	}
	if (!export.prometheus)
		fputs("# EOF\n", to);
}

/*
 * Write to a device or FIFO directly. Replace a regular file, even if the name is a link to it:
 * write a temporary file in the same folder, and rename the temporary file when it is complete. Set
 * the mode through the descriptor, because other users who can write to the folder may replace the
 * temporary file.
 */
static void export_write(void)
{
	char *target __autofree = realpath(export.output, NULL);
	char *path __autofree = memory_format("%s.XXXXXX", target ? target : export.output);
	const char *name = target ? target : export.output;
	struct stat status;
	/* A link without a target is not replaced: open() refuses it. */
	bool direct = !lstat(name, &status) && !S_ISREG(status.st_mode), done = false;
	int fd = direct ? open(name, O_WRONLY | O_CLOEXEC | O_NOCTTY) : mkostemp(path, O_CLOEXEC);
	mode_t mask = umask(0);
	FILE *to;

	umask(mask);
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
		say_failure(export.output, "cannot write: %s", strerror(errno));
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
	capacity_read();
	while ((cgroup = walk_next(&walk)))
		export_cgroup(cgroup);
	while ((slot = pools_next(&capacity.pools, slot)))
		if (slot->max != NUMBER_MAX)
			export_add_row("", slot)->values[EXPORT_CAPACITY] = slot->max;
	if (export.output)
		export_write();
	else
		export_print(stdout);
	return walk.failed ? EXIT_FAILED : EXIT_DONE;
}
