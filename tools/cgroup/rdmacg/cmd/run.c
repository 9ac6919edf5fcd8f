// SPDX-License-Identifier: GPL-2.0
/* rdmacg run: a command in a cgroup of its own, which has the limits before the command begins. */
#include <ftw.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>

#include "write/write.h"

/* The exit status for failures of run itself, as with env(1). */
#define RUN_FAILED		125

/* The interval between two reads of the usage, or between two checks for remaining processes. */
#define RUN_LOOK_MS		100
/* Print a message after this number of checks, because most remaining processes end at once. */
#define RUN_QUIET_LOOKS		10
/* The time from SIGTERM to SIGKILL. */
#define RUN_GRACE_LOOKS		50

/* Tries, each 10 ms, to remove the cgroup, or to find this process there. */
#define RUN_CGROUP_TRIES	500
/* The name of the cgroup is this prefix and a number. */
#define RUN_CGROUP_NAME		"rdmacg-run-"

static struct run {
	char **command;
	struct limits *limits;
	size_t nr_limits;
	const char *in;
	const char *output;
	FILE *to;
	uint64_t margin;	/* the margin, in thousandths of a percent */
	bool kill;
	pid_t child;
	bool began;	/* the command has begun in the child */
	bool ended;	/* the child has ended */
	int status;	/* exit status of the child, as a shell computes it */
	sigset_t forwarded;	/* signals that are forwarded to the child */
	sigset_t inherited;	/* the signal mask of the command */
	sighandler_t inherited_child;	/* the command's SIGCHLD: daemons may ignore it */
	struct cgroup *cgroup;
	bool scope;	/* the cgroup is a scope of systemd, and has also this process */
	struct cgroup *inner;	/* of the command: @cgroup, a child of a scope, or NULL */
	struct transaction enabled;	/* the writes that enabled the controller */
	struct pools seen;	/* the largest usage, if the kernel has no peaks */
	bool has_peaks;
	struct table table;
	char *lines;	/* of limits, for each device, in the report */
	uint64_t refused;
} run;

/* Take DEVICE:KEY=VALUE[,KEY=VALUE]...[;DEVICE:...]. */
static void run_take_limits(const char *text, void *to)
{
	char *copy __autofree = memory_string(text), *rest;
	char *item = limits_first_item(copy, &rest);

	for (; item; item = strtok_r(NULL, ";", &rest))
		if (!limits_parse_option(memory_append(run.limits, run.nr_limits), item))
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
		  "DEVICE:KEY=VALUE[,...]", run_take_limits },
		{ "in", 0, "create the cgroup of the command below this cgroup", &run.in,
		  "CGROUP" },
		{ "margin", 0, "add this margin to the peaks for the recommended limits",
		  &run.margin, "PERCENT", run_take_margin },
		{ "kill", 0, "kill the processes that the command leaves, instead of waiting",
		  &run.kill },
		{ "output", 'o', "write the report to this file, not to stderr", &run.output,
		  "FILE" },
	},
	.needs = "a command is missing", .in_order = true,
	.args_doc = "[--] COMMAND [ARGUMENT...]",
	.example = "rdmacg run --limit mlx5_0:qp=100,mr_mem=1G -- ib_write_bw",
	.doc =
		"Run a command in a cgroup of its own. When the command has ended, report the peaks, the refused attempts, and limits that would have been enough.\vThe cgroup is a scope of systemd. With --in or without systemd, it is below another cgroup, by default below the cgroup of this shell. rdmacg removes the cgroup when the command and the processes that the command has left have ended. The exit status is the command's, or 128+N for signal N.",
};

/*
 * Let systemd create a scope with this process, which stays in it, so that its files can be read at
 * the end. Returns the name of the cgroup, or NULL after an error.
 */
static char *run_cgroup_make_scope(void)
{
	char *unit __autofree = memory_format(RUN_CGROUP_NAME "%d.scope", getpid());
	char *name = NULL;
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus *bus = NULL;
	int tries = RUN_CGROUP_TRIES;
	int ret = geteuid() ? sd_bus_open_user(&bus) : sd_bus_open_system(&bus);

	if (ret >= 0)
		ret = sd_bus_call_method(bus, "org.freedesktop.systemd1",
					 "/org/freedesktop/systemd1",
					 "org.freedesktop.systemd1.Manager", "StartTransientUnit",
					 &error, NULL, "ssa(sv)a(sa(sv))", unit, "fail", 2,
					 "Description", "s", "rdmacg run",
					 "PIDs", "au", 1, (uint32_t)getpid(), 0);
	while (ret >= 0 && (name = hierarchy_cgroup_of(0)) && !strstr(name, unit)) {
		free(name);
		name = NULL;
		clock_sleep(10);
		ret = tries-- ? 0 : -ETIMEDOUT;
	}
	if (ret < 0)
		say_error(unit,
			  "systemd does not create this scope: %s; --in CGROUP works without it",
			  error.message ? error.message : strerror(-ret));
	sd_bus_error_free(&error);
	sd_bus_flush_close_unref(bus);
	return name;
}

