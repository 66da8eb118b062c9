/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/json_schema_file.h"

#include <assert.h>
#include <stdio.h>

#include "author/json_rules.h"

#define WRAPPER "envoy.service.discovery.v3.Resource"

static json_t *new_document(const char *title, const char *description)
{
	return json_pack("{ss ss ss*}", "$schema", JSON_SCHEMA_DRAFT, "title", title, "description",
		description);
}

/* An object whose "@type" is that of `name`. */
static json_t *is_typed(const char *name)
{
	char url[256];

	snprintf(url, sizeof(url), "type.googleapis.com/%s", name);
	return json_pack("{sss[s]s{s{ss}}}", "type", "object", "required", "@type", "properties",
		"@type", "const", url);
}

/* ---- resources ---- */

static json_t *wrapper_of(struct json_schema *definitions, const char *file, json_t *otherwise)
{
	const struct schema_message *message =
		schema_find_message(json_schema_source(definitions), slice_of(WRAPPER));

	if (!message)
		return otherwise;
	json_schema_add(definitions, message);
	return json_schema_if(is_typed(WRAPPER), json_schema_ref(file, WRAPPER), otherwise);
}

/* `!delete {name: x}` is a mapping of a name and nothing else, or with its type. */
static json_t *unless_deleted(const struct xds_type_row *row, json_t *resource)
{
	const char *name = row->name_label;
	json_t *text =
		json_pack("{s[sss]si}", "type", "string", "number", "boolean", "minLength", 1);
	json_t *condition =
		json_pack("{sss[{s[s]}{s[s]}]s{s[sss]}}", "type", "object", "anyOf", "required",
			"name", "required", name, "propertyNames", "enum", "name", name, "@type");
	json_t *deleted = json_pack("{s{sO}}", "properties", "name", text);

	json_object_set_new(json_object_get(deleted, "properties"), name, text);
	json_object_set_new(json_object_get(deleted, "properties"), "@type",
		json_pack("{ss}", "const", row->type_url));
	return json_schema_if(condition, deleted, resource);
}

/* One resource, a list of them, or a mapping with `resources`. */
static void put_shapes(json_t *document, json_t *defs)
{
	json_t *list = json_pack("{s[sss]sss{ss}}", "type", "array", "string", "null", "pattern",
		JSON_RULES_FILE, "items", "$ref", "#/$defs/resource");
	json_t *mapping =
		json_schema_if(json_pack("{sss[s]}", "type", "object", "required", "resources"),
			json_pack("{s{so}}", "properties", "resources", json_incref(list)),
			json_pack("{ss}", "$ref", "#/$defs/resource"));

	json_object_update_missing_new(
		document, json_schema_if(json_pack("{ss}", "type", "array"), list, mapping));
	json_object_set_new(document, "$defs", defs);
}

json_t *json_schema_file_of(
	struct json_schema *definitions, const struct xds_type_row *row, const char *file)
{
	const struct schema_message *message =
		schema_find_message(json_schema_source(definitions), slice_of(row->message));
	char title[128], text[256];
	json_t *document, *resource;

	if (!message)
		return NULL;
	snprintf(title, sizeof(title), "%s/: %s (%s)", row->folder, message->full_name, row->name);
	snprintf(text, sizeof(text),
		"A file in %s/ of a tree of xdspub: one %s, a list of them, or resources: with a "
		"list.",
		row->folder, row->noun);
	document = new_document(title, text);
	json_schema_add(definitions, message);
	resource = wrapper_of(
		definitions, file, unless_deleted(row, json_schema_ref(file, message->full_name)));
	put_shapes(document, json_pack("{so}", "resource", resource));
	return document;
}

json_t *json_schema_file_any(struct json_schema *definitions, const char *file)
{
	json_t *document = new_document("resources that say their type",
		"A file with xDS resources of any type, each with \"@type\".");
	json_t *types = json_array(), *resource;
	const struct schema_message *any =
		schema_find_message(json_schema_source(definitions), SLICE("google.protobuf.Any"));

	for (int i = 0; i < XDS_TYPE_COUNT; i++)
		json_array_append_new(types, json_string(xds_type_row((enum xds_type)i)->type_url));
	json_array_append_new(types, json_string("type.googleapis.com/" WRAPPER));
	if (any)
		json_schema_add(definitions, any);
	resource = json_pack("{s[o{s[sss]s[s]s{s{so}}}]}", "allOf",
		any ? json_schema_ref(file, any->full_name) : json_object(), "type", "object",
		"string", "null", "required", "@type", "properties", "@type", "enum", types);
	resource = wrapper_of(definitions, file, resource);
	put_shapes(document, json_pack("{so}", "resource", resource));
	return document;
}

