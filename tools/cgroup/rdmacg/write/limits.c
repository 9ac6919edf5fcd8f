// SPDX-License-Identifier: GPL-2.0
/* rdmacg: limits from words, and the lines that set them. */
#include "lib/lib.h"
#include "write/limits.h"

#define LIMITS_WHOLE	100000

static bool limits_is_key(const char *key, size_t length)
{
	/* "hw:" is of rdma.default. */
	return length && *key >= 'a' && *key <= 'z' &&
	       strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_:") >= length;
}

static bool limits_parse_device(struct limits *limits, const char *device)
{
	if (!*device) {
		say_error("device", "the name is empty");
		return false;
	}
	limits->device.is_default = !strcmp(device, device_default.name);
	limits->device.name = device_escape(device);
	return true;
}

static bool limits_parse_value(struct limit *limit, const char *word, const char *text)
{
	size_t length = strlen(text);
	bool bytes = number_is_bytes(limit->key);

	if (!strcmp(text, "max")) {
		limit->value = NUMBER_MAX;
		return true;
	}
	if (length && text[length - 1] == '%') {
		limit->percent = true;
		if (number_parse_thousandths(text, length - 1, &limit->value) &&
		    limit->value <= LIMITS_WHOLE)
			return true;
		say_error(word, "a percentage is 0%% to 100%%, with 3 decimals at most");
		return false;
	}
	if (number_parse_human(text, bytes, &limit->value))
		return true;
	if (!strcmp(text, "default"))
		say_error(word, "default stands for a whole device: set CGROUP DEVICE default");
	else
		say_error(word, "%s; the largest is %" PRIu64,
			  bytes ? "write a number, one with K, M, G or T, a percentage, or max" :
			  "write a number, a percentage, or max", NUMBER_LARGEST);
	return false;
}

static bool limits_parse_index(struct limits *limits, const char *word)
{
	uint64_t index;

	if (limits->nr_limits || limits->whole || limits->device.has_index ||
	    !number_parse(word + 6, strlen(word + 6), &index) || index > UINT32_MAX) {
		say_error(word, "the index is a number, once, and right after the device");
		return false;
	}
	limits->device.has_index = true;
	limits->device.index = index;
	return true;
}

/* A key that is there twice would be a mistake of one of the two. */
static bool limits_has_key(const struct limits *limits, const char *key)
{
	size_t i;

	for (i = 0; i < limits->nr_limits; i++)
		if (!strcmp(limits->limits[i].key, key))
			return true;
	return false;
}

static bool limits_parse_limit(struct limits *limits, const char *word)
{
	size_t length = strcspn(word, "=");
	struct limit *limit;
	char *key;

	if (!word[length] || !limits_is_key(word, length)) {
		say_error(word, "is no limit; write KEY=VALUE, such as qp=100");
		return false;
	}
	key = memory_format("%.*s", (int)length, word);
	if (limits_has_key(limits, key)) {
		say_error(word, "this key is there twice");
		free(key);
		return false;
	}
	limits->limits = memory_grow(limits->limits, limits->nr_limits, sizeof(*limit));
	limit = &limits->limits[limits->nr_limits++];
	limit->key = key;
	return limits_parse_value(limit, word, word + length + 1);
}

static bool limits_parse_word(struct limits *limits, const char *word)
{
	if (!strncmp(word, "index=", 6))
		return limits_parse_index(limits, word);
	if (strcmp(word, "max") && strcmp(word, "default"))
		return limits_parse_limit(limits, word);
	if (limits->whole) {
		say_error(word, "is one word too many after %s", limits->whole);
		return false;
	}
	limits->whole = *word == 'm' ? "max" : "default";
	return true;
}

/* What holds for all of it; where it does not, say so. */
static bool limits_check(const struct limits *limits)
{
	const char *device = limits->device.name;
	bool is_default = limits->device.is_default;

	if (!limits->nr_limits && !limits->whole)
		say_error(device, "no limit is given; write KEY=VALUE, max or default");
	else if (limits->nr_limits && limits->whole)
		say_error(device, "%s is for all keys; leave the other limits out", limits->whole);
	else if (is_default && limits->device.has_index)
		say_error(device, "stands for all devices and has no index");
	else if (is_default && limits->whole && *limits->whole == 'd')
		say_error(device, "cannot be its own default; write max");
	else
		return true;
	return false;
}

bool limits_parse(struct limits *limits, const char *device, char * const *words, size_t count)
{
	size_t i;

	memset(limits, 0, sizeof(*limits));
	if (!limits_parse_device(limits, device))
		return false;
	for (i = 0; i < count; i++)
		if (!limits_parse_word(limits, words[i]))
			return false;
	return limits_check(limits);
}

