// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg export: numbers for a machine that scrapes, as OpenMetrics or Prometheus text.
 *
 * All samples of a family have to stand together, so each family is gathered on its own
 * while the tree is read once.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capacity.h"
#include "cgroup.h"
#include "compiler.h"
#include "memory.h"
#include "number.h"
#include "options.h"
#include "rdmacg.h"
#include "say.h"
#include "text.h"

/* What is counted in bytes has a family of its own, right after the one of objects. */
enum export_kind {
	EXPORT_USAGE,
	EXPORT_USAGE_BYTES,
	EXPORT_LIMIT,
	EXPORT_LIMIT_BYTES,
	EXPORT_PEAK,
	EXPORT_PEAK_BYTES,
	EXPORT_CAPACITY,
	EXPORT_CAPACITY_BYTES,
	EXPORT_REFUSED,
	EXPORT_LIMITED,
	EXPORT_KINDS,
};

struct export_family {
	const char *name;
	bool bytes;
	bool counter;
	const char *help;
};

static const struct export_family export_families[EXPORT_KINDS] = {
	{ "rdmacg_usage", false, false, "Objects in use by a cgroup and those below it." },
	{ "rdmacg_usage_bytes", true, false, "Memory in use by a cgroup and those below it." },
	{ "rdmacg_limit", false, false, "Smallest limit of a cgroup and its ancestors." },
	{ "rdmacg_limit_bytes", true, false, "The same of memory." },
	{ "rdmacg_peak", false, false, "Most objects that were in use at one time." },
	{ "rdmacg_peak_bytes", true, false, "Most memory that was in use at one time." },
	{ "rdmacg_capacity", false, false, "Objects that a device has room for." },
	{ "rdmacg_capacity_bytes", true, false, "Memory that a device has room for." },
	{ "rdmacg_refused_attempts", false, true,
	  "Attempts made in a cgroup or below it that a limit anywhere refused." },
	{ "rdmacg_limit_refusals", false, true,
	  "Attempts that the limit of a cgroup or of one below it refused." },
};

struct export {
	const char *output;
	bool prometheus;
	struct hierarchy hierarchy;
	struct capacity capacity;
	FILE *streams[EXPORT_KINDS];
	char *texts[EXPORT_KINDS];
	size_t sizes[EXPORT_KINDS];
};

static const struct argp_option export_options[] = {
	{ "format", 'f', "FORMAT", 0, "openmetrics, which is the default, or prometheus", 0 },
	{ "output", 'o', "FILE", 0,
	  "write to a file, which is replaced at once when all is there", 0 },
	{ 0 }
};

