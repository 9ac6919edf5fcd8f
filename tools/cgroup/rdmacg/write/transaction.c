// SPDX-License-Identifier: GPL-2.0
/* rdmacg: writes that take effect together. */
#include "lib/lib.h"
#include "write/transaction.h"

#define TRANSACTION_CONTROL "cgroup.subtree_control"

void transaction_add(struct transaction *change, const struct cgroup *cgroup, const char *file,
		     char *text, char *undo)
{
	struct transaction_step *step;

	change->steps = memory_grow(change->steps, change->nr_steps, sizeof(*step));
	step = &change->steps[change->nr_steps++];
	step->cgroup = cgroup;
	step->file = memory_string(file);
	step->text = text;
	step->undo = undo;
}

static bool transaction_has_controller_below(const struct cgroup *cgroup)
{
	char *enabled = file_read(cgroup->dir, TRANSACTION_CONTROL);
	char *cursor = enabled;
	bool has = false;
	char *word;

	while (!has && (word = strsep(&cursor, "\n ")))
		has = !strcmp(word, "rdma");
	free(enabled);
	return has;
}

void transaction_add_controller(struct transaction *change, const struct cgroup *cgroup)
{
	const struct cgroup *parent = cgroup->parent;

	/* One that has gone meanwhile has no files either. */
	if (!hierarchy.v2 || !parent || cgroup_has_controller(cgroup) ||
	    !file_exists(cgroup->dir, "cgroup.procs"))
		return;
	transaction_add_controller(change, parent);
	/*
	 * Who enables it at the same time shows before the files are there; a write waits for
	 * them.
	 */
	transaction_add(change, parent, TRANSACTION_CONTROL, memory_string("+rdma\n"),
			memory_string(transaction_has_controller_below(parent) ?
				      "+rdma\n" : "-rdma\n"));
}

/* Why "+rdma" was refused, and what to do. */
static const char *transaction_explain_control(int error)
{
	switch (error) {
	case EBUSY:
		return "it has processes itself, so cgroup v2 forbids that; move them to a child";
	case ENOENT:
		return "it has no RDMA controller to give; enable it above, on the host";
	case EOPNOTSUPP:
		return "it is a threaded cgroup, where there is no RDMA controller";
	default:
		return NULL;
	}
}

/* Why limits were refused, and what to do. */
static const char *transaction_explain_limits(int error)
{
	switch (error) {
	case EINVAL:
		return "this kernel does not take that; rdmacg show -a lists devices and keys";
	case ENODEV:
		return "the device or the cgroup is gone; rdmacg show -a lists devices";
	case ENOTUNIQ:
		return "several devices have this name; add index=N as rdmacg show has it";
	case ENOENT:
		return "no such file: the cgroup was removed, or this kernel lacks the file";
	default:
		return NULL;
	}
}

static void transaction_say_refusal(const struct transaction_step *step, int error)
{
	bool control = !strcmp(step->file, TRANSACTION_CONTROL);
	const char *why = control ? transaction_explain_control(error) :
				    transaction_explain_limits(error);
	size_t length = strcspn(step->text, "\n");
	char *path = cgroup_path(step->cgroup, step->file);
	char *owner;

	if (error == EACCES || error == EPERM) {
		owner = file_owner(step->cgroup->dir, step->file);
		say_error(path,
			  "%s: \"%.*s\" may be written here by %s, not by this user",
			  strerror(error), (int)length, step->text, owner);
		free(owner);
	} else if (error == EROFS) {
		say_error(path, "%s: this looks like the inside of a container; do it on the host",
			  strerror(error));
	} else {
		say_error(path, "%s: \"%.*s\"%s%s", strerror(error), (int)length, step->text,
			  why ? ": " : "", why ? why : "");
	}
	free(path);
}

static void transaction_print(const struct transaction_step *step)
{
	char *path = cgroup_path(step->cgroup, step->file);
	size_t length = strcspn(step->text, "\n");
	char *text = memory_format("%.*s", (int)length, step->text);
	char *quoted_text = text_quote(text);
	char *quoted_path = text_quote(path);

	say_line("echo %s > %s", quoted_text, quoted_path);
	free(quoted_path);
	free(quoted_text);
	free(text);
	free(path);
}

bool transaction_apply(struct transaction *change)
{
	size_t i;
	int ret;

	for (i = 0; i < change->nr_steps; i++) {
		struct transaction_step *step = &change->steps[i];

		if (step->done)
			continue;
		if (change->dry_run) {
			if (!change->quiet)
				transaction_print(step);
			step->done = true;
			continue;
		}
		ret = file_write(step->cgroup->dir, step->file, step->text);
		if (ret) {
			transaction_say_refusal(step, -ret);
			if (!change->keep)
				transaction_undo(change);
			return false;
		}
		step->done = true;
	}
	return true;
}

void transaction_undo(struct transaction *change)
{
	size_t i = change->nr_steps;
	char *path;
	int ret;

	while (i-- && !change->dry_run) {
		struct transaction_step *step = &change->steps[i];

		if (!step->done)
			continue;
		ret = file_write(step->cgroup->dir, step->file, step->undo);
		if (ret) {
			path = cgroup_path(step->cgroup, step->file);
			say_warning(path, "cannot be put back: %s; \"%.*s\" stays in effect",
				    strerror(-ret), (int)strcspn(step->text, "\n"), step->text);
			free(path);
		}
		step->done = false;
	}
}

struct json_object *transaction_json(const struct transaction *change)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < change->nr_steps; i++) {
		const struct transaction_step *step = &change->steps[i];
		struct json_object *object = json_object_new_object();
		char *path = cgroup_path(step->cgroup, step->file);

		json_add(object, "file", json_text(path));
		json_add(object, "text", json_text(step->text));
		json_object_array_add(array, object);
		free(path);
	}
	return array;
}

void transaction_free(struct transaction *change)
{
	size_t i;

	for (i = 0; i < change->nr_steps; i++) {
		free(change->steps[i].file);
		free(change->steps[i].text);
		free(change->steps[i].undo);
	}
	free(change->steps);
	change->steps = NULL;
	change->nr_steps = 0;
}
