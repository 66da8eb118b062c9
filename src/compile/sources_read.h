/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `config_sources` of groups.yaml: what stands in open config sources, by transport and type.
 * Whatever it says about a transport replaces all that was said about it before. Threads: any, one
 * arena per call.
 */
#ifndef XDSPUB_COMPILE_SOURCES_READ_H
#define XDSPUB_COMPILE_SOURCES_READ_H

#include "message/bind.h"
#include "snapshot/config_sources.h"

struct sources_choice {
	source_table table;
	uint16_t said[SOURCE_TRANSPORTS]; /* bits of the types that somebody has chosen it for */
};

/* Changes the choice; what it then points to is in the arena or was there. False: something is
 * wrong, and in `diags`. */
bool sources_read(const struct bind_options *bind, const struct node *node, struct arena *arena,
	struct diag_list *diags, struct sources_choice *choice);

#endif
