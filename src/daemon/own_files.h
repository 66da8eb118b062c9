/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A FileDescriptorSet of the services that gRPC itself defines, health and reflection, made at
 * build time: see proto/module.am. Threads: any. */
#ifndef XDSPUB_DAEMON_OWN_FILES_H
#define XDSPUB_DAEMON_OWN_FILES_H

#include <stddef.h>

extern const unsigned char own_files[];
extern const size_t own_files_length;

#endif
