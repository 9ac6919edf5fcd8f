// SPDX-License-Identifier: GPL-2.0
/* rdmacg doctor: check whether limits on this machine work as intended. */
#include <glob.h>

#include "write/write.h"

/* Print at most this many findings of a check. JSON has all findings. */
#define DOCTOR_MOST	10

static struct doctor {
	struct pools sums;	/* the sums of all limits, in slot.usage */
	struct pools sample;	/* of one cgroup with the controller: has all devices */
	bool before_module;	/* only check whether the module can be loaded */
	bool limited;
	size_t problems;
	bool failed;
	size_t found;	/* number of findings of the check that is running */
	struct json_object *said;
} doctor;

static const struct syntax doctor_syntax = {
	.choices = {
		{ "module", 0, "check only whether the kernel can take the module rdmacg",
		  &doctor.before_module },
	},
	.example = "rdmacg doctor",
	.doc =
		"Check this machine: the controller, the devices, limits that add up to more than the capacity, and limits without effect. The exit status is 1 if there is a problem, but not for a warning.",
};

/* The level is ok, warning, problem, or unknown if the check could not read everything. */
#define doctor_say(level, check, ...) doctor_take(level, check, memory_format(__VA_ARGS__))
static void doctor_take(const char *level, const char *check, char *text)
{
	doctor.found++;
	doctor.problems += !strcmp(level, "problem");
	json_append(doctor.said, "check:s level:s text:s", check, level, text);
	if (doctor.found <= DOCTOR_MOST)
		say_text("%-8s %s: %s", level, check, text);
	free(text);
}

/* Report an incomplete walk, whose errors are already printed. */
static void doctor_end_walk(const struct walk *walk, const char *check)
{
	doctor.failed |= walk->failed;
	if (walk->failed)
		doctor_say("unknown", check, "some cgroups could not be read; run as root");
}

static char *doctor_module_path(const char *name)
{
	return memory_format("%s/%s", hierarchy_path("RDMACG_MODULES", "/sys/module"), name);
}

/* OFED, whose ib_core knows only the stock controller. */
static void doctor_check_ofed(bool has_module)
{
	char *ofed __autofree = doctor_module_path("mlx_compat");

	if (file_exists(AT_FDCWD, ofed))
		doctor_say("warning", "ofed", "ib_core is that of MLNX_OFED or DOCA-OFED, %s",
			   has_module ? "on which nobody has tried rdmacg" :
			   "so only hca_handle and hca_object are counted; other keys need rdmacg");
}

/* The module, which adds limits to a stock controller. */
static void doctor_check_module(void)
{
	char *module __autofree = doctor_module_path("rdmacg");
	char *file __autofree = doctor_module_path("rdmacg/parameters/state");
	char *state __autofree = file_read(AT_FDCWD, file);
	bool has_verbs = doctor.sample.files[POOL_VERB];

	if (state && !strcmp(state, "on\n"))
		doctor_say("ok", "module",
			   "rdmacg is on; cm_id, resources of drivers, SMC-R, RDS, opening a context, and asynchronous ends of commands have no limits, and rdma.default has no hca keys");
	else if (state)
		doctor_say("warning", "module",
			   "rdmacg is %.*s, so it limits nothing; write on to %s",
			   (int)strcspn(state, "\n"), state, file);
	else if (file_exists(AT_FDCWD, module))
		doctor_say("unknown", "module", "%s cannot be read; run as root", file);
	else if (!has_verbs && doctor.sample.files[POOL_HCA])
		doctor_say("warning", "module",
			   "rdmacg is not loaded; with it, this kernel has limits by type, on memory and on commands (package rdmacg-dkms)");
	doctor_check_ofed(state && has_verbs);
}

/* The path of a file of the machine. The caller frees it. */
static char *doctor_host_path(const char *path)
{
	return memory_format("%s%s", hierarchy_path("RDMACG_HOST", ""), path);
}

