/* SPDX-License-Identifier: GPL-2.0-or-later */
/* xdspub explain: what the schema, the catalogue of rules and our own files say about a name. */
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "author/explain_text.h"
#include "base/text.h"
#include "catalogue/catalogue.h"
#include "cli/authoring.h"
#include "cli/command.h"
#include "cli/given.h"

#define WIDTH_DEFAULT 80
#define WIDTH_LEAST   40
#define WIDTH_MOST    120 /* longer lines are hard to read */
#define TREE_DEPTH    4

/* ---- rules ---- */

static json_t *explain_rule(struct slice id)
{
	const struct catalogue_entry *entry = catalogue_find(id);
	struct buf silence = BUF_INIT;
	json_t *to;

	if (!entry)
		return NULL;
	if (entry->is_silenceable)
		buf_printf(&silence, "# xdspub: ignore %s", entry->id);
	to = json_pack("{ss ss ss ss ss ss*}", "kind", "rule", "id", entry->id, "level",
		diag_level_name(entry->level), "area", catalogue_area_title(entry->area), "reason",
		entry->reason, "silence", silence.length ? buf_cstr(&silence) : NULL);
	if (entry->page && entry->page[0])
		json_object_set_new(to, "description", json_string(entry->page));
	buf_fini(&silence);
	return to;
}

/* ---- keys ---- */

static bool begins_with(struct slice text, const char *start, struct slice *ret_rest)
{
	size_t length = strlen(start);

	if (text.length < length || memcmp(text.data, start, length) != 0)
		return false;
	*ret_rest = (struct slice){text.data + length, text.length - length};
	if (ret_rest->length == 0)
		return true;
	if (ret_rest->data[0] != '.' && ret_rest->data[0] != ':')
		return false;
	ret_rest->data++;
	ret_rest->length--;
	return true;
}

/* "xdspub.yaml:settle.quiet", "settle.quiet" */
static json_t *explain_setting(const struct keys *settings, struct slice name)
{
	struct slice rest;

	return keys_explain(settings, begins_with(name, keys_file(settings), &rest) ? rest : name);
}

/* ---- the command ---- */

static unsigned terminal_width(void)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");
	int64_t width = WIDTH_DEFAULT;

	if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		width = size.ws_col;
	else if (columns && text_parse_i64(slice_of(columns), &width) < 0)
		width = WIDTH_DEFAULT;
	return width < WIDTH_LEAST  ? WIDTH_LEAST
	       : width > WIDTH_MOST ? WIDTH_MOST
				    : (unsigned)width;
}

/* A word that is neither a type nor anything else of ours may be meant for each of these. */
static void suggest_others(
	const struct authoring *authoring, struct slice name, struct buf *problem)
{
	struct suggestion suggestion;
	char phrase[256];

	if (strstr(buf_cstr(problem), "did you mean"))
		return;
	suggestion_init(&suggestion, name);
	for (size_t i = 0; i < catalogue_count(); i++)
		suggestion_offer(&suggestion, catalogue_get(i)->id);
	keys_offer(authoring->groups, &suggestion);
	keys_offer(authoring->settings, &suggestion);
	buf_puts(problem, suggestion_phrase(&suggestion, phrase));
}

/* What is known without a schema. */
static json_t *explain_own(const struct keys *settings, struct slice name)
{
	json_t *document = explain_rule(name);

	return document ? document : explain_setting(settings, name);
}

static json_t *explain(const struct authoring *authoring, struct slice name, unsigned depth)
{
	struct explain_from from = authoring_from(authoring);
	json_t *document = explain_own(authoring->settings, name);
	struct buf problem = BUF_INIT;
	struct path path;

	if (!document)
		document = explain_setting(authoring->groups, name);
	if (document || !authoring->schema)
		return document;
	if (path_resolve(authoring->names, authoring->schema, name, &path, &problem) == 0) {
		document = explain_path(&from, &path, depth);
	} else {
		suggest_others(authoring, name, &problem);
		fprintf(stderr, "xdspub explain: %s\n", buf_cstr(&problem));
	}
	buf_fini(&problem);
	return document;
}

