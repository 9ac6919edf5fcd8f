/* SPDX-License-Identifier: GPL-2.0 */
/* The view of the kernel: cgroups, their counters and limits, devices, processes. */
#ifndef RDMACG_CORE_H
#define RDMACG_CORE_H

#include <dirent.h>

#include "lib/lib.h"

/*
 * A device. The files name it "NAME", or "NAME index=N" if another device has the same name in
 * another network namespace.
 */
struct device {
	/* The name in the kernel's files: one word, in which \040 stands for a blank. */
	char *name;
	/* The name stands for the limits in rdma.default, not for a device. */
	bool is_default;
	bool has_index;
	uint32_t index;
};

extern const struct device device_default;

/* @word in the form of the kernel's files, with \040 for a blank. The caller frees the result. */
char *device_escape(const char *word);
/* Take the index from the word "index=N". Returns false if the word has another form. */
bool device_take_index(struct device *device, const char *word, size_t length);
bool device_is_same(const struct device *a, const struct device *b);
/* The device as the kernel's files show it, valid until the next call. */
const char *device_text(const struct device *device);
/* The index for JSON, or NULL if the name needs no index. */
struct json_object *device_index(const struct device *device);

/* A line of a file of the controller: NAME[ index=N] KEY=VALUE KEY=VALUE... */
struct line {
	/* The name points into the text, and is not to be freed. */
	struct device device;
	/* The pairs that have not been read. */
	char *rest;
};

/* Get the next line of *@text that names a device and has a value. Returns false at the end. */
bool line_next(char **text, struct line *line);
/*
 * Get the next key and its value, which is NUMBER_MAX for "max". Returns false at the end. Skips
 * words of other forms, which a later kernel may print.
 */
bool line_next_value(struct line *line, const char **key, uint64_t *value);

/* The options --device and --resource. Commands skip devices and keys that do not match. */
extern const struct choice filter_choices[];

bool filter_has_device(const char *name);
bool filter_has_key(const char *key);

/*
 * The counters of a cgroup, from the files of all classes: a pool for each device, with a slot for
 * each resource. A resource may be missing in a file, because the kernel lacks the file, or because
 * the device was registered or removed meanwhile. slot.has shows the files that have the resource.
 */