/* Report a problem with @advice unless the file exists, and @wanted is NULL or in its text. */
static void doctor_need(const char *check, const char *path, const char *wanted, const char *advice)
{
	char *whole __autofree = doctor_host_path(path);
	char *text __autofree = wanted ? file_read(AT_FDCWD, whole) : NULL;

	if (wanted ? text && strstr(text, wanted) : file_exists(AT_FDCWD, whole))
		doctor_say("ok", check, "%s", path);
	else
		doctor_say("problem", check, "%s: %s", path, advice);
}

static void doctor_check_livepatches(void)
{
	char *pattern __autofree = doctor_host_path("/sys/kernel/livepatch/*");
	glob_t found = { 0 };
	size_t i;

	glob(pattern, 0, NULL, &found);
	for (i = 0; i < found.gl_pathc; i++)
		doctor_say("warning", "livepatch",
			   "%s is loaded; if it replaces a function of ib_core or ib_uverbs that rdmacg hooks, rdmacg does not load",
			   strrchr(found.gl_pathv[i], '/') + 1);
	globfree(&found);
}

/* Check what the module needs, as module/README.md describes it, before it is installed. */
static void doctor_check_kernel(void)
{
	char *file __autofree = doctor_host_path("/proc/sys/kernel/osrelease");
	char *release __autofree = file_read(AT_FDCWD, file);
	char *lockdown __autofree = doctor_host_path("/sys/kernel/security/lockdown");
	char *mode __autofree = file_read(AT_FDCWD, lockdown);
	char *headers __autofree = NULL;

	if (!release)
		return doctor_say("unknown", "kernel", "%s cannot be read", file);
	release[strcspn(release, "\n")] = '\0';
	if (!strncmp(release, "6.1.", 4) || !strncmp(release, "6.12.", 5) ||
	    !strncmp(release, "7.3.", 4))
		doctor_say("ok", "kernel", "Linux %s", release);
	else
		doctor_say("problem", "kernel",
			   "nobody has tried rdmacg on Linux %s, so it loads only with force=1",
			   release);
	headers = memory_format("/lib/modules/%s/build/Makefile", release);
	doctor_need("headers", headers, NULL, "install linux-headers for this kernel");
	doctor_need("types", "/sys/kernel/btf/vmlinux", NULL,
		    "this kernel has no type information, with which rdmacg checks functions");
	doctor_need("ftrace", "/proc/sys/kernel/ftrace_enabled", "1",
		    "is not 1; write 1, or use a kernel with CONFIG_FUNCTION_TRACER");
	if (mode && !strstr(mode, "[none]"))
		doctor_say("warning", "lockdown",
			   "this kernel takes only signed modules; once, enroll the key that DKMS makes: mokutil --import /var/lib/dkms/mok.pub");
	doctor_check_livepatches();
	doctor_check_ofed(doctor.before_module);
}

static void doctor_check_files(void)
{
	const struct missing *missing = NULL;

	doctor_say("ok", "controller", "cgroup v%d at %s", hierarchy.v2 ? 2 : 1, hierarchy.path);
	if (hierarchy.v2 && !hierarchy.nsdelegate)
		doctor_say("warning", "delegation",
			   "a container that may write its cgroup can remove its limits; mount -o remount,nsdelegate %s",
			   hierarchy.path);
	if (!doctor.sample.files[POOL_HCA] && !doctor.failed)
		doctor_say("problem", "controller",
			   "no cgroup has the RDMA controller, so nothing is counted; %s %s%s",
			   hierarchy.v2 ? "write +rdma to" :
			   "make one and move processes there: mkdir",
			   hierarchy.path, hierarchy.v2 ? "/cgroup.subtree_control" : "/NAME");
	if (!doctor.sample.files[POOL_HCA])
		return;
	while ((missing = missing_next(&doctor.sample, missing)))
		doctor_say("warning", "files", "no %s: %s", missing->files, missing->meaning);
	if (!capacity.has_file)
		doctor_say("warning", "files",
			   "no rdma.capacity: the capacity of devices is not known, or only in part");
	doctor_check_module();
}