bool limits_parse_option(struct limits *limits, const char *text)
{
	char *copy = memory_string(text);
	/* Only a key of rdma.default has a colon, so the last one ends another device's name. */
	char *colon = strncmp(copy, "default:", 8) ? strrchr(copy, ':') : copy + 7;
	char **words = NULL;
	size_t count = 0;
	char *rest, *word;
	bool good = false;

	if (!colon) {
		memset(limits, 0, sizeof(*limits));
		say_error(text, "write DEVICE:KEY=VALUE[,KEY=VALUE]...");
	} else {
		*colon = '\0';
		rest = colon + 1;
		while ((word = strsep(&rest, ","))) {
			words = memory_grow(words, count, sizeof(*words));
			words[count++] = word;
		}
		good = limits_parse(limits, copy, words, count);
	}
	free(words);
	free(copy);
	return good;
}

void limits_free(struct limits *limits)
{
	size_t i;

	for (i = 0; i < limits->nr_limits; i++)
		free(limits->limits[i].key);
	free(limits->limits);
	device_free(&limits->device);
	memset(limits, 0, sizeof(*limits));
}

/* The list with one word more; the old one is freed. */
static char *limits_list(char *list, const char *word)
{
	char *longer = memory_format("%s%s%s", list, *list ? ", " : "", word);

	free(list);
	return longer;
}

/* "rxe0, rxe1 index=4": what there is instead. */
static char *limits_list_devices(const struct pools *pools)
{
	char *list = memory_string("");
	const struct pool *pool;

	for (pool = pools->first; pool; pool = pool->next)
		if (!pool->device.is_default)
			list = limits_list(list, device_text(&pool->device));
	return *list ? list : limits_list(list, "none");
}

/* The kernel checks an index all the same that is given without need. */
const struct pool *limits_find_pool(const struct device *device, const struct pools *pools)
{
	const struct pool *pool;
	bool ambiguous = false;
	char *list;

	for (pool = pools->first; pool; pool = pool->next) {
		const struct device *found = &pool->device;

		if (found->is_default || strcmp(found->name, device->name))
			continue;
		if (!found->has_index || (device->has_index && found->index == device->index))
			return pool;
		ambiguous |= !device->has_index;
	}
	list = limits_list_devices(pools);
	if (ambiguous)
		say_error(device->name, "several devices have this name; add index=N: %s", list);
	else
		say_error(device->name, "there is no such device; there are: %s", list);
	free(list);
	return NULL;
}

/* The keys of the device that can be limited. */
static char *limits_list_keys(const struct limits *limits, const struct cgroup *cgroup)
{
	const struct pool *pool = limits_find_pool(&limits->device, &cgroup->pools);
	char *list = memory_string("");
	size_t i;

	for (i = 0; i < pool->nr_slots; i++)
		if (pool->slots[i].has & POOL_BIT(POOL_MAX))
			list = limits_list(list, pool->slots[i].key);
	return *list ? list : limits_list(list, "none");
}

static const struct slot *limits_find_slot(const struct limits *limits,
					   const struct cgroup *cgroup, const char *key)
{
	const struct pool *pool = limits_find_pool(&limits->device, &cgroup->pools);

	return pool ? pool_find(pool, key) : NULL;
}

/* The controller of the kernel's own sources counts in 31 bits, and has no rdma.capacity. */
static bool limits_check_range(const struct limit *limit)
{
	if (capacity.has_file || number_is_bytes(limit->key) ||
	    limit->value == NUMBER_MAX || limit->value <= INT32_MAX)
		return true;
	say_error(limit->key, "this kernel takes %d at most; for no limit, write max", INT32_MAX);
	return false;
}

bool limits_value(const struct limits *limits, const struct limit *limit, uint64_t *value)
{
	uint64_t all;

	*value = limit->value;
	if (!limit->percent)
		return limits_check_range(limit);
	if (limits->device.is_default) {
		say_error(limit->key, "default is of all devices, so write a number");
		return false;
	}
	all = capacity_of(&limits->device, limit->key);
	if (all == NUMBER_MAX) {
		say_error(limit->key,
			  "how much of it %s has is not known; write a number, not a percentage",
			  limits->device.name);
		return false;
	}
	*value = number_percent(all, limit->value);
	if (!*value && limit->value)
		say_warning(limit->key, "of %" PRIu64 ", that is 0: none can be made", all);
	return true;
}

static void limits_warn_usage(const struct limits *limits, const struct cgroup *cgroup,
			      const struct slot *slot, uint64_t value)
{
	if (!(slot->has & POOL_BIT(POOL_CURRENT)) || value >= slot->usage)
		return;
	say_warning(cgroup_name(cgroup),
		    "%s=%" PRIu64 " on %s is less than the usage, %" PRIu64
		    ": none is taken away, new ones are refused",
		    slot->key, value, limits->device.name, slot->usage);
}

/* Append " KEY=VALUE" to *@line, which is freed. */
static void limits_append(char **line, const char *key, uint64_t value)
{
	char *longer = memory_format("%s %s=%s", *line, key, number_text(value, false));

	free(*line);
	*line = longer;
}

/* The end of a line; in v1 and v2 alike, one line is one write. */
static void limits_finish(struct limits const *limits, struct transaction *change,
			  const struct cgroup *cgroup, enum pool_class class,
			  char *text, char *undo)
{
	const char *device = device_text(&limits->device);

	transaction_add(change, cgroup, pool_file_name(class, POOL_MAX),
			memory_format("%s%s\n", device, text),
			memory_format("%s%s\n", device, undo));
}

