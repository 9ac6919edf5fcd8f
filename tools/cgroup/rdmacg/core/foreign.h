/* SPDX-License-Identifier: GPL-2.0 */
/* How others name cgroups: runtimes, Kubernetes, systemd, libvirt, Slurm. */
#ifndef RDMACG_FOREIGN_H
#define RDMACG_FOREIGN_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

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

#endif /* RDMACG_FOREIGN_H */
