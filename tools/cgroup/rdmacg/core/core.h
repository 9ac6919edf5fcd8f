/* SPDX-License-Identifier: GPL-2.0 */
/* The view of the kernel: cgroups, their counters and limits, devices, processes. */
#ifndef RDMACG_CORE_H
#define RDMACG_CORE_H

#include <dirent.h>

#include "lib/lib.h"

/* A device, "NAME" or, if the name is not unique, "NAME index=N". */
struct device {
	char *name;		/* one word, in which \040 stands for a blank */
	bool is_default;	/* the limits in rdma.default */
	bool has_index;
	bool is_namesake;	/* elsewhere; this network namespace sees a device of the name */
	uint32_t index;
};

extern const struct device device_default;

/* As struct number_text. */
struct device_text {
	char s[288];
};

/* @word in the form of the kernel's files. The caller frees the result. */
char *device_escape(const char *word);
/* Take the index from the word "index=N". Returns false for another word. */
bool device_take_index(struct device *device, const char *word, size_t length);
bool device_is_same(const struct device *a, const struct device *b);
/* Whether the keys are equal. In rdma.default, the key of a driver has the prefix "hw:". */
bool key_is_same(const char *a, const char *b);
/* The device as the kernel's files show it. The kernel's names have 63 characters at most. */
struct device_text device_text(const struct device *device);
/* The index for JSON, or NULL if the name needs no index. */
struct json_object *device_index(const struct device *device);

/* A line of a file of the controller: NAME[ index=N] KEY=VALUE KEY=VALUE... */
struct line {
	struct device device;	/* the name points into the text */
	char *rest;		/* the pairs that have not been read */
};

/* Get the next line of *@text that names a device and has a value. Returns false at the end. */
bool line_next(char **text, struct line *line);
/* Get the next key and its value. Returns false at the end. Skips words of other forms. */
bool line_next_value(struct line *line, const char **key, uint64_t *value);

/* The options --device and --resource. Commands skip devices and keys that do not match. */
extern const struct choice filter_choices[];
extern struct filter filter_devices, filter_keys;

bool filter_has(const struct filter *filter, const char *name);
/* Print an error and return false if a pattern has matched nothing that was read. */
bool filter_check(const struct filter *filter);

/*
 * The counters of a cgroup, from the files of all classes: a pool for each device, with a slot for
 * each resource. A kernel may lack files, and a device may be registered or removed meanwhile.
 */

enum pool_class {
	POOL_HCA, POOL_VERB, POOL_HW,
	POOL_CONTROL,		/* limits of commands, without usage */
	POOL_CLASSES,
	/* Objects that rdma netlink counts if the kernel has no verb class. They have no limits. */
	POOL_NETLINK = POOL_CLASSES,
};

enum pool_file {
	POOL_MAX, POOL_PEAK, POOL_CURRENT, POOL_EVENTS, POOL_EVENTS_LOCAL, POOL_FILES
};

#define POOL_BIT(file)	(1U << (file))
#define POOL_ALL	(POOL_BIT(POOL_FILES) - 1)
/* Skip each file that is idle according to a file read earlier. Not for POOL_EVENTS_LOCAL. */
#define POOL_SCAN	POOL_BIT(POOL_FILES)

/* Refusals by the limits of a subtree or of one cgroup, and refused attempts of its processes. */
struct events {
	uint64_t max;
	uint64_t alloc_fail;
};

struct pool;
struct cgroup;

struct slot {
	struct pool *pool;
	const char *key;	/* in the text of a file, as the names of devices */
	enum pool_class class;
	unsigned int has;	/* the files that have the resource, as POOL_BIT() */
	uint64_t max, usage, peak;
	struct events events, local;
	uint64_t limit;		/* the smallest limit of the cgroup and its ancestors */
	const struct cgroup *limit_of;	/* the cgroup of this limit, or NULL */
	uint64_t tally;		/* for the reader of the pools, as the next field */
	char *labels;
};

struct pool {
	struct device device;
	struct slot *slots;
	size_t nr_slots;
	size_t near;		/* the slot that was found last */
	struct pool *next;
};

/* All pools of a cgroup, in the order of the files. */
struct pools {
	struct pool *first;
	unsigned int files[POOL_CLASSES];	/* the files that exist, as POOL_BIT() */
	unsigned int idle[POOL_CLASSES];	/* of a scan: files without limits or with only 0 */
	char **texts;				/* the texts of the files */
	size_t nr_texts;
};

extern const char * const pool_class_names[POOL_CLASSES + 1];

/* All keys of rdma.verb.max, of all drivers together. */
#define POOL_VERBS "ah async_event cm_id comp_channel counters cq dm dm_mem dmah driver_async_event driver_object flow flow_action mcast mr mr_mem mw pd qp rwq_ind_tbl srq wq xrcd"

/* The class of a key of the kernel. All other keys, also "hw:KEY", are of POOL_HW. */
enum pool_class pool_key_class(const char *key);

