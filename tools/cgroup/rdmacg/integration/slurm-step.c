// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg slurm-step: limits of a job of Slurm and of its steps, on one node.
 *
 * The SPANK plugin in integrations/slurm runs this in slurmstepd's cgroup, which is
 * .../job_N/step_M/slurm or below, before a task of the step is there, and once more at the end.
 *
 * The limits of the job hold for all its steps together. The first step that has something
 * to say sets them; from then on a step can have less for itself, and cannot raise them.
 */
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "core/core.h"
#include "write/policy.h"

enum { STEP_KEY_ASKED = OPTIONS_KEY, STEP_KEY_DEFAULT, STEP_KEY_CEILING, STEP_KEY_END };

struct step {
	struct policy policy;
	bool malformed;
	bool end;
};

#define STEP_LOCK_SECONDS	10

/* Of the lock; tests have another one. */
static const char *step_folder(void)
{
	const char *other = getenv("RDMACG_RUN");

	return other && *other ? other : "/run/rdmacg";
}

/* Where the administrator has written what comes as options here. */
static const char step_place[] = "plugstack.conf";

static const struct argp_option step_options[] = {
	{ "asked", STEP_KEY_ASKED, "LIMITS", 0, "what the user has asked for", 0 },
	{ "default", STEP_KEY_DEFAULT, "LIMITS", 0, "for jobs that do not ask", 0 },
	{ "ceiling", STEP_KEY_CEILING, "LIMITS", 0, "what a job may ask for at most", 0 },
	{ "end", STEP_KEY_END, NULL, 0, "print what the step has used, and what was refused", 0 },
	{ 0 }
};

/* A rule of the section; without a device, it is for all. */
static bool step_take_rule(struct config *config, const char *section, const char *where,
			   const char *text)
{
	char *copy = memory_format("%s%s", strchr(text, ':') ? "" : "default:", text);
	struct rule *rule;
	bool good;

	config->rules = memory_grow(config->rules, config->nr_rules, sizeof(*rule));
	rule = &config->rules[config->nr_rules++];
	rule->where = memory_string(where);
	rule->parts = memory_zeroed(1, sizeof(*rule->parts));
	rule->parts[rule->nr_parts++] = memory_string(section);
	say_within(where);
	good = limits_parse_option(&rule->limits, copy);
	say_within(NULL);
	free(copy);
	return good;
}

/* [DEVICE:]KEY=VALUE[,KEY=VALUE]...[;...] */
static bool step_take(struct config *config, const char *section, const char *where,
		      const char *text)
{
	char *copy = memory_string(text);
	char *rest = copy;
	bool good = true;

	while (good && rest)
		good = step_take_rule(config, section, where, strsep(&rest, ";"));
	free(copy);
	return good && policy_check(config);
}

/* Patterns are for administrators. */
static bool step_take_asked(struct config *asked, const char *text)
{
	if (!text[strcspn(text, "*?[\\")])
		return step_take(asked, POLICY_DEFAULT, "--rdma", text);
	say_error("--rdma", "write names of devices, no patterns");
	return false;
}