json_t *json_schema_file_message(
	struct json_schema *definitions, const struct schema_message *message, const char *file)
{
	json_t *document = new_document(message->full_name, NULL);

	json_schema_add(definitions, message);
	json_object_update_missing_new(document, json_schema_ref(file, message->full_name));
	return document;
}

json_t *json_schema_file_defs(struct json_schema *definitions)
{
	json_t *document = new_document("the message types of the Envoy API",
		schema_label(json_schema_source(definitions)));

	json_object_set_new(document, "$defs", json_schema_take(definitions));
	return document;
}

/* ---- keys of our own files ---- */

static json_t *make_shape(const struct keys *keys, const struct key_row *row);

static json_t *make_choice(const char *choices)
{
	json_t *list = json_array();

	while (choices && *choices) {
		size_t length = strcspn(choices, " ");

		json_array_append_new(list, json_stringn(choices, length));
		choices += length + (choices[length] == ' ');
	}
	return json_pack("{so}", "enum", list);
}

/* A mapping with type folders as keys, in either spelling; takes the schema of values. */
static json_t *make_by_folder(json_t *value)
{
	json_t *names = json_object();

	for (int i = 0; i < XDS_TYPE_COUNT; i++) {
		const char *folder = xds_type_row((enum xds_type)i)->folder;
		char other[64];

		snprintf(other, sizeof(other), "%s", folder);
		for (char *at = other; *at; at++)
			if (*at == '-' || *at == '_')
				*at = *at == '-' ? '_' : '-';
		json_object_set(names, folder, value);
		json_object_set(names, other, value);
	}
	json_decref(value);
	return json_pack("{sssosbsi}", "type", "object", "properties", names,
		"additionalProperties", 0, "minProperties", 1);
}

static json_t *make_counts(void)
{
	return make_by_folder(json_pack("{sssi}", "type", "integer", "minimum", 1));
}

static json_t *make_names(void)
{
	json_t *to = make_by_folder(
		json_pack("{sss{ss}}", "type", "array", "items", "$ref", "#/$defs/condition"));

	json_object_del(to, "minProperties");
	return to;
}

/* A text that must fit, words for how, or a list: any of these. */
static json_t *make_condition(void)
{
	json_t *text = json_pack("{s[sss]}", "type", "string", "number", "boolean");
	json_t *to = json_pack("{s[sssss]s{sOsOsOsOs{ss}}sbsisis{ss}}", "type", "string", "number",
		"boolean", "object", "array", "properties", "exact", text, "prefix", text, "suffix",
		text, "contains", text, "ignore_case", "type", "boolean", "additionalProperties", 0,
		"minProperties", 1, "minItems", 1, "items", "$ref", "#/$defs/condition");

	json_decref(text);
	return to;
}

/* Keys of one's own, in mappings of any depth. */
static json_t *make_free(void)
{
	return json_pack("{s[sssss]sisis{ss}s{ss}}", "type", "string", "number", "boolean",
		"object", "array", "minProperties", 1, "minItems", 1, "items", "$ref",
		"#/$defs/free", "additionalProperties", "$ref", "#/$defs/free");
}

static json_t *make_number(const struct key_row *row)
{
	json_t *to = json_pack("{s[ss]ss}", "type", "integer", "string", "pattern", "^[0-9]+$");

	if (row->minimum || row->maximum) {
		json_object_set_new(to, "minimum", json_integer(row->minimum));
		json_object_set_new(to, "maximum", json_integer(row->maximum));
	}
	return to;
}

