// SPDX-License-Identifier: GPL-2.0
/* rdmacg: find the cgroup of a process, a unit or a container. */
#include <ctype.h>
#include <fnmatch.h>
#include <regex.h>

#include "core/core.h"

/* How a cgroup is selected: by a process, by its name, or by a name that other software gives. */
enum select_shape {
	SELECT_PROCESS,
	SELECT_CGROUP,
	SELECT_UNIT,
	SELECT_CONTAINER,
	SELECT_POD,
	/* A container's monitor, in a cgroup beside the cgroup of the container. */
	SELECT_MONITOR,
	/* A step of a Slurm job. The pattern is for the path of the cgroup, up to the step. */
	SELECT_STEP,
};

/* A complete id of a container has this number of digits in all runtimes. */
#define SELECT_ID_LENGTH 64

/* A shorter prefix of an id matches too many containers. */
#define SELECT_SHORTEST_ID 4

/* These patterns match the text before a word and after a word. */
#define SELECT_BEFORE	"(^|[^[:alnum:]])"
#define SELECT_BEHIND	"([^[:alnum:]]|$)"

/*
 * Extended regular expressions for the last part of a name, or for the whole name in case of
 * SELECT_STEP. ~ stands for the typed text, ~i for the text and further digits of an id, ~p for
 * the beginning of an id, ~u for the text with "_" or "-" in place of each "-", and ~s for the
 * output of systemd-escape(1).
 */
static const struct {
	enum select_shape shape;
	const char *pattern;
} select_shapes[] = {
	/* systemd writes "_" before names that a file of the kernel could have: rdma.service */
	{ SELECT_UNIT, "^_?~$" },
	/* docker, podman, containerd, CRI-O, by cgroupfs or systemd, with any prefix and suffix */
	{ SELECT_CONTAINER, SELECT_BEFORE "~i" SELECT_BEHIND },
	/* docker, podman, containerd and CRI-O, with ids of another length */
	{ SELECT_CONTAINER, "-~p[^-]*\\.scope$" },
	/* LXC, also by Proxmox, and a VM of Proxmox; systemd-nspawn; libvirt */
	{ SELECT_CONTAINER, "^~(\\.scope)?$" },
	{ SELECT_CONTAINER, "^lxc\\.payload\\.~$" },
	{ SELECT_CONTAINER, "^(machine-~s\\.scope|systemd-nspawn@~s\\.service)$" },
	{ SELECT_CONTAINER, "^machine-(qemu|lxc)\\\\x2d[0-9]+\\\\x2d~s\\.scope$" },
	{ SELECT_CONTAINER, "^(qemu|lxc)-[0-9]+-~\\.libvirt-(qemu|lxc)$" },
	/* the kubelet: kubepods-burstable-podUID.slice, podUID, and containerd's NAME:cri:ID */
	{ SELECT_POD, "pod~u([^[:alnum:]_-]|$)" },
	/* the monitors of podman and CRI-O */
	{ SELECT_MONITOR, SELECT_BEFORE "conmon-" },
	/* Slurm: the number of the job or, since 26.05, its SLUID in Crockford's base 32 */
	{ SELECT_STEP, "(^|/)(job_[0-9]+|s[0-9A-HJKMNP-TV-Z]{13})/step_[^/]+" },
};

/* A unit without one of these suffixes is a service, as with systemctl. */
#define SELECT_UNITS	"?*.@(service|scope|slice|socket|mount|swap)"

/* Write an expression that matches a character. @how is the letter after ~, or 0. */
static void select_put(char **to, char character, char how)
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
 * The expression of @shape for @text, or NULL if @text is not the needed id. The caller frees the
 * result.
 */
static char *select_pattern(const char *shape, const char *text)
{
	size_t length = strlen(text);
	bool is_id = strstr(shape, "~i");
	char *pattern = NULL;

	if (is_id && (length > SELECT_ID_LENGTH || strspn(text, "0123456789abcdef") < length))
		return NULL;
	if ((is_id || strstr(shape, "~p")) && length < SELECT_SHORTEST_ID)
		return NULL;
	for (; *shape; shape++) {
		char how = *shape == '~' && strchr("ipus", shape[1]) ? shape[1] : 0;
		const char *from = text;

		if (*shape != '~') {
			memory_extend(&pattern, "%c", *shape);
			continue;
		}
		while (*from)
			select_put(&pattern, *from++, how);
		if (how == 'i')
			memory_extend(&pattern, "[0-9a-f]{%zu}", SELECT_ID_LENGTH - length);
		shape += !!how;
	}
	return pattern;
}

