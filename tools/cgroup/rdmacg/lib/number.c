// SPDX-License-Identifier: GPL-2.0
/* rdmacg: numbers from text and to text, without overflow. */
#include "lib/lib.h"

static const char number_units[] = "KMGTPE";

bool number_parse(const char *text, size_t length, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	/* strtoull() also accepts blanks and a sign. */
	return isdigit((unsigned char)*text) && end == text + length && !errno;
}

bool number_parse_thousandths(const char *text, size_t length, uint64_t *value)
{
	const char *dot = memchr(text, '.', length);
	size_t whole = dot ? (size_t)(dot - text) : length;
	size_t rest = dot ? length - whole - 1 : 0;
	uint64_t fraction = 0;

	if (!number_parse(text, whole, value) || *value > UINT64_MAX / 1000 - 1 ||
	    (dot && (rest > 3 || !number_parse(dot + 1, rest, &fraction))))
		return false;
	for (; rest < 3; rest++)
		fraction *= 10;
	*value = *value * 1000 + fraction;
	return true;
}

uint64_t number_scale(uint64_t value, uint64_t by, uint64_t over)
{
	unsigned __int128 wide = (unsigned __int128)value * by / over;

	return wide > UINT64_MAX ? UINT64_MAX : (uint64_t)wide;
}

bool number_parse_human(const char *text, bool bytes, uint64_t *value)
{
	size_t length = strspn(text, "0123456789.");
	const char *unit = text + length;
	const char *found = strchr(number_units, toupper((unsigned char)*unit));
	uint64_t thousandths;

	if (!*unit)
		return number_parse(text, length, value) && *value <= NUMBER_LARGEST;
	/* "G", "Gi" and "GiB" are units, but "GB" is ambiguous. */
	if (!bytes || !found ||
	    (unit[1] && strcasecmp(unit + 1, "i") && strcasecmp(unit + 1, "ib")) ||
	    !number_parse_thousandths(text, length, &thousandths))
		return false;
	*value = number_scale(thousandths, 1024ULL << 10 * (found - number_units), 1000);
	return *value <= NUMBER_LARGEST;
}

uint64_t number_raise(uint64_t value, uint64_t thousandths)
{
	unsigned __int128 wide = 100000 + (unsigned __int128)thousandths;

	return min((value * wide + 99999) / 100000, NUMBER_LARGEST);
}

bool number_is_bytes(const char *key)
{
	size_t length = strlen(key);

	return length > 4 && !strcmp(key + length - 4, "_mem");
}

struct number_text number_text(uint64_t value, bool human)
{
	struct number_text text = { "max" };
	unsigned int shift = 0;
	uint64_t unit;

	while (human && value != NUMBER_MAX && value >> shift >= 1024)
		shift += 10;
	unit = (uint64_t)1 << shift;
	/*
	 * Print a whole number without a fraction, so that 1G looks as it was written. Round down,
	 * so that a number is never shown as larger than it is.
	 */
	if (shift)
		snprintf(text.s, sizeof(text.s), "%.*f%ciB", value % unit ? 1 : 0,
			 number_scale(value, 10, unit) / 10.0, number_units[shift / 10 - 1]);
	else if (value != NUMBER_MAX)
		snprintf(text.s, sizeof(text.s), "%" PRIu64, value);
	return text;
}
