// SPDX-License-Identifier: GPL-2.0
/* rdmacg: what drivers wrote to the kernel's log, and what it means. */
#include "core/core.h"

/* Older lines are of other troubles. */
#define LOG_MINUTES	15
/* The last ones say most. */
#define LOG_LINES	5
#define LOG_RECORD	8192

/* Words of a line of the log, from the most telling on. */
static const struct {
	const char *words;
	const char *meaning;
} log_meanings[] = {
	{ "ALLOC_UAR", "the adapter has no more doorbell pages (uar); open fewer contexts" },
	{ "status limits exceeded", "the adapter's firmware has no more of this resource" },
	{ "status no resources", "the adapter's firmware is out of memory or of this resource" },
	{ "status bad resource", "the object is gone or in a state that does not allow this" },
	{ "status bad parameter", "the firmware does not support what was asked for" },
	{ "status internal error", "the firmware failed; look at the adapter's health" },
	{ "no more", "the device has no more of this" },
	{ "exceed", "a maximum of the device is exceeded" },
	{ "failed", "the device or its driver refused this" },
	{ "error", "the device or its driver reported an error" },
};

static const char *log_meaning(const char *line)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(log_meanings); i++)
		if (strcasestr(line, log_meanings[i].words))
			return log_meanings[i].meaning;
	return NULL;
}

static const char *log_path(const char *variable, const char *path)
{
	const char *other = getenv(variable);

	return other && *other ? other : path;
}

/* Where the device sits, such as 0000:08:00.0; drivers name it so. To be freed. */
static char *log_bus_name(const char *device)
{
	char *path = memory_format("%s/%s/device",
				   log_path("RDMACG_SYS", "/sys/class/infiniband"), device);
	char link[256];
	ssize_t length = readlink(path, link, sizeof(link) - 1);
	char *slash;

	free(path);
	if (length <= 0)
		return NULL;
	link[length] = '\0';
	slash = strrchr(link, '/');
	return memory_string(slash ? slash + 1 : link);
}

/* A device's name is whole where no letter or digit stands beside it. */
static bool log_has_name(const char *line, const char *name)
{
	size_t length = strlen(name);
	const char *at = line;

	while ((at = strstr(at, name))) {
		if ((at == line || !strchr("_abcdefghijklmnopqrstuvwxyz0123456789", at[-1])) &&
		    (at[length] < '0' || at[length] > '9'))
			return true;
		at += length;
	}
	return false;
}

/* The text of a record "PRIORITY,NUMBER,MICROSECONDS,...;TEXT\n..." that is new enough. */
static char *log_text(char *record)
{
	char *text = strchr(record, ';');
	int64_t oldest = clock_now() - LOG_MINUTES * 60000LL;
	uint64_t when;

	if (!text || sscanf(record, "%*u,%*u,%" SCNu64, &when) != 1 ||
	    (int64_t)(when / 1000) < oldest)
		return NULL;
	text++;
	text[strcspn(text, "\n")] = '\0';
	return text;
}

struct log_found {
	char *lines[LOG_LINES];
	size_t count;
};

static void log_keep(struct log_found *found, const char *text)
{
	char **line = &found->lines[found->count++ % LOG_LINES];

	free(*line);
	*line = memory_string(text);
}

/* Each read gives one record; the last ones that name the device are kept. */
static void log_scan(int fd, const char *device, const char *bus, struct log_found *found)
{
	char record[LOG_RECORD];
	ssize_t got;
	char *text;

	for (;;) {
		got = read(fd, record, sizeof(record) - 1);
		/* The kernel has dropped records meanwhile, and goes on with the next. */
		if (got < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (got <= 0)
			return;
		record[got] = '\0';
		text = log_text(record);
		if (text && log_meaning(text) &&
		    (log_has_name(text, device) || (bus && log_has_name(text, bus))))
			log_keep(found, text);
	}
}

bool log_read(struct log *log, const char *device)
{
	const char *path = log_path("RDMACG_KMSG", "/dev/kmsg");
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct log_found found = { 0 };
	size_t i, first;

	memset(log, 0, sizeof(*log));
	log->bus = log_bus_name(device);
	if (fd < 0)
		return false;
	log_scan(fd, device, log->bus, &found);
	close(fd);
	log->nr_lines = found.count < LOG_LINES ? found.count : LOG_LINES;
	first = found.count - log->nr_lines;
	log->lines = memory_zeroed(log->nr_lines, sizeof(*log->lines));
	for (i = 0; i < log->nr_lines; i++) {
		log->lines[i].text = found.lines[(first + i) % LOG_LINES];
		log->lines[i].meaning = log_meaning(log->lines[i].text);
	}
	return true;
}

void log_free(struct log *log)
{
	size_t i;

	for (i = 0; i < log->nr_lines; i++)
		free(log->lines[i].text);
	free(log->lines);
	free(log->bus);
}
