/* SPDX-License-Identifier: GPL-2.0 */
/* The view of the kernel: cgroups, their counters and limits, devices, processes. */
#ifndef RDMACG_CORE_H
#define RDMACG_CORE_H

#include <dirent.h>
#include <regex.h>

#include "lib/lib.h"

/*
 * A device as the files name it: "NAME", or "NAME index=N" if devices of several network
 * namespaces have the same name.
 */
struct device {
	/* As the kernel's files show it: one word, in which a blank is \040. */
	char *name;
	/* Not a device: the limits in rdma.default, for devices without their own. */
	bool is_default;
	bool has_index;
	uint32_t index;
};

/* "default": valid as it is. */
extern const struct device device_default;

/* @word as the files have it: characters that a line cannot hold become \ooo. To be freed. */
char *device_escape(const char *word);
void device_copy(struct device *to, const struct device *from);
void device_free(struct device *device);
bool device_is_same(const struct device *a, const struct device *b);
/* As the files have it. To be freed. */
char *device_format(const struct device *device);
/* The same, valid until the next call. */
const char *device_text(const struct device *device);
/* "device": the name, "index": null, or the number if the name needs one. */
void device_json(struct json_object *object, const struct device *device);

/* A line of a file of the controller: NAME[ index=N] KEY=VALUE KEY=VALUE... */
struct line {
	/* Points into the text; not to be freed. */
	struct device device;
	/* The pairs that are not read yet. */
	char *rest;
};

/*
 * The next line of *@text that names a device and has a value; false at the end. The text is
 * cut into pieces.
 */
bool line_next(char **text, struct line *line);
/*
 * The next key and its value, NUMBER_MAX for "max"; false at the end. Words that are not a
 * pair with a number belong to a later kernel and are left out.
 */
bool line_next_value(struct line *line, const char **key, uint64_t *value);

/* --device and --resource: lines and keys that they do not name are skipped. */
extern const struct choice filter_choices[];

bool filter_has_device(const char *name);
bool filter_has_key(const char *key);

/*
 * The counters of a cgroup: a pool for each device, with a slot for each resource, from the files
 * of all classes. A kernel may lack some files, and a device may be registered or unregistered
 * between the reads of two files. So slot.has has the files in which the resource was found.
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
/* In addition: skip files that must be zero, as earlier files show. */
#define POOL_SCAN	POOL_BIT(POOL_FILES)

/* Refusals by limits, and refused attempts; of a subtree, or of one cgroup. */
struct events {
	uint64_t max;
	uint64_t alloc_fail;
};

struct pool;
struct cgroup;

struct slot {
	struct pool *pool;
	/* Points into the text of a file. */
	const char *key;
	enum pool_class class;
	/* The files in which the resource was found: POOL_BIT(). */
	unsigned int has;
	uint64_t max;
	uint64_t usage;
	uint64_t peak;
	struct events events;
	struct events local;
	/* The smallest limit of the cgroup and its ancestors, and its cgroup, or NULL. */
	uint64_t limit;
	const struct cgroup *limit_of;
	/* For the reader of the pools. */
	uint64_t tally;
};

struct pool {
	/* The name points into the text of a file. */
	struct device device;
	struct slot *slots;
	size_t nr_slots;
	/* The slot that was found last: the next search begins there. */
	size_t near;
	struct pool *next;
};

/* All pools of a cgroup, in the order of the files. */
struct pools {
	struct pool *first;
	/* The pool that was found last: the next search begins there. */
	struct pool *near;
	/* The files that exist, POOL_BIT(), by class. */
	unsigned int files[POOL_CLASSES];
	/* By class: a scan has skipped lines of the max file without a limit. */
	bool unlimited[POOL_CLASSES];
	/* The texts of the files; keys and names point into them. */
	char **texts;
	size_t nr_texts;
};

extern const char * const pool_class_names[POOL_CLASSES];

/* The limits of devices that have none of their own; in pools as device_default. */
#define POOL_FILE_DEFAULT "rdma.default"

/* "rdma.verb.max": valid until the next call. */
const char *pool_file_name(enum pool_class class, enum pool_file file);

/*
 * Read the files of the cgroup at @dir, those of @files (POOL_BIT()). Files that do not exist
 * are left out. @above has the pools of its parent, or is NULL; POOL_SCAN looks at them. 0, or
 * a negative errno if a file cannot be read.
 */
int pools_read(struct pools *pools, int dir, unsigned int files, const struct pools *above);
/* Read a file of the same form, with one value for each key, as the max of the slots. */
int pools_read_file(struct pools *pools, int dir, const char *name);
void pools_free(struct pools *pools);

/* The slot after @slot, in the order of the pools; the first one after NULL. NULL at the end. */
struct slot *pools_next(const struct pools *pools, const struct slot *slot);
/* The slot of this device and key, added if it is missing; both are copied. */
struct slot *pools_get_slot(struct pools *pools, const struct device *device, const char *key);
/* NULL if there is none. */
struct pool *pools_find(const struct pools *pools, const struct device *device);
struct slot *pool_find(const struct pool *pool, const char *key);
struct slot *pools_find_slot(const struct pools *pools, const struct device *device,
			     const char *key);
