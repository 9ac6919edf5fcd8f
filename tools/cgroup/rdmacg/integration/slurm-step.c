// SPDX-License-Identifier: GPL-2.0
/*
 * slurm-step: set the limits of a Slurm job and of its steps on one node. The SPANK plugin in
 * integrations/slurm runs this program before the tasks of a step and at the end of the step, in
 * slurmstepd's cgroup .../job_N/step_M/slurm or below it.
 *
 * The first step that has limits sets the limits of the job, which apply to all its steps together.
 * A later step sets the defaults that the job lacks, for example of a new device. Its request can
 * raise a default of the job, and otherwise sets a limit of the step. With PrologFlags=Contain,
 * Slurm first starts the step "extern" without the request of the job, so it gets the
 * administrator's limits for itself.
 */
#include <sys/file.h>

#include "write/write.h"

/* A step of a Slurm job: its number or, since 26.05, its SLUID in Crockford's base 32. */
#define STEP_PATTERN	"(^|/)(job_[0-9]+|s[0-9A-HJKMNP-TV-Z]{13})/step_[^/]+"
#define STEP_LOCK_SECONDS	10
#define STEP_TRY_MS		20

/* The policy of the job has all rules. The administrator's rules are in plugstack.conf. */
static struct policy step_job = { .place = "plugstack.conf", .config.by_key = true };
/* The policy of the step has only the request, which the policy of the job has checked. */
static struct policy step_own = { .config.by_key = true };
static bool step_end;

/* Take [DEVICE:]KEY=VALUE[,KEY=VALUE].... A rule without a device is for all devices. */
static void step_take_item(struct config *config, const char *section, const char *where,
			   const char *item)
{
	char *rule __autofree = NULL;
	/* A key of rdma.default may begin with "hw:". */
	bool has_device = strchr(item, ':') && strncmp(item, "hw:", 3);

	rule = memory_format("%s%s", has_device ? "" : "default:", item);
	/* Blanks and # have other meanings in a rule. */
	if (strpbrk(item, " \t\r\n") || *item == '#')
		say_and_exit(EXIT_USAGE, where, "%s: write [DEVICE:]KEY=VALUE[,KEY=VALUE]...",
			     item);
	if (!config_add(config, section, where, rule) || !config_check_repeats(config))
		exit(EXIT_USAGE);
}

static void step_take(struct config *config, const char *section, const char *where,
		      const char *text)
{
	char *copy __autofree = memory_string(text), *rest;
	char *item = limits_first_item(copy, &rest);

	for (; item; item = strtok_r(NULL, ";", &rest))
		step_take_item(config, section, where, item);
}

/* Take the request of a user. Only administrators may use patterns. */
static void step_take_asked(const char *text, void *to)
{
	if (text[strcspn(text, "*?[\\")])
		say_and_exit(EXIT_USAGE, "--rdma", "write names of devices, not patterns");
	if (strlen(text) > POLICY_LONGEST)
		say_and_exit(EXIT_USAGE, "--rdma", "is longer than %d characters", POLICY_LONGEST);
	step_take(&step_job.config, POLICY_ASKED, "--rdma", text);
	step_take(&step_own.config, POLICY_SHARE, "--rdma", text);
}

static void step_take_rules(const char *text, void *to)
{
	step_take(&step_job.config, to, step_job.place, text);
}

static const struct syntax step_syntax = {
	.choices = {
		{ "asked", 0, "the request of the user", NULL, "LIMITS", step_take_asked },
		{ "default", 0, "the limits of keys that the job does not request",
		  (void *)POLICY_DEFAULT, "LIMITS", step_take_rules },
		{ "ceiling", 0, "the largest limits that a job may request",
		  (void *)POLICY_CEILING, "LIMITS", step_take_rules },
		{ "end", 0, "print the peaks and refusals of the step", &step_end },
	},
	.doc =
		"Set the limits of the Slurm job and step to which this process belongs. The SPANK plugin runs this program. LIMITS are [DEVICE:]KEY=VALUE[,KEY=VALUE]..., with semicolons between devices.",
};

/* Lock a file of root until the process ends. Any user could lock the folder of a cgroup. */
static void step_lock(void)
{
	char *path __autofree = NULL;
	const char *folder = hierarchy_path("RDMACG_RUN", "/run/rdmacg");
	int64_t end = clock_now() + STEP_LOCK_SECONDS * 1000;
	int fd = -1;

	path = memory_format("%s/slurm.lock", folder);
	if (!mkdir(folder, 0755) || errno == EEXIST)
		fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	while (fd < 0 || flock(fd, LOCK_EX | LOCK_NB)) {
		if (fd < 0 || errno != EWOULDBLOCK)
			say_failure(path, "%s", strerror(errno));
		if (clock_now() > end)
			say_failure(path,
				    "another step has held this lock for %d s; end its slurm-step",
				    STEP_LOCK_SECONDS);
		clock_sleep(STEP_TRY_MS);
	}
}

