/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lints: what is said about resources beyond the rules of their schema. A lint is a row in a table
 * of its file (lint_<subject>.c), and its table is one of those in lint.c. There are two kinds,
 * and a row may be both:
 *   look   is shown every message of its types, wherever one is in a resource, through Any too,
 *          and says what is wrong with it, or keeps a fact about it;
 *   judge  is shown, per group, every name that a kind of facts speaks of, with all that do; or
 *          the row says which of the other questions is asked about them (enum lint_join).
 * The first runs when a resource is read, in `serve` too: an unchanged file is not looked at again.
 * The second runs in `check` and `build`, which look at whole trees.
 * Levels: what Envoy would refuse is an error and holds the group; what people come to regret is a
 * warning; what cannot be known is not said.
 * Threads: a linter belongs to one thread at a time; tables are constant.
 */
#ifndef XDSPUB_LINT_LINT_H
#define XDSPUB_LINT_LINT_H

#include "base/diag.h"
#include "lint/facts.h"
#include "message/field_path.h"
#include "message/message.h"
#include "snapshot/resource.h"

struct lint_look;
struct lint_judge;

/* Something in a group that a fact was found in. */
struct lint_user {
	const struct resource *resource;
	const struct fact *fact;
};

/* What is asked about the facts of a kind in a group. */
enum lint_join {
	LINT_JUDGE,   /* judge and total say */
	LINT_MISSING, /* references to what the group does not have, and `external` does not name */
	LINT_UNUSED,  /* resources that no reference in any group names */
};

struct lint {
	const char *rule; /* the id of its findings, a row of src/catalogue/rules_*.def; for ever */
	enum diag_level level;
	const char
		*profile; /* one of lint_profiles that asks for it; NULL: it is always asked for */

	const char *const *types; /* full names of messages, ends with NULL; NULL: no look */
	void (*look)(struct lint_look *look, const struct message *message);

	enum lint_join join;
	enum fact_kind kind; /* of what judge is shown, or is missing or unused */
	/* `users` are at least one, in the order of their places. */
	void (*judge)(struct lint_judge *judge, struct slice name, const struct lint_user *users,
		size_t count);
	/* Once per group, when it has such facts: how many names there are. May be NULL. */
	void (*total)(struct lint_judge *judge, size_t names, const struct lint_user *first);
};

/* Kinds of clients with demands of their own: "grpc". Ends with NULL. */
extern const char *const lint_profiles[];

/* All tables; each ends with a row without rule. */
extern const struct lint *const lint_tables[]; /* ends with NULL */

/* --- for look ------------------------------------------------------------------------------ */

struct lint_look {
	const struct lint *lint; /* the row that looks */
	const struct message *resource;
	const struct xds_type_row *row; /* of the resource */
	const struct field_step *step;	/* to the message; NULL: it is the resource */
	/* private */
	const char *path;
	struct diag_list *diags;
	struct facts_draft *facts; /* NULL: facts are not wanted */
};

/* A finding at a field of the message that is looked at (NULL: the message itself), which need not
 * be set: `filter_chains[0].filters: text [id]`. */
void lint_say(const struct lint_look *look, const struct message *message, const char *field,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same for one item of a list or map. */
void lint_say_item(const struct lint_look *look, const struct message *message, const char *field,
	uint32_t index, const char *format, ...) __attribute__((format(printf, 5, 6)));
/* The same anywhere below it; `step` leads there. */
void lint_say_at(const struct lint_look *look, const struct field_step *step, struct position at,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Keeps a fact about a field of the message that is looked at. */
void lint_keep(const struct lint_look *look, const struct message *message, const char *field,
	enum fact_kind kind, unsigned flags, struct slice name);
/* The nearest message of a type that the one looked at is in, or NULL. */
const struct message *lint_enclosing(const struct lint_look *look, const char *type);
/* "3:5" or "path:3:5": another place in the same resource, for texts. */
const char *lint_place(const struct lint_look *look, struct position at, char out[static 256]);

/* Fields by their names in the API; a name that the schema does not have is unset. The content of
 * an Any counts as the message. NULL or empty when unset. */
const struct message_field *lint_field(const struct message *message, const char *name);
const struct message *lint_message(const struct message *message, const char *name);
struct slice lint_text(const struct message *message, const char *name);
bool lint_flag(const struct message *message, const char *name, bool unset); /* BoolValue, too */
/* Whether an enum is set to the value of this name; unset is the first value. */
bool lint_is_enum(const struct message *message, const char *name, const char *value);
bool lint_is(const struct message *message, const char *type); /* NULL: false */
/* Where a message is set. */
struct position lint_position(const struct message *message, struct position fallback);

/* --- for judge ------------------------------------------------------------------------------ */

/* A finding at the place of a user's fact; groups that share it are told of in one finding. */
void lint_judge_say(struct lint_judge *judge, const struct lint_user *user, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

struct lint_judge {
	const struct lint *lint;
	const char *group; /* its name */
	void (*say)(
		void *ctx, const struct lint *lint, const struct lint_user *user, const char *text);
	void *ctx;
};

/* --- for those who run lints ---------------------------------------------------------------- */

struct lint_plans; /* what is to be looked at in messages of which type: immutable, any thread */
struct schema;

/* Without a profile (NULL) the lints of none are asked. */
struct lint_plans *lint_plans_new(const struct schema *schema, const char *profile);
void lint_plans_free(struct lint_plans *plans); /* NULL is fine */

/* Shows a resource to all lints. `facts` NULL: what they keep is not wanted. */
void lint_resource(const struct lint_plans *plans, const struct message *resource,
	const struct xds_type_row *row, const char *path, struct diag_list *diags,
	struct facts_draft *facts);

#endif