/* Check that the controller knows all devices, because it cannot limit an unknown device. */
static void doctor_check_devices(void)
{
	const struct pool *pool = capacity.pools.first;

	if (!capacity.has_netlink)
		doctor_say("unknown", "devices",
			   "the kernel does not list devices over rdma netlink; is ib_core loaded?");
	else if (!capacity.nr_devices)
		doctor_say("warning", "devices", "this network namespace has no device");
	for (; pool && doctor.sample.files[POOL_HCA]; pool = pool->next)
		if (!pools_find(&doctor.sample, &pool->device))
			doctor_say("problem", "devices",
				   "the controller does not know %s, so limits do not apply to it",
				   pool->device.name);
}

/* Find processes without limits: their cgroup and its ancestors have no controller. */
static void doctor_check_path(void)
{
	struct walk walk = { .stop = !hierarchy.v2 || !doctor.sample.files[POOL_HCA] };
	struct cgroup *cgroup;

	while ((cgroup = walk_next(&walk))) {
		char *processes __autofree = NULL;

		if (cgroup_counted_in(cgroup) || !cgroup->parent)
			continue;
		processes = file_read(cgroup->dir, "cgroup.procs");
		walk.stop = processes && *processes;
		if (walk.stop)
			doctor_say("warning", "path",
				   "processes of %s and perhaps of others are not counted: it and its ancestors have no controller",
				   cgroup_name(cgroup));
	}
	doctor_end_walk(&walk, "path");
}

/*
 * Add a limit, unless that of an ancestor counts. All depths count, because slices of systemd often
 * have no limits, but the pods below them have. In a sum, tally is the number of cgroups without
 * children and limit. The first child takes away its parent, which was counted before.
 */
static void doctor_add(struct slot *sum, const struct cgroup *parent, const struct slot *slot)
{
	const struct slot *above = pools_find_slot(&parent->pools, &slot->pool->device, slot->key);
	bool is_free = !above || above->limit == NUMBER_MAX;

	if (slot->max != NUMBER_MAX && is_free)
		sum->usage = min((__int128)sum->usage + slot->max, NUMBER_MAX);
	if (parent->parent && above && is_free && !parent->marked)
		sum->tally--;
	if (slot->limit == NUMBER_MAX)
		sum->tally++;
}

/* Report what is wrong with the limit of a slot, and add it to the sums. */
static void doctor_look_at_slot(const struct cgroup *cgroup, const struct slot *slot)
{
	const char *name = cgroup_name(cgroup);
	const struct device *device = &slot->pool->device;
	const struct slot *objects = strcmp(slot->key, "qp") || slot->limit == NUMBER_MAX ? NULL :
				     pool_find(slot->pool, "driver_object");

	if (objects && objects->usage && objects->limit == NUMBER_MAX)
		doctor_say("warning", "devx",
			   "%s limits qp on %s, but not driver_object, and uses %" PRIu64
			   " of them: DevX creates these objects besides queue pairs, memory and flows",
			   name, device_text(device).s, objects->usage);
	/* Rates of commands and rdma.default have no capacity. */
	if (cgroup->parent && slot->class != POOL_CONTROL && !device->is_default)
		doctor_add(pools_get_slot(&doctor.sums, device, slot->key), cgroup->parent, slot);
	if (slot->max == NUMBER_MAX)
		return;
	doctor.limited = true;
	if (slot->class == POOL_HCA && slot->max > UINT32_MAX)
		doctor_say("warning", "readers", "%s limits %s on %s to %" PRIu64
			   ": above %u, runc reports nothing of the cgroup, and containerd the limit 0",
			   name, slot->key, device_text(device).s, slot->max, UINT32_MAX);
	if (slot->usage > slot->max)
		doctor_say("warning", "usage",
			   "%s uses more %s on %s than its limit, because the limit was lowered",
			   name, slot->key, device_text(device).s);
}

