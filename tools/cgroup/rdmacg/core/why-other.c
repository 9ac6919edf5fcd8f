// SPDX-License-Identifier: GPL-2.0
/* rdmacg: causes of failures other than limits of cgroups. */
#include "core/core.h"

/* List at most this many processes. The processes with the least room come first. */
#define OTHER_PROCESSES	10

/* The number of CAP_IPC_LOCK. RLIMIT_MEMLOCK does not apply to a process with this capability. */
#define OTHER_IPC_LOCK	14

/* The machine's own user namespace, in which alone CAP_IPC_LOCK has an effect. */
#define OTHER_USER_NAMESPACE	"user:[4026531837]"

/* The largest limit that distributions set for other purposes, such as key rings. */
#define OTHER_SMALL_LIMIT	(64ULL << 20)

/* Verdicts: how likely it is that RLIMIT_MEMLOCK refused a memory region. */
static const char other_unbound[] = "unbound", other_refuses[] = "refuses",
	other_suspect[] = "suspect", other_has_room[] = "room", other_unknown[] = "unknown";

struct process {
	pid_t pid;
	char name[80];
	uint64_t limit;		/* RLIMIT_MEMLOCK, or NUMBER_MAX */
	uint64_t pinned;	/* by uverbs for the process */
	uint64_t locked;	/* by the process; counts separately against the limit */
	uint64_t room;		/* the memory that the process may still pin */
	const char *verdict;
	int rdma_open;		/* an open file of uverbs, or -1 if the files are not visible */
};

/* The number after @label in @text, or @missing. */
static uint64_t other_number(const char *text, const char *label, const char *format,
			     uint64_t missing)
{
	const char *line = strstr(text, label);

	if (line)
		sscanf(line + strlen(label), format, &missing);
	return missing;
}

