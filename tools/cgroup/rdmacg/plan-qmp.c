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

#include "plan.h"
#include "plan-qemu.h"

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
	qmp->tokener = json_tokener_new_ex(PLAN_QMP_DEPTH);
	if (!qmp->tokener)
		plan_no_memory();
	json_tokener_set_flags(qmp->tokener,
			       JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS);
}

void plan_qmp_end(struct plan_qmp *qmp)
{
	json_tokener_free(qmp->tokener);
	free(qmp->text);
}

/* QEMU's own words on what it refused. */
static int plan_qmp_refused(const struct plan_qmp *qmp, struct json_object *error)
{
	struct json_object *words;
	char shown[PLAN_SHOWN] = "no reason";

	if (json_object_object_get_ex(error, "desc", &words) &&
	    json_object_is_type(words, json_type_string))
		plan_show(shown, json_object_get_string(words),
			  (size_t)json_object_get_string_len(words));
	return plan_error(qmp->where,
			  "QEMU refuses to tell its RAM blocks: %s; take the text of 'info ramblock' from its monitor for --ramblocks",
			  shown);
}

/* What was asked for is there. */
static int plan_qmp_returned(struct plan_qmp *qmp, struct json_object *value, const char **answer)
{
	if (qmp->state == PLAN_QMP_MODE) {
		qmp->state = PLAN_QMP_BLOCKS;
		*answer = plan_qmp_asks[qmp->state];
		return 0;
	}
	if (!json_object_is_type(value, json_type_string))
		return plan_error(qmp->where,
				  "the answer to 'info ramblock' is no text; is this a QMP socket of QEMU?");
	qmp->length = (size_t)json_object_get_string_len(value);
	qmp->text = plan_copy(json_object_get_string(value), qmp->length);
	qmp->state = PLAN_QMP_DONE;
	return 0;
}

static int plan_qmp_message(struct plan_qmp *qmp, struct json_object *message, const char **answer)
{
	struct json_object *value;

	if (qmp->state == PLAN_QMP_GREETING && json_object_object_get_ex(message, "QMP", &value)) {
		qmp->state = PLAN_QMP_MODE;
		*answer = plan_qmp_asks[qmp->state];
		return 0;
	}
	if (qmp->state != PLAN_QMP_GREETING) {
		if (json_object_object_get_ex(message, "return", &value))
			return plan_qmp_returned(qmp, value, answer);
		if (json_object_object_get_ex(message, "error", &value))
			return plan_qmp_refused(qmp, value);
		if (json_object_object_get_ex(message, "event", &value))
			return 0;
	}
	return plan_error(qmp->where, "the answer is not QMP; is this a QMP socket of QEMU?");
}

int plan_qmp_take(struct plan_qmp *qmp, const char *data, size_t length, const char **answer)
{
	*answer = NULL;
	qmp->received += length;
	if (qmp->received > PLAN_TEXT_MAX)
		return plan_error(qmp->where,
				  "more than %zu bytes came; is this a QMP socket of QEMU?",
				  PLAN_TEXT_MAX);
	while (length && qmp->state != PLAN_QMP_DONE) {
		struct json_object *message = json_tokener_parse_ex(qmp->tokener, data,
								    (int)length);
		enum json_tokener_error error = json_tokener_get_error(qmp->tokener);
		size_t taken = json_tokener_get_parse_end(qmp->tokener);
		int ret;

		if (error == json_tokener_continue)
			return 0;
		/* There is no message where there is an error, and none is no QMP. */
		ret = plan_qmp_message(qmp, message, answer);
		json_object_put(message);
		if (ret)
			return ret;
		data += taken;
		length -= taken;
	}
	return 0;
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

static int plan_qmp_open(const char *where, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(address.sun_path)) {
		plan_error(where, "the path is longer than a socket's can be; give a shorter one");
		return -1;
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	plan_error(where, "%s; is this the QMP socket of a running QEMU, and may you open it?",
		   strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static int plan_qmp_talk(struct plan_qmp *qmp, int fd, int64_t deadline)
{
	char data[4096];
	const char *answer;

	while (qmp->state != PLAN_QMP_DONE) {
		ssize_t length = plan_qmp_receive(fd, data, sizeof(data), deadline);
		int ret;

		if (length == -ETIMEDOUT)
			return plan_error(qmp->where,
					  "no answer in time; QMP serves one client at a time: is another one connected?");
		if (length <= 0)
			return plan_error(qmp->where, "%s; is QEMU still running?",
					  length ? strerror((int)-length) :
					  "closed without an answer");
		ret = plan_qmp_take(qmp, data, (size_t)length, &answer);
		if (ret)
			return ret;
		ret = answer ? plan_qmp_send(fd, answer, deadline) : 0;
		if (ret)
			return plan_error(qmp->where, "%s; is QEMU still running?", strerror(-ret));
	}
	return 0;
}

int plan_qmp_read_blocks(const char *path, uint64_t seconds, struct plan_blocks *blocks)
{
	int64_t deadline = plan_now_ms() + (int64_t)seconds * 1000;
	char where[PLAN_SHOWN];
	struct plan_qmp qmp;
	int ret;
	int fd;

	fd = plan_qmp_open(plan_show(where, path, strlen(path)), path);
	if (fd < 0)
		return PLAN_FAILED;
	plan_qmp_begin(&qmp, where);
	ret = plan_qmp_talk(&qmp, fd, deadline);
	close(fd);
	if (!ret)
		ret = plan_parse_blocks(where, qmp.text, qmp.length, blocks);
	plan_qmp_end(&qmp);
	return ret;
}
