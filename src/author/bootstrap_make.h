/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A whole bootstrap for one group, with comments, checked before it is given out. */
#ifndef XDSPUB_AUTHOR_BOOTSTRAP_MAKE_H
#define XDSPUB_AUTHOR_BOOTSTRAP_MAKE_H

#include <jansson.h>

#include "author/bootstrap_text.h"
#include "base/diag.h"
#include "schema/schema.h"

struct bootstrap_whole {
	struct bootstrap_spec spec;
	const json_t *node;   /* see sample_node */
	bool node_is_partial; /* Envoy itself adds what the group also wants to see */
	const char *admin;    /* address of Envoy's admin interface; NULL: none */
	const char *comment;  /* a line at the top, without "# " */
	const char *more;     /* another one about the address; NULL */
};

/* False: what was made is no valid bootstrap, see diags. */
bool bootstrap_make(const struct bootstrap_whole *whole, const struct schema *schema,
	struct diag_list *diags, struct buf *out);

#endif
