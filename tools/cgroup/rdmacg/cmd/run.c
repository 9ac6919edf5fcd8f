// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg run: a command in a cgroup of its own.
 *
 * The command is held until its cgroup has the limits. When it has ended, and what it left
 * behind has, the peaks say what it needed, and the cgroup is removed.
 */
#include <signal.h>

#include "core/core.h"
#include "run/child.h"
#include "run/run-cgroup.h"
#include "run/run-report.h"
#include "write/limits.h"
#include "write/transaction.h"

/* As env(1) has them. */
#define RUN_FAILED		125
#define RUN_NOT_EXECUTABLE	126
#define RUN_NOT_FOUND		127

/* How often to look at the usage where there are no peaks, and at processes left behind. */
#define RUN_LOOK_MS		100
/* Those are mostly about to end; only the ones that are not are worth a word. */
#define RUN_QUIET_LOOKS		10
/* From SIGTERM to SIGKILL. */
#define RUN_GRACE_LOOKS		50

struct run {
	char **command;
	struct limits *limits;
	size_t nr_limits;
	const char *in;
	const char *output;
	FILE *to;
	uint64_t margin;
	bool kill;
	struct child child;
	struct run_cgroup home;
	/* What was done so that the cgroup has the controller. */
	struct transaction enabled;
	/* The largest usage, where the kernel has no peaks. */
	struct pools seen;
	bool has_peaks;
};

enum { RUN_KEY_IN = OPTIONS_KEY, RUN_KEY_MARGIN, RUN_KEY_KILL };

static const struct argp_option run_options[] = {
	{ "limit", 'l', "DEVICE:KEY=VALUE[,...]", 0, "limit the command; as often as needed", 0 },
	{ "in", RUN_KEY_IN, "CGROUP", 0, "make its cgroup below this one", 0 },
	{ "margin", RUN_KEY_MARGIN, "PERCENT", 0,
	  "add so much to the peaks for the limits that are enough", 0 },
	{ "kill", RUN_KEY_KILL, NULL, 0,
	  "end what the command leaves behind, instead of waiting", 0 },
	{ "output", 'o', "FILE", 0, "write the report there, not to stderr", 0 },
	{ 0 }
};

/* DEVICE:KEY=VALUE[,KEY=VALUE]...[;DEVICE:...] */
static void run_add_limits(struct run *run, const char *text)
{
	char *copy = memory_string(text);
	char *rest = copy;

	while (rest) {
		run->limits = memory_grow(run->limits, run->nr_limits, sizeof(*run->limits));
		if (!limits_parse_option(&run->limits[run->nr_limits++], strsep(&rest, ";")))
			exit(EXIT_USAGE);
	}
	free(copy);
}

