// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg oci-hook: limits of a container, before its first instruction.
 *
 * A container asks in an annotation; the administrator's file has what it may ask for, and
 * what it gets that does not ask. Where something of that cannot be brought into effect,
 * the status is not 0, and the runtime does not start the container.
 *
 * The hook is one of createRuntime. Then the container's first process is in its cgroup and
 * waits, and the hook still runs as the runtime does, where cgroups can be written. Hooks of
 * createContainer and startContainer run inside of the container, and those of poststart when
 * it runs already.
 */
#include <sys/stat.h>
#include <syslog.h>

#include "core/core.h"
#include "integration/oci.h"
#include "write/policy.h"

#define HOOK_FILE	"/etc/rdmacg/oci.conf"

struct hook {
	/* The administrator's, or NULL for HOOK_FILE if there is such a file. */
	const char *file;
	/* To print limits instead: the cgroup below which the container will be. */
	const char *above;
	struct oci oci;
	struct policy policy;
};

static const struct argp_option hook_options[] = {
	{ "config", 'c', "FILE", 0, "the administrator's file, instead of " HOOK_FILE, 0 },
	{ "unified", 'u', "CGROUP", 0,
	  "set nothing; print what a runtime has to write for a new container below CGROUP, with config.json on standard input",
	  0 },
	{ 0 }
};

static error_t hook_parse(int key, char *arg, struct argp_state *state)
{
	struct hook *hook = state->input;

	if (key == 'c')
		hook->file = arg;
	else if (key == 'u')
		hook->above = arg;
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

static const struct argp hook_argp = {
	.options = hook_options,
	.parser = hook_parse,
	.children = options_child,
	.doc =
		"Set the limits of a container that an OCI runtime is about to start; for its hooks of createRuntime, with the container's state on standard input.\vThe annotation org.rdmacg.limits is what the container asks for: DEVICE KEY=VALUE..., and more devices behind semicolons. The file has sections [default], for who does not ask, and [ceiling], which no annotation may exceed; without a ceiling, one can only lower limits. If limits cannot be set, the container does not start. For the container NAME of a pod, limits.rdmacg.org/NAME goes before org.rdmacg.limits. The variable RDMACG_LIMITS of the container's environment has the same form, and only lowers limits.",
};

static bool hook_read_file(struct hook *hook)
{
	char *file = (char *)(hook->file ? hook->file : HOOK_FILE);

	hook->policy.place = file;
	if (!hook->file && access(file, F_OK) && errno == ENOENT)
		return true;
	return config_read(&hook->policy.config, &file, 1) && policy_check(&hook->policy.config);
}

/*
 * The cgroup of the container. A container without one is in that of the runtime, whose
 * limits are not the container's, or in the root.
 */
static struct cgroup *hook_open_cgroup(pid_t pid)
{
	char *name = hierarchy_cgroup_of(pid);
	char *own = name ? hierarchy_cgroup_of(0) : NULL;
	size_t length = name ? strlen(name) : 0;
	struct cgroup *cgroup = NULL;

	if (own && (!length || (!strncmp(own, name, length) &&
				(!own[length] || own[length] == '/'))))
		say_error(length ? name : "/",
			  "the container has no cgroup of its own, or the hook is none of createRuntime");
	else if (own)
		cgroup = cgroup_open(name);
	free(own);
	free(name);
	return cgroup;
}

static struct cgroup *hook_open_above(const char *argument)
{
	char *name = hierarchy_resolve(argument);
	struct cgroup *cgroup = name ? cgroup_open(name) : NULL;

	free(name);
	return cgroup;
}

static bool hook_limits(struct hook *hook)
{
	struct cgroup *cgroup;
	bool done;

	if (!hierarchy_open())
		return false;
	cgroup = hook_open_cgroup(hook->oci.pid);
	done = cgroup && policy_limits(&hook->policy, cgroup);
	cgroup_close_path(cgroup);
	return done;
}

static void hook_print(struct json_object *unified)
{
	struct json_object *object = json_object_new_object();

	json_add(object, "unified", unified);
	json_print(stdout, object, options.pretty);
}

static bool hook_unified(struct hook *hook)
{
	struct json_object *unified = NULL;
	struct cgroup *cgroup;

	if (!hierarchy_open())
		return false;
	cgroup = hook_open_above(hook->above);
	if (cgroup)
		unified = policy_unified(&hook->policy, cgroup);
	cgroup_close_path(cgroup);
	if (unified)
		hook_print(unified);
	return unified;
}

/* Where nobody says anything of limits, a machine without the controller is no error. */
static bool hook_run(struct hook *hook)
{
	struct policy *policy = &hook->policy;
	struct oci *oci = &hook->oci;

	if (!(hook->above ? oci_read_requests(oci) : oci_read(oci)) || !hook_read_file(hook))
		return false;
	if (oci->asked && !oci_parse_limits(&policy->asked, oci->source, oci->asked))
		return false;
	if (oci->share && !oci_parse_limits(&policy->share, "variable " OCI_VARIABLE, oci->share))
		return false;
	if (policy->asked.nr_rules || policy->share.nr_rules || policy->config.nr_rules)
		return hook->above ? hook_unified(hook) : hook_limits(hook);
	if (hook->above)
		hook_print(json_object_new_object());
	return true;
}

/* Whether the runtime throws away what the hook says, as crun does. */
static bool hook_is_unheard(void)
{
	struct stat null, error;

	return !stat("/dev/null", &null) && !fstat(STDERR_FILENO, &error) &&
	       S_ISCHR(error.st_mode) && error.st_rdev == null.st_rdev;
}

/* Tell the system's log why the container does not start. */
static void hook_log(char *text)
{
	char *line;

	openlog("rdmacg", LOG_PID, LOG_DAEMON);
	while ((line = file_next_line(&text)))
		syslog(LOG_ERR, "%s", line);
	closelog();
}

static bool hook_run_unheard(struct hook *hook)
{
	size_t size;
	char *text;
	FILE *to = open_memstream(&text, &size);
	bool done;

	if (!to)
		return hook_run(hook);
	say_errors_to(to);
	done = hook_run(hook);
	say_errors_to(NULL);
	fclose(to);
	hook_log(text);
	free(text);
	return done;
}

int cmd_oci_hook(int argc, char **argv)
{
	struct hook hook = { 0 };
	bool done;

	options_parse(&hook_argp, 0, argc, argv, &hook);
	done = hook_is_unheard() ? hook_run_unheard(&hook) : hook_run(&hook);
	policy_free(&hook.policy);
	oci_free(&hook.oci);
	return done ? EXIT_DONE : EXIT_FAILED;
}
