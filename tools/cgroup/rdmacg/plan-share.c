// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg plan share: a device shared among cgroups. Of each resource that the device states
 * an amount of (rdma.capacity at the root), what kernel users hold and what is kept back go
 * off, and the cgroups get the rest by weight, rounded down. The limits are added up again,
 * and have to fit.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

/* As for cgroup v2's weights. */
#define SHARE_WEIGHT_MAX	10000
/* With these, no rest times a weight overflows. */
#define SHARE_CGROUPS_MAX	((size_t)1 << 16)

struct share_cgroup {
	char *path;
	uint64_t weight;
	uint64_t limit;		/* of the resource that is looked at */
};

/* What goes off before the rest is shared. */
struct share_take {
	char *key;		/* NULL: of every resource */
	uint64_t value;
	bool is_percent;
	bool is_kernel;
	bool is_met;		/* the device has such a resource */
};

struct share_options {
	char *device;
	const char *capacity;	/* instead of rdma.capacity */
	struct share_cgroup *cgroups;
	size_t nr_cgroups;
	struct share_take *takes;
	size_t nr_takes;
	bool has_over;
	uint64_t over;		/* in hundredths */
};

/* --- the device --- */

/* The line of the device. A name that several devices have needs its index. */
static int share_find_device(const struct share_options *options, const struct plan_file *file,
			     const char *where, const struct plan_device **device)
{
	size_t length = strlen(options->device);
	size_t found = 0;
	size_t i;

	for (i = 0; i < file->nr_devices; i++) {
		const char *name = file->devices[i].name;

		if (strncmp(name, options->device, length) || (name[length] && name[length] != ' '))
			continue;
		*device = &file->devices[i];
		found++;
	}
	if (!found)
		return plan_error(where, "there is no device '%s'; rdma link shows which there are",
				  options->device);
	if (found > 1)
		return plan_error(where,
				  "%zu devices are named '%s'; give '%s index=N' as one word",
				  found, options->device, options->device);
	return 0;
}

/* "KEY=VALUE,KEY=VALUE": a line as rdma.capacity would have it. */
static int share_parse_capacity(const struct share_options *options, struct plan_file *file)
{
	char *line = plan_format("%s %s", options->device, options->capacity);
	size_t i;
	int ret;

	for (i = strlen(options->device); line[i]; i++)
		line[i] = line[i] == ',' ? ' ' : line[i];
	ret = plan_parse_file("plan share --capacity", line, strlen(line), file);
	free(line);
	return ret ? PLAN_USAGE : 0;
}

static int share_read_capacity(const struct share_options *options, struct plan_file *file,
			       const struct plan_device **device)
{
	char *root = plan_root();
	char *path = plan_format("%s/rdma.capacity", root);
	char shown[PLAN_SHOWN];
	bool is_there = true;
	int ret;

	plan_show(shown, path, strlen(path));
	if (options->capacity)
		ret = share_parse_capacity(options, file);
	else
		ret = plan_read_file(path, file, &is_there);
	if (!ret && !is_there)
		ret = plan_error(shown,
				 "not there, so the kernel does not say what the device has; give --capacity KEY=VALUE,...");
	if (!ret)
		ret = share_find_device(options, file, options->capacity ? "plan share --capacity" :
					shown, device);
	free(path);
	free(root);
	return ret;
}

/* --- one resource --- */

static const struct plan_row share_rows[] = {
	{ "reserve", PLAN_STEP, "fixed + capacity / 100 * percent + capacity % 100 * percent / 100",
	  "--reserve: amounts, and percent of the capacity" },
	{ "available", PLAN_STEP, "capacity - kernel - reserve",
	  "rdma.capacity, less --kernel, less --reserve" },
};

#define SHARE_BY_WEIGHT	"available / weights * weight + available % weights * weight / weights"
#define SHARE_SOURCE	"by weight, rounded down; in two parts, for the product might not fit"

