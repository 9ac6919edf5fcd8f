// SPDX-License-Identifier: GPL-2.0
/* rdmacg: what it was where no cgroup refused. */
#include <dirent.h>

#include "core/core.h"

/* So many processes are listed; those with the least room come first. */
#define OTHER_PROCESSES	10

/* CAP_IPC_LOCK: a process that has it is not bound by RLIMIT_MEMLOCK. */
#define OTHER_IPC_LOCK	14

/*
 * It counts in the machine's own user namespace alone, whose number is part of the kernel's
 * interface (PROC_USER_INIT_INO).
 */
#define OTHER_USER_NAMESPACE	"user:[4026531837]"

/* Distributions let processes pin so much; a limit up to here is meant for key rings. */
#define OTHER_SMALL_LIMIT	(64ULL << 20)

struct process {
	pid_t pid;
	char *name;
	/* RLIMIT_MEMLOCK, or NUMBER_MAX. */
	uint64_t limit;
	/* What uverbs has pinned for it, and mlock(2) has locked. */
	uint64_t pinned;
	uint64_t locked;
	bool unbound;
	/* It has no open file of uverbs; only where its files can be seen. */
	bool without_rdma;
	bool files_seen;
};

struct processes {
	struct process *processes;
	size_t nr_processes;
};

static char *other_read(pid_t pid, const char *file)
{
	char *path = hierarchy_proc("%d/%s", pid, file);
	char *text = file_read(AT_FDCWD, path);

	free(path);
	return text;
}

/* The word after @label, which begins a line of @text; NULL if there is none. */
static char *other_word(const char *text, const char *label)
{
	const char *line = strstr(text, label);

	if (!line)
		return NULL;
	line += strlen(label);
	line += strspn(line, " \t");
	return memory_format("%.*s", (int)strcspn(line, " \t\n"), line);
}

/* "VmPin:  12 kB" in bytes; 0 where it is not there. */
static uint64_t other_kilobytes(const char *status, const char *label)
{
	char *word = other_word(status, label);
	uint64_t value = 0;

	if (!word || !number_parse(word, strlen(word), &value) || value > UINT64_MAX >> 10)
		value = 0;
	free(word);
	return value << 10;
}

static void other_parse_status(struct process *process, const char *status)
{
	char *capabilities = other_word(status, "\nCapEff:");
	const char *name = strstr(status, "Name:\t");

	process->pinned = other_kilobytes(status, "\nVmPin:");
	process->locked = other_kilobytes(status, "\nVmLck:");
	if (capabilities)
		process->unbound = strtoull(capabilities, NULL, 16) >> OTHER_IPC_LOCK & 1;
	name = name ? name + 6 : "";
	process->name = memory_format("%.*s", (int)strcspn(name, "\n"), name);
	free(capabilities);
}

/* What cannot be seen is taken for another one: then the limit is suspect, not ruled out. */
static bool other_is_machines_user(pid_t pid)
{
	char *path = hierarchy_proc("%d/ns/user", pid);
	char link[64] = "";
	ssize_t length = readlink(path, link, sizeof(link) - 1);

	free(path);
	return length > 0 && !strcmp(link, OTHER_USER_NAMESPACE);
}

/* Whether none of the files of a process is a uverbs device. */
static void other_look_at_files(struct process *process)
{
	char *path = hierarchy_proc("%d/fd", process->pid);
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool without = dir;
	char link[64];
	ssize_t length;

	free(path);
	while (without && (entry = readdir(dir))) {
		length = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);
		link[length > 0 ? length : 0] = '\0';
		without = strncmp(link, "/dev/infiniband/", 16);
	}
	if (dir)
		closedir(dir);
	process->files_seen = dir;
	process->without_rdma = without;
}

/* False for one that is gone. */
static bool other_read_process(struct process *process, pid_t pid)
{
	char *limits = other_read(pid, "limits");
	char *status = limits ? other_read(pid, "status") : NULL;
	char *word = limits ? other_word(limits, "\nMax locked memory") : NULL;

	memset(process, 0, sizeof(*process));
	process->pid = pid;
	if (!word || !number_parse(word, strlen(word), &process->limit))
		process->limit = NUMBER_MAX;
	if (status)
		other_parse_status(process, status);
	process->unbound = process->unbound && other_is_machines_user(pid);
	other_look_at_files(process);
	free(word);
	free(status);
	free(limits);
	return process->name;
}

static bool other_is_bound(const struct process *process)
{
	return process->limit != NUMBER_MAX && !process->unbound;
}

/* What pins and locks is counted apart, but each against the same limit. */
static uint64_t other_room(const struct process *process)
{
	uint64_t used = process->pinned > process->locked ? process->pinned : process->locked;

	if (!other_is_bound(process))
		return NUMBER_MAX;
	return used < process->limit ? process->limit - used : 0;
}

