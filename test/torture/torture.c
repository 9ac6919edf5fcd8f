// SPDX-License-Identifier: GPL-2.0
/*
 * torture SECONDS SEED [ACTOR...]: in a guest of its own, let many processes use RDMA devices,
 * objects and cgroups in all ways at once. If actors are named, only these run, which helps to find
 * the cause of a failure.
 *
 * SEED determines the decisions of each process, but not the order in which the processes run. So
 * the same seed repeats the decisions, and perhaps the failure.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "torture.h"

/* An actor notices the end within this time, even with KASAN and one busy CPU. */
#define TORTURE_PATIENCE 60
#define TORTURE_MOST_PROCESSES 64

struct torture_actor {
	const char *name;
	void (*act)(void);
	unsigned int processes;
	bool meets_limits;		/* a limit must refuse some attempts of this actor */
	const char *needs;		/* a variable that test/torture/guest sets, or NULL */
};

static const struct torture_actor torture_actors[] = {
	{ "hold",	torture_hold,		8, true },
	{ "kill",	torture_kill,		3, true },
	{ "pass",	torture_pass,		3, true },
	{ "connect",	torture_connect,	3, true },
	{ "limit",	torture_limit,		3 },
	{ "look",	torture_look,		3 },
	{ "calm",	torture_calm,		2, .needs = "CALM" },
	{ "migrate",	torture_migrate,	2 },
	{ "tree",	torture_tree,		2 },
	{ "toggle",	torture_toggle,		1 },
	{ "rename",	torture_rename,		1 },
	{ "unplug",	torture_unplug,		1 },
	{ "link",	torture_link,		1 },
	{ "netns",	torture_netns,		1, .needs = "NETNS" },
	{ "module",	torture_module,		1, .needs = "MODULES" },
	{ "rds",	torture_rds,		2, true, .needs = "RDS" },
	{ "smc",	torture_smc,		2, .needs = "SMC" },
	{ "replug",	torture_replug,		1, .needs = "RDS" },
};

struct torture_outcomes {
	atomic_ulong done;
	atomic_ulong refused;	/* attempts that a limit refused */
	atomic_ulong excused;	/* attempts that failed because of other actors */
};

/* Shared by all processes. */
static struct torture_shared {
	atomic_bool stop;
	atomic_bool failed;
	char reason[512];	/* the reason of the first failure */
	atomic_uint nr_pids;
	pid_t pids[TORTURE_MOST_PROCESSES];
	struct torture_outcomes outcomes[ARRAY_SIZE(torture_actors)];
} *shared;

static const struct torture_actor *me;
static time_t deadline;

static time_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

bool torture_running(void)
{
	return !shared->stop && now() < deadline;
}

unsigned int torture_random(unsigned int below)
{
	return random() % below;
}

void torture_pause(unsigned int below_us)
{
	usleep(torture_random(below_us));
}

/* Store a failure and stop. The test reports the first failure at the end. */
void torture_fail(const char *format, ...)
{
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	text[strcspn(text, "\n")] = '\0';
	if (!atomic_exchange(&shared->failed, true))
		snprintf(shared->reason, sizeof(shared->reason), "%s: %s",
			 me ? me->name : "end", text);
	shared->stop = true;
}

static bool torture_is_excused(int error, const int *excuses)
{
	while (*excuses && *excuses != error)
		excuses++;
	return *excuses;
}

/* Report the result of @what: 0 or an errno. */
void torture_did(const char *what, int error, const int *excuses)
{
	struct torture_outcomes *outcomes = &shared->outcomes[me - torture_actors];

	if (!error)
		outcomes->done++;
	else if (error == EAGAIN)
		outcomes->refused++;
	else if (torture_is_excused(error, excuses))
		outcomes->excused++;
	else
		torture_fail("%s: %s, which nothing explains", what, strerror(error));
}

/* Fork a child that ends with its parent, and has its own random numbers. */
pid_t torture_fork(void)
{
	unsigned int seed = random();
	pid_t parent = getpid();
	pid_t child = fork();

	if (child < 0)
		torture_did("fork", errno, EXCUSE(ENOMEM));
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(0);
		srandom(seed);
	}
	return child;
}

/* Pick an actor's process, which may have ended. */
pid_t torture_random_pid(void)
{
	unsigned int count = shared->nr_pids;

	return count ? shared->pids[torture_random(count)] : getpid();
}

/* Returns 0 or an errno. The text ends with a NUL. */
int torture_read(const char *path, char *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;
	int error;

	if (fd < 0)
		return errno;
	len = read(fd, text, TORTURE_TEXT - 1);
	error = len < 0 ? errno : 0;
	text[len < 0 ? 0 : len] = '\0';
	close(fd);
	return error;
}

