// SPDX-License-Identifier: GPL-2.0
/* Parameters of Lustre's o2iblnd, from options, profiles, --remote and modprobe.d. */
#include "plan/plan.h"

#define LNET_BLANKS	" \t\r"

/* The first inputs are the parameters of the module. */
#define LNET_NR_PARAMETERS	8

/* The newest release whose source was read. */
#define LNET_NEWEST	17

#define LNET_PREFIX	"ko2iblnd."
/* The parameters that all profiles share. */
#define LNET_OPA	"credits=1024 ntx=2048 fmr_pool_size=2048 "

#define LNET_DEFAULTS \
	.peer_credits = 8, .credits = 256, .conns_per_peer = 1, .map_on_demand = -1, .ntx = 512, \
	.fmr_pool_size = 512, .wrq_sge = 2, .peers = 1, .cpts = 1, .protocol = 2, \
	.release = LNET_NEWEST

struct lnet_side lnet_near = { .name = "this node", LNET_DEFAULTS };
struct lnet_side lnet_far = { .name = "the other end", LNET_DEFAULTS };

struct plan_input lnet_inputs[] = {
	/* Parameters of the module. */
	{ "peer-credits", &lnet_near.peer_credits, 0, INT32_MAX,
	  "module parameter peer_credits (8)" },
	{ "credits", &lnet_near.credits, 1, INT32_MAX, "module parameter credits (256)" },
	{ "conns-per-peer", &lnet_near.conns_per_peer, 0, 127,
	  "module parameter conns_per_peer (1)" },
	{ "concurrent-sends", &lnet_near.concurrent_sends, 0, INT32_MAX,
	  "module parameter concurrent_sends (0: by peer_credits)" },
	{ "map-on-demand", &lnet_near.map_on_demand, 0, INT32_MAX,
	  "module parameter map_on_demand (1, and 0 up to 2.10)" },
	{ "ntx", &lnet_near.ntx, 0, INT32_MAX, "module parameter ntx (512)" },
	{ "fmr-pool-size", &lnet_near.fmr_pool_size, 0, INT32_MAX,
	  "module parameter fmr_pool_size (512)" },
	{ "wrq-sge", &lnet_near.wrq_sge, 0, INT32_MAX, "module parameter wrq_sge (2)" },
	/* Other inputs, from LNET_NR_PARAMETERS on. */
	{ "peers", &lnet_near.peers, 1, PLAN_MOST,
	  "peers of the node's interface", .is_needed = true },
	{ "cpts", &lnet_near.cpts, 1, 4096, "CPTs of the interface (1)" },
	{ "max-qp-wr", &lnet_near.max_qp_wr, 1, INT32_MAX, "max_qp_wr of the device (enough)" },
	{ "protocol", &lnet_near.protocol, 1, 2, "version of o2iblnd's protocol (2)" },
	{ "fmr", &lnet_near.fmr, .doc = "the device registers by FMR, not by FastReg" },
	{ "dma-mr", &lnet_near.dma_mr,
	  .doc = "the kernel has ib_get_dma_mr(), as kernels before 4.9 have" },
	{ "release", .arg = "2.N", .doc = "release of Lustre (2.17)" },
	{ "profile", .arg = "opa", .doc = "the parameters of the release for OPA" },
	{ "remote", .arg = "KEY=VALUE[,KEY=VALUE...]",
	  .doc =
	  "parameters of the other end, with the names of these options, to plan for both ends" },
	{ 0 }
};

/* No size depends on these parameters of o2iblnd_modparams.c in 2.8 to 2.17. */
static const char *const lnet_idle[] = {
	"cksum", "dev-failover", "dyndbg", "fmr-cache", "fmr-flush-trigger", "ib-mtu", "ipif-name",
	"keepalive", "nscheds", "peer-buffer-credits", "peer-credits-hiw", "peer-timeout",
	"pmr-pool-size", "require-privileged-port", "retry-count", "rnr-retry-count", "service",
	"timeout", "tos", "use-fastreg-gaps", "use-privileged-port",
};