static error_t run_parse(int key, char *arg, struct argp_state *state)
{
	struct run *run = state->input;

	switch (key) {
	case 'l':
		run_add_limits(run, arg);
		return 0;
	case 'o':
		run->output = arg;
		return 0;
	case RUN_KEY_IN:
		run->in = arg;
		return 0;
	case RUN_KEY_MARGIN:
		run->margin = options_parse_margin(arg);
		return 0;
	case RUN_KEY_KILL:
		run->kill = true;
		return 0;
	case ARGP_KEY_ARGS:
		run->command = state->argv + state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		options_fail("run", "no command given");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp run_argp = {
	.options = run_options,
	.parser = run_parse,
	.children = options_child,
	.args_doc = "[--] COMMAND [ARGUMENT...]",
	.doc =
		"Run a command in a cgroup of its own, and say in the end what it needed: the peaks, the attempts that were refused, and limits that would have been enough.\vWhere systemd runs, the cgroup is a scope; with --in or without systemd, it is made below a cgroup, by default the one of this shell. It is removed when the command and all that it has left behind have ended. The exit status is that of the command, 128+N for signal N.",
};

/* Set the limits, before the command's first instruction. */
static bool run_limit(struct run *run)
{
	struct cgroup *cgroup = run->home.cgroup;
	struct transaction change = { 0 };
	struct capacity capacity;
	bool good;
	size_t i;

	transaction_add_controller(&run->enabled, cgroup);
	good = transaction_apply(&run->enabled);
	if (!good && !run->in)
		say_note("--in CGROUP takes another place than the cgroup of this process");
	if (good && !cgroup_has_controller(cgroup)) {
		say_error(cgroup_name(cgroup), "has no RDMA controller");
		good = false;
	}
	good = good && cgroup_read_path(cgroup, POOL_ALL);
	capacity_read(&capacity, cgroup->hierarchy);
	for (i = 0; i < run->nr_limits && good; i++)
		good = limits_add(&run->limits[i], &change, cgroup, &capacity);
	if (good)
		good = transaction_apply(&change);
	run->has_peaks = cgroup->pools.files[POOL_HCA] & POOL_BIT(POOL_PEAK);
	capacity_free(&capacity);
	transaction_free(&change);
	return good;
}

/* Wait for the command; where there are no peaks, look at the usage meanwhile. */
static void run_wait(struct run *run)
{
	struct pools now = { 0 };

	while (!run->child.ended) {
		child_wait(&run->child, run->has_peaks ? -1 : RUN_LOOK_MS);
		if (run->has_peaks)
			continue;
		pools_read(&now, run->home.cgroup->dir, POOL_BIT(POOL_CURRENT), NULL);
		report_see(&run->seen, &now);
		pools_free(&now);
	}
}

static void run_end_members(struct run *run)
{
	int looks = 0;

	run_cgroup_signal(&run->home, SIGTERM);
	while (run_cgroup_members(&run->home)) {
		/* A second signal to this process ends the patience. */
		if (child_wait(&run->child, RUN_LOOK_MS) || ++looks >= RUN_GRACE_LOOKS)
			run_cgroup_signal(&run->home, SIGKILL);
	}
}

/*
 * The cgroup is there until the last process is gone, and so are its limits. What a command
 * leaves behind it may have meant to leave; killing could not be taken back, waiting can.
 */
static void run_wait_members(struct run *run)
{
	size_t left;
	int looks = 0;

	if (run->kill && run_cgroup_members(&run->home))
		run_end_members(run);
	while ((left = run_cgroup_members(&run->home))) {
		if (++looks == RUN_QUIET_LOOKS)
			say_note("the command left %zu process%s in %s; an interrupt ends %s",
				 left, left == 1 ? "" : "es", cgroup_name(run->home.cgroup),
				 left == 1 ? "it" : "them");
		if (child_wait(&run->child, RUN_LOOK_MS))
			run_end_members(run);
	}
}

static void run_print(struct run *run, FILE *to)
{
	struct cgroup *cgroup = run->home.cgroup;
	struct json_object *object;

	if (!options.json) {
		report_print(to, cgroup, run->margin, child_exit_status(&run->child));
		return;
	}
	object = json_object_new_object();
	json_add(object, "cgroup", json_text(cgroup_name(cgroup)));
	json_add(object, "status", json_object_new_int(child_exit_status(&run->child)));
	json_add(object, "complete",
		 json_object_new_boolean(!child_exit_status(&run->child)));
	json_add(object, "cause", report_cause_json(cgroup, child_exit_status(&run->child)));
	json_add(object, "missing", missing_json(&cgroup->pools));
	json_add(object, "devices",
		 report_json(cgroup, run->margin, child_exit_status(&run->child)));
	json_print(to, object, options.pretty);
}

/* False, and an error is said, where the report is not where it was asked for. */
static bool run_report(struct run *run)
{
	struct cgroup *cgroup = run->home.cgroup;
	bool good;

	if (!cgroup_read_path(cgroup, POOL_ALL))
		return false;
	report_fill_peaks(&cgroup->pools, &run->seen);
	if (!run->has_peaks && !options.json)
		say_note("this kernel has no rdma.peak: the peaks are what was seen every %d ms",
			 RUN_LOOK_MS);
	run_print(run, run->to);
	good = !fflush(run->to) && !ferror(run->to);
	if (run->to != stderr && fclose(run->to))
		good = false;
	if (good)
		return true;
	say_error(run->output ? run->output : "standard error",
		  "cannot write the report: %s; here it is", strerror(errno));
	if (run->output)
		run_print(run, stderr);
	return false;
}

/* Before the command begins: an hour later is too late to learn that the file cannot be. */
static bool run_open_output(struct run *run)
{
	run->to = run->output ? fopen(run->output, "we") : stderr;
	if (!run->to)
		say_error(run->output, "cannot write the report there: %s", strerror(errno));
	return run->to;
}

/* The command is held, its cgroup is ready: from here on it is the command that counts. */
static int run_command(struct run *run)
{
	int error = child_release(&run->child);

	run_wait(run);
	run_wait_members(run);
	if (!error) {
		/* The command's failure says more than that of its report. */
		if (!run_report(run) && !child_exit_status(&run->child))
			return RUN_FAILED;
		return child_exit_status(&run->child);
	}
	say_error(run->command[0], "%s", strerror(error));
	return error == ENOENT ? RUN_NOT_FOUND : RUN_NOT_EXECUTABLE;
}

static int run_in(struct run *run, const struct hierarchy *hierarchy)
{
	int status = RUN_FAILED;

	if (!run_open_output(run) || !child_hold(&run->child, run->command))
		return RUN_FAILED;
	if (!run_cgroup_make(&run->home, hierarchy, run->in, &run->child)) {
		child_cancel(&run->child);
		return RUN_FAILED;
	}
	if (run_limit(run) && run_cgroup_enter(&run->home, &run->child))
		status = run_command(run);
	else
		child_cancel(&run->child);
	run_cgroup_remove(&run->home, &run->enabled);
	transaction_free(&run->enabled);
	return status;
}

int cmd_run(int argc, char **argv)
{
	struct run run = { 0 };
	struct hierarchy hierarchy;
	int status = RUN_FAILED;
	size_t i;

	options_parse(&run_argp, ARGP_IN_ORDER, argc, argv, &run);
	if (hierarchy_open(&hierarchy)) {
		status = run_in(&run, &hierarchy);
		hierarchy_close(&hierarchy);
	}
	for (i = 0; i < run.nr_limits; i++)
		limits_free(&run.limits[i]);
	free(run.limits);
	pools_free(&run.seen);
	return status;
}
