// SPDX-License-Identifier: GPL-2.0
/*
 * The tests preload this library, so that files below RDMACG_ROOT behave like files of cgroups.
 *
 * A new cgroup gets the files of FAKE_NEW if the controller is enabled in its parent. "+rdma" in
 * cgroup.subtree_control adds the files to the children. rmdir() removes them. Processes do not
 * stay in cgroup.procs. A write to a file of limits changes only the keys in the written text.
 * FAKE_FAULTS="CALL:PATH:ERRNO ..." makes a call fail: CALL is open, read or write, and PATH is
 * the end of the path. FAKE_ONCE=PATH makes all writes to a file fail except the first write.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static bool fake_is_again(const char *path)
{
	const char *once = getenv("FAKE_ONCE");
	static int writes;

	return once && fake_ends(path, once, strlen(once)) && writes++;
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

static void fake_copy(const char *from, const char *to)
{
	char text[65536];
	FILE *in = fopen(from, "re");
	FILE *out = fopen(to, "we");
	size_t size = in ? fread(text, 1, sizeof(text), in) : 0;

	if (out)
		fwrite(text, 1, size, out);
	if (in)
		fclose(in);
	if (out)
		fclose(out);
}

/* Create or remove the controller's files of a cgroup. */
static void fake_fill(const char *cgroup, bool give)
{
	const char *template = getenv("FAKE_NEW");
	DIR *dir = template ? opendir(template) : NULL;
	char from[PATH_MAX * 2], to[PATH_MAX * 2];
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_type != DT_REG)
			continue;
		snprintf(from, sizeof(from), "%s/%s", template, entry->d_name);
		snprintf(to, sizeof(to), "%s/%s", cgroup, entry->d_name);
		if (give)
			fake_copy(from, to);
		else
			unlink(to);
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

/* A word of a line of limits: a key with its value, or the name of the device. */
struct fake_word {
	char *text;
	struct fake_word *next;
};

/* Returns the words of a text, which must be one line. */
static struct fake_word *fake_words(char *line)
{
	struct fake_word *first = NULL, **end = &first;
	char *word;

	while ((word = strsep(&line, " \t"))) {
		if (!*word)
			continue;
		*end = calloc(1, sizeof(**end));
		(*end)->text = word;
		end = &(*end)->next;
	}
	return first;
}

static void fake_free_words(struct fake_word *words)
{
	while (words) {
		struct fake_word *next = words->next;

		free(words);
		words = next;
	}
}

/* Returns the length of the device's name, "NAME" or "NAME index=N". */
static size_t fake_name_length(const char *line)
{
	const char *rest = strpbrk(line, "=");
	size_t length = strcspn(line, " ");

	if (rest && rest - line > 6 && !strncmp(rest - 6, " index", 6))
		return rest - line + strcspn(rest, " ");
	return length;
}

/* Returns the value that the words @asked set for the key of @word, or NULL if they set none. */
static const char *fake_value(const char *word, const struct fake_word *asked)
{
	size_t length = strcspn(word, "=") + 1;

	for (; asked; asked = asked->next)
		if (!strncmp(asked->text, word, length))
			return asked->text + length;
	return NULL;
}

/* Print the line @old, changed by the written words @asked. */
static void fake_print_line(FILE *to, char *old, const struct fake_word *asked)
{
	size_t length = fake_name_length(old);
	struct fake_word *had, *word;
	bool all = asked && !strchr(asked->text, '=');

	fprintf(to, "%.*s", (int)length, old);
	had = fake_words(old + length);
	for (word = had; word; word = word->next) {
		size_t key = strcspn(word->text, "=");
		const char *value = all ? "max" : fake_value(word->text, asked);

		fprintf(to, " %.*s=%s", (int)key, word->text,
			value ? value : word->text + key + (word->text[key] == '='));
	}
	/* A kernel refuses unknown keys, but a tree may lack keys, so add them. */
	for (; asked && !all; asked = asked->next) {
		for (word = had; word; word = word->next)
			if (!strncmp(word->text, asked->text, strcspn(asked->text, "=") + 1))
				break;
		if (!word)
			fprintf(to, " %s", asked->text);
	}
	fputc('\n', to);
	fake_free_words(had);
}

/* Merge a written line into the line of its device, or append the line if the device is new. */
static void fake_merge_line(FILE *to, char *text, char *line)
{
	size_t length = fake_name_length(line);
	char *words = strdup(line + length);
	struct fake_word *asked = fake_words(words);
	bool found = false;
	char *old;

	while ((old = strsep(&text, "\n"))) {
		if (!*old)
			continue;
		if (fake_name_length(old) == length && !strncmp(old, line, length)) {
			found = true;
			fake_print_line(to, old, asked);
		} else {
			fprintf(to, "%s\n", old);
		}
	}
	line[length] = '\0';
	if (!found)
		fake_print_line(to, line, asked);
	fake_free_words(asked);
	free(words);
}

