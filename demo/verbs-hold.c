// SPDX-License-Identifier: GPL-2.0
/*
 * verbs-hold DEVICE COUNT: open the device, create a PD, a CQ and COUNT QPs, and hold them. Each
 * line on standard input creates one more QP. The end of the input ends the program.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int made;

static int complain(const char *what)
{
	printf("%s refused: %s%s\n", what, strerror(errno),
	       errno == EAGAIN ? " (EAGAIN)" : "");
	return 1;
}

static int make_qp(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	char name[32];

	snprintf(name, sizeof(name), "QP %d", made + 1);
	if (!ibv_create_qp(pd, &init))
		return complain(name);
	printf("%s created\n", name);
	made++;
	return 0;
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			return ibv_open_device(list[i]);
	errno = ENODEV;
	return NULL;
}

int main(int argc, char **argv)
{
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	char line[16];
	int count;

	if (argc != 3) {
		fprintf(stderr, "usage: verbs-hold DEVICE COUNT\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	context = open_device(argv[1]);
	if (!context)
		return complain("open");
	pd = ibv_alloc_pd(context);
	if (!pd)
		return complain("PD");
	cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	if (!cq)
		return complain("CQ");
	for (count = atoi(argv[2]); count && !make_qp(pd, cq); count--)
		;
	printf("holding 1 PD, 1 CQ, %d QP%s\n", made, made == 1 ? "" : "s");
	while (fgets(line, sizeof(line), stdin))
		make_qp(pd, cq);
	return 0;
}
