// SPDX-License-Identifier: GPL-2.0
/*
 * The first process of a guest with a kernel of a distribution: load the modules
 * that are needed to mount the host's files, and start the program "init=" of the
 * command line there.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void load(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		die(path);
	close(fd);
}

int main(void)
{
	static char line[8192], *word, *program;
	char path[32];
	int i, fd;

	for (i = 0; snprintf(path, sizeof(path), "/%d.ko", i), !access(path, R_OK); i++)
		load(path);
	mkdir("/proc", 0755);
	mkdir("/root", 0755);
	if (mount("none", "/proc", "proc", 0, ""))
		die("/proc");
	fd = open("/proc/cmdline", O_RDONLY);
	if (fd < 0 || read(fd, line, sizeof(line) - 1) < 0)
		die("/proc/cmdline");
	for (word = strtok(line, "\n "); word; word = strtok(NULL, "\n "))
		if (!strncmp(word, "init=", 5))
			program = word + 5;
	umount("/proc");
	if (mount("/dev/root", "/root", "9p", MS_RDONLY,
		  "trans=virtio,version=9p2000.L,msize=262144,cache=loose"))
		die("the host's files");
	if (!program || chdir("/root") || mount(".", "/", NULL, MS_MOVE, NULL) || chroot("."))
		die("the root");
	execl(program, program, NULL);
	die(program);
}
