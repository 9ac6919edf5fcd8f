// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg run: a command in a cgroup of its own.
 *
 * The command waits until its cgroup has the limits. When the command and its remaining processes
 * have ended, rdmacg prints the peaks and removes the cgroup.
 */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "core/core.h"
#include "run/run.h"

/* The exit status for failures of run itself, as with env(1). */
#define RUN_FAILED		125

/* The interval between two reads of the usage, or between two checks for remaining processes. */
#define RUN_LOOK_MS		100
/* Print a message after this number of checks, because most remaining processes end at once. */
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
	/* The margin, in thousandths of a percent. */
	uint64_t margin;
	bool kill;
	/* The process of the command. A byte in the pipe @go lets it execute the command. */
	pid_t child;
	int go[2];
	/* The child has ended, and @status is its exit status as a shell computes it. */
	bool ended;
	int status;
	/* The signals that are forwarded to the child, and the signal mask of the command. */
	sigset_t forwarded;
	sigset_t inherited;
	struct cgroup *cgroup;
	/* The writes that enabled the controller. */
	struct transaction enabled;
	/* The largest usage, if the kernel has no peaks. */
	struct pools seen;
	bool has_peaks;
	/* The rows of the report, and the number of refused attempts. */
	size_t rows;
	uint64_t refused;
	/* RLIMIT_MEMLOCK, if it may be the cause of a failure; otherwise NUMBER_MAX. */
	uint64_t memlock;
} run;

/* Take DEVICE:KEY=VALUE[,KEY=VALUE]...[;DEVICE:...]. */
static void run_take_limits(const char *text, void *to)
{
	char *copy __autofree = memory_string(text);
	char *rest = copy;

	while (rest)
		if (!limits_parse_option(memory_append(run.limits, run.nr_limits),
					 strsep(&rest, ";")))
			exit(EXIT_USAGE);
}

/* Take a margin for peaks, "20%" or "20". */
static void run_take_margin(const char *text, void *to)
{
	size_t length = strlen(text);

	if (length && text[length - 1] == '%')
		length--;
	if (!number_parse_thousandths(text, length, to))
		options_fail(text, "the margin must be a percentage, such as 20%%");
}

static const struct syntax run_syntax = {
	.choices = {
		{ "limit", 'l', "limit the command; may be given several times", NULL,
		  run_take_limits, "DEVICE:KEY=VALUE[,...]" },
		{ "in", 0, "create the cgroup of the command below this cgroup", &run.in,
		  options_take_text, "CGROUP" },
		{ "margin", 0, "add this margin to the peaks for the recommended limits",
		  &run.margin, run_take_margin, "PERCENT" },
		{ "kill", 0, "kill the processes that the command leaves, instead of waiting",
		  &run.kill },
		{ "output", 'o', "write the report to this file, not to stderr", &run.output,
		  options_take_text, "FILE" },
	},
	.needs = "a command is missing",
	.in_order = true,
	.args_doc = "[--] COMMAND [ARGUMENT...]",
	.doc =
		"Run a command in a cgroup of its own, and report in the end the peaks, the refused attempts, and limits that would have been enough.\vThe cgroup is a scope of systemd, or with --in or without systemd a cgroup below another cgroup, by default below the cgroup of this shell. rdmacg removes it when the command and the processes that the command has left have ended. The exit status is the command's, or 128+N for signal N.",
};

/*
 * In the new process, wait for a byte, and execute the command. If the parent dies, the pipe ends
 * without a byte. The exit statuses are as in env(1).
 */
static void run_child(void)
{
	char order;
	int error;

	close(run.go[1]);
	if (read(run.go[0], &order, 1) != 1)
		_exit(EXIT_FAILURE);
	sigprocmask(SIG_SETMASK, &run.inherited, NULL);
	execvp(run.command[0], run.command);
	error = errno;
	say_error(run.command[0], "%s", strerror(error));
	_exit(error == ENOENT ? 127 : 126);
}

/* Start a process that waits before the command's first instruction. */
static void run_hold(void)
{
	static const int signals[] = {
		SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2,
	};
	size_t i;

	sigemptyset(&run.forwarded);
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaddset(&run.forwarded, signals[i]);
	sigprocmask(SIG_BLOCK, &run.forwarded, &run.inherited);
	run.child = pipe2(run.go, O_CLOEXEC) ? -1 : fork();
	if (run.child < 0)
		say_and_exit(RUN_FAILED, "fork", "%s", strerror(errno));
	if (!run.child)
		run_child();
	close(run.go[0]);
}

