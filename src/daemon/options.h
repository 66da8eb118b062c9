/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every setting of the program in one table: the keys of xdspub.yaml, the flags of the commands,
 * their help, defaults, limits and what a reload may change. Values are checked when they are set.
 * Threads: one at a time per object; the table is constant.
 */
#ifndef XDSPUB_DAEMON_OPTIONS_H
#define XDSPUB_DAEMON_OPTIONS_H

#include "base/buf.h"
#include "base/limits.h"

struct mount_settings;

struct texts {
	char **items;
	size_t count, capacity;
};

/* All texts are never NULL; "" means not set. */
struct options {
	char *source;		       /* the root of the tree */
	struct mount_settings *mounts; /* what else it is made of; a reference; NULL: nothing */
	struct texts groups;
	char *schema;
	struct texts add_schemas;
	char *state;
	char *publish;
	char *seen_as;
	struct texts formats;
	int64_t file_mode, secret_mode, folder_mode;
	char *file_owner, *file_group;
	struct texts rest, grpc, admin;
	int64_t quiet_ms, limit_ms, rescan_ms, grace_ms, route_delay_ms;
	int64_t grpc_threads, grpc_pace_ms, grpc_drain_ms;
	int64_t grpc_keepalive_ms, grpc_keepalive_timeout_ms;
	char *watch;
	char *log_level;
	int64_t threads;
	struct limits limits;
};

enum option_type {
	OPTION_TEXT,
	OPTION_PATH,	/* relative ones are relative to the configuration file */
	OPTION_ADDRESS, /* host:port or unix:/path; the path of the latter as above */
	OPTION_CHOICE,
	OPTION_DURATION, /* "50ms", kept in ms */
	OPTION_SIZE,	 /* "4MiB", kept in bytes */
	OPTION_NUMBER,
	OPTION_MODE /* octal */
};

enum option_reload {
	OPTION_RELOAD_NOW, /* SIGHUP applies it */
	OPTION_RELOAD_RESTART
};

/* Commands a row is a flag of. */
#define OPTIONS_SERVE  1u
#define OPTIONS_BUILD  2u
#define OPTIONS_CHECK  4u
#define OPTIONS_SCHEMA 8u /* any command that needs a schema */

struct option_row {
	const char *key;   /* in xdspub.yaml, dotted: "settle.quiet" */
	const char *flag;  /* without the dashes; NULL: only in the file */
	const char *value; /* what --help calls it: "DIR" */
	enum option_type type;
	bool is_list;
	size_t offset;		  /* in struct options */
	const char *preset;	  /* default, as one would write it; NULL: none */
	const char *choices;	  /* OPTION_CHOICE: separated by spaces */
	int64_t minimum, maximum; /* DURATION, SIZE, NUMBER */
	enum option_reload reload;
	unsigned commands;
	const char *text;
};

const struct option_row *option_rows(size_t *ret_count);
const struct option_row *option_by_flag(const char *flag);

void options_init(struct options *options); /* the defaults */
void options_fini(struct options *options);
void options_copy(struct options *to, const struct options *from); /* `to` is not initialised */
/* Sets, or appends to a list; `folder` is what relative paths are relative to, NULL: left as they
 * are. -EINVAL with a sentence (without the option's name) in `problem`. */
int options_set(struct options *options, const struct option_row *row, struct slice text,
	const char *folder, struct buf *problem);
void options_clear(struct options *options, const struct option_row *row); /* a list: empties it */
bool options_equal(const struct options *a, const struct options *b, const struct option_row *row);
/* The value as one would write it, lists separated by ", ". */
void options_format(const struct options *options, const struct option_row *row, struct buf *out);

/* The descriptor set to use when `schema` is not set: $XDSPUB_SCHEMA or the installed one. */
const char *options_schema(const struct options *options);

#endif
