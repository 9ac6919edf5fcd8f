// SPDX-License-Identifier: GPL-2.0
/* rdmacg: small files of the kernel. */
#include "lib/lib.h"

/* A file of this size is not a file of the kernel, and may have no end. */
#define FILE_LARGEST (64UL << 20)

char *file_read_until(int dir, const char *name, bool at_once)
{
	static size_t room = 1 << 15;
	static char *buffer;
	int fd = strcmp(name, "-") ? openat(dir, name, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO);
	size_t size = 0;
	ssize_t got, error = 0;

	if (fd < 0)
		return NULL;
	do {
		if (!buffer || room - size < 2) {
			room *= 2;
			buffer = memory_check(realloc(buffer, room));
		}
		got = TEMP_FAILURE_RETRY(read(fd, buffer + size, room - size - 1));
		if (got > 0)
			size += got;
		if (got < 0 || size >= FILE_LARGEST)
			error = got < 0 ? errno : EFBIG;
	} while (got > 0 && !error && !(at_once && room - size >= 2));
	close(fd);
	errno = error;
	return error ? NULL : memory_check(strndup(buffer, size));
}

int file_write(int dir, const char *name, const char *line)
{
	char *text __autofree = memory_format("%s\n", line);
	int fd = openat(dir, name, O_WRONLY | O_TRUNC | O_CLOEXEC), ret;
	ssize_t put, size = strlen(text);

	if (fd < 0)
		return -errno;
	put = write(fd, text, size);
	ret = put == size ? 0 : put < 0 ? -errno : -EIO;
	close(fd);
	return ret;
}

bool file_exists(int dir, const char *name)
{
	return !faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

bool file_is_gone(int error)
{
	return error == ENOENT || error == ENODEV;
}

char *file_link(int dir, const char *name)
{
	char link[PATH_MAX] = "";

	return memory_string(readlinkat(dir, name, link, sizeof(link) - 1) < 0 ? "" : link);
}

char *file_next_line(char **text)
{
	return *text && **text ? strsep(text, "\n") : NULL;
}
