// SPDX-License-Identifier: GPL-2.0
/* The model's files. test/model/write.c handles writes. */
#include <stdlib.h>

#include "replay-model.h"

/* The devices as the max file of the class shows them. */
static void list_devices(struct account *account, enum class class, struct model_device *devices)
{
	static const char *const names[DEVICES] = { [0] = "rxe0", [1] = "rxe1" };
	enum resource first = first_of_class[class];
	int device;

	for (device = 0; device < DEVICES; device++)
		devices[device] = (struct model_device) {
			.name = names[device],
			.index = device,
			.nr_keys = first_of_class[class + 1] - first,
			.keys = &resource_names[first],
			.max = &account->max[device][first],
			.own = &account->own[device][first],
		};
}

static void print_counter(FILE *stream, enum kind kind, const char *key,
			  const struct counter *counter)
{
	const __u64 *events = kind == EVENTS ? counter->events : counter->local;

	if (kind == CURRENT)
		fprintf(stream, " %s=%llu", key, counter->usage);
	else if (kind == PEAK)
		fprintf(stream, " %s=%llu", key, counter->peak);
	else
		fprintf(stream, " %s.max=%llu %s.alloc_fail=%llu", key, events[EVENT_MAX],
			key, events[EVENT_ALLOC_FAIL]);
}

static void print_counters(FILE *stream, enum kind kind, const struct model_device *device,
			   const struct counter *counters)
{
	unsigned int i;

	fputs(device->name, stream);
	for (i = 0; i < device->nr_keys; i++)
		print_counter(stream, kind, device->keys[i], &counters[i]);
	putc('\n', stream);
}

void account_print(struct account *account, int file, char *answer)
{
	FILE *stream = fmemopen(answer, ANSWER_SIZE, "w");
	enum class class = file / KINDS;
	struct model_device devices[DEVICES];
	enum kind kind = file % KINDS;
	int device;

	if (file == DEFAULT_FILE)
		model_print_defaults(stream, &account->defaults);
	else
		list_devices(account, class, devices);
	for (device = 0; file != DEFAULT_FILE && device < DEVICES; device++)
		if (kind == MAX)
			model_print(stream, &devices[device]);
		else
			print_counters(stream, kind, &devices[device],
				       &account->counters[device][first_of_class[class]]);
	if (fclose(stream))
		abort();
}

static int account_write_defaults(struct account *account, struct model_text text)
{
	int error = model_write_defaults(&account->defaults, text);
	struct model_device devices[DEVICES];
	enum class class;

	for (class = 0; !error && class < CLASSES; class++) {
		list_devices(account, class, devices);
		model_use_defaults(devices, DEVICES, (enum model_class)class, &account->defaults);
	}
	return error;
}

int account_write(struct account *account, int file, const char *text, size_t len)
{
	struct model_device devices[DEVICES];
	enum class class = file / KINDS;

	if (file == DEFAULT_FILE)
		return account_write_defaults(account, (struct model_text) { text, len });
	list_devices(account, class, devices);
	return model_write(devices, DEVICES, (enum model_class)class, &account->defaults,
			   (struct model_text) { text, len });
}