/* Returns 0 or an errno. */
int torture_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int error;

	if (fd < 0)
		return errno;
	error = write(fd, text, strlen(text)) < 0 ? errno : 0;
	close(fd);
	return error;
}

static void torture_start(const struct torture_actor *actor, unsigned int seed)
{
	unsigned int i;
	pid_t child;

	me = actor;
	for (i = 0; i < actor->processes; i++) {
		srandom(seed ^ (actor - torture_actors + 1) << 16 ^ (i + 1));
		child = torture_fork();
		if (!child) {
			while (torture_running())
				actor->act();
			_exit(0);
		}
		if (child > 0)
			shared->pids[shared->nr_pids++] = child;
	}
}

static bool torture_is_chosen(const struct torture_actor *actor, char **names)
{
	if (actor->needs && !getenv(actor->needs))
		return false;
	if (!*names)
		return true;
	while (*names && strcmp(*names, actor->name))
		names++;
	return *names;
}

/* Report an actor's process that does not end, and the function of the kernel in which it waits. */
static void torture_fail_stuck(void)
{
	static char wchan[TORTURE_TEXT];
	unsigned int i = 0;
	char path[64];

	while (i < shared->nr_pids - 1 && kill(shared->pids[i], 0))
		i++;
	sprintf(path, "/proc/%d/wchan", shared->pids[i]);
	torture_fail("process %d has not ended for %d s; it waits in %s", shared->pids[i],
		     TORTURE_PATIENCE, torture_read(path, wchan) ? "nothing" : wchan);
}

static bool torture_is_actor(pid_t pid)
{
	unsigned int i = 0;

	while (i < shared->nr_pids && shared->pids[i] != pid)
		i++;
	return i < shared->nr_pids;
}

/* Wait for all processes, including orphans. */
static void torture_reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) >= 0) {
		if (shared->stop && now() < deadline)
			deadline = now();
		if (!pid && now() > deadline + TORTURE_PATIENCE) {
			torture_fail_stuck();
			return;
		}
		if (!pid)
			usleep(10000);
		/*
		 * Accept SIGKILL only for the children of actors, because an actor's own process
		 * ends by itself.
		 */
		else if (torture_is_actor(pid) ? status :
			 WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
			torture_fail("process %d ended with status %#x", pid, status);
	}
}

#define TORTURE_ENOUGH 1000

/*
 * Print the outcomes of each actor. Fail if an actor did nothing, or if an actor that must reach a
 * limit reached none. Do not judge the limits of an actor that did little: on a kernel with
 * checkers, the first few hundred processes may be killed before they reach a limit.
 */
static unsigned long torture_report(char **names)
{
	const struct torture_outcomes *outcomes = shared->outcomes;
	const struct torture_actor *actor;
	unsigned long sum = 0;

	for (actor = torture_actors; actor < torture_actors + ARRAY_SIZE(torture_actors);
	     actor++, outcomes++) {
		if (!torture_is_chosen(actor, names)) {
			printf("# %-8s did not act\n", actor->name);
			continue;
		}
		printf("# %-8s %8lu done %8lu refused %8lu excused\n", actor->name,
		       outcomes->done, outcomes->refused, outcomes->excused);
		if (!outcomes->done)
			torture_fail("%s did nothing", actor->name);
		if (actor->meets_limits && !outcomes->refused && outcomes->done >= TORTURE_ENOUGH)
			torture_fail("%s met no limit", actor->name);
		sum += outcomes->done + outcomes->refused;
	}
	return sum;
}

static void torture_run(unsigned int seed, char **names)
{
	const struct torture_actor *actor;

	for (actor = torture_actors; actor < torture_actors + ARRAY_SIZE(torture_actors); actor++)
		if (torture_is_chosen(actor, names))
			torture_start(actor, seed);
	me = NULL;
	torture_reap();
}

int main(int argc, char **argv)
{
	unsigned int seed;

	if (argc < 3 || geteuid()) {
		fprintf(stderr, "usage, as root: torture SECONDS SEED [ACTOR...]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IONBF, 0);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	seed = strtoul(argv[2], NULL, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);

	torture_verbs_init();
	torture_socket_init();
	deadline = now() + atoi(argv[1]);
	torture_run(seed, argv + 3);
	torture_report(argv + 3);
	if (shared->failed)
		printf("not ok torture: %s (seed %s)\n", shared->reason, argv[2]);
	return shared->failed;
}