/* The line for the keys of one class, if there are any. */
static bool limits_add_class(const struct limits *limits, struct transaction *change,
			     const struct cgroup *cgroup, enum pool_class class)
{
	char *text = memory_string("");
	char *undo = memory_string("");
	bool good = true;
	uint64_t value;
	size_t i;

	for (i = 0; i < limits->nr_limits && good; i++) {
		const struct limit *limit = &limits->limits[i];
		const struct slot *slot = limits_find_slot(limits, cgroup, limit->key);

		if (!slot || slot->class != class)
			continue;
		good = limits_value(limits, limit, &value);
		if (!good)
			break;
		limits_warn_usage(limits, cgroup, slot, value);
		limits_append(&text, limit->key, value);
		limits_append(&undo, limit->key, slot->max);
	}
	if (*text && good)
		limits_finish(limits, change, cgroup, class, text, undo);
	free(text);
	free(undo);
	return good;
}

/*
 * All keys of a class. The word "max" is the same as "KEY=max" for each one, which every
 * kernel takes; "default" there is only as a word.
 */
static void limits_add_whole(const struct limits *limits, struct transaction *change,
			     const struct cgroup *cgroup, enum pool_class class)
{
	const struct pool *pool = limits_find_pool(&limits->device, &cgroup->pools);
	bool back = *limits->whole == 'd';
	char *text = memory_string(back ? " default" : "");
	char *undo = memory_string("");
	size_t i;

	for (i = 0; pool && i < pool->nr_slots; i++) {
		const struct slot *slot = &pool->slots[i];

		if (slot->class != class || !(slot->has & POOL_BIT(POOL_MAX)))
			continue;
		limits_append(&undo, slot->key, slot->max);
		if (!back)
			limits_append(&text, slot->key, NUMBER_MAX);
	}
	if (*undo)
		limits_finish(limits, change, cgroup, class, text, undo);
	free(text);
	free(undo);
}

/* Each key has to be one of the device's. */
static bool limits_check_keys(const struct limits *limits, const struct cgroup *cgroup)
{
	const struct slot *slot;
	char *list;
	size_t i;

	if (!limits_find_pool(&limits->device, &cgroup->pools))
		return false;
	for (i = 0; i < limits->nr_limits; i++) {
		const char *key = limits->limits[i].key;

		slot = limits_find_slot(limits, cgroup, key);
		if (slot && (slot->has & POOL_BIT(POOL_MAX)))
			continue;
		list = limits_list_keys(limits, cgroup);
		say_error(key, "%s has no limit of that name here; there are: %s",
			  limits->device.name, list);
		free(list);
		return false;
	}
	return true;
}

char *limits_default_key(const struct cgroup *cgroup, const char *key)
{
	const struct slot *slot = NULL;
	const struct pool *pool;

	for (pool = cgroup->pools.first; pool && !slot; pool = pool->next)
		if (!pool->device.is_default)
			slot = pool_find(pool, key);
	return memory_format("%s%s", slot && slot->class == POOL_HW ? "hw:" : "", key);
}

/* The line of rdma.default, and the one that puts back what it changes. */
static bool limits_add_default(const struct limits *limits, struct transaction *change,
			       const struct cgroup *cgroup)
{
	const struct pool *before = pools_find(&cgroup->pools, &device_default);
	char *text = memory_string(limits->whole ? " max" : "");
	char *undo = memory_string("");
	bool good = before;
	uint64_t value;
	size_t i;

	if (!before)
		say_error(cgroup_name(cgroup),
			  "this kernel has no " POOL_FILE_DEFAULT "; limit each device");
	for (i = 0; i < limits->nr_limits && good; i++) {
		char *key = limits_default_key(cgroup, limits->limits[i].key);
		const struct slot *slot = pool_find(before, key);

		good = limits_value(limits, &limits->limits[i], &value);
		limits_append(&text, key, value);
		limits_append(&undo, key, slot ? slot->max : NUMBER_MAX);
		free(key);
	}
	for (i = 0; limits->whole && good && i < before->nr_slots; i++)
		limits_append(&undo, before->slots[i].key, before->slots[i].max);
	if (good)
		transaction_add(change, cgroup, POOL_FILE_DEFAULT, memory_format("%s\n", text + 1),
				memory_format("%s\n", *undo ? undo + 1 : "max"));
	free(text);
	free(undo);
	return good;
}

bool limits_add(const struct limits *limits, struct transaction *change,
		const struct cgroup *cgroup)
{
	enum pool_class class;

	if (limits->device.is_default)
		return limits_add_default(limits, change, cgroup);
	if (!limits_check_keys(limits, cgroup))
		return false;
	for (class = 0; class < POOL_CLASSES; class++) {
		if (limits->whole)
			limits_add_whole(limits, change, cgroup, class);
		else if (!limits_add_class(limits, change, cgroup, class))
			return false;
	}
	return true;
}
