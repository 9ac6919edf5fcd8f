// SPDX-License-Identifier: GPL-2.0
/* rdmacg: files of limits. */
#include <fnmatch.h>
#include <glob.h>

#include "write/write.h"

/* Some editors end each line with \r. */
#define CONFIG_BLANKS	" \t\r\n"

/* The bracket that ends a section, at the end of the line or before a comment. */
static char *config_section_end(char *text)
{
	char *end = text;

	while (*end && !(*end == '#' && strchr(CONFIG_BLANKS, end[-1])))
		end++;
	while (strchr(CONFIG_BLANKS, end[-1]))
		end--;
	return end[-1] == ']' ? end - 1 : NULL;
}

bool config_add(struct config *config, const char *section, const char *where, char *text)
{
	char **words __autofree = NULL;
	struct rule *rule;
	size_t count = 0;
	bool good;
	char *word;

	while ((word = strsep(&text, CONFIG_BLANKS)) && *word != '#')
		if (*word)
			*memory_append(words, count) = word;
	if (!count)
		return true;
	rule = memory_append(config->rules, config->nr_rules);
	rule->where = memory_string(where);
	rule->section = memory_string(section);
	say_place = where;
	good = count == 1 && strchr(words[0], ':') ?
		limits_parse_option(&rule->limits, words[0]) :
		limits_parse(&rule->limits, words[0], words + 1, count - 1);
	say_place = NULL;
	if (good && config->by_key && rule->limits.whole)
		return say_error(where, "write each limit as KEY=VALUE, such as qp=100");
	return good;
}

bool config_check_repeats(const struct config *config)
{
	const struct rule *rule = config->rules;
	const struct rule *last = config->nr_rules ? rule + config->nr_rules - 1 : rule;
	size_t i;

	for (; rule < last; rule++)
		for (i = 0; i < last->limits.nr_limits; i++)
			if (!strcmp(rule->section, last->section) &&
			    device_is_same(&rule->limits.device, &last->limits.device) &&
			    limits_find(&rule->limits, last->limits.limits[i].key))
				return say_error(last->where, "%s: a key of %s occurs twice",
						 last->limits.limits[i].key,
						 last->limits.device.name);
	return true;
}

/* Take a line of limits, or the pattern of a line such as "[tenants/a]". */
static bool config_take_line(struct config *config, char **section, const char *where, char *text,
			     size_t length)
{
	char *end = text + length;
	const char *below;

	if (strlen(text) != length)
		return say_error("line", "has a NUL character");
	text += strspn(text, CONFIG_BLANKS);
	while (end > text && strchr(CONFIG_BLANKS, end[-1]))
		*--end = '\0';
	if (!*text || *text == '#')
		return true;
	end = config_section_end(text);
	/* A line that begins with a bracket may also have limits for a pattern of devices. */
	if (*text != '[' || (!end && strpbrk(text, "=: \t"))) {
		if (*section)
			return config_add(config, *section, where, text);
		return say_error(text, "a limit before the first [CGROUP]; write one above it");
	}
	free(*section);
	*section = NULL;
	if (!end)
		return say_error(text, "is not a section; write [CGROUP] on a line of its own");
	*end = '\0';
	below = hierarchy_below(text + 1, hierarchy_mount());
	*section = hierarchy_clean(below ? below : text + 1);
	if (!*section)
		return say_error(text + 1, "a cgroup's name cannot have .. in it");
	if (cgroup_say_file(*section)) {
		free(*section);
		*section = NULL;
		return false;
	}
	if (!**section)
		return say_error("[]", "the root cannot have limits; give a cgroup below it");
	return true;
}

static bool config_read_file(struct config *config, const char *name)
{
	char *line __autofree = NULL, *section __autofree = NULL;
	FILE *from = strcmp(name, "-") ? fopen(name, "re") : fdopen(dup(STDIN_FILENO), "r");
	unsigned int number = 0;
	bool good = true;
	size_t room = 0;
	ssize_t length;

	if (!from)
		return say_error(name, "%s; %s or name another FILE", strerror(errno),
				 errno == EACCES ? "run as root" : "create it");
	/* Stop at a malformed section. Otherwise each of its lines would repeat the error. */
	while ((good || section) && (length = getline(&line, &room, from)) >= 0) {
		char *where __autofree = memory_format("%s:%u", name, ++number);

		say_place = where;
		good &= config_take_line(config, &section, where, line, length);
		say_place = NULL;
	}
	/* Without memory, getline() fails before the end, but the stream has no error. */
	if ((good || section) && !feof(from))
		good = say_error(name, "%s", strerror(errno));
	fclose(from);
	return good;
}

