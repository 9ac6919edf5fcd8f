/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a container runtime tells a hook, as the OCI runtime specification has it: the state
 * of a container on standard input, and the container's config.json in its bundle.
 *
 * Whoever starts a container chooses parts of both. So all sizes have a bound, and nothing
 * here is a path but the bundle, in which one regular file of one name is read.
 */
#ifndef RDMACG_OCI_H
#define RDMACG_OCI_H

#include "write/config.h"

/* The annotation: DEVICE KEY=VALUE..., more devices behind semicolons or on lines of their own. */
#define OCI_ANNOTATION "org.rdmacg.limits"
/* The same for one container of a pod; the container's name follows. */
#define OCI_ANNOTATION_OF "limits.rdmacg.org/"
/* The annotation in which containerd gives a container's name. */
#define OCI_ANNOTATION_NAME "io.kubernetes.cri.container-name"
/*
 * The same as a variable of the environment. A device of CDI may bring it, and so may an image:
 * config.json does not say which of them. So it only lowers what the container gets without it.
 */
#define OCI_VARIABLE "RDMACG_LIMITS"

/* A container that has been made and does not run yet. */
struct oci {
	/* Its first process, as who runs the hook numbers it. */
	pid_t pid;
	char *bundle;
	/* The value of the annotation, or NULL, and "annotation KEY" for messages. */
	char *asked;
	char *source;
	/* The value of the variable, or NULL. */
	char *share;
};

/* Each says an error and returns false where the text is not what it has to be. */
bool oci_parse_state(struct oci *oci, const char *text, size_t size);
bool oci_parse_config(struct oci *oci, const char *text, size_t size);
/* The limits of an annotation or of the variable; @name is for messages. */
bool oci_parse_limits(struct config *config, const char *name, const char *text);

/* The state from standard input, and the config.json that it leads to. */
bool oci_read(struct oci *oci);
/* A config.json, or the part with requests, from standard input. */
bool oci_read_requests(struct oci *oci);
void oci_free(struct oci *oci);

#endif /* RDMACG_OCI_H */
