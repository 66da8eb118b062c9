/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a schema is wider than xdspub: names of fields in an Any of an unknown type; any text that
 * ends like a file's name in place of a mapping or list (`!include`); "@type" where a mapping is
 * one of a known type; what lies in a gap between two limits; lengths of bytes; rules of RE2 that
 * ECMAScript has no words for; null for unset. All else that it accepts xdspub accepts.
 */
#include "author/json_schema.h"

#include <stdlib.h>

#include "author/json_rules.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"

#define TYPE_HOST  "type.googleapis.com/"
#define MERGE_KEY  "<<"
#define GROUP_DOTS 4 /* parts of a package that make a group of types in an Any */

struct json_schema {
	const struct explain_from *from;
	json_t *defs;
	const struct schema_message **queue; /* all that were asked for, in turn */
	size_t count, capacity;
	struct hash asked;  /* by full name */
	struct hash groups; /* prefix of packages to its json array of rules; keys in the schema */
};

struct json_schema *json_schema_new(const struct explain_from *from)
{
	struct json_schema *definitions = xcalloc(1, sizeof(*definitions));

	definitions->from = from;
	definitions->defs = json_object();
	hash_init(&definitions->asked);
	hash_init(&definitions->groups);
	return definitions;
}

void json_schema_free(struct json_schema *definitions)
{
	if (!definitions)
		return;
	json_decref(definitions->defs);
	free(definitions->queue);
	hash_fini(&definitions->asked);
	hash_fini(&definitions->groups);
	free(definitions);
}

const struct schema *json_schema_source(const struct json_schema *definitions)
{
	return definitions->from->schema;
}

void json_schema_add(struct json_schema *definitions, const struct schema_message *message)
{
	struct slice key = slice_of(message->full_name);

	if (hash_get(&definitions->asked, key))
		return;
	hash_put(&definitions->asked, key, definitions);
	array_reserve(definitions->queue, definitions->capacity, definitions->count + 1);
	definitions->queue[definitions->count++] = message;
}

json_t *json_schema_ref(const char *file, const char *name)
{
	struct buf text = BUF_INIT;
	json_t *ref;

	buf_printf(&text, "%s#/$defs/%s", file, name);
	ref = json_pack("{ss}", "$ref", buf_cstr(&text));
	buf_fini(&text);
	return ref;
}

json_t *json_schema_if(json_t *condition, json_t *then, json_t *otherwise)
{
	return json_pack("{so so* so*}", "if", condition, "then", then, "else", otherwise);
}

/* ---- values ---- */

static json_t *message_value(struct json_schema *definitions, const struct schema_message *message,
	const struct field_rules *rules)
{
	switch (message->well_known) {
	case SCHEMA_DURATION:
		return json_rules_duration(rules);
	case SCHEMA_TIMESTAMP:
		return json_pack("{s[ss]ss}", "type", "string", "null", "format", "date-time");
	case SCHEMA_FIELD_MASK:
		return json_pack("{s[ss]}", "type", "string", "null");
	case SCHEMA_STRUCT:
		return json_pack("{s[sss]}", "type", "object", "string", "null");
	case SCHEMA_LIST_VALUE:
		return json_pack("{s[sss]}", "type", "array", "string", "null");
	case SCHEMA_VALUE:
		return json_object();
	case SCHEMA_WRAPPER:
		return json_rules_scalar(&message->fields[0], rules);
	case SCHEMA_EMPTY:
		return json_pack("{s[ss]sb}", "type", "object", "null", "additionalProperties", 0);
	case SCHEMA_ANY:
	case SCHEMA_ORDINARY:
		break;
	}
	json_schema_add(definitions, message);
	return json_schema_ref("", message->full_name);
}

static json_t *one_value(struct json_schema *definitions, const struct schema_field *field,
	const struct field_rules *rules)
{
	return field->message ? message_value(definitions, field->message, rules)
			      : json_rules_scalar(field, rules);
}

/* A mapping or a list, or the name of the file that holds it. */
static json_t *container(const char *type)
{
	return json_pack("{s[sss]ss}", "type", type, "string", "null", "pattern", JSON_RULES_FILE);
}

static json_t *map_value(struct json_schema *definitions, const struct schema_field *field,
	const struct field_rules *rules)
{
	const struct schema_message *entry = field->message;
	json_t *to = container("object");
	json_t *keys = json_rules_keys(&entry->fields[0], rules ? rules->keys : NULL);

	json_object_set_new(to, "additionalProperties",
		one_value(definitions, &entry->fields[1], rules ? rules->items : NULL));
	if (keys)
		json_object_set_new(to, "propertyNames", keys);
	return to;
}

