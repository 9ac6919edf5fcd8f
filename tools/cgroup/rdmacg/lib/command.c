// SPDX-License-Identifier: GPL-2.0
/* rdmacg: tables of commands. */
#include "lib/lib.h"

/* The number of letters to replace, insert or delete to turn @a into @b. */
static size_t command_distance(const char *a, const char *b)
{
	size_t best;

	if (!*a || !*b)
		return strlen(a) + strlen(b);
	if (*a == *b)
		return command_distance(a + 1, b + 1);
	best = min(command_distance(a + 1, b), command_distance(a, b + 1));
	return 1 + min(best, command_distance(a + 1, b + 1));
}

/* Suggest the most similar command, if there is a similar one. */
static void command_say_unknown(const struct syntax *syntax, const char *by, const char *name)
{
	const struct command *command, *closest = NULL;
	size_t least = 3, distance;

	/* Skip long names, because the search takes exponential time in the length. */
	for (command = syntax->commands; command->name && strlen(name) <= 10; command++) {
		distance = command_distance(name, command->name);
		if (distance >= least || distance >= strlen(name))
			continue;
		least = distance;
		closest = command;
	}
	if (closest)
		say_error(name, "there is no such %s; did you mean %s?", syntax->kind,
			  closest->name);
	else
		say_error(name, "there is no such %s; %s --help lists them", syntax->kind, by);
}

int command_run(const struct syntax *syntax, const char *by, char **words)
{
	const struct command *command = syntax->commands;
	char *name = words[0];
	int argc = 0, status;

	while (command->name && strcmp(command->name, name))
		command++;
	if (!command->name) {
		command_say_unknown(syntax, by, name);
		return EXIT_USAGE;
	}
	while (words[argc])
		argc++;
	words[0] = memory_format("%s %s", by, name);
	status = command->run(argc, words);
	free(words[0]);
	words[0] = name;
	return status;
}
