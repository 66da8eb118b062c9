/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A schema with its comments, names and rules, for tests of author/. */
#ifndef XDSPUB_TESTS_UNIT_AUTHOR_FIXTURE_H
#define XDSPUB_TESTS_UNIT_AUTHOR_FIXTURE_H

#include "author/explain.h"
#include "base/file.h"
#include "message_fixture.h"

struct author_fixture {
	struct schema *schema;
	struct comments *comments;
	struct names *names;
	struct rules_book *book;
	struct diag_list *diags;
};

static inline int author_open(void **state, const char *path, const char *documented)
{
	struct author_fixture *fixture = calloc(1, sizeof(*fixture));
	struct buf bytes = BUF_INIT;

	*state = fixture;
	fixture->diags = diag_list_new(0);
	fixture->comments = comments_new();
	if (schema_load(&path, 1, fixture->diags, &fixture->schema) ||
		file_read(documented, 64u << 20, &bytes) ||
		comments_add(fixture->comments, buf_slice(&bytes), documented, fixture->diags)) {
		fixture_show(fixture->diags);
		return -1;
	}
	buf_fini(&bytes);
	fixture->names = names_new(fixture->schema, fixture->comments);
	fixture->book = rules_book_new(fixture->schema);
	return 0;
}

static inline int author_open_envoy(void **state)
{
	const char *path = getenv("XDSPUB_SCHEMA");
	char documented[4096];

	snprintf(documented, sizeof(documented), "%.*s.doc.pb", (int)strlen(path) - 3, path);
	return author_open(state, path, documented);
}

static inline int author_open_test(void **state)
{
	const char *path = getenv("XDSPUB_TEST_DOCUMENTED");

	return author_open(state, path, path);
}

static inline int author_close(void **state)
{
	struct author_fixture *fixture = *state;

	names_free(fixture->names);
	rules_book_free(fixture->book);
	comments_free(fixture->comments);
	schema_free(fixture->schema);
	diag_list_free(fixture->diags);
	free(fixture);
	return 0;
}

static inline struct explain_from author_from(const struct author_fixture *fixture)
{
	return (struct explain_from){
		fixture->schema, fixture->comments, fixture->names, fixture->book};
}

#endif
