// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg doctor: whether limits on this machine do what they are meant to do.
 *
 * Each check is a function that says what it found: fine, a warning, or a problem.
 */
#include "core/core.h"
#include "write/config.h"

/* So many findings of a check are printed; JSON has all. */
#define DOCTOR_MOST	10

enum doctor_level {
	DOCTOR_FINE,
	/* It could not be looked at. */
	DOCTOR_UNKNOWN,
	DOCTOR_WARNING,
	DOCTOR_PROBLEM,
};

static const char * const doctor_levels[] = { "ok", "unknown", "warning", "problem" };

struct doctor {
	struct hierarchy hierarchy;
	struct capacity capacity;
	struct cgroup *root;
	/* All limits together, as max. */
	struct pools sums;
	/* The files of one cgroup with the controller; its max are of no interest. */
	struct pools sample;
	bool has_sample;
	/* Whether there is a limit anywhere. */
	bool limited;
	size_t problems;
	/* An error was said. */
	bool failed;
	/* Of a check: how often it found something. */
	size_t found;
	struct json_object *said;
};

static const struct argp doctor_argp = {
	.children = options_child,
	.doc =
		"Check this machine: the controller, whether it counts, devices, limits that add up to more than there is, limits that bind nobody. The exit status is 1 if there is a problem; a warning is none.",
};

static void __printf(4, 5) doctor_say(struct doctor *doctor, enum doctor_level level,
				      const char *check, const char *format, ...)
{
	struct json_object *object;
	va_list args;
	char *text;

	va_start(args, format);
	text = memory_vformat(format, args);
	va_end(args);
	doctor->found++;
	doctor->problems += level == DOCTOR_PROBLEM;
	if (options.json) {
		object = json_object_new_object();
		json_add(object, "check", json_text(check));
		json_add(object, "level", json_text(doctor_levels[level]));
		json_add(object, "text", json_text(text));
		json_object_array_add(doctor->said, object);
	} else if (doctor->found <= DOCTOR_MOST) {
		say_text("%-8s %s: %s", doctor_levels[level], check, text);
	}
	free(text);
}

/* Errors were said for cgroups that could not be opened, so the check is not complete. */
static void doctor_say_unread(struct doctor *doctor, const char *check)
{
	doctor->failed = true;
	doctor_say(doctor, DOCTOR_UNKNOWN, check,
		   "some cgroups could not be read; run as root");
}

/* Which files there are. */
static void doctor_check_files(struct doctor *doctor)
{
	doctor_say(doctor, DOCTOR_FINE, "controller", "cgroup v%d at %s",
		   doctor->hierarchy.v2 ? 2 : 1, doctor->hierarchy.path);
	if (doctor->hierarchy.v2 && !doctor->hierarchy.nsdelegate)
		doctor_say(doctor, DOCTOR_WARNING, "delegation",
			   "a container that may write its cgroup can remove its limits; mount -o remount,nsdelegate %s",
			   doctor->hierarchy.path);
	if (!doctor->has_sample) {
		doctor_say(doctor, DOCTOR_PROBLEM, "controller",
			   "no cgroup has it, so nothing is counted; write +rdma to %s/cgroup.subtree_control",
			   doctor->hierarchy.path);
		return;
	}
	if (!(doctor->sample.files[POOL_HCA] & POOL_BIT(POOL_PEAK)))
		doctor_say(doctor, DOCTOR_WARNING, "files", "no rdma.peak: peaks are not known");
	if (!(doctor->sample.files[POOL_HCA] & POOL_BIT(POOL_EVENTS)))
		doctor_say(doctor, DOCTOR_WARNING, "files",
			   "no rdma.events: refusals are not counted");
	if (!doctor->sample.files[POOL_VERB])
		doctor_say(doctor, DOCTOR_WARNING, "files",
			   "no rdma.verb.*: single types and memory cannot be limited");
	if (!doctor->capacity.has_file)
		doctor_say(doctor, DOCTOR_WARNING, "files",
			   "no rdma.capacity: what devices have is known in part at best");
}