static int other_look_at_files(pid_t pid)
{
	DIR *dir = opendir(hierarchy_proc("%d/fd", pid).s);
	int found = dir ? 0 : -1;
	struct dirent *entry;

	while (!found && (entry = readdir(dir))) {
		char *link __autofree = file_link(dirfd(dir), entry->d_name);

		found = !strncmp(link, "/dev/infiniband/", 16);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Read the state of a process. Returns false if the process has ended. */
static bool other_read_process(struct process *process, pid_t pid)
{
	char *limits __autofree = file_read(AT_FDCWD, hierarchy_proc("%d/limits", pid).s);
	char *status __autofree = file_read(AT_FDCWD, hierarchy_proc("%d/status", pid).s);
	char *user __autofree = file_link(AT_FDCWD, hierarchy_proc("%d/ns/user", pid).s);
	bool unbound, has_lock;

	if (!limits || !status || sscanf(status, "Name:%*1[\t]%79[^\n]", process->name) < 0)
		return false;
	process->pid = pid;
	process->limit = other_number(limits, "\nMax locked memory", "%" SCNu64, NUMBER_MAX);
	process->pinned = other_number(status, "\nVmPin:", "%" SCNu64, 0) << 10;
	process->locked = other_number(status, "\nVmLck:", "%" SCNu64, 0) << 10;
	has_lock = other_number(status, "\nCapEff:", "%" SCNx64, 0) >> OTHER_IPC_LOCK & 1;
	unbound = process->limit == NUMBER_MAX || (has_lock && !strcmp(user, OTHER_USER_NAMESPACE));
	process->room = unbound ? NUMBER_MAX :
			max(0, process->limit - max(process->pinned, process->locked));
	process->verdict = unbound ? other_unbound : has_lock && !*user ? other_unknown :
			   !process->room ? other_refuses :
			   process->limit <= OTHER_SMALL_LIMIT ||
			   process->room < process->limit / 8 ? other_suspect : other_has_room;
	process->rdma_open = other_look_at_files(pid);
	return true;
}

static int other_compare(const void *a, const void *b)
{
	const struct process *one = a, *other = b;

	return (one->room > other->room) - (one->room < other->room);
}

static void other_print_process(const struct process *process)
{
	bool refuses = process->verdict == other_refuses;
	bool suspect = process->verdict == other_suspect;

	say_text("%s lets process %d (%s) pin %s; it has pinned %s and locked %s%s%s%s.",
		 "RLIMIT_MEMLOCK", process->pid, process->name, number_text(process->limit, true).s,
		 number_text(process->pinned, true).s, number_text(process->locked, true).s,
		 refuses ? ", so the limit refuses every memory region" :
		 process->verdict == other_unknown ? "; only root sees whether the limit applies" :
		 suspect ? ", so the limit refuses a region of more than " : "",
		 suspect ? number_text(process->room, true).s : "",
		 suspect ? ": suspect this first" : "");
}

/* Sum up @count processes: to how many RLIMIT_MEMLOCK applies, and how many have no device open. */
static void other_print_sums(size_t count, size_t bound, size_t without, bool remedy)
{
	if (!count)
		say_text("RLIMIT_MEMLOCK: no limit of a process is visible.");
	else if (!bound)
		say_text("RLIMIT_MEMLOCK applies to none of the processes (%zu).", count);
	if (bound > OTHER_PROCESSES)
		say_text("RLIMIT_MEMLOCK also applies to %zu other processes with more room.",
			 bound - OTHER_PROCESSES);
	if (remedy)
		say_text("%s",
			 "To raise RLIMIT_MEMLOCK: memlock in /etc/security/limits.conf for logins, LimitMEMLOCK=infinity in a systemd unit, --ulimit memlock=-1 for a container, ulimit -l in a shell.");
	/* A program that uses sockets does not reach limits of RDMA. */
	if (without && without == count)
		say_text("%s",
			 "None of the processes has an RDMA device open. The program may use sockets; check its transport (NCCL_DEBUG=INFO, UCX_LOG_LEVEL=info, FI_LOG_LEVEL=info).");
	else if (without)
		say_text("%zu of %zu processes have no RDMA device open.", without, count);
}

/* RLIMIT_MEMLOCK of @pid, or of all processes in @cgroup and its descendants if @pid is 0. */
static void other_memlock(struct cgroup *cgroup, pid_t pid, struct json_object *answer)
{
	struct process *processes __autofree = NULL, *process;
	pid_t *pids __autofree = NULL;
	struct json_object *array = json_object_new_array();
	size_t count = 0, nr_pids = pid ? 1 : procs_read(cgroup, &pids), i;
	size_t bound = 0, without = 0;
	bool remedy = false;

	for (i = 0; i < nr_pids; i++)
		if (!other_read_process(memory_append(processes, count), pid ? pid : pids[i]))
			count--;
	/* Processes to which RLIMIT_MEMLOCK applies come first. */
	if (processes)
		qsort(processes, count, sizeof(*processes), other_compare);
	for (process = processes; process < processes + count; process++) {
		bool applies = process->verdict != other_unbound;

		bound += applies;
		without += !process->rdma_open;
		remedy |= process->verdict == other_refuses || process->verdict == other_suspect;
		if (applies && bound <= OTHER_PROCESSES)
			other_print_process(process);
		json_append(array,
			    "pid:u name:s memlock:l bound:b verdict:s rdma_open:o pinned:u locked:u",
			    (uint64_t)process->pid, process->name, process->limit, applies,
			    process->verdict, process->rdma_open < 0 ? NULL :
			    json_object_new_boolean(process->rdma_open),
			    process->pinned, process->locked);
	}
	json_object_object_add(answer, "processes", array);
	other_print_sums(count, bound, without, remedy);
}

static bool other_is_counted(const struct slot *slot)
{
	return slot->has & POOL_BIT(POOL_CURRENT);
}

static struct json_object *other_slot_json(const struct slot *slot)
{
	bool known = slot->max != NUMBER_MAX;

	if (slot->usage)
		say_text("Device %s: %s%s%s %s exist, %s of them the kernel's%s.",
			 device_text(&slot->pool->device).s, number_text(slot->usage, false).s,
			 known ? " of " : "", known ? number_text(slot->max, false).s : "",
			 slot->key,
			 number_text(slot->tally, false).s, !known ? "; the maximum is unknown" :
			 slot->usage >= slot->max ? "; none is left" : "");
	return json_pack("resource:s count:u kernel:u capacity:l", slot->key, slot->usage,
			 slot->tally, slot->max);
}

/* Skip older lines, which are about other failures. */
#define LOG_MINUTES	15
#define LOG_RECORD	8192
/* Print at most this many lines, the most specific ones. */
#define LOG_LINES	5
/* Keep at most this many lines, because a flood may have many different ones. */
#define LOG_KEPT	64
/* The level of warnings. Errors have lower levels. */
#define LOG_WARNING	4
/* The beginning of the errors of mlx5 that mean that no doorbell page is free. */
#define LOG_UAR		" ALLOC_UAR(0x802) op_mod(0x0) failed, status "
#define LOG_NO_UAR	"the adapter has no free doorbell pages (uar); open fewer contexts"

/* Words that identify a line of the log, and its meaning. The most specific words come first. */
static const struct {
	const char *words;
	const char *meaning;
} log_meanings[] = {
	{ LOG_UAR "limits exceeded", LOG_NO_UAR },
	{ LOG_UAR "no resources", LOG_NO_UAR },
	{ "status limits exceeded", "the adapter's firmware has no free objects of this resource" },
	{ "status no resources", "the adapter's firmware is out of memory or of this resource" },
	{ "status bad resource", "the object does not exist, or its state does not allow this" },
	{ "status bad parameter", "the firmware does not support this request" },
	{ "status internal error", "the firmware failed; look at the adapter's health" },
	{ "no more", "the device has no free objects of this resource" },
	{ "exceed", "a maximum of the device is exceeded" },
	{ "timeout", "the adapter did not answer in time; look at its health" },
	{ "timed", "the adapter did not answer in time; look at its health" },
	{ "failed", "the device or its driver refused this" },
	{ "error", "the device or its driver reported an error" },
};

/* A line, and the number of lines that differ from it only in numbers. */
struct log_line {
	char *text;		/* the last of these lines */
	uint64_t count;
	size_t rank;		/* the place in log_meanings, or the number of its rows */
};

struct log {
	struct log_line lines[LOG_KEPT];
	size_t nr_lines;
	uint64_t all;		/* the number of lines, also of those that are not kept */
};

static size_t log_rank(const char *line)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(log_meanings) && !strcasestr(line, log_meanings[i].words))
		i++;
	return i;
}