/* Compile the patterns of a name. */
static void select_compile(regex_t *regex, enum select_shape shape, const char *text)
{
	char *all __autofree = NULL, *whole __autofree = NULL;
	bool service = shape == SELECT_UNIT && fnmatch(SELECT_UNITS, text, FNM_EXTMATCH);
	size_t i;

	whole = memory_format("%s%s", text, service ? ".service" : "");
	for (i = 0; i < ARRAY_SIZE(select_shapes); i++) {
		char *pattern __autofree = select_shapes[i].shape != shape ? NULL :
			select_pattern(select_shapes[i].pattern, whole);

		if (pattern)
			memory_extend(&all, "%s(%s)", all ? "|" : "", pattern);
	}
	if (regcomp(regex, all, REG_EXTENDED))
		say_failure(text, "is too long for a name");
}

size_t select_step_end(const char *name)
{
	size_t found = 0;
	regmatch_t match;
	regex_t step;

	select_compile(&step, SELECT_STEP, "");
	while (!regexec(&step, name + found, 1, &match, found ? REG_NOTBOL : 0))
		found += match.rm_eo;
	regfree(&step);
	return found;
}

static const char * const select_kinds[] = { "process", "cgroup", "unit", "container", "pod" };

static struct select {
	enum select_shape shape;
	const char *text;
	pid_t pid;
} *selects;

static size_t nr_selects;

static void select_add(const char *text, void *to)
{
	struct select *select = memory_append(selects, nr_selects);
	const char *scheme;
	uint64_t pid;

	select->shape = (const char **)to - (const char **)select_kinds;
	select->text = text;
	if (select->shape == SELECT_CONTAINER) {
		/* Skip the scheme that kubectl, podman and crictl print, such as docker://. */
		scheme = strstr(text, "://");
		select->text = scheme ? scheme + strlen("://") : text;
	}
	if (select->shape != SELECT_PROCESS)
		return;
	if (!number_parse(text, strlen(text), &pid) || !pid || pid > INT_MAX)
		say_and_exit(EXIT_USAGE, text, "is not the number of a process");
	select->pid = pid;
}

const struct choice select_choices[] = {
	{ "pid", 0, "the cgroup of a process", (void *)&select_kinds[SELECT_PROCESS], select_add,
	  "PID" },
	{ "unit", 0, "the cgroup of a unit of systemd", (void *)&select_kinds[SELECT_UNIT],
	  select_add, "UNIT" },
	{ "container", 0,
	  "the cgroup of a container, by a prefix of its id, or of a machine, by its name",
	  (void *)&select_kinds[SELECT_CONTAINER], select_add, "ID" },
	{ "pod", 0, "the cgroup of a pod of Kubernetes, by its uid",
	  (void *)&select_kinds[SELECT_POD], select_add, "UID" },
	{ 0 }
};

bool select_arguments(char **arguments)
{
	for (; *arguments; arguments++)
		select_add(*arguments, (void *)&select_kinds[SELECT_CGROUP]);
	return nr_selects;
}

static bool select_visit(const char *name, pid_t pid,
			 bool (*visit)(struct cgroup *cgroup, pid_t pid))
{
	struct cgroup *cgroup = cgroup_open(name);
	bool good = cgroup && visit(cgroup, pid);

	cgroup_close_path(cgroup);
	return good;
}

/* Search the tree for the cgroups of a name. */
static bool select_search(const struct select *select,
			  bool (*visit)(struct cgroup *cgroup, pid_t pid))
{
	struct walk walk = { 0 };
	regex_t wanted, monitors;
	bool found = false, good = true;
	struct cgroup *cgroup;

	select_compile(&wanted, select->shape, select->text);
	select_compile(&monitors, SELECT_MONITOR, "");
	while ((cgroup = walk_next(&walk))) {
		const char *base = cgroup_base(cgroup);

		if (regexec(&wanted, base, 0, NULL, 0) || !regexec(&monitors, base, 0, NULL, 0))
			continue;
		found = true;
		good &= select_visit(cgroup->name, 0, visit);
	}
	regfree(&wanted);
	regfree(&monitors);
	if (!found && select->shape == SELECT_CONTAINER &&
	    strlen(select->text) < SELECT_SHORTEST_ID)
		options_fail(select->text,
			     "no container has this name; type at least %d characters of an id",
			     SELECT_SHORTEST_ID);
	if (!found)
		return say_error(select->text,
				 "no cgroup below %s belongs to this %s; is it running?",
				 hierarchy.path, select_kinds[select->shape]);
	return good;
}

bool select_each(bool (*visit)(struct cgroup *cgroup, pid_t pid))
{
	const struct select *select;
	bool all = true;

	if (!nr_selects)
		return select_visit("", 0, visit);
	for (select = selects; select < selects + nr_selects; select++) {
		char *name __autofree = NULL;

		if (select->shape > SELECT_CGROUP) {
			all &= select_search(select, visit);
			continue;
		}
		name = select->shape == SELECT_PROCESS ? hierarchy_cgroup_of(select->pid) :
							 hierarchy_resolve(select->text);
		all &= name && select_visit(name, select->pid, visit);
	}
	return all;
}
