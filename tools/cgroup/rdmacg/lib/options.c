// SPDX-License-Identifier: GPL-2.0
/* rdmacg: commands and their options. */
#include "lib/lib.h"

/* The keys of options without a letter are above this number. */
#define OPTIONS_KEY 257

struct options options;

/* The state while a syntax is parsed. */
struct reading {
	const struct syntax *syntax;
	const struct choice **choices;	/* of all lists */
	size_t nr_choices;
	struct argp_option *options;	/* the same choices for argp */
	size_t nr_options;
	char taken['z' + 1];	/* the letters; the first option with a letter gets it */
};

/* The state of argp while an option is taken. */
static struct argp_state *options_state;

static void options_take_help(const char *text, void *to)
{
	argp_state_help(options_state, stdout, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK);
	exit(say_finish() ? EXIT_DONE : EXIT_FAILED);
}

static const struct choice options_common[] = {
	{ "json", 'j', "JSON instead of text", &options.json },
	{ "pretty", 'p', "JSON on several lines", &options.pretty },
	{ "help", 'h', "this text", NULL, NULL, options_take_help },
	{ 0 }
};

static void options_add(struct reading *reading, const struct choice *list, int group)
{
	struct argp_option *option;

	for (; list && list->name; list++) {
		*memory_append(reading->choices, reading->nr_choices) = list;
		option = memory_append(reading->options, reading->nr_options);
		*option = (struct argp_option){
			.name = list->name, .arg = list->arg, .doc = list->help, .group = group,
			.key = list->letter && !reading->taken[list->letter]++ ? list->letter :
			       OPTIONS_KEY + (int)reading->nr_options,
		};
	}
}

static error_t options_take(int key, char *arg, struct argp_state *state)
{
	struct reading *reading = state->input;
	const struct choice *choice;
	uint64_t *count;
	size_t i = 0;

	while (i < reading->nr_choices && key != reading->options[i].key)
		i++;
	if (i == reading->nr_choices)
		return ARGP_ERR_UNKNOWN;
	options_state = state;
	choice = reading->choices[i];
	count = choice->to;
	if (choice->take)
		choice->take(arg, choice->to);
	else if (!choice->arg)
		*(bool *)choice->to = true;
	else if (strcmp(choice->arg, "N"))
		*(const char **)choice->to = arg;
	else if (!number_parse(arg, strlen(arg), count) || !*count)
		options_fail("-n", "%s: must be a number of at least 1", arg);
	return 0;
}

static char *options_help(int key, const char *text, void *input)
{
	const struct syntax *syntax = ((struct reading *)input)->syntax;
	const struct command *command = syntax->commands;
	char *help = NULL;

	if (key != ARGP_KEY_HELP_POST_DOC || !(command || syntax->example))
		return (char *)text;
	if (command)
		memory_extend(&help, "%c%ss:\n", toupper(*syntax->kind), syntax->kind + 1);
	for (; command && command->name; command++)
		memory_extend(&help, "  %-10s %s\n", command->name, command->help);
	if (text)
		memory_extend(&help, "%s%s\n", help ? "\n" : "", text);
	if (syntax->example)
		memory_extend(&help, "%sExample: %s", help ? "\n" : "", syntax->example);
	return help;
}

char **options_read(const struct syntax *syntax, int argc, char **argv)
{
	struct reading reading = { .syntax = syntax };
	struct argp argp = {
		.parser = options_take, .args_doc = syntax->args_doc, .doc = syntax->doc,
		.help_filter = options_help,
	};
	unsigned int flags = ARGP_NO_HELP | (syntax->in_order ? ARGP_IN_ORDER : 0);
	char **word = argv + 1;
	int first = argc;
	size_t i;

	/* glibc prints an unknown option as it is, so refuse an option that needs escapes. */
	for (; *word && strcmp(*word, "--") && !(syntax->in_order && **word != '-'); word++) {
		char *name __autofree = memory_format("%.*s", (int)strcspn(*word, "="), *word);
		char *escaped __autofree = text_escape(name);

		if (**word == '-' && strcmp(name, escaped))
			options_fail(*word, "there is no such option");
	}
	options_add(&reading, syntax->choices, 0);
	for (i = 0; i < ARRAY_SIZE(syntax->lists); i++)
		options_add(&reading, syntax->lists[i], 0);
	options_add(&reading, options_common, -1);
	/* An empty option ends argp's list. */
	memory_append(reading.options, reading.nr_options);
	argp.options = reading.options;
	argp_err_exit_status = EXIT_USAGE;
	/* Without memory, argp_parse() returns an error. It reports all other errors itself. */
	memory_check(argp_parse(&argp, argc, argv, flags, &first, &reading) ? NULL : argv);
	if (first == argc && syntax->needs)
		options_fail(strrchr(argv[0], ' ') + 1, "%s", syntax->needs);
	if (syntax->single ? first + 1 < argc : first < argc && !syntax->args_doc)
		options_fail(argv[argc - 1], "is one argument too many");
	options.json |= options.pretty;
	free(reading.choices);
	free(reading.options);
	return argv + first;
}

/* The number of letters in a row that differ between @name and @command. */
static size_t command_distance(const char *name, const char *command)
{
	size_t length = strlen(name), all = strlen(command), same = 0;

	/* The first letters of a longer word are nearly the word. */
	if (length > 2 && !strncmp(name, command, length))
		return 1;
	while (name[same] && name[same] == command[same])
		same++;
	while (length > same && all > same && name[length - 1] == command[all - 1]) {
		length--;
		all--;
	}
	return max(length, all) - same;
}

int command_run(const struct syntax *syntax, const char *by, char **words)
{
	const struct command *command = syntax->commands, *meant = NULL;
	const char *name = words[0];
	size_t distance, least = 3;
	int argc = 0;

	for (; command->name && strcmp(command->name, name); command++) {
		distance = command_distance(name, command->name);
		if (distance < least)
			meant = command;
		least = min(distance, least);
	}
	if (!command->name)
		say_and_exit(EXIT_USAGE, name, meant ? "there is no such %s; did you mean %s?" :
			     "there is no such %s; %s --help lists them", syntax->kind,
			     meant ? meant->name : by);
	while (words[argc])
		argc++;
	/* This stays in use until the process ends. */
	words[0] = memory_format("%s %s", by, name);
	return command->run(argc, words);
}