/* The limits of devices without limits of their own. Its pool has the device device_default. */
#define POOL_FILE_DEFAULT "rdma.default"

/* Names such as "rdma.verb.max", or NULL. */
extern const char * const pool_file_names[POOL_CLASSES][POOL_FILES];

/* Read the @files that exist. @above is for a scan. Returns 0 or -errno. */
int pools_read(struct pools *pools, int dir, unsigned int files, const struct pools *above);
/* Read a file with a value for each key, such as rdma.capacity, into slot.max. */
int pools_read_file(struct pools *pools, int dir, const char *name);
void pools_free(struct pools *pools);

/* Get the slot after @slot, or the first slot for NULL. Returns NULL at the end. */
struct slot *pools_next(const struct pools *pools, const struct slot *slot);
/* Get the slot of a device and key, or add it with copies of both. */
struct slot *pools_get_slot(struct pools *pools, const struct device *device, const char *key);
/* Find a pool or a slot, or return NULL. */
struct pool *pools_find(const struct pools *pools, const struct device *device);
struct slot *pool_find(const struct pool *pool, const char *key);
struct slot *pools_find_slot(const struct pools *pools, const struct device *device,
			     const char *key);
/* Whether the slot has a usage, a peak, a limit or refusals. */
bool slot_is_telling(const struct slot *slot);

/* An array of devices, each with the JSON of its @wanted() slots. */
struct json_object *pools_json(const struct pools *pools, bool (*wanted)(const struct slot *slot),
			       struct json_object *(*describe)(const struct slot *slot));

/* Files that a kernel may lack. */
struct missing {
	enum pool_class class;
	enum pool_file file;
	const char *files;
	const char *meaning;
};

/* Get the missing files after @last or, for NULL, the first ones. Returns NULL at the end. */
const struct missing *missing_next(const struct pools *pools, const struct missing *last);
/* Print the missing files, unless the output is JSON. Only the first call prints. */
void missing_say(const struct pools *pools);
struct json_object *missing_json(const struct pools *pools);

/*
 * The cgroup hierarchy that has the controller, v1 or v2. For tests, RDMACG_ROOT is a folder that
 * replaces it (v2 if it has the file cgroup.controllers), and RDMACG_PROC replaces /proc.
 */
extern struct hierarchy {
	char *path;		/* the mount point */
	char *inside;		/* the cgroup at the mount point, such as "/" or "/some/cgroup" */
	int dir;
	bool v2;		/* if path is NULL: a cgroup2 without the controller is mounted */
	bool nsdelegate;	/* a cgroup namespace cannot write the limits of its own root */
	bool partial;		/* the root has invisible ancestors, as in a cgroup namespace */
} hierarchy;

/* Find and open the hierarchy, or end the program with @status. With 0, there may be none. */
void hierarchy_open(int status);
/* The mount point or, without a hierarchy, the usual one. */
#define hierarchy_mount()	(hierarchy.path ?: "/sys/fs/cgroup")

/*
 * The name of a cgroup, relative to the root: "" is the root. @argument is a path or a name; a @pid
 * of 0 stands for this process. The caller frees the result. Returns NULL after a printed error.
 */
char *hierarchy_resolve(const char *argument);
char *hierarchy_cgroup_of(pid_t pid);
/* As hierarchy_cgroup_of(), but without an error. */
char *hierarchy_find_process(pid_t pid);

/* The rest of @path after the folder @prefix, or NULL if @path is not below it. */
const char *hierarchy_below(const char *path, const char *prefix);
/* Turn "/a//b/./c/" into "a/b/c". Returns NULL if a part is "..". The caller frees the result. */
char *hierarchy_clean(const char *path);

/* Undo the escapes of mountinfo and of names of devices, such as \040 for a blank, in place. */
void hierarchy_unescape(char *text);
/* Whether @list, which may be NULL, has @word. A blank, a comma or a newline ends a word. */
bool hierarchy_has_word(const char *list, const char *word);
/* The path of a file below /proc. As struct number_text. */
struct proc_path {
	char s[PATH_MAX];
} hierarchy_proc(const char *format, ...) __printf(1, 2);
/* The value of an environment variable that tests set, or @path if it is not set. */
const char *hierarchy_path(const char *variable, const char *path);

/* An open cgroup. If the cgroup was removed, its files are missing and its pools are empty. */
struct cgroup {
	struct cgroup *parent;	/* open as long as this cgroup; NULL for the root */
	char *name;
	int dir;
	unsigned int depth;
	struct pools pools;
	bool marked;		/* for the user of a walk */
	const char *copy;	/* of the name, for the user of a walk */
	bool leave_below;	/* the walk skips the descendants */
	struct dirent **children;	/* sorted by name, after cgroup_list() */
	int nr_children;
	int next_child;		/* the child with which a walk continues */
};