enum pool_class {
	POOL_HCA,
	POOL_VERB,
	POOL_HW,
	/* This class limits commands, and has no usage. */
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
/* Skip each file that is idle according to a file that was read earlier. */
#define POOL_SCAN	POOL_BIT(POOL_FILES)
/* In pools.idle, this means that the class has no lines. */
#define POOL_EMPTY	POOL_SCAN

/* Refusals by the limits of a subtree or of one cgroup, and refused attempts of its processes. */
struct events {
	uint64_t max;
	uint64_t alloc_fail;
};

struct pool;
struct cgroup;

struct slot {
	struct pool *pool;
	/* The key points into the text of a file. */
	const char *key;
	enum pool_class class;
	/* The files in which the resource was found: POOL_BIT(). */
	unsigned int has;
	uint64_t max;
	uint64_t usage;
	uint64_t peak;
	struct events events;
	struct events local;
	/* The smallest limit of the cgroup and its ancestors, and its cgroup or NULL. */
	uint64_t limit;
	const struct cgroup *limit_of;
	/* For the reader of the pools. */
	union {
		uint64_t tally;
		char *labels;
	};
};

struct pool {
	/* The name points into the text of a file. */
	struct device device;
	struct slot *slots;
	size_t nr_slots;
	/* The slot that was found last. The next search begins there. */
	size_t near;
	struct pool *next;
};

/* All pools of a cgroup, in the order of the files. */
struct pools {
	struct pool *first;
	/* The pool that was found last. The next search begins there. */
	struct pool *near;
	/* The files of each class that exist, as POOL_BIT(). */
	unsigned int files[POOL_CLASSES];
	/* The files of each class that a scan knows to have no limits, or no values except 0. */
	unsigned int idle[POOL_CLASSES];
	/* The texts of the files; keys and names point into them. */
	char **texts;
	size_t nr_texts;
};

extern const char * const pool_class_names[POOL_CLASSES];

/*
 * This file has the limit of each key for which a device has no limit of its own. The pool of this
 * file has the device device_default.
 */
#define POOL_FILE_DEFAULT "rdma.default"

/* A name such as "rdma.verb.max", valid until the next call. */
const char *pool_file_name(enum pool_class class, enum pool_file file);

/*
 * Read the @files (POOL_BIT()) of the cgroup at @dir, except missing files. POOL_SCAN also uses
 * @above, the pools of the parent or NULL. Returns 0, or a negative errno if a file cannot be read.
 */
int pools_read(struct pools *pools, int dir, unsigned int files, const struct pools *above);
/* Read a file with a value for each key, such as rdma.capacity, into slot.max. */
int pools_read_file(struct pools *pools, int dir, const char *name);
void pools_free(struct pools *pools);

/* Get the slot after @slot, or the first slot for NULL. Returns NULL at the end. */
struct slot *pools_next(const struct pools *pools, const struct slot *slot);
/* Get the slot of a device and key, or add it with copies of both. */
struct slot *pools_get_slot(struct pools *pools, const struct device *device, const char *key);
/* Find a pool or a slot. Returns NULL if it does not exist. */
struct pool *pools_find(const struct pools *pools, const struct device *device);
struct slot *pool_find(const struct pool *pool, const char *key);
struct slot *pools_find_slot(const struct pools *pools, const struct device *device,
			     const char *key);
/* Whether the slot has a usage, a peak, a limit or refusals. */
bool slot_is_telling(const struct slot *slot);

/*
 * An array of devices, each with the objects that @describe() makes of its slots. If @wanted is not
 * NULL, @wanted() selects the slots.
 */
struct json_object *pools_json(const struct pools *pools, bool (*wanted)(const struct slot *slot),
			       struct json_object *(*describe)(const struct slot *slot));

/* Files that a kernel may lack. */
struct missing {
	enum pool_class class;
	enum pool_file file;
	const char *files;
	const char *meaning;
};

/* Get the missing files after @last, or the first ones for NULL. Returns NULL at the end. */
const struct missing *missing_next(const struct pools *pools, const struct missing *last);
/* Print the missing files, unless the output is JSON. Only the first call prints. */
void missing_say(const struct pools *pools);
struct json_object *missing_json(const struct pools *pools);

/*
 * The cgroup hierarchy that has the controller, v1 or v2.
 *
 * For tests, the folder RDMACG_ROOT replaces the hierarchy (v2 if it has the file
 * cgroup.controllers), and the folder RDMACG_PROC replaces /proc.
 */
struct hierarchy {
	/* The mount point. */
	char *path;
	/* The cgroup at the mount point: "" for the root, or "/some/cgroup". */
	char *inside;
	int dir;
	bool v2;
	/* The mount option: a cgroup namespace cannot write the limits of its own root. */
	bool nsdelegate;
	/* The root of the mount has ancestors that are not visible, as in a cgroup namespace. */
	bool partial;
};

extern struct hierarchy hierarchy;

/* Find and open the hierarchy. On a failure, end the program with an error and @status. */
void hierarchy_open(int status);

/*
 * Names of cgroups are relative to the root: "" is the root, "tenants/a" is a cgroup. The next two
 * functions return a name to be freed, or NULL after a printed error.
 */

/* @argument is a path or a name; a slash may precede the name. */
char *hierarchy_resolve(const char *argument);
/* A @pid of 0 stands for this process. */
char *hierarchy_cgroup_of(pid_t pid);

/* The rest of @path after the folder @prefix, or NULL if @path is not below it. */
const char *hierarchy_below(const char *path, const char *prefix);
/* Turn "/a//b/./c/" into "a/b/c". Returns NULL if a part is "..". The caller frees the result. */
char *hierarchy_clean(const char *path);

/* Whether @list, which may be NULL, has @word. A blank, a comma or a newline ends a word. */
bool hierarchy_has_word(const char *list, const char *word);
/* The path of a file below /proc, valid until the next call. */
const char *hierarchy_proc(const char *format, ...) __printf(1, 2);
/* The value of an environment variable that tests set, or @path if it is not set. */
const char *hierarchy_path(const char *variable, const char *path);

/*
 * An open cgroup with its ancestors. If the cgroup was removed, its files are missing and its pools
 * are empty.
 */
struct cgroup {
	/* The parent is open as long as this cgroup. NULL for the root. */
	struct cgroup *parent;
	/* The name, relative to the root. "" is the root. */
	char *name;
	int dir;
	unsigned int depth;
	struct pools pools;
	/* For the user of a walk; leave_below skips the descendants. */
	bool marked;
	bool leave_below;
	/* The children sorted by name, which cgroup_list() fills in. */
	struct dirent **children;
	int nr_children;
	/* The child with which a walk continues. */
	int next_child;
};

/* Open a cgroup and its ancestors, or a child of an open cgroup. Returns NULL and sets errno. */
struct cgroup *cgroup_find(const char *name);
struct cgroup *cgroup_open_child(struct cgroup *parent, const char *base);
/* Open a cgroup, or the root if the argument is NULL. Returns NULL after a printed error. */
struct cgroup *cgroup_open(const char *name);
struct cgroup *cgroup_open_argument(const char *argument);
/* Fill children and nr_children of the cgroup. A removed cgroup has no children. */
void cgroup_list(struct cgroup *cgroup);
/* Close a cgroup without its ancestors, or with them. The latter function accepts NULL. */
void cgroup_close(struct cgroup *cgroup);
void cgroup_close_path(struct cgroup *cgroup);

/* The name of a cgroup in messages, which is "/" for the root. Returns NULL for NULL. */
const char *cgroup_name(const struct cgroup *cgroup);
const char *cgroup_base(const struct cgroup *cgroup);
/*
 * A limit as text. The text for no limit is "max", or "unknown" if the limit of an invisible
 * ancestor may apply.
 */
const char *cgroup_limit_text(uint64_t limit, bool human);
/*
 * If @short_form, the text shows @name relative to its descendant @other, such as "self" or "..".
 * Otherwise the text is @name itself, or "-" for NULL. The result is valid until the next call.
 */
const char *cgroup_relative(const char *name, const char *other, bool short_form);
/* Whether processes of the cgroup are charged to the cgroup itself, not to an ancestor. */
bool cgroup_has_controller(const struct cgroup *cgroup);
/* The cgroup itself or its closest ancestor with the controller, or NULL if there is none. */
struct cgroup *cgroup_counted_in(struct cgroup *cgroup);
/* The same, and print a warning if the result is an ancestor. */
struct cgroup *cgroup_say_counted_in(struct cgroup *cgroup);

/*
 * Read the pools from @files, as pools_read() does. Also find the smallest limit of each slot, if
 * the pools of the ancestors have been read. Prints an error and returns false on a failure.
 */
bool cgroup_read(struct cgroup *cgroup, unsigned int files);
/* Read the ancestors, and then the cgroup. */
bool cgroup_read_path(struct cgroup *cgroup, unsigned int files);

/* A walk over a cgroup and its descendants: parents first, and siblings by name. */
struct walk {
	/* NULL means the root, which the walk opens and closes. */
	struct cgroup *top;
	/* The files of pools_read() for each cgroup and the ancestors of @top, or 0 for none. */
	unsigned int files;
	/* Set this to end the walk. */
	bool stop;
	/* An error was printed. A removed cgroup is not an error. */
	bool failed;
	/* The cgroup that was returned last. */
	struct cgroup *at;
};

/* Get the next cgroup, which is open until the next call. Returns NULL at the end. */
struct cgroup *walk_next(struct walk *walk);

/*
 * The capacity of the devices, from rdma.capacity of the root and from rdma netlink. Netlink also
 * has the number of objects, which includes the objects of kernel users.
 */
struct capacity {
	/* rdma.capacity in slot.max, or no pools if the file is missing. */
	struct pools pools;
	bool has_file;
	/*
	 * The devices of this network namespace, each with its index. slot.usage is the number of
	 * objects, slot.max is the capacity or NUMBER_MAX, and slot.tally is the number of objects
	 * of kernel users, after netlink_count_kernel().
	 */
	struct pools netlink;
	bool has_netlink;
};

extern struct capacity capacity;

void capacity_read(void);
/* Returns NUMBER_MAX if the capacity is unknown. */
uint64_t capacity_of(const struct device *device, const char *key);

void netlink_count_kernel(void);
/*
 * The slot of the device. A @device without an index matches each index. Returns NULL if the slot
 * is not found.
 */
struct slot *netlink_find(const struct device *device, const char *key);

/*
 * Get the visible processes in a cgroup and its descendants without this process, or send them a
 * signal, which may be 0. Returns their number. @pids gets an array to be freed.
 */
size_t procs_read(struct cgroup *cgroup, pid_t **pids);
size_t procs_signal(struct cgroup *cgroup, int signal);

/* The length of @name up to the end of its last part that is a step of a Slurm job, or 0. */
size_t select_step_end(const char *name);

/* Options that select cgroups: --pid, --unit, --container, --pod. */
extern const struct choice select_choices[];

/* Also select the cgroups of the arguments. Returns whether a cgroup is selected. */
bool select_arguments(char **arguments);
/*
 * Call @visit with each selected cgroup, or with the root if no cgroup is selected, and with the
 * process of --pid or 0. A unit or a container may have several cgroups. Returns false after a
 * printed error, or if @visit returned false.
 */
bool select_each(bool (*visit)(struct cgroup *cgroup, pid_t pid));

/*
 * Print causes of failures other than limits of cgroups, or add them to @answer with -j:
 * RLIMIT_MEMLOCK of @pid, or of all processes below @cgroup if @pid is 0; devices whose capacity is
 * used up; the kernel's log. For tests, RDMACG_KMSG and RDMACG_SYS replace /dev/kmsg and
 * /sys/class/infiniband.
 */
void other_causes(struct cgroup *cgroup, pid_t pid, struct json_object *answer);
/*
 * RLIMIT_MEMLOCK of this process, or NUMBER_MAX if it does not apply or is not a usual default of a
 * distribution.
 */
uint64_t other_own_memlock(void);

#endif /* RDMACG_CORE_H */