/* More than all of the device would be in vain, and the product might not fit. */
static const struct plan_row share_over_rows[] = {
	{ "share", PLAN_STEP, SHARE_BY_WEIGHT, SHARE_SOURCE },
	{ "times", PLAN_STEP, "min(over, ceil(weights * 100, weight))",
	  "--oversubscribe, in hundredths; at most what would be all of the device" },
};

/* capacity, kernel, fixed and percent of the resource. */
static int share_set_amounts(struct share_options *options, const struct plan_amount *amount,
			     struct plan_vars *vars)
{
	uint64_t sums[3] = { 0 };	/* kernel, fixed, percent */
	size_t i;

	for (i = 0; i < options->nr_takes; i++) {
		struct share_take *take = &options->takes[i];
		uint64_t *sum = &sums[take->is_kernel ? 0 : 1 + take->is_percent];

		if (take->key && strcmp(take->key, amount->key))
			continue;
		take->is_met = true;
		if (__builtin_add_overflow(*sum, take->value, sum))
			return plan_error("plan share",
					  "%s: what --kernel or --reserve takes away does not fit in 64 bits; give smaller numbers",
					  amount->key);
	}
	plan_set(vars, "capacity", amount->value);
	plan_set(vars, "kernel", sums[0]);
	plan_set(vars, "fixed", sums[1]);
	plan_set(vars, "percent", sums[2]);
	return 0;
}

/* The limit of one cgroup. */
static int share_add_limit(const struct plan *plan, const struct share_options *options,
			   struct share_cgroup *cgroup, struct plan_part *part, const char *key,
			   struct plan_vars *vars)
{
	struct plan_row row = { key, PLAN_LIMIT, SHARE_BY_WEIGHT, SHARE_SOURCE };
	struct plan_vars mine = *vars;
	int ret = 0;

	plan_set(&mine, "weight", cgroup->weight);
	if (options->has_over) {
		plan_set(&mine, "over", options->over);
		ret = plan_add_rows(plan, part, &mine, share_over_rows,
				    PLAN_COUNT(share_over_rows));
		row.formula = "min(available, share / 100 * times + share % 100 * times / 100)";
		row.source = "nobody can have more than there is";
	}
	if (!ret)
		ret = plan_add_rows(plan, part, &mine, &row, 1);
	if (!ret)
		cgroup->limit = part->values[part->nr_values - 1].value;
	return ret;
}

static int share_compare(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a;
	uint64_t two = *(const uint64_t *)b;

	return one < two ? 1 : one > two ? -1 : 0;
}

/* How many of the largest limits fit at the same time. */
static size_t share_count_fitting(const struct share_options *options, uint64_t available)
{
	uint64_t *limits = plan_grow(NULL, options->nr_cgroups, sizeof(*limits));
	size_t count;

	for (count = 0; count < options->nr_cgroups; count++)
		limits[count] = options->cgroups[count].limit;
	qsort(limits, options->nr_cgroups, sizeof(*limits), share_compare);
	for (count = 0; count < options->nr_cgroups && limits[count] <= available; count++)
		available -= limits[count];
	free(limits);
	return count;
}

/* Add the limits up: they fit, or --oversubscribe was given and the risk is said. */
static int share_prove(const struct share_options *options, struct plan_part *proof,
		       const char *key, uint64_t available)
{
	uint64_t sum = 0;
	size_t fitting;
	size_t i;

	for (i = 0; i < options->nr_cgroups; i++) {
		if (__builtin_add_overflow(sum, options->cgroups[i].limit, &sum))
			return plan_error("plan share",
					  "%s: the sum of the limits does not fit in 64 bits; give a smaller --oversubscribe",
					  key);
		if (!options->cgroups[i].limit)
			plan_add_note(proof,
				      "%s: nothing is left for %s; a limit of 0 refuses all.",
				      key, options->cgroups[i].path);
	}
	if (sum <= available) {
		plan_add_note(proof,
			      "%s: the limits add up to %ju of %ju available; %ju are left over.",
			      key, sum, available,
			      available - sum);
		return 0;
	}
	if (!options->has_over)
		return plan_error("plan share",
				  "%s: the limits add up to %ju of %ju, which is a bug of rdmacg; report it",
				  key, sum, available);
	fitting = share_count_fitting(options, available);
	plan_add_note(proof,
		      "%s: RISK: the limits add up to %ju of %ju available; with %zu of %zu cgroups at their limits the device is exhausted, and refuses others below theirs.",
		      key, sum, available, fitting + 1, options->nr_cgroups);
	return 0;
}

