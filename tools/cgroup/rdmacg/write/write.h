/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Read limits from words and files, apply the administrator's policy, and write limits to the
 * kernel.
 */
#ifndef RDMACG_WRITE_H
#define RDMACG_WRITE_H

#include "core/core.h"

/*
 * Writes to several files, which can be undone if the kernel refuses one of them. The files are
 * written in turn, so other processes may see only some of the writes.
 */
struct transaction_step {
	/* The caller keeps the cgroup open until the transaction is freed. */
	const struct cgroup *cgroup;
	char *path;
	/* The last part of the path. */
	const char *file;
	char *text;
	/* This text undoes the write. */
	char *undo;
	bool done;
};

struct transaction {
	struct transaction_step *steps;
	size_t nr_steps;
	/* This is a dry run, which writes nothing. */
	bool dry_run;
};

/* Add a write. @text and @undo are freed with the transaction. */
void transaction_add(struct transaction *change, const struct cgroup *cgroup, const char *file,
		     char *text, char *undo);
/*
 * Do the writes that are not done yet. If the kernel refuses a write, print an error and return
 * false; the earlier writes stay until transaction_undo().
 */
bool transaction_apply(struct transaction *change);
/* Enable the controller in @cgroup. Prints an error and returns false on a failure. */
bool transaction_enable(struct transaction *change, const struct cgroup *cgroup);
/* Print the writes as commands of a shell, or convert them to JSON. */
void transaction_print(const struct transaction *change);
struct json_object *transaction_json(const struct transaction *change);
/* Undo the writes in reverse order. Print an error for a write that cannot be undone. */
void transaction_undo(struct transaction *change);
/* Free the writes. The transaction can be used again, and stays a dry run if it is one. */
void transaction_free(struct transaction *change);

/*
 * Limits as people write them:
 *
 *	DEVICE [index=N] KEY=VALUE... | max | default
 *
 * VALUE is a number, a percentage of the device's capacity, or max. A number of bytes can have the
 * suffix K, M, G or T. DEVICE "default" stands for each device without a limit of its own for
 * the key (rdma.default). The word default removes the device's own limits.
 */
struct limit {
	char *key;
	/* A limit or NUMBER_MAX; with @percent, thousandths of a percent of the capacity. */
	uint64_t value;
	bool percent;
};

struct limits {
	struct device device;
	struct limit *limits;
	size_t nr_limits;
	/* "max" or "default" for all keys of the device, or NULL. */
	const char *whole;
	/*
	 * For limits_add(): whether to change the limit of a key. NULL means to write all limits,
	 * even if they stay the same.
	 */
	bool (*wants)(const struct device *device, const char *key, uint64_t before,
		      uint64_t after);
};

/* Parse words, or "DEVICE:WORD[,WORD]...". Print an error and return false for invalid words. */
bool limits_parse(struct limits *limits, const char *device, char * const *words, size_t count);
bool limits_parse_option(struct limits *limits, const char *text);
void limits_free(struct limits *limits);
/* Returns NULL if @limits does not have the key. */
const struct limit *limits_find(const struct limits *limits, const char *key);

/* Find the pool of a device. A unique name needs no index. Returns NULL after a printed error. */
const struct pool *limits_find_pool(const struct device *device, const struct pools *pools);
/*
 * Get the number of @limit of @device, which may be a percentage. Prints an error and returns false
 * if this kernel does not accept the number.
 */
bool limits_value(const struct device *device, const struct limit *limit, uint64_t *value);
/*
 * Prints an error and returns false if the device does not have a key, or the key cannot have a
 * limit.
 */
bool limits_check_keys(const struct limits *limits, const struct pool *pool);
/*
 * Add the writes that set @limits in @cgroup, each key in the file of its class. The pools of
 * @cgroup must have been read. Prints an error and returns false if the device or a key is missing.
 */
bool limits_add(const struct limits *limits, struct transaction *change,
		const struct cgroup *cgroup);

/*
 * Files of limits, for rdmacg apply:
 *
 *	# a comment
 *	[tenants/a*]
 *	mlx5_* qp=100 mr_mem=1G
 *
 * A section applies to the cgroups that its pattern matches, level by level from the root. A
 * line applies to the devices that its first word matches. In a pattern, *, ? and [...] mean the
 * same as in a shell, and a backslash means itself. If two lines have the same key of the same
 * device in the same cgroup, the later line counts. A word that begins with # begins a comment.
 */

