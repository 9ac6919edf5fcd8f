// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg set: limits of one device in one cgroup.
 *
 * The command enables the controller in the cgroup if necessary, and writes each key to the file of
 * its class. The command undoes all writes if the kernel refuses a write.
 */
#include "core/core.h"
#include "write/write.h"

static bool set_dry_run;

static const char set_needs[] = "give a CGROUP, a DEVICE and a limit";

static const struct syntax set_syntax = {
	.choices = {
		{ "dry-run", 'n', "print the writes, and do not write", &set_dry_run },
	},
	.needs = set_needs,
	.args_doc = "CGROUP DEVICE [index=N] KEY=VALUE...|max|default",
	.doc =
		"Set limits of a device in a cgroup, all of them or none. A VALUE is a number, a number with K, M, G or T for memory, a percentage of the capacity such as 25%, or max for no limit.\vThe word max instead of KEYs removes all limits of the device. The word default removes them, so that the limits of DEVICE default apply. The limits of DEVICE default are for each device without a limit of its own for the key.",
};

/* All keys of rdma.verb.max, of all drivers together. */
static const char * const set_verb_keys[] = {
	"ah", "async_event", "cm_id", "comp_channel", "counters", "cq", "dm", "dm_mem", "dmah",
	"driver_async_event", "driver_object", "flow", "flow_action", "mcast", "mr", "mr_mem", "mw",
	"pd", "qp", "rwq_ind_tbl", "srq", "wq", "xrcd",
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
 * If no cgroup has the controller yet, take devices and keys from the root's rdma.capacity. A
 * kernel without this file has two keys.
 */
static void set_foresee(struct cgroup *cgroup, const struct device *device)
{
	struct pools *pools = &cgroup->pools;
	struct slot *slot = NULL;

	if (pools_read_file(pools, hierarchy.dir, "rdma.capacity")) {
		pools_get_slot(pools, device, "hca_handle")->has = POOL_BIT(POOL_MAX);
		pools_get_slot(pools, device, "hca_object")->has = POOL_BIT(POOL_MAX);
	}
	while ((slot = pools_next(pools, slot))) {
		slot->class = set_class(slot->key);
		slot->max = NUMBER_MAX;
		pools->files[slot->class] |= POOL_BIT(POOL_MAX);
	}
}

/*
 * Find the file of each key. In a dry run, the cgroup may still lack the controller. An ancestor
 * that has the controller then shows which files the cgroup would get.
 */
static bool set_read(struct cgroup *cgroup, const struct limits *limits)
{
	const struct cgroup *like = cgroup_counted_in(cgroup);

	if (like == cgroup)
		return cgroup_read(cgroup, POOL_BIT(POOL_MAX) | POOL_BIT(POOL_CURRENT));
	if (like)
		return !pools_read(&cgroup->pools, like->dir, "", POOL_BIT(POOL_MAX), NULL);
	set_foresee(cgroup, &limits->device);
	return true;
}

static bool set_cgroup(const struct limits *limits, struct cgroup *cgroup)
{
	struct transaction change = { .dry_run = set_dry_run };
	bool done;

	if (!cgroup->parent && !cgroup_has_controller(cgroup)) {
		say_error("/", "the root cannot have limits; give a cgroup below it");
		return false;
	}
	capacity_read();
	done = transaction_enable(&change, cgroup) && set_read(cgroup, limits) &&
	       limits_add(limits, &change, cgroup) && transaction_apply(&change);
	if (!done)
		transaction_undo(&change);
	else if (options.json)
		json_print(stdout, "cgroup:s dry_run:b writes:o", cgroup_name(cgroup), set_dry_run,
			   transaction_json(&change));
	else if (set_dry_run)
		transaction_print(&change);
	transaction_free(&change);
	return done;
}

int cmd_set(int argc, char **argv)
{
	char **words = options_read(&set_syntax, argc, argv);
	size_t count = argv + argc - words;
	struct cgroup *cgroup;
	static struct limits limits;
	bool done;

	if (count < 3)
		options_fail("set", "%s", set_needs);
	if (!limits_parse(&limits, words[1], words + 2, count - 2))
		exit(EXIT_USAGE);
	hierarchy_open(EXIT_FAILED);
	cgroup = cgroup_open_argument(words[0]);
	done = cgroup && set_cgroup(&limits, cgroup);
	cgroup_close_path(cgroup);
	limits_free(&limits);
	return done ? EXIT_DONE : EXIT_FAILED;
}