static json_t *make_map(const struct keys *keys, const char *parent)
{
	json_t *properties = json_object(), *patterns = json_object(), *required = json_array();
	json_t *to = json_pack("{ss}", "type", "object");
	size_t count;
	const struct key_row *rows = keys_rows(keys, &count);

	for (size_t i = 0; i < count; i++) {
		const char *name = keys_name_in(&rows[i], parent);
		char other[96];

		if (!name)
			continue;
		json_object_set_new(properties, name, make_shape(keys, &rows[i]));
		if (rows[i].is_required)
			json_array_append_new(required, json_string(name));
		if (!rows[i].other_name)
			continue;
		snprintf(other, sizeof(other), "^%s$", rows[i].other_name);
		json_object_set_new(patterns, other, make_shape(keys, &rows[i]));
	}
	json_object_set_new(patterns, "^<<$", json_object());
	json_object_set_new(to, "properties", properties);
	json_object_set_new(to, "patternProperties", patterns);
	json_object_set_new(to, "additionalProperties", json_false());
	if (json_array_size(required))
		json_object_set(to, "required", required);
	json_decref(required);
	return to;
}

static json_t *make_plain_shape(const struct keys *keys, const struct key_row *row)
{
	switch (row->shape) {
	case KEY_TEXT:
	case KEY_FOLDER:
	case KEY_PATH:
		return json_pack("{s[sss]}", "type", "string", "number", "boolean");
	case KEY_NAME:
		/* {1} and {2} stand for what a pattern finds. */
		return json_pack("{s[ss]ss}", "type", "string", "number", "pattern",
			"^([a-z0-9]|\\{[1-9]\\})([a-z0-9._-]|\\{[1-9]\\})*$");
	case KEY_ADDRESS:
		return json_pack("{ssss}", "type", "string", "pattern", "^(unix:.+|.*:[0-9]+)$");
	case KEY_BOOL:
		return json_pack("{ss}", "type", "boolean");
	case KEY_CHOICE:
		return make_choice(row->choices);
	case KEY_NUMBER:
		return make_number(row);
	case KEY_DURATION:
		return json_pack("{s[ss]sssi}", "type", "string", "integer", "pattern",
			"^(0|([0-9]+(ms|s|m|h|d))+)$", "maximum", 0);
	case KEY_SIZE:
		return json_pack("{s[ss]sssi}", "type", "string", "integer", "pattern",
			"^[0-9]+(B|kB|[KMGT]B|[KMGT]iB)?$", "minimum", 0);
	case KEY_MODE:
		return json_pack("{s[ss]sssi}", "type", "string", "integer", "pattern",
			"^[0-7]{1,5}$", "minimum", 0);
	case KEY_COUNTS:
		return make_counts();
	case KEY_NAMES:
		return make_names();
	case KEY_CONDITION:
		return json_pack("{ss}", "$ref", "#/$defs/condition");
	case KEY_NUMBERS:
		return json_pack("{s[ss]sis{ss}}", "type", "integer", "array", "minItems", 1,
			"items", "type", "integer");
	case KEY_FREE:
		return json_pack("{ss}", "$ref", "#/$defs/free");
	case KEY_MAP:
		return make_map(keys, row->path);
	case KEY_OPEN:
		return json_object();
	}
	assert(false);
	return NULL;
}

/* Nested as deep as the dots of a constant table. */
static json_t *make_shape(const struct keys *keys, const struct key_row *row)
{
	json_t *to = make_plain_shape(keys, row), *own;
	json_t *about = keys_explain_row(row);

	if (row->is_list || row->may_be_list) {
		own = to;
		to = json_pack("{sssOsi}", "type", "array", "items", own, "minItems", 1);
		if (row->may_be_list)
			to = json_pack("{s[Oo]}", "anyOf", own, to);
		json_decref(own);
	}
	if (json_object_get(about, "description"))
		json_object_set(to, "description", json_object_get(about, "description"));
	if (row->preset)
		json_object_set_new(to, "default", json_string(row->preset));
	if (row->example)
		json_object_set_new(to, "examples", json_pack("[s]", row->example));
	json_decref(about);
	return to;
}

json_t *json_schema_file_keys(const struct keys *keys)
{
	char title[96];
	json_t *document;

	snprintf(title, sizeof(title), "%s of xdspub", keys_file(keys));
	document = new_document(title, NULL);
	json_object_update_missing_new(document, make_map(keys, ""));
	json_object_set_new(document, "$defs",
		json_pack("{soso}", "condition", make_condition(), "free", make_free()));
	return document;
}