/* Set the limits. The lock prevents that two steps set the limits of the job. */
static void step_limit(struct cgroup *cgroup)
{
	struct cgroup *job = cgroup->parent;
	const struct slot *slot = NULL;

	step_lock();
	if (!strcmp(basename(cgroup->name), "step_extern")) {
		policy_limits(&step_job, cgroup);
		return;
	}
	if (!cgroup_read(job, POOL_BIT(POOL_MAX)))
		exit(EXIT_FAILED);
	while ((slot = pools_next(&job->pools, slot)))
		step_job.keep |= slot->max != NUMBER_MAX;
	policy_limits(&step_job, job);
	/* If the job now has the request as its limits, the step does not need them. */
	if (!step_job.keep)
		config_free(&step_own.config);
	policy_limits(&step_own, cgroup);
}

/* Print the peaks and refusals that are not 0, a line for each device. */
static void step_print(struct cgroup *cgroup)
{
	const struct slot *slot, *end;
	const struct pool *pool;

	if (!cgroup_read(cgroup, POOL_ALL))
		exit(EXIT_FAILED);
	for (pool = cgroup->pools.first; pool; pool = pool->next) {
		char *peaks __autofree = NULL, *refused __autofree = NULL;

		end = pool->slots + pool->nr_slots;
		for (slot = pool->slots; slot < end; slot++) {
			if (slot->peak)
				memory_extend(&peaks, " %s=%s", slot->key,
					      number_text(slot->peak,
							  number_is_bytes(slot->key)).s);
			if (slot->events.alloc_fail)
				memory_extend(&refused, " %s=%" PRIu64, slot->key,
					      slot->events.alloc_fail);
		}
		if (peaks || refused)
			say_line("%s: peaks:%s; refused:%s", device_text(&pool->device).s,
				 peaks ? peaks : " none", refused ? refused : " none");
	}
}

/* The length of @name up to the end of its last part that is a step of a Slurm job, or 0. */
static size_t step_end_of(const char *name)
{
	size_t found = 0;
	regmatch_t match;
	regex_t step;

	if (regcomp(&step, STEP_PATTERN, REG_EXTENDED))
		abort();
	while (!regexec(&step, name + found, 1, &match, found ? REG_NOTBOL : 0))
		found += match.rm_eo;
	regfree(&step);
	return found;
}

/* Whether Slurm has put this process into the cgroup of a step on cgroup v1. */
static bool step_is_on_v1(void)
{
	char *text __autofree = file_read(AT_FDCWD, hierarchy_proc("self/cgroup").s);
	char *cursor = text, *line;

	/* A line of cgroup v2 is "0::PATH". */
	while ((line = file_next_line(&cursor)))
		if (strncmp(line, "0::", 3) && step_end_of(line))
			return true;
	return false;
}

/* End the program with an error that says what Slurm lacks. */
static void step_fail(const char *name)
{
	say_failure("slurmstepd",
		    "runs in %s, which is not below the cgroup of a job's step; %s",
		    *name ? name : "/", hierarchy.v2 && !step_is_on_v1() ?
		    "set ProctrackType=proctrack/cgroup in slurm.conf" :
		    "Slurm needs cgroup v2 for that: boot the node with cgroup v2 only, and remove CgroupPlugin=cgroup/v1 from cgroup.conf");
}

int cmd_slurm_step(int argc, char **argv)
{
	char *name __autofree = NULL;
	struct cgroup *cgroup;
	size_t length;

	options_read(&step_syntax, argc, argv);
	if (options.json)
		options_fail("-j", "slurm-step prints a line for each device, not JSON");
	/* A node without the controller is not an error if there are no limits to set. */
	if (!step_end && !step_job.config.nr_rules)
		return EXIT_DONE;
	hierarchy_open(EXIT_FAILED);
	name = hierarchy_cgroup_of(0);
	if (!name)
		return EXIT_FAILED;
	length = step_end_of(name);
	if (!length)
		step_fail(name);
	name[length] = '\0';
	/* The step's cgroup, whose parent is the job's cgroup. */
	cgroup = cgroup_open(name);
	if (!cgroup)
		return EXIT_FAILED;
	if (step_end)
		step_print(cgroup);
	else
		step_limit(cgroup);
	cgroup_close_path(cgroup);
	return EXIT_DONE;
}