/* A device that the controller does not know is not limited by it. */
static void doctor_check_devices(struct doctor *doctor)
{
	const struct netlink *netlink = &doctor->capacity.netlink;
	size_t i;

	if (!doctor->capacity.has_netlink)
		doctor_say(doctor, DOCTOR_UNKNOWN, "devices",
			   "the kernel does not list them over rdma netlink; is ib_core loaded?");
	else if (!netlink->nr_devices)
		doctor_say(doctor, DOCTOR_WARNING, "devices",
			   "there is none in this network namespace");
	for (i = 0; i < netlink->nr_devices && doctor->has_sample; i++) {
		const struct device *device = &netlink->devices[i].device;
		struct device name = { .name = device->name };

		if (pools_find(&doctor->sample, &name) || pools_find(&doctor->sample, device))
			continue;
		doctor_say(doctor, DOCTOR_PROBLEM, "devices",
			   "the controller does not know %s, so no limit binds it", device->name);
	}
}

/* Processes outside of any cgroup with the controller can take what they want. */
static bool doctor_visit_uncounted(struct cgroup *cgroup, void *data)
{
	struct doctor *doctor = data;
	char *processes;

	if (cgroup_counted_in(cgroup) || !cgroup->parent)
		return true;
	processes = file_read(cgroup->dir, "cgroup.procs");
	if (processes && *processes && !doctor->found)
		doctor_say(doctor, DOCTOR_WARNING, "path",
			   "processes of %s and perhaps others are counted nowhere: there is no controller on the way up",
			   cgroup_name(cgroup));
	free(processes);
	return !doctor->found;
}

static void doctor_check_path(struct doctor *doctor)
{
	if (doctor->hierarchy.v2 && doctor->has_sample &&
	    !cgroup_walk_names(doctor->root, doctor_visit_uncounted, doctor))
		doctor_say_unread(doctor, "path");
}

static const struct cgroup *doctor_top(const struct cgroup *cgroup)
{
	while (cgroup->depth > 1)
		cgroup = cgroup->parent;
	return cgroup;
}

/*
 * Add a limit to the sums, unless one above it counts already; at whatever depth it is,
 * since systemd's slices have none and the pods in them have. The tally is of top-level
 * cgroups without a limit in them: @limit_of is the last one, until a limit is found there.
 */
static void doctor_add(struct doctor *doctor, const struct cgroup *cgroup,
		       const struct pool *pool, const struct slot *slot)
{
	struct slot *sum = pools_get_slot(&doctor->sums, &pool->device, slot->key);
	const struct slot *above = NULL;

	if (!sum->has)
		sum->max = 0;
	sum->has = POOL_BIT(POOL_MAX);
	if (slot->max == NUMBER_MAX) {
		if (cgroup->depth == 1) {
			sum->tally++;
			sum->limit_of = cgroup;
		}
		return;
	}
	if (cgroup->parent)
		above = pools_find_slot(&cgroup->parent->pools, &pool->device, slot->key);
	if (above && above->limit != NUMBER_MAX)
		return;
	if (sum->limit_of == doctor_top(cgroup)) {
		sum->tally--;
		sum->limit_of = NULL;
	}
	if (__builtin_add_overflow(sum->max, slot->max, &sum->max))
		sum->max = NUMBER_MAX;
}

/* Who limits what the verbs know may not know that a driver makes more than that. */
static void doctor_look_for_devx(struct doctor *doctor, const struct cgroup *cgroup,
				 const struct pool *pool)
{
	const struct slot *objects = pool_find(pool, "driver_object");
	const struct slot *qp = pool_find(pool, "qp");

	if (!objects || !objects->usage || objects->limit != NUMBER_MAX ||
	    !qp || qp->limit == NUMBER_MAX)
		return;
	doctor_say(doctor, DOCTOR_WARNING, "devx",
		   "%s limits qp on %s, but not driver_object, of which it has %" PRIu64
		   ": what DevX and the like make beside queue pairs, memory and flows",
		   cgroup_name(cgroup), pool->device.name, objects->usage);
}

/* The statistics of container runtimes read rdma.max in 32 bits. */
static void doctor_look_for_large(struct doctor *doctor, const struct cgroup *cgroup,
				  const struct pool *pool, const struct slot *slot)
{
	if (slot->class != POOL_HCA || slot->max == NUMBER_MAX || slot->max <= UINT32_MAX)
		return;
	doctor_say(doctor, DOCTOR_WARNING, "readers",
		   "%s limits %s on %s to %" PRIu64
		   ": readers of 32 bits, such as runc's and containerd's, show none or 0 above %u",
		   cgroup_name(cgroup), slot->key, pool->device.name, slot->max, UINT32_MAX);
}

