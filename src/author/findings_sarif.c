/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/findings_sarif.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "catalogue/catalogue.h"

#define SCHEMA_URI                                                                                 \
	"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"                      \
	"sarif-schema-2.1.0.json"

struct maker {
	const struct findings_sarif *options;
	struct source_lines *sources;
	json_t *rules, *results;
	struct hash rule_numbers; /* id to 1 + index in rules */
	struct hash prints;	  /* rule, path and line to a struct print */
};

/* How often a line has had a finding of a rule. */
struct print {
	size_t count;
	char key[];
};

static const char *level_name(enum diag_level level)
{
	return diag_level_name(level); /* SARIF has the same words */
}

/* Bytes that are no part of a text become escapes: JSON must be UTF-8. */
static json_t *text_json(const char *text)
{
	struct buf quoted = BUF_INIT;
	json_t *string = json_string(text);

	if (!string) {
		text_quote(&quoted, slice_of(text), 0);
		string = json_string(buf_cstr(&quoted));
	}
	buf_fini(&quoted);
	return string;
}

static void write_uri(struct buf *out, const char *path)
{
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			strchr("-._~/", c))
			buf_putc(out, (char)c);
		else
			buf_printf(out, "%%%02X", c);
	}
}

/* What follows the folder in an absolute path within it, or NULL. */
static const char *below(const char *folder, const char *path)
{
	size_t length = strlen(folder);

	if (length > 1 && strncmp(path, folder, length) == 0 && path[length] == '/')
		return path + length + 1;
	return NULL;
}

static json_t *make_artifact(const struct maker *maker, const char *path)
{
	struct buf uri = BUF_INIT;
	const char *relative = path[0] == '/' ? below(maker->options->folder, path) : path;
	json_t *artifact;

	while (relative && strncmp(relative, "./", 2) == 0)
		relative += 2;
	if (relative) {
		write_uri(&uri, relative);
		artifact = json_pack("{ss ss}", "uri", buf_cstr(&uri), "uriBaseId", "%SRCROOT%");
	} else {
		buf_puts(&uri, "file://");
		write_uri(&uri, path);
		artifact = json_pack("{ss}", "uri", buf_cstr(&uri));
	}
	buf_fini(&uri);
	return artifact;
}

/* SARIF counts characters here. */
static unsigned character_column(struct slice line, uint32_t column)
{
	unsigned characters = 1;

	for (size_t i = 0; i + 1 < column && i < line.length; i++)
		characters += ((unsigned char)line.data[i] & 0xc0) != 0x80;
	return characters;
}

static json_t *make_location(const struct maker *maker, const struct diag *diag)
{
	json_t *place = json_object(), *region;
	struct slice line;

	json_object_set_new(place, "artifactLocation", make_artifact(maker, diag->path));
	if (diag->at.line) {
		region = json_pack("{sI}", "startLine", (json_int_t)diag->at.line);
		if (diag->at.column &&
			source_lines_get(maker->sources, diag->path, diag->at.line, &line))
			json_object_set_new(region, "startColumn",
				json_integer(character_column(line, diag->at.column)));
		json_object_set_new(place, "region", region);
	}
	return json_pack("{so}", "physicalLocation", place);
}

static json_int_t rule_number(struct maker *maker, const char *id)
{
	const struct catalogue_entry *entry = catalogue_find(slice_of(id));
	uintptr_t number = (uintptr_t)hash_get(&maker->rule_numbers, slice_of(id));
	json_t *rule;

	if (number)
		return (json_int_t)number - 1;
	rule = json_pack("{ss}", "id", id);
	if (entry) {
		json_object_set_new(
			rule, "shortDescription", json_pack("{ss}", "text", entry->reason));
		json_object_set_new(
			rule, "fullDescription", json_pack("{ss}", "text", entry->page));
		json_object_set_new(rule, "help", json_pack("{ss}", "text", entry->page));
		json_object_set_new(rule, "defaultConfiguration",
			json_pack("{ss}", "level", level_name(entry->level)));
	}
	json_array_append_new(maker->rules, rule);
	number = json_array_size(maker->rules);
	hash_put(&maker->rule_numbers, slice_of(id), (void *)number); /* ids are literals */
	return (json_int_t)number - 1;
}

