/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a serialized FileDescriptorProto declares, read from its bytes: nothing is unpacked and no
 * index takes memory, because only people with grpcurl ask. Pure. Threads: any.
 */
#ifndef XDSPUB_DAEMON_FILE_SYMBOLS_H
#define XDSPUB_DAEMON_FILE_SYMBOLS_H

#include "base/slice.h"

struct slice file_symbols_name(struct slice file); /* its path; "" when there is none */
/* Full name of a message, field, oneof, enum, enum value, service, method or extension. */
bool file_symbols_declares(struct slice file, struct slice symbol);
/* The next file of a serialized FileDescriptorSet, which becomes the rest of it. */
bool file_symbols_next(struct slice *rest, struct slice *ret_file);

#endif