/* One cgroup with the controller is enough to know which files there are. */
static bool doctor_visit_sample(struct cgroup *cgroup, void *data)
{
	struct doctor *doctor = data;

	pools_read(&doctor->sample, cgroup->dir, POOL_ALL, NULL);
	doctor->has_sample = doctor->sample.files[POOL_HCA];
	return !doctor->has_sample;
}

static bool doctor_visit(struct cgroup *cgroup, void *data)
{
	struct doctor *doctor = data;
	const struct pools *pools = &cgroup->pools;
	size_t i, j;

	for (i = 0; i < pools->nr_pools; i++) {
		const struct pool *pool = &pools->pools[i];

		doctor_look_for_devx(doctor, cgroup, pool);
		for (j = 0; j < pool->nr_slots; j++) {
			const struct slot *slot = &pool->slots[j];

			if (!(slot->has & POOL_BIT(POOL_MAX)))
				continue;
			doctor->limited |= slot->max != NUMBER_MAX;
			if (cgroup->parent)
				doctor_add(doctor, cgroup, pool, slot);
			doctor_look_for_large(doctor, cgroup, pool, slot);
			if (slot->max != NUMBER_MAX && slot->usage > slot->max)
				doctor_say(doctor, DOCTOR_WARNING, "usage",
					   "%s has more %s on %s than its limit, which was lowered meanwhile",
					   cgroup_name(cgroup), slot->key, pool->device.name);
		}
	}
	return true;
}

/* What the kernel has taken of a device comes out of the same capacity. */
static uint64_t doctor_kernel_use(const struct doctor *doctor, const struct device *device,
				  const char *key)
{
	struct netlink_device *found = netlink_find(&doctor->capacity.netlink, device);
	const struct netlink_resource *resource;

	resource = found ? netlink_find_resource(found, key) : NULL;
	return resource ? resource->kernel : 0;
}

static void doctor_check_sum(struct doctor *doctor, const struct pool *pool,
			     const struct slot *sum)
{
	uint64_t all = capacity_of(&doctor->capacity, &pool->device, sum->key);
	uint64_t kernel = doctor_kernel_use(doctor, &pool->device, sum->key);
	char number[NUMBER_SIZE];

	if (all == NUMBER_MAX || !sum->max)
		return;
	if (sum->tally)
		doctor_say(doctor, DOCTOR_WARNING, "capacity",
			   "%s top-level cgroups have no limit of %s on %s at any depth, so those of others assure nobody of anything",
			   number_format(number, sum->tally, false), sum->key,
			   pool->device.name);
	if (kernel < all && sum->max <= all - kernel)
		return;
	doctor_say(doctor, DOCTOR_WARNING, "capacity",
		   "limits of %s on %s add up to %" PRIu64 "; it has %" PRIu64
		   ", and the kernel holds %" PRIu64 " of them",
		   sum->key, pool->device.name, sum->max, all, kernel);
}

/* What each cgroup shows by itself. */
static void doctor_check_cgroups(struct doctor *doctor)
{
	if (!cgroup_walk(doctor->root, POOL_BIT(POOL_MAX) | POOL_BIT(POOL_CURRENT), doctor_visit,
			 doctor))
		doctor_say_unread(doctor, "usage");
}

static void doctor_check_capacity(struct doctor *doctor)
{
	size_t i, j;

	if (doctor->hierarchy.partial)
		doctor_say(doctor, DOCTOR_UNKNOWN, "limits",
			   "%s is not the root of the machine: limits above bind too, and cannot be seen from here",
			   doctor->hierarchy.path);
	else if (doctor->has_sample && !doctor->limited && !doctor->failed)
		doctor_say(doctor, DOCTOR_WARNING, "limits",
			   "there is none: any process can take all of a device");
	for (i = 0; i < doctor->capacity.netlink.nr_devices; i++)
		netlink_count_kernel(&doctor->capacity.netlink.devices[i]);
	if (!doctor->capacity.has_file && !doctor->capacity.has_netlink)
		doctor_say(doctor, DOCTOR_UNKNOWN, "capacity",
			   "neither rdma.capacity nor rdma netlink says what devices have");
	for (i = 0; i < doctor->sums.nr_pools; i++)
		for (j = 0; j < doctor->sums.pools[i].nr_slots; j++)
			doctor_check_sum(doctor, &doctor->sums.pools[i],
					 &doctor->sums.pools[i].slots[j]);
}