static int share_add_resource(struct plan *plan, struct share_options *options,
			      struct plan_part *proof, const struct plan_amount *amount)
{
	struct plan_vars vars = { .count = 0 };
	struct plan_row row = { amount->key, PLAN_FIGURE, "available", "what is shared" };
	uint64_t weights = 0;
	size_t i;
	int ret;

	for (i = 0; i < options->nr_cgroups; i++)
		weights += options->cgroups[i].weight;
	ret = share_set_amounts(options, amount, &vars);
	if (!ret)
		ret = plan_add_rows(plan, proof, &vars, share_rows, PLAN_COUNT(share_rows));
	if (!ret)
		ret = plan_add_rows(plan, proof, &vars, &row, 1);
	plan_set(&vars, "weights", weights);
	for (i = 0; i < options->nr_cgroups && !ret; i++)
		ret = share_add_limit(plan, options, &options->cgroups[i], plan->parts[i + 1],
				      amount->key, &vars);
	return ret ? ret : share_prove(options, proof, amount->key, plan_get(&vars, "available"));
}

/* --- the plan --- */

/* A part for the device, then one for each cgroup. */
static struct plan_part *share_add_parts(struct plan *plan, const struct share_options *options,
					 const char *device)
{
	struct plan_part *proof = plan_add_part(plan, "What %s has for cgroups", device);
	size_t i;

	for (i = 0; i < options->nr_cgroups; i++) {
		const struct share_cgroup *cgroup = &options->cgroups[i];
		struct plan_part *part = plan_add_part(plan, "%s, weight %ju", cgroup->path,
						       cgroup->weight);

		part->cgroup = plan_copy(cgroup->path, strlen(cgroup->path));
		part->device = plan_copy(device, strlen(device));
	}
	return proof;
}

static bool share_has_kernel(const struct share_options *options)
{
	size_t i;

	for (i = 0; i < options->nr_takes; i++) {
		if (options->takes[i].is_kernel)
			return true;
	}
	return false;
}

/* What was to be taken away has to be there. */
static int share_check_takes(const struct share_options *options)
{
	size_t i;

	for (i = 0; i < options->nr_takes; i++) {
		if (!options->takes[i].is_met)
			return plan_error(options->takes[i].is_kernel ? "plan share --kernel" :
					  "plan share --reserve",
					  "the device states no amount of '%s'; leave it out",
					  options->takes[i].key ? options->takes[i].key :
					  "anything");
	}
	return 0;
}

static int share_plan(struct plan *plan, struct share_options *options,
		      const struct plan_device *device)
{
	struct plan_part *proof = share_add_parts(plan, options, device->name);
	bool has_any = false;
	size_t i;
	int ret = 0;

	for (i = 0; i < device->nr_amounts && !ret; i++) {
		const struct plan_amount *amount = &device->amounts[i];

		if (amount->is_max || !amount->value)
			continue;
		ret = share_add_resource(plan, options, proof, amount);
		has_any = true;
	}
	if (!ret)
		ret = share_check_takes(options);
	if (!ret && !has_any)
		ret = plan_error("plan share",
				 "the device states no amount of anything, so there is nothing to share; give --capacity KEY=VALUE,...");
	plan_add_note(proof, "What the device states no amount of has no limit.");
	if (!share_has_kernel(options))
		plan_add_note(proof,
			      "Nothing was taken off for kernel users: give --kernel; see rdma resource show, rdmacg plan lnet.");
	return ret;
}

