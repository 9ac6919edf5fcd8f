// SPDX-License-Identifier: GPL-2.0
/*
 * Random input from a container runtime and a container. The limits of an accepted annotation are
 * written as a second annotation. Parsing the second annotation must give the same limits.
 */
#include "integration/oci-hook.c"

int oci_fuzz(const uint8_t *data, size_t size);

static void oci_write_value(FILE *out, const struct limit *limit)
{
	if (limit->percent)
		fprintf(out, " %s=%" PRIu64 ".%03" PRIu64 "%%", limit->key, limit->value / 1000,
			limit->value % 1000);
	else if (limit->value == UINT64_MAX)
		fprintf(out, " %s=max", limit->key);
	else
		fprintf(out, " %s=%" PRIu64, limit->key, limit->value);
}

static char *oci_write(const struct config *asked)
{
	size_t length, i, j;
	char *text;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		abort();
	for (i = 0; i < asked->nr_rules; i++) {
		const struct limits *limits = &asked->rules[i].limits;

		/* Not device_text(), which cuts a name that is too long for the kernel. */
		fprintf(out, limits->device.has_index ? "%s index=%u" : "%s", limits->device.name,
			limits->device.index);
		for (j = 0; j < limits->nr_limits; j++)
			oci_write_value(out, &limits->limits[j]);
		fputc(';', out);
	}
	fclose(out);
	return text;
}

/* Write the limits as an annotation and parse it: the limits must be the same. */
static void oci_check(const struct config *asked)
{
	struct config again = { 0 };
	char *first = oci_write(asked), *second;

	/* The annotation may be too long to be parsed, because its numbers have all decimals. */
	if (oci_parse_limits(&again, POLICY_ASKED, "annotation", first)) {
		second = oci_write(&again);
		if (strcmp(first, second))
			abort();
		free(second);
	} else if (strlen(first) <= 4096) {
		abort();
	}
	config_free(&again);
	free(first);
}

/*
 * Check only the requests. The rules after them are the share, which may have the same devices.
 */
static void oci_check_asked(struct config config)
{
	size_t count = config.nr_rules;

	for (config.nr_rules = 0; config.nr_rules < count; config.nr_rules++)
		if (strcmp(config.rules[config.nr_rules].section, POLICY_ASKED))
			break;
	if (config.nr_rules)
		oci_check(&config);
}

int oci_fuzz(const uint8_t *data, size_t size)
{
	struct json_object *object = oci_parse("input", (const char *)data, size);
	char *text = memory_format("%.*s", (int)size, (const char *)data);
	struct config asked = { 0 };
	const char *bundle;
	pid_t process;

	if (oci_parse_limits(&asked, POLICY_ASKED, "annotation", text))
		oci_check(&asked);
	config_free(&asked);
	bundle = object ? oci_take_state(object, &process) : NULL;
	if (bundle && (process <= 0 || *bundle != '/'))
		abort();
	if (object && oci_take_annotation(&asked, object) && oci_take_variables(&asked, object))
		oci_check_asked(asked);
	config_free(&asked);
	json_object_put(object);
	free(text);
	return 0;
}