static void doctor_check_cgroups(void)
{
	struct walk walk = { .files = POOL_BIT(POOL_MAX) | POOL_BIT(POOL_CURRENT) };
	const struct slot *slot = NULL;
	struct cgroup *cgroup;

	while ((cgroup = walk_next(&walk))) {
		while ((slot = pools_next(&cgroup->pools, slot)))
			if (slot->has & POOL_BIT(POOL_MAX))
				doctor_look_at_slot(cgroup, slot);
		if (cgroup->parent)
			cgroup->parent->marked = true;
	}
	doctor_end_walk(&walk, "usage");
}

static void doctor_check_capacity(void)
{
	const struct slot *sum = NULL, *all, *unlimited = NULL, *unknown = NULL;
	size_t resources = 0, nr_unknown = 0;

	if (hierarchy.partial)
		doctor_say("unknown", "limits",
			   "%s is not the root of the machine: limits of ancestors also apply, but are not visible here",
			   hierarchy.path);
	else if (doctor.sample.files[POOL_HCA] && !doctor.limited && !doctor.failed)
		doctor_say("warning", "limits",
			   "no cgroup has a limit, so each process can use up a device");
	capacity_count_owners();
	while ((sum = pools_next(&doctor.sums, sum))) {
		if (!sum->usage)
			continue;
		all = pools_find_slot(&capacity.pools, &sum->pool->device, sum->key);
		if (!all || all->max == NUMBER_MAX) {
			unknown = nr_unknown++ ? unknown : sum;
			continue;
		}
		/* Objects of kernel users also use up the capacity. */
		if (sum->usage > max(0, (__int128)all->max - all->tally))
			doctor_say("warning", "capacity", "limits of %s on %s add up to %" PRIu64
				   "; the capacity is %" PRIu64 "%s%s", sum->key,
				   device_text(&sum->pool->device).s, sum->usage, all->max,
				   capacity.has_netlink ? ", and kernel users have " : "",
				   capacity.has_netlink ? number_text(all->tally, false).s : "");
		unlimited = !sum->tally || resources++ ? unlimited : sum;
	}
	if (!capacity.has_file && !capacity.has_netlink)
		doctor_say("unknown", "capacity",
			   "neither rdma.capacity nor rdma netlink shows the capacity of devices");
	else if (unknown)
		doctor_say("unknown", "capacity",
			   "no capacity of %s on %s is known, so the sum of its limits is not checked; number of such resources: %zu",
			   unknown->key, device_text(&unknown->pool->device).s, nr_unknown);
	if (unlimited && !hierarchy.partial)
		doctor_say("warning", "capacity",
			   "%zu cgroups have no limit of %s on %s, and can use up what others are allowed; number of such resources: %zu",
			   (size_t)unlimited->tally, unlimited->key,
			   device_text(&unlimited->pool->device).s, resources);
}

/* Whether the reader can compute the limits of a rule. Prints an error. */
static bool doctor_can_apply(const struct config *config, const struct rule *rule,
			     const struct pool *pool, bool is_policy)
{
	const struct limit *limit = rule->limits.limits, *end = limit + rule->limits.nr_limits;
	bool matches = config_match_device(rule, &pool->device);
	uint64_t value;

	if (matches && !pool->device.is_default && !limits_check_keys(&rule->limits, pool))
		return false;
	if (pool->device.is_default && is_policy && !strcmp(rule->section, POLICY_CEILING))
		return true;
	for (; limit < end; limit++)
		if ((matches || (is_policy && pool_find(pool, limit->key))) &&
		    config_look_up(config, rule->section, &pool->device, limit->key) == rule &&
		    !limits_value(&pool->device, limit, &value))
			return false;
	return true;
}

