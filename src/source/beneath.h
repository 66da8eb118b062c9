/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens and resolves paths that must stay below a root folder, links included. Uses openat2 where
 * the kernel (and its seccomp filter) lets it, else walks component by component.
 * Paths are relative to the root. Threads: any. May block. Errors: negative errno; -EXDEV: a link
 * leads out of the root (absolute links do, always), -ELOOP: links in a circle or more than
 * BENEATH_LINKS_MAX of them.
 */
#ifndef XDSPUB_SOURCE_BENEATH_H
#define XDSPUB_SOURCE_BENEATH_H

#include "base/buf.h"

#define BENEATH_LINKS_MAX 40

/* Opens with O_CLOEXEC; follows links below the root. A descriptor or negative errno. */
int beneath_open(int root_fd, const char *path, int flags);
/* The same for a path without links; -ELOOP when a component is one. */
int beneath_open_exact(int root_fd, const char *path, int flags);

/* Where a path leads when all its links are followed: NUL-terminated in `out` ("" is the root).
 * Each link on the way, and the first component that is missing, is told to `on_step` (may be
 * NULL), so that a caller can look again when one of them changes. */
typedef void (*beneath_step_cb)(void *ctx, const char *path);
int beneath_resolve(
	int root_fd, const char *path, beneath_step_cb on_step, void *ctx, struct buf *out);

#endif