/* A limit of a cgroup and one of its ancestor do not add up. */
static int share_check_cgroups(const struct share_options *options)
{
	size_t i;
	size_t j;

	for (i = 0; i < options->nr_cgroups; i++) {
		const char *path = options->cgroups[i].path;
		size_t length = strlen(path);

		for (j = 0; j < options->nr_cgroups; j++) {
			const char *other = options->cgroups[j].path;

			if (i != j && !strncmp(path, other, length) &&
			    (!other[length] || other[length] == '/'))
				return plan_misuse("plan share --among",
						   "'%s' holds '%s'; give cgroups of which none is in another",
						   path, other);
		}
	}
	return 0;
}

static int share_run(struct share_options *options, const struct plan_args *args)
{
	struct plan plan = { .form = args->form };
	struct plan_file file = { .nr_devices = 0 };
	const struct plan_device *device = NULL;
	int ret;

	if (!options->device || !options->nr_cgroups)
		return plan_misuse(args->form, "%s; see %s --help", options->device ?
				   "no cgroup, give --among" : "no device", args->name);
	ret = share_check_cgroups(options);
	if (!ret)
		ret = share_read_capacity(options, &file, &device);
	if (!ret)
		ret = share_plan(&plan, options, device);
	if (!ret)
		ret = plan_print(&plan, args);
	plan_free(&plan);
	plan_free_file(&file);
	return ret;
}

/* --- the command line --- */

enum share_key { SHARE_KEY_AMONG = 0x200, SHARE_KEY_RESERVE, SHARE_KEY_KERNEL, SHARE_KEY_CAPACITY,
		 SHARE_KEY_OVER };

static const struct argp_option share_argp_options[] = {
	{ "among", SHARE_KEY_AMONG, "CGROUP[:WEIGHT]", 0,
	  "A cgroup that gets a share; words behind DEVICE are more of them", 10 },
	{ "reserve", SHARE_KEY_RESERVE, "KEY=VALUE|KEY=P%|P%[,...]", 0,
	  "What to keep back, of the capacity", 10 },
	{ "kernel", SHARE_KEY_KERNEL, "KEY=VALUE[,...]", 0, "What kernel users hold", 10 },
	{ "capacity", SHARE_KEY_CAPACITY, "KEY=VALUE[,...]", 0,
	  "What the device has, instead of rdma.capacity", 10 },
	{ "oversubscribe", SHARE_KEY_OVER, "R", 0,
	  "Give R times what there is, such as 1.5 or 150%; says the risk", 10 },
	{ 0 }
};

/* "CGROUP:WEIGHT": what is behind the last colon, if it is digits. */
static int share_parse_cgroup(struct share_options *options, const char *text)
{
	static const char where[] = "plan share --among";
	const char *colon = strrchr(text, ':');
	struct share_cgroup cgroup = { .weight = 1 };
	char *path;

	if (colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")]) {
		static const struct plan_input weight = { .min = 1, .max = SHARE_WEIGHT_MAX };

		if (plan_set_input(&weight, where, colon + 1, &cgroup.weight))
			return PLAN_USAGE;
	} else {
		colon = text + strlen(text);
	}
	if (options->nr_cgroups == SHARE_CGROUPS_MAX)
		return plan_misuse(where, "more than %zu cgroups; give a parent of them",
				   SHARE_CGROUPS_MAX);
	path = plan_copy(text, (size_t)(colon - text));
	cgroup.path = plan_cgroup_path(where, path);
	free(path);
	if (!cgroup.path)
		return PLAN_USAGE;
	options->cgroups = plan_grow(options->cgroups, options->nr_cgroups + 1,
				     sizeof(*options->cgroups));
	options->cgroups[options->nr_cgroups++] = cgroup;
	return 0;
}

