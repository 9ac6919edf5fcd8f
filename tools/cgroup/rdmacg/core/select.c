// SPDX-License-Identifier: GPL-2.0
/* rdmacg: the cgroups, devices and resources that options select. */
#include <fnmatch.h>
#include <locale.h>

#include "core/core.h"

/* How a cgroup is selected: by a process, by its name, or by a name that other software gives. */
enum select_shape {
	SELECT_PROCESS, SELECT_CGROUP, SELECT_UNIT, SELECT_CONTAINER, SELECT_POD,
	SELECT_MACHINE,		/* also for a container */
};

/* libvirt cuts the name of a machine, with its prefix such as "qemu-3-", at this length. */
#define SELECT_MACHINE_LONGEST 64

/* A shorter prefix of an id matches too many containers. */
#define SELECT_LEAST_ID 4

/* Extended regular expressions for the last part of a cgroup's name. */
static struct select_form {
	enum select_shape shape;
	unsigned int group;
	bool is_id;	/* the group is an id, whose beginning is enough */
	const char *pattern;
	regex_t regex;
} select_forms[] = {
	/* systemd writes "_" before names that a file of the kernel could have: rdma.service */
	{ SELECT_UNIT, 1, false, "^(.*)$" },
	{ SELECT_UNIT, 1, false, "^_(.*)$" },
	/* docker, podman, containerd, CRI-O, by cgroupfs or systemd, with any prefix and suffix */
	{ SELECT_CONTAINER, 2, true, "(^|[^[:alnum:]])([0-9a-f]{64})([^[:alnum:]]|$)" },
	/* docker, podman, containerd and CRI-O, with ids of another length */
	{ SELECT_CONTAINER, 1, true, "-([^-]*)\\.scope$" },
	/* LXC, also by Proxmox, and a VM of Proxmox; systemd-nspawn; libvirt */
	{ SELECT_CONTAINER, 1, false, "^(.*)$" },
	{ SELECT_CONTAINER, 1, false, "^(.*)\\.scope$" },
	{ SELECT_CONTAINER, 1, false, "^lxc\\.payload\\.(.*)$" },
	{ SELECT_CONTAINER, 1, false, "^machine-(.*)\\.scope$" },
	{ SELECT_CONTAINER, 1, false, "^systemd-nspawn@(.*)\\.service$" },
	{ SELECT_CONTAINER, 2, false, "^machine-(qemu|lxc|ch)\\\\x2d[0-9]+\\\\x2d(.*)\\.scope$" },
	{ SELECT_CONTAINER, 2, false, "^(qemu|lxc)-[0-9]+-(.*)\\.libvirt-(qemu|lxc)$" },
	/* the kubelet: kubepods-burstable-podUID.slice, podUID, and containerd's NAME:cri:ID */
	{ SELECT_POD, 1, false, "pod([[:xdigit:]_-]+)([^[:alnum:]_-]|$)" },
	{ SELECT_POD, 2, true, "(^|libpod_pod_)([0-9a-f]{64})" },
};

/* The monitors of podman and CRI-O, in a cgroup beside the cgroup of the container. */
#define SELECT_MONITOR	"?(*[!a-zA-Z0-9])conmon-*"

/* A unit without one of these suffixes is a service, or else a scope or a slice. */
#define SELECT_UNITS	"?*.@(service|scope|slice|socket|mount|swap)"

/* Compile in the C locale, in which "." also matches a byte that is not UTF-8. */
static void select_compile(struct select_form *form)
{
	locale_t before = uselocale(memory_check(newlocale(LC_CTYPE_MASK, "C", NULL)));

	if (regcomp(&form->regex, form->pattern, REG_EXTENDED))
		abort();
	freelocale(uselocale(before));
}

/* Whether @base, the last part of a cgroup's name, has the given name or the beginning of an id. */
static bool select_matches(enum select_shape shape, const char *name, const char *base)
{
	struct select_form *form, *end = select_forms + ARRAY_SIZE(select_forms);
	size_t length = strlen(name), room;
	regmatch_t matches[4], *match;

	/* Expressions take time, and most cgroups have other names. */
	if (!*name || !strstr(base, name) ||
	    (shape == SELECT_CONTAINER && !fnmatch(SELECT_MONITOR, base, FNM_EXTMATCH)))
		return false;
	for (form = select_forms; form < end; form++) {
		if (!form->regex.re_nsub)
			select_compile(form);
		if (form->shape != shape ||
		    regexec(&form->regex, base, ARRAY_SIZE(matches), matches, 0))
			continue;
		match = &matches[form->group];
		room = match->rm_eo - match->rm_so;
		if (!strncmp(base + match->rm_so, name, length) &&
		    (form->is_id ? length >= SELECT_LEAST_ID && length <= room : length == room))
			return true;
	}
	return false;
}