bool config_read(struct config *config, char * const *files)
{
	char *folder __autofree = memory_format("%s/", config_folder());
	char *pattern __autofree = memory_format("%s*.conf", folder);
	glob_t found = { 0 };
	bool good = true;

	if (!*files) {
		if (access(folder, R_OK | X_OK))
			return say_error(config_folder(), "%s; %s or name a FILE", strerror(errno),
					 errno == EACCES ? "run as root" : "create it");
		glob(pattern, 0, NULL, &found);
		files = found.gl_pathv;
	}
	while (files && *files)
		good &= config_read_file(config, *files++);
	globfree(&found);
	if (!good)
		config_free(config);
	return good;
}

void config_free(struct config *config)
{
	while (config->nr_rules) {
		struct rule *rule = &config->rules[--config->nr_rules];

		free(rule->section);
		free(rule->where);
		limits_free(&rule->limits);
	}
	free(config->rules);
	memset(config, 0, sizeof(*config));
}

/*
 * A backslash means itself, because systemd writes backslashes into the names of units. So write
 * [*], [?] and [[] for the characters *, ? and [. A pattern also matches a leading dot, because
 * otherwise a user could choose a name without limits. A pattern never matches a slash, because
 * otherwise a user could create a deeper cgroup that matches the pattern for other cgroups.
 */
static bool config_matches(const char *pattern, const char *name)
{
	return !fnmatch(pattern, name, FNM_NOESCAPE | FNM_PATHNAME);
}

char *config_pattern(const char *name)
{
	char *pattern = memory_zeroed(strlen(name) * 3 + 1, 1);
	char *to = pattern;

	/*
	 * "default", # and = would have other meanings: write [d]efault, [#] and [=]. The backslash
	 * of an escape would also match the byte that the escape stands for: write [\].
	 */
	if (!strcmp(name, device_default.name))
		to += sprintf(to, "[%c]", *name++);
	for (; *name; name++)
		to += sprintf(to, strchr("*?[#=", *name) || text_escaped_byte(name) ? "[%c]" : "%c",
			      *name);
	return pattern;
}

static enum config_match config_match_pattern(char *pattern, const char *name)
{
	char *rest = pattern;
	const char *level;

	/* Cut the part of the pattern for levels below @name. */
	for (level = name; level && rest; level = strchr(level + 1, '/'))
		rest = strchr(rest + 1, '/');
	if (rest)
		*rest = '\0';
	if (!config_matches(pattern, name))
		return CONFIG_NONE;
	return rest ? CONFIG_BELOW : CONFIG_SELF;
}

enum config_match config_match_cgroup(const struct rule *rule, const char *name)
{
	char *written __autofree = memory_string(rule->section);
	char *raw __autofree = memory_string(rule->section);
	enum config_match match = *name ? config_match_pattern(written, name) : CONFIG_BELOW;

	/* A name may contain text that looks like an escape of show, so undo escapes only now. */
	text_unescape(raw);
	return match == CONFIG_NONE ? config_match_pattern(raw, name) : match;
}

bool config_match_device(const struct rule *rule, const struct device *device)
{
	const struct device *pattern = &rule->limits.device;

	if (device->is_default || pattern->is_default)
		return device->is_default && pattern->is_default;
	/* A tenant chooses the name of a device elsewhere, so it needs a pattern or an index. */
	if (device->is_namesake && !pattern->has_index && !strcmp(pattern->name, device->name))
		return false;
	return (!pattern->has_index || !device->has_index || pattern->index == device->index) &&
	       config_matches(pattern->name, device->name);
}

const struct rule *config_look_up(const struct config *config, const char *section,
				  const struct device *device, const char *key)
{
	const struct rule *rule = config->rules, *found = NULL;
	bool own = false;

	for (; rule < config->rules + config->nr_rules; rule++) {
		bool matches = config_match_device(rule, device);

		if (strcmp(rule->section, section) ||
		    !(rule->limits.whole || limits_find(&rule->limits, key)))
			continue;
		if (matches || (!own && rule->limits.device.is_default))
			found = rule;
		own |= matches;
	}
	return found;
}

const struct pool *config_find_pool(const struct rule *rule, const struct pools *pools)
{
	const struct pool *pool = pools->first;

	while (pool && !config_match_device(rule, &pool->device))
		pool = pool->next;
	return pool;
}