/* "KEY=VALUE", and for what is kept back "KEY=P%" and "P%". */
static int share_parse_take(struct share_options *options, const char *word, bool is_kernel)
{
	const char *where = is_kernel ? "plan share --kernel" : "plan share --reserve";
	const char *equals = strchr(word, '=');
	const char *value = equals ? equals + 1 : word;
	size_t length = strlen(value);
	struct share_take take = { .is_kernel = is_kernel };
	char shown[PLAN_SHOWN];
	int ret;

	take.is_percent = !is_kernel && length && value[length - 1] == '%';
	if (take.is_percent)
		ret = plan_parse_percent(value, &take.value);
	else
		ret = equals ? plan_parse_number(value, &take.value) : -EINVAL;
	if (ret || (take.is_percent && take.value > 100) || equals == word)
		return plan_misuse(where, "'%s' is not %s; give such as %s",
				   plan_show(shown, word, strlen(word)),
				   is_kernel ? "KEY=VALUE" : "KEY=VALUE, KEY=P% or P%",
				   is_kernel ? "qp=16,cq=16" : "qp=16,cq=10% or 5%");
	if (equals)
		take.key = plan_copy(word, (size_t)(equals - word));
	options->takes = plan_grow(options->takes, options->nr_takes + 1, sizeof(*options->takes));
	options->takes[options->nr_takes++] = take;
	return 0;
}

static int share_parse_takes(struct share_options *options, const char *text, bool is_kernel)
{
	char *words = plan_copy(text, strlen(text));
	char *rest = words;
	char *word;
	int ret = 0;

	while (!ret && (word = strsep(&rest, ",")))
		ret = share_parse_take(options, word, is_kernel);
	free(words);
	return ret;
}

static int share_parse_over(struct share_options *options, const char *text)
{
	char shown[PLAN_SHOWN];

	options->has_over = true;
	if (!plan_parse_ratio(text, &options->over) && options->over >= 100)
		return 0;
	return plan_misuse("plan share --oversubscribe",
			   "'%s' is no number from 1 on; give such as 1.5 or 150%%",
			   plan_show(shown, text, strlen(text)));
}

/* The first word is the device; those behind it are cgroups. */
static int share_parse_word(struct share_options *options, const char *word)
{
	char shown[PLAN_SHOWN];

	if (options->device)
		return share_parse_cgroup(options, word);
	if (!plan_is_device(word))
		return plan_misuse("plan share", "'%s' is no device; give the name of one",
				   plan_show(shown, word, strlen(word)));
	options->device = plan_copy(word, strlen(word));
	return 0;
}

static error_t share_parse_key(int key, char *arg, struct argp_state *state)
{
	struct share_options *options = state->input;
	int status = 0;

	switch (key) {
	case ARGP_KEY_ARG:
		status = share_parse_word(options, arg);
		break;
	case SHARE_KEY_AMONG:
		status = share_parse_cgroup(options, arg);
		break;
	case SHARE_KEY_RESERVE:
	case SHARE_KEY_KERNEL:
		status = share_parse_takes(options, arg, key == SHARE_KEY_KERNEL);
		break;
	case SHARE_KEY_CAPACITY:
		options->capacity = arg;
		break;
	case SHARE_KEY_OVER:
		status = share_parse_over(options, arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return status ? PLAN_REFUSED : 0;
}

static void share_free(struct share_options *options)
{
	size_t i;

	for (i = 0; i < options->nr_cgroups; i++)
		free(options->cgroups[i].path);
	for (i = 0; i < options->nr_takes; i++)
		free(options->takes[i].key);
	free(options->cgroups);
	free(options->takes);
	free(options->device);
}

int plan_share(int argc, char **argv)
{
	static const struct argp own = { .options = share_argp_options, .parser = share_parse_key };
	struct share_options options = { .has_over = false };
	struct plan_args args = {
		.form = "plan share", .takes_words = true,
		.doc = "Limits that share a device among cgroups, none of which is in another.",
		.args_doc = "DEVICE [CGROUP[:WEIGHT]...]",
		.own = &own, .own_input = &options,
	};
	int ret = plan_parse(&args, argc, argv);

	if (!ret)
		ret = share_run(&options, &args);
	share_free(&options);
	plan_free_args(&args);
	return ret;
}