/* ---- what goes into an Any ---- */

/* The names of the types that fit, to be offered; others are as good. */
static json_t *offered_types(struct json_schema *definitions, const struct schema_field *field)
{
	struct names *names = definitions->from->names;
	const struct names_extension *fitting;
	struct buf categories = BUF_INIT, url = BUF_INIT;
	json_t *list = json_array(), *offered = NULL;
	size_t count = 0;

	names_categories(names, field, NULL, &categories);
	fitting = names_fitting(names, buf_slice(&categories), &count);
	for (size_t i = 0; i < count; i++) {
		buf_reset(&url);
		buf_printf(&url, TYPE_HOST "%s", fitting[i].message->full_name);
		json_array_append_new(list, json_string(buf_cstr(&url)));
	}
	if (count)
		offered = json_pack("{s{s{s[{sO}{ss}]}}}", "properties", "@type", "anyOf", "enum",
			list, "type", "string");
	json_decref(list);
	buf_fini(&categories);
	buf_fini(&url);
	return offered;
}

/* The field of a message that is an Any called typed_config, or NULL. */
static const struct schema_field *inner_any(const struct schema_message *message)
{
	const struct schema_field *field =
		message ? schema_field_by_name(message, SLICE("typed_config")) : NULL;

	return field && field->message && field->message->well_known == SCHEMA_ANY ? field : NULL;
}

/* Beside a reference to a message: what may be in the Any in it is known from the outer field. */
static void put_offered(
	struct json_schema *definitions, const struct schema_field *field, json_t *value)
{
	const struct schema_message *message = path_message_of(field);
	const struct schema_field *inner = inner_any(message);
	json_t *offered = NULL;

	if (message && (message->well_known == SCHEMA_ANY || inner))
		offered = offered_types(definitions, field);
	if (offered && inner)
		offered = json_pack("{s{so}}", "properties", inner->name, offered);
	if (offered)
		json_object_update_missing(value, offered);
	json_decref(offered);
}

/* ---- fields ---- */

static void put_description(
	struct json_schema *definitions, const struct schema_field *field, json_t *to)
{
	json_t *about = explain_field(definitions->from, field), *rule;
	const char *comment = json_string_value(json_object_get(about, "description"));
	const char *preset = json_string_value(json_object_get(about, "default"));
	struct buf text = BUF_INIT;
	size_t i;

	if (comment)
		buf_puts(&text, comment);
	json_array_foreach(json_object_get(about, "rules"), i, rule)
	{
		buf_printf(&text, "%s%s", text.length ? (i ? "\n" : "\n\n") : "",
			json_string_value(json_object_get(rule, "text")));
	}
	if (preset && field->type == SCHEMA_ENUM)
		buf_printf(&text, "%sDefault: %s", text.length ? "\n\n" : "", preset);
	if (text.length)
		json_object_set_new(to, "description", json_string(buf_cstr(&text)));
	if (json_is_true(json_object_get(about, "deprecated"))) {
		const char *at = json_string_value(json_object_get(about, "deprecated_at"));

		json_object_set_new(to, "deprecated", json_true());
		buf_reset(&text);
		buf_printf(&text, "deprecated in the Envoy API%s%s", at ? " of version " : "",
			at ? at : "");
		json_object_set_new(to, "deprecationMessage", json_string(buf_cstr(&text)));
	}
	buf_fini(&text);
	json_decref(about);
}

static json_t *make_field(struct json_schema *definitions, const struct schema_field *field)
{
	const struct field_rules *rules = rules_of_field(definitions->from->book, field);
	json_t *to, *item;

	if (field->is_map) {
		to = map_value(definitions, field, rules);
		item = json_object_get(to, "additionalProperties");
	} else if (field->is_repeated) {
		to = container("array");
		item = one_value(definitions, field, rules ? rules->items : NULL);
		json_object_set_new(to, "items", item);
	} else {
		item = to = one_value(definitions, field, rules);
	}
	put_offered(definitions, field, item);
	if (rules && field->is_repeated)
		json_rules_counts(rules, to);
	put_description(definitions, field, to);
	return to;
}

/* The other spelling, which is accepted and not offered. */
static void put_spelling(
	const struct schema_message *message, const struct schema_field *field, json_t *patterns)
{
	struct buf name = BUF_INIT, ref = BUF_INIT;

	if (strcmp(field->name, field->json_name) == 0 || field->has_odd_json_name)
		return;
	buf_printf(&name, "^%s$", field->json_name);
	buf_printf(&ref, "#/$defs/%s/properties/%s", message->full_name, field->name);
	json_object_set_new(patterns, buf_cstr(&name), json_pack("{ss}", "$ref", buf_cstr(&ref)));
	buf_fini(&name);
	buf_fini(&ref);
}

