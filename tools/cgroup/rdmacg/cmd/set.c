// SPDX-License-Identifier: GPL-2.0
/* rdmacg set: limits of one device in one cgroup. */
#include "write/write.h"

static struct set {
	struct limits limits;
	struct cgroup *cgroup;
	struct transaction change;
} set;

static const struct syntax set_syntax = {
	.choices = {
		{ "dry-run", 'n', "print the writes, and do not write", &set.change.dry_run },
	},
	.lists = { select_choices },
	.args_doc = "[CGROUP] DEVICE [index=N] KEY=VALUE...|max|default",
	.example = "rdmacg set tenants/a mlx5_0 qp=100 mr_mem=1G",
	.doc =
		"Set limits of a device in a cgroup, all of them or none. A VALUE is a number, a number with K, M, G or T for memory, a percentage of the capacity such as 25%, or max for no limit.\vThe word max instead of KEYs removes all limits of the device. A DEVICE named default stands for each device that has no limit of its own for the key. The word default instead of KEYs removes the device's own limits, so that it gets those of the DEVICE default.",
};

/*
 * In a dry run, the cgroup may still lack the controller. An ancestor then shows the files, or else
 * the root's rdma.capacity shows devices and keys. A kernel without this file has two keys.
 */
static bool set_read(void)
{
	const struct cgroup *like = cgroup_counted_in(set.cgroup);
	const struct device *device = &set.limits.device;
	struct pools *pools = &set.cgroup->pools;
	struct slot *slot = NULL;
	int ret;

	if (like == set.cgroup)
		return cgroup_read(set.cgroup, POOL_BIT(POOL_MAX) | POOL_BIT(POOL_CURRENT));
	if (like) {
		ret = pools_read(pools, like->dir, POOL_BIT(POOL_MAX), NULL);
		return !ret || say_error(cgroup_name(like), "%s", strerror(-ret));
	}
	if (pools_read_file(pools, hierarchy.dir, "rdma.capacity")) {
		pools_get_slot(pools, device, "hca_handle")->has = POOL_BIT(POOL_MAX);
		pools_get_slot(pools, device, "hca_object")->has = POOL_BIT(POOL_MAX);
	}
	while ((slot = pools_next(pools, slot)))
		slot->max = NUMBER_MAX;
	return true;
}

int cmd_set(int argc, char **argv)
{
	char **words = options_read(&set_syntax, argc, argv);
	size_t count = argv + argc - words;
	/* An option selects the cgroup, or else the first word. */
	bool selected = select_arguments(words + count);
	char *cgroup[2] = { NULL };

	if (!selected && count)
		cgroup[0] = *words++;
	count = argv + argc - words;
	if (count < 2)
		options_fail("set", "give %sa DEVICE and a limit", selected ? "" : "a CGROUP, ");
	if (!limits_parse(&set.limits, words[0], words + 1, count - 1))
		exit(EXIT_USAGE);
	select_arguments(cgroup);
	hierarchy_open(EXIT_FAILED);
	set.cgroup = select_one();
	if (!set.cgroup)
		return EXIT_FAILED;
	if (!set.cgroup->parent && !cgroup_has_controller(set.cgroup))
		say_failure("/", "the root cannot have limits; give a cgroup below it");
	capacity_read();
	if (!transaction_enable(&set.change, set.cgroup) || !set_read() ||
	    !limits_add(&set.limits, &set.change, set.cgroup) || !transaction_apply(&set.change)) {
		transaction_undo(&set.change);
		return EXIT_FAILED;
	}
	if (options.json)
		json_print(stdout, "cgroup:s dry_run:b writes:o", cgroup_name(set.cgroup),
			   set.change.dry_run, transaction_json(&set.change));
	else if (set.change.dry_run)
		transaction_print(&set.change);
	return EXIT_DONE;
}