/* Open a cgroup and its ancestors, or a child of an open one. Returns NULL and sets errno. */
struct cgroup *cgroup_find(const char *name);
struct cgroup *cgroup_open_child(struct cgroup *parent, const char *base);
/* Open a cgroup, or the root if the argument is NULL. Returns NULL after a printed error. */
struct cgroup *cgroup_open(const char *name);
struct cgroup *cgroup_open_argument(const char *argument);
/* Fill in the children. A removed cgroup has none. */
void cgroup_list(struct cgroup *cgroup);
/* Close a cgroup and its ancestors. @cgroup may be NULL. */
void cgroup_close_path(struct cgroup *cgroup);

/* If @name is a file of the controller in a cgroup, print an error. Returns whether it is. */
bool cgroup_say_file(const char *name);
/* The name in messages, which is "/" for the root, or NULL for NULL. */
const char *cgroup_name(const struct cgroup *cgroup);
/* A limit as text: "unknown" if the limit of an invisible ancestor may apply instead of none. */
struct number_text cgroup_limit_text(uint64_t limit, bool human);
/* @name or "-"; if @short_form, as seen from @other below it. Free it. */
char *cgroup_relative(const char *name, const char *other, bool short_form);
/* Whether processes of the cgroup are charged to the cgroup itself, not to an ancestor. */
bool cgroup_has_controller(const struct cgroup *cgroup);
/* The cgroup itself or its closest ancestor with the controller, or NULL if there is none. */
struct cgroup *cgroup_counted_in(struct cgroup *cgroup);
/* As cgroup_counted_in(), but print a warning if the result is an ancestor. */
struct cgroup *cgroup_say_counted_in(struct cgroup *cgroup);

/* Read the pools, and find the smallest limits. False after an error. */
bool cgroup_read(struct cgroup *cgroup, unsigned int files);
/* Also read the ancestors, before the cgroup. */
bool cgroup_read_path(struct cgroup *cgroup, unsigned int files);

/* A walk over a cgroup and its descendants: parents first, and siblings by name. */
struct walk {
	struct cgroup *top;	/* NULL means the root, which the walk opens and closes */
	unsigned int files;	/* the files to read of each cgroup and of the ancestors of @top */
	bool stop;		/* ends the walk */
	bool failed;		/* an error was printed; a removed cgroup is not an error */
	struct cgroup *at;	/* the cgroup that was returned last */
};

/* Get the next cgroup, open until the next call. Returns NULL at the end. */
struct cgroup *walk_next(struct walk *walk);

/*
 * What the devices have: slot.max is the capacity or NUMBER_MAX, from rdma.capacity of the root or
 * from rdma netlink. Netlink has the devices of this network namespace. A slot from netlink has
 * POOL_CURRENT: slot.usage is the number of objects, and slot.tally, after capacity_count_owners(),
 * the number of objects of kernel users. device.index is set even if the name is unique.
 */
extern struct capacity {
	struct pools pools;
	bool has_file, has_netlink;
	size_t nr_devices;	/* of this network namespace */
	bool is_counted;
	bool by_owner;	/* cgroup_read() also reads objects of POOL_NETLINK */
} capacity;

void capacity_read(void);
/* Count the objects of kernel users and of processes. A second call does nothing. */
void capacity_count_owners(void);
/* Add the objects of the processes in a cgroup and its descendants to the pools of the cgroup. */
void capacity_add_owned(struct cgroup *cgroup);
/* Returns NUMBER_MAX if the capacity is unknown. */
uint64_t capacity_of(const struct device *device, const char *key);

/*
 * These functions return the number of visible processes below a cgroup, without this process.
 * procs_read() stores them in @pids, which the caller frees. procs_signal() sends them @signal; 0
 * sends nothing.
 */
size_t procs_read(struct cgroup *cgroup, pid_t **pids);
size_t procs_signal(struct cgroup *cgroup, int signal);

/* Options that select cgroups: --pid, --unit, --container, --pod. */
extern const struct choice select_choices[];

/* Also select the cgroups of the arguments. Returns whether a cgroup is selected. */
bool select_arguments(char **arguments);
/* Open the selected cgroup, or the root. Returns NULL after a printed error, also for several. */
struct cgroup *select_one(void);
/*
 * Visit each selected cgroup, or the root if none is selected, with the process of --pid or 0. Then
 * check the filters. Returns false after a printed error, or if @visit returned false.
 */
bool select_each(bool (*visit)(struct cgroup *cgroup, pid_t pid));

/*
 * Print causes of failures other than limits of cgroups, and add them to @answer: RLIMIT_MEMLOCK of
 * @pid, or of all processes below @cgroup if @pid is 0; devices whose capacity is used up; the
 * kernel's log. For tests, RDMACG_KMSG and RDMACG_SYS replace /dev/kmsg and /sys/class/infiniband.
 */
void other_causes(struct cgroup *cgroup, pid_t pid, struct json_object *answer);

#endif /* RDMACG_CORE_H */
