// SPDX-License-Identifier: GPL-2.0
/*
 * oci-hook: set the limits of a container before its first instruction.
 *
 * The runtime calls the hook at createRuntime: the container's first process waits in its cgroup,
 * and the hook runs outside of the container, where it can write to cgroups. Other hooks run inside
 * the container, or too late.
 *
 * The user who starts a container controls parts of the state and of config.json. So all sizes have
 * a bound, and the hook opens only the bundle's config.json, which must be a regular file.
 */
#include <sys/sysmacros.h>
#include <syslog.h>

#include "write/write.h"

/* The annotation: DEVICE KEY=VALUE..., with a semicolon or a newline between devices. */
#define OCI_ANNOTATION "org.rdmacg.limits"
/* The annotation for one container of a pod. The container's name follows. */
#define OCI_ANNOTATION_OF "limits.rdmacg.org/"
/* The annotations in which containerd and CRI-O give a container's name. */
#define OCI_ANNOTATION_NAME "io.kubernetes.cri.container-name"
#define OCI_ANNOTATION_CRIO_NAME "io.kubernetes.container.name"
/*
 * The variables can only lower limits, because an image or a CDI device may have set them. Runtimes
 * keep only one variable of a name, so each writer can have a name of its own: RDMACG_LIMITS_NAME.
 */
#define OCI_VARIABLE "RDMACG_LIMITS"
/* More writers than devices and drivers of a container, but few enough for a short search. */
#define OCI_MOST_VARIABLES 32

/* 8 MiB. Runtimes write much less, even if the environment of a container is long. */
#define OCI_LARGEST	(8UL << 20)
/* The largest depth of nested objects. Runtimes write fewer than ten levels. */
#define OCI_DEEPEST	32

static const char oci_state_name[] = "container's state";
static const char oci_config_name[] = "config.json";
/* The container belongs to a pod, so that a user writes sizes as in Kubernetes. */
static bool oci_is_pod;

static const char hook_file[] = "/etc/rdmacg/oci.conf";
static struct policy hook_policy = { .place = hook_file, .default_bounds = true };
/* The future parent of the container's cgroup, to print limits instead of setting them; or NULL. */
static const char *hook_above;

static const struct syntax hook_syntax = {
	.choices = {
		{ "config", 'c', "the administrator's file, instead of /etc/rdmacg/oci.conf",
		  &hook_policy.place, "FILE" },
		{ "unified", 'u',
		  "only print the files that a runtime has to write for a new container below CGROUP; config.json is on standard input",
		  &hook_above, "CGROUP" },
	},
	.doc =
		"Set the limits of a container that an OCI runtime is about to start. The runtime calls this program as a hook of createRuntime, with the container's state on standard input.\vThe annotation org.rdmacg.limits is the container's request: DEVICE KEY=VALUE..., with semicolons between devices. The administrator's file has a section [default] for keys that a container does not request, and a section [ceiling], which no annotation may exceed. Without a ceiling, an annotation can only lower limits and the default. If limits cannot be set, the container does not start. For the container NAME of a pod, limits.rdmacg.org/NAME replaces org.rdmacg.limits. The variables RDMACG_LIMITS and RDMACG_LIMITS_NAME of the container's environment have the same form, and can only lower limits. In a pod, sizes have the units Ki, Mi, Gi and so on, because K, M and G have other meanings in Kubernetes.",
};

/* Parse a text that has exactly one object. Returns NULL after a printed error. */
static struct json_object *oci_parse(const char *name, const char *text, size_t size)
{
	struct json_tokener *tokener = memory_check(json_tokener_new_ex(OCI_DEEPEST));
	struct json_object *object;
	enum json_tokener_error error;

	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	object = json_tokener_parse_ex(tokener, text, size);
	error = json_tokener_get_error(tokener);
	json_tokener_free(tokener);
	if (error == json_tokener_success && strnlen(text, size) == size &&
	    json_object_is_type(object, json_type_object))
		return object;
	say_error(name, "%s", error == json_tokener_success || error == json_tokener_continue ?
		  "must be one object of JSON, as the runtime passes it to its hooks" :
		  json_tokener_error_desc(error));
	json_object_put(object);
	return NULL;
}

static struct json_object *oci_read(FILE *from, const char *name)
{
	char *text __autofree = memory_zeroed(OCI_LARGEST + 1, 1);
	size_t size = fread(text, 1, OCI_LARGEST + 1, from);

	if (ferror(from) || size > OCI_LARGEST)
		say_failure(name, "%s", ferror(from) ? strerror(errno) : "is larger than 8 MiB");
	return oci_parse(name, text, size);
}

