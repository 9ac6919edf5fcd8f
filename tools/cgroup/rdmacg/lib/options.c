// SPDX-License-Identifier: GPL-2.0
/* rdmacg: commands and their options. */
#include <ctype.h>

#include "lib/lib.h"

/* The keys of options without a letter are above this number. */
#define OPTIONS_KEY 257

struct options options;

/* The state while a syntax is parsed. */
struct reading {
	const struct syntax *syntax;
	/* The choices of all lists, and the same choices for argp. */
	const struct choice **choices;
	size_t nr_choices;
	struct argp_option *options;
	size_t nr_options;
	char **args;
};

/* The state of argp while an option is taken. */
static struct argp_state *options_state;

/* --help, or --usage if @to is NULL. */
static void options_take_help(const char *text, void *to)
{
	argp_state_help(options_state, stdout,
			to ? ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK : ARGP_HELP_USAGE);
	exit(say_finish() ? EXIT_DONE : EXIT_FAILED);
}

static const struct choice options_common[] = {
	{ "json", 'j', "JSON instead of text", &options.json },
	{ "pretty", 'p', "JSON on several lines", &options.pretty },
	{ "help", 'h', "this text", &options, options_take_help },
	{ "usage", 0, "a short list of all options", NULL, options_take_help },
	{ 0 }
};

/* glibc prints an unknown option as it is, so refuse an option that needs escapes before that. */
static void options_check(char * const *words, bool in_order)
{
	for (words++; *words && strcmp(*words, "--") && !(in_order && **words != '-'); words++) {
		char *name __autofree = strndup(*words, strcspn(*words, "="));
		char *escaped __autofree = text_escape(memory_check(name));

		if (**words == '-' && strcmp(name, escaped))
			options_fail(*words, "there is no such option");
	}
}

static void options_add(struct reading *reading, const struct choice *list, int group)
{
	struct argp_option *option;

	for (; list && list->name; list++) {
		*memory_append(reading->choices, reading->nr_choices) = list;
		option = memory_append(reading->options, reading->nr_options);
		*option = (struct argp_option){
			.name = list->name, .arg = list->arg, .doc = list->help, .group = group,
			.key = list->letter ? list->letter : OPTIONS_KEY + (int)reading->nr_options,
		};
	}
}

static error_t options_take(int key, char *arg, struct argp_state *state)
{
	struct reading *reading = state->input;
	size_t i = 0;

	if (key == ARGP_KEY_ARGS && reading->syntax->args_doc &&
	    !(reading->syntax->single && state->argc - state->next > 1)) {
		reading->args = state->argv + state->next;
		return 0;
	}
	if (key == ARGP_KEY_NO_ARGS && reading->syntax->needs)
		options_fail(strrchr(state->argv[0], ' ') + 1, "%s", reading->syntax->needs);
	while (i < reading->nr_choices && key != reading->options[i].key)
		i++;
	if (i == reading->nr_choices)
		return ARGP_ERR_UNKNOWN;
	options_state = state;
	if (reading->choices[i]->take)
		reading->choices[i]->take(arg, reading->choices[i]->to);
	else
		*(bool *)reading->choices[i]->to = true;
	return 0;
}

static char *options_help(int key, const char *text, void *input)
{
	const struct syntax *syntax = ((struct reading *)input)->syntax;
	const struct command *command = syntax->commands;
	char *help = NULL;

	if (key != ARGP_KEY_HELP_POST_DOC || !command)
		return (char *)text;
	memory_extend(&help, "%c%ss:\n", toupper(*syntax->kind), syntax->kind + 1);
	for (; command->name; command++)
		memory_extend(&help, "  %-10s %s\n", command->name, command->help);
	memory_extend(&help, "\n%s", text);
	return help;
}

char **options_read(const struct syntax *syntax, int argc, char **argv)
{
	struct reading reading = { .syntax = syntax, .args = argv + argc };
	struct argp argp = {
		.parser = options_take, .args_doc = syntax->args_doc, .doc = syntax->doc,
		.help_filter = options_help,
	};
	unsigned int flags = ARGP_NO_HELP | (syntax->in_order ? ARGP_IN_ORDER : 0);
	error_t error;
	size_t i;

	options_add(&reading, syntax->choices, 0);
	for (i = 0; i < SYNTAX_LISTS; i++)
		options_add(&reading, syntax->lists[i], 0);
	options_add(&reading, options_common, -1);
	/* An empty option ends argp's list. */
	memory_append(reading.options, reading.nr_options);
	argp.options = reading.options;
	options_check(argv, syntax->in_order);
	argp_err_exit_status = EXIT_USAGE;
	error = argp_parse(&argp, argc, argv, flags, NULL, &reading);
	if (error)
		options_fail(argv[0], "%s", strerror(error));
	options.json |= options.pretty;
	free(reading.choices);
	free(reading.options);
	return reading.args;
}

void options_take_text(const char *text, void *to)
{
	*(const char **)to = text;
}

void options_take_count(const char *text, void *to)
{
	uint64_t *count = to;

	if (!number_parse(text, strlen(text), count) || !*count)
		options_fail("-n", "%s: must be a number of at least 1", text);
}

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
	size_t least = min(3, strlen(name)), distance;

	/* Skip long names, because the search takes exponential time in the length. */
	for (command = syntax->commands; command->name && strlen(name) <= 10; command++) {
		distance = command_distance(name, command->name);
		if (distance >= least)
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
