// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg save: the present limits as a file for apply. If nothing changes meanwhile, apply --check
 * finds no difference.
 */
#include "write/write.h"

static struct save {
	bool recursive, failed;
	size_t nr_cgroups;	/* number of cgroups that were printed */
	const struct pool *defaults;	/* of the cgroup that is printed, or NULL */
} save;

static const struct syntax save_syntax = {
	.choices = {
		{ "recursive", 'r', "also save the cgroups below", &save.recursive },
	},
	.lists = { select_choices }, .args_doc = "[CGROUP...]",
	.example = "rdmacg save > /etc/rdmacg.d/saved.conf",
	.doc =
		"Print the limits of cgroups and their defaults in the form that apply reads.\vWithout a CGROUP, save the whole tree. The kernel does not tell a device's own limit from a default, so a limit that equals the default is only saved as the default.",
};

/* A limit that differs from the default, or a default. */
static bool save_has(const struct slot *slot)
{
	const struct slot *other = slot->pool == save.defaults || !save.defaults ? NULL :
				   pool_find(save.defaults, slot->key);

	return slot->has & POOL_BIT(POOL_MAX) && slot->max != (other ? other->max : NUMBER_MAX);
}

static struct json_object *save_slot_json(const struct slot *slot)
{
	return json_pack("resource:s limit:l", slot->key, slot->max);
}

static void save_print_pool(const struct pool *pool)
{
	char *name __autofree = pool->device.is_default ? memory_string(device_default.name) :
							  config_pattern(pool->device.name);
	char *line = NULL;
	size_t i;

	if (pool->device.has_index)
		memory_extend(&name, " index=%u", pool->device.index);
	for (i = 0; i < pool->nr_slots; i++)
		if (save_has(&pool->slots[i]))
			memory_extend(&line, " %s=%s", pool->slots[i].key,
				      number_text(pool->slots[i].max, false).s);
	if (line)
		say_line("%s%s", name, line);
	free(line);
}

/*
 * The section of a cgroup, or NULL after a printed error. apply undoes escapes of bytes that cannot
 * be printed, so the section "a\x0ab" also matches a cgroup whose name has a backslash.
 */
static char *save_section(const struct cgroup *cgroup)
{
	char *printed __autofree = NULL, *other __autofree = NULL;
	char *pattern = config_pattern(cgroup->name), *from, *to;

	printed = text_escape(pattern);
	other = text_escape(pattern);
	for (from = to = other; *from; from++) {
		bool bracket = *from == '[' && from[1] && from[2] == ']';

		*to++ = from[bracket];
		from += bracket ? 2 : 0;
	}
	*to = '\0';
	if (!strcmp(printed, pattern) || !file_exists(hierarchy.dir, other))
		return pattern;
	say_error(cgroup_name(cgroup),
		  "no section of a file matches only this cgroup, because %s also exists", other);
	free(pattern);
	return NULL;
}

static void save_cgroup(const struct cgroup *cgroup)
{
	char *section __autofree = NULL;
	const struct pool *pool = cgroup->pools.first;
	const struct slot *slot = NULL;

	save.defaults = pools_find(&cgroup->pools, &device_default);
	while ((slot = pools_next(&cgroup->pools, slot)) && !save_has(slot))
		;
	if (slot && !cgroup->parent)
		say_warning("/", "has limits, but a file of limits cannot have the root");
	section = slot && cgroup->parent ? save_section(cgroup) : NULL;
	save.failed |= slot && cgroup->parent && !section;
	if (!section)
		return;
	if (options.json) {
		json_print_element(stdout, "cgroups", save.nr_cgroups++,
				   json_pack("cgroup:s devices:o", cgroup_name(cgroup),
					     pools_json(&cgroup->pools, save_has, save_slot_json)));
		return;
	}
	if (save.nr_cgroups++)
		say_line("%s", "");
	say_line("[%s]", section);
	/* apply compares "KEY=max" with the default, so the default comes first. */
	if (save.defaults)
		save_print_pool(save.defaults);
	for (; pool; pool = pool->next)
		if (pool != save.defaults)
			save_print_pool(pool);
}

static bool save_target(struct cgroup *cgroup, pid_t pid)
{
	struct walk walk = { .top = cgroup, .files = POOL_BIT(POOL_MAX) };

	while ((cgroup = walk_next(&walk))) {
		save_cgroup(cgroup);
		walk.stop = !save.recursive;
	}
	return !walk.failed && !save.failed;
}

int cmd_save(int argc, char **argv)
{
	bool done;

	save.recursive |= !select_arguments(options_read(&save_syntax, argc, argv));
	hierarchy_open(EXIT_FAILED);
	done = select_each(save_target);
	if (options.json)
		json_print_rest(stdout, "cgroups", save.nr_cgroups,
				json_pack("root:s", hierarchy.path));
	return done ? EXIT_DONE : EXIT_FAILED;
}
