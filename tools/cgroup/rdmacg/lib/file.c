// SPDX-License-Identifier: GPL-2.0
/* rdmacg: small files of the kernel. */
#include <pwd.h>
#include <sys/stat.h>

#include "lib/lib.h"

/* No file of the kernel is this large; other files may have no end. */
#define FILE_LARGEST (64UL << 20)

/* Read to the end of @fd, or until a read leaves room: the text, or NULL and errno. */
static char *file_read_all(int fd, bool until_room)
{
	size_t size = 0, room = 4096;
	char *text = memory_zeroed(room, 1);
	ssize_t got;

	while ((got = read(fd, text + size, room - size - 1)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got > 0)
			size += got;
		if (got > 0 && size >= FILE_LARGEST)
			errno = EFBIG;
		if (got < 0 || size >= FILE_LARGEST) {
			free(text);
			return NULL;
		}
		if (room - size < 2) {
			room *= 2;
			text = memory_resize(text, room, 1);
		} else if (until_room) {
			break;
		}
	}
	text[size] = '\0';
	return text;
}

static char *file_open_and_read(int dir, const char *name, bool until_room)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	char *text;
	int error;

	if (fd < 0)
		return NULL;
	text = file_read_all(fd, until_room);
	error = errno;
	close(fd);
	errno = error;
	return text;
}

char *file_read(int dir, const char *name)
{
	return file_open_and_read(dir, name, false);
}

char *file_read_at_once(int dir, const char *name)
{
	return file_open_and_read(dir, name, true);
}

int file_write(int dir, const char *name, const char *text)
{
	size_t size = strlen(text);
	int fd = openat(dir, name, O_WRONLY | O_TRUNC | O_CLOEXEC);
	ssize_t put;
	int ret = 0;

	if (fd < 0)
		return -errno;
	do {
		put = write(fd, text, size);
	} while (put < 0 && errno == EINTR);
	if (put < 0)
		ret = -errno;
	else if ((size_t)put != size)
		ret = -EIO;
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

bool file_exists(int dir, const char *name)
{
	return !faccessat(dir, name, F_OK, 0);
}

bool file_is_gone(int error)
{
	return error == ENOENT || error == ENODEV;
}

char *file_owner(int dir, const char *name)
{
	struct passwd *user;
	struct stat status;

	if (fstatat(dir, name, &status, 0) || !status.st_uid)
		return memory_string("root");
	user = getpwuid(status.st_uid);
	if (user)
		return memory_format("root and %s", user->pw_name);
	return memory_format("root and user %u", status.st_uid);
}

char *file_next_line(char **text)
{
	return *text && **text ? strsep(text, "\n") : NULL;
}
