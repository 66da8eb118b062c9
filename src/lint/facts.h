/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a resource says that only means something together with others: the names it refers to, the
 * address it listens on ... One block of memory per resource; immutable. Threads: any once made, a
 * draft one at a time. Positions are those in the source; strings end with a NUL.
 */
#ifndef XDSPUB_LINT_FACTS_H
#define XDSPUB_LINT_FACTS_H

#include "base/diag.h"
#include "message/field_path.h"
#include "snapshot/types.h"

/* The first ones are references to a resource of that type: (enum fact_kind)XDS_CDS ... */
enum fact_kind {
	FACT_REFERENCE_LAST = XDS_TYPE_COUNT - 1,
	FACT_LISTENS_ON,	/* "tcp 0.0.0.0:80" */
	FACT_FILE_SUBSCRIPTION, /* a path that Envoy would watch for updates */
	FACT_SOURCE,		/* of the reference before it: the cluster of its config source */
	FACT_TAKES_ANY,		/* names resources of a type at run time: the type's folder */
	FACT_KINDS
};

/* Of a reference: */
#define FACT_IS_REFUSED 1u /* Envoy refuses the resource when the name leads nowhere */
#define FACT_IS_OURS	2u /* what is named comes from this server and from nowhere else */
#define FACT_IS_FOREIGN 4u /* it comes from a file that xdspub does not publish */

struct fact {
	enum fact_kind kind;
	unsigned flags;
	struct slice name;
	struct position at;
	const char *where; /* the field: "virtual_hosts[0].routes[2].route.cluster" */
	const char *path;  /* the file of `at` when that is an included one, else NULL */
	const char *via;   /* then: the places that include it, as in struct diag */
};

struct facts {
	uint32_t count;
	struct fact facts[];
};

/* The kind and the name as one string, for hash tables; as long-lived as the fact. */
struct slice fact_key(const struct fact *fact);

struct facts_drafted; /* private */
struct facts_draft {
	struct facts_drafted *facts;
	size_t count, capacity;
	struct buf strings;
};

/* `diags` knows the included files that `at` may be in. */
void facts_add(struct facts_draft *draft, enum fact_kind kind, unsigned flags, struct slice name,
	const struct field_step *step, struct position at, const struct diag_list *diags);
/* malloc'ed; NULL: there are none. The draft is empty then. */
struct facts *facts_finish(struct facts_draft *draft);
void facts_reset(struct facts_draft *draft);
void facts_draft_fini(struct facts_draft *draft);

#endif
