/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"

#define BACKLOG	  4096
#define UNIX_MODE 0660

static int take(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

static int bind_and_listen(int fd, const struct sockaddr *address, socklen_t length)
{
	if (bind(fd, address, length) < 0 || listen(fd, BACKLOG) < 0)
		return -errno;
	return 0;
}

/* A socket file is stale when connecting to it is refused. */
static bool is_stale(const struct sockaddr_un *address, socklen_t length)
{
	struct stat status;
	AUTO_CLOSE int fd = -1;

	if (lstat(address->sun_path, &status) < 0 || !S_ISSOCK(status.st_mode))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	return connect(fd, (const struct sockaddr *)address, length) < 0 && errno == ECONNREFUSED;
}

static int open_unix(const char *path, struct listen_socket *ret_socket, const char **ret_problem)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t path_length = strlen(path);
	struct stat status;
	AUTO_CLOSE int fd = -1;
	int rc;

	if (path_length == 0 || path_length >= sizeof(address.sun_path)) {
		*ret_problem = path_length ? "the path of a UNIX socket has at most 107 bytes"
					   : "\"unix:\" needs a path behind it";
		return -EINVAL;
	}
	memcpy(address.sun_path, path, path_length + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* Before bind: the file never exists with a wider mode. */
	if (fchmod(fd, UNIX_MODE) < 0)
		return -errno;
	rc = bind_and_listen(fd, (struct sockaddr *)&address, sizeof(address));
	if (rc == -EADDRINUSE && is_stale(&address, sizeof(address))) {
		if (unlink(path) < 0)
			return -errno;
		rc = bind_and_listen(fd, (struct sockaddr *)&address, sizeof(address));
	}
	if (rc) {
		if (rc == -EADDRINUSE)
			*ret_problem = "something else listens there, or a file is in the way";
		else if (rc == -ENOENT)
			*ret_problem = "the folder for the UNIX socket does not exist";
		return rc;
	}
	/* The umask may have narrowed it. */
	if (chmod(path, UNIX_MODE) < 0 || stat(path, &status) < 0)
		return -errno;
	*ret_socket = (struct listen_socket){
		.fd = take(&fd),
		.path = xstrdup(path),
		.device = status.st_dev,
		.inode = status.st_ino,
	};
	return 0;
}

static int open_resolved(const struct addrinfo *info, bool shares_port, int *ret_fd)
{
	int on = 1;
	AUTO_CLOSE int fd = socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		return -errno;
	if (shares_port && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) < 0)
		return -errno;
	if (info->ai_family == AF_INET6 &&
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) < 0)
		return -errno;
	rc = bind_and_listen(fd, info->ai_addr, info->ai_addrlen);
	if (!rc)
		*ret_fd = take(&fd);
	return rc;
}

/* Splits "host:port" and "[v6]:port"; host keeps no brackets. */
static int split_address(
	const char *address, char **ret_host, const char **ret_port, const char **ret_problem)
{
	const char *colon = strrchr(address, ':');
	uint64_t port;

	if (!colon || text_parse_u64(slice_of(colon + 1), &port) || port > 65535) {
		*ret_problem = "an address is host:port, [v6]:port or unix:/path";
		return -EINVAL;
	}
	*ret_port = colon + 1;
	if (address[0] == '[') {
		if (colon == address || colon[-1] != ']') {
			*ret_problem = "a v6 address with a port is written [address]:port";
			return -EINVAL;
		}
		*ret_host = xstrndup(address + 1, (size_t)(colon - address) - 2);
		return 0;
	}
	if (memchr(address, ':', (size_t)(colon - address))) {
		*ret_problem = "a v6 address with a port is written [address]:port";
		return -EINVAL;
	}
	if (colon == address) {
		*ret_problem = "the host is missing; 0.0.0.0 or [::] mean every address";
		return -EINVAL;
	}
	*ret_host = xstrndup(address, (size_t)(colon - address));
	return 0;
}