/* ---- what must be there, and what not together ---- */

static void add_required(json_t *list, const char *name)
{
	json_array_append_new(list, json_pack("{s[s]}", "required", name));
}

static void add_names(json_t *list, const struct schema_field *field)
{
	add_required(list, field->name);
	if (strcmp(field->name, field->json_name) != 0 && !field->has_odd_json_name)
		add_required(list, field->json_name);
}

static bool is_required(const struct message_rules *rules, const struct schema_oneof *oneof)
{
	/* One that says nothing is open: see compile/open_sources.h. */
	if (strcmp(oneof->parent->full_name, "envoy.config.core.v3.ConfigSource") == 0)
		return false;
	for (uint32_t i = 0; rules && i < rules->required_count; i++)
		if (rules->required[i] == oneof)
			return true;
	return false;
}

/* Exactly one of the names, or at most one. */
static json_t *make_oneof(const struct schema_oneof *oneof, bool must_be_set)
{
	json_t *one = json_array();

	for (uint32_t i = 0; i < oneof->fields_count; i++)
		add_names(one, oneof->fields[i]);
	if (!must_be_set)
		json_array_append_new(
			one, json_pack("{s{so}}", "not", "anyOf", json_deep_copy(one)));
	return json_pack("{so}", "oneOf", one);
}

static void put_needs(
	struct json_schema *definitions, const struct schema_message *message, json_t *to)
{
	const struct message_rules *rules = rules_of(definitions->from->book, message);
	json_t *needs = json_array();

	for (uint32_t i = 0; i < message->oneofs_count; i++) {
		bool must_be_set = is_required(rules, &message->oneofs[i]);

		if (must_be_set || message->oneofs[i].fields_count > 1)
			json_array_append_new(needs, make_oneof(&message->oneofs[i], must_be_set));
	}
	for (uint32_t i = 0; rules && !rules->is_disabled && i < rules->fields_count; i++) {
		const struct schema_field *field = rules->fields[i].field;
		json_t *names;

		if (!json_rules_must_be_set(field, &rules->fields[i]))
			continue;
		names = json_array();
		add_names(names, field);
		json_array_append_new(needs, json_array_size(names) == 1
						     ? json_incref(json_array_get(names, 0))
						     : json_pack("{sO}", "anyOf", names));
		json_decref(names);
	}
	/* Not for the name of a file, and not for what merges something in. */
	if (json_array_size(needs))
		json_object_update_missing_new(
			to, json_schema_if(json_pack("{sss{s[s]}}", "type", "object", "not",
						   "required", MERGE_KEY),
				    json_pack("{sO}", "allOf", needs), NULL));
	json_decref(needs);
}

/* ---- messages ---- */

static bool may_be_in_any(const struct schema_message *message)
{
	static const char *const others[] = {"google.protobuf.", "validate.", "udpa.annotations.",
		"xds.annotations.", "xdspub.", "envoy.admin.", "envoy.service.", "google.api.",
		"envoy.annotations."};
	const char *name = message->full_name;

	if (message->is_map_entry || message->well_known == SCHEMA_ANY)
		return false;
	if (message->well_known != SCHEMA_ORDINARY)
		return true;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strncmp(name, others[i], strlen(others[i])) == 0)
			return false;
	return true;
}

static bool is_nested(const struct schema *schema, const struct schema_message *message)
{
	const char *dot = strrchr(message->full_name, '.');

	return dot && schema_find_message(schema, (struct slice){message->full_name,
							  (size_t)(dot - message->full_name)});
}

static json_t *make_message(struct json_schema *definitions, const struct schema_message *message)
{
	json_t *to = container("object"), *properties = json_object(), *patterns = json_object();
	struct buf url = BUF_INIT;

	explain_comment(to, comments_find(definitions->from->comments, message->full_name, NULL));
	json_object_del(to, "not_implemented");
	for (uint32_t i = 0; i < message->fields_count; i++) {
		json_object_set_new(properties, message->fields[i].name,
			make_field(definitions, &message->fields[i]));
		put_spelling(message, &message->fields[i], patterns);
	}
	if (!is_nested(definitions->from->schema, message)) {
		buf_printf(&url, TYPE_HOST "%s", message->full_name);
		json_object_set_new(
			patterns, "^@type$", json_pack("{ss}", "const", buf_cstr(&url)));
	}
	json_object_set_new(patterns, "^" MERGE_KEY "$", json_object());
	json_object_set_new(to, "properties", properties);
	json_object_set_new(to, "patternProperties", patterns);
	json_object_set_new(to, "additionalProperties", json_false());
	put_needs(definitions, message, to);
	buf_fini(&url);
	return to;
}

