// SPDX-License-Identifier: GPL-2.0
/* rdmacg: messages of drivers in the kernel's log, and their meaning. */
#include "core/core.h"

/* Skip older lines, which are about other failures. */
#define LOG_MINUTES	15
#define LOG_RECORD	8192

/* Words that identify a line of the log, and its meaning. The most specific words come first. */
static const struct {
	const char *words;
	const char *meaning;
} log_meanings[] = {
	{ "ALLOC_UAR", "the adapter has no free doorbell pages (uar); open fewer contexts" },
	{ "status limits exceeded", "the adapter's firmware has no free objects of this resource" },
	{ "status no resources", "the adapter's firmware is out of memory or of this resource" },
	{ "status bad resource", "the object does not exist, or its state does not allow this" },
	{ "status bad parameter", "the firmware does not support this request" },
	{ "status internal error", "the firmware failed; look at the adapter's health" },
	{ "no more", "the device has no free objects of this resource" },
	{ "exceed", "a maximum of the device is exceeded" },
	{ "failed", "the device or its driver refused this" },
	{ "error", "the device or its driver reported an error" },
};

const char *log_meaning(const char *line)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(log_meanings); i++)
		if (strcasestr(line, log_meanings[i].words))
			return log_meanings[i].meaning;
	return NULL;
}

/* The device's place on its bus, which drivers print, such as 0000:08:00.0. To be freed. */
static char *log_bus_name(const char *device)
{
	char *path __autofree = memory_format("%s/%s/device", hierarchy_path("RDMACG_SYS",
						"/sys/class/infiniband"), device);
	char link[256];
	ssize_t length = readlink(path, link, sizeof(link) - 1);
	char *slash;

	if (length <= 0)
		return NULL;
	link[length] = '\0';
	slash = strrchr(link, '/');
	return memory_string(slash ? slash + 1 : link);
}

/* Whether the line has the name as a whole word, with no letter or digit beside it. */
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

/* The text of a record "PRIORITY,NUMBER,MICROSECONDS,...;TEXT\n...", or NULL if it is too old. */
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

static void log_keep(struct log *log, const char *text)
{
	if (log->nr_lines == LOG_LINES) {
		free(log->lines[0]);
		memmove(log->lines, log->lines + 1, --log->nr_lines * sizeof(log->lines[0]));
	}
	log->lines[log->nr_lines++] = memory_string(text);
}

/* Each read returns one record. Keep the last records that name the device. */
static void log_scan(int fd, const char *device, struct log *log)
{
	char record[LOG_RECORD];
	ssize_t got;
	char *text;

	for (;;) {
		got = read(fd, record, sizeof(record) - 1);
		/* The kernel has dropped records. The next read continues after them. */
		if (got < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (got <= 0)
			return;
		record[got] = '\0';
		text = log_text(record);
		if (text && log_meaning(text) &&
		    (log_has_name(text, device) || (log->bus && log_has_name(text, log->bus))))
			log_keep(log, text);
	}
}

bool log_read(struct log *log, const char *device)
{
	int fd = open(hierarchy_path("RDMACG_KMSG", "/dev/kmsg"),
		      O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int error = errno;

	memset(log, 0, sizeof(*log));
	log->bus = log_bus_name(device);
	errno = error;
	if (fd < 0)
		return false;
	log_scan(fd, device, log);
	close(fd);
	return true;
}

void log_free(struct log *log)
{
	while (log->nr_lines)
		free(log->lines[--log->nr_lines]);
	free(log->bus);
}