/* Whether lines differ only in numbers such as those of processes. An errno is negative. */
static bool log_is_same(const char *a, const char *b)
{
	char last = '-';

	while (*a && *b) {
		/* A number begins here. */
		if (last != '-' && !isdigit((unsigned char)last) && isdigit((unsigned char)*a) &&
		    isdigit((unsigned char)*b)) {
			a += strspn(a, "0123456789abcdefx");
			b += strspn(b, "0123456789abcdefx");
			continue;
		}
		last = *a++;
		if (last != *b++)
			return false;
	}
	return *a == *b;
}

/* Order lines by how specific they are, and by their number. */
static int log_compare(const void *a, const void *b)
{
	const struct log_line *one = a, *other = b;

	if (one->rank != other->rank)
		return one->rank < other->rank ? -1 : 1;
	return (one->count < other->count) - (one->count > other->count);
}

/* Keep a line. If there are too many, forget a rare one with the least specific meaning. */
static void log_add(struct log *log, const char *text)
{
	size_t rank = log_rank(text), i, worst = 0;
	struct log_line *line;

	log->all++;
	for (i = 0; i < log->nr_lines && !log_is_same(text, log->lines[i].text); i++)
		if (log_compare(&log->lines[i], &log->lines[worst]) > 0)
			worst = i;
	if (i == LOG_KEPT) {
		if (rank > log->lines[worst].rank)
			return;
		i = worst;
		log->lines[i].count = 0;
	}
	log->nr_lines = max(log->nr_lines, i + 1);
	line = &log->lines[i];
	free(line->text);
	*line = (struct log_line){ memory_string(text), line->count + 1, rank };
}

/* Whether the line has the name, with no letter or digit before or after it. */
static bool log_has_name(const char *line, const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
	const char *at = line;

	for (; *name && (at = strstr(at, name)); at++)
		if ((at == line || !strchr(letters, at[-1])) && !strspn(at + strlen(name), letters))
			return true;
	return false;
}

/* Read recent records, "PRIORITY,NUMBER,MICROSECONDS,...;TEXT\n...". */
static void log_read(struct log *log, int fd, const char *device, const char *bus)
{
	int64_t oldest = clock_now() - LOG_MINUTES * 60000LL, when;
	char record[LOG_RECORD], *text;
	unsigned int priority;
	ssize_t got;

	for (;;) {
		got = read(fd, record, sizeof(record) - 1);
		/* EPIPE: the kernel has dropped records, and continues with the next one. */
		if (got < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (got <= 0)
			break;
		record[got] = '\0';
		text = strchr(record, ';');
		if (!text || sscanf(record, "%u,%*u,%" SCNd64, &priority, &when) != 2 ||
		    when / 1000 < oldest)
			continue;
		*strchrnul(++text, '\n') = '\0';
		/* The lowest 3 bits of the priority are the level. */
		if (((priority & 7) <= LOG_WARNING || log_rank(text) < ARRAY_SIZE(log_meanings)) &&
		    (log_has_name(text, device) || log_has_name(text, bus)))
			log_add(log, text);
	}
	qsort(log->lines, log->nr_lines, sizeof(*log->lines), log_compare);
}

/* Print the lines that say most, and free all lines. */
static struct json_object *log_print(struct log *log, const char *name)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < log->nr_lines; i++) {
		char *text __autofree = log->lines[i].text, *times __autofree = NULL;
		uint64_t count = log->lines[i].count;
		size_t rank = log->lines[i].rank;
		const char *meaning = rank < ARRAY_SIZE(log_meanings) ? log_meanings[rank].meaning :
				      "a warning or an error of the driver";

