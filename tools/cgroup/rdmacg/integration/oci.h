/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The input of a hook, by the OCI runtime specification: the state of a container on standard
 * input, and the container's config.json in its bundle.
 *
 * The user who starts a container writes parts of both. So all sizes have a bound, and the only
 * path is that of the bundle, in which one regular file of one name is read.
 */
#ifndef RDMACG_OCI_H
#define RDMACG_OCI_H

#include "write/write.h"

/* The annotation: DEVICE KEY=VALUE..., more devices behind semicolons or on lines of their own. */
#define OCI_ANNOTATION "org.rdmacg.limits"
/* The same for one container of a pod; the container's name follows. */
#define OCI_ANNOTATION_OF "limits.rdmacg.org/"
/* The annotation in which containerd gives a container's name. */
#define OCI_ANNOTATION_NAME "io.kubernetes.cri.container-name"
/*
 * The same as a variable of the environment. A device of CDI may bring it, and so may an image:
 * config.json does not say which of them. So it only lowers limits.
 */
#define OCI_VARIABLE "RDMACG_LIMITS"

/* A container that has been created and does not run yet. */
struct oci {
	/* Its first process, in the hook's PID namespace. */
	pid_t pid;
	char *bundle;
	/* The requests are those of annotations, the share is that of the variable. */
	struct policy policy;
};

/* Each says an error and returns false if the text is malformed. */
bool oci_parse_state(struct oci *oci, const char *text, size_t size);
bool oci_parse_config(struct oci *oci, const char *text, size_t size);
/* The limits of an annotation or of the variable; @where is for messages. */
bool oci_parse_limits(struct config *config, const char *where, const char *text);

/* The state from standard input, and the config.json of its bundle. */
bool oci_read(struct oci *oci);
/* A config.json, or the part with requests, from standard input. */
bool oci_read_requests(struct oci *oci);
void oci_free(struct oci *oci);

#endif /* RDMACG_OCI_H */
