/* SPDX-License-Identifier: GPL-2.0 */
/* Limits from words and files, the administrator's policy, and writes to the kernel. */
#ifndef RDMACG_WRITE_H
#define RDMACG_WRITE_H

#include "core/core.h"

/* Writes that can be undone. Other processes may see some of them. */
struct transaction_step {
	const struct cgroup *cgroup;	/* open until the transaction is freed */
	char *path;
	const char *file;		/* the last part of the path */
	char *text, *undo;
};

struct transaction {
	struct transaction_step *steps;
	size_t nr_steps, nr_done;
	bool dry_run;
	bool *gone;	/* if not NULL, a device that lost its name sets this without an error */
};

/* Add a write. @text and @undo, which undoes the write, are freed with the transaction. */
void transaction_add(struct transaction *change, const struct cgroup *cgroup, const char *file,
		     char *text, char *undo);
/* Do the writes that are not done yet, up to one that fails: prints an error, returns false. */
bool transaction_apply(struct transaction *change);
/* Enable the controller in @cgroup. Prints an error and returns false on a failure. */
bool transaction_enable(struct transaction *change, const struct cgroup *cgroup);
/* The writes as commands of a shell, or as JSON. */
void transaction_print(const struct transaction *change);
struct json_object *transaction_json(const struct transaction *change);
/* Undo the writes in reverse order. */
void transaction_undo(struct transaction *change);
/* Free the writes. The transaction can be used again, and a dry run stays one. */
void transaction_free(struct transaction *change);

/* Limits as people write them, "DEVICE [index=N] KEY=VALUE... | max | default": rdmacg(8). */
struct limit {
	char *key;
	uint64_t value;		/* NUMBER_MAX for "max"; with @percent, thousandths of a percent */
	bool percent;
};

struct limits {
	struct device device;
	struct limit *limits;
	size_t nr_limits;
	const char *whole;	/* "max" or "default" for all keys of the device, or NULL */
	/* Whether limits_add() writes the limit of a key. NULL means to write all limits. */
	bool (*wants)(const struct device *device, const char *key, uint64_t before,
		      uint64_t after);
};

/* Parse words, or "DEVICE:WORD[,WORD]...", into empty @limits. Returns false after an error. */
bool limits_parse(struct limits *limits, const char *device, char * const *words, size_t count);
bool limits_parse_option(struct limits *limits, const char *text);
/*
 * Returns the first item between the semicolons of @list, which is empty only if there is no other
 * item. strtok_r(NULL, ";", @rest) returns the next.
 */
char *limits_first_item(char *list, char **rest);
void limits_free(struct limits *limits);
/* Returns NULL if @limits does not have the key. */
const struct limit *limits_find(const struct limits *limits, const char *key);

/* Find the pool of a device. A unique name needs no index. Returns NULL after a printed error. */
const struct pool *limits_find_pool(const struct device *device, const struct pools *pools);
/* Compute the number of a limit. Prints an error and returns false if the kernel refuses it. */
bool limits_value(const struct device *device, const struct limit *limit, uint64_t *value);
/* Prints an error and returns false if a key of @limits cannot have a limit. */
bool limits_check_keys(const struct limits *limits, const struct pool *pool);
/* Add the writes of @limits. The pools of @cgroup must have been read. */
bool limits_add(const struct limits *limits, struct transaction *change,
		const struct cgroup *cgroup);

/* A line of limits in a file, in a section for cgroups: rdmacg.conf(5). */
struct rule {
	char *where;		/* the place of the rule, such as "FILE:LINE" */
	char *section;		/* the pattern of cgroups */
	struct limits limits;	/* the name of the device is a pattern, unless it is "default" */
	bool met, used, failed;	/* for apply: a cgroup, or a device, matched; an error occurred */
	struct rule *next;	/* for apply: the next rule for the same cgroup */
};

struct config {
	struct rule *rules;
	size_t nr_rules;
	bool by_key;		/* refuse "max" and "default" for all keys of a device */
};

enum config_match {
	CONFIG_NONE,
	CONFIG_BELOW,		/* the cgroup does not match, but a descendant may match */
	CONFIG_SELF,
};

