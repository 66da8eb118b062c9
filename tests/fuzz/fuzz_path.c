/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths into a schema, as explain takes them: resolved, explained and completed. */
#include <stdio.h>
#include <stdlib.h>

#include "author/explain.h"
#include "author/explain_text.h"
#include "base/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct schema *schema; /* read once, stay for the life of the program */
static struct comments *comments;
static struct names *names;
static struct rules_book *book;

static void load(void)
{
	const char *path = getenv("XDSPUB_TEST_DOCUMENTED");
	struct diag_list *diags = diag_list_new(0);
	struct buf bytes = BUF_INIT;

	comments = comments_new();
	if (!path || schema_load(&path, 1, diags, &schema) || file_read(path, 1 << 24, &bytes) ||
		comments_add(comments, buf_slice(&bytes), path, diags)) {
		fprintf(stderr, "XDSPUB_TEST_DOCUMENTED must name tests/schema/documented.pb\n");
		exit(1);
	}
	names = names_new(schema, comments);
	book = rules_book_new(schema);
	buf_fini(&bytes);
	diag_list_free(diags);
}

static void check(bool is_fine)
{
	if (!is_fine)
		abort();
}

/* What completion offers leads on from what was typed. */
static void look(void *ctx, const char *path)
{
	const struct slice *typed = ctx;

	check(strlen(path) >= typed->length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = {(const char *)data, size};
	struct buf problem = BUF_INIT, out = BUF_INIT;
	struct path path;

	if (!schema)
		load();
	if (path_resolve(names, schema, text, &path, &problem)) {
		check(problem.length > 0);
	} else {
		const struct explain_from from = {schema, comments, names, book};
		json_t *document = explain_path(&from, &path, size % 3);

		check(document && problem.length == 0);
		explain_text(document, &(struct explain_style){.width = 60}, &out);
		check(out.length > 0);
		json_decref(document);
	}
	path_complete(names, schema, text, look, &text);
	buf_fini(&problem);
	buf_fini(&out);
	return 0;
}