/* Returns the text of a file of limits after a write. The caller frees the result. */
static char *fake_merge(int fd, const char *lines, size_t size)
{
	char *text = calloc(65536, 1), *cursor, *line;
	char *all = strndup(lines, size);
	ssize_t got = pread(fd, text, 65535, 0);

	/* Open the file again, because the descriptor of a write cannot read. */
	if (got < 0) {
		char path[PATH_MAX];
		FILE *file;

		fake_path(path, fd, "");
		file = fopen(path, "re");
		got = file ? (ssize_t)fread(text, 1, 65535, file) : 0;
		if (file)
			fclose(file);
	}
	cursor = all;
	while ((line = strsep(&cursor, "\n"))) {
		char *merged = NULL;
		size_t length;
		FILE *to;

		if (!*line)
			continue;
		to = open_memstream(&merged, &length);
		fake_merge_line(to, text, line);
		fclose(to);
		free(text);
		text = merged;
	}
	free(all);
	return text;
}

/* Whether the file has limits of devices. */
static bool fake_is_max(const char *base)
{
	size_t length = strlen(base);

	return !strncmp(base, "/rdma.", 6) && length > 4 && !strcmp(base + length - 4, ".max");
}

/*
 * Merge a write to rdma.default into @line, and return the length of @line. Keys that the write
 * does not name stay. "max" removes one key or all keys.
 */
static size_t fake_merge_default(const char *path, const char *text, size_t size, char *line)
{
	char *words = strndup(text, size);
	char *cursor = words, *word, *old, *end;
	FILE *file = fopen(path, "re");
	size_t length;

	line[file ? fread(line, 1, PATH_MAX, file) : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (file)
		fclose(file);
	while ((word = strsep(&cursor, "\n "))) {
		if (!strcmp(word, "max"))
			*line = '\0';
		length = strcspn(word, "=") + 1;
		for (old = line; *word && *old; old = end + strspn(end, " ")) {
			end = old + strcspn(old, " ");
			if (strncmp(old, word, length))
				continue;
			end += strspn(end, " ");
			memmove(old, end, strlen(end) + 1);
			break;
		}
		length = strlen(line);
		if (length && line[length - 1] == ' ')
			line[--length] = '\0';
		if (strchr(word, '=') && strcmp(strchr(word, '='), "=max"))
			sprintf(line + length, "%s%s", length ? " " : "", word);
	}
	free(words);
	return strlen(strcat(line, "\n"));
}

ssize_t write(int fd, const void *buffer, size_t size)
{
	ssize_t (*real)(int fd, const void *buffer, size_t size) = dlsym(RTLD_NEXT, "write");
	char path[PATH_MAX], line[PATH_MAX * 2];
	size_t length;
	char *slash;

	fake_path(path, fd, "");
	if (!fake_is_below(path))
		return real(fd, buffer, size);
	errno = fake_fault("write", path);
	if (errno)
		return -1;
	if (fake_is_again(path)) {
		errno = EIO;
		return -1;
	}
	slash = strrchr(path, '/');
	if (!strcmp(slash, "/cgroup.procs"))
		return size;
	if (!strcmp(slash, "/rdma.default")) {
		length = fake_merge_default(path, buffer, size, line);
		return ftruncate(fd, 0) || real(fd, line, length) < 0 ? -1 : (ssize_t)size;
	}
	if (fake_is_max(slash)) {
		char *text = fake_merge(fd, buffer, size);
		bool put = !ftruncate(fd, 0) && real(fd, text, strlen(text)) >= 0;

		free(text);
		return put ? (ssize_t)size : -1;
	}
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
	char path[PATH_MAX], control[PATH_MAX + 64], own[PATH_MAX + 64], word[16] = "";
	FILE *file;
	int ret = real(fd, name, mode);

	fake_path(path, fd, name);
	if (ret || !fake_is_below(path))
		return ret;
	snprintf(control, sizeof(control), "%s/../cgroup.subtree_control", path);
	snprintf(own, sizeof(own), "%s/cgroup.procs", path);
	file = fopen(own, "we");
	if (file)
		fclose(file);
	file = fopen(control, "re");
	/* cgroup v1 has no such file, and each cgroup has the controller. */
	if (!file || (fscanf(file, "%15s", word) == 1 && !strcmp(word, "rdma")))
		fake_fill(path, true);
	if (file)
		fclose(file);
	return 0;
}

int unlinkat(int fd, const char *name, int flags)
{
	int (*real)(int fd, const char *name, int flags) = dlsym(RTLD_NEXT, "unlinkat");
	char path[PATH_MAX], file[PATH_MAX * 2];
	struct dirent *entry;
	DIR *dir;

	fake_path(path, fd, name);
	if (!(flags & AT_REMOVEDIR) || !fake_is_below(path))
		return real(fd, name, flags);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		if (entry->d_type == DT_REG)
			unlink(file);
	}
	if (dir)
		closedir(dir);
	return real(fd, name, flags);
}
