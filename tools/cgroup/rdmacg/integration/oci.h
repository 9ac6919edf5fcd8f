/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The input of a hook, as the OCI runtime specification defines it: the state of a container on
 * standard input, and the config.json in the container's bundle.
 *
 * The user who starts a container controls parts of the state and of config.json. So all sizes have
 * a bound, and the hook opens only the bundle's config.json, which must be a regular file.
 */
#ifndef RDMACG_OCI_H
#define RDMACG_OCI_H

#include "write/write.h"

/* The annotation: DEVICE KEY=VALUE..., with a semicolon or a newline between devices. */
#define OCI_ANNOTATION "org.rdmacg.limits"
/* The annotation for one container of a pod. The container's name follows. */
#define OCI_ANNOTATION_OF "limits.rdmacg.org/"
/* The annotation in which containerd gives a container's name. */
#define OCI_ANNOTATION_NAME "io.kubernetes.cri.container-name"
/*
 * The variable of the environment with limits. The variable can only lower limits, because
 * config.json does not show whether an image or a CDI device has set it.
 */
#define OCI_VARIABLE "RDMACG_LIMITS"

/* A container that was created and does not yet run. */
struct oci {
	/* The container's first process, in the hook's PID namespace. */
	pid_t pid;
	char *bundle;
	/* The annotation is the request, and the variable is the share. */
	struct policy policy;
};

/* These functions print an error and return false if the text is malformed. */
bool oci_parse_state(struct oci *oci, const char *text, size_t size);
bool oci_parse_config(struct oci *oci, const char *text, size_t size);
/* Add the limits of an annotation or of the variable to a section. @where is for messages. */
bool oci_parse_limits(struct config *config, const char *section, const char *where,
		      const char *text);

/* Read the state from standard input, and then the config.json of its bundle. */
bool oci_read(struct oci *oci);
/* Read a config.json, or the part of it with requests, from standard input. */
bool oci_read_requests(struct oci *oci);
void oci_free(struct oci *oci);

#endif /* RDMACG_OCI_H */
