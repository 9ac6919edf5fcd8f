/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The operations of a differential test. The generator creates operations; the model and the kernel
 * carry them out, and their answers are compared.
 *
 * Objects have ids, such as op.proc and op.object. An id is an index into a table of each side, not
 * a pid or a handle, and another object gets it after the first one is destroyed.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include <stdint.h>
#include <linux/types.h>

#include "../model/write.h"

#define ARRAY_SIZE(array) ((int)(sizeof(array) / sizeof((array)[0])))

#define DEVICES 2
#define PROCS 6
#define CONTEXTS 8
#define OBJECTS 40
#define GROUPS 3
#define CM_IDS 6
#define TEXT_SIZE 512
#define ANSWER_SIZE 4096

#define NONE (-1)
/* Longer than any address space. */
#define ENDLESS ((__u64)UINT64_MAX)

enum resource {
	HCA_HANDLE, HCA_OBJECT,
	PD, COMP_CHANNEL, CQ, QP, SRQ, AH, MR, MW, ASYNC_EVENT, MR_MEM, MCAST, CM_ID,
	QUEUE_MEM,
	/* Not charged, and too high for any command to reach. */
	OPS, BURST, INFLIGHT,
	RESOURCES
};

enum class { HCA = MODEL_HCA, VERB = MODEL_VERB, HW = MODEL_HW, CONTROL = MODEL_CONTROL, CLASSES };
enum kind { MAX, CURRENT, PEAK, EVENTS, EVENTS_LOCAL, KINDS };
/*
 * The number of a file is class * KINDS + kind. The last class has only the first kind. The next
 * number is rdma.default.
 */
#define DEFAULT_FILE (CONTROL * KINDS + 1)
#define FILES (DEFAULT_FILE + 1)

enum what {
	MKDIR, RMDIR, DELEGATE, READ, WRITE,
	SPAWN, FORK, KILL, ENTER,
	OPEN, CLOSE, SHARE, CREATE, DESTROY, REREG, ATTACH, DETACH, QUERY,
	CM_CREATE, CM_BIND, CM_CLOSE,
	OPERATIONS
};

/* Why a driver refuses to create an object, after the charge. */
enum flaw { SOUND, TOO_MANY_CQES, NO_MEMORY_THERE, FLAWS };

struct op {
	enum what what;
	int dir;		/* the cgroup */
	int file;		/* READ, WRITE */
	bool on;		/* DELEGATE: turn the controller on for children, or off */
	int proc;		/* who does it, or to whom it is done */
	int other;		/* FORK: the child. SHARE: the receiver */
	int ctx, device;
	int object;
	enum resource type;	/* CREATE */
	int pd, cq;		/* CREATE: what the object needs, or NONE */
	enum flaw flaw;		/* CREATE */
	__u64 length;		/* CREATE of an MR, REREG */
	int group;		/* ATTACH, DETACH */
	int cm_id;		/* CM_CREATE, CM_BIND, CM_CLOSE */
	char text[TEXT_SIZE];	/* WRITE */
	size_t text_len;
};

/* All cgroups that can exist, parents first; number 0 is the root. */
struct dir {
	const char *path;
	int parent;
};

#define DIRS 18
extern const struct dir dirs[DIRS];
extern const char *const resource_names[RESOURCES];
/* The first resource of each class, and the end of the last class. */
extern const enum resource first_of_class[CLASSES + 1];

/* The controller is on a v1 hierarchy, not on v2. */
extern bool on_v1;

static inline bool is_fd_type(enum resource type)
{
	return type == COMP_CHANNEL || type == ASYNC_EVENT;
}

/* "rdma.max" and so on, valid until the next call. */
const char *file_name(int file);
/* Answer a QUERY, with @most of each resource. */
void print_query(char *answer, const __u64 *most);

/*
 * Do one operation: 0 or a negative errno. READ and QUERY put the answer into @answer, of
 * ANSWER_SIZE bytes.
 */
int model_do(const struct op *op, char *answer);
int kernel_do(const struct op *op, char *answer);

/* To be called once, before the first operation. */
void model_start(void);
void kernel_start(void);

/* The objects of the model, from which the generator chooses. */
bool model_has_dir(int dir);
bool model_has_account(int dir);
bool model_takes_procs(int dir);
bool model_has_proc(int proc);
bool model_has_context(int ctx);
int model_device(int ctx);
/* The process can use the context or object. */
bool model_holds_context(int proc, int ctx);
bool model_holds_object(int proc, int object);
bool model_has_object(int object);
enum resource model_type(int object);
int model_context(int object);
bool model_has_cm_id(int id);
bool model_holds_cm_id(int proc, int id);
/* Only the process that created an identifier can bind it. */
bool model_can_bind(int proc, int id);

#endif /* REPLAY_H */
