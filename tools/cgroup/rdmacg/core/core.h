/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel has: cgroups, their counters and limits, devices, processes. */
#ifndef RDMACG_CORE_H
#define RDMACG_CORE_H

#include <regex.h>

#include "lib/lib.h"

/*
 * A device as the files name it: "NAME", or "NAME index=N" where devices of several
 * network namespaces have the same name.
 */

struct json_object;

struct device {
	/* As the kernel's files show it: one word, where a blank is \040. */
	char *name;
	/* Not a device, but the limits in rdma.default, of devices without their own. */
	bool is_default;
	bool has_index;
	uint32_t index;
};

/* "default": valid as it is. */
extern const struct device device_default;

/* @word as the files have it: what a line cannot hold becomes \ooo. To be freed. */
char *device_escape(const char *word);
void device_copy(struct device *to, const struct device *from);
void device_free(struct device *device);
bool device_is_same(const struct device *a, const struct device *b);
/* As the files have it. To be freed. */
char *device_format(const struct device *device);

/* "device": the name, "index": null, or the number where the name needs one. */
void device_json(struct json_object *object, const struct device *device);

/* A line of a file of the controller: NAME[ index=N] KEY=VALUE KEY=VALUE... */

struct line {
	/* Points into the text; not to be freed. */
	struct device device;
	/* What is left of the line. */
	char *rest;
};

/*
 * The next line of *@text that names a device and has a value; false at the end. Text is
 * cut into pieces by this.
 */
bool line_next(char **text, struct line *line);
/*
 * The next key and its value, NUMBER_MAX for "max"; false at the end. What is no pair, or
 * has no number, is of a later kernel and left out.
 */
bool line_next_value(struct line *line, const char **key, uint64_t *value);

/* --device and --resource: what is read of the controller's files at all. */

/* For the children of a command's argp. */
extern const struct argp filter_argp;

bool filter_has_device(const char *name);
bool filter_has_key(const char *key);

/*
 * What a cgroup has: a pool for each device, and in it a slot for each resource, put
 * together from the files of all classes. A kernel lacks some of the files, and a device
 * may come or go between two of them, so each slot says what it knows.
 */

enum pool_class {
	POOL_HCA,
	POOL_VERB,
	POOL_HW,
	/* Rates of commands: limits only. */
	POOL_CONTROL,
	POOL_CLASSES,
};

enum pool_file {
	POOL_MAX,
	POOL_CURRENT,
	POOL_PEAK,
	POOL_EVENTS,
	POOL_EVENTS_LOCAL,
	POOL_FILES,
};

#define POOL_BIT(file)	(1U << (file))
#define POOL_ALL	(POOL_BIT(POOL_FILES) - 1)
/* Beside the files: leave out those that must be zero by what was read before. */
#define POOL_SCAN	POOL_BIT(POOL_FILES)

/* Refusals: by limits, and of attempts; of a subtree, or of one cgroup. */
struct events {
	uint64_t max;
	uint64_t alloc_fail;
};

struct cgroup;

struct slot {
	/* Points into the text of a file. */
	const char *key;
	enum pool_class class;
	/* Which files had it, POOL_BIT(). */
	unsigned int has;
	uint64_t max;
	uint64_t usage;
	uint64_t peak;
	struct events events;
	struct events local;
	/* The smallest limit on the way up, and whose it is; NULL where there is none. */
	uint64_t limit;
	const struct cgroup *limit_of;
	/* For who visits cgroups in a walk. */
	uint64_t tally;
};

struct pool {
	/* The name points into the text of a file. */
	struct device device;
	struct slot *slots;
	size_t nr_slots;
};

/* All pools of a cgroup, in the order of the files. */
struct pools {
	struct pool *pools;
	size_t nr_pools;
	/* Which files there are, POOL_BIT(), by class. */
	unsigned int files[POOL_CLASSES];
	/* By class: there are lines of max that a scan has not kept, for they have no limit. */
	bool unlimited[POOL_CLASSES];
	/* What was read; keys and names point into it. */
	char **texts;
	size_t nr_texts;
};

