/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Listening sockets from text: "host:port", "[v6]:port", "unix:/path". A stale UNIX socket file
 * that nobody listens on is replaced; one in use is -EADDRINUSE. Threads: any; a host that is not
 * a number may wait for the resolver.
 */
#ifndef XDSPUB_SERVE_LISTEN_H
#define XDSPUB_SERVE_LISTEN_H

#include <sys/types.h>

#include "base/buf.h"

struct listen_socket {
	int fd;	      /* non-blocking, close-on-exec */
	char *path;   /* of a UNIX socket (mode 0660), else NULL */
	dev_t device; /* of the socket's file, so that another's is never removed */
	ino_t inode;
};

/* -EINVAL: not an address; *ret_problem is a static text for people or NULL when the code says
 * it all. A v6 address takes v6 only. */
int listen_open(const char *address, struct listen_socket *ret_socket, const char **ret_problem);
/* The same, also where a socket that is about to be closed holds the port, as when 127.0.0.1:80
 * becomes 0.0.0.0:80: for a moment both listen. */
int listen_open_beside(const char *address, const struct listen_socket *const *leaving,
	size_t count, struct listen_socket *ret_socket, const char **ret_problem);
/* What it is bound to, with the real port when 0 was asked for: "127.0.0.1:18001". */
void listen_name(const struct listen_socket *socket, struct buf *out);
/* Closes; removes the UNIX socket's file if it is still ours. */
void listen_close(struct listen_socket *socket);

#endif
