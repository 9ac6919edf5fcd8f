// SPDX-License-Identifier: GPL-2.0
/*
 * Ask a running QEMU for its RAM blocks, over its QMP socket: greeting, qmp_capabilities,
 * human-monitor-command "info ramblock" (QEMU, docs/interop/qmp-spec). Nobody vouches for
 * what answers, so its length, its depth and its time are bounded.
 */
#include <errno.h>
#include <json-c/json.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "lib/memory.h"
#include "lib/message.h"
#include "plan/qemu.h"

/* A reply has four levels. */
#define PLAN_QMP_DEPTH	16

/* What is sent to come into a state. */
static const char *const plan_qmp_asks[] = {
	[PLAN_QMP_MODE] = "{\"execute\":\"qmp_capabilities\"}\r\n",
	[PLAN_QMP_BLOCKS] =
	"{\"execute\":\"human-monitor-command\",\"arguments\":{\"command-line\":\"info ramblock\"}}\r\n",
};

void plan_qmp_begin(struct plan_qmp *qmp, const char *where)
{
	memset(qmp, 0, sizeof(*qmp));
	qmp->where = where;
	qmp->tokener = memory_check(json_tokener_new_ex(PLAN_QMP_DEPTH));
	json_tokener_set_flags(qmp->tokener,
			       JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS);
}

void plan_qmp_end(struct plan_qmp *qmp)
{
	json_tokener_free(qmp->tokener);
	json_object_put(qmp->text);
}

/* QEMU's own words on what it refused. */
static bool plan_qmp_refused(const struct plan_qmp *qmp, struct json_object *error)
{
	struct json_object *words;
	const char *reason = "no reason";

	if (json_object_object_get_ex(error, "desc", &words) &&
	    json_object_is_type(words, json_type_string))
		reason = json_object_get_string(words);
	say_error(qmp->where,
		  "QEMU refuses to tell its RAM blocks: %s; take the text of 'info ramblock' from its monitor for --ramblocks",
		  reason);
	return false;
}

/* What was asked for is there. */
static bool plan_qmp_returned(struct plan_qmp *qmp, struct json_object *value, const char **answer)
{
	if (qmp->state == PLAN_QMP_MODE) {
		qmp->state = PLAN_QMP_BLOCKS;
		*answer = plan_qmp_asks[qmp->state];
		return true;
	}
	if (!json_object_is_type(value, json_type_string)) {
		say_error(qmp->where,
			  "the answer to 'info ramblock' is no text; is this a QMP socket of QEMU?");
		return false;
	}
	qmp->text = json_object_get(value);
	qmp->state = PLAN_QMP_DONE;
	return true;
}

static bool plan_qmp_message(struct plan_qmp *qmp, struct json_object *message,
			     const char **answer)
{
	struct json_object *value;

	if (qmp->state == PLAN_QMP_GREETING && json_object_object_get_ex(message, "QMP", &value)) {
		qmp->state = PLAN_QMP_MODE;
		*answer = plan_qmp_asks[qmp->state];
		return true;
	}
	if (qmp->state != PLAN_QMP_GREETING) {
		if (json_object_object_get_ex(message, "return", &value))
			return plan_qmp_returned(qmp, value, answer);
		if (json_object_object_get_ex(message, "error", &value))
			return plan_qmp_refused(qmp, value);
		if (json_object_object_get_ex(message, "event", &value))
			return true;
	}
	say_error(qmp->where, "the answer is not QMP; is this a QMP socket of QEMU?");
	return false;
}

bool plan_qmp_take(struct plan_qmp *qmp, const char *data, size_t length, const char **answer)
{
	*answer = NULL;
	qmp->received += length;
	if (qmp->received > PLAN_TEXT_MAX) {
		say_error(qmp->where, "more than %zu bytes came; is this a QMP socket of QEMU?",
			  PLAN_TEXT_MAX);
		return false;
	}
	while (length && qmp->state != PLAN_QMP_DONE) {
		struct json_object *message = json_tokener_parse_ex(qmp->tokener, data,
								    (int)length);
		enum json_tokener_error error = json_tokener_get_error(qmp->tokener);
		size_t taken = json_tokener_get_parse_end(qmp->tokener);
		bool good;

		if (error == json_tokener_continue)
			return true;
		/* There is no message where there is an error, and none is no QMP. */
		good = plan_qmp_message(qmp, message, answer);
		json_object_put(message);
		if (!good)
			return false;
		data += taken;
		length -= taken;
	}
	return true;
}

