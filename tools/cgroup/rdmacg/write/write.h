/* SPDX-License-Identifier: GPL-2.0 */
/* Limits: from words and files, by policy, into the kernel's files. */
#ifndef RDMACG_WRITE_H
#define RDMACG_WRITE_H

#include "core/core.h"

/*
 * Writes to several files that take effect together: if one is refused, those before it are
 * undone. The kernel writes only single files, so others may see the writes in between.
 */
struct transaction_step {
	/* Stays open until the transaction is freed; the caller's. */
	const struct cgroup *cgroup;
	char *file;
	char *text;
	/* The text that undoes it. */
	char *undo;
	bool done;
};

struct transaction {
	struct transaction_step *steps;
	size_t nr_steps;
	/* Print the writes instead. */
	bool dry_run;
	/* Do not even print. */
	bool quiet;
	/* Earlier writes stay if a later write is refused. */
	bool keep;
};

/* Add a write. @text and @undo are freed with the transaction. */
void transaction_add(struct transaction *change, const struct cgroup *cgroup, const char *file,
		     char *text, char *undo);
/*
 * Add the writes that give @cgroup the controller: on cgroup v2 "+rdma" in
 * cgroup.subtree_control of each ancestor that lacks it.
 */
void transaction_add_controller(struct transaction *change, const struct cgroup *cgroup);
/*
 * Do the writes that are not done yet. If one is refused, an error is said, all of the
 * transaction is undone unless it is to stay, and the answer is false.
 */
bool transaction_apply(struct transaction *change);
/* Undo the writes in reverse order; a write that cannot be undone is said. */
void transaction_undo(struct transaction *change);
struct json_object *transaction_json(const struct transaction *change);
void transaction_free(struct transaction *change);

/*
 * Limits as people write them:
 *
 *	DEVICE [index=N] KEY=VALUE... | max | default
 *
 * VALUE is a number, one with K, M, G, T if the key counts bytes, a percentage of the
 * device's capacity, or max. DEVICE "default" is every device without limits of its own
 * (rdma.default), and the word default gives a device back to these.
 */
struct limit {
	char *key;
	/* A number, NUMBER_MAX included; or thousandths of a percent of the capacity. */
	uint64_t value;
	bool percent;
};

struct limits {
	struct device device;
	struct limit *limits;
	size_t nr_limits;
	/* "max" or "default" for all keys of the device, or NULL. */
	const char *whole;
};

/* Each says an error and returns false if a word is wrong. */
bool limits_parse(struct limits *limits, const char *device, char * const *words, size_t count);
/* DEVICE:WORD[,WORD]... */
bool limits_parse_option(struct limits *limits, const char *text);
void limits_free(struct limits *limits);
/* NULL if the key is not among them. */
const struct limit *limits_find(const struct limits *limits, const char *key);

/* The pool of a device. A unique name needs no index. NULL, and an error is said. */
const struct pool *limits_find_pool(const struct device *device, const struct pools *pools);
/* The name of a key in rdma.default: "hw:KEY" if a driver registers it. To be freed. */
char *limits_default_key(const struct cgroup *cgroup, const char *key);
/*
 * The number of a limit, one of @limits, percentages included. False, and an error is said,
 * if this kernel does not take it.
 */
bool limits_value(const struct limits *limits, const struct limit *limit, uint64_t *value);
/*
 * Add the writes that set @limits in @cgroup, whose pools have been read, each key in the
 * file of its class. False, and an error is said, if the device or a key does not exist.
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
 * A section is for the cgroups that its pattern matches, level by level from the root; a
 * line is for the devices that its first word matches. In a pattern, *, ? and [...] are those of
 * a shell, and a backslash means itself. Of two lines for the same key of the same device in
 * the same cgroup, the later one counts. A word that begins with # ends a line.
 */

