// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg export: numbers for a machine that scrapes, as OpenMetrics or Prometheus text.
 *
 * All samples of a family have to stand together, so the numbers are gathered while the tree
 * is read once, and printed family by family.
 */
#include <sys/stat.h>

#include "core/core.h"

/* Tens of megabytes are written, so not by 4 KiB, which is the default. */
#define EXPORT_BUFFER	(256 << 10)

/* The numbers of one slot. */
enum export_kind {
	EXPORT_USAGE,
	EXPORT_LIMIT,
	EXPORT_PEAK,
	EXPORT_CAPACITY,
	EXPORT_REFUSED,
	EXPORT_LIMITED,
	EXPORT_KINDS,
};

/* What is counted in bytes has a family of its own, but attempts are not. */
struct export_family {
	const char *name;
	enum export_kind kind;
	bool bytes;
	bool counter;
	const char *help;
};

static const struct export_family export_families[] = {
	{ "rdmacg_usage", EXPORT_USAGE, false, false,
	  "Objects in use by a cgroup and those below it." },
	{ "rdmacg_usage_bytes", EXPORT_USAGE, true, false,
	  "Memory in use by a cgroup and those below it." },
	{ "rdmacg_limit", EXPORT_LIMIT, false, false,
	  "Smallest limit of a cgroup and its ancestors." },
	{ "rdmacg_limit_bytes", EXPORT_LIMIT, true, false, "The same of memory." },
	{ "rdmacg_peak", EXPORT_PEAK, false, false,
	  "Most objects that were in use at one time." },
	{ "rdmacg_peak_bytes", EXPORT_PEAK, true, false,
	  "Most memory that was in use at one time." },
	{ "rdmacg_capacity", EXPORT_CAPACITY, false, false,
	  "Objects that a device has room for." },
	{ "rdmacg_capacity_bytes", EXPORT_CAPACITY, true, false,
	  "Memory that a device has room for." },
	{ "rdmacg_refused_attempts", EXPORT_REFUSED, false, true,
	  "Attempts made in a cgroup or below it that a limit anywhere refused." },
	{ "rdmacg_limit_refusals", EXPORT_LIMITED, false, true,
	  "Attempts that the limit of a cgroup or of one below it refused." },
};

/* A slot with something to tell. There can be hundreds of thousands. */
struct export_row {
	/* cgroup="a",device="rxe0",resource="qp" */
	char *labels;
	bool bytes;
	/* Which of the values are known: 1 << kind. */
	unsigned int has;
	uint64_t values[EXPORT_KINDS];
};

