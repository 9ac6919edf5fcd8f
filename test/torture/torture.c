// SPDX-License-Identifier: GPL-2.0
/*
 * torture SECONDS SEED ACTOR...: in a guest of its own, let many processes use RDMA devices,
 * objects and cgroups in all ways at once. Only the named actors run.
 *
 * SEED determines the decisions of each process, but not the order in which the processes run. So
 * the same seed repeats the decisions, and perhaps the failure.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "torture.h"

#define PATIENCE	60	/* seconds in which all processes must end */
#define ENOUGH		1000	/* attempts after which an actor must have met a limit */
#define EXCUSES		50	/* attempts after which other actors do not excuse all of them */
#define MOST_PROCESSES	64

static const struct actor {
	const char *name;
	void (*act)(void);
	unsigned int processes;
	unsigned int pause_us;		/* the longest pause between two acts */
	bool meets_limits;		/* a limit must refuse some attempts of this actor */
	bool is_killed;			/* its children act, and are killed at any point */
	const char *needs;		/* a variable that test/torture/guest sets, or NULL */
} actors[] = {
	{ "hold",	torture_hold,		8, 0, .meets_limits = true },
	{ "kill",	torture_hold,		3, 0, .meets_limits = true, .is_killed = true },
	{ "pass",	torture_pass,		3, 0, .meets_limits = true },
	{ "connect",	torture_connect,	3, 0, .meets_limits = true, .is_killed = true },
	{ "limit",	torture_limit,		3, 1000 },
	{ "look",	torture_look,		3, 200 },
	{ "calm",	torture_calm,		2, 500, .needs = "CALM" },
	{ "migrate",	torture_migrate,	2, 2000 },
	{ "tree",	torture_tree,		2, 1000 },
	{ "toggle",	torture_toggle,		1, 2000 },
	{ "rename",	torture_tool,		1, 20000 },
	{ "unplug",	torture_tool,		1, 100000 },
	{ "link",	torture_tool,		1, 20000 },
	{ "netns",	torture_tool,		1, 0, .needs = "NETNS" },
	{ "module",	torture_tool,		1, 2000000, .needs = "MODULES" },
	{ "rds",	torture_rds,		2, 0, .is_killed = true, .meets_limits = true,
	  .needs = "RDS" },
	{ "smc",	torture_smc,		2, 0, .is_killed = true, .needs = "SMC" },
	{ "replug",	torture_tool,		1, 4000000, .needs = "RDS" },
};

/* Shared by all processes. */
static struct {
	atomic_bool stop;
	atomic_bool failed;
	pid_t pids[MOST_PROCESSES];
	struct {
		atomic_ulong done;
		atomic_ulong refused;	/* attempts that a limit refused */
		atomic_ulong excused;	/* attempts that failed because of other actors */
	} outcomes[ARRAY_SIZE(actors)];
} *shared;

static const struct actor *me;
static unsigned int seed;

const char *torture_actor(void)
{
	return me->name;
}

bool torture_running(void)
{
	return !shared->stop && !shared->failed;
}

unsigned int torture_random(unsigned int below)
{
	return random() % below;
}

void torture_pause(unsigned int below_us)
{
	usleep(torture_random(below_us));
}

/* Report the first failure, which ends the test. */
void torture_fail(const char *format, ...)
{
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!atomic_exchange(&shared->failed, true))
		dprintf(STDOUT_FILENO, "not ok torture: seed %u: %s: %s\n", seed,
			me ? me->name : "end", text);
}

/* Report the result of @what: 0 or an errno. */
void torture_did(const char *what, int error, const int *excuses)
{
	unsigned int i = me - actors;

	while (*excuses && *excuses != error)
		excuses++;
	if (!error)
		shared->outcomes[i].done++;
	else if (error == EAGAIN)
		shared->outcomes[i].refused++;
	else if (*excuses)
		shared->outcomes[i].excused++;
	else
		torture_fail("%s: %s, which nothing explains", what, strerror(error));
}