		if (i >= LOG_LINES)
			continue;
		log->all -= count;
		times = count > 1 ? memory_format(", %" PRIu64 " times", count) : memory_string("");
		say_text("The kernel's log on %s%s: \"%s\": %s.", name, times, text, meaning);
		json_append(array, "text:s meaning:s count:u", text, meaning, count);
	}
	if (log->all)
		say_text("The kernel's log on %s has %" PRIu64 " other line%s.", name, log->all,
			 log->all == 1 ? "" : "s");
	return array;
}

/* Look for @device in the log, which the kernel's files call @name. */
static struct json_object *other_device_log(const char *name, const char *device)
{
	char *path __autofree = memory_format("%s/%s/device", hierarchy_path("RDMACG_SYS",
						"/sys/class/infiniband"), device);
	/* The device's place on its bus, which drivers print, such as 0000:08:00.0, or "". */
	char *link __autofree = file_link(AT_FDCWD, path), *bus = basename(link);
	char *names __autofree = memory_format("%s%s%s", device, *bus ? "\\|" : "", bus);
	char *quoted __autofree = text_quote(names);
	int fd = open(hierarchy_path("RDMACG_KMSG", "/dev/kmsg"),
		      O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct log log = { 0 };

	if (fd < 0)
		say_text("The kernel's log cannot be read (%s); as root: dmesg -T | grep %s",
			 strerror(errno), quoted);
	else
		log_read(&log, fd, device, bus);
	close(fd);
	/* The log has no indexes of devices. */
	return json_pack("device:s index:o readable:b lines:o", name, NULL, fd >= 0,
			 log_print(&log, name));
}

/* Print what only cgroups count: sums of top-level cgroups, in slot.peak. */
static void other_counted(struct json_object *answer)
{
	struct walk walk = { .files = POOL_BIT(POOL_CURRENT), .stop = !capacity.has_file };
	struct json_object *array = json_object_new_array();
	struct slot *slot = NULL, *sum;
	struct cgroup *cgroup;

	while ((slot = pools_next(&capacity.pools, slot)))
		slot->peak = 0;
	while ((cgroup = walk_next(&walk))) {
		cgroup->leave_below = cgroup->parent;
		while ((slot = pools_next(&cgroup->pools, slot))) {
			sum = pools_find_slot(&capacity.pools, &slot->pool->device, slot->key);
			if (sum)
				sum->peak += slot->usage;
		}
	}
	while ((slot = pools_next(&capacity.pools, slot))) {
		bool bytes = number_is_bytes(slot->key);

		if (!slot->peak || slot->max == NUMBER_MAX || other_is_counted(slot))
			continue;
		json_append(array, "device:s index:o resource:s count:u capacity:l",
			    slot->pool->device.name, device_index(&slot->pool->device), slot->key,
			    slot->peak, slot->max);
		say_text("Device %s: cgroups have %s of %s %s%s.",
			 device_text(&slot->pool->device).s,
			 number_text(slot->peak, bytes).s, number_text(slot->max, bytes).s,
			 slot->key, slot->peak >= slot->max ? "; none is left" : "");
	}
	json_object_object_add(answer, "counted", array);
}

void other_causes(struct cgroup *cgroup, pid_t pid, struct json_object *answer)
{
	struct json_object *logs = json_object_new_array();
	const struct pool *pool;

	other_memlock(cgroup, pid, answer);
	capacity_count_owners();
	if (!capacity.has_netlink)
		say_text("Devices: the kernel does not report numbers of objects (rdma netlink).");
	else if (!capacity.nr_devices)
		say_text("Devices: this network namespace has no device.");
	json_fill(answer, "devices:o",
		  pools_json(&capacity.pools, other_is_counted, other_slot_json));
	other_counted(answer);
	/* Only the kernel's log has the reason why a device or its firmware failed. */
	for (pool = capacity.pools.first; pool; pool = pool->next) {
		char *device __autofree = memory_string(pool->device.name);

		hierarchy_unescape(device);
		json_object_array_add(logs, other_device_log(pool->device.name, device));
	}
	json_object_object_add(answer, "log", logs);
}