/*
 * Escape a container's name as systemd-escape(1) does. In a pod's uid, swap "-" and "_". libvirt
 * keeps only the letters and digits of a machine's name, and one "-" or "." between two of them. It
 * stops at @most characters.
 */
static char *select_respell(const char *name, enum select_shape shape, size_t most)
{
	char *respelt = memory_zeroed(strlen(name) * 4 + 1, 1);
	char *to = respelt, *end = respelt;

	for (; *name && (size_t)(to - respelt) < most; name++) {
		bool letter = isalnum((unsigned char)*name), plain = letter || strchr(":_.", *name);
		bool is_machine = shape == SELECT_MACHINE;
		bool between = strchr("-.", *name) && end > respelt && to == end;

		if (shape == SELECT_POD && strchr("-_", *name))
			*to++ = *name == '-' ? '_' : '-';
		else if (!is_machine || letter || between)
			to += sprintf(to, plain || is_machine ? "%c" : "\\x%02x",
				      (unsigned char)*name);
		if (!is_machine || letter)
			end = to;
	}
	*end = '\0';
	return respelt;
}

/* Whether @base is the cgroup of libvirt's machine @name, by systemd or without it. */
static bool select_is_machine(const char *name, const char *base)
{
	char *copy __autofree = memory_string(base), *wanted __autofree = NULL;
	char *machine = strncmp(copy, "machine-", 8) ? copy : copy + 8, *dash;
	char kind[5];
	int length = 0;

	if (!strstr(base, machine == copy ? ".libvirt-" : ".scope"))
		return false;
	/* systemd escapes each "-" in the name of a machine. */
	while ((dash = strstr(machine, "\\x2d"))) {
		*dash = '-';
		memmove(dash + 1, dash + 4, strlen(dash + 4) + 1);
	}
	*strrchr(machine, '.') = '\0';
	if (sscanf(machine, "%4[a-z]-%*u-%n", kind, &length) != 1 || !length ||
	    !hierarchy_has_word("qemu lxc ch", kind))
		return false;
	wanted = select_respell(name, SELECT_MACHINE, max(0, SELECT_MACHINE_LONGEST - length));
	return *wanted && !strcmp(machine + length, wanted);
}

static struct select {
	enum select_shape shape;
	const char *text;
	pid_t pid;
} *selects;

static size_t nr_selects;

static void select_add(const char *text, void *to)
{
	struct select *select = memory_append(selects, nr_selects);
	/* kubectl, podman and crictl print a scheme before an id, such as docker://. */
	const char *scheme = strstr(text, "://");
	uint64_t pid = 0;

	select->shape = (uintptr_t)to;
	select->text = select->shape == SELECT_CONTAINER && scheme ? scheme + 3 : text;
	/* The root slice of systemd is the root. */
	if (select->shape == SELECT_UNIT && !strcmp(text, "-.slice"))
		*select = (struct select){ SELECT_CGROUP, "/" };
	if (select->shape == SELECT_PROCESS &&
	    (!number_parse(text, strlen(text), &pid) || !pid || pid > INT_MAX))
		say_and_exit(EXIT_USAGE, text, "is not the number of a process");
	select->pid = pid;
}

const struct choice select_choices[] = {
	{ "pid", 0, "the cgroup of a process", (void *)SELECT_PROCESS, "PID", select_add },
	{ "unit", 0, "the cgroup of a systemd unit", (void *)SELECT_UNIT, "UNIT", select_add },
	{ "container", 0,
	  "the cgroup of a container, by a prefix of its id, or of a machine, by its name",
	  (void *)SELECT_CONTAINER, "ID", select_add },
	{ "pod", 0, "the cgroup of a pod of Kubernetes, by its uid", (void *)SELECT_POD,
	  "UID", select_add },
	{ 0 }
};

