// SPDX-License-Identifier: GPL-2.0
/*
 * The tests preload this library, so that files below RDMACG_ROOT behave like files of cgroups.
 *
 * A new cgroup gets the files of FAKE_NEW if the controller is enabled in its parent. "+rdma" in
 * cgroup.subtree_control adds the files to the children. rmdir() removes them. Processes do not
 * stay in cgroup.procs. A write to a file of limits changes only the keys in the written text.
 * FAKE_FAULTS="CALL:PATH:ERRNO ..." makes a call fail: CALL is open, read, write, first for the
 * first write, or again for all later writes, and PATH is the end of the path.
 *
 * FAKE_NETLINK="NAME:INDEX:QPS:KERNEL;..." replaces rdma netlink: the devices, each with its number
 * of queue pairs, and how many of these belong to kernel users. The capacity is 1000.
 *
 * FAKE_LOG is a file in place of the system's log.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <limits.h>
#include <rdma/rdma_netlink.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fake_ends(const char *path, const char *end, size_t length)
{
	size_t all = strlen(path);

	return all >= length && !strncmp(path + all - length, end, length);
}

/* Returns the errno with which a call must fail, or 0. */
static int fake_fault(const char *call, const char *path)
{
	const char *fault = getenv("FAKE_FAULTS");
	size_t length = strlen(call);

	while (fault && *fault) {
		const char *colon = strchr(fault, ':');
		const char *last = colon ? strchr(colon + 1, ':') : NULL;

		if (!last)
			break;
		if (!strncmp(fault, call, length) && fault[length] == ':' &&
		    fake_ends(path, colon + 1, last - colon - 1))
			return atoi(last + 1);
		fault = strchr(last, ' ');
		fault += fault ? 1 : 0;
	}
	return 0;
}

void syslog(int priority, const char *format, ...)
{
	const char *path = getenv("FAKE_LOG");
	FILE *log = path ? fopen(path, "a") : NULL;
	va_list args;

	if (!log)
		return;
	va_start(args, format);
	vfprintf(log, format, args);
	va_end(args);
	fputc('\n', log);
	fclose(log);
}

static bool fake_is_below(const char *path)
{
	const char *root = getenv("RDMACG_ROOT");

	return root && !strncmp(path, root, strlen(root));
}

/* Get the path of a descriptor, followed by @name if it is not empty. */
static void fake_path(char *path, int fd, const char *name)
{
	char link[64], start[PATH_MAX];
	ssize_t length = 0;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (fd >= 0 && *name != '/')
		length = readlink(link, start, sizeof(start) - 1);
	start[length > 0 ? length : 0] = '\0';
	if (snprintf(path, PATH_MAX, "%s%s%s", start, *start && *name ? "/" : "", name) >= PATH_MAX)
		path[PATH_MAX - 1] = '\0';
}

/* Create or remove the controller's files of a cgroup. */
static void fake_fill(const char *cgroup, bool give)
{
	const char *template = getenv("FAKE_NEW");
	DIR *dir = template ? opendir(template) : NULL;
	char path[PATH_MAX * 2];
	struct dirent *entry;
	int from, to;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_type != DT_REG)
			continue;
		snprintf(path, sizeof(path), "%s/%s", cgroup, entry->d_name);
		if (!give) {
			unlink(path);
			continue;
		}
		from = openat(dirfd(dir), entry->d_name, O_RDONLY | O_CLOEXEC);
		to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		sendfile(to, from, NULL, PATH_MAX);
		close(from);
		close(to);
	}
	if (dir)
		closedir(dir);
}

static void fake_fill_children(const char *cgroup, bool give)
{
	char child[PATH_MAX * 2];
	DIR *dir = opendir(cgroup);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || *entry->d_name == '.')
			continue;
		snprintf(child, sizeof(child), "%s/%s", cgroup, entry->d_name);
		fake_fill(child, give);
	}
	if (dir)
		closedir(dir);
}

int openat(int fd, const char *name, int flags, ...)
{
	int (*real)(int fd, const char *name, int flags, ...) = dlsym(RTLD_NEXT, "openat");
	char path[PATH_MAX];
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	fake_path(path, fd, name);
	if (!fake_is_below(path))
		return real(fd, name, flags, mode);
	errno = fake_fault("open", path);
	if (errno)
		return -1;
	/* Opening a file of the kernel with O_TRUNC does not remove its text. */
	return real(fd, name, flags & ~O_TRUNC, mode);
}

ssize_t read(int fd, void *buffer, size_t size)
{
	ssize_t (*real)(int fd, void *buffer, size_t size) = dlsym(RTLD_NEXT, "read");
	char path[PATH_MAX];
	int error;

	fake_path(path, fd, "");
	error = fake_is_below(path) ? fake_fault("read", path) : 0;
	if (!error)
		return real(fd, buffer, size);
	errno = error;
	return -1;
}