static int other_compare(const void *a, const void *b)
{
	uint64_t one = other_room(a), other = other_room(b);

	return (one > other) - (one < other);
}

static void other_collect(struct processes *processes, struct cgroup *cgroup, pid_t pid)
{
	struct procs members = { 0 };
	struct process process;
	size_t i;

	memset(processes, 0, sizeof(*processes));
	if (pid) {
		members.pids = memory_grow(NULL, 0, sizeof(pid_t));
		members.pids[members.nr_pids++] = pid;
	} else {
		procs_read(&members, cgroup, 0);
	}
	for (i = 0; i < members.nr_pids; i++) {
		if (!other_read_process(&process, members.pids[i]))
			continue;
		processes->processes = memory_grow(processes->processes,
						   processes->nr_processes, sizeof(process));
		processes->processes[processes->nr_processes++] = process;
	}
	procs_free(&members);
	if (processes->nr_processes)
		qsort(processes->processes, processes->nr_processes, sizeof(process),
		      other_compare);
}

static void other_free(struct processes *processes)
{
	size_t i;

	for (i = 0; i < processes->nr_processes; i++)
		free(processes->processes[i].name);
	free(processes->processes);
}

/* How likely it is that the limit refused a memory region. */
static const char *other_verdict(const struct process *process)
{
	if (!other_is_bound(process))
		return "unbound";
	if (!other_room(process))
		return "refuses";
	return process->limit <= OTHER_SMALL_LIMIT ? "suspect" : "room";
}

static void other_print_process(const struct process *process)
{
	char limit[NUMBER_SIZE], pinned[NUMBER_SIZE], locked[NUMBER_SIZE], room[NUMBER_SIZE];
	bool suspect = other_room(process) && process->limit <= OTHER_SMALL_LIMIT;

	number_format(limit, process->limit, true);
	number_format(pinned, process->pinned, true);
	number_format(locked, process->locked, true);
	number_format(room, other_room(process), true);
	say_text("%s lets process %d (%s) pin %s; it has pinned %s and locked %s%s%s%s.",
		 "RLIMIT_MEMLOCK", process->pid, process->name, limit, pinned, locked,
		 !other_room(process) ? ", so this is what refuses memory regions" :
		 suspect ? ", so it refuses a region of more than " : "",
		 suspect ? room : "", suspect ? ": suspect this first" : "");
}

/* Said once, where a limit refuses or is suspect. */
static void other_print_remedy(const struct processes *processes)
{
	size_t i;

	for (i = 0; i < processes->nr_processes; i++) {
		const char *verdict = other_verdict(&processes->processes[i]);

		if (strcmp(verdict, "refuses") && strcmp(verdict, "suspect"))
			continue;
		say_text("%s",
			 "To raise it: memlock in /etc/security/limits.conf for logins, LimitMEMLOCK=infinity in a unit of systemd, --ulimit memlock=-1 for a container, ulimit -l in a shell.");
		return;
	}
}

/* A program that runs over sockets meets no limit of RDMA at all. */
static void other_print_without_rdma(const struct processes *processes)
{
	size_t without = 0, i;

	for (i = 0; i < processes->nr_processes; i++)
		without += processes->processes[i].without_rdma;
	if (without && without == processes->nr_processes)
		say_text("%s",
			 "No process there has an RDMA device open: it does not use RDMA now, perhaps sockets instead; look at the program's transport (NCCL_DEBUG=INFO, UCX_LOG_LEVEL=info, FI_LOG_LEVEL=info).");
	else if (without)
		say_text("%zu of %zu processes there have no RDMA device open.", without,
			 processes->nr_processes);
}

void other_print_memlock(struct cgroup *cgroup, pid_t pid)
{
	struct processes processes;
	size_t bound = 0, i;

	other_collect(&processes, cgroup, pid);
	for (i = 0; i < processes.nr_processes; i++)
		bound += other_is_bound(&processes.processes[i]);
	if (!processes.nr_processes)
		say_text("RLIMIT_MEMLOCK: no process is there whose limit could be seen.");
	else if (!bound)
		say_text("RLIMIT_MEMLOCK binds no process there (of %zu).", processes.nr_processes);
	for (i = 0; i < bound && i < OTHER_PROCESSES; i++)
		other_print_process(&processes.processes[i]);
	if (bound > OTHER_PROCESSES)
		say_text("RLIMIT_MEMLOCK binds %zu more, which have more room.",
			 bound - OTHER_PROCESSES);
	other_print_remedy(&processes);
	other_print_without_rdma(&processes);
	other_free(&processes);
}

struct json_object *other_memlock_json(struct cgroup *cgroup, pid_t pid)
{
	struct json_object *array = json_object_new_array();
	struct json_object *object;
	struct processes processes;
	size_t i;