bool select_arguments(char **arguments)
{
	for (; *arguments; arguments++)
		select_add(*arguments, (void *)SELECT_CGROUP);
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

/* Search the tree for the cgroups of a name and @suffix. */
static bool select_search(const struct select *select, const char *suffix,
			  bool (*visit)(struct cgroup *cgroup, pid_t pid))
{
	char *name __autofree = NULL, *other __autofree = NULL;
	bool is_unit = select->shape == SELECT_UNIT, found = false, good = true;
	bool bare = is_unit && fnmatch(SELECT_UNITS, select->text, FNM_EXTMATCH);
	struct walk walk = { 0 };
	struct cgroup *cgroup;

	name = memory_format("%s%s", select->text, bare ? suffix : "");
	other = select_respell(name, select->shape, SIZE_MAX);
	while ((cgroup = walk_next(&walk))) {
		const char *base = basename(cgroup->name);

		/* Proxmox has the monitor of a container in lxc.monitor/ID. */
		cgroup->leave_below = !is_unit && !strncmp(base, "lxc.monitor", 11);
		if (!select_matches(select->shape, name, base) &&
		    (is_unit || !select_matches(select->shape, other, base)) &&
		    (select->shape != SELECT_CONTAINER ||
		     !select_is_machine(name, base)))
			continue;
		found = true;
		good &= select_visit(cgroup->name, 0, visit);
	}
	if (!found && select->shape == SELECT_CONTAINER && strlen(select->text) < SELECT_LEAST_ID)
		options_fail(select->text,
			     "no container has this name; type at least %d characters of an id",
			     SELECT_LEAST_ID);
	/* Sessions and users of systemd have the other suffixes: session-3.scope */
	if (!found && bare && strcmp(suffix, ".slice"))
		return select_search(select, strcmp(suffix, ".scope") ? ".scope" : ".slice", visit);
	if (!found)
		return say_error(select->text,
				 "no cgroup below %s belongs to this %s; is it running?",
				 hierarchy.path, select_choices[select->shape - 1].name);
	return good && !walk.failed;
}

bool select_each(bool (*visit)(struct cgroup *cgroup, pid_t pid))
{
	const struct select *select;
	bool all = nr_selects || select_visit("", 0, visit);

	for (select = selects; select < selects + nr_selects; select++) {
		char *name __autofree = NULL;

		if (select->shape > SELECT_CGROUP) {
			all &= select_search(select, ".service", visit);
			continue;
		}
		name = select->shape == SELECT_PROCESS ? hierarchy_cgroup_of(select->pid) :
							 hierarchy_resolve(select->text);
		all &= name && select_visit(name, select->pid, visit);
	}
	return filter_check(&filter_devices) && filter_check(&filter_keys) && all;
}

/* The first cgroup that select_one() has found, and then another one. */
static char *select_found, *select_other;

static bool select_note(struct cgroup *cgroup, pid_t pid)
{
	char **to = select_found ? &select_other : &select_found;

	if (!*to && !(select_found && !strcmp(select_found, cgroup->name)))
		*to = memory_string(cgroup->name);
	return true;
}

struct cgroup *select_one(void)
{
	if (!select_each(select_note))
		return NULL;
	if (!select_other)
		return cgroup_open(select_found);
	say_error(NULL, "%s and %s are selected; select one cgroup", select_found, select_other);
	return NULL;
}

/* Patterns, valid until the program ends. Without patterns, all names match. */
struct filter {
	struct filter_pattern {
		const char *text;
		char *escaped;	/* as the kernel's files show the name of a device */
		bool used;
	} *patterns;
	size_t nr_patterns;
};

struct filter filter_devices, filter_keys;

static void filter_add(const char *text, void *to)
{
	struct filter *filter = to;

	*memory_append(filter->patterns, filter->nr_patterns) =
		(struct filter_pattern){ text, device_escape(text) };
}

const struct choice filter_choices[] = {
	{ "device", 0, "only this device, or devices that match a pattern", &filter_devices,
	  "NAME", filter_add },
	{ "resource", 0, "only this resource, or resources that match a pattern", &filter_keys,
	  "KEY", filter_add },
	{ 0 }
};

bool filter_has(const struct filter *filter, const char *name)
{
	struct filter_pattern *end = filter->patterns + filter->nr_patterns, *pattern;
	bool found = !filter->nr_patterns;

	for (pattern = filter->patterns; pattern < end; pattern++) {
		if (fnmatch(pattern->text, name, FNM_NOESCAPE) &&
		    fnmatch(pattern->escaped, name, FNM_NOESCAPE))
			continue;
		pattern->used = true;
		found = true;
	}
	return found;
}

bool filter_check(const struct filter *filter)
{
	const char *what = filter == &filter_devices ? "device" : "resource";
	bool good = true;
	size_t i;

	for (i = 0; i < filter->nr_patterns; i++)
		if (!filter->patterns[i].used)
			good = say_error(filter->patterns[i].text, "no %s matches this now", what);
	return good;
}