/* Whether the slot says anything: of usage, peak, limit or refusals. */
bool slot_is_telling(const struct slot *slot);

/* An array of the devices, each with "resources": what @describe says of those @wanted, or all. */
struct json_object *pools_json(const struct pools *pools, bool (*wanted)(const struct slot *slot),
			       struct json_object *(*describe)(const struct slot *slot));

/* Files that a kernel may lack. */
struct missing {
	enum pool_class class;
	enum pool_file file;
	const char *files;
	const char *meaning;
};

/* The next one that this kernel lacks; @pools: of a cgroup with the controller. NULL at the end. */
const struct missing *missing_next(const struct pools *pools, const struct missing *last);
/* Say them all, once, unless JSON is wanted or the pools are of a cgroup without files. */
void missing_say(const struct pools *pools);
/* An array of their names. */
struct json_object *missing_json(const struct pools *pools);

/*
 * The cgroup hierarchy that carries the controller, v1 or v2, wherever it is mounted. There
 * is one.
 *
 * For tests, RDMACG_ROOT names a folder that replaces it (v2 if it has the file
 * cgroup.controllers), and RDMACG_PROC one that replaces /proc.
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

extern struct hierarchy hierarchy;

/* Find and open it; if that fails, an error is said. */
bool hierarchy_open(void);

/*
 * Names of cgroups are relative to the root: "" for the root, "tenants/a". Each of these
 * returns one to be freed, or NULL, and an error is said.
 */

/* From the words of a user: a name, with or without a slash before it, or a path. */
char *hierarchy_resolve(const char *argument);
/* Of a process; 0 is this one. */
char *hierarchy_cgroup_of(pid_t pid);

/* "/a//b/./c/" as "a/b/c"; NULL if ".." would lead out of it. To be freed. */
char *hierarchy_clean(const char *path);

/* The path of a file below /proc, valid until the next call. */
const char *hierarchy_proc(const char *format, ...) __printf(1, 2);
/* The value of an environment variable that tests set, or @path. */
const char *hierarchy_path(const char *variable, const char *path);

/*
 * A cgroup that is open, with all its ancestors. It may be removed at any time; then its
 * files are no longer there and its pools stay empty.
 */
struct cgroup {
	/* NULL for the root. It stays open as long as this one. */
	struct cgroup *parent;
	/* Relative to the root; "" is the root. */
	char *name;
	int dir;
	unsigned int depth;
	struct pools pools;
	/* For the visitor of a walk. */
	bool marked;
	/* Set by the visitor of a walk, to leave out those below. */
	bool leave_below;
};

/* Open a cgroup and its ancestors; NULL and errno. */
struct cgroup *cgroup_find(const char *name);
/* The same; but an error is said. */
struct cgroup *cgroup_open(const char *name);
/* The same from the words of a user; NULL is the root. */
struct cgroup *cgroup_open_argument(const char *argument);
/* NULL and errno. */
struct cgroup *cgroup_open_child(struct cgroup *parent, const char *base);
/* Its children by name, all to be freed. A cgroup that was removed has none. */
struct dirent **cgroup_children(const struct cgroup *cgroup, size_t *count);
/* Close it alone. */
void cgroup_close(struct cgroup *cgroup);
/* Close it and its ancestors. NULL is allowed. */
void cgroup_close_path(struct cgroup *cgroup);

/* The name for people: "/" for the root; NULL for NULL. */
const char *cgroup_name(const struct cgroup *cgroup);
/* The last part of its name. */
const char *cgroup_base(const struct cgroup *cgroup);
/*
 * A limit as text: "unknown" if there is none and the limits above the root of this tree
 * cannot be seen.
 */
const char *cgroup_limit_text(uint64_t limit, bool human);
/*
 * A cgroup above or the same as @other sees it: "self", "..", "../.."; as it is if
 * @short_form is false. "-" for NULL. Valid until the next call.
 */
const char *cgroup_relative(const char *name, const char *other, bool short_form);
/* The path of a file in it, for messages. To be freed. */
char *cgroup_path(const struct cgroup *cgroup, const char *file);
/* Whether its processes are counted in it, not in an ancestor. */
bool cgroup_has_controller(const struct cgroup *cgroup);
/* The closest one, itself or an ancestor, that has the controller; NULL if none has. */
struct cgroup *cgroup_counted_in(struct cgroup *cgroup);
/* The same; a warning is said if it is another cgroup. */
struct cgroup *cgroup_say_counted_in(struct cgroup *cgroup);

/*
 * Read the pools, @files as for pools_read(), with the smallest limit of each slot if the
 * pools of the ancestors have been read. False, and an error is said, if that fails.
 */
