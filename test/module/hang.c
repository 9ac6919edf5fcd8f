// SPDX-License-Identifier: GPL-2.0
/*
 * hang DEVICE: register memory whose pages never come, because this process
 * handles their faults, and does not. Prints "hangs" before.
 */
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register area = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(devices[0]);
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	area.range.len = 4096;
	area.range.start = (unsigned long)mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!pd || fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &area)) {
		perror("hang");
		return 1;
	}
	puts("hangs");
	fflush(stdout);
	ibv_reg_mr(pd, (void *)(unsigned long)area.range.start, 4096, IBV_ACCESS_LOCAL_WRITE);
	puts("returned");
	return 0;
}