extern const char * const pool_class_names[POOL_CLASSES];

/* The limits of devices that have none of their own; in pools as device_default. */
#define POOL_FILE_DEFAULT "rdma.default"

/* "rdma.verb.max": valid until the next call. */
const char *pool_file_name(enum pool_class class, enum pool_file file);

/*
 * Read the files of the cgroup at @dir, those of @files (POOL_BIT()). What there is not, is
 * left out. @above is what was read of its parent, or NULL; POOL_SCAN looks at that. 0, or
 * a negative errno where a file cannot be read that is there.
 */
int pools_read(struct pools *pools, int dir, unsigned int files, const struct pools *above);
/* Read a file of the same form, with one value for each key, as the max of the slots. */
int pools_read_file(struct pools *pools, int dir, const char *name);
void pools_free(struct pools *pools);

/* The slot of this device and key, made where it is missing; both are copied. */
struct slot *pools_get_slot(struct pools *pools, const struct device *device, const char *key);
/* NULL where there is none. */
struct pool *pools_find(const struct pools *pools, const struct device *device);
struct slot *pool_find(const struct pool *pool, const char *key);
struct slot *pools_find_slot(const struct pools *pools, const struct device *device,
			     const char *key);
/* The same, where the pool is mostly number @pool and the slot number @slot. */
struct slot *pools_find_slot_near(const struct pools *pools, const struct device *device,
				  const char *key, size_t pool, size_t slot);

/*
 * The cgroup hierarchy that carries the controller, v1 or v2, wherever it is mounted.
 *
 * For tests, RDMACG_ROOT names a folder that stands for it (v2 if it has the file
 * cgroup.controllers), and RDMACG_PROC one that stands for /proc.
 */

struct hierarchy {
	/* Where it is mounted. */
	char *path;
	/* Which part of the hierarchy is there: "" for all of it, else "/some/cgroup". */
	char *inside;
	int dir;
	bool v2;
	/* A cgroup namespace may not write the limits of its own root. */
	bool nsdelegate;
	/* The root here is a cgroup of a larger tree, as in a cgroup namespace. */
	bool partial;
};

/* Find and open it; if that fails, an error is said. */
bool hierarchy_open(struct hierarchy *hierarchy);
void hierarchy_close(struct hierarchy *hierarchy);

/*
 * Names of cgroups are relative to the root: "" for the root, "tenants/a". Each of these
 * returns one to be freed, or NULL, and an error is said.
 */

/* What a user writes: a name, with or without a slash before it, or a path. */
char *hierarchy_resolve(const struct hierarchy *hierarchy, const char *argument);
/* Of a process; 0 stands for the own one. */
char *hierarchy_cgroup_of(const struct hierarchy *hierarchy, pid_t pid);

/* "/a//b/./c/" as "a/b/c"; NULL where ".." would lead out of it. To be freed. */
char *hierarchy_clean(const char *path);

/* The path of a file below /proc. To be freed. */
char *hierarchy_proc(const char *format, ...) __printf(1, 2);

/*
 * A cgroup that is open, with all its ancestors. It may be removed at any time; then its
 * files are no longer there and its pools stay empty.
 */

struct cgroup {
	const struct hierarchy *hierarchy;
	/* NULL for the root. It stays open as long as this one. */
	struct cgroup *parent;
	/* Relative to the root; "" is the root. */
	char *name;
	int dir;
	unsigned int depth;
	struct pools pools;
	/* For who visits it in a walk. */
	bool marked;
	/* Set by who visits it in a walk, to leave out those below. */
	bool leave_below;
};

/* Open a cgroup and its ancestors; NULL and errno. */
struct cgroup *cgroup_find(const struct hierarchy *hierarchy, const char *name);
/* The same; but an error is said. */
struct cgroup *cgroup_open(const struct hierarchy *hierarchy, const char *name);
/* NULL and errno. */
struct cgroup *cgroup_open_child(struct cgroup *parent, const char *base);
/* Close it alone. */
void cgroup_close(struct cgroup *cgroup);
/* Close it and its ancestors. NULL is allowed. */
void cgroup_close_path(struct cgroup *cgroup);