/*
 * Wait at most @milliseconds (-1: no limit) until the child ends, and forward signals to the child.
 * Do not forward signals of a terminal, which has already sent them to the command. Returns 0, or
 * the number of a signal that arrived after the child had ended.
 */
static int run_wait_for(int milliseconds)
{
	struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000L };
	int signal, status;
	siginfo_t info;

	signal = sigtimedwait(&run.forwarded, &info, milliseconds < 0 ? NULL : &time);
	if (signal > 0 && signal != SIGCHLD && run.ended)
		return signal;
	if (signal > 0 && signal != SIGCHLD && info.si_code != SI_KERNEL)
		kill(run.child, signal);
	if (!run.ended && waitpid(run.child, &status, WNOHANG) == run.child) {
		run.ended = true;
		run.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	}
	return 0;
}

/* Set the limits before the command's first instruction. */
static bool run_limit(void)
{
	struct cgroup *cgroup = run.cgroup;
	struct transaction change = { 0 };
	bool good;
	size_t i;

	good = transaction_enable(&run.enabled, cgroup);
	if (!good && !run.in)
		say_note("--in CGROUP creates the cgroup in another place");
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
	const struct slot *slot = NULL;
	struct slot *peak;

	while (!run.ended) {
		run_wait_for(run.has_peaks ? -1 : RUN_LOOK_MS);
		if (!run.has_peaks)
			pools_read(&now, run.cgroup->dir, POOL_BIT(POOL_CURRENT), NULL);
		while ((slot = pools_next(&now, slot))) {
			peak = pools_get_slot(&run.seen, &slot->pool->device, slot->key);
			if (slot->usage > peak->peak)
				peak->peak = slot->usage;
		}
		pools_free(&now);
	}
}

