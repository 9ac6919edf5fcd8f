/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files of limits, which rdmacg apply brings into effect:
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
#ifndef RDMACG_CONFIG_H
#define RDMACG_CONFIG_H

#include "write/limits.h"

/* A line of limits. */
struct rule {
	/* "FILE:LINE". */
	char *where;
	/* One pattern for each level of cgroups. */
	char **parts;
	size_t nr_parts;
	/* The name of the device is a pattern, but for "default". */
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

/* Where the files are: /etc/rdmacg.d, or for tests what RDMACG_CONFIG names. */
const char *config_folder(void);
/* The file of oci-hook, in a folder beside that. To be freed. */
char *config_oci_file(void);
/*
 * Read files, or where @count is 0 the *.conf of the folder, by name. Where one is
 * malformed, an error is said for each fault, nothing is kept and the answer is false.
 */
bool config_read(struct config *config, char * const *files, size_t count);
void config_free(struct config *config);

/* The pattern that matches the cgroup of this name and no other. To be freed. */
char *config_pattern(const char *name);
/* Whether a rule is for the cgroup of this name; "" is the root. */
enum config_match config_match_cgroup(const struct rule *rule, const char *name);
bool config_match_device(const struct rule *rule, const struct device *device);

#endif /* RDMACG_CONFIG_H */