static int open_tcp(const char *address, bool shares_port, struct listen_socket *ret_socket,
	const char **ret_problem)
{
	struct addrinfo hints = {
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
	};
	struct addrinfo *found = NULL;
	AUTO_FREE char *host = NULL;
	const char *port;
	int fd = -1;
	int rc = split_address(address, &host, &port, ret_problem);

	if (rc)
		return rc;
	if (getaddrinfo(host, port, &hints, &found) != 0) {
		*ret_problem = "the host name has no address";
		return -EINVAL;
	}
	rc = -EADDRNOTAVAIL;
	for (struct addrinfo *info = found; info && rc; info = info->ai_next)
		rc = open_resolved(info, shares_port, &fd);
	freeaddrinfo(found);
	if (rc == -EADDRINUSE)
		*ret_problem = "something else listens there";
	else if (rc == -EACCES)
		*ret_problem = "ports below 1024 need a privilege";
	if (!rc)
		*ret_socket = (struct listen_socket){.fd = fd};
	return rc;
}

int listen_open(const char *address, struct listen_socket *ret_socket, const char **ret_problem)
{
	*ret_problem = NULL;
	if (strncmp(address, "unix:", 5) == 0)
		return open_unix(address + 5, ret_socket, ret_problem);
	return open_tcp(address, false, ret_socket, ret_problem);
}

/* 0 for a UNIX socket. */
static unsigned port_of(const struct listen_socket *listening)
{
	struct sockaddr_in6 v6 = {0};
	struct sockaddr_in v4 = {0};
	socklen_t length = sizeof(v6);

	if (listening->path || getsockname(listening->fd, (struct sockaddr *)&v6, &length) < 0)
		return 0;
	if (v6.sin6_family == AF_INET6)
		return ntohs(v6.sin6_port);
	memcpy(&v4, &v6, sizeof(v4));
	return ntohs(v4.sin_port);
}

/* Lets the port be bound once more, or not again; true when one of them has it. */
static bool share_port(
	const struct listen_socket *const *leaving, size_t count, unsigned port, int shared)
{
	bool found = false;

	for (size_t i = 0; i < count; i++)
		if (port_of(leaving[i]) == port)
			found |= setsockopt(leaving[i]->fd, SOL_SOCKET, SO_REUSEPORT, &shared,
					 sizeof(shared)) == 0;
	return found;
}

int listen_open_beside(const char *address, const struct listen_socket *const *leaving,
	size_t count, struct listen_socket *ret_socket, const char **ret_problem)
{
	int rc = listen_open(address, ret_socket, ret_problem);
	const char *colon = strrchr(address, ':');
	unsigned port;

	if (rc != -EADDRINUSE || strncmp(address, "unix:", 5) == 0 || !colon)
		return rc;
	port = (unsigned)strtoul(colon + 1, NULL, 10);
	/* Only our own port: with this flag a second instance could take half of the clients. */
	if (!share_port(leaving, count, port, 1))
		return rc;
	*ret_problem = NULL;
	rc = open_tcp(address, true, ret_socket, ret_problem);
	share_port(leaving, count, port, 0);
	return rc;
}

void listen_name(const struct listen_socket *socket, struct buf *out)
{
	struct sockaddr_storage address = {0};
	socklen_t length = sizeof(address);
	char host[NI_MAXHOST], port[NI_MAXSERV];

	if (socket->path) {
		buf_printf(out, "unix:%s", socket->path);
		return;
	}
	if (getsockname(socket->fd, (struct sockaddr *)&address, &length) < 0 ||
		getnameinfo((struct sockaddr *)&address, length, host, sizeof(host), port,
			sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return;
	buf_printf(out, address.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

void listen_close(struct listen_socket *socket)
{
	struct stat status;

	if (socket->path && lstat(socket->path, &status) == 0 && status.st_dev == socket->device &&
		status.st_ino == socket->inode)
		unlink(socket->path);
	/* Not before: while it is open no other file can get its inode. */
	if (socket->fd >= 0)
		close(socket->fd);
	free(socket->path);
	*socket = (struct listen_socket){.fd = -1};
}