/* The name for people: "/" for the root. */
const char *cgroup_name(const struct cgroup *cgroup);
/*
 * The smallest limit that binds a slot, as text: "unknown" where none is seen and what is
 * above the root of this tree cannot be seen.
 */
const char *cgroup_format_limit(char *buffer, const struct cgroup *cgroup,
				const struct slot *slot, bool human);
/*
 * A cgroup above or the same as @other sees it: "self", "..", "../.."; as it is where @short_form
 * is false. "-" for NULL. Valid until the next call.
 */
const char *cgroup_relative(const char *name, const char *other, bool short_form);
/* The path of a file in it, for messages. To be freed. */
char *cgroup_path(const struct cgroup *cgroup, const char *file);
/* Whether its processes are counted in it, not in an ancestor. */
bool cgroup_has_controller(const struct cgroup *cgroup);
/* The closest one, itself or an ancestor, that has the controller; NULL where none has. */
struct cgroup *cgroup_counted_in(struct cgroup *cgroup);

/*
 * Read the pools, @files as for pools_read(), with the smallest limit of each slot if the
 * pools of the ancestors have been read. False, and an error is said, where that fails.
 */
bool cgroup_read(struct cgroup *cgroup, unsigned int files);
/* The same for the ancestors first. */
bool cgroup_read_path(struct cgroup *cgroup, unsigned int files);

/*
 * Call @visit for @top and for all below it, parents first, siblings by name. The pools
 * of the one visited and of those above it up to @top are read. False if an error was said;
 * what is gone meanwhile is no error. @visit returns false to stop.
 */
bool cgroup_walk(struct cgroup *top, unsigned int files,
		 bool (*visit)(struct cgroup *cgroup, void *data), void *data);
/* The same without pools. */
bool cgroup_walk_names(struct cgroup *top, bool (*visit)(struct cgroup *cgroup, void *data),
		       void *data);

/*
 * What the kernel says of devices over rdma netlink, on any kernel: how many objects there
 * are, those of the kernel's own users included, which no cgroup counts; and on later
 * kernels how many there can be.
 */

struct netlink_resource {
	/* As in the controller's files. */
	char *key;
	uint64_t count;
	/* NUMBER_MAX where it is not known. */
	uint64_t capacity;
	/* How many of them are the kernel's own, once netlink_count_kernel() was called. */
	uint64_t kernel;
};

struct netlink_device {
	struct device device;
	struct netlink_resource *resources;
	size_t nr_resources;
};

struct netlink {
	struct netlink_device *devices;
	size_t nr_devices;
};

/* The devices of this network namespace. False where the kernel does not tell. */
bool netlink_read(struct netlink *netlink);
/* Find out what belongs to users in the kernel. */
void netlink_count_kernel(struct netlink_device *device);
void netlink_free(struct netlink *netlink);

struct netlink_device *netlink_find(const struct netlink *netlink, const struct device *device);
struct netlink_resource *netlink_find_resource(const struct netlink_device *device,
					       const char *key);

/* What the devices have: from rdma.capacity on the root, or else from rdma netlink. */

struct capacity {
	/* The slots' max; empty where there is no such file. */
	struct pools pools;
	bool has_file;
	struct netlink netlink;
	bool has_netlink;
};

void capacity_read(struct capacity *capacity, const struct hierarchy *hierarchy);
void capacity_free(struct capacity *capacity);
/* NUMBER_MAX where the device does not say, or nobody knows. */
uint64_t capacity_of(const struct capacity *capacity, const struct device *device,
		     const char *key);

/* The processes in a cgroup and below. */

struct procs {
	pid_t *pids;
	size_t nr_pids;
};

/* Those that this process can see, but for itself and @but. */
void procs_read(struct procs *members, struct cgroup *cgroup, pid_t but);
void procs_free(struct procs *members);
/* Send all of them a signal. */
void procs_signal(struct cgroup *cgroup, pid_t but, int signal);
/* How many there are. */
size_t procs_count(struct cgroup *cgroup, pid_t but);

