// SPDX-License-Identifier: GPL-2.0
/* Parameters of Lustre's o2iblnd, as options, profiles, --remote and modprobe.d have them. */
#include "lib/lib.h"
#include "plan/lnet.h"

#define LNET_INT	.min = 0, .max = INT32_MAX
#define LNET_BLANKS	" \t\r"

/* The newest release whose source was read. */
#define LNET_NEWEST	17

const struct plan_input lnet_inputs[] = {
	[LNET_PEERS] = { "peers", 0, PLAN_SOME, .is_needed = true,
			 .doc = "peers of the node's interface" },
	[LNET_PEER_CREDITS] = { "peer-credits", 8, LNET_INT,
				.doc = "module parameter peer_credits (8)" },
	[LNET_CREDITS] = { "credits", 256, .min = 1, .max = INT32_MAX,
			   .doc = "module parameter credits (256)" },
	[LNET_CONNS] = { "conns-per-peer", 1, .min = 0, .max = 127,
			 .doc = "module parameter conns_per_peer (1)" },
	[LNET_SENDS] = { "concurrent-sends", 0, LNET_INT,
			 .doc = "module parameter concurrent_sends (0: by peer_credits)" },
	[LNET_MAP] = { "map-on-demand", 1, LNET_INT,
		       .doc = "module parameter map_on_demand (1, and 0 up to 2.10)" },
	[LNET_NTX] = { "ntx", 512, LNET_INT, .doc = "module parameter ntx (512)" },
	[LNET_FMR_POOL] = { "fmr-pool-size", 512, LNET_INT,
			    .doc = "module parameter fmr_pool_size (512)" },
	[LNET_SGE] = { "wrq-sge", 2, LNET_INT, .doc = "module parameter wrq_sge (2)" },
	[LNET_CPTS] = { "cpts", 1, .min = 1, .max = 4096,
			.doc = "CPTs of the interface (1)" },
	[LNET_MAX_WR] = { "max-qp-wr", 0, .min = 1, .max = INT32_MAX,
			  .doc = "max_qp_wr of the device (enough)" },
	[LNET_PROTOCOL] = { "protocol", 2, .min = 1, .max = 2,
			    .doc = "version of o2iblnd's protocol (2)" },
};

/* Of these no size depends: o2iblnd_modparams.c of 2.8 to 2.17. */
static const char *const lnet_idle[] = {
	"cksum", "dev_failover", "dyndbg", "fmr_cache", "fmr_flush_trigger", "ib_mtu", "ipif_name",
	"keepalive", "nscheds", "peer_buffer_credits", "peer_credits_hiw", "peer_timeout",
	"pmr_pool_size", "require_privileged_port", "retry_count", "rnr_retry_count", "service",
	"timeout", "tos", "use_fastreg_gaps", "use_privileged_port",
};

/* lustre/conf/ko2iblnd.conf from release 2.@first on; 0 where it sets nothing. */
static const struct {
	unsigned int first;
	uint64_t in[LNET_NR_INPUTS];
} lnet_profiles[] = {
	{ 13, { [LNET_PEER_CREDITS] = 32, [LNET_CREDITS] = 1024, [LNET_CONNS] = 4,
		[LNET_SENDS] = 64, [LNET_MAP] = 256, [LNET_NTX] = 2048, [LNET_FMR_POOL] = 2048 } },
	{ 11, { [LNET_PEER_CREDITS] = 128, [LNET_CREDITS] = 1024, [LNET_CONNS] = 4,
		[LNET_MAP] = 256, [LNET_NTX] = 2048, [LNET_FMR_POOL] = 2048 } },
	{ 10, { [LNET_PEER_CREDITS] = 128, [LNET_CREDITS] = 1024, [LNET_CONNS] = 4,
		[LNET_SENDS] = 256, [LNET_MAP] = 32, [LNET_NTX] = 2048, [LNET_FMR_POOL] = 2048 } },
	{ 8, { [LNET_PEER_CREDITS] = 128, [LNET_CREDITS] = 1024,
	       [LNET_SENDS] = 256, [LNET_MAP] = 32, [LNET_NTX] = 2048, [LNET_FMR_POOL] = 2048 } },
};