/* Fork a child that ends with its parent, and has its own random numbers. */
pid_t torture_fork(void)
{
	unsigned int new_seed = random();
	pid_t parent = getpid();
	pid_t child = fork();

	if (child < 0)
		torture_did("fork", errno, EXCUSE(ENOMEM));
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(0);
		srandom(new_seed);
	}
	return child;
}

/* Let @child run for a moment, and kill it at any point. Do nothing if there is no child. */
void torture_kill(pid_t child)
{
	torture_pause(1000000);
	if (child > 0 && !kill(child, SIGKILL))
		waitpid(child, NULL, 0);
}

/* Pick an actor's process, which may have ended. 0 stands for this process. */
pid_t torture_random_pid(void)
{
	return shared->pids[torture_random(MOST_PROCESSES)];
}

/* Act until the end. If the actor is killed, only its children act. */
static void act(void)
{
	pid_t child = 0;

	while (me->is_killed && torture_running() && (child = torture_fork()))
		torture_kill(child);
	while (torture_running()) {
		me->act();
		torture_pause(me->pause_us + 1);
	}
	_exit(0);
}

static void start(const struct actor *actor)
{
	static unsigned int nr_pids;
	unsigned int i;
	pid_t child;

	me = actor;
	for (i = 0; i < actor->processes; i++) {
		srandom(seed ^ (actor - actors + 1) << 16 ^ (i + 1));
		child = torture_fork();
		if (!child)
			act();
		if (child > 0)
			shared->pids[nr_pids++] = child;
	}
	me = NULL;
}

static bool is_chosen(const struct actor *actor, char **names)
{
	while (*names && strcmp(*names, actor->name))
		names++;
	return *names && (!actor->needs || getenv(actor->needs));
}

/*
 * Wait until all processes have ended, which takes long with KASAN and one busy CPU. Do not kill
 * actors, because a process that waits for ever is a fault. Only SIGKILL may have ended a process.
 */
static void end(void)
{
	time_t limit = time(NULL) + PATIENCE;
	int status;
	pid_t pid;

	shared->stop = true;
	while ((pid = waitpid(-1, &status, WNOHANG)) >= 0 && time(NULL) < limit) {
		if (!pid)
			usleep(10000);
		else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
			torture_fail("process %d ended with status %#x", pid, status);
	}
	if (pid >= 0)
		torture_fail("a process has not ended for %d s", PATIENCE);
}

/*
 * Print the outcomes of an actor. Fail if the actor did nothing, or if it must reach a limit and
 * reached none. Do not judge an actor that tried little: on a kernel with checkers, the first few
 * hundred processes may be killed before they reach a limit, and a tool may run only ten times.
 */
static void report(const struct actor *actor)
{
	unsigned long done = shared->outcomes[actor - actors].done;
	unsigned long refused = shared->outcomes[actor - actors].refused;
	unsigned long excused = shared->outcomes[actor - actors].excused;

	printf("# %-8s %8lu done %8lu refused %8lu excused\n", actor->name, done, refused, excused);
	if (!done && (!excused || excused >= EXCUSES))
		torture_fail("%s did nothing", actor->name);
	if (actor->meets_limits && !refused && done >= ENOUGH)
		torture_fail("%s met no limit", actor->name);
}

int main(int argc, char **argv)
{
	const struct actor *actor;
	int i;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (argc < 4 || shared == MAP_FAILED)
		return 1;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	seed = strtoul(argv[2], NULL, 10);
	for (actor = actors; actor < actors + ARRAY_SIZE(actors); actor++)
		if (is_chosen(actor, argv + 3))
			start(actor);
	for (i = atoi(argv[1]); i && torture_running(); i--)
		sleep(1);
	end();
	for (actor = actors; actor < actors + ARRAY_SIZE(actors); actor++)
		if (is_chosen(actor, argv + 3))
			report(actor);
	return shared->failed;
}