/* How others name cgroups: runtimes, Kubernetes, systemd, libvirt, Slurm. */

enum foreign_kind {
	FOREIGN_UNIT,
	FOREIGN_CONTAINER,
	FOREIGN_POD,
	/* Of a container's monitor; its cgroup is not the container's. */
	FOREIGN_MONITOR,
	/* The path of a job's step, up to the step. */
	FOREIGN_STEP,
};

/* What people have in hand, ready to be looked for. */
struct foreign {
	regex_t *patterns;
	size_t nr_patterns;
};

void foreign_init(struct foreign *foreign, enum foreign_kind kind, const char *text);
bool foreign_matches(const struct foreign *foreign, const char *name);
/* How long the part of @name is that ends with the last match, or 0. */
size_t foreign_end(const struct foreign *foreign, const char *name);
void foreign_free(struct foreign *foreign);
/* @id without what kubectl, podman and crictl print before it. */
const char *foreign_skip_scheme(const char *id);

/* Which cgroups a command is about: named, or those of a process, a unit, a container. */

enum select_kind {
	SELECT_CGROUP,
	SELECT_PID,
	SELECT_UNIT,
	SELECT_CONTAINER,
	SELECT_POD,
};

struct target {
	enum select_kind kind;
	const char *text;
	/* Of the process, or 0. */
	pid_t pid;
	/* The cgroup's name, once it has been found. */
	char *name;
};

struct targets {
	struct target *targets;
	size_t nr_targets;
};

/*
 * For the children of a command's argp; the input is a struct targets. It takes
 * --pid, --unit, --container and all arguments.
 */
extern const struct argp select_argp;

/* Find the cgroups. A unit or a container may turn into several. False: an error was said. */
bool select_find(struct targets *targets, const struct hierarchy *hierarchy);
void select_free(struct targets *targets);

/* What this kernel's controller does not have, so that nobody reads a gap as a zero. */

/* Say it, if anything is missing; @pools: of a cgroup with the controller. */
void missing_say(const struct pools *pools);
/* The same as an array of file names. */
struct json_object *missing_json(const struct pools *pools);

/*
 * The kernel's log: firmware and drivers say there why they refused, and nowhere else. For
 * tests, RDMACG_KMSG and RDMACG_SYS stand for /dev/kmsg and /sys/class/infiniband.
 */

struct log_line {
	char *text;
	/* In plain words. */
	const char *meaning;
};

struct log {
	/* The device's place on its bus, or NULL. */
	char *bus;
	/* Of the last minutes; only those that tell of a failure of the device. */
	struct log_line *lines;
	size_t nr_lines;
};

/* False, and errno, where the log cannot be read; @log->bus is set in any case. */
bool log_read(struct log *log, const char *device);
void log_free(struct log *log);

/*
 * What else than a cgroup's limit makes RDMA calls fail: RLIMIT_MEMLOCK of the processes,
 * and devices that have no more.
 */

/* Of one process, or where @pid is 0 of those in @cgroup and below. */
void other_print_memlock(struct cgroup *cgroup, pid_t pid);
struct json_object *other_memlock_json(struct cgroup *cgroup, pid_t pid);

/* RLIMIT_MEMLOCK of this process, where it binds and is small; else NUMBER_MAX. */
uint64_t other_own_memlock(void);

/* What the kernel's log says of the devices in the last minutes. */
void other_print_log(const struct capacity *capacity);
struct json_object *other_log_json(const struct capacity *capacity);

/* How much of each device is in use by all, and by the kernel. */
void other_print_devices(const struct capacity *capacity);
struct json_object *other_devices_json(const struct capacity *capacity);

/*
 * What rdma netlink does not count, such as address handles: how much of it all cgroups
 * have together, where the kernel says how much there is. It is added up in @capacity.
 */
void other_print_counted(struct capacity *capacity, const struct hierarchy *hierarchy);
struct json_object *other_counted_json(struct capacity *capacity,
				       const struct hierarchy *hierarchy);

#endif /* RDMACG_CORE_H */
