/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole-file helpers over descriptors. All return 0 or a negative errno. Threads: any; may block.
 */
#ifndef XDSPUB_BASE_FILE_H
#define XDSPUB_BASE_FILE_H

#include "base/buf.h"

/* Appends all bytes from fd; -EFBIG beyond `limit_bytes`. Retries EINTR. */
int file_read_fd(int fd, uint64_t limit_bytes, struct buf *out);
int file_read(const char *path, uint64_t limit_bytes, struct buf *out);
int file_write_all(int fd, const void *data, size_t length);
/* mkdir with parents below `dirfd`; an existing directory is fine. */
int file_make_directories(int dirfd, const char *path, unsigned mode);

#endif