static void run_end_members(void)
{
	int looks = 0;

	procs_signal(run.cgroup, SIGTERM);
	while (procs_signal(run.cgroup, 0)) {
		/* Do not wait any longer after a second signal to this process. */
		if (run_wait_for(RUN_LOOK_MS) || ++looks >= RUN_GRACE_LOOKS)
			procs_signal(run.cgroup, SIGKILL);
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

	if (run.kill)
		run_end_members();
	while ((left = procs_signal(run.cgroup, 0))) {
		if (++looks == RUN_QUIET_LOOKS)
			say_note("the command left %zu process%s in %s; an interrupt ends %s",
				 left, left == 1 ? "" : "es", cgroup_name(run.cgroup),
				 left == 1 ? "it" : "them");
		if (run_wait_for(RUN_LOOK_MS))
			run_end_members();
	}
}

static bool report_has_row(const struct slot *slot)
{
	return slot->peak || slot->events.alloc_fail;
}

static void report_print_table(FILE *to, const struct pools *pools)
{
	static const char * const headings[] = { "DEVICE", "RESOURCE", "PEAK", "LIMIT", "REFUSED" };
	const struct slot *slot = NULL;
	struct table table;

	table_init(&table, "llrrr", headings, 0);
	while ((slot = pools_next(pools, slot))) {
		bool bytes = number_is_bytes(slot->key);

		if (!report_has_row(slot))
			continue;
		table_cell(&table, device_text(&slot->pool->device));
		table_cell(&table, slot->key);
		table_number(&table, true, slot->peak, bytes);
		table_number(&table, true, slot->limit, bytes);
		table_number(&table, slot->has & POOL_BIT(POOL_EVENTS), slot->events.alloc_fail,
			     false);
	}
	table_print(&table, to);
}

/* Print a line such as "rxe0 hca_handle=2 qp=3" for each device, with peaks plus the margin. */
static void report_print_lines(FILE *to, const struct pools *pools)
{
	const struct slot *slot = NULL;
	const struct pool *pool = NULL;

	while ((slot = pools_next(pools, slot))) {
		if (!slot->peak)
			continue;
		if (slot->pool != pool) {
			char *name __autofree = text_escape(device_text(&slot->pool->device));

			fprintf(to, "%s%s", pool ? "\n" : "", name);
			pool = slot->pool;
		}
		fprintf(to, " %s=%" PRIu64, slot->key, number_raise(slot->peak, run.margin));
	}
	if (pool)
		fputc('\n', to);
}

static void report_print_text(FILE *to, const struct pools *pools)
{
	const char *were = run.refused == 1 ? "was" : "were";

	if (!run.rows) {
		fprintf(to, "The command used no RDMA resources%s.\n",
			run.status ? " until it failed" : "");
		return;
	}
	report_print_table(to, pools);
	if (run.status)
		fprintf(to,
			"The command failed (status %d), so it may need more than this, which it used until then:\n",
			run.status);
	else if (run.refused)
		fprintf(to, "%" PRIu64 " of its attempts %s refused, so it may need more than:\n",
			run.refused, were);
	else if (run.margin)
		fprintf(to, "Enough, with %.6g%% more than the peaks:\n", run.margin / 1000.0);
	else
		fputs("Just enough would have been:\n", to);
	if (run.status && run.refused)
		fprintf(to, "(%" PRIu64 " of its attempts %s refused by a limit; see rdmacg why)\n",
			run.refused, were);
	else if (run.memlock != NUMBER_MAX)
		fprintf(to,
			"(no cgroup refused; RLIMIT_MEMLOCK is %s, which is small, and may be the cause)\n",
			number_text(run.memlock, true));
	report_print_lines(to, pools);
}

static struct json_object *report_slot_json(const struct slot *slot)
{
	struct json_object *object = json_pack("resource:s peak:u limit:l", slot->key, slot->peak,
					       slot->limit);
	bool enough = !slot->events.alloc_fail && !run.status;

	if (slot->has & POOL_BIT(POOL_EVENTS))
		json_fill(object, "refused:u", slot->events.alloc_fail);
	json_fill(object, "enough:l", enough ? number_raise(slot->peak, run.margin) : NUMBER_MAX);
	return object;
}

/* Without peaks, take the largest usage that was seen. Look for the cause of a failure. */
static void report_prepare(struct pools *pools)
{
	const struct slot *peak;
	struct slot *slot = NULL;
	bool used = false;

	while ((slot = pools_next(pools, slot))) {
		peak = pools_find_slot(&run.seen, &slot->pool->device, slot->key);
		if (peak)
			slot->peak = peak->peak;
		run.rows += report_has_row(slot);
		run.refused += slot->events.alloc_fail;
		used |= slot->peak;
	}
	/* RLIMIT_MEMLOCK cannot be the cause if the command used no resource. */
	run.memlock = run.status && !run.refused && used ? other_own_memlock() : NUMBER_MAX;
}

static void report_print(FILE *to)
{
	const struct pools *pools = &run.cgroup->pools;
	const char *cause = run.status && run.refused ? "cgroup" :
			    run.memlock != NUMBER_MAX ? "memlock" : NULL;

	if (!options.json)
		report_print_text(to, pools);
	else
		json_print(to, "cgroup:s status:u complete:b cause:s missing:o devices:o",
			   cgroup_name(run.cgroup), (uint64_t)run.status, !run.status,
			   cause, missing_json(pools),
			   pools_json(pools, report_has_row, report_slot_json));
}

/* Write the report. Prints an error and returns false on a failure. */
static bool run_report(void)
{
	if (!cgroup_read_path(run.cgroup, POOL_ALL))
		return false;
	report_prepare(&run.cgroup->pools);
	if (!run.has_peaks && !options.json)
		say_note("this kernel has no rdma.peak, so the usage was read every %d ms",
			 RUN_LOOK_MS);
	report_print(run.to);
	if (!fflush(run.to) && !ferror(run.to) && (run.to == stderr || !fclose(run.to)))
		return true;
	say_error(run.output ? run.output : "standard error",
		  "cannot write the report: %s; the report follows", strerror(errno));
	if (run.output)
		report_print(stderr);
	return false;
}

int cmd_run(int argc, char **argv)
{
	int status = RUN_FAILED;
	bool good;

	run.command = options_read(&run_syntax, argc, argv);
	hierarchy_open(RUN_FAILED);
	/* Open the report before the command begins. A failure after an hour would be too late. */
	run.to = run.output ? fopen(run.output, "we") : stderr;
	if (!run.to)
		say_and_exit(RUN_FAILED, run.output, "cannot write the report to this file: %s",
			     strerror(errno));
	run_hold();
	run.cgroup = run_cgroup_make(run.in, run.child);
	good = run.cgroup && run_limit() && run_cgroup_enter(run.cgroup, run.child);
	/* A child that gets no byte ends without executing the command. */
	if (good && write(run.go[1], "", 1) != 1)
		say_error("pipe", "%s", strerror(errno));
	close(run.go[1]);
	if (good) {
		run_wait();
		run_wait_members();
		/* The status of a failed command is more useful than the status of its report. */
		status = run_report() || run.status ? run.status : RUN_FAILED;
	} else {
		waitpid(run.child, NULL, 0);
	}
	if (run.cgroup)
		run_cgroup_remove(run.cgroup, &run.enabled);
	return status;
}