/* A string of the object, or NULL if the value has another type or a NUL character. */
static const char *oci_string(struct json_object *object, const char *key)
{
	struct json_object *value = json_object_object_get(object, key);
	const char *string;

	if (!json_object_is_type(value, json_type_string))
		return NULL;
	string = json_object_get_string(value);
	return strlen(string) == (size_t)json_object_get_string_len(value) ? string : NULL;
}

/* Take the first process. Returns the bundle, or NULL after an error. */
static const char *oci_take_state(struct json_object *state, pid_t *process)
{
	const char *status = oci_string(state, "status"), *bundle = oci_string(state, "bundle");
	struct json_object *value = json_object_object_get(state, "pid");
	int64_t pid = json_object_is_type(value, json_type_int) ? json_object_get_int64(value) : 0;

	*process = pid;
	/* The program of a container in a later state has already run without limits. */
	if (!status || (strcmp(status, "creating") && strcmp(status, "created")))
		say_error(oci_state_name,
			  "is \"%s\", and the container is not being created; the hook must be one of createRuntime",
			  status ? status : "");
	else if (pid <= 0 || pid > INT_MAX)
		say_error(oci_state_name,
			  "names no process; the hook must be one of createRuntime");
	else if (!bundle || *bundle != '/')
		say_error(oci_state_name, "has no bundle whose path begins with a slash");
	else
		return bundle;
	return NULL;
}

/* In Kubernetes, M is 1000^2 and m a thousandth, so a pod writes Mi. */
static bool oci_check_units(const char *where, const char *text)
{
	const char *value = text, *unit;
	size_t length;

	while ((value = strchr(value, '='))) {
		value++;
		unit = value + strspn(value, "0123456789.");
		length = strcspn(unit, ", \t\r\n;");
		if (unit > value && length == 1 && isalpha((unsigned char)*unit))
			return say_error(where,
					 "%.*s: %c has another meaning in Kubernetes; write Ki, Mi, Gi or Ti",
					 (int)min(unit + 1 - value, 40), value, *unit);
	}
	return true;
}

/* Add the limits of an annotation or of a variable to a section. @where is for messages. */
static bool oci_parse_limits(struct config *config, const char *section, const char *where,
			     const char *text)
{
	char *copy __autofree = memory_string(text);
	size_t before = config->nr_rules, i;
	char *rest = copy;

	if (strlen(text) > POLICY_LONGEST)
		return say_error(where, "text: is longer than %d characters", POLICY_LONGEST);
	if (oci_is_pod && !oci_check_units(where, text))
		return false;
	config->by_key = true;
	while (rest)
		if (!config_add(config, section, where, strsep(&rest, ";\r\n")) ||
		    !config_check_repeats(config))
			return false;
	/* A name with one of these characters would count as a pattern. */
	for (i = before; i < config->nr_rules; i++)
		if (strpbrk(config->rules[i].limits.device.name, "*?["))
			return say_error(where, "%s: write the name of a device, not a pattern",
					 config->rules[i].limits.device.name);
	return config->nr_rules > before ||
	       say_error(where, "text: is empty; write DEVICE KEY=VALUE..., or remove the %.*s",
			 (int)strcspn(where, " "), where);
}

/* Take the request from the annotation of this container, or from that of all containers. */
static bool oci_take_annotation(struct config *rules, struct json_object *config)
{
	char *own __autofree = NULL, *where __autofree = NULL;
	const char *key = OCI_ANNOTATION, *name, *text;
	struct json_object *annotations = json_object_object_get(config, "annotations");

	if (annotations && !json_object_is_type(annotations, json_type_object))
		return say_error(oci_config_name, "its annotations are not an object");
	name = oci_string(annotations, OCI_ANNOTATION_NAME) ?:
	       oci_string(annotations, OCI_ANNOTATION_CRIO_NAME);
	oci_is_pod = name;
	own = memory_format(OCI_ANNOTATION_OF "%s", name ? name : "");
	if (name && json_object_object_get_ex(annotations, own, NULL))
		key = own;
	if (!json_object_object_get_ex(annotations, key, NULL))
		return true;
	where = memory_format("annotation %s", key);
	text = oci_string(annotations, key);
	return text ? oci_parse_limits(rules, POLICY_ASKED, where, text) :
		      say_error(where, "is not a text");
}