static error_t step_parse(int key, char *arg, struct argp_state *state)
{
	struct step *step = state->input;
	struct policy *policy = &step->policy;
	bool good = true;

	switch (key) {
	case STEP_KEY_ASKED:
		good = step_take_asked(&policy->asked, arg);
		break;
	case STEP_KEY_DEFAULT:
		good = step_take(&policy->config, POLICY_DEFAULT, step_place, arg);
		break;
	case STEP_KEY_CEILING:
		good = step_take(&policy->config, POLICY_CEILING, step_place, arg);
		break;
	case STEP_KEY_END:
		step->end = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	step->malformed |= !good;
	return 0;
}

static const struct argp step_argp = {
	.options = step_options,
	.parser = step_parse,
	.children = options_child,
	.doc =
		"Set the limits of the Slurm job and step to which this process belongs; for the SPANK plugin. LIMITS are [DEVICE:]KEY=VALUE[,KEY=VALUE]..., with semicolons between devices.",
};

/* The step's cgroup; its parent is the job's. */
static struct cgroup *step_open(void)
{
	char *name = hierarchy_cgroup_of(0);
	struct cgroup *cgroup = NULL;
	struct foreign step;
	size_t length;
	char *path;

	if (!name)
		return NULL;
	path = memory_string(name);
	foreign_init(&step, FOREIGN_STEP, "");
	length = foreign_end(&step, name);
	foreign_free(&step);
	name[length] = '\0';
	if (length)
		cgroup = cgroup_open(name);
	else
		say_error("slurmstepd",
			  "runs in %s, which is not below the cgroup of a job's step; set ProctrackType=proctrack/cgroup in slurm.conf",
			  *path ? path : "/");
	free(path);
	free(name);
	return cgroup;
}

static bool step_has_limits(const struct cgroup *cgroup)
{
	const struct slot *slot = NULL;

	while ((slot = pools_next(&cgroup->pools, slot)))
		if (slot->max != NUMBER_MAX)
			return true;
	return false;
}

/*
 * A lock that only root can take: a folder of a cgroup can be locked by each of its readers. The
 * lock ends with the process. -1, and an error is said.
 */
static int step_lock(void)
{
	const struct timespec pause = { .tv_nsec = 20 * 1000 * 1000 };
	const char *folder = step_folder();
	char *path = memory_format("%s/slurm.lock", folder);
	int tries, error, fd = -1;

	if (!mkdir(folder, 0755) || errno == EEXIST)
		fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	error = fd < 0 ? errno : EWOULDBLOCK;
	for (tries = STEP_LOCK_SECONDS * 50; tries && fd >= 0 && error; tries--) {
		error = flock(fd, LOCK_EX | LOCK_NB) ? errno : 0;
		if (error)
			nanosleep(&pause, NULL);
	}
	if (error == EWOULDBLOCK)
		say_error(path, "another step has held this lock for %d s; end its rdmacg",
			  STEP_LOCK_SECONDS);
	else if (error)
		say_error(path, "%s", strerror(error));
	free(path);
	return error ? -1 : fd;
}

/* The lock keeps two steps from being the first one. */
static bool step_limit(struct step *step, struct cgroup *cgroup)
{
	struct policy of_step = { .place = step_place, .asked = step->policy.asked };
	struct cgroup *job = cgroup->parent;

	if (step_lock() < 0)
		return false;
	if (cgroup_has_controller(job) && !cgroup_read(job, POOL_BIT(POOL_MAX)))
		return false;
	if (step_has_limits(job))
		return policy_limits(&of_step, cgroup);
	of_step.asked.nr_rules = 0;
	step->policy.place = step_place;
	return policy_limits(&step->policy, job) && policy_limits(&of_step, cgroup);
}

/* "KEY=VALUE KEY=VALUE" of what is not 0. */
static char *step_list(const struct pool *pool, bool refused)
{
	char *list = memory_string("");
	char *longer;
	size_t i;

	for (i = 0; i < pool->nr_slots; i++) {
		const struct slot *slot = &pool->slots[i];
		uint64_t value = refused ? slot->events.alloc_fail : slot->peak;

		if (!value)
			continue;
		longer = memory_format("%s %s=%s", list, slot->key,
				       number_text(value, !refused && number_is_bytes(slot->key)));
		free(list);
		list = longer;
	}
	return list;
}

static bool step_print(struct cgroup *cgroup)
{
	const struct pool *pool;

	if (!cgroup_has_controller(cgroup))
		return true;
	if (!cgroup_read(cgroup, POOL_ALL))
		return false;
	for (pool = cgroup->pools.first; pool; pool = pool->next) {
		char *peaks __autofree = step_list(pool, false);
		char *refused __autofree = step_list(pool, true);

		if (*peaks || *refused)
			say_line("%s: peaks:%s; refused:%s", pool->device.name,
				 *peaks ? peaks : " none", *refused ? refused : " none");
	}
	return true;
}

static bool step_run(struct step *step)
{
	struct cgroup *cgroup;
	bool done = false;

	if (!hierarchy_open())
		return false;
	cgroup = step_open();
	if (cgroup)
		done = step->end ? step_print(cgroup) : step_limit(step, cgroup);
	cgroup_close_path(cgroup);
	return done;
}

int cmd_slurm_step(int argc, char **argv)
{
	struct step step = { 0 };
	bool done = true;

	options_parse(&step_argp, 0, argc, argv, &step);
	/* Where nobody says anything, a node without the controller is no error. */
	if (!step.malformed &&
	    (step.end || step.policy.asked.nr_rules || step.policy.config.nr_rules))
		done = step_run(&step);
	policy_free(&step.policy);
	if (step.malformed)
		return EXIT_USAGE;
	return done ? EXIT_DONE : EXIT_FAILED;
}
