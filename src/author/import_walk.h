/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every message below one, itself first, through Any contents and maps. Threads: any. */
#ifndef XDSPUB_AUTHOR_IMPORT_WALK_H
#define XDSPUB_AUTHOR_IMPORT_WALK_H

#include "message/message.h"

/* May change the message; what it holds afterwards is visited next. */
typedef void (*import_walk_cb)(void *ctx, struct message *message);

void import_walk(struct message *message, import_walk_cb callback, void *ctx);

#endif
