// SPDX-License-Identifier: GPL-2.0
/*
 * Formulas of "rdmacg plan". They are texts of our own tables, evaluated in whole numbers
 * of 128 bits; each step is checked, and so is whether the result fits in 64, so that what
 * does not fit is an error and never a small limit.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "plan/plan.h"

/* A formula that is being read. The first fault stays. */
struct plan_reader {
	const char *at;
	const struct plan_vars *vars;
	enum plan_fault fault;
};

static unsigned __int128 plan_read_sum(struct plan_reader *reader);

static void plan_set_fault(struct plan_reader *reader, enum plan_fault fault)
{
	if (reader->fault == PLAN_FINE)
		reader->fault = fault;
}

static const uint64_t *plan_find(const struct plan_vars *vars, const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < vars->count; i++) {
		if (strlen(vars->var[i].name) == length && !memcmp(vars->var[i].name, name, length))
			return &vars->var[i].value;
	}
	return NULL;
}

void plan_set(struct plan_vars *vars, const char *name, uint64_t value)
{
	uint64_t *old = (uint64_t *)plan_find(vars, name, strlen(name));

	if (old) {
		*old = value;
		return;
	}
	if (vars->count == PLAN_VARS)
		abort();
	vars->var[vars->count].name = name;
	vars->var[vars->count++].value = value;
}

uint64_t plan_get(const struct plan_vars *vars, const char *name)
{
	const uint64_t *value = plan_find(vars, name, strlen(name));

	if (!value)
		abort();
	return *value;
}

/* Skip blanks; whether the next character is @c, which is skipped, too. */
static bool plan_read_char(struct plan_reader *reader, char c)
{
	while (*reader->at == ' ')
		reader->at++;
	if (*reader->at != c)
		return false;
	reader->at++;
	return true;
}

static void plan_expect(struct plan_reader *reader, char c)
{
	if (!plan_read_char(reader, c))
		plan_set_fault(reader, PLAN_NO_FORMULA);
}

static unsigned __int128 plan_divide(struct plan_reader *reader, unsigned __int128 a,
				     unsigned __int128 b, bool rest)
{
	if (!b) {
		plan_set_fault(reader, PLAN_BY_ZERO);
		return 0;
	}
	return rest ? a % b : a / b;
}

static unsigned __int128 plan_read_call(struct plan_reader *reader, const char *name,
					size_t length)
{
	unsigned __int128 a = plan_read_sum(reader);
	unsigned __int128 b;

	plan_expect(reader, ',');
	b = plan_read_sum(reader);
	plan_expect(reader, ')');
	if (length == 3 && !memcmp(name, "min", 3))
		return a < b ? a : b;
	if (length == 3 && !memcmp(name, "max", 3))
		return a > b ? a : b;
	if (length == 4 && !memcmp(name, "ceil", 4))
		return plan_divide(reader, a, b, false) + !!plan_divide(reader, a, b, true);
	plan_set_fault(reader, PLAN_NO_FORMULA);
	return 0;
}

static size_t plan_name_length(const char *text)
{
	size_t length = 0;

	if (isalpha((unsigned char)*text))
		while (isalnum((unsigned char)text[length]) || text[length] == '_')
			length++;
	return length;
}

static unsigned __int128 plan_read_name(struct plan_reader *reader, size_t length)
{
	const char *name = reader->at;
	const uint64_t *value;

	reader->at += length;
	if (plan_read_char(reader, '('))
		return plan_read_call(reader, name, length);
	value = plan_find(reader->vars, name, length);
	if (!value)
		plan_set_fault(reader, PLAN_NO_FORMULA);
	return value ? *value : 0;
}

static unsigned __int128 plan_read_factor(struct plan_reader *reader)
{
	unsigned __int128 value = 0;
	size_t length;

	if (plan_read_char(reader, '(')) {
		value = plan_read_sum(reader);
		plan_expect(reader, ')');
		return value;
	}
	length = plan_name_length(reader->at);
	if (length)
		return plan_read_name(reader, length);
	if (!isdigit((unsigned char)*reader->at))
		plan_set_fault(reader, PLAN_NO_FORMULA);
	while (isdigit((unsigned char)*reader->at))
		value = value * 10 + (uint64_t)(*reader->at++ - '0');
	return value;
}

static unsigned __int128 plan_read_product(struct plan_reader *reader)
{
	unsigned __int128 value = plan_read_factor(reader);

	for (;;) {
		if (plan_read_char(reader, '*')) {
			if (__builtin_mul_overflow(value, plan_read_factor(reader), &value))
				plan_set_fault(reader, PLAN_TOO_LARGE);
		} else if (plan_read_char(reader, '/')) {
			value = plan_divide(reader, value, plan_read_factor(reader), false);
		} else if (plan_read_char(reader, '%')) {
			value = plan_divide(reader, value, plan_read_factor(reader), true);
		} else {
			return value;
		}
	}
}

static unsigned __int128 plan_read_sum(struct plan_reader *reader)
{
	unsigned __int128 value = plan_read_product(reader);

	for (;;) {
		if (plan_read_char(reader, '+')) {
			if (__builtin_add_overflow(value, plan_read_product(reader), &value))
				plan_set_fault(reader, PLAN_TOO_LARGE);
		} else if (plan_read_char(reader, '-')) {
			if (__builtin_sub_overflow(value, plan_read_product(reader), &value))
				plan_set_fault(reader, PLAN_NEGATIVE);
		} else {
			return value;
		}
	}
}

enum plan_fault plan_evaluate(const char *formula, const struct plan_vars *vars, uint64_t *value)
{
	struct plan_reader reader = { .at = formula, .vars = vars };
	unsigned __int128 result = plan_read_sum(&reader);

	*value = result;
	if (result > UINT64_MAX)
		plan_set_fault(&reader, PLAN_TOO_LARGE);
	if (*reader.at)
		plan_set_fault(&reader, PLAN_NO_FORMULA);
	return reader.fault;
}

char *plan_in_numbers(const char *formula, const struct plan_vars *vars)
{
	/* A name becomes 20 digits at most. */
	size_t room = strlen(formula) * 20 + 1;
	char *numbers = memory_zeroed(room, 1);
	size_t at = 0;

	while (*formula) {
		size_t length = plan_name_length(formula);
		const uint64_t *value = length ? plan_find(vars, formula, length) : NULL;

		if (value)
			at += (size_t)snprintf(numbers + at, room - at, "%" PRIu64, *value);
		else
			at += (size_t)snprintf(numbers + at, room - at, "%.*s",
					       length ? (int)length : 1, formula);
		formula += length ? length : 1;
	}
	return numbers;
}
