// SPDX-License-Identifier: GPL-2.0
/*
 * make CGROUP KEY: enter the cgroup, and create an object that is charged to KEY on
 * the first device. Prints "made", "refused" after EAGAIN, or "fails" after another
 * error. "make CGROUP max_qp" prints how many QPs the device claims to have.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static char page[4096];

static struct ibv_qp *make_ud(void)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_UD, .send_cq = cq, .recv_cq = cq,
					 .cap = { 1, 1, 1, 1 } };

	return ibv_create_qp(pd, &init);
}

static void *make_handle(void)
{
	return ibv_open_device(context->device);
}

static void *make_pd(void)
{
	return ibv_alloc_pd(context);
}

static void *make_cq(void)
{
	return ibv_create_cq(context, 1, NULL, NULL, 0);
}

static void *make_qp(void)
{
	return make_ud();
}

static void *make_srq(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 1, .max_sge = 1 } };

	return ibv_create_srq(pd, &init);
}

static void *make_ah(void)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1 };

	return ibv_query_gid(context, 1, 0, &attr.grh.dgid) ? NULL : ibv_create_ah(pd, &attr);
}

static void *make_mr(void)
{
	return ibv_reg_mr(pd, page, sizeof(page), IBV_ACCESS_LOCAL_WRITE);
}

static void *make_mw(void)
{
	return ibv_alloc_mw(pd, IBV_MW_TYPE_2);
}

static void *make_channel(void)
{
	return ibv_create_comp_channel(context);
}

static void *make_mcast(void)
{
	union ibv_gid gid = { .raw = { 0xff, 0x0e, [15] = 1 } };
	struct ibv_qp *qp = make_ud();

	errno = qp ? ibv_attach_mcast(qp, &gid, 0) : errno;
	return qp && !errno ? qp : NULL;
}

static void *make_cm_id(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	inet_pton(AF_INET, "192.0.2.1", &address.sin_addr);
	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(id, (struct sockaddr *)&address))
		return NULL;
	return id;
}

static const struct {
	const char *key;
	void *(*make)(void);
} kinds[] = {
	{ "hca_handle", make_handle },
	{ "hca_object", make_pd },
	{ "pd", make_pd },
	{ "cq", make_cq },
	{ "qp", make_qp },
	{ "srq", make_srq },
	{ "ah", make_ah },
	{ "mr", make_mr },
	{ "mw", make_mw },
	{ "comp_channel", make_channel },
	{ "mr_mem", make_mr },
	{ "mcast", make_mcast },
	{ "cm_id", make_cm_id },
	{ "queue_mem", make_cq },
};

/* Enter the cgroup when all that the object needs exists. */
static int enter(const char *cgroup)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	file = fopen(path, "w");
	return !file || fprintf(file, "0") < 0 || fclose(file);
}

int main(int argc, char **argv)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_device_attr attr;
	unsigned int i;

	context = devices && *devices ? ibv_open_device(*devices) : NULL;
	pd = context ? ibv_alloc_pd(context) : NULL;
	cq = pd ? make_cq() : NULL;
	if (argc != 3 || !cq || enter(argv[1])) {
		fprintf(stderr, "make: usage: make CGROUP KEY, and a device\n");
		return 2;
	}
	if (!strcmp(argv[2], "max_qp"))
		return ibv_query_device(context, &attr) || printf("%d\n", attr.max_qp) < 0;
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(kinds[i].key, argv[2]))
			continue;
		errno = 0;
		puts(kinds[i].make() ? "made" : errno == EAGAIN ? "refused" : "fails");
		return 0;
	}
	puts("unknown");
	return 0;
}
