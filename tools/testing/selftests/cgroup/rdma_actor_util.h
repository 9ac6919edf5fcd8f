/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers for the tests of sockets over RDMA. They load modules, and start actors. An actor is an
 * unprivileged process in a cgroup. It carries out the orders of the test one after the other.
 */
#ifndef RDMA_ACTOR_UTIL_H
#define RDMA_ACTOR_UTIL_H

#include <grp.h>
#include <sys/socket.h>

#include "rdma_verbs_util.h"

#define RDMACG_NOBODY 65534

struct rdmacg_actor {
	pid_t pid;
	int socket;
};

struct rdmacg_order {
	int verb;
	int argument;
};

/* Carry out one order. Returns the actor's answer, which is 0 or a negative errno. */
typedef int (*rdmacg_act_fn)(int verb, int argument);

static inline bool rdmacg_drop_privileges(void)
{
	return !setgroups(0, NULL) && !setresgid(RDMACG_NOBODY, RDMACG_NOBODY, RDMACG_NOBODY) &&
	       !setresuid(RDMACG_NOBODY, RDMACG_NOBODY, RDMACG_NOBODY) &&
	       /* Set the death signal again, because setuid() has cleared it. */
	       !prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* The main loop of an actor. The actor ends when its test ends. */
static inline void rdmacg_obey(int socket, rdmacg_act_fn act)
{
	struct rdmacg_order order;
	int answer;

	while (read(socket, &order, sizeof(order)) == sizeof(order)) {
		answer = act(order.verb, order.argument);
		if (write(socket, &answer, sizeof(answer)) != sizeof(answer))
			break;
	}
	_exit(0);
}

static inline bool rdmacg_start_actor(struct rdmacg_actor *actor, const char *cgroup,
				      rdmacg_act_fn act)
{
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		return false;
	actor->pid = rdmacg_fork();
	if (!actor->pid) {
		close(sockets[0]);
		if (cg_enter_current(cgroup) || !rdmacg_drop_privileges())
			_exit(1);
		rdmacg_obey(sockets[1], act);
	}
	close(sockets[1]);
	actor->socket = sockets[0];
	return actor->pid > 0;
}

/* Give an order and return the actor's answer, or -EPIPE if the actor has ended. */
static inline int rdmacg_tell(struct rdmacg_actor *actor, int verb, int argument)
{
	struct rdmacg_order order = { .verb = verb, .argument = argument };
	int answer;

	if (send(actor->socket, &order, sizeof(order), MSG_NOSIGNAL) != sizeof(order) ||
	    read(actor->socket, &answer, sizeof(answer)) != sizeof(answer))
		return -EPIPE;
	return answer;
}

/* Kill the actor, and wait until its files are closed. */
static inline void rdmacg_end_actor(struct rdmacg_actor *actor)
{
	if (actor->pid <= 0)
		return;
	kill(actor->pid, SIGKILL);
	waitpid(actor->pid, NULL, 0);
	close(actor->socket);
	actor->pid = 0;
}

/*
 * Run the program that the kernel itself uses to load modules, because this program finds the
 * folder of the modules.
 */
static inline bool rdmacg_modprobe(const char *arguments)
{
	char path[PATH_MAX] = "", command[PATH_MAX + 256];
	FILE *file = fopen("/proc/sys/kernel/modprobe", "r");

	if (!file || fscanf(file, "%4095s", path) != 1)
		snprintf(path, sizeof(path), "modprobe");
	if (file)
		fclose(file);
	snprintf(command, sizeof(command), "%s %s 2>/dev/null", path, arguments);
	return !system(command);
}

/* Count the lines of the kernel's log that contain @text. */
static inline int rdmacg_logged(const char *text)
{
	char command[512], count[32] = "";
	FILE *pipe;

	snprintf(command, sizeof(command), "dmesg | grep -cF '%s'", text);
	pipe = popen(command, "r");
	if (!pipe)
		return -1;
	if (!fgets(count, sizeof(count), pipe))
		count[0] = '\0';
	pclose(pipe);
	return atoi(count);
}

#endif /* RDMA_ACTOR_UTIL_H */
