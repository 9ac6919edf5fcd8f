// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg run: a command in a cgroup of its own.
 *
 * The command waits until its cgroup has the limits. When the command and its remaining processes
 * have ended, rdmacg prints the peaks and removes the cgroup.
 */
#include <signal.h>

#include "core/core.h"
#include "run/run.h"

/* The exit status of env(1) for its own failures. */
#define RUN_FAILED		125

/* The interval between two reads of the usage, or between two looks for remaining processes. */
#define RUN_LOOK_MS		100
/* Print a message after this number of looks, because most remaining processes end at once. */
#define RUN_QUIET_LOOKS		10
/* The time from SIGTERM to SIGKILL. */
#define RUN_GRACE_LOOKS		50

static struct run {
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
	/* The writes that enabled the controller. */
	struct transaction enabled;
	/* The largest usage, if the kernel has no peaks. */
	struct pools seen;
	bool has_peaks;
} run;

/* Take DEVICE:KEY=VALUE[,KEY=VALUE]...[;DEVICE:...]. */
static void run_take_limits(const char *text, void *to)
{
	char *copy __autofree = memory_string(text);
	char *rest = copy;

	(void)to;
	while (rest)
		if (!limits_parse_option(memory_append(&run.limits, &run.nr_limits,
						       sizeof(*run.limits)), strsep(&rest, ";")))
			exit(EXIT_USAGE);
}

static const struct choice run_choices[] = {
	{ "limit", 'l', "DEVICE:KEY=VALUE[,...]", "limit the command; may be given several times",
	  run_take_limits, NULL },
	{ "in", 0, "CGROUP", "create the cgroup of the command below this cgroup",
	  options_take_text, &run.in },
	{ "margin", 0, "PERCENT", "add this margin to the peaks for the recommended limits",
	  options_take_margin, &run.margin },
	{ "kill", 0, NULL, "kill the processes that the command leaves, instead of waiting", NULL,
	  &run.kill },
	{ "output", 'o', "FILE", "write the report to this file, not to stderr", options_take_text,
	  &run.output },
	{ 0 }
};

static const struct syntax run_syntax = {
	.lists = { run_choices },
	.needs = "a command is missing",
	.most = INT_MAX,
	.in_order = true,
	.args_doc = "[--] COMMAND [ARGUMENT...]",
	.doc =
		"Run a command in a cgroup of its own, and report in the end the peaks, the refused attempts, and limits that would have been enough.\vThe cgroup is a scope of systemd, or with --in or without systemd a cgroup below another cgroup, by default below the cgroup of this shell. rdmacg removes it when the command and the processes that the command has left have ended. The exit status is the command's, or 128+N for signal N.",
};

/* Set the limits before the command's first instruction. */
static bool run_limit(void)
{
	struct cgroup *cgroup = run.home.cgroup;
	struct transaction change = { 0 };
	bool good;
	size_t i;

	transaction_add_controller(&run.enabled, cgroup);
	good = transaction_apply(&run.enabled);
	if (!good && !run.in)
		say_note("--in CGROUP creates the cgroup in another place");
	if (good && !cgroup_has_controller(cgroup)) {
		say_error(cgroup_name(cgroup), "has no RDMA controller");
		good = false;
	}
	good = good && cgroup_read_path(cgroup, POOL_ALL);
	capacity_read();
	for (i = 0; i < run.nr_limits && good; i++)
		good = limits_add(&run.limits[i], &change, cgroup);
	good = good && transaction_apply(&change);
	run.has_peaks = cgroup->pools.files[POOL_HCA] & POOL_BIT(POOL_PEAK);
	transaction_free(&change);
	return good;
}

/* Wait for the command, and read the usage meanwhile if there are no peaks. */
static void run_wait(void)
{
	struct pools now = { 0 };

	while (!run.child.ended) {
		child_wait(&run.child, run.has_peaks ? -1 : RUN_LOOK_MS);
		if (run.has_peaks)
			continue;
		pools_read(&now, run.home.cgroup->dir, "", POOL_BIT(POOL_CURRENT), NULL);
		report_see(&run.seen, &now);
		pools_free(&now);
	}
}

static void run_end_members(void)
{
	int looks = 0;

	procs_signal(run.home.cgroup, SIGTERM);
	while (procs_read(run.home.cgroup, NULL)) {
		/* Do not wait any longer after a second signal to this process. */
		if (child_wait(&run.child, RUN_LOOK_MS) || ++looks >= RUN_GRACE_LOOKS)
			procs_signal(run.home.cgroup, SIGKILL);
	}
}

/*
 * Wait until the last process ends, because the command may have left processes on purpose. These
 * processes keep the cgroup and its limits meanwhile.
 */
static void run_wait_members(void)
{
	size_t left;
	int looks = 0;

	if (run.kill && procs_read(run.home.cgroup, NULL))
		run_end_members();
	while ((left = procs_read(run.home.cgroup, NULL))) {
		if (++looks == RUN_QUIET_LOOKS)
			say_note("the command left %zu process%s in %s; an interrupt ends %s",
				 left, left == 1 ? "" : "es", cgroup_name(run.home.cgroup),
				 left == 1 ? "it" : "them");
		if (child_wait(&run.child, RUN_LOOK_MS))
			run_end_members();
	}
}

/* Write the report. Prints an error and returns false on a failure. */
static bool run_report(void)
{
	struct cgroup *cgroup = run.home.cgroup;
	int status = child_exit_status(&run.child);
	bool good;

	if (!cgroup_read_path(cgroup, POOL_ALL))
		return false;
	report_fill_peaks(&cgroup->pools, &run.seen);
	if (!run.has_peaks && !options.json)
		say_note("this kernel has no rdma.peak, so the usage was read every %d ms",
			 RUN_LOOK_MS);
	report_print(run.to, cgroup, run.margin, status);
	good = !fflush(run.to) && !ferror(run.to);
	if (run.to != stderr && fclose(run.to))
		good = false;
	if (good)
		return true;
	say_error(run.output ? run.output : "standard error",
		  "cannot write the report: %s; the report follows", strerror(errno));
	if (run.output)
		report_print(stderr, cgroup, run.margin, status);
	return false;
}

/* Run the waiting command in its cgroup. From here on, the command determines the status. */
static int run_command(void)
{
	int status;

	child_release(&run.child);
	run_wait();
	run_wait_members();
	/* The status of a failed command is more useful than the status of its report. */
	status = child_exit_status(&run.child);
	return run_report() || status ? status : RUN_FAILED;
}

static int run_all(void)
{
	int status = RUN_FAILED;

	/*
	 * Open the report before the command begins, because a failure after an hour would be too
	 * late.
	 */
	run.to = run.output ? fopen(run.output, "we") : stderr;
	if (!run.to)
		say_error(run.output, "cannot write the report to this file: %s", strerror(errno));
	if (!run.to || !child_hold(&run.child, run.command))
		return RUN_FAILED;
	if (!run_cgroup_make(&run.home, run.in, &run.child)) {
		child_cancel(&run.child);
		return RUN_FAILED;
	}
	if (run_limit() && run_cgroup_enter(&run.home, &run.child))
		status = run_command();
	else
		child_cancel(&run.child);
	run_cgroup_remove(&run.home, &run.enabled);
	transaction_free(&run.enabled);
	return status;
}

int cmd_run(int argc, char **argv)
{
	run.command = options_read(&run_syntax, argc, argv);
	return hierarchy_open() ? run_all() : RUN_FAILED;
}