void lnet_init(struct lnet_side *side, const char *form, const char *name)
{
	size_t i;

	memset(side, 0, sizeof(*side));
	side->form = form;
	side->name = name;
	side->release = LNET_NEWEST;
	for (i = 0; i < LNET_NR_INPUTS; i++)
		side->in[i] = lnet_inputs[i].value;
	side->in[LNET_PEERS] = 1;
}

unsigned int lnet_parse_release(const char *text)
{
	size_t length = strncmp(text, "2.", 2) ? 0 : strcspn(text + 2, ".");
	uint64_t minor;

	if (!length || !number_parse(text + 2, length, &minor) || !minor)
		options_fail(text, "is not a release of Lustre; give one such as 2.15");
	if (minor > LNET_NEWEST)
		options_fail(text, "is not known here; the newest release that was read is 2.%d",
			     LNET_NEWEST);
	return minor;
}

void lnet_set_profile(struct lnet_side *side)
{
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(lnet_profiles); i++) {
		if (side->release < lnet_profiles[i].first)
			continue;
		for (j = 0; j < LNET_NR_INPUTS; j++) {
			if (!lnet_profiles[i].in[j])
				continue;
			side->in[j] = lnet_profiles[i].in[j];
			side->given[j] = true;
		}
		return;
	}
	options_fail("--profile", "Lustre has a profile for OPA from 2.8 on, not in 2.%u",
		     side->release);
}

/* As the kernel reads parameters: 0x20 is 32, and so is 040. */
static bool lnet_parse_number(const char *text, uint64_t *value)
{
	char *end;

	if (*text != '0' || !text[1])
		return number_parse_human(text, true, value);
	*value = strtoumax(text, &end, 0);
	return !*end;
}

/* @where is an option, or a place in a file. */
static void lnet_set_input(struct lnet_side *side, size_t input, const char *where,
			   const char *value)
{
	const struct plan_input *kind = &lnet_inputs[input];

	if (!lnet_parse_number(value, &side->in[input]) ||
	    side->in[input] < kind->min || side->in[input] > kind->max)
		options_fail(where, "%s=%s: %s is %" PRIu64 " to %" PRIu64, kind->option, value,
			     kind->option, kind->min, kind->max);
	side->given[input] = true;
}

/* Whether @name is that of an option, where - and _ are the same. */
static bool lnet_is_name(const char *name, const char *option)
{
	for (; *name && *option; name++, option++) {
		if (*name != *option && !(*name == '_' && *option == '-'))
			return false;
	}
	return *name == *option;
}

/* The input of this name, or LNET_NR_INPUTS. */
static size_t lnet_find_input(const char *name)
{
	size_t i;

	for (i = 0; i < LNET_NR_INPUTS; i++) {
		if (lnet_is_name(name, lnet_inputs[i].option))
			break;
	}
	return i;
}

/* A parameter that is accepted, for people write it, and said to change no size. */
static bool lnet_set_idle(struct lnet_side *side, const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lnet_idle); i++) {
		char *old = side->idle;

		if (!lnet_is_name(name, lnet_idle[i]) && strcmp(name, lnet_idle[i]))
			continue;
		side->idle = old ? memory_format("%s, %s", old, name) : memory_string(name);
		free(old);
		return true;
	}
	return false;
}

/* --- --remote --- */

static bool lnet_parse_flag(const char *text)
{
	if (strcmp(text, "0") && strcmp(text, "1"))
		options_fail(text, "fmr and dma_mr are 0 or 1");
	return *text == '1';
}

static void lnet_set_remote_word(struct lnet_side *side, char *word)
{
	char *value = strchr(word, '=');
	size_t input;

	if (!value)
		options_fail(word, "write KEY=VALUE, such as peer_credits=16,release=2.12");
	*value++ = '\0';
	input = lnet_find_input(word);
	if (input < LNET_NR_INPUTS)
		lnet_set_input(side, input, "--remote", value);
	else if (!strcmp(word, "release"))
		side->release = lnet_parse_release(value);
	else if (!strcmp(word, "fmr"))
		side->fmr = lnet_parse_flag(value);
	else if (lnet_is_name(word, "dma-mr"))
		side->dma_mr = lnet_parse_flag(value);
	else if (!lnet_set_idle(side, word))
		options_fail(word,
			     "is not known in --remote; its keys are the options of this command");
}

