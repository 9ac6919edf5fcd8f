/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The model and the kernel do the same random operations, and their answers are compared:
 *
 *   replay.c           main(): prints operations and compares answers
 *   replay-generate.c  chooses operations from the state of the model
 *   replay-text.c      texts for the files of limits
 *   replay-model.c     the contract of the controller
 *   replay-kernel.c    the kernel: cgroups and processes
 *   replay-worker.c    the kernel: objects
 *
 * Processes and objects have ids, such as op.proc and op.object. An id is an index into a table of
 * the model and into a table of the kernel. An id is used again after its object is destroyed.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include <stdint.h>
#include <linux/types.h>
#include <sys/types.h>

#include "../model/write.h"

#define ARRAY_SIZE(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* Only the first two devices have objects. The other two devices have the same name. */
#define DEVICES 4
#define USED_DEVICES 2
#define PROCS 6
#define GROUPS 3
#define DIRS 18
/* The ends of the ids of contexts, of objects in a context, and of identifiers of rdma_cm. */
#define END_CONTEXTS 8
#define END_IN_CONTEXT 48
#define OBJECTS 54
#define ANSWER_SIZE 16384

#define NONE (-1)
/* A length that is larger than any address space. */
#define ENDLESS ((__u64)UINT64_MAX)

enum resource {
	HCA_HANDLE, HCA_OBJECT,
	PD, COMP_CHANNEL, CQ, QP, SRQ, AH, MR, MW, ASYNC_EVENT, MR_MEM, MCAST, CM_ID,
	QUEUE_MEM,
	/* Limits on commands, which no command reaches. */
	OPS, BURST, INFLIGHT,
	RESOURCES
};

/* The type of an object is its resource. A context is also an object. */
#define CONTEXT HCA_HANDLE

enum class { HCA = MODEL_HCA, VERB = MODEL_VERB, HW = MODEL_HW, CONTROL = MODEL_CONTROL, CLASSES };
enum kind { MAX, CURRENT, PEAK, EVENTS, EVENTS_LOCAL, KINDS };
/*
 * The number of a file is class * KINDS + kind. The last class has only the first kind, and
 * rdma.default has the next number.
 */
#define DEFAULT_FILE (CONTROL * KINDS + 1)
#define FILES (DEFAULT_FILE + 1)

enum what {
	MKDIR, RMDIR, DELEGATE, READ, WRITE,
	SPAWN, FORK, KILL, ENTER,
	CREATE, DESTROY, SHARE, REREG, ATTACH, DETACH, BIND,
	OPERATIONS
};

/* The reason for which a driver refuses to create an object, after the charge. */
enum flaw { SOUND, TOO_MANY_CQES, NO_MEMORY_THERE };

struct op {
	enum what what;
	int dir;		/* the cgroup of the operation */
	int file;		/* READ, WRITE: the file */
	bool on;		/* DELEGATE: turn the controller on for children, or off */
	int proc;		/* the process that acts, starts, is killed or is moved */
	int other;		/* FORK: the child; SHARE: the receiver */
	int object;
	enum resource type;	/* the type of the object */
	int device;		/* CREATE of a context, BIND: the device */
	int ctx;		/* the context of the object, or the context itself */
	int pd, cq;		/* CREATE: the PD and CQ that the object needs, or NONE */
	enum flaw flaw;		/* CREATE: the reason of a failure */
	__u64 length;		/* CREATE of an MR, REREG: the bytes */
	int group;		/* ATTACH, DETACH: the multicast group */
	const char *text;	/* WRITE: the written text */
	size_t text_len;
	unsigned int nth;	/* WRITE: the number of the allocation that fails, or 0 */
	bool back;		/* WRITE: the file has this text, so the write changes nothing */
};

/* The operations that are chosen. */
enum mode {
	COMMON,		/* operations of both kernels, whose answers are compared */
	FULL,		/* all operations of our kernel */
	WRITES,		/* operations on cgroups and files, with any limit on commands */
	MODES
};

extern enum mode mode;
/* The controller is on a v1 hierarchy, not on v2. */
extern bool on_v1;

/* All cgroups that can exist. Parents come before their children, and number 0 is the root. */
extern const struct dir {
	const char *path;
	int parent;
} dirs[DIRS];

extern const char *const resource_names[RESOURCES];
/* The first resource of each class, and the end of the last class. */
extern const enum resource first_of_class[CLASSES + 1];
/* The names of the devices, without escapes. */
extern const char *const device_names[DEVICES];

static inline int nr_devices(void)
{
	return mode == COMMON ? USED_DEVICES : DEVICES;
}

/*
 * Whether an object of the type has its own fd. Any other object is held by the fd of its context.
 */
static inline bool is_fd_type(enum resource type)
{
	return type == CONTEXT || type == COMP_CHANNEL || type == ASYNC_EVENT || type == CM_ID;
}

/* The state of the model. The generator reads it, and only the model changes it. */

struct cgroup {
	bool exists, delegates;
	int account;		/* NONE: the controller is off */
};

struct proc {
	bool alive;
	int dir;
};

struct object {
	bool alive;
	enum resource type;
	int device;		/* NONE: an identifier of rdma_cm that is not bound */
	int owner;		/* the account that was charged for the object */
	int ctx, pd, cq;
	__u64 length;
	int creator;		/* the process that created the object, or NONE after its end */
	bool held_by[PROCS];	/* the processes that have the fd of the object, if it has an fd */
	bool attached[GROUPS];
	int attach_owner[GROUPS];
};

extern struct cgroup cgroups[DIRS];
extern struct proc procs[PROCS];
extern struct object objects[OBJECTS];

bool model_has_account(int dir);
/* Whether the process can use the object. */
bool model_holds(int proc, int object);

/*
 * Do one operation. Returns 0 or a negative errno. READ puts the text into @answer, which has
 * ANSWER_SIZE bytes.
 */
int model_do(const struct op *op, char *answer);
int kernel_do(const struct op *op, char *answer);

/* Call this once, before the first operation. */
void model_start(void);
void kernel_start(void);

/* replay-worker.c */

#define MEMORY_SIZE 0x100000

/* All processes of the test share this memory. */
struct shared {
	/* MEMORY_SIZE bytes to register, and a page after them that cannot be read. */
	char memory[MEMORY_SIZE + 4096];
	struct op op;		/* the request to a worker, and its reply */
	int error;
	pid_t pids[PROCS];
	int fds[PROCS][OBJECTS];	/* the fd of a destroyed object is stale */
	__u32 handles[OBJECTS];
};

extern struct shared *shared;
/* The main process writes requests to [0] of a channel, and the worker reads them from [1]. */
extern int channels[PROCS][2];

/* Print @what and errno, and exit. */
void die(const char *what);
/* Serve requests until this process is killed. */
void work(int proc);

/* replay-generate.c */

/* Begin a sequence of operations, which depends only on the seed. */
void seed(__u64 seed);
__u64 next_random(void);
int below(int limit);
/* Returns true once in @times calls, on average. */
bool rarely(int times);
/* Choose one operation, or a few that belong together, and run them. */
void run_some(void);

/* replay-text.c: the text of a WRITE, valid until the next call */
void make_text(struct op *op);
/*
 * The first function makes a text that stock answers differently. The second function makes texts
 * that make the limits equal again.
 */
void make_odd_text(struct op *op);
void make_even_text(struct op *op, int device);

/* replay.c */

/* The name of a file, such as "rdma.max", valid until the next call. */
const char *file_name(int file);
/* Do one operation and print its result. */
void run(const struct op *op);

#endif /* REPLAY_H */