static bool doctor_has_device(const struct doctor *doctor, const struct rule *rule)
{
	size_t i;

	for (i = 0; i < doctor->sample.nr_pools; i++)
		if (config_match_device(rule, &doctor->sample.pools[i].device))
			return true;
	return rule->limits.device.is_default;
}

/* A line of a file wants a device that is there; @files as for config_read(). */
static void doctor_check_config(struct doctor *doctor, char * const *files, size_t count,
				const char *reader)
{
	struct config config;
	size_t i;

	if (!config_read(&config, files, count))
		doctor_say(doctor, DOCTOR_PROBLEM, "files of limits",
			   "%s takes none of them: an error is said above", reader);
	for (i = 0; i < config.nr_rules; i++)
		if (!doctor_has_device(doctor, &config.rules[i]))
			doctor_say(doctor, DOCTOR_WARNING, "files of limits",
				   "%s: there is no device %s", config.rules[i].where,
				   config.rules[i].limits.device.name);
	config_free(&config);
}

static void doctor_check_configs(struct doctor *doctor)
{
	char *oci = config_oci_file();

	if (doctor->has_sample && !faccessat(AT_FDCWD, config_folder(), F_OK, 0))
		doctor_check_config(doctor, NULL, 0, "apply");
	if (doctor->has_sample && !faccessat(AT_FDCWD, oci, F_OK, 0))
		doctor_check_config(doctor, &oci, 1, "oci-hook");
	free(oci);
}

static void doctor_run(struct doctor *doctor)
{
	static const struct {
		void (*run)(struct doctor *doctor);
		const char *name;
		/* What is so where it finds nothing. */
		const char *fine;
	} checks[] = {
		{ doctor_check_files, "controller", "" },
		{ doctor_check_devices, "devices", "the controller knows all that are here" },
		{ doctor_check_path, "path", "all processes below the root count somewhere" },
		{ doctor_check_cgroups, "usage", "no cgroup has more than its limit" },
		{ doctor_check_capacity, "capacity", "limits fit what devices have" },
		{ doctor_check_configs, "files of limits", "none names a device that is not here" },
	};
	size_t i;

	cgroup_walk_names(doctor->root, doctor_visit_sample, doctor);
	for (i = 0; i < ARRAY_SIZE(checks); i++) {
		doctor->found = 0;
		checks[i].run(doctor);
		if (doctor->found > DOCTOR_MOST && !options.json)
			say_text("%-8s %s: and %zu more; --json has them all", "", checks[i].name,
				 doctor->found - DOCTOR_MOST);
		/* What was not read is not fine. */
		if (!doctor->found && doctor->has_sample && !doctor->failed)
			doctor_say(doctor, DOCTOR_FINE, checks[i].name, "%s", checks[i].fine);
	}
}

int cmd_doctor(int argc, char **argv)
{
	struct doctor doctor = { 0 };

	options_parse(&doctor_argp, 0, argc, argv, NULL);
	if (!hierarchy_open(&doctor.hierarchy))
		return EXIT_FAILED;
	capacity_read(&doctor.capacity, &doctor.hierarchy);
	if (options.json)
		doctor.said = json_object_new_array();
	doctor.root = cgroup_open(&doctor.hierarchy, "");
	doctor.failed = !doctor.root;
	if (doctor.root)
		doctor_run(&doctor);
	if (options.json)
		json_print(stdout, json_document("checks", doctor.said), options.pretty);
	pools_free(&doctor.sums);
	pools_free(&doctor.sample);
	cgroup_close_path(doctor.root);
	capacity_free(&doctor.capacity);
	hierarchy_close(&doctor.hierarchy);
	return doctor.failed || doctor.problems ? EXIT_FAILED : EXIT_DONE;
}
