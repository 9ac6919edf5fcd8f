// SPDX-License-Identifier: GPL-2.0
/*
 * The model's files: counters to text, and text to limits.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "replay-model.h"

static char *print_number(char *at, const char *resource, const char *suffix, __u64 value)
{
	return at + sprintf(at, " %s%s=%llu", resource, suffix, value);
}

static char *print_resource(char *at, enum kind kind, enum resource resource,
			    const struct counter *counter)
{
	const char *name = resource_names[resource];
	const __u64 *events = kind == EVENTS ? counter->events : counter->local;

	switch (kind) {
	case MAX:
		if (counter->max == NO_LIMIT)
			return at + sprintf(at, " %s=max", name);
		return print_number(at, name, "", counter->max);
	case CURRENT:
		return print_number(at, name, "", counter->usage);
	case PEAK:
		return print_number(at, name, "", counter->peak);
	default:
		at = print_number(at, name, ".max", events[EVENT_MAX]);
		return print_number(at, name, ".alloc_fail", events[EVENT_ALLOC_FAIL]);
	}
}

char *model_print_class(char *at, enum class class, enum kind kind,
			const struct counter *counters)
{
	int resource;

	for (resource = 0; resource < RESOURCES; resource++)
		if (class_of(resource) == class)
			at = print_resource(at, kind, resource, &counters[resource]);
	return at;
}

/* Digits only, from 0 to @most. */
static bool parse_number(const char *word, __u64 most, __u64 *number)
{
	if (!*word)
		return false;
	for (*number = 0; *word; word++) {
		if (*word < '0' || *word > '9')
			return false;
		if (*number > (most - (*word - '0')) / 10)
			return false;
		*number = *number * 10 + (*word - '0');
	}
	return true;
}

/* "KEY=VALUE" or "max"; @key is NULL for the latter. */
static bool parse_limit(char *word, char **key, __u64 *limit)
{
	char *equals = strchr(word, '=');

	*key = NULL;
	*limit = NO_LIMIT;
	if (!equals)
		return !strcmp(word, "max");
	*key = word;
	*equals = '\0';
	return equals != word &&
	       (!strcmp(equals + 1, "max") || parse_number(equals + 1, NO_LIMIT - 1, limit));
}

/* The device of this name and, if @index is not NULL, index. */
static int find_device(const char *name, const __u64 *index)
{
	char known[8];
	int device;

	for (device = 0; device < DEVICES; device++) {
		sprintf(known, "rxe%d", device);
		if (!strcmp(name, known) && (!index || *index == (__u64)device))
			return device;
	}
	return NONE;
}

static bool set_limit(__u64 *of_device, enum class class, const char *key, __u64 limit)
{
	bool found = false;
	int resource;

	for (resource = 0; resource < RESOURCES; resource++)
		if (class_of(resource) == class &&
		    (!key || !strcmp(key, resource_names[resource]))) {
			of_device[resource] = limit;
			found = true;
		}
	return found;
}

/*
 * One line: whether it is well formed, and if @all is not NULL, what it sets. An unknown
 * device is found before an unknown key.
 */
static int write_line(char *line, enum class class, __u64 (*all)[RESOURCES])
{
	char *words[TEXT_SIZE], *keys[TEXT_SIZE], *word, *rest;
	__u64 values[TEXT_SIZE], index;
	int count = 0, first = 1, device, i;

	for (word = strtok_r(line, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
		words[count++] = word;
	if (!count)
		return 0;
	if (count > 1 && !strncmp(words[1], "index=", 6)) {
		first = 2;
		if (!parse_number(words[1] + 6, UINT32_MAX, &index))
			return -EINVAL;
	}
	if (count == first)
		return -EINVAL;
	for (i = first; i < count; i++)
		if (!parse_limit(words[i], &keys[i], &values[i]))
			return -EINVAL;
	if (!all)
		return 0;
	device = find_device(words[0], first == 2 ? &index : NULL);
	if (device == NONE)
		return -ENODEV;
	for (i = first; i < count; i++)
		if (!set_limit(all[device], class, keys[i], values[i]))
			return -EINVAL;
	return 0;
}

static int write_lines(const char *text, size_t len, enum class class, __u64 (*all)[RESOURCES])
{
	char copy[TEXT_SIZE + 1] = "";
	char *line, *end;
	int error;

	memcpy(copy, text, len);
	for (line = copy; line; line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		if (end)
			*end = '\0';
		error = write_line(line, class, all);
		if (error)
			return error;
	}
	return 0;
}

/* What is malformed anywhere is found before what is not known. */
int model_parse_limits(const char *text, size_t len, enum class class, limits all)
{
	if (memchr(text, '\0', len) || strspn(text, " \t\n") == len)
		return -EINVAL;
	if (memchr(text, '\n', len) && text[len - 1] != '\n')
		return -EINVAL;
	return write_lines(text, len, class, NULL) ?: write_lines(text, len, class, all);
}
