// SPDX-License-Identifier: GPL-2.0
/*
 * make: create an object of each type on the first device. Prints "refused" after
 * EAGAIN, or the call that failed otherwise, or "made", with the number of QPs that
 * the device claims to have.
 *
 * make hang: register memory whose pages never come, because this process handles
 * their faults, and does not. Prints "hangs" before.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <linux/userfaultfd.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* End the program if the call has failed. */
static void *check(void *object, const char *call)
{
	if (object)
		return object;
	printf("%s\n", errno == EAGAIN ? "refused" : call);
	exit(0);
}

static struct ibv_context *make_verbs(void)
{
	static char page[4096];
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = check(ibv_open_device(*list), "open_device");
	struct ibv_pd *pd = check(ibv_alloc_pd(context), "alloc_pd");
	struct ibv_cq *cq = check(ibv_create_cq(context, 1, NULL, NULL, 0), "create_cq");
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 1, .max_sge = 1 } };
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_UD, .send_cq = cq, .recv_cq = cq,
					 .cap = { 1, 1, 1, 1 } };
	struct ibv_qp *qp = check(ibv_create_qp(pd, &init), "create_qp");
	union ibv_gid group = { .raw = { 0xff, 0x0e, [15] = 1 } };
	struct ibv_ah_attr ah = { .is_global = 1, .port_num = 1 };

	ibv_query_gid(context, 1, 0, &ah.grh.dgid);
	check(ibv_create_srq(pd, &srq), "create_srq");
	check(ibv_create_ah(pd, &ah), "create_ah");
	check(ibv_reg_mr(pd, page, sizeof(page), IBV_ACCESS_LOCAL_WRITE), "reg_mr");
	check(ibv_alloc_mw(pd, IBV_MW_TYPE_2), "alloc_mw");
	check(ibv_create_comp_channel(context), "create_comp_channel");
	errno = ibv_attach_mcast(qp, &group, 0);
	check(errno ? NULL : qp, "attach_mcast");
	return context;
}

static void make_cm_id(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id = NULL;

	check(channel, "create_event_channel");
	inet_pton(AF_INET, "192.0.2.1", &address.sin_addr);
	rdma_create_id(channel, &id, NULL, RDMA_PS_TCP);
	check(id, "create_id");
	check(rdma_bind_addr(id, (struct sockaddr *)&address) ? NULL : id, "bind_addr");
}

static int hang(struct ibv_pd *pd)
{
	struct uffdio_register area = { .mode = UFFDIO_REGISTER_MODE_MISSING, .range.len = 4096 };
	struct uffdio_api api = { .api = UFFD_API };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	area.range.start = (unsigned long)page;
	if (ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &area))
		check(NULL, "userfaultfd");
	puts("hangs");
	fflush(stdout);
	ibv_reg_mr(pd, page, 4096, IBV_ACCESS_LOCAL_WRITE);
	return puts("returned");
}

int main(int argc, char **argv)
{
	struct ibv_device_attr attr = { };
	struct ibv_context *context;

	if (argc > 1)
		return hang(ibv_alloc_pd(ibv_open_device(*ibv_get_device_list(NULL))));
	context = make_verbs();
	make_cm_id();
	errno = ibv_query_device(context, &attr);
	printf("made %d\n", attr.max_qp);
	return 0;
}
