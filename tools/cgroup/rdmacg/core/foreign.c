// SPDX-License-Identifier: GPL-2.0
/* rdmacg: how other software names cgroups. */
#include <ctype.h>

#include "core/core.h"

/* A complete id of a container has this number of digits in all runtimes. */
#define FOREIGN_ID_LENGTH 64

/* These patterns match the text before a word and behind a word. */
#define FOREIGN_BEFORE	"(^|[^[:alnum:]])"
#define FOREIGN_BEHIND	"([^[:alnum:]]|$)"

/*
 * Extended regular expressions for the last part of a name, or for the whole name in case of
 * FOREIGN_STEP. ~ stands for the typed text, ~i for the text and further digits of an id, ~u for
 * the text with "_" or "-" in place of each "-", and ~s for the output of systemd-escape(1).
 */
static const struct {
	enum foreign_kind kind;
	const char *pattern;
} foreign_shapes[] = {
	/* systemd writes "_" before names that a file of the kernel could have: rdma.service */
	{ FOREIGN_UNIT, "^_?~$" },
	/* docker, podman, containerd, CRI-O, by cgroupfs or systemd, with any prefix and suffix */
	{ FOREIGN_CONTAINER, FOREIGN_BEFORE "~i" FOREIGN_BEHIND },
	/* docker, podman, containerd and CRI-O, with ids of another length */
	{ FOREIGN_CONTAINER, "-~[^-]*\\.scope$" },
	{ FOREIGN_CONTAINER, "^~$" },
	/* LXC; systemd-nspawn; libvirt */
	{ FOREIGN_CONTAINER, "^lxc\\.payload\\.~$" },
	{ FOREIGN_CONTAINER, "^machine-~s\\.scope$" },
	{ FOREIGN_CONTAINER, "^machine-(qemu|lxc)\\\\x2d[0-9]+\\\\x2d~s\\.scope$" },
	/* the kubelet: kubepods-burstable-podUID.slice, podUID, and containerd's NAME:cri:ID */
	{ FOREIGN_POD, "pod~u([^[:alnum:]_-]|$)" },
	/* the monitors of podman and CRI-O */
	{ FOREIGN_MONITOR, FOREIGN_BEFORE "conmon-" },
	/* Slurm: the number of the job or, since 26.05, its SLUID in Crockford's base 32 */
	{ FOREIGN_STEP, "(^|/)(job_[0-9]+|s[0-9A-HJKMNP-TV-Z]{13})/step_[^/]+" },
};

/* A name without one of these suffixes is a service, as with systemctl. */
static const char * const foreign_suffixes[] = {
	".service", ".scope", ".slice", ".socket", ".mount", ".swap",
};

const char *foreign_skip_scheme(const char *id)
{
	const char *end = strstr(id, "://");

	return end ? end + strlen("://") : id;
}

static const char *foreign_suffix(enum foreign_kind kind, const char *text)
{
	size_t i, length = strlen(text);

	if (kind != FOREIGN_UNIT)
		return "";
	for (i = 0; i < ARRAY_SIZE(foreign_suffixes); i++) {
		size_t end = strlen(foreign_suffixes[i]);

		if (length > end && !strcmp(text + length - end, foreign_suffixes[i]))
			return "";
	}
	return ".service";
}

/* Write an expression that matches a character; foreign_shapes explains ~ and the letter @how. */
static void foreign_put(char **to, char character, char how)
{
	bool alike = how == 'u' && (character == '-' || character == '_');
	bool escaped = how == 's' && !isalnum((unsigned char)character) &&
		       !strchr(":_.", character);

	if (alike)
		memory_extend(to, "[-_]");
	else if (escaped)
		memory_extend(to, "\\\\x%02x", (unsigned char)character);
	else if (isalnum((unsigned char)character) || (unsigned char)character >= 0x80)
		memory_extend(to, "%c", character);
	else if (character == '^' || character == '\\')
		memory_extend(to, "\\%c", character);
	else
		memory_extend(to, "[%c]", character);
}

/*
 * The expression of @shape for @text, or NULL if @text does not fit. The caller frees the result.
 */
static char *foreign_pattern(const char *shape, const char *text)
{
	size_t length = strlen(text);
	char *pattern = NULL;

	if (strstr(shape, "~i") && (length > FOREIGN_ID_LENGTH ||
				    strspn(text, "0123456789abcdef") < length))
		return NULL;
	for (; *shape; shape++) {
		char how = *shape == '~' && strchr("ius", shape[1]) ? shape[1] : 0;
		const char *from = text;

		if (*shape != '~') {
			memory_extend(&pattern, "%c", *shape);
			continue;
		}
		while (*from)
			foreign_put(&pattern, *from++, how);
		if (how == 'i')
			memory_extend(&pattern, "[0-9a-f]{%zu}", FOREIGN_ID_LENGTH - length);
		shape += !!how;
	}
	return pattern;
}

void foreign_init(struct foreign *foreign, enum foreign_kind kind, const char *text)
{
	char *whole __autofree = memory_format("%s%s", text, foreign_suffix(kind, text));
	regex_t *regex;
	size_t i;

	memset(foreign, 0, sizeof(*foreign));
	for (i = 0; i < ARRAY_SIZE(foreign_shapes); i++) {
		char *pattern __autofree = foreign_shapes[i].kind != kind ? NULL :
			foreign_pattern(foreign_shapes[i].pattern, whole);

		if (!pattern)
			continue;
		regex = memory_append(&foreign->patterns, &foreign->nr_patterns, sizeof(*regex));
		if (regcomp(regex, pattern, REG_EXTENDED))
			foreign->nr_patterns--;
	}
}

bool foreign_matches(const struct foreign *foreign, const char *name)
{
	size_t i;

	for (i = 0; i < foreign->nr_patterns; i++)
		if (!regexec(&foreign->patterns[i], name, 0, NULL, 0))
			return true;
	return false;
}

size_t foreign_end(const struct foreign *foreign, const char *name)
{
	size_t found = 0;
	regmatch_t match;

	while (foreign->nr_patterns &&
	       !regexec(foreign->patterns, name + found, 1, &match, found ? REG_NOTBOL : 0))
		found += match.rm_eo;
	return found;
}

void foreign_free(struct foreign *foreign)
{
	size_t i;

	for (i = 0; i < foreign->nr_patterns; i++)
		regfree(&foreign->patterns[i]);
	free(foreign->patterns);
}