/* Returns the next word at @cursor and its length, or NULL. */
static const char *fake_word(const char **cursor, size_t *length)
{
	const char *word = *cursor + strspn(*cursor, " ");

	*length = strcspn(word, " ");
	*cursor = word + *length;
	return *length ? word : NULL;
}

/* Returns the value that @line has for the key of @word, or NULL if it has none. */
static const char *fake_value(const char *line, const char *word)
{
	size_t key = strcspn(word, "=") + 1, length;
	const char *other;

	while ((other = fake_word(&line, &length)))
		if (length >= key && !strncmp(other, word, key))
			return other + key;
	return NULL;
}

/* Returns the length of the device's name, "NAME" or "NAME index=N". */
static size_t fake_name_length(const char *line)
{
	const char *rest = strchr(line, '=');

	if (rest && rest - line > 6 && !strncmp(rest - 6, " index", 6))
		return rest - line + strcspn(rest, " ");
	return strcspn(line, " ");
}

/* Print a key of @word with its value. In rdma.default, no key has the value max. */
static void fake_print_value(FILE *to, const char *word, const char *value, bool is_default)
{
	size_t length = strcspn(value, " ");

	if (!is_default || length != 3 || strncmp(value, "max", 3))
		fprintf(to, " %.*s=%.*s", (int)strcspn(word, "="), word, (int)length, value);
}

/* Print the limits @old, changed by the written limits @asked. Keys that are not in @asked stay. */
static void fake_merge(FILE *to, const char *old, const char *asked, bool is_default)
{
	bool all = *asked && !strchr(asked, '=');
	const char *cursor = old, *word;
	size_t length;

	while ((word = fake_word(&cursor, &length))) {
		const char *value = all ? "max" : fake_value(asked, word);

		fake_print_value(to, word, value ? value : fake_value(old, word), is_default);
	}
	/* A kernel refuses unknown keys, but a tree may lack keys, so add them. */
	while (!all && (word = fake_word(&asked, &length)))
		if (!fake_value(old, word))
			fake_print_value(to, word, strchr(word, '=') + 1, is_default);
}

/*
 * Returns the text of a file of limits after a write. The caller frees the result. A write is one
 * line. It changes the line of its device, or adds a line. The line of rdma.default has no device.
 */
static char *fake_written(const char *path, const char *asked, bool is_default)
{
	size_t name = is_default ? 0 : fake_name_length(asked), room = 0, length;
	char *old = NULL, *text = NULL;
	FILE *to = open_memstream(&text, &length);
	FILE *file = fopen(path, "re");
	bool found = false;

	while (file && getline(&old, &room, file) > 0) {
		old[strcspn(old, "\n")] = '\0';
		if ((is_default || fake_name_length(old) == name) && !strncmp(old, asked, name)) {
			fprintf(to, "%.*s", (int)name, old);
			fake_merge(to, old + name, asked + name, is_default);
			found = true;
		} else {
			fputs(old, to);
		}
		fputc('\n', to);
	}
	if (!found) {
		fprintf(to, "%.*s", (int)name, asked);
		fake_merge(to, "", asked + name, is_default);
		fputc('\n', to);
	}
	fclose(to);
	if (file)
		fclose(file);
	free(old);
	return text;
}

static ssize_t fake_write_limits(int fd, const char *path, const char *asked, size_t size)
{
	ssize_t (*real)(int fd, const void *buffer, size_t size) = dlsym(RTLD_NEXT, "write");
	bool is_default = !strcmp(strrchr(path, '/'), "/rdma.default"), put;
	char *line = strndup(asked, size), *text, *start;

	line[strcspn(line, "\n")] = '\0';
	text = fake_written(path, line, is_default);
	start = text + (is_default && *text == ' ');
	put = !ftruncate(fd, 0) && real(fd, start, strlen(start)) >= 0;
	free(text);
	free(line);
	return put ? (ssize_t)size : -1;
}

static bool fake_has_limits(const char *base)
{
	size_t length = strlen(base);

	return !strncmp(base, "/rdma.", 6) &&
	       (!strcmp(base + length - 4, ".max") || !strcmp(base, "/rdma.default"));
}

ssize_t write(int fd, const void *buffer, size_t size)
{
	ssize_t (*real)(int fd, const void *buffer, size_t size) = dlsym(RTLD_NEXT, "write");
	char path[PATH_MAX];
	static int writes;
	char *slash;

	fake_path(path, fd, "");
	if (!fake_is_below(path))
		return real(fd, buffer, size);
	errno = fake_fault("write", path);
	if (!errno)
		errno = fake_fault(writes++ ? "again" : "first", path);
	if (errno)
		return -1;
	slash = strrchr(path, '/');
	if (!strcmp(slash, "/cgroup.procs"))
		return size;
	if (fake_has_limits(slash))
		return fake_write_limits(fd, path, buffer, size);
	if (ftruncate(fd, 0))
		return -1;
	if (!strcmp(slash, "/cgroup.subtree_control")) {
		*slash = '\0';
		fake_fill_children(path, *(const char *)buffer == '+');
		if (*(const char *)buffer == '+')
			real(fd, (const char *)buffer + 1, size - 1);
		return size;
	}
	return real(fd, buffer, size);
}

