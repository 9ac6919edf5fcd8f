// SPDX-License-Identifier: GPL-2.0
/* rdmacg: what a container runtime tells a hook. */
#include <sys/stat.h>

#include "integration/oci.h"
#include "lib/lib.h"

/* Environments of containers may be long; no runtime writes more than a part of this. */
#define OCI_LARGEST	(8UL << 20)
/* Of objects in objects. What runtimes write has less than ten. */
#define OCI_DEEPEST	32
#define OCI_LONGEST	4096
#define OCI_BLANKS	" \t\r\n"

static const char oci_state_name[] = "container's state";
static const char oci_config_name[] = "config.json";

/* Read to the end: the text, or NULL, and an error is said. */
static char *oci_read_all(int fd, const char *name, size_t *size)
{
	size_t room = 4096;
	char *text = memory_zeroed(room, 1);
	ssize_t got;

	*size = 0;
	while ((got = read(fd, text + *size, room - *size)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			say_error(name, "%s", strerror(errno));
		else if (*size + got > OCI_LARGEST)
			say_error(name, "is larger than %lu MiB", OCI_LARGEST >> 20);
		if (got < 0 || *size + got > OCI_LARGEST) {
			free(text);
			return NULL;
		}
		*size += got;
		if (*size == room) {
			room *= 2;
			text = memory_resize(text, room, 1);
		}
	}
	return text;
}

/* One object and nothing else; NULL, and an error is said. */
static struct json_object *oci_parse(const char *name, const char *text, size_t size)
{
	struct json_tokener *tokener = json_tokener_new_ex(OCI_DEEPEST);
	struct json_object *object = NULL;
	enum json_tokener_error error = json_tokener_continue;
	size_t end = 0;

	if (tokener) {
		json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
		object = json_tokener_parse_ex(tokener, text, size);
		error = json_tokener_get_error(tokener);
		end = json_tokener_get_parse_end(tokener);
	}
	while (end < size && text[end] && strchr(OCI_BLANKS, text[end]))
		end++;
	if (error == json_tokener_success && end == size &&
	    json_object_is_type(object, json_type_object)) {
		json_tokener_free(tokener);
		return object;
	}
	if (error == json_tokener_success || error == json_tokener_continue)
		say_error(name, "has to be one object of JSON; the runtime gives it to its hooks");
	else
		say_error(name, "%s", json_tokener_error_desc(error));
	json_object_put(object);
	if (tokener)
		json_tokener_free(tokener);
	return NULL;
}

/* A string of the object, or NULL where it is another thing or has a NUL character. */
static const char *oci_string(struct json_object *object, const char *key)
{
	struct json_object *value;
	const char *string;

	if (!json_object_object_get_ex(object, key, &value) ||
	    !json_object_is_type(value, json_type_string))
		return NULL;
	string = json_object_get_string(value);
	return strlen(string) == (size_t)json_object_get_string_len(value) ? string : NULL;
}

static bool oci_take_pid(struct oci *oci, struct json_object *state)
{
	struct json_object *value;
	int64_t pid = 0;

	if (json_object_object_get_ex(state, "pid", &value) &&
	    json_object_is_type(value, json_type_int))
		pid = json_object_get_int64(value);
	if (pid <= 0 || pid > INT_MAX) {
		say_error(oci_state_name,
			  "names no process; the hook has to be one of createRuntime");
		return false;
	}
	oci->pid = pid;
	return true;
}

/* Later than that, the container's program would have run without limits. */
static bool oci_check_status(struct json_object *state)
{
	const char *status = oci_string(state, "status");

	if (status && (!strcmp(status, "creating") || !strcmp(status, "created")))
		return true;
	say_error(oci_state_name,
		  "is \"%s\" and not being created; the hook has to be one of createRuntime",
		  status ? status : "");
	return false;
}

bool oci_parse_state(struct oci *oci, const char *text, size_t size)
{
	struct json_object *state = oci_parse(oci_state_name, text, size);
	const char *bundle;
	bool good;

	if (!state)
		return false;
	good = oci_check_status(state) && oci_take_pid(oci, state);
	bundle = oci_string(state, "bundle");
	if (good && (!bundle || *bundle != '/')) {
		say_error(oci_state_name, "has no bundle whose path begins with a slash");
		good = false;
	}
	if (good)
		oci->bundle = memory_string(bundle);
	json_object_put(state);
	return good;
}

/* The annotation for the container of this name, or else that for all. To be freed. */
static char *oci_find_key(struct json_object *annotations)
{
	const char *name = oci_string(annotations, OCI_ANNOTATION_NAME);
	char *key = memory_format(OCI_ANNOTATION_OF "%s", name ? name : "");

	if (name && json_object_object_get_ex(annotations, key, NULL))
		return key;
	free(key);
	return memory_string(OCI_ANNOTATION);
}

/* An annotation that is there and cannot be read must not pass for none. */
static bool oci_take_annotation(struct oci *oci, struct json_object *annotations)
{
	char *key = oci_find_key(annotations);
	bool has = json_object_object_get_ex(annotations, key, NULL);
	const char *text = oci_string(annotations, key);

	if (has)
		oci->source = memory_format("annotation %s", key);
	if (text)
		oci->asked = memory_string(text);
	else if (has)
		say_error(oci->source, "is no text");
	free(key);
	return text || !has;
}

/* Of several variables of this name, a program sees the last. */
static const char *oci_find_variable(struct json_object *config)
{
	static const char begin[] = OCI_VARIABLE "=";
	struct json_object *process, *list;
	const char *found = NULL;
	const char *text;
	size_t i;

	if (!json_object_object_get_ex(config, "process", &process) ||
	    !json_object_object_get_ex(process, "env", &list) ||
	    !json_object_is_type(list, json_type_array))
		return NULL;
	for (i = 0; i < json_object_array_length(list); i++) {
		text = json_object_get_string(json_object_array_get_idx(list, i));
		if (text && !strncmp(text, begin, strlen(begin)))
			found = text + strlen(begin);
	}
	return found;
}

bool oci_parse_config(struct oci *oci, const char *text, size_t size)
{
	struct json_object *config = oci_parse(oci_config_name, text, size);
	struct json_object *annotations;
	const char *share;
	bool good = true;

	if (!config)
		return false;
	share = oci_find_variable(config);
	oci->share = share ? memory_string(share) : NULL;
	if (json_object_object_get_ex(config, "annotations", &annotations) && annotations) {
		good = json_object_is_type(annotations, json_type_object);
		if (good)
			good = oci_take_annotation(oci, annotations);
		else
			say_error(oci_config_name, "its annotations are no object");
	}
	json_object_put(config);
	return good;
}

static bool oci_has_device(const struct config *asked, const struct device *device)
{
	size_t i;

	for (i = 0; i + 1 < asked->nr_rules; i++)
		if (device_is_same(&asked->rules[i].limits.device, device))
			return true;
	return false;
}

/* "DEVICE KEY=VALUE...", or as one word "DEVICE:KEY=VALUE,KEY=VALUE". */
static bool oci_take_device(struct config *asked, const char *name, char *text)
{
	struct limits *limits;
	char **words = NULL;
	size_t count = 0;
	char *word;
	bool good = true;

	while ((word = strsep(&text, OCI_BLANKS))) {
		if (!*word)
			continue;
		words = memory_grow(words, count, sizeof(*words));
		words[count++] = word;
	}
	if (count) {
		asked->rules = memory_grow(asked->rules, asked->nr_rules, sizeof(*asked->rules));
		asked->rules[asked->nr_rules].where = memory_string(name);
		limits = &asked->rules[asked->nr_rules++].limits;
		good = count == 1 && strchr(words[0], ':') ?
			limits_parse_option(limits, words[0]) :
			limits_parse(limits, words[0], words + 1, count - 1);
		/* A name with one of these would be taken for a pattern. */
		if (good && strpbrk(limits->device.name, "*?[")) {
			say_error(words[0], "write the name of a device, not a pattern");
			good = false;
		} else if (good && limits->whole) {
			say_error(limits->whole, "write each limit as KEY=VALUE, such as qp=100");
			good = false;
		} else if (good && oci_has_device(asked, &limits->device)) {
			say_error(words[0], "is there twice; write all its limits behind one");
			good = false;
		}
	}
	free(words);
	return good;
}

bool oci_parse_limits(struct config *config, const char *name, const char *text)
{
	char *copy = memory_string(text);
	bool good = strlen(text) <= OCI_LONGEST;
	char *rest = copy;

	memset(config, 0, sizeof(*config));
	say_within(name);
	if (!good)
		say_error("text", "is longer than %d characters", OCI_LONGEST);
	while (good && rest)
		good = oci_take_device(config, name, strsep(&rest, ";\n"));
	if (good && !config->nr_rules) {
		say_error("text", "is empty; write DEVICE KEY=VALUE..., or leave it out");
		good = false;
	}
	say_within(NULL);
	free(copy);
	return good;
}

/* The one file of the bundle, which has to be a regular one: others may have no end. */
static int oci_open_config(const struct oci *oci)
{
	int bundle = open(oci->bundle, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat status;
	int fd = -1;

	if (bundle >= 0)
		fd = openat(bundle, oci_config_name,
			    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &status) && !S_ISREG(status.st_mode)) {
		close(fd);
		fd = -1;
		errno = EINVAL;
	}
	if (fd < 0)
		say_error(oci->bundle, "%s: %s", oci_config_name, strerror(errno));
	if (bundle >= 0)
		close(bundle);
	return fd;
}

static bool oci_read_config(struct oci *oci, int fd)
{
	size_t size;
	char *text = oci_read_all(fd, oci_config_name, &size);
	bool good = text && oci_parse_config(oci, text, size);

	free(text);
	return good;
}

bool oci_read_requests(struct oci *oci)
{
	return oci_read_config(oci, STDIN_FILENO);
}

bool oci_read(struct oci *oci)
{
	size_t size;
	char *text = oci_read_all(STDIN_FILENO, oci_state_name, &size);
	bool good = text && oci_parse_state(oci, text, size);
	int fd = good ? oci_open_config(oci) : -1;

	free(text);
	if (fd < 0)
		return false;
	good = oci_read_config(oci, fd);
	close(fd);
	return good;
}

void oci_free(struct oci *oci)
{
	free(oci->bundle);
	free(oci->asked);
	free(oci->source);
	free(oci->share);
	memset(oci, 0, sizeof(*oci));
}