	other_collect(&processes, cgroup, pid);
	for (i = 0; i < processes.nr_processes; i++) {
		const struct process *process = &processes.processes[i];

		object = json_object_new_object();
		json_add(object, "pid", json_number(process->pid));
		json_add(object, "name", json_text(process->name));
		json_add(object, "memlock", json_limit(process->limit));
		json_add(object, "bound", json_object_new_boolean(other_is_bound(process)));
		json_add(object, "verdict", json_text(other_verdict(process)));
		json_add(object, "rdma_open", process->files_seen ?
			 json_object_new_boolean(!process->without_rdma) : NULL);
		json_add(object, "pinned", json_number(process->pinned));
		json_add(object, "locked", json_number(process->locked));
		json_object_array_add(array, object);
	}
	other_free(&processes);
	return array;
}

static void other_print_resource(const struct capacity *capacity, const struct device *device,
				 const struct netlink_resource *resource)
{
	struct device name = { .name = device->name };
	uint64_t all = capacity_of(capacity, &name, resource->key);
	char count[NUMBER_SIZE], kernel[NUMBER_SIZE], most[NUMBER_SIZE];

	if (all == NUMBER_MAX)
		all = resource->capacity;
	if (!resource->count)
		return;
	number_format(count, resource->count, false);
	number_format(kernel, resource->kernel, false);
	number_format(most, all, false);
	if (all == NUMBER_MAX)
		say_text("Device %s: %s %s exist, %s of them the kernel's; it states no maximum.",
			 device->name, count, resource->key, kernel);
	else
		say_text("Device %s: %s of %s %s exist, %s of them the kernel's%s.",
			 device->name, count, most, resource->key, kernel,
			 resource->count >= all ? "; it has no more" : "");
}

void other_print_devices(const struct capacity *capacity)
{
	const struct netlink *netlink = &capacity->netlink;
	size_t i, j;

	if (!capacity->has_netlink) {
		say_text("Devices: the kernel does not tell what is in use (rdma netlink).");
		return;
	}
	if (!netlink->nr_devices)
		say_text("Devices: there is none in this network namespace.");
	for (i = 0; i < netlink->nr_devices; i++) {
		netlink_count_kernel(&netlink->devices[i]);
		for (j = 0; j < netlink->devices[i].nr_resources; j++)
			other_print_resource(capacity, &netlink->devices[i].device,
					     &netlink->devices[i].resources[j]);
	}
}

static struct json_object *other_resource_json(const struct netlink_resource *resource)
{
	struct json_object *object = json_object_new_object();

	json_add(object, "resource", json_text(resource->key));
	json_add(object, "count", json_number(resource->count));
	json_add(object, "kernel", json_number(resource->kernel));
	json_add(object, "capacity", json_limit(resource->capacity));
	return object;
}

struct json_object *other_devices_json(const struct capacity *capacity)
{
	struct json_object *array = json_object_new_array();
	const struct netlink *netlink = &capacity->netlink;
	struct json_object *object, *resources;
	size_t i, j;

	for (i = 0; i < netlink->nr_devices; i++) {
		struct netlink_device *device = &netlink->devices[i];

		netlink_count_kernel(device);
		object = json_object_new_object();
		resources = json_object_new_array();
		for (j = 0; j < device->nr_resources; j++)
			json_object_array_add(resources,
					      other_resource_json(&device->resources[j]));
		json_add(object, "device", json_text(device->device.name));
		json_add(object, "index", json_number(device->device.index));
		json_add(object, "resources", resources);
		json_object_array_add(array, object);
	}
	return array;
}

/* The devices that netlink or the files know, by name. */
static void other_each_device(const struct capacity *capacity,
			      void (*say)(const char *device, void *data), void *data)
{
	const struct netlink *netlink = &capacity->netlink;
	size_t i;

	for (i = 0; i < netlink->nr_devices; i++)
		say(netlink->devices[i].device.name, data);
	if (capacity->has_netlink)
		return;
	for (i = 0; i < capacity->pools.nr_pools; i++)
		say(capacity->pools.pools[i].device.name, data);
}

static void other_say_log(const char *device, void *data)
{
	struct log log;
	size_t i;

	(void)data;
	if (!log_read(&log, device))
		say_text("The kernel's log cannot be read (%s); as root: dmesg -T | grep '%s%s%s'",
			 strerror(errno), device, log.bus ? "\\|" : "",
			 log.bus ? log.bus : "");
	for (i = 0; i < log.nr_lines; i++)
		say_text("The kernel's log on %s: \"%s\": %s.", device, log.lines[i].text,
			 log.lines[i].meaning);
	log_free(&log);
}

void other_print_log(const struct capacity *capacity)
{
	other_each_device(capacity, other_say_log, NULL);
}

