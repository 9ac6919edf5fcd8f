// SPDX-License-Identifier: GPL-2.0
/* rdmacg: writes that can be undone together. */
#include "write/write.h"

#define TRANSACTION_CONTROL "cgroup.subtree_control"

void transaction_add(struct transaction *change, const struct cgroup *cgroup, const char *file,
		     char *text, char *undo)
{
	char *path = memory_format("%s%s%s/%s", hierarchy.path, *cgroup->name ? "/" : "",
				   cgroup->name, file);

	*memory_append(change->steps, change->nr_steps) = (struct transaction_step){
		cgroup, path, basename(path), text, undo
	};
}

/* Add "+rdma" on v2, for each ancestor whose children lack the controller. */
static void transaction_add_controller(struct transaction *change, const struct cgroup *cgroup)
{
	char *enabled __autofree = NULL;
	const struct cgroup *parent = cgroup->parent;

	/* A cgroup without cgroup.procs was removed. */
	if (!hierarchy.v2 || !parent || cgroup_has_controller(cgroup) ||
	    !file_exists(cgroup->dir, "cgroup.procs"))
		return;
	transaction_add_controller(change, parent);
	enabled = file_read(parent->dir, TRANSACTION_CONTROL);
	/* The write waits for files that another process is enabling. */
	transaction_add(change, parent, TRANSACTION_CONTROL, memory_string("+rdma"),
			memory_string(hierarchy_has_word(enabled, "rdma") ? "+rdma" : "-rdma"));
}

/* Reasons why the kernel refuses "+rdma" or limits, each with its remedy. */
static const struct {
	int error;
	const char *why;
} transaction_refusals[] = {
	{ EACCES, "run as root, or as the owner of this file" },
	{ EBUSY, "the cgroup has processes itself, which cgroup v2 forbids; move them to a child" },
	{ EOPNOTSUPP, "the cgroup is threaded, so it cannot have the RDMA controller" },
	{ EINVAL,
	  "this kernel does not accept this; rdmacg show -a lists keys; stock takes 31 bits" },
	{ ENODEV, "the device or the cgroup was removed; rdmacg show -a lists devices" },
	{ ENOTUNIQ, "several devices have this name; add index=N from rdmacg show" },
	{ ENOENT, "no such file: the cgroup was removed, or this kernel lacks the file" },
};

/* Print why the kernel has refused the write, and return false. */
static bool transaction_say_refusal(const struct transaction_step *step, int error)
{
	const char *why = NULL;
	size_t i;

	/* EPERM: a cgroup namespace cannot write the limits of its own root. */
	if (error == EROFS || error == EPERM)
		return say_error(step->path,
				 "%s: rdmacg seems to run in a container; run rdmacg on the host",
				 strerror(error));
	for (i = 0; i < ARRAY_SIZE(transaction_refusals); i++)
		if (transaction_refusals[i].error == error)
			why = transaction_refusals[i].why;
	if (error == ENOENT && !strcmp(step->file, TRANSACTION_CONTROL))
		why = "the cgroup has no RDMA controller; enable it in the ancestors, on the host";
	return say_error(step->path, "%s: \"%s\"%s%s", strerror(error), step->text,
			 why ? ": " : "", why ? why : "");
}

bool transaction_apply(struct transaction *change)
{
	int ret;

	for (; change->nr_done < change->nr_steps; change->nr_done++) {
		struct transaction_step *step = &change->steps[change->nr_done];

		ret = change->dry_run ? 0 : file_write(step->cgroup->dir, step->file, step->text);
		if ((ret == -ENODEV || ret == -ENOTUNIQ) && change->gone)
			*change->gone = true;
		else if (ret)
			return transaction_say_refusal(step, -ret);
	}
	return true;
}

bool transaction_enable(struct transaction *change, const struct cgroup *cgroup)
{
	transaction_add_controller(change, cgroup);
	return transaction_apply(change) &&
	       (change->dry_run || cgroup_has_controller(cgroup) ||
		say_error(cgroup_name(cgroup), "has no RDMA controller; was the cgroup removed?"));
}

void transaction_print(const struct transaction *change)
{
	const struct transaction_step *step;

	for (step = change->steps; step < change->steps + change->nr_steps; step++) {
		char *quoted __autofree = text_quote(step->text);
		char *path __autofree = text_quote(step->path);

		/* The echo of some shells interprets a backslash. */
		say_line("%s %s > %s", strchr(step->text, '\\') ? "printf '%s\\n'" : "echo", quoted,
			 path);
	}
}

void transaction_undo(struct transaction *change)
{
	while (change->nr_done && !change->dry_run) {
		struct transaction_step *step = &change->steps[--change->nr_done];
		struct stat status;
		int ret;

		/* "-rdma" would remove limits of other children. Each is a link of its parent. */
		if (*step->undo == '-' && !fstat(step->cgroup->dir, &status) && status.st_nlink > 3)
			continue;
		ret = file_write(step->cgroup->dir, step->file, step->undo);
		/* A device that was removed has no limits. */
		if (ret && ret != -ENODEV && ret != -ENOTUNIQ)
			say_warning(step->path, "cannot undo the write: %s; \"%s\" stays in effect",
				    strerror(-ret), step->text);
	}
}

struct json_object *transaction_json(const struct transaction *change)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < change->nr_steps; i++) {
		char *text __autofree = memory_format("%s\n", change->steps[i].text);

		json_append(array, "file:s text:s", change->steps[i].path, text);
	}
	return array;
}

void transaction_free(struct transaction *change)
{
	while (change->nr_steps--) {
		free(change->steps[change->nr_steps].path);
		free(change->steps[change->nr_steps].text);
		free(change->steps[change->nr_steps].undo);
	}
	free(change->steps);
	*change = (struct transaction) { .dry_run = change->dry_run };
}