/* Create a scope, or a cgroup below that of --in or of this process. */
static void run_cgroup_make(void)
{
	char *name __autofree = NULL;
	int number, error = EEXIST;
	struct cgroup *parent;

	/* On v1, the controller's hierarchy does not belong to systemd. */
	run.scope = !run.in && hierarchy.v2 && !*hierarchy_path("RDMACG_ROOT", "") &&
		    sd_booted() > 0;
	if (run.scope)
		name = run_cgroup_make_scope();
	else
		name = run.in ? hierarchy_resolve(run.in) : hierarchy_cgroup_of(0);
	parent = name ? cgroup_open(name) : NULL;
	if (!parent)
		exit(RUN_FAILED);
	run.cgroup = run.scope ? parent : NULL;
	/* A write to the scope's cgroup.kill would also end this process. */
	if (run.scope && !mkdirat(parent->dir, "command", 0755))
		run.inner = cgroup_open_child(parent, "command");
	/* A process with the same number may have left a cgroup with this name. */
	for (number = getpid(); !run.cgroup && error == EEXIST; number++) {
		char *base __autofree = memory_format(RUN_CGROUP_NAME "%d", number);

		if (!mkdirat(parent->dir, base, 0755))
			run.cgroup = cgroup_open_child(parent, base);
		error = errno;
		run.inner = run.cgroup;
	}
	if (run.cgroup)
		return;
	say_and_exit(RUN_FAILED, cgroup_name(parent), "cannot create a cgroup here: %s%s",
		     strerror(error), error != EACCES && error != EPERM ? "" :
		     run.in ? "; run as root" : "; run as root or use --in");
}

/* For nftw(): remove a cgroup whose descendants are removed. */
static int run_cgroup_remove_one(const char *path, const struct stat *status, int type,
				 struct FTW *place)
{
	if (type != FTW_DP || !unlinkat(AT_FDCWD, path, AT_REMOVEDIR) || file_is_gone(errno))
		return 0;
	return errno;
}

/* Remove the cgroup, and disable the controller again if no sibling can use it. */
static void run_cgroup_remove(void)
{
	char *path __autofree = memory_format("%s/%s", hierarchy.path, run.cgroup->name);
	int error = EBUSY, tries;

	for (tries = 0; error == EBUSY && tries < RUN_CGROUP_TRIES; tries++) {
		if (tries)
			clock_sleep(10);
		error = nftw(path, run_cgroup_remove_one, 16, FTW_DEPTH | FTW_PHYS);
		/* systemd removes the scope and manages the cgroups above it. */
		if (run.scope)
			return;
		if (error < 0)
			error = errno;
	}
	if (error && !file_is_gone(error))
		say_warning(cgroup_name(run.cgroup),
			    "cannot be removed: %s; remove it later with rmdir(1)",
			    strerror(error));
	/* Keep the controller for a sibling, which may have limits. */
	cgroup_list(run.cgroup->parent);
	if (!run.cgroup->parent->nr_children)
		transaction_undo(&run.enabled);
}

/* Execute the command in its cgroup. Returns the exit status after a failure, as in env(1). */
static int run_execute(void)
{
	int error = run.inner ? -file_write(run.inner->dir, "cgroup.procs", "0") : 0;

	if (error && !run.scope) {
		say_error(cgroup_name(run.cgroup),
			  "cannot move the command to this cgroup: %s; on cgroup v2, a common ancestor's cgroup.procs must belong to you",
			  strerror(error));
		return RUN_FAILED;
	}
	sigprocmask(SIG_SETMASK, &run.inherited, NULL);
	signal(SIGCHLD, run.inherited_child);
	execvp(run.command[0], run.command);
	error = errno;
	say_error(run.command[0], "%s", strerror(error));
	return error == ENOENT ? 127 : 126;
}

/* Start the command, and wait until it has begun or failed to begin. */
static bool run_start(void)
{
	int ends[2], status;
	char byte = 0;

	/* A successful execve() closes the pipe without a byte in it. */
	if (pipe2(ends, O_CLOEXEC))
		return say_error("pipe", "%s", strerror(errno));
	run.child = fork();
	if (run.child < 0)
		return say_error("fork", "%s", strerror(errno));
	if (!run.child) {
		status = run_execute();
		_exit(write(ends[1], &byte, 1) == 1 ? status : RUN_FAILED);
	}
	close(ends[1]);
	run.began = !TEMP_FAILURE_RETRY(read(ends[0], &byte, 1));
	close(ends[0]);
	return true;
}