static void other_add_log(const char *device, void *data)
{
	struct json_object *object = json_object_new_object();
	struct json_object *lines = json_object_new_array();
	struct json_object *line;
	struct log log;
	bool read = log_read(&log, device);
	size_t i;

	for (i = 0; i < log.nr_lines; i++) {
		line = json_object_new_object();
		json_add(line, "text", json_text(log.lines[i].text));
		json_add(line, "meaning", json_text(log.lines[i].meaning));
		json_object_array_add(lines, line);
	}
	json_add(object, "device", json_text(device));
	/* The log has names alone. */
	json_add(object, "index", NULL);
	json_add(object, "readable", json_object_new_boolean(read));
	json_add(object, "lines", lines);
	json_object_array_add(data, object);
	log_free(&log);
}

struct json_object *other_log_json(const struct capacity *capacity)
{
	struct json_object *array = json_object_new_array();

	other_each_device(capacity, other_add_log, array);
	return array;
}

uint64_t other_own_memlock(void)
{
	struct process process;
	uint64_t limit;

	other_read_process(&process, getpid());
	limit = other_is_bound(&process) ? process.limit : NUMBER_MAX;
	free(process.name);
	return limit <= OTHER_SMALL_LIMIT ? limit : NUMBER_MAX;
}

/* Add what a top-level cgroup has to the usage of the capacity's slots. */
static bool other_add_usage(struct cgroup *cgroup, void *data)
{
	const struct pools *pools = &cgroup->pools;
	struct capacity *capacity = data;
	struct slot *slot;
	size_t i, j;

	if (!cgroup->parent)
		return true;
	cgroup->leave_below = true;
	for (i = 0; i < pools->nr_pools; i++) {
		for (j = 0; j < pools->pools[i].nr_slots; j++) {
			slot = pools_find_slot(&capacity->pools, &pools->pools[i].device,
					       pools->pools[i].slots[j].key);
			if (slot)
				slot->usage += pools->pools[i].slots[j].usage;
		}
	}
	return true;
}

static void other_add_up(struct capacity *capacity, const struct hierarchy *hierarchy)
{
	struct cgroup *root = cgroup_open(hierarchy, "");
	size_t i, j;

	for (i = 0; i < capacity->pools.nr_pools; i++)
		for (j = 0; j < capacity->pools.pools[i].nr_slots; j++)
			capacity->pools.pools[i].slots[j].usage = 0;
	if (root)
		cgroup_walk(root, POOL_BIT(POOL_CURRENT), other_add_usage, capacity);
	cgroup_close_path(root);
}

/* Call @say for each resource that only cgroups count. */
static void other_counted(struct capacity *capacity, const struct hierarchy *hierarchy,
			  void (*say)(const struct device *device, const struct slot *slot,
				      void *data),
			  void *data)
{
	size_t i, j;

	if (!capacity->has_file)
		return;
	other_add_up(capacity, hierarchy);
	for (i = 0; i < capacity->pools.nr_pools; i++) {
		const struct pool *pool = &capacity->pools.pools[i];
		const struct netlink_device *device = netlink_find(&capacity->netlink,
								   &pool->device);

		for (j = 0; j < pool->nr_slots; j++) {
			const struct slot *slot = &pool->slots[j];

			if (slot->usage && slot->max != NUMBER_MAX &&
			    !(device && netlink_find_resource(device, slot->key)))
				say(&pool->device, slot, data);
		}
	}
}

static void other_say_counted(const struct device *device, const struct slot *slot, void *data)
{
	bool bytes = number_is_bytes(slot->key);
	char count[NUMBER_SIZE], most[NUMBER_SIZE];
	char *name = device_format(device);

	(void)data;
	number_format(count, slot->usage, bytes);
	number_format(most, slot->max, bytes);
	say_text("Device %s: cgroups have %s of %s %s%s.", name, count, most, slot->key,
		 slot->usage >= slot->max ? "; it has no more" : "");
	free(name);
}

void other_print_counted(struct capacity *capacity, const struct hierarchy *hierarchy)
{
	other_counted(capacity, hierarchy, other_say_counted, NULL);
}

static void other_add_counted(const struct device *device, const struct slot *slot, void *data)
{
	struct json_object *object = json_object_new_object();
	char *name = device_format(device);

	json_add(object, "device", json_text(name));
	json_add(object, "resource", json_text(slot->key));
	json_add(object, "count", json_number(slot->usage));
	json_add(object, "capacity", json_limit(slot->max));
	json_object_array_add(data, object);
	free(name);
}

struct json_object *other_counted_json(struct capacity *capacity,
				       const struct hierarchy *hierarchy)
{
	struct json_object *array = json_object_new_array();

	other_counted(capacity, hierarchy, other_add_counted, array);
	return array;
}