/* A digest of the line, and which one of its kind it is in the file: neither moves with lines that
 * are added elsewhere. */
static char *make_print(struct maker *maker, const struct diag *diag)
{
	struct slice line = SLICE("");
	struct buf key = BUF_INIT;
	struct print *print;
	uint64_t digest;

	source_lines_get(maker->sources, diag->path, diag->at.line, &line);
	while (line.length && (line.data[0] == ' ' || line.data[0] == '\t')) {
		line.data++;
		line.length--;
	}
	if (line.length == 0)
		line = slice_of(diag->text);
	digest = hash_fnv1a(line.data, line.length);
	buf_printf(&key, "%s\n%s\n%016llx", diag->rule, diag->path, (unsigned long long)digest);
	print = hash_get(&maker->prints, buf_slice(&key));
	if (!print) {
		print = xcalloc(1, sizeof(*print) + key.length + 1);
		memcpy(print->key, key.data, key.length);
		hash_put(&maker->prints, slice_of(print->key), print);
	}
	print->count++;
	buf_fini(&key);
	return xasprintf("%016llx:%zu", (unsigned long long)digest, print->count);
}

static void add_result(struct maker *maker, const struct diag *diag)
{
	AUTO_FREE char *print = make_print(maker, diag);
	struct buf text = BUF_INIT, via = BUF_INIT;
	json_t *result;

	text_quote(&text, slice_of(diag->text), 0);
	diag_format_via(diag, &via);
	if (via.length)
		buf_printf(&text, " (included by %s)", buf_cstr(&via));
	result = json_pack("{ss sI ss s{so} s{ss}}", "ruleId", diag->rule, "ruleIndex",
		rule_number(maker, diag->rule), "level", level_name(diag->level), "message", "text",
		text_json(buf_cstr(&text)), "partialFingerprints", "primaryLocationLineHash",
		print);
	if (diag->path[0])
		json_object_set_new(
			result, "locations", json_pack("[o]", make_location(maker, diag)));
	json_array_append_new(maker->results, result);
	buf_fini(&text);
	buf_fini(&via);
}

static json_t *make_run(struct maker *maker)
{
	struct buf root = BUF_INIT;
	json_t *driver =
		json_pack("{ss ss ss so}", "name", "xdspub", "version", maker->options->version,
			"semanticVersion", maker->options->version, "rules", maker->rules);
	json_t *run = json_pack("{s{so} so ss}", "tool", "driver", driver, "results",
		maker->results, "columnKind", "unicodeCodePoints");

	buf_puts(&root, "file://");
	write_uri(&root, maker->options->folder);
	if (root.length && root.data[root.length - 1] != '/')
		buf_putc(&root, '/');
	json_object_set_new(run, "originalUriBaseIds",
		json_pack("{s{ss}}", "%SRCROOT%", "uri", buf_cstr(&root)));
	buf_fini(&root);
	return run;
}

json_t *findings_sarif_make(const struct findings_sarif *options, const struct diag_list *diags,
	struct source_lines *sources)
{
	struct maker maker = {.options = options,
		.sources = sources,
		.rules = json_array(),
		.results = json_array()};
	struct hash_entry *slot;
	size_t cursor = 0;
	json_t *run;

	hash_init(&maker.rule_numbers);
	hash_init(&maker.prints);
	for (size_t i = 0; i < diag_list_count(diags); i++) {
		const struct diag *diag = diag_list_get(diags, i);

		if (diag->level != DIAG_NOTE || options->has_notes)
			add_result(&maker, diag);
	}
	run = make_run(&maker);
	hash_fini(&maker.rule_numbers);
	while ((slot = hash_next(&maker.prints, &cursor)))
		free(slot->value);
	hash_fini(&maker.prints);
	return json_pack("{ss ss s[o]}", "$schema", SCHEMA_URI, "version", "2.1.0", "runs", run);
}