bool plan_qmp_parse(const struct plan_qmp *qmp, struct plan_blocks *blocks)
{
	return plan_parse_blocks(qmp->where, json_object_get_string(qmp->text),
				 (size_t)json_object_get_string_len(qmp->text), blocks);
}

static int64_t plan_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Wait until the socket is ready, or until @deadline: 0, or a negative errno. */
static int plan_qmp_wait(int fd, short events, int64_t deadline)
{
	struct pollfd ready = { .fd = fd, .events = events };
	int64_t left;
	int ret;

	do {
		left = deadline - plan_now_ms();
		if (left < 0)
			return -ETIMEDOUT;
		ret = poll(&ready, 1, (int)left);
	} while (ret < 0 && errno == EINTR);
	if (ret < 0)
		return -errno;
	return ret ? 0 : -ETIMEDOUT;
}

static int plan_qmp_send(int fd, const char *text, int64_t deadline)
{
	size_t length = strlen(text);

	while (length) {
		ssize_t sent = send(fd, text, length, MSG_NOSIGNAL);
		int ret = 0;

		if (sent < 0 && errno == EAGAIN)
			ret = plan_qmp_wait(fd, POLLOUT, deadline);
		else if (sent < 0 && errno != EINTR)
			ret = -errno;
		if (ret)
			return ret;
		if (sent > 0) {
			text += sent;
			length -= (size_t)sent;
		}
	}
	return 0;
}

/* What has come, at most @size: its length, 0 at the end, or a negative errno. */
static ssize_t plan_qmp_receive(int fd, char *data, size_t size, int64_t deadline)
{
	ssize_t length;
	int ret;

	do {
		ret = plan_qmp_wait(fd, POLLIN, deadline);
		if (ret)
			return ret;
		length = recv(fd, data, size, 0);
	} while (length < 0 && (errno == EINTR || errno == EAGAIN));
	return length < 0 ? -errno : length;
}

static int plan_qmp_open(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(address.sun_path)) {
		say_error(path, "the path is longer than a socket's can be; give a shorter one");
		return -1;
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	say_error(path, "%s; is this the QMP socket of a running QEMU, and may you open it?",
		  strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Say why nothing came: @length is 0 for the end, or a negative errno. */
static void plan_qmp_say_end(const struct plan_qmp *qmp, ssize_t length)
{
	if (length == -ETIMEDOUT)
		say_error(qmp->where,
			  "no answer in time; QMP serves one client at a time: is another one connected?");
	else
		say_error(qmp->where, "%s; is QEMU still running?",
			  length ? strerror((int)-length) : "closed without an answer");
}

static bool plan_qmp_talk(struct plan_qmp *qmp, int fd, int64_t deadline)
{
	char data[4096];
	const char *answer;

	while (qmp->state != PLAN_QMP_DONE) {
		ssize_t length = plan_qmp_receive(fd, data, sizeof(data), deadline);

		if (length > 0 && !plan_qmp_take(qmp, data, (size_t)length, &answer))
			return false;
		if (length > 0 && answer)
			length = plan_qmp_send(fd, answer, deadline) ?: length;
		if (length <= 0) {
			plan_qmp_say_end(qmp, length);
			return false;
		}
	}
	return true;
}

bool plan_qmp_read_blocks(const char *path, uint64_t seconds, struct plan_blocks *blocks)
{
	int64_t deadline = plan_now_ms() + (int64_t)seconds * 1000;
	struct plan_qmp qmp;
	bool good;
	int fd;

	fd = plan_qmp_open(path);
	if (fd < 0)
		return false;
	plan_qmp_begin(&qmp, path);
	good = plan_qmp_talk(&qmp, fd, deadline) && plan_qmp_parse(&qmp, blocks);
	close(fd);
	plan_qmp_end(&qmp);
	return good;
}
