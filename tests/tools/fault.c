/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stands between the program and the system (linked with --wrap): counts the calls from
 * fault_arm() on and does something to the n-th, as $FAULT says:
 *   kill:N        dies before it, as by kill -9
 *   fail:N:ERRNO  it fails with that number
 *   short:N       a write writes only half
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

void fault_arm(void);
unsigned fault_calls(void);

static bool is_armed;
static unsigned calls;

void fault_arm(void)
{
	is_armed = true;
}

unsigned fault_calls(void)
{
	return calls;
}

/* 0: go on; -1: fail with errno set; 1: do half of it. */
static int meet(void)
{
	const char *fault = getenv("FAULT");
	unsigned number = 0;
	int code = EIO;

	if (!is_armed)
		return 0;
	calls++;
	if (!fault)
		return 0;
	if (sscanf(fault, "kill:%u", &number) == 1 && number == calls)
		kill(getpid(), SIGKILL);
	if (sscanf(fault, "fail:%u:%d", &number, &code) == 2 && number == calls) {
		errno = code;
		return -1;
	}
	return sscanf(fault, "short:%u", &number) == 1 && number == calls;
}

#define WRAP(type, name, parameters, arguments)                                                    \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		if (meet() < 0)                                                                    \
			return -1;                                                                 \
		return __real_##name arguments;                                                    \
	}

/* Nothing is lost when a process dies, so syncing would only take time. */
#define WRAP_SYNC(name)                                                                            \
	int __wrap_##name(int fd);                                                                 \
	int __wrap_##name(int fd)                                                                  \
	{                                                                                          \
		(void)fd;                                                                          \
		return meet() < 0 ? -1 : 0;                                                        \
	}

WRAP_SYNC(fsync)
WRAP_SYNC(fdatasync)
WRAP_SYNC(syncfs)
WRAP(int, fchmod, (int fd, mode_t mode), (fd, mode))
WRAP(int, chmod, (const char *path, mode_t mode), (path, mode))
WRAP(int, fchmodat, (int fd, const char *path, mode_t mode, int flags), (fd, path, mode, flags))
WRAP(int, fchown, (int fd, uid_t owner, gid_t group), (fd, owner, group))
WRAP(int, fchownat, (int fd, const char *path, uid_t owner, gid_t group, int flags),
	(fd, path, owner, group, flags))
WRAP(int, linkat, (int from_fd, const char *from, int to_fd, const char *to, int flags),
	(from_fd, from, to_fd, to, flags))
WRAP(int, mkdirat, (int fd, const char *path, mode_t mode), (fd, path, mode))
WRAP(int, renameat, (int from_fd, const char *from, int to_fd, const char *to),
	(from_fd, from, to_fd, to))
WRAP(int, unlinkat, (int fd, const char *path, int flags), (fd, path, flags))
WRAP(int, ftruncate, (int fd, off_t length), (fd, length))
WRAP(int, flock, (int fd, int operation), (fd, operation))
WRAP(int, fstat, (int fd, struct stat *status), (fd, status))
WRAP(int, fstatat, (int fd, const char *path, struct stat *status, int flags),
	(fd, path, status, flags))
WRAP(ssize_t, pread, (int fd, void *data, size_t size, off_t at), (fd, data, size, at))
WRAP(ssize_t, read, (int fd, void *data, size_t size), (fd, data, size))

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size)
{
	int what = meet();

	return what < 0 ? -1 : __real_write(fd, data, what ? (size + 1) / 2 : size);
}

ssize_t __real_pwrite(int fd, const void *data, size_t size, off_t at);
ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t at);
ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t at)
{
	int what = meet();

	return what < 0 ? -1 : __real_pwrite(fd, data, what ? (size + 1) / 2 : size, at);
}

static mode_t mode_argument(int flags, va_list arguments)
{
	return flags & O_CREAT ? (mode_t)va_arg(arguments, unsigned) : 0;
}

int __real_openat(int fd, const char *path, int flags, ...);
int __wrap_openat(int fd, const char *path, int flags, ...);
int __wrap_openat(int fd, const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = mode_argument(flags, arguments);
	va_end(arguments);
	return meet() < 0 ? -1 : __real_openat(fd, path, flags, mode);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = mode_argument(flags, arguments);
	va_end(arguments);
	return meet() < 0 ? -1 : __real_open(path, flags, mode);
}
