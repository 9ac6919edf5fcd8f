// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg set: limits of one device in one cgroup.
 *
 * The cgroup gets the controller if it lacks it; keys go to the file of their class; all is
 * taken back if a part is refused.
 */
#include "core/core.h"
#include "write/limits.h"
#include "write/transaction.h"

struct set {
	const char *cgroup;
	const char *device;
	char **words;
	size_t nr_words;
	bool dry_run;
};

static const struct argp_option set_options[] = {
	{ "dry-run", 'n', NULL, 0, "say what would be written, and write nothing", 0 },
	{ 0 }
};

static error_t set_parse(int key, char *arg, struct argp_state *state)
{
	struct set *set = state->input;

	switch (key) {
	case 'n':
		set->dry_run = true;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num >= 2)
			return ARGP_ERR_UNKNOWN;
		*(state->arg_num ? &set->device : &set->cgroup) = arg;
		return 0;
	case ARGP_KEY_ARGS:
		set->words = state->argv + state->next;
		set->nr_words = state->argc - state->next;
		return 0;
	case ARGP_KEY_END:
		if (!set->nr_words)
			options_fail("set", "a CGROUP, a DEVICE and a limit are needed");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp set_argp = {
	.options = set_options,
	.parser = set_parse,
	.children = options_child,
	.args_doc = "CGROUP DEVICE [index=N] KEY=VALUE...|max|default",
	.doc =
		"Set limits of a device in a cgroup, all of them or none. A VALUE is a number, 1G or the like for memory, 25% of what the device has, or max for no limit.\vWithout KEYs, max takes all limits of the device away, and default gives the device back to the limits of DEVICE default, which hold for every device without its own.",
};

static void set_print_json(const struct set *set, const struct cgroup *cgroup,
			   const struct transaction *change)
{
	struct json_object *object = json_object_new_object();

	json_add(object, "cgroup", json_text(cgroup_name(cgroup)));
	json_add(object, "dry_run", json_object_new_boolean(set->dry_run));
	json_add(object, "writes", transaction_json(change));
	json_print(stdout, object, options.pretty);
}

/* Keys that this project's kernels have in rdma.verb.max, whatever the driver. */
static const char * const set_verb_keys[] = {
	"ah", "async_event", "cm_id", "comp_channel", "counters", "cq", "dm", "dm_mem", "dmah",
	"driver_async_event", "driver_object", "flow", "flow_action", "mr", "mr_mem", "mw", "pd",
	"qp", "rwq_ind_tbl", "srq", "wq", "xrcd",
};

static enum pool_class set_class(const char *key)
{
	size_t i;

	if (!strncmp(key, "hca_", 4))
		return POOL_HCA;
	if (!strcmp(key, "ops") || !strcmp(key, "burst") || !strcmp(key, "inflight"))
		return POOL_CONTROL;
	for (i = 0; i < ARRAY_SIZE(set_verb_keys); i++)
		if (!strcmp(key, set_verb_keys[i]))
			return POOL_VERB;
	return POOL_HW;
}

/*
 * Where no cgroup has the controller yet, the root's rdma.capacity names devices and keys. A
 * kernel without it has two keys.
 */
static void set_foresee(struct cgroup *cgroup, const struct device *device)
{
	struct pools *pools = &cgroup->pools;
	size_t i, j;

	if (pools_read_file(pools, cgroup->hierarchy->dir, "rdma.capacity")) {
		pools_get_slot(pools, device, "hca_handle")->has = POOL_BIT(POOL_MAX);
		pools_get_slot(pools, device, "hca_object")->has = POOL_BIT(POOL_MAX);
	}
	for (i = 0; i < pools->nr_pools; i++) {
		for (j = 0; j < pools->pools[i].nr_slots; j++) {
			struct slot *slot = &pools->pools[i].slots[j];

			slot->class = set_class(slot->key);
			slot->max = NUMBER_MAX;
			pools->files[slot->class] |= POOL_BIT(POOL_MAX);
		}
	}
}

/*
 * Learn which file has which key. In a dry run, the cgroup may still lack the controller;
 * then an ancestor that has it shows what the files will be.
 */
static bool set_read(struct cgroup *cgroup, const struct transaction *change,
		     const struct limits *limits)
{
	const struct cgroup *like = cgroup_counted_in(cgroup);

	if (like == cgroup)
		return cgroup_read(cgroup, POOL_BIT(POOL_MAX) | POOL_BIT(POOL_CURRENT));
	if (like && change->dry_run)
		return !pools_read(&cgroup->pools, like->dir, POOL_BIT(POOL_MAX), NULL);
	if (change->dry_run)
		set_foresee(cgroup, &limits->device);
	else
		say_error(cgroup_name(cgroup), "has no file rdma.max; is it gone?");
	return change->dry_run;
}

/* Write the limits in a cgroup that has the controller by now. */
static bool set_limits(const struct limits *limits, struct cgroup *cgroup,
		       struct transaction *change)
{
	struct capacity capacity;
	bool done;

	if (!set_read(cgroup, change, limits))
		return false;
	capacity_read(&capacity, cgroup->hierarchy);
	done = limits_add(limits, change, cgroup, &capacity);
	capacity_free(&capacity);
	if (!done)
		transaction_undo(change);
	return done && transaction_apply(change);
}

static bool set_cgroup(const struct set *set, const struct limits *limits, struct cgroup *cgroup)
{
	struct transaction change = { .dry_run = set->dry_run };
	bool done = false;

	if (!cgroup->parent && !cgroup_has_controller(cgroup)) {
		say_error("/", "the root has no limits; its devices are the limit");
		return false;
	}
	/* JSON is printed as a whole at the end. */
	change.quiet = options.json;
	transaction_add_controller(&change, cgroup);
	if (transaction_apply(&change))
		done = set_limits(limits, cgroup, &change);
	if (done && options.json)
		set_print_json(set, cgroup, &change);
	transaction_free(&change);
	return done;
}

int cmd_set(int argc, char **argv)
{
	struct hierarchy hierarchy;
	struct limits limits;
	struct set set = { 0 };
	struct cgroup *cgroup = NULL;
	bool done = false;
	char *name;

	options_parse(&set_argp, 0, argc, argv, &set);
	if (!limits_parse(&limits, set.device, set.words, set.nr_words)) {
		limits_free(&limits);
		return EXIT_USAGE;
	}
	if (hierarchy_open(&hierarchy)) {
		name = hierarchy_resolve(&hierarchy, set.cgroup);
		if (name)
			cgroup = cgroup_open(&hierarchy, name);
		if (cgroup)
			done = set_cgroup(&set, &limits, cgroup);
		cgroup_close_path(cgroup);
		free(name);
		hierarchy_close(&hierarchy);
	}
	limits_free(&limits);
	return done ? EXIT_DONE : EXIT_FAILED;
}