/* ---- Any ---- */

/* The first parts of a full name, with a dot behind: types in an Any are looked up in two steps. */
static struct slice group_of(const char *full_name)
{
	size_t length = 0, dots = 0;

	for (size_t i = 0; full_name[i]; i++) {
		if (full_name[i] != '.')
			continue;
		length = i + 1;
		if (++dots == GROUP_DOTS)
			break;
	}
	return (struct slice){full_name, length};
}

/* {"@type": .., "value": ..}: what JSON has a form of its own for. */
static json_t *special_in_any(struct json_schema *definitions, const struct schema_message *message)
{
	if (message->well_known == SCHEMA_EMPTY)
		return json_object();
	return json_pack("{s{so}s[s]}", "properties", "value",
		message_value(definitions, message, NULL), "required", "value");
}

static void add_to_group(struct json_schema *definitions, const struct schema_message *message)
{
	struct slice key = group_of(message->full_name);
	json_t *rules = hash_get(&definitions->groups, key);
	struct buf url = BUF_INIT;
	json_t *then;

	buf_printf(&url, TYPE_HOST "%s", message->full_name);
	if (!rules) {
		struct buf name = BUF_INIT;

		rules = json_array();
		hash_put(&definitions->groups, key, rules);
		buf_printf(&name, "any:%.*s", SLICE_ARG(key));
		json_object_set_new(
			definitions->defs, buf_cstr(&name), json_pack("{so}", "allOf", rules));
		buf_fini(&name);
	}
	if (message->well_known == SCHEMA_ORDINARY) {
		json_schema_add(definitions, message);
		then = json_schema_ref("", message->full_name);
	} else {
		then = special_in_any(definitions, message);
	}
	json_array_append_new(rules, json_schema_if(json_pack("{s{s{ss}}}", "properties", "@type",
							    "const", buf_cstr(&url)),
					     then, NULL));
	buf_fini(&url);
}

static void put_group(struct slice prefix, json_t *rules)
{
	struct buf pattern = BUF_INIT, name = BUF_INIT;

	buf_puts(&pattern, "^type\\.googleapis\\.com/");
	for (size_t i = 0; i < prefix.length; i++)
		buf_printf(&pattern, prefix.data[i] == '.' ? "\\." : "%c", prefix.data[i]);
	buf_printf(&name, "any:%.*s", SLICE_ARG(prefix));
	json_array_append_new(rules,
		json_schema_if(json_pack("{sss[s]s{s{ss}}}", "type", "object", "required", "@type",
				       "properties", "@type", "pattern", buf_cstr(&pattern)),
			json_schema_ref("", buf_cstr(&name)), NULL));
	buf_fini(&pattern);
	buf_fini(&name);
}

static json_t *make_any(struct json_schema *definitions)
{
	json_t *rules = json_array(), *to;
	size_t count;
	const struct schema_message *const *all =
		schema_messages(definitions->from->schema, &count);
	struct slice last = {NULL, 0};

	for (size_t i = 0; i < count; i++) {
		struct slice group = group_of(all[i]->full_name);

		if (!may_be_in_any(all[i]) || is_nested(definitions->from->schema, all[i]))
			continue;
		add_to_group(definitions, all[i]);
		/* They come by name: those of a group follow each other. */
		if (!slice_equal(group, last))
			put_group(group, rules);
		last = group;
	}
	to = container("object");
	json_object_set_new(to, "description",
		json_string("A message of any type: \"@type\" says which, and its fields follow."));
	json_object_set_new(to, "properties",
		json_pack("{s{ssss}}", "@type", "type", "string", "pattern", "/.+"));
	/* {} is an Any that holds nothing. */
	json_object_update_missing_new(
		to, json_schema_if(json_pack("{sssis{s[s]}}", "type", "object", "minProperties", 1,
					   "not", "required", MERGE_KEY),
			    json_pack("{s[s]}", "required", "@type"), NULL));
	json_object_set_new(to, "allOf", rules);
	return to;
}

json_t *json_schema_take(struct json_schema *definitions)
{
	/* Making one asks for more. */
	for (size_t i = 0; i < definitions->count; i++) {
		const struct schema_message *message = definitions->queue[i];
		json_t *made = message->well_known == SCHEMA_ANY
				       ? make_any(definitions)
				       : make_message(definitions, message);

		json_object_set_new(definitions->defs, message->full_name, made);
	}
	return json_incref(definitions->defs);
}