/* A line of limits. */
struct rule {
	/* The place of the rule, such as "FILE:LINE". */
	char *where;
	/* The pattern of cgroups. */
	char *section;
	/* The name of the device is a pattern, unless it is "default". */
	struct limits limits;
	/* For apply: a cgroup has matched, a device has matched, an error was printed. */
	bool met;
	bool used;
	bool failed;
	/* For apply: the next rule for the same cgroup. */
	struct rule *next;
};

struct config {
	struct rule *rules;
	size_t nr_rules;
	/* While a file is read: "FILE:LINE", and the pattern of the section or NULL. */
	char *where;
	char *section;
};

enum config_match {
	CONFIG_NONE,
	/* The cgroup does not match, but a descendant may match. */
	CONFIG_BELOW,
	CONFIG_SELF,
};

/* The folder of the files: /etc/rdmacg.d, or RDMACG_CONFIG for tests. */
const char *config_folder(void);
/*
 * Add the rules of @files, or of the *.conf of config_folder() in the order of their names if
 * @count is 0. If a file is malformed, print each fault, keep no rule, and return false.
 */
bool config_read(struct config *config, char * const *files, size_t count);
/*
 * Add the rule @text, "DEVICE WORD..." or "DEVICE:WORD,WORD...", to a section. Changes @text.
 * Prints an error with @where and returns false on a fault.
 */
bool config_add(struct config *config, const char *section, const char *where, char *text);
void config_free(struct config *config);

/* The pattern that matches only the cgroup of this name. The caller frees the result. */
char *config_pattern(const char *name);
/* Whether a rule applies to the cgroup of this name. "" is the root. */
enum config_match config_match_cgroup(const struct rule *rule, const char *name);
bool config_match_device(const struct rule *rule, const struct device *device);
/* The first pool whose device matches a rule, or NULL. */
const struct pool *config_find_pool(const struct rule *rule, const struct pools *pools);

/*
 * The limits of a container or a job: the user requests limits, and the administrator sets a
 * ceiling for requests and a default for containers and jobs without a request.
 */

/* The section of requests. The device of a request is a name, not a pattern. */
#define POLICY_ASKED	"asked"
/* The section of shares: requests that can only lower limits. */
#define POLICY_SHARE	"share"
/* The sections of the administrator's rules. */
#define POLICY_DEFAULT	"default"
#define POLICY_CEILING	"ceiling"

struct policy {
	/* The administrator's file, for messages. */
	const char *place;
	/* All rules. */
	struct config config;
	/* Used while limits are set. */
	struct cgroup *cgroup;
	struct transaction change;
};

/*
 * Add the rules of the administrator's file. Ends the program with an error if a rule has another
 * section than default and ceiling, or no keys.
 */
void policy_read(struct policy *policy);
/*
 * Enable the controller in the ancestors of @cgroup, and set its limits. A request cannot exceed
 * the ceiling, or the limit in effect if there is no ceiling. Without a request, a limit becomes
 * the lower of default and ceiling, but never rises. A share can lower each limit further. If a
 * limit cannot be set, set no limit, and end the program with an error.
 */
void policy_limits(struct policy *policy, struct cgroup *cgroup);
/*
 * Compute the limits of policy_limits() for a cgroup that a runtime is about to create below
 * @above. Returns an object with a text for each file that the runtime writes.
 */
struct json_object *policy_unified(struct policy *policy, struct cgroup *above);

/* Events of new devices from udev or the kernel, and of new cgroups from inotify. */

struct udev;
struct udev_monitor;

struct hotplug {
	struct udev *udev;
	struct udev_monitor *monitor;
	/* For poll(2). */
	int devices;
	int inotify;
	/* The names of the watched cgroups. The keys are the numbers of the watches. */
	struct json_object *folders;
	/* Visit all cgroups, because a device is new, or any cgroup may be new. */
	bool everything;
	/*
	 * The names of new cgroups, as keys, so that a cgroup that is created and removed many
	 * times is visited once.
	 */
	struct json_object *names;
};

/* Ends the program with an error if udev or inotify fails. */
void hotplug_open(struct hotplug *hotplug);
void hotplug_close(struct hotplug *hotplug);
/* Watch for new children of the cgroup. A second call for the same cgroup changes nothing. */
void hotplug_add(struct hotplug *hotplug, const struct cgroup *cgroup);
/* Store the events that have arrived in @hotplug, or forget them. */
void hotplug_take(struct hotplug *hotplug);
void hotplug_drop(struct hotplug *hotplug);

#endif /* RDMACG_WRITE_H */