bool cgroup_read(struct cgroup *cgroup, unsigned int files);
/* The same for the ancestors first. NULL is allowed. */
bool cgroup_read_path(struct cgroup *cgroup, unsigned int files);

/*
 * Call @visit for @top and for all below it, parents first, siblings by name. If @files is
 * not 0, the pools of the one visited and of those above it up to @top are read. @visit
 * returns false to stop. False if an error was said; a cgroup that was removed meanwhile is
 * not an error.
 */
bool cgroup_walk(struct cgroup *top, unsigned int files,
		 bool (*visit)(struct cgroup *cgroup, void *data), void *data);

/*
 * The capacity of the devices, from rdma.capacity on the root and from rdma netlink, which also
 * says how many objects exist, those of users in the kernel included, which no cgroup counts.
 */
struct capacity {
	/* The slots' max; empty if there is no such file. */
	struct pools pools;
	bool has_file;
	/*
	 * The devices of this network namespace, each with its index: usage is how many objects
	 * exist, max how many can exist or NUMBER_MAX, tally how many are the kernel's own, once
	 * netlink_count_kernel() was called.
	 */
	struct pools netlink;
	bool has_netlink;
};

extern struct capacity capacity;

/* Read it, again if it was read before. */
void capacity_read(void);
/* NUMBER_MAX if the device does not say, or nothing does. */
uint64_t capacity_of(const struct device *device, const char *key);

/* False if the kernel does not answer. */
bool netlink_read(struct pools *pools);
/* Find out how many objects belong to users in the kernel. */
void netlink_count_kernel(void);
/* The slot of the device, whatever its index if @device has none; NULL if there is none. */
struct slot *netlink_find(const struct device *device, const char *key);

/*
 * The processes in a cgroup and below it that this process can see, except itself: how many,
 * and an array to be freed if @pids is not NULL.
 */
size_t procs_read(struct cgroup *cgroup, pid_t **pids);
/* Send all of them a signal. */
void procs_signal(struct cgroup *cgroup, int signal);

/* How other software names cgroups: runtimes, Kubernetes, systemd, libvirt, Slurm. */

enum foreign_kind {
	FOREIGN_UNIT,
	FOREIGN_CONTAINER,
	FOREIGN_POD,
	/* Of a container's monitor; its cgroup is not the container's. */
	FOREIGN_MONITOR,
	/* The path of a job's step, up to the step. */
	FOREIGN_STEP,
};

/* The patterns of a name. */
struct foreign {
	regex_t *patterns;
	size_t nr_patterns;
};

void foreign_init(struct foreign *foreign, enum foreign_kind kind, const char *text);
bool foreign_matches(const struct foreign *foreign, const char *name);
/* How long the part of @name is that ends with the last match, or 0. */
size_t foreign_end(const struct foreign *foreign, const char *name);
void foreign_free(struct foreign *foreign);
/* @id without the scheme that kubectl, podman and crictl print before it. */
const char *foreign_skip_scheme(const char *id);

/* Which cgroups a command is about: --pid, --unit, --container, --pod. */
extern const struct choice select_choices[];

/* The same for all arguments. Returns whether anything was selected. */
bool select_arguments(char **arguments);
/*
 * Call @visit for the name of each cgroup that was selected, with the process or 0. A unit or
 * a container may have several. False: an error was said, or @visit has returned false.
 */
bool select_each(bool (*visit)(const char *name, pid_t pid));

/*
 * The kernel's log: firmware and drivers say there why they refused, and nowhere else. For
 * tests, RDMACG_KMSG and RDMACG_SYS replace /dev/kmsg and /sys/class/infiniband.
 */

/* The last lines are the most useful. */
#define LOG_LINES 5

struct log {
	/* The device's place on its bus, or NULL. */
	char *bus;
	/* Of the last minutes; only those that report a failure of the device. */
	char *lines[LOG_LINES];
	size_t nr_lines;
};

/* False, and errno, if the log cannot be read; @log->bus is set in any case. */
bool log_read(struct log *log, const char *device);
/* The meaning of a line, in plain words. */
const char *log_meaning(const char *line);
void log_free(struct log *log);

/*
 * Other causes than a cgroup's limit for the failure of RDMA calls: RLIMIT_MEMLOCK of the
 * processes, and devices that have no more. Each is printed, or with -j added to @answer.
 */

/* Of one process, or if @pid is 0 of those in @cgroup and below. */
void other_memlock(struct cgroup *cgroup, pid_t pid, struct json_object *answer);
/* RLIMIT_MEMLOCK of this process, if it binds and is small; else NUMBER_MAX. */
uint64_t other_own_memlock(void);
/* The last minutes of the kernel's log about the devices. */
void other_log(struct json_object *answer);
/* How much of each device is in use by all, and by the kernel. */
void other_devices(struct json_object *answer);
/*
 * Resources that rdma netlink does not count, such as address handles: how many all cgroups
 * have together, if the kernel says how many there are.
 */
void other_counted(struct json_object *answer);

#endif /* RDMACG_CORE_H */