int mkdirat(int fd, const char *name, mode_t mode)
{
	int (*real)(int fd, const char *name, mode_t mode) = dlsym(RTLD_NEXT, "mkdirat");
	char path[PATH_MAX], file[PATH_MAX + 64], word[16] = "";
	int ret = real(fd, name, mode);
	FILE *control;

	fake_path(path, fd, name);
	if (ret || !fake_is_below(path))
		return ret;
	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	close(creat(file, 0644));
	snprintf(file, sizeof(file), "%s/../cgroup.subtree_control", path);
	control = fopen(file, "re");
	/* cgroup v1 has no such file, and each cgroup has the controller. */
	if (!control || (fscanf(control, "%15s", word) == 1 && !strcmp(word, "rdma")))
		fake_fill(path, true);
	if (control)
		fclose(control);
	return 0;
}

int unlinkat(int fd, const char *name, int flags)
{
	int (*real)(int fd, const char *name, int flags) = dlsym(RTLD_NEXT, "unlinkat");
	char path[PATH_MAX];

	fake_path(path, fd, name);
	if (flags & AT_REMOVEDIR && fake_is_below(path))
		fake_fill(path, false);
	return real(fd, name, flags);
}

/* RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_MAX, which the header of Debian 12 lacks. */
#define FAKE_SUMMARY_MAX	118

/* The operation of the last netlink request, and the index of the device in it. */
static uint32_t fake_command, fake_index;

struct mnl_socket *mnl_socket_open(int bus)
{
	static int socket;

	return getenv("FAKE_NETLINK") ? (struct mnl_socket *)&socket : NULL;
}

int mnl_socket_bind(struct mnl_socket *socket, unsigned int groups, pid_t pid)
{
	return 0;
}

int mnl_socket_close(struct mnl_socket *socket)
{
	return 0;
}

unsigned int mnl_socket_get_portid(const struct mnl_socket *socket)
{
	return 0;
}

ssize_t mnl_socket_sendto(const struct mnl_socket *socket, const void *request, size_t length)
{
	const struct nlmsghdr *header = request;
	const struct nlattr *attr;

	fake_command = RDMA_NL_GET_OP(header->nlmsg_type);
	mnl_attr_for_each(attr, header, 0)
		fake_index = mnl_attr_get_u32(attr);
	return length;
}

/* Add the summary of a device, or its queue pairs, of which @kernel belong to kernel users. */
static void fake_answer(struct nlmsghdr *header, unsigned int qps, unsigned int kernel)
{
	struct nlattr *all, *one;
	unsigned int i;

	if (fake_command == RDMA_NLDEV_CMD_RES_GET) {
		all = mnl_attr_nest_start(header, RDMA_NLDEV_ATTR_RES_SUMMARY);
		one = mnl_attr_nest_start(header, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);
		mnl_attr_put_strz(header, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, "qp");
		mnl_attr_put_u64(header, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, qps);
		mnl_attr_put_u64(header, FAKE_SUMMARY_MAX, 1000);
		mnl_attr_nest_end(header, one);
	} else {
		all = mnl_attr_nest_start(header, RDMA_NLDEV_ATTR_RES_QP);
		for (i = 0; i < qps; i++) {
			one = mnl_attr_nest_start(header, RDMA_NLDEV_ATTR_RES_QP_ENTRY);
			if (i < kernel)
				mnl_attr_put_strz(header, RDMA_NLDEV_ATTR_RES_KERN_NAME, "ib_core");
			else
				mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_RES_PID, 7 + i % 2);
			mnl_attr_nest_end(header, one);
		}
	}
	mnl_attr_nest_end(header, all);
}

ssize_t mnl_socket_recvfrom(const struct mnl_socket *socket, void *buffer, size_t size)
{
	const char *device = getenv("FAKE_NETLINK");
	unsigned int index, qps, kernel;
	struct nlmsghdr *header;
	char name[64];
	size_t used = 0;

	for (; device && sscanf(device, "%63[^:]:%u:%u:%u", name, &index, &qps, &kernel) == 4;
	     device = device ? device + 1 : NULL) {
		device = strchr(device, ';');
		if (fake_command != RDMA_NLDEV_CMD_RES_GET && index != fake_index)
			continue;
		header = mnl_nlmsg_put_header((char *)buffer + used);
		header->nlmsg_type = NLMSG_MIN_TYPE;
		mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_DEV_INDEX, index);
		mnl_attr_put_strz(header, RDMA_NLDEV_ATTR_DEV_NAME, name);
		fake_answer(header, qps, kernel);
		used += NLMSG_ALIGN(header->nlmsg_len);
	}
	header = mnl_nlmsg_put_header((char *)buffer + used);
	header->nlmsg_type = NLMSG_DONE;
	return used + header->nlmsg_len;
}