void lnet_set_remote(struct lnet_side *side, const char *text)
{
	char *words = memory_string(text);
	char *rest = words;
	char *word;

	while ((word = strsep(&rest, ",")))
		lnet_set_remote_word(side, word);
	free(words);
}

/* --- lines of modprobe.d --- */

/* The next word of *@line, without quotes; NULL at the end. */
static char *lnet_next_word(char **line)
{
	char *word, *from, *to;

	*line += strspn(*line, LNET_BLANKS);
	if (!**line)
		return NULL;
	word = *line;
	*line += strcspn(word, LNET_BLANKS);
	if (**line)
		*(*line)++ = '\0';
	for (from = to = word; *from; from++) {
		if (*from != '"')
			*to++ = *from;
	}
	*to = '\0';
	return word;
}

static void lnet_set_parameter(struct lnet_side *side, const char *where, char *word)
{
	char *value = strchr(word, '=');
	size_t input;

	/* As on the command line of a kernel. */
	if (!strncmp(word, "ko2iblnd.", strlen("ko2iblnd.")))
		word += strlen("ko2iblnd.");
	if (!value)
		options_fail(where, "%s: a parameter is KEY=VALUE", word);
	*value++ = '\0';
	input = lnet_find_input(word);
	/* The others are none of the module. */
	if (input >= LNET_PEER_CREDITS && input <= LNET_SGE)
		lnet_set_input(side, input, where, value);
	else if (!lnet_set_idle(side, word))
		options_fail(where, "%s: ko2iblnd has no such parameter", word);
}

/* Whether it is a line of options for the module. */
static bool lnet_set_line(struct lnet_side *side, const char *where, char *line, bool opa)
{
	char *word = lnet_next_word(&line);

	if (!word || strcmp(word, "options"))
		return false;
	word = lnet_next_word(&line);
	if (!word || !(!strcmp(word, "ko2iblnd") || (opa && lnet_is_name(word, "ko2iblnd-opa"))))
		return false;
	while ((word = lnet_next_word(&line)) && *word != '#')
		lnet_set_parameter(side, where, word);
	return true;
}

/* A backslash at the end of a line goes on in the next one. @text is cut into pieces. */
static void lnet_set_text(struct lnet_side *side, const char *path, char *text, bool opa)
{
	bool has_any = false;
	size_t number;

	for (number = 1; *text; number++) {
		char *where = memory_format("%s:%zu", path, number);
		char *end = strchrnul(text, '\n');
		char *line = text;

		for (; *end && end > text && end[-1] == '\\'; number++) {
			end[-1] = *end = ' ';
			end = strchrnul(end, '\n');
		}
		text = *end ? end + 1 : end;
		*end = '\0';
		has_any |= lnet_set_line(side, where, line, opa);
		free(where);
	}
	if (!has_any)
		options_fail(path, "has no line 'options ko2iblnd ...'%s",
			     opa ? "" : "; --profile opa takes those of ko2iblnd-opa as well");
}

static void lnet_set_file(struct lnet_side *side, const char *path, bool opa)
{
	char *text = file_read(AT_FDCWD, strcmp(path, "-") ? path : "/dev/stdin");

	if (!text)
		options_fail(path, "%s; give a file of modprobe.d, or the words of a line",
			     strerror(errno));
	lnet_set_text(side, path, text, opa);
	free(text);
}

/* "options ko2iblnd KEY=VALUE...", or without its first words, as one word or several. */
static void lnet_set_typed(struct lnet_side *side, char * const *words, size_t count, bool opa)
{
	bool is_line = !strncmp(words[0], "options", strlen("options"));
	char *text = memory_string(is_line ? "" : "options ko2iblnd");
	size_t i;

	for (i = 0; i < count; i++) {
		char *more = memory_format("%s %s", text, words[i]);

		free(text);
		text = more;
	}
	if (!lnet_set_line(side, "options", text, opa))
		options_fail(words[0], "write 'options ko2iblnd KEY=VALUE...'");
	free(text);
}

void lnet_set_words(struct lnet_side *side, char * const *words, size_t count, bool opa)
{
	size_t i;

	if (count && (strchr(words[0], '=') || !strcmp(words[0], "options")))
		lnet_set_typed(side, words, count, opa);
	else
		for (i = 0; i < count; i++)
			lnet_set_file(side, words[i], opa);
}