/*
 * Wait for a signal, such as SIGCHLD at the child's end. If the child has ended, or if the kernel
 * has no peaks and the usage must be read, wait only for a moment. Forward signals to the child,
 * except signals of a terminal, which has already sent them to the command. Returns whether a
 * signal arrived after the child had ended.
 */
static bool run_wait_for(void)
{
	static const struct timespec time = { 0, RUN_LOOK_MS * 1000000L };
	const struct slot *slot = NULL;
	struct pools now = { 0 };
	bool ended = run.ended;
	siginfo_t info;
	int signal = sigtimedwait(&run.forwarded, &info, run.has_peaks && !ended ? NULL : &time);
	struct slot *peak;
	int status;

	if (!run.has_peaks)
		pools_read(&now, run.cgroup->dir, POOL_BIT(POOL_CURRENT), NULL);
	while ((slot = pools_next(&now, slot))) {
		peak = pools_get_slot(&run.seen, &slot->pool->device, slot->key);
		peak->peak = max(peak->peak, slot->usage);
	}
	pools_free(&now);
	if (signal > 0 && signal != SIGCHLD && !ended && info.si_code != SI_KERNEL)
		kill(run.child, signal);
	if (!ended && waitpid(run.child, &status, WNOHANG) == run.child) {
		run.ended = true;
		run.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	}
	return ended && signal > 0 && signal != SIGCHLD;
}

/* Set the limits before the command's first instruction. */
static bool run_limit(void)
{
	static struct transaction limits;
	struct cgroup *cgroup = run.cgroup;
	bool good = transaction_enable(&run.enabled, cgroup);
	size_t i;

	if (!good && !run.in)
		say_note("--in CGROUP creates the cgroup in another place");
	good = good && cgroup_read_path(cgroup, POOL_ALL);
	capacity_read();
	for (i = 0; i < run.nr_limits && good; i++)
		good = limits_add(&run.limits[i], &limits, cgroup);
	run.has_peaks = cgroup->pools.files[POOL_HCA] & POOL_BIT(POOL_PEAK);
	return good && transaction_apply(&limits);
}

/*
 * End all processes of the command. They can create processes faster than signals reach them, so
 * let the kernel end all of them at once. Signals reach the processes that have moved from the
 * child of a scope to the scope, and all on cgroup v1 and kernels before 5.14, without cgroup.kill.
 */
static void run_kill(void)
{
	if (run.inner)
		file_write(run.inner->dir, "cgroup.kill", "1");
	procs_signal(run.cgroup, SIGKILL);
}

/*
 * Wait until the last process ends, because the command may have left processes on purpose. With
 * --kill or after a signal, end them, and kill them after a while or after another signal.
 */
static void run_wait(void)
{
	bool signalled = run.kill, ends = false;
	int looks = 0;
	size_t left;

	while (!run.ended)
		run_wait_for();
	while ((left = procs_signal(run.cgroup, 0))) {
		if (ends && (signalled || looks >= RUN_GRACE_LOOKS)) {
			run_kill();
		} else if (signalled) {
			procs_signal(run.cgroup, SIGTERM);
			ends = true;
			looks = 0;
		} else if (looks == RUN_QUIET_LOOKS && !ends) {
			say_note("the command left %zu process%s in %s; an interrupt ends %s",
				 left, left == 1 ? "" : "es", cgroup_name(run.cgroup),
				 left == 1 ? "it" : "them");
		}
		signalled = run_wait_for();
		looks++;
	}
}

static bool report_has_row(const struct slot *slot)
{
	return slot->peak || slot->events.alloc_fail;
}

static void report_print_text(FILE *to)
{
	const char *were = run.refused == 1 ? "was" : "were";

	if (!run.began) {
		fputs("The command did not begin.\n", to);
		return;
	}
	if (!run.table.nr_cells) {
		fprintf(to, "%s%s.\n", run.has_peaks ? "The command used no RDMA resources" :
			"No usage of RDMA resources was seen",
			run.status ? " until it failed" : "");
		return;
	}
	table_print(&run.table, to);
	if (run.status)
		fprintf(to,
			"The command failed (status %d), so it may need more than this, which it used until then:\n",
			run.status);
	else if (run.refused)
		fprintf(to, "%" PRIu64
			" of the command's attempts %s refused, so it may need more than:\n",
			run.refused, were);
	else if (!run.has_peaks)
		fputs("Reads may miss the peaks, so the command may need more than:\n", to);
	else if (run.margin)
		fprintf(to, "Enough, with %.6g%% more than the peaks:\n", run.margin / 1000.0);
	else
		fputs("Just enough would have been:\n", to);
	if (run.status && run.refused)
		fprintf(to, "(%" PRIu64
			" of the command's attempts %s refused by a limit; see rdmacg why)\n",
			run.refused, were);
	if (run.lines)
		fprintf(to, "%s\n", run.lines);
}

