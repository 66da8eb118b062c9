/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a running Envoy says it has (/config_dump?include_eds, envoy.admin.v3.ConfigDump) as
 * resources with their messages. Taken are static and dynamic listeners, clusters and secrets,
 * dynamic routes and scoped routes, ECDS filters, and the endpoints of EDS clusters; routes and
 * endpoints that are part of a listener or cluster are left there. What Envoy adds of its own is
 * taken out again: defaults in endpoints, the build and the extensions in the bootstrap's node.
 * Fields that the schema does not know are warnings, resources it does not know are errors.
 * Threads: any, one arena per call.
 */
#ifndef XDSPUB_AUTHOR_CONFIG_DUMP_H
#define XDSPUB_AUTHOR_CONFIG_DUMP_H

#include "message/message.h"
#include "message/node.h"
#include "snapshot/types.h"

enum config_dump_state {
	CONFIG_DUMP_ACTIVE,
	CONFIG_DUMP_WARMING, /* waits for something before it takes the active one's place */
	CONFIG_DUMP_DRAINING /* on its way out */
};

struct config_dump_item {
	const struct xds_type_row *row;
	struct slice name; /* may be empty: static listeners */
	struct message *message;
	struct slice version; /* version_info of the update it came with; empty when static */
	enum config_dump_state state;
	bool is_static;
	bool is_redacted; /* Envoy put "[redacted]" in the place of secrets */
};

struct config_dump {
	struct config_dump_item *items; /* malloc'ed */
	size_t count, capacity;
	struct message *bootstrap; /* NULL: not in the dump */
	bool has_endpoints;	   /* it was asked for with include_eds */
};

struct config_dump_options {
	const struct schema *schema;
	const char *path; /* for diagnostics */
};

/* 0; -EBADMSG: this is no config dump, or not all of it could be read (see diags: then what could
 * be is there). Messages live in the arena; config_dump_fini in any case. */
int config_dump_read(const struct config_dump_options *options, const struct node *root,
	struct arena *arena, struct diag_list *diags, struct config_dump *ret_dump);
void config_dump_fini(struct config_dump *dump);
/* What is not active, redacted or missing, as diagnostics. */
void config_dump_report(const struct config_dump *dump, const char *path, struct diag_list *diags);

/* Whether "[redacted]" stands for some text in it. */
bool config_dump_is_redacted(const struct message *message);

#endif