/* The folder of the files: /etc/rdmacg.d, or RDMACG_CONFIG for tests. */
#define config_folder()	hierarchy_path("RDMACG_CONFIG", "/etc/rdmacg.d")
/*
 * Add the rules of @files, up to a NULL, or of the files in config_folder() if there is none. On an
 * error, add none.
 */
bool config_read(struct config *config, char * const *files);
/* Add the rule @text, "DEVICE WORD..." or "DEVICE:WORD,...". Returns false after an error. */
bool config_add(struct config *config, const char *section, const char *where, char *text);
/* Returns false after an error if an earlier rule of the section has a key of the last rule. */
bool config_check_repeats(const struct config *config);
void config_free(struct config *config);

/* The pattern that matches only the cgroup of this name. The caller frees the result. */
char *config_pattern(const char *name);
/* Whether a rule applies to the cgroup of this name. "" is the root. */
enum config_match config_match_cgroup(const struct rule *rule, const char *name);
bool config_match_device(const struct rule *rule, const struct device *device);
/* The last rule for the device and key, or else for "default", or NULL. */
const struct rule *config_look_up(const struct config *config, const char *section,
				  const struct device *device, const char *key);
/* The first pool whose device matches a rule, or NULL. */
const struct pool *config_find_pool(const struct rule *rule, const struct pools *pools);

/* Limits that a user requests for a container or a job, within a policy. */

/* The sections. The device of a request is a name, not a pattern. */
#define POLICY_ASKED	"asked"
/* Requests that can only lower limits. A writer's section can be "share" and a suffix. */
#define POLICY_SHARE	"share"
#define POLICY_DEFAULT	"default"	/* the administrator's rules */
#define POLICY_CEILING	"ceiling"

/* The largest number of characters of a request. */
#define POLICY_LONGEST	4096

struct policy {
	const char *place;	/* the administrator's file */
	struct config config;
	bool keep;	/* keep limits; a request can only raise one that equals the default */
	bool default_bounds;	/* without a ceiling, a request cannot exceed the default */
	struct transaction change;	/* the writes of the limits that are being set */
};

/* Add the rules of the administrator's file. Prints an error and returns false on a wrong rule. */
bool policy_read(struct config *config, const char *place);
/*
 * For a rule for all devices, get the first of its keys that no device has, or NULL. In
 * rdma.default, an administrator's rule may also have a key of a later device. The result is also
 * NULL if the kernel checks the key in rdma.default, or if an administrator's rule has no device.
 */
const char *policy_missing_key(const struct pools *pools, const struct rule *rule);
/*
 * Enable the controller in the ancestors of @cgroup, and set its limits. A request cannot exceed
 * the ceiling, or the limit in effect if there is no ceiling. Without a request, a limit becomes
 * the lower of default and ceiling, but never rises. A share can lower each limit further. If a
 * limit cannot be set, set no limit, and end the program with an error.
 */
void policy_limits(struct policy *policy, struct cgroup *cgroup);
/* The texts that a runtime writes into the files of a new cgroup below @above, by file. */
struct json_object *policy_unified(struct policy *policy, struct cgroup *above);

/* Events of new devices from udev or the kernel, and of new cgroups from inotify. */

struct udev_monitor;

struct hotplug {
	struct udev_monitor *monitor;
	int devices, inotify;		/* for poll(2) */
	struct json_object *folders;	/* the names of the watched cgroups, by number of watch */
	bool everything;		/* visit all cgroups, because any of them may be new */
	/* New cgroups as keys. One that is created and removed many times is visited once. */
	struct json_object *names;
};

/* Ends the program with an error if udev or inotify fails. */
void hotplug_open(struct hotplug *hotplug);
/* Watch for new children of the cgroup. A second call for the same cgroup changes nothing. */
void hotplug_add(struct hotplug *hotplug, const struct cgroup *cgroup);
/* Store the events that have arrived in @hotplug, instead of earlier names. */
void hotplug_take(struct hotplug *hotplug);

#endif /* RDMACG_WRITE_H */