static error_t export_parse(int key, char *arg, struct argp_state *state)
{
	struct export *export = state->input;

	switch (key) {
	case 'f':
		if (strcmp(arg, "openmetrics") && strcmp(arg, "prometheus"))
			options_fail(arg, "the formats are openmetrics and prometheus");
		export->prometheus = *arg == 'p';
		return 0;
	case 'o':
		export->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		options_fail(arg, "export takes no arguments");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp export_argp = {
	.options = export_options,
	.parser = export_parse,
	.children = options_child,
	.doc =
		"Print usage, limit, peak and refusals of all cgroups that hold or held something or have limits, and what the devices have.\vIn a cron job or timer, with -o FILE below the folder of node_exporter's textfile collector.",
};

/* A label's value: as for a terminal, whatever the locale, and fit for double quotes. */
static char *export_label(const char *name)
{
	char *printable = text_printable(name);
	char *label = memory_zeroed(strlen(printable) * 2 + 1, 1);
	const char *from = printable;
	char *to = label;

	for (; *from; from++) {
		if (*from == '\\' || *from == '"')
			*to++ = '\\';
		*to++ = *from;
	}
	free(printable);
	return label;
}

/* What the samples of one slot have in common. */
struct export_labels {
	/* cgroup="a",device="rxe0",resource="qp" */
	char *text;
	bool bytes;
};

/*
 * One sample; @family is that of objects, the next one that of bytes. There can be millions,
 * so this does without the locks of stdio and without printf().
 */
static void export_sample(struct export *export, enum export_kind family,
			  const struct export_labels *labels, uint64_t value)
{
	bool counter = export_families[family].counter;
	char digits[NUMBER_SIZE], *digit = digits + sizeof(digits) - 1;
	FILE *to;

	if (!counter && labels->bytes)
		family++;
	to = export->streams[family];
	fputs_unlocked(export_families[family].name, to);
	fputs_unlocked(counter ? "_total{" : "{", to);
	fputs_unlocked(labels->text, to);
	fputs_unlocked("} ", to);
	*digit = '\0';
	do {
		*--digit = '0' + value % 10;
		value /= 10;
	} while (value);
	fputs_unlocked(digit, to);
	putc_unlocked('\n', to);
}

/* device="rxe0", and index="1" where the name needs it. */
static char *export_device(const struct device *device)
{
	char *name = export_label(device->name);
	char *labels = device->has_index ?
		memory_format("device=\"%s\",index=\"%u\"", name, device->index) :
		memory_format("device=\"%s\"", name);

	free(name);
	return labels;
}

static bool export_is_telling(const struct slot *slot)
{
	return slot->usage || slot->peak || slot->max != NUMBER_MAX ||
	       slot->events.max || slot->events.alloc_fail;
}

static void export_slot(struct export *export, const char *cgroup, const char *device,
			const struct slot *slot)
{
	struct export_labels labels = {
		.text = memory_format("cgroup=\"%s\",%s,resource=\"%s\"", cgroup, device,
				      slot->key),
		.bytes = number_is_bytes(slot->key),
	};

	if (slot->has & POOL_BIT(POOL_CURRENT))
		export_sample(export, EXPORT_USAGE, &labels, slot->usage);
	if (slot->limit != NUMBER_MAX)
		export_sample(export, EXPORT_LIMIT, &labels, slot->limit);
	if (slot->has & POOL_BIT(POOL_PEAK))
		export_sample(export, EXPORT_PEAK, &labels, slot->peak);
	if (slot->has & POOL_BIT(POOL_EVENTS)) {
		export_sample(export, EXPORT_REFUSED, &labels, slot->events.alloc_fail);
		export_sample(export, EXPORT_LIMITED, &labels, slot->events.max);
	}
	free(labels.text);
}

static bool export_visit(struct cgroup *cgroup, void *data)
{
	char *name = export_label(cgroup_name(cgroup));
	struct export *export = data;
	size_t i, j;

	for (i = 0; i < cgroup->pools.nr_pools; i++) {
		const struct pool *pool = &cgroup->pools.pools[i];
		char *device = export_device(&pool->device);

		for (j = 0; j < pool->nr_slots; j++)
			if (export_is_telling(&pool->slots[j]))
				export_slot(export, name, device, &pool->slots[j]);
		free(device);
	}
	free(name);
	return true;
}

static void export_capacity(struct export *export)
{
	const struct pools *pools = &export->capacity.pools;
	size_t i, j;

	for (i = 0; i < pools->nr_pools; i++) {
		const struct pool *pool = &pools->pools[i];
		char *device = export_device(&pool->device);

		for (j = 0; j < pool->nr_slots; j++) {
			const struct slot *slot = &pool->slots[j];
			struct export_labels labels = {
				.text = memory_format("%s,resource=\"%s\"", device, slot->key),
				.bytes = number_is_bytes(slot->key),
			};

			if (slot->max != NUMBER_MAX)
				export_sample(export, EXPORT_CAPACITY, &labels, slot->max);
			free(labels.text);
		}
		free(device);
	}
}

/* Heading and samples of a family; Prometheus calls a counter by the name of its samples. */
static void export_print_family(const struct export *export, FILE *to, enum export_kind kind)
{
	const struct export_family *family = &export_families[kind];
	const char *suffix = export->prometheus && family->counter ? "_total" : "";

	if (!export->sizes[kind])
		return;
	fprintf(to, "# HELP %s%s %s\n", family->name, suffix, family->help);
	fprintf(to, "# TYPE %s%s %s\n", family->name, suffix,
		family->counter ? "counter" : "gauge");
	if (family->bytes && !export->prometheus)
		fprintf(to, "# UNIT %s bytes\n", family->name);
	fwrite(export->texts[kind], 1, export->sizes[kind], to);
}

static void export_print(const struct export *export, FILE *to)
{
	enum export_kind kind;

	for (kind = 0; kind < EXPORT_KINDS; kind++)
		export_print_family(export, to, kind);
	if (!export->prometheus)
		fputs("# EOF\n", to);
}

/* Write to a file beside the real one, and put it in its place once it is whole. */
static bool export_write(const struct export *export)
{
	char *path = memory_format("%s.XXXXXX", export->output);
	int fd = mkostemp(path, O_CLOEXEC);
	FILE *to = fd < 0 ? NULL : fdopen(fd, "w");
	mode_t mask = umask(0);
	bool done = to;

	umask(mask);
	if (to) {
		export_print(export, to);
		done = !ferror(to);
		done = !fclose(to) && done;
	}
	done = done && !chmod(path, 0666 & ~mask) && !rename(path, export->output);
	if (!done) {
		say_error(export->output, "%s", strerror(errno));
		if (fd >= 0)
			unlink(path);
	}
	free(path);
	return done;
}

static bool export_read(struct export *export)
{
	struct cgroup *root = cgroup_open(&export->hierarchy, "");
	unsigned int files = POOL_ALL & ~POOL_BIT(POOL_EVENTS_LOCAL);
	bool done;

	if (!root)
		return false;
	done = cgroup_walk(root, files, export_visit, export);
	cgroup_close_path(root);
	export_capacity(export);
	return done;
}

int cmd_export(int argc, char **argv)
{
	struct export export = { 0 };
	bool done, written = true;
	size_t i;

	options_parse(&export_argp, 0, argc, argv, &export);
	if (!hierarchy_open(&export.hierarchy))
		return EXIT_FAILED;
	capacity_read(&export.capacity, &export.hierarchy);
	for (i = 0; i < EXPORT_KINDS; i++)
		export.streams[i] = open_memstream(&export.texts[i], &export.sizes[i]);
	done = export_read(&export);
	for (i = 0; i < EXPORT_KINDS; i++)
		fclose(export.streams[i]);
	if (export.output)
		written = export_write(&export);
	else
		export_print(&export, stdout);
	for (i = 0; i < EXPORT_KINDS; i++)
		free(export.texts[i]);
	capacity_free(&export.capacity);
	hierarchy_close(&export.hierarchy);
	return done && written ? EXIT_DONE : EXIT_FAILED;
}
