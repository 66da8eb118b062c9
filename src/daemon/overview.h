/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the daemon knows about itself, for /status, /readyz and the service manager. The build and
 * main threads tell it, the admin thread asks; a mutex is held for short. It never shows anything
 * that a secret's content could be guessed from: no versions of secrets.
 */
#ifndef XDSPUB_DAEMON_OVERVIEW_H
#define XDSPUB_DAEMON_OVERVIEW_H

#include <jansson.h>

#include "base/diag.h"
#include "daemon/grpc_part.h"
#include "serve/rest/rest_server.h"
#include "snapshot/snapshot.h"
#include "source/watch.h"

struct overview;

struct overview *overview_new(void);
void overview_free(struct overview *report);

/* ---- the build thread ---- */

struct overview_build {
	int64_t duration_ms;
	size_t files, files_read, resources, resources_encoded;
	const struct diag_list *diags; /* copied as far as it is shown */
};
void overview_build(struct overview *report, const struct overview_build *build);
/* error: why the source cannot be looked at, NULL: it was, just now. */
void overview_source(struct overview *report, const char *error);
/* The root and the mounts of the tree, after a build; copies. */
struct overview_mount {
	const char *at, *path; /* at "": the root */
	const char *state;     /* "good", "held", "waiting": a static text */
	const char *reason;    /* NULL: good */
	size_t files, errors;
	bool is_accepted; /* just now */
};
void overview_mounts(struct overview *report, const struct overview_mount *mounts, size_t count);
/* What a look at one of them waits for; as overview_pending. */
void overview_mount_pending(struct overview *report, const char *at, const char *what);
/* What a build waits for; NULL: nothing is pending. A static text. */
void overview_pending(struct overview *report, const char *what);

struct overview_versions {
	bool is_known[XDS_TYPE_COUNT];
	struct version versions[XDS_TYPE_COUNT];
};
struct overview_group {
	struct slice name;
	bool is_held, is_serving;
	const char *held_reason;
	int64_t bridge_left_ms; /* -1: no bridge */
	size_t modified_files;
	bool is_files_behind, is_state_behind;
	size_t counts[XDS_TYPE_COUNT]; /* of what is served */
	struct overview_versions built, rest, files;
};
void overview_group(struct overview *report, const struct overview_group *group); /* copies */
void overview_group_gone(struct overview *report, struct slice name);
void overview_order(struct overview *report, struct rcstr *const *names, size_t count);
/* The last failure of a sink; NULL: it works. */
void overview_state_error(struct overview *report, const char *error);
void overview_files_error(struct overview *report, const char *error);

/* ---- the main thread ---- */

struct overview_setup {
	const char *config; /* NULL: none */
	const char *source, *schema;
	const char *state, *publish; /* NULL: off */
	const char *const *formats;
	size_t formats_count;
};
void overview_setup(struct overview *report, const struct overview_setup *setup);
/* Borrowed until replaced; NULL: none. Replace before they are freed. */
void overview_watch(struct overview *report, const struct watch *watch);
void overview_rest(struct overview *report, struct rest_server *server);
void overview_grpc(struct overview *report, struct grpc_part *part);
void overview_listeners(struct overview *report, const struct texts *rest, const struct texts *grpc,
	const struct texts *admin);

/* ---- any thread ---- */

json_t *overview_json(struct overview *report);
/* Every group serves something; else *ret_reason is malloc'ed. */
bool overview_is_ready(struct overview *report, char **ret_reason);
char *overview_line(struct overview *report); /* malloc'ed: one line for `systemctl status` */

#endif