/* A line of limits. */
struct rule {
	/* "FILE:LINE", or another place. */
	char *where;
	/* One pattern for each level of cgroups. */
	char **parts;
	size_t nr_parts;
	/* The name of the device is a pattern, except "default". */
	struct limits limits;
	/* For apply: whether a cgroup and a device matched, and whether an error was said. */
	bool met;
	bool used;
	bool failed;
};

struct config {
	struct rule *rules;
	size_t nr_rules;
};

enum config_match {
	CONFIG_NONE,
	/* Not this cgroup, but there may be some below it. */
	CONFIG_BELOW,
	CONFIG_SELF,
};

/* The folder of the files: /etc/rdmacg.d, or for tests RDMACG_CONFIG. */
const char *config_folder(void);
/* The file of oci-hook, in a folder beside that. To be freed. */
char *config_oci_file(void);
/*
 * Read files, or if @count is 0 the *.conf of the folder, by name. If one is malformed, an
 * error is said for each fault, nothing is kept and the answer is false.
 */
bool config_read(struct config *config, char * const *files, size_t count);
/*
 * Add a rule of a section, or of none if that is NULL: "DEVICE WORD..." or
 * "DEVICE:WORD,WORD...", @text is cut into pieces. False, and an error is said within @where.
 */
bool config_add(struct config *config, const char *section, const char *where, char *text);
void config_free(struct config *config);

/* The pattern that matches the cgroup of this name and no other. To be freed. */
char *config_pattern(const char *name);
/* Whether a rule is for the cgroup of this name; "" is the root. */
enum config_match config_match_cgroup(const struct rule *rule, const char *name);
bool config_match_device(const struct rule *rule, const struct device *device);

/*
 * The limits of a container or a job: its user asks, and the administrator writes the most
 * that may be asked for, and the limits for users that do not ask.
 */

/* The sections of the administrator's rules. */
#define POLICY_DEFAULT	"default"
#define POLICY_CEILING	"ceiling"

struct policy {
	/* The administrator's file, for messages. */
	const char *place;
	/* The requests; their sections do not count, and no device is a pattern. */
	struct config asked;
	/* The same, but these only lower limits: the share of a device. */
	struct config share;
	/* The administrator's rules, in the sections above. */
	struct config config;
	/* While limits are set. */
	struct cgroup *cgroup;
	struct transaction change;
};

/* False, and an error is said, if a rule has another section or no keys. */
bool policy_check(const struct config *config);
/*
 * Enable the controller on the way to @cgroup and set its limits: a request, which has to be
 * within the ceiling, or without a ceiling within the limit in effect; else the lower one of
 * default and ceiling, which raise nothing. The share lowers any of these. All or none; false:
 * an error was said.
 */
bool policy_limits(struct policy *policy, struct cgroup *cgroup);
/*
 * The same for a cgroup that a runtime is about to create below @above, as the runtime has to
 * write it: an object with a text for each file. NULL: an error was said.
 */
struct json_object *policy_unified(struct policy *policy, struct cgroup *above);
/* Frees the rules. */
void policy_free(struct policy *policy);

/* New devices and new cgroups, by udev or the kernel and by inotify. */

struct udev;
struct udev_monitor;

struct hotplug {
	struct udev *udev;
	struct udev_monitor *monitor;
	/* For poll(2). */
	int devices;
	int inotify;
	/* The folders that inotify watches, a tree of tsearch(3). */
	void *folders;
	/* Any cgroup may be new, or a device is. */
	bool everything;
	/* The cgroups that are new. */
	char **names;
	size_t nr_names;
};

/* False, and an error is said, if that fails. */
bool hotplug_open(struct hotplug *hotplug);
void hotplug_close(struct hotplug *hotplug);
/* Watch for new children of the cgroup. Again changes nothing. */
void hotplug_add(struct hotplug *hotplug, const struct cgroup *cgroup);
/* Take the news, without waiting, into everything and names; each name once. */
void hotplug_take(struct hotplug *hotplug);
/* Empty these again. */
void hotplug_drop(struct hotplug *hotplug);

#endif /* RDMACG_WRITE_H */