/* Each variable is a section, because the limits of all writers hold. */
static bool oci_take_variables(struct config *rules, struct json_object *config)
{
	struct json_object *process = json_object_object_get(config, "process");
	struct json_object *list = json_object_object_get(process, "env");
	bool is_list = json_object_is_type(list, json_type_array);
	size_t i, found = 0, length = strlen(OCI_VARIABLE);

	for (i = 0; is_list && i < json_object_array_length(list); i++) {
		char *section __autofree = NULL, *where __autofree = NULL;
		const char *text = json_object_get_string(json_object_array_get_idx(list, i));
		const char *value = text ? strchr(text, '=') : NULL;

		if (!value || strncmp(text, OCI_VARIABLE, length) ||
		    (text[length] != '=' && text[length] != '_'))
			continue;
		section = memory_format(POLICY_SHARE "%zu", found);
		where = memory_format("variable %.*s", (int)min(value - text, 80), text);
		if (++found > OCI_MOST_VARIABLES)
			return say_error(where, "the container has more than %d such variables",
					 OCI_MOST_VARIABLES);
		if (!oci_parse_limits(rules, section, where, value + 1))
			return false;
	}
	return true;
}

/* Open config.json. Another file than a regular one may have no end. */
static FILE *oci_open_config(const char *bundle)
{
	char *path __autofree = memory_format("%s/%s", bundle, oci_config_name);
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) || !S_ISREG(status.st_mode))
		say_failure(bundle, "%s: %s", oci_config_name, strerror(fd < 0 ? errno : EINVAL));
	return memory_check(fdopen(fd, "r"));
}

/* Take the requests from config.json, on standard input or in the bundle that the state names. */
static bool hook_read(struct config *rules, pid_t *process)
{
	struct json_object *state = hook_above ? NULL : oci_read(stdin, oci_state_name);
	const char *bundle = state ? oci_take_state(state, process) : NULL;
	FILE *from = hook_above ? stdin : bundle ? oci_open_config(bundle) : NULL;
	struct json_object *config = from ? oci_read(from, oci_config_name) : NULL;
	bool good = config && oci_take_annotation(rules, config) &&
		    oci_take_variables(rules, config);

	if (from)
		fclose(from);
	json_object_put(state);
	json_object_put(config);
	return good;
}

/* Never limit the root or the cgroup of the runtime itself. */
static struct cgroup *hook_open_cgroup(pid_t pid)
{
	char *name __autofree = hierarchy_cgroup_of(pid);
	char *own __autofree = name ? hierarchy_cgroup_of(0) : NULL;

	if (own && (!*name || hierarchy_below(own, name)))
		say_failure(*name ? name : "/",
			    "the container has no cgroup of its own, or the hook is not one of createRuntime");
	return own ? cgroup_open(name) : NULL;
}

/* For fopencookie(3): write a message to the system's log, where the administrator finds it. */
static ssize_t hook_log(void *cookie, const char *text, size_t size)
{
	/* Each message ends with a newline. */
	syslog(LOG_ERR, "%.*s", (int)size - 1, text);
	return size;
}

/* If stderr is /dev/null, as with crun, write the messages to the system's log. */
static void hook_log_errors(void)
{
	const cookie_io_functions_t to_log = { .write = hook_log };
	struct stat status;
	FILE *log;

	if (fstat(STDERR_FILENO, &status) || !S_ISCHR(status.st_mode) ||
	    status.st_rdev != makedev(1, 3))
		return;
	openlog("rdmacg", LOG_PID, LOG_DAEMON);
	log = memory_check(fopencookie(NULL, "w", to_log));
	setvbuf(log, NULL, _IOLBF, BUFSIZ);
	say_errors = log;
}

int cmd_oci_hook(int argc, char **argv)
{
	struct config *rules = &hook_policy.config;
	static struct cgroup *cgroup;
	pid_t process = 0;

	hook_log_errors();
	options_read(&hook_syntax, argc, argv);
	if (!strcmp(hook_policy.place, "-"))
		options_fail("-c", "standard input is the container's state; name a file");
	if (!hook_read(rules, &process))
		return EXIT_FAILED;
	/* Only a file that --config names has to exist. */
	if ((hook_policy.place != hook_file || file_exists(AT_FDCWD, hook_file) ||
	     errno != ENOENT) && !policy_read(rules, hook_policy.place))
		return EXIT_FAILED;
	/* A machine needs no controller if there is nothing to set. */
	if (rules->nr_rules) {
		hierarchy_open(EXIT_FAILED);
		cgroup = hook_above ? cgroup_open_argument(hook_above) : hook_open_cgroup(process);
		if (!cgroup)
			return EXIT_FAILED;
	}
	if (hook_above)
		json_print(stdout, "unified:o", cgroup ? policy_unified(&hook_policy, cgroup) :
							 json_object_new_object());
	else if (cgroup)
		policy_limits(&hook_policy, cgroup);
	return EXIT_DONE;
}