/* The profile in lustre/conf/ko2iblnd.conf from release 2.@first on. */
static const struct {
	unsigned int first;
	const char *parameters;
} lnet_profiles[] = {
	{ 13, LNET_OPA "peer_credits=32 conns_per_peer=4 concurrent_sends=64 map_on_demand=256" },
	{ 11, LNET_OPA "peer_credits=128 conns_per_peer=4 map_on_demand=256" },
	{ 10, LNET_OPA "peer_credits=128 conns_per_peer=4 concurrent_sends=256 map_on_demand=32" },
	{ 8, LNET_OPA "peer_credits=128 concurrent_sends=256 map_on_demand=32" },
};

static unsigned int lnet_parse_release(const char *text)
{
	size_t length = strncmp(text, "2.", 2) ? 0 : strcspn(text + 2, ".");
	uint64_t minor;

	if (!length || !number_parse(text + 2, length, &minor) || !minor)
		options_fail(text, "is not a release of Lustre; write a release such as 2.15");
	if (minor > LNET_NEWEST)
		options_fail(text, "is unknown; the newest release whose source was read is 2.%d",
			     LNET_NEWEST);
	return minor;
}

/* Accept a parameter on which no size depends, because files may contain it. Note its name. */
static bool lnet_set_idle(struct lnet_side *side, const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lnet_idle); i++) {
		if (plan_is_name(name, lnet_idle[i])) {
			memory_extend(&side->idle, "%s%s", side->idle ? ", " : "", name);
			return true;
		}
	}
	return false;
}

/*
 * Set an input of a side, or accept a parameter without effect. Only the other end has inputs
 * besides the module's parameters. @where is an option, or a place in a file. Numbers are read as
 * by the kernel: 0x20 is 32, and 040 is also 32.
 */
static bool lnet_set(struct lnet_side *side, const char *where, const char *name,
		     const char *value)
{
	char *place __autofree = NULL;
	const struct plan_input *input = plan_find_input(name);
	bool is_far = side == &lnet_far;
	uint64_t number;
	char *rest;

	if (!input || !input->to || (!is_far && input >= lnet_inputs + LNET_NR_PARAMETERS))
		return lnet_set_idle(side, name);
	place = memory_format("%s: %s=%s", where, input->name, value);
	number = strtoumax(value, &rest, 0);
	if (*value == '0' && !*rest)
		value = number_text(number, false);
	number = plan_parse_number(place, value, input->min, max(input->max, 1));
	/* The inputs are those of this node. An option replaces its parameters. */
	if (is_far)
		*(input->to - &lnet_near.peer_credits + &lnet_far.peer_credits) = number;
	else if (!input->given)
		*input->to = number;
	return true;
}

/* Get the next word of *@text, without quotes, or NULL at the end. */
static char *lnet_next_word(char **text, const char *separators)
{
	char *word = strtok_r(NULL, separators, text), *from, *to;

	if (!word)
		return NULL;
	for (from = to = word; *from; from++)
		if (*from != '"')
			*to++ = *from;
	*to = '\0';
	return word;
}

/* Set a "KEY=VALUE" of --remote: a number or flag of this command, a parameter, or the release. */
static void lnet_set_remote_word(char *word)
{
	char *value = strchr(word, '=');

	if (!value)
		options_fail(word, "write KEY=VALUE, such as peer_credits=16,release=2.12");
	*value++ = '\0';
	if (!strcmp(word, "release"))
		lnet_far.release = lnet_parse_release(value);
	else if (!lnet_set(&lnet_far, "--remote", word, value))
		options_fail(word,
			     "is unknown in --remote; its keys are the options of this command");
}

/* Set the parameters in a line of modprobe.d or on a kernel's command line, up to a comment. */
static void lnet_set_parameters(const char *where, char *line)
{
	char *word, *value;

	while ((word = lnet_next_word(&line, LNET_BLANKS)) && *word != '#') {
		if (!strncmp(word, LNET_PREFIX, strlen(LNET_PREFIX)))
			word += strlen(LNET_PREFIX);
		value = strchr(word, '=');
		if (!value)
			options_fail(where, "%s: a parameter is KEY=VALUE", word);
		*value++ = '\0';
		if (!lnet_set(&lnet_near, where, word, value))
			options_fail(where, "%s: ko2iblnd has no such parameter", word);
	}
}

