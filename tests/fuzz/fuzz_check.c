/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small tree, "=== PATH" before each file, through all that `check` does: compiling with every
 * lint, each file as a loose one, and what is found written in every format. Whatever is in the
 * files, no format gets a control character out of them.
 */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "author/findings_ci.h"
#include "author/findings_sarif.h"
#include "author/findings_text.h"
#include "author/loose_file.h"
#include "base/text.h"
#include "compile/compile.h"

#define FILES_MAX  32
#define PATH_BYTES 80

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct inputs {
	char root[64];
	char paths[FILES_MAX][PATH_BYTES + 1];
	size_t count;
};

static void check(bool is_fine)
{
	if (!is_fine)
		abort();
}

static const struct schema *schema_of_envoy(void)
{
	static struct schema *schema; /* read once, stays for the life of the program */
	const char *path = getenv("XDSPUB_SCHEMA");
	struct diag_list *diags;

	if (schema)
		return schema;
	diags = diag_list_new(0);
	if (!path || schema_load(&path, 1, diags, &schema)) {
		fprintf(stderr, "XDSPUB_SCHEMA must name schema/envoy.pb\n");
		exit(1);
	}
	diag_list_free(diags);
	return schema;
}

/* --- files --------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	(void)status;
	(void)kind;
	(void)where;
	return remove(path);
}

/* "clusters/a.yaml"; nothing that leads out of the root. */
static bool is_good_path(struct slice path)
{
	if (path.length == 0 || path.length > PATH_BYTES || path.data[0] == '/')
		return false;
	for (size_t i = 0; i < path.length; i++) {
		char c = path.data[i];

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || strchr("_-./", c)) || !c)
			return false;
		if (c == '.' && i && path.data[i - 1] == '.')
			return false;
	}
	return path.data[path.length - 1] != '/';
}

static void write_file(struct inputs *inputs, struct slice path, struct slice text)
{
	char full[sizeof(inputs->root) + PATH_BYTES + 2];
	FILE *file;

	if (!is_good_path(path) || inputs->count == FILES_MAX)
		return;
	snprintf(full, sizeof(full), "%s/%.*s", inputs->root, SLICE_ARG(path));
	for (char *slash = full + strlen(inputs->root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	file = fopen(full, "w");
	if (!file)
		return; /* a folder has the name */
	check(fwrite(text.data, 1, text.length, file) == text.length);
	check(fclose(file) == 0);
	snprintf(inputs->paths[inputs->count++], PATH_BYTES + 1, "%.*s", SLICE_ARG(path));
}

static void write_files(struct inputs *inputs, struct slice all)
{
	static const char mark[] = "=== ";
	const char *at = all.data, *end = all.data + all.length;

	while (at < end && (at = memmem(at, (size_t)(end - at), mark, sizeof(mark) - 1))) {
		const char *path = at + sizeof(mark) - 1;
		const char *line = memchr(path, '\n', (size_t)(end - path));
		const char *next;

		if (!line)
			break;
		next = memmem(line, (size_t)(end - line), mark, sizeof(mark) - 1);
		write_file(inputs, (struct slice){path, (size_t)(line - path)},
			(struct slice){line + 1,
				next ? (size_t)(next - line - 1) : (size_t)(end - line - 1)});
		at = next ? next : end;
	}
}

/* --- what is found ------------------------------------------------------------------------- */

static void check_text(const struct buf *text)
{
	check(buf_error(text) == 0);
	check(text->length == 0 || text_is_utf8((struct slice){text->data, text->length}));
	for (size_t i = 0; i < text->length; i++) {
		unsigned char c = (unsigned char)text->data[i];

		check(c == '\n' || (c >= ' ' && c != 0x7f));
	}
}

static void write_all(const struct diag_list *diags)
{
	struct source_lines *sources = source_lines_new();
	const struct findings_sarif sarif = {"0", "/", true};
	const struct findings_junit junit = {.is_strict = true, .has_notes = true};
	struct buf text = BUF_INIT;
	json_t *document = findings_sarif_make(&sarif, diags, sources);
	char *dump = json_dumps(document, 0);

	check(dump != NULL);
	free(dump);
	json_decref(document);
	for (size_t i = 0; i < diag_list_count(diags); i++) {
		buf_reset(&text);
		findings_text_write(diag_list_get(diags, i), sources, false, &text);
		check_text(&text);
		buf_reset(&text);
		findings_ci_github(diag_list_get(diags, i), &text);
		check_text(&text);
		check(memchr(text.data, '\n', text.length) == text.data + text.length - 1);
	}
	buf_reset(&text);
	findings_ci_junit(&junit, diags, &text);
	check_text(&text);
	buf_fini(&text);
	source_lines_free(sources);
}

static void check_tree(const struct inputs *inputs, struct diag_list *diags)
{
	const struct compile_options options = {.root = inputs->root,
		.schema = schema_of_envoy(),
		.threads = 1,
		.verbose = true,
		.is_thorough = true};
	struct compiler *compiler = compiler_new(&options);
	const struct build *build;

	check(compiler_run(compiler, NULL, 0, 0, NULL, &build) == 0);
	diag_list_append(diags, build->diags);
	compiler_free(compiler);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct lint_plans *lints;
	struct inputs inputs = {.root = "/tmp/xdspub-fuzz-XXXXXX"};
	struct diag_list *diags = diag_list_new(0);
	struct loose_reader *reader;
	int back = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	check(back >= 0);
	if (!lints)
		lints = lint_plans_new(schema_of_envoy(), NULL);
	check(mkdtemp(inputs.root) != NULL);
	write_files(&inputs, (struct slice){(const char *)data, size});
	check_tree(&inputs, diags);
	check(chdir(inputs.root) == 0);
	write_all(diags);
	reader = loose_reader_new(schema_of_envoy(), lints, &LIMITS_DEFAULT);
	for (size_t i = 0; i < inputs.count; i++) {
		diag_list_clear(diags);
		loose_check(reader, inputs.paths[i], LOOSE_ANY, diags);
		write_all(diags);
	}
	loose_reader_free(reader);
	check(fchdir(back) == 0);
	close(back);
	nftw(inputs.root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	diag_list_free(diags);
	return 0;
}