/* Check that each line can have an effect, in @policy or, for NULL, in the files of apply. */
static void doctor_check_config(const char *policy)
{
	const char *reader = policy ? "oci-hook" : "apply";
	struct config config = { 0 };
	char *none = NULL;
	const struct pool *pool;
	const struct rule *rule;

	if (!(policy ? policy_read(&config, policy) : config_read(&config, &none)))
		doctor_say("problem", "files of limits",
			   "%s does not apply them, because of the error above", reader);
	for (rule = config.rules; rule < config.rules + config.nr_rules; rule++) {
		bool is_default = rule->limits.device.is_default;
		const char *key = policy_missing_key(&doctor.sample, rule);

		if (!is_default && !config_find_pool(rule, &doctor.sample))
			doctor_say("warning", "files of limits", "%s: no device matches %s",
				   rule->where, rule->limits.device.name);
		say_place = rule->where;
		for (pool = doctor.sample.first; pool; pool = pool->next)
			if (!doctor_can_apply(&config, rule, pool, policy))
				doctor_say("problem", "files of limits",
					   "%s fails, because of the error above", reader);
		say_place = NULL;
		if (!policy && is_default && !pools_find(&doctor.sample, &device_default))
			doctor_say("problem", "files of limits",
				   "%s: this kernel has no %s, so apply fails; limit each device",
				   rule->where, POOL_FILE_DEFAULT);
		else if (key)
			doctor_say("problem", "files of limits",
				   "%s: no device has the key %s, so %s fails; rdmacg show -a lists keys",
				   rule->where, key, reader);
	}
	config_free(&config);
}

static void doctor_check_configs(void)
{
	const char *oci = hierarchy_path("RDMACG_OCI", "/etc/rdmacg/oci.conf");

	if (doctor.sample.files[POOL_HCA] && file_exists(AT_FDCWD, config_folder()))
		doctor_check_config(NULL);
	if (doctor.sample.files[POOL_HCA] && file_exists(AT_FDCWD, oci))
		doctor_check_config(oci);
}

static const struct {
	void (*run)(void);
	const char *name;
	const char *fine;	/* the text to print if the check has no findings */
} doctor_checks[] = {
	{ doctor_check_files, "controller", "" },
	{ doctor_check_devices, "devices", "the controller knows all devices" },
	{ doctor_check_path, "path", "all processes below the root are counted" },
	{ doctor_check_cgroups, "usage", "no cgroup has more than its limit" },
	{ doctor_check_capacity, "capacity", "the limits fit the capacity of the devices" },
	{ doctor_check_configs, "files of limits", "a device matches each line" },
};

static int doctor_end(void)
{
	if (options.json)
		json_print(stdout, "checks:o", doctor.said);
	return doctor.failed || doctor.problems ? EXIT_FAILED : EXIT_DONE;
}

int cmd_doctor(int argc, char **argv)
{
	struct walk walk = { 0 };
	struct cgroup *cgroup;
	size_t i;
	int ret;

	options_read(&doctor_syntax, argc, argv);
	doctor.said = json_object_new_array();
	if (doctor.before_module) {
		doctor_check_kernel();
		return doctor_end();
	}
	hierarchy_open(EXIT_FAILED);
	capacity_read();
	/* All cgroups with the controller have the same files, so read the first one. */
	while ((cgroup = walk_next(&walk))) {
		ret = pools_read(&doctor.sample, cgroup->dir, POOL_ALL, NULL);
		if (ret)
			walk.failed = !say_error(cgroup_name(cgroup), "%s", strerror(-ret));
		walk.stop = walk.failed || doctor.sample.files[POOL_HCA];
	}
	doctor_end_walk(&walk, "controller");
	for (i = 0; i < ARRAY_SIZE(doctor_checks); i++) {
		const char *name = doctor_checks[i].name;

		doctor.found = 0;
		doctor_checks[i].run();
		if (doctor.found > DOCTOR_MOST)
			say_text("%-8s %s: and %zu more; --json shows all", "", name,
				 doctor.found - DOCTOR_MOST);
		/* A check that could not read its files must not say ok. */
		if (!doctor.found && doctor.sample.files[POOL_HCA] && !doctor.failed)
			doctor_say("ok", name, "%s", doctor_checks[i].fine);
	}
	return doctor_end();
}