static void lnet_set_profile(void)
{
	char *parameters __autofree = NULL;
	size_t i = 0;

	while (i < ARRAY_SIZE(lnet_profiles) && lnet_near.release < lnet_profiles[i].first)
		i++;
	if (i == ARRAY_SIZE(lnet_profiles))
		options_fail("--profile", "Lustre has a profile for OPA from 2.8 on, not in 2.%u",
			     lnet_near.release);
	parameters = memory_string(lnet_profiles[i].parameters);
	lnet_set_parameters("--profile", parameters);
}

/* Set the parameters of a line. Returns whether the line has options for the module. */
static bool lnet_set_line(const char *where, char *line)
{
	bool opa = plan_text("profile");
	char *word = lnet_next_word(&line, LNET_BLANKS);

	if (!word || strcmp(word, "options"))
		return false;
	word = lnet_next_word(&line, LNET_BLANKS);
	if (!word || !hierarchy_has_word(opa ? "ko2iblnd ko2iblnd-opa ko2iblnd_opa" : "ko2iblnd",
					 word))
		return false;
	lnet_set_parameters(where, line);
	return true;
}

/* Set the parameters of a file, in which a backslash at the end of a line joins the next line. */
static void lnet_set_file(const char *path)
{
	char *whole __autofree = file_read(AT_FDCWD, strcmp(path, "-") ? path : "/dev/stdin");
	char *text = whole;
	bool has_any = false;
	size_t number;

	if (!text)
		options_fail(path, "%s; give a file of modprobe.d, or the words of a line",
			     strerror(errno));
	for (number = 1; *text; number++) {
		char *where __autofree = memory_format("%s:%zu", path, number);
		char *line = text, *end = strchrnul(text, '\n');

		for (; *end && end > text && end[-1] == '\\'; number++) {
			end[-1] = *end = ' ';
			end = strchrnul(end, '\n');
		}
		text = *end ? end + 1 : end;
		*end = '\0';
		has_any |= lnet_set_line(where, line);
	}
	if (!has_any)
		options_fail(path, "has no line 'options ko2iblnd ...'%s",
			     plan_text("profile") ? "" :
			     "; --profile opa also reads the lines of ko2iblnd-opa");
}

/* Set parameters of files, of "options ko2iblnd KEY=VALUE...", or of KEY=VALUE... */
static void lnet_set_words(void)
{
	char *line __autofree = NULL;
	const struct plan_text *word;

	for (word = plan.texts; word < plan.texts + plan.nr_texts; word++) {
		if (*word->name)
			continue;
		if (!line && !strchr(word->text, '=') && strcmp(word->text, "options"))
			lnet_set_file(word->text);
		else
			memory_extend(&line, "%s ", word->text);
	}
	if (line && strncmp(line, "options", strlen("options")))
		lnet_set_parameters("options", line);
	else if (line && !lnet_set_line("options", line))
		options_fail("options", "write 'options ko2iblnd KEY=VALUE...'");
}

void lnet_take(void)
{
	const char *profile = plan_text("profile"), *release = plan_text("release");
	char *word, *rest;
	size_t i;

	if (release)
		lnet_near.release = lnet_parse_release(release);
	if (profile && strcmp(profile, "opa"))
		options_fail(profile, "there is no such profile; the only profile is opa");
	if (profile)
		lnet_set_profile();
	lnet_set_words();
	for (i = 0; i < plan.nr_texts; i++) {
		char *words __autofree = memory_string(plan.texts[i].text);

		rest = words;
		while (!strcmp(plan.texts[i].name, "remote") &&
		       (word = lnet_next_word(&rest, ", ")))
			lnet_set_remote_word(word);
	}
}