struct export {
	const char *output;
	bool prometheus;
	struct hierarchy hierarchy;
	struct capacity capacity;
	struct export_row *rows;
	size_t nr_rows;
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

static const struct argp_child export_children[] = {
	{ .argp = &options_argp },
	{ .argp = &filter_argp },
	{ 0 }
};

static const struct argp export_argp = {
	.options = export_options,
	.parser = export_parse,
	.children = export_children,
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

/*
 * One sample. There can be millions, so this does without the locks of stdio and without
 * printf().
 */
static void export_sample(FILE *to, const struct export_family *family,
			  const struct export_row *row)
{
	char digits[NUMBER_SIZE], *digit = digits + sizeof(digits) - 1;
	uint64_t value = row->values[family->kind];

	fputs_unlocked(family->name, to);
	fputs_unlocked(family->counter ? "_total{" : "{", to);
	fputs_unlocked(row->labels, to);
	fputs_unlocked("} ", to);
	*digit = '\0';
	do {
		*--digit = '0' + value % 10;
		value /= 10;
	} while (value);
	fputs_unlocked(digit, to);
	putc_unlocked('\n', to);
}

static struct export_row *export_add_row(struct export *export, char *labels, const char *key)
{
	struct export_row *row;

	export->rows = memory_grow(export->rows, export->nr_rows, sizeof(*row));
	row = &export->rows[export->nr_rows++];
	row->labels = labels;
	row->bytes = number_is_bytes(key);
	return row;
}

static void export_put(struct export_row *row, enum export_kind kind, uint64_t value)
{
	row->has |= 1U << kind;
	row->values[kind] = value;
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
	char *labels = memory_format("cgroup=\"%s\",%s,resource=\"%s\"", cgroup, device,
				     slot->key);
	struct export_row *row = export_add_row(export, labels, slot->key);

	if (slot->has & POOL_BIT(POOL_CURRENT))
		export_put(row, EXPORT_USAGE, slot->usage);
	if (slot->limit != NUMBER_MAX)
		export_put(row, EXPORT_LIMIT, slot->limit);
	if (slot->has & POOL_BIT(POOL_PEAK))
		export_put(row, EXPORT_PEAK, slot->peak);
	if (slot->has & POOL_BIT(POOL_EVENTS)) {
		export_put(row, EXPORT_REFUSED, slot->events.alloc_fail);
		export_put(row, EXPORT_LIMITED, slot->events.max);
	}
}

static bool export_visit(struct cgroup *cgroup, void *data)
{
	char *name = export_label(cgroup_name(cgroup));
	struct export *export = data;
	size_t i, j;

	for (i = 0; i < cgroup->pools.nr_pools; i++) {
		const struct pool *pool = &cgroup->pools.pools[i];
		char *device;

		device = export_device(&pool->device);
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

			if (slot->max != NUMBER_MAX)
				export_put(export_add_row(export,
							  memory_format("%s,resource=\"%s\"",
									device, slot->key),
							  slot->key),
					   EXPORT_CAPACITY, slot->max);
		}
		free(device);
	}
}

static bool export_has(const struct export_family *family, const struct export_row *row)
{
	return row->has >> family->kind & 1 && (family->counter || row->bytes == family->bytes);
}

/* Prometheus calls a counter by the name of its samples. */
static void export_print_heading(const struct export *export, FILE *to,
				 const struct export_family *family)
{
	const char *suffix = export->prometheus && family->counter ? "_total" : "";

	fprintf(to, "# HELP %s%s %s\n", family->name, suffix, family->help);
	fprintf(to, "# TYPE %s%s %s\n", family->name, suffix,
		family->counter ? "counter" : "gauge");
	if (family->bytes && !export->prometheus)
		fprintf(to, "# UNIT %s bytes\n", family->name);
}

static void export_print(const struct export *export, FILE *to)
{
	static char buffer[EXPORT_BUFFER];
	size_t i, j;

	setvbuf(to, buffer, _IOFBF, sizeof(buffer));
	for (i = 0; i < ARRAY_SIZE(export_families); i++) {
		const struct export_family *family = &export_families[i];
		bool begun = false;

		for (j = 0; j < export->nr_rows; j++) {
			if (!export_has(family, &export->rows[j]))
				continue;
			if (!begun)
				export_print_heading(export, to, family);
			begun = true;
			export_sample(to, family, &export->rows[j]);
		}
	}
	if (!export->prometheus)
		fputs("# EOF\n", to);
}

/* Print to an open file and close it: false, and errno says why. */
static bool export_print_and_close(const struct export *export, int fd, bool durable)
{
	FILE *to = fdopen(fd, "w");
	bool done;

	if (!to) {
		close(fd);
		return false;
	}
	export_print(export, to);
	done = !fflush(to) && !ferror(to) && !(durable && fsync(fd));
	return !fclose(to) && done;
}

/*
 * Write to a file beside the real one, and put it in its place once it is whole. The mode is
 * set by the descriptor: in a folder of others the name may lead elsewhere meanwhile.
 */
static bool export_replace(const struct export *export, const char *target)
{
	char *path = memory_format("%s.XXXXXX", target);
	int fd = mkostemp(path, O_CLOEXEC);
	mode_t mask = umask(0);
	bool done = false;

	umask(mask);
	if (fd >= 0) {
		done = !fchmod(fd, 0666 & ~mask);
		done = export_print_and_close(export, fd, true) && done &&
		       !rename(path, target);
		if (!done)
			unlink(path);
	}
	free(path);
	return done;
}

/* A device or FIFO is written to; only a file can be replaced, that of a link as well. */
static bool export_write(const struct export *export)
{
	char *target = realpath(export->output, NULL);
	struct stat status;
	bool done;
	int fd;

	if (target && !stat(target, &status) && !S_ISREG(status.st_mode)) {
		fd = open(target, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		done = fd >= 0 && export_print_and_close(export, fd, false);
	} else if (!target && !lstat(export->output, &status)) {
		/* A link to nowhere: realpath() has set errno, and lstat() has not. */
		done = false;
	} else {
		done = export_replace(export, target ? target : export->output);
	}
	if (!done)
		say_error(export->output, "cannot write: %s", strerror(errno));
	free(target);
	return done;
}

static bool export_read(struct export *export)
{
	struct cgroup *root = cgroup_open(&export->hierarchy, "");
	unsigned int files = (POOL_ALL & ~POOL_BIT(POOL_EVENTS_LOCAL)) | POOL_SCAN;
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
	if (options.json)
		options_fail("-j", "export prints openmetrics or prometheus, not JSON");
	if (!hierarchy_open(&export.hierarchy))
		return EXIT_FAILED;
	capacity_read(&export.capacity, &export.hierarchy);
	done = export_read(&export);
	if (export.output)
		written = export_write(&export);
	else
		export_print(&export, stdout);
	for (i = 0; i < export.nr_rows; i++)
		free(export.rows[i].labels);
	free(export.rows);
	capacity_free(&export.capacity);
	hierarchy_close(&export.hierarchy);
	return done && written ? EXIT_DONE : EXIT_FAILED;
}
