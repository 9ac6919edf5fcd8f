// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg oci-hook: set the limits of a container before its first instruction.
 *
 * A container requests limits in an annotation. The administrator's file has a ceiling for
 * requests, and the limits of a container without a request. If the hook cannot set a limit, its
 * exit status is not 0, and the runtime does not start the container.
 *
 * The runtime calls the hook at createRuntime. The container's first process then waits in its
 * cgroup, and the hook runs outside of the container, where it can write to cgroups. Hooks of
 * createContainer and startContainer run inside the container, and hooks of poststart run after its
 * start.
 */
#include <sys/stat.h>
#include <syslog.h>

#include "integration/oci.h"

#define HOOK_FILE	"/etc/rdmacg/oci.conf"

/* The administrator's file, or NULL to use HOOK_FILE if it exists. */
static const char *hook_file;
/* The future parent of the container's cgroup, to print limits instead of setting them; or NULL. */
static const char *hook_above;

static const struct choice hook_choices[] = {
	{ "config", 'c', "FILE", "the administrator's file, instead of " HOOK_FILE,
	  options_take_text, &hook_file },
	{ "unified", 'u', "CGROUP",
	  "only print the files that a runtime has to write for a new container below CGROUP; config.json is on standard input",
	  options_take_text, &hook_above },
	{ 0 }
};

static const struct syntax hook_syntax = {
	.lists = { hook_choices },
	.doc =
		"Set the limits of a container that an OCI runtime is about to start. The runtime calls this command as a hook of createRuntime, with the container's state on standard input.\vThe annotation org.rdmacg.limits is the container's request: DEVICE KEY=VALUE..., with semicolons between devices. The file has a section [default] for containers without a request, and a section [ceiling], which no annotation may exceed. Without a ceiling, an annotation can only lower limits. If limits cannot be set, the container does not start. For the container NAME of a pod, limits.rdmacg.org/NAME replaces org.rdmacg.limits. The variable RDMACG_LIMITS of the container's environment has the same form, and can only lower limits.",
};

static bool hook_read_file(struct policy *policy)
{
	policy->place = hook_file ? hook_file : HOOK_FILE;
	if (!hook_file && access(HOOK_FILE, F_OK) && errno == ENOENT)
		return true;
	return policy_read(policy);
}

/*
 * Find the cgroup of the container. A container without a cgroup of its own is in the root or in
 * the cgroup of the runtime, which the hook must not limit.
 */
static struct cgroup *hook_open_cgroup(pid_t pid)
{
	char *name __autofree = hierarchy_cgroup_of(pid);
	char *own __autofree = name ? hierarchy_cgroup_of(0) : NULL;
	size_t length = name ? strlen(name) : 0;

	if (!own)
		return NULL;
	if (length && (strncmp(own, name, length) || (own[length] && own[length] != '/')))
		return cgroup_open(name);
	say_error(length ? name : "/",
		  "the container has no cgroup of its own, or the hook is not one of createRuntime");
	return NULL;
}

static bool hook_print(struct json_object *unified)
{
	if (unified)
		json_print(stdout, json_pack("unified:o", unified));
	return unified;
}

/* Set the limits. A machine without the controller is not an error if there is nothing to set. */
static bool hook_run(struct oci *oci)
{
	struct policy *policy = &oci->policy;
	struct cgroup *cgroup;
	bool done = false;

	if (!(hook_above ? oci_read_requests(oci) : oci_read(oci)) || !hook_read_file(policy))
		return false;
	if (!policy->config.nr_rules)
		return !hook_above || hook_print(json_object_new_object());
	if (!hierarchy_open())
		return false;
	cgroup = hook_above ? cgroup_open_argument(hook_above) : hook_open_cgroup(oci->pid);
	if (cgroup)
		done = hook_above ? hook_print(policy_unified(policy, cgroup)) :
				    policy_limits(policy, cgroup);
	cgroup_close_path(cgroup);
	return done;
}

/* Whether stderr is discarded: crun discards the messages of hooks. */
static bool hook_is_unheard(void)
{
	struct stat null, error;

	return !stat("/dev/null", &null) && !fstat(STDERR_FILENO, &error) &&
	       S_ISCHR(error.st_mode) && error.st_rdev == null.st_rdev;
}

/* For fopencookie(3): write a message to the system's log, where the administrator finds it. */
static ssize_t hook_log(void *cookie, const char *text, size_t size)
{
	(void)cookie;
	/* Each message ends with a newline. */
	syslog(LOG_ERR, "%.*s", (int)size - 1, text);
	return size;
}

int cmd_oci_hook(int argc, char **argv)
{
	const cookie_io_functions_t to_log = { .write = hook_log };
	struct oci oci = { 0 };
	FILE *log;
	bool done;

	options_read(&hook_syntax, argc, argv);
	if (hook_is_unheard()) {
		openlog("rdmacg", LOG_PID, LOG_DAEMON);
		log = memory_check(fopencookie(NULL, "w", to_log));
		setvbuf(log, NULL, _IOLBF, BUFSIZ);
		say_errors_to(log);
	}
	done = hook_run(&oci);
	oci_free(&oci);
	return done ? EXIT_DONE : EXIT_FAILED;
}