static struct json_object *report_slot_json(const struct slot *slot)
{
	struct json_object *object = json_pack("resource:s peak:u limit:l", slot->key, slot->peak,
					       slot->limit);
	bool enough = run.has_peaks && !slot->events.alloc_fail && !run.status;

	if (slot->has & POOL_BIT(POOL_EVENTS))
		json_fill(object, "refused:u", slot->events.alloc_fail);
	json_fill(object, "enough:l", enough ? number_raise(slot->peak, run.margin) : NUMBER_MAX);
	return object;
}

/* Without peaks in the kernel, take the largest usage that was seen. */
static void report_fill(void)
{
	static const char * const headings[] = { "DEVICE", "RESOURCE", "PEAK", "LIMIT", "REFUSED" };
	const struct pool *pool = NULL;
	const struct slot *seen;
	struct slot *slot = NULL;

	table_init(&run.table, "llrrr", headings, 0);
	while ((slot = pools_next(&run.cgroup->pools, slot))) {
		char *device __autofree = text_escape(device_text(&slot->pool->device).s);
		bool bytes = number_is_bytes(slot->key);

		seen = pools_find_slot(&run.seen, &slot->pool->device, slot->key);
		if (seen)
			slot->peak = seen->peak;
		if (!report_has_row(slot))
			continue;
		run.refused += slot->events.alloc_fail;
		table_cell(&run.table, device_text(&slot->pool->device).s);
		table_cell(&run.table, slot->key);
		table_number(&run.table, true, slot->peak, bytes);
		table_cell(&run.table, cgroup_limit_text(slot->limit, bytes).s);
		table_number(&run.table, slot->has & POOL_BIT(POOL_EVENTS),
			     slot->events.alloc_fail, false);
		if (!slot->peak)
			continue;
		if (slot->pool != pool)
			memory_extend(&run.lines, "%s%s", run.lines ? "\n" : "", device);
		pool = slot->pool;
		memory_extend(&run.lines, " %s=%" PRIu64, slot->key,
			      number_raise(slot->peak, run.margin));
	}
}

/* Write the report. Prints an error and returns false on a failure. */
static bool run_report(void)
{
	char *report __autofree = NULL;
	const struct pools *pools = &run.cgroup->pools;
	size_t size;
	FILE *to;

	if (!cgroup_read_path(run.cgroup, POOL_ALL))
		return false;
	if (!pools->files[POOL_HCA])
		return say_error(cgroup_name(run.cgroup),
				 "was removed, so the usage of the command is unknown");
	report_fill();
	if (!run.has_peaks && !options.json)
		say_note("this kernel has no rdma.peak, so the usage was read every %d ms",
			 RUN_LOOK_MS);
	to = memory_check(open_memstream(&report, &size));
	if (!options.json)
		report_print_text(to);
	else
		json_print(to, "cgroup:s began:b status:u complete:b cause:s missing:o devices:o",
			   cgroup_name(run.cgroup), run.began, (uint64_t)run.status, !run.status,
			   run.status && run.refused ? "cgroup" : NULL, missing_json(pools),
			   pools_json(pools, report_has_row, report_slot_json));
	fclose(to);
	if (fputs(report, run.to) >= 0 && !fflush(run.to) && (run.to == stderr || !fclose(run.to)))
		return true;
	say_error(run.output ? run.output : "standard error",
		  "cannot write the report: %s; the report follows", strerror(errno));
	if (run.output)
		fputs(report, stderr);
	return false;
}

int cmd_run(int argc, char **argv)
{
	static const int signals[] = {
		SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2,
	};
	int status = RUN_FAILED;
	size_t i;

	run.command = options_read(&run_syntax, argc, argv);
	hierarchy_open(RUN_FAILED);
	/* Open the report before the command begins. A failure after an hour would be too late. */
	run.to = run.output ? fopen(run.output, "we") : stderr;
	if (!run.to)
		say_and_exit(RUN_FAILED, run.output, "cannot write the report to this file: %s",
			     strerror(errno));
	sigemptyset(&run.forwarded);
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaddset(&run.forwarded, signals[i]);
	sigprocmask(SIG_BLOCK, &run.forwarded, &run.inherited);
	run.inherited_child = signal(SIGCHLD, SIG_DFL);
	run_cgroup_make();
	if (run_limit() && run_start()) {
		run_wait();
		/* The status of a failed command is more useful than the status of its report. */
		status = run_report() || run.status ? run.status : RUN_FAILED;
	}
	run_cgroup_remove();
	return status;
}