static int read_depth(const struct args *args, unsigned *ret_depth)
{
	const char *text = args_get(args, "depth");
	int64_t depth = TREE_DEPTH;

	if (text &&
		(text_parse_i64(slice_of(text), &depth) < 0 || depth < 1 || depth > LIMIT_DEPTH)) {
		fprintf(stderr, "xdspub explain: --depth is a number from 1 to %d\n", LIMIT_DEPTH);
		return EXIT_USAGE;
	}
	*ret_depth = text || args_has(args, "recursive") ? (unsigned)depth : 0;
	return EXIT_FINE;
}

static void print(json_t *document)
{
	const struct explain_style style = {terminal_width(), given_is_coloured(stdout)};
	struct buf text = BUF_INIT;

	explain_text(document, &style, &text);
	fwrite(text.data, 1, text.length, stdout);
	buf_fini(&text);
	json_decref(document);
}

static int explain_all(const struct authoring *authoring, const struct args *args, unsigned depth)
{
	int status = EXIT_FINE;

	for (size_t i = 0; i < args->operands_count; i++) {
		json_t *document = explain(authoring, slice_of(args->operands[i]), depth);

		if (!document) {
			status = EXIT_FINDINGS;
			continue;
		}
		if (args_has(args, "json")) {
			given_print_json(document);
			continue;
		}
		if (i)
			putchar('\n');
		print(document);
	}
	return status;
}

/* Whether there is a name that only a schema can explain; one of groups.yaml is better with it. */
static bool needs_schema(const struct authoring *authoring, const struct args *args, bool *ret_must)
{
	bool is_needed = false;

	*ret_must = false;
	for (size_t i = 0; i < args->operands_count; i++) {
		struct slice name = slice_of(args->operands[i]);
		json_t *document = explain_own(authoring->settings, name);
		json_t *key = document ? NULL : explain_setting(authoring->groups, name);

		is_needed = is_needed || !document;
		*ret_must = *ret_must || (!document && !key);
		json_decref(document);
		json_decref(key);
	}
	return is_needed;
}

static int run(const struct args *args)
{
	struct authoring authoring;
	struct diag_list *diags = diag_list_new(0);
	struct options options;
	bool must_load;
	unsigned depth;
	int status = read_depth(args, &depth);

	authoring_init(&authoring);
	options_init(&options);
	if (!status && given_options(args, &options, diags) < 0)
		status = EXIT_USAGE;
	if (!status && needs_schema(&authoring, args, &must_load) &&
		authoring_load(&authoring, &options, diags) < 0 && !must_load)
		diag_list_clear(diags);
	given_print_diags(stderr, diags, &(struct given_print){.notes = true});
	if (!status)
		status = explain_all(&authoring, args, depth);
	authoring_fini(&authoring);
	options_fini(&options);
	diag_list_free(diags);
	return status;
}

static const struct args_option explain_options[] = {
	{"recursive", 'r', NULL, false, "the tree of fields below it"},
	{"depth", 'd', "N", false, "how many levels of that tree (default: 4)"},
	{"json", 'j', NULL, false, "print JSON"},
	{0},
};

const struct command command_explain = {
	.name = "explain",
	.synopsis = "NAME... [OPTION]...",
	.summary = "What the Envoy API says of a type, field or value; what a rule means",
	.details =
		"A NAME is a resource, a type or a path into it, a rule id, or a key of\n"
		"groups.yaml or xdspub.yaml:\n\n"
		"  xdspub explain cluster.lb_policy\n"
		"  xdspub explain listener.filter_chains.filters.typed_config\n"
		"  xdspub explain \\\n"
		"    "
		"listener.filter_chains.filters.typed_config:HttpConnectionManager.route_config\n"
		"  xdspub explain envoy.config.route.v3.RouteAction --recursive\n"
		"  xdspub explain string.min_len groups.match settle.quiet\n\n"
		"Behind a typed_config \":TYPE\" says what it holds. Both spellings of fields are\n"
		"known, and [0] behind them does no harm, so paths from messages can be pasted.",
	.options = explain_options,
	.settings = OPTIONS_SCHEMA,
	.operands_min = 1,
	.operands_max = 1000,
	.operands = OPERANDS_NAMES,
	.run = run,
};
