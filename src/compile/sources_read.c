/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/sources_read.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "compile/open_sources.h"
#include "validate/validate.h"

/* Fields and values of envoy.config.core.v3.ConfigSource and ApiConfigSource. */
enum {
	SOURCE_API = 2,
	SOURCE_SELF = 5,
	SOURCE_API_VERSION = 6,
	API_TYPE = 1,
	API_CLUSTER_NAMES = 2,
	API_REFRESH_DELAY = 3,
	API_GRPC_SERVICES = 4,
	API_TRANSPORT_VERSION = 8,
	API_REST = 1,
	API_GRPC = 2,
	API_DELTA_GRPC = 3,
	API_VERSION_V3 = 2
};

/* The keys, and the transports that each is for. */
static const struct {
	const char *name;
	enum source_transport first, last;
} keys[] = {
	{"files", SOURCE_FILES, SOURCE_FILES},
	{"rest", SOURCE_REST, SOURCE_REST},
	{"ads", SOURCE_ADS, SOURCE_ADS},
	{"grpc", SOURCE_GRPC, SOURCE_DELTA_GRPC},
};
#define KEYS (sizeof(keys) / sizeof(*keys))

struct sources_reader {
	const struct bind_options *bind;
	struct arena *arena;
	struct diag_list *diags;
	const struct schema_message *type; /* ConfigSource */
	struct validator *validator;
	bool is_failed;
};

#define FAIL(reader, at, rule, ...)                                                                \
	do {                                                                                       \
		diag_error((reader)->diags, (reader)->bind->path, (at), (rule), __VA_ARGS__);      \
		(reader)->is_failed = true;                                                        \
	} while (0)

/* Sets a field that is an enum where it says nothing. */
static void set_enum(
	struct sources_reader *reader, struct message *message, uint32_t number, int32_t value)
{
	const struct schema_field *field = schema_field_by_number(message->type, number);
	struct message_field *entry = field && field->type == SCHEMA_ENUM && !field->is_repeated
					      ? message_set(reader->arena, message, field)
					      : NULL;

	if (!entry)
		return;
	if (!entry->at.line)
		entry->at = message->at;
	entry->one.int32 = value;
}

static int32_t get_enum(const struct message *message, uint32_t number)
{
	const struct message_field *entry = message_find(message, number);

	return entry && entry->field->type == SCHEMA_ENUM ? entry->one.int32 : 0;
}

static int32_t api_type_for(enum source_transport transport, int type)
{
	switch (transport) {
	case SOURCE_REST:
		return API_REST;
	case SOURCE_GRPC:
		/* There is no other kind of stream. */
		if (type < XDS_TYPE_COUNT && xds_type_row((enum xds_type)type)->is_delta_only)
			return API_DELTA_GRPC;
		return API_GRPC;
	case SOURCE_DELTA_GRPC:
		return API_DELTA_GRPC;
	case SOURCE_FILES:
	case SOURCE_ADS:
		break;
	}
	return 0;
}

/* What a person wrote, before transports fill in what they know. */
struct literal {
	struct message *source;
	struct message *api; /* of it; NULL: none */
	bool has_api_type;
};

static bool has_specifier(const struct message *source)
{
	for (uint32_t i = 0; i < source->fields_count; i++)
		if (source->fields[i].field->oneof)
			return true;
	return false;
}

static bool read_literal(
	struct sources_reader *reader, const struct node *node, struct literal *ret_literal)
{
	struct literal literal = {0};
	struct message_field *api;

	if (bind_message(reader->bind, reader->type, node, reader->arena, reader->diags,
		    &literal.source)) {
		reader->is_failed = true;
		return false;
	}
	if (!has_specifier(literal.source)) {
		FAIL(reader, node->at, "bad-config-source",
			"this says not where to go: api_config_source, ads, path_config_source, or "
			"self if it is to be left to the client");
		return false;
	}
	api = message_find_mutable(literal.source, SOURCE_API);
	if (api && api->field->message) {
		literal.api = api->one.message;
		literal.has_api_type = get_enum(literal.api, API_TYPE) != 0;
		if (get_enum(literal.api, API_TRANSPORT_VERSION) == 0)
			set_enum(reader, literal.api, API_TRANSPORT_VERSION, API_VERSION_V3);
	}
	if (get_enum(literal.source, SOURCE_API_VERSION) == 0)
		set_enum(reader, literal.source, SOURCE_API_VERSION, API_VERSION_V3);
	*ret_literal = literal;
	return true;
}

/* The literal for one transport and type, encoded. data NULL after an error. */
static struct slice encode(struct sources_reader *reader, const struct literal *literal,
	enum source_transport transport, int type)
{
	struct slice encoded = {NULL, 0};
	struct buf out = BUF_INIT;

	if (literal->api && !literal->has_api_type)
		set_enum(reader, literal->api, API_TYPE, api_type_for(transport, type));
	wire_write(literal->source, &out);
	if (!buf_error(&out))
		encoded = arena_copy(reader->arena, out.data, out.length);
	if (!encoded.data)
		FAIL(reader, literal->source->at, "too-large", "this config source is too large");
	buf_fini(&out);
	return encoded;
}

/* What Envoy finds out when the source is first used. */
static bool check_api(struct sources_reader *reader, const struct message *api)
{
	const struct message_field *clusters = message_find(api, API_CLUSTER_NAMES);
	const struct message_field *services = message_find(api, API_GRPC_SERVICES);
	const struct message *delay = message_get_message(api, API_REFRESH_DELAY);
	const char *problem = NULL;

	switch (get_enum(api, API_TYPE)) {
	case 0:
		problem = "needs an api_type here: REST, GRPC or DELTA_GRPC";
		break;
	case API_REST:
		if (!clusters || clusters->count != 1)
			problem = "of type REST needs cluster_names with one name, that of the "
				  "cluster of the client's bootstrap that leads here";
		else if (!delay || delay->fields_count == 0)
			problem = "of type REST needs a refresh_delay, such as 0.5s";
		break;
	case API_GRPC:
	case API_DELTA_GRPC:
		if (!services || services->count == 0)
			problem = "of type GRPC needs grpc_services, such as [{envoy_grpc: "
				  "{cluster_name: xds}}]";
		else if (clusters && clusters->count)
			problem = "of type GRPC must have no cluster_names, but grpc_services";
		break;
	}
	if (problem)
		FAIL(reader, api->at, "bad-config-source", "api_config_source %s", problem);
	return problem == NULL;
}

/* In the form that it is sent in for one transport; those of others differ by api_type. */
static void check_literal(struct sources_reader *reader, const struct literal *literal, size_t key)
{
	if (literal->api && !literal->has_api_type)
		set_enum(reader, literal->api, API_TYPE, api_type_for(keys[key].first, XDS_CDS));
	if ((!literal->api || check_api(reader, literal->api)) &&
		validator_check(
			reader->validator, literal->source, reader->bind->path, reader->diags))
		reader->is_failed = true;
}

/* For the types that are bits of `types`. */
static void set_literal(struct sources_reader *reader, size_t key, const struct node *node,
	unsigned types, struct sources_choice *choice)
{
	struct literal literal;

	if (!read_literal(reader, node, &literal))
		return;
	check_literal(reader, &literal, key);
	for (int transport = keys[key].first; transport <= (int)keys[key].last; transport++) {
		for (int type = 0; type < SOURCE_TYPES; type++) {
			struct slice encoded;

			if (!(types & 1u << type))
				continue;
			encoded = encode(reader, &literal, (enum source_transport)transport, type);
			if (!encoded.data)
				return;
			choice->table[transport][type] = encoded;
			choice->said[transport] |= (uint16_t)(1u << type);
		}
	}
}

/* Types that what is said about all of them is for. */
static unsigned general_types(size_t key)
{
	unsigned types = (1u << SOURCE_TYPES) - 1;

	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		if (keys[key].first == SOURCE_REST && !xds_type_row((enum xds_type)type)->rest_path)
			types &= ~(1u << type);
	return types;
}

static void read_transport(struct sources_reader *reader, size_t key, const struct node *node,
	struct sources_choice *choice)
{
	struct node *general;

	if (node->kind != NODE_MAP || node->pairs_count == 0) {
		FAIL(reader, node->at, "bad-config-source",
			"config_sources.%s is a config source such as {%s}, or a mapping of types "
			"(EDS, SDS ...) and config sources, or both in one",
			keys[key].name,
			keys[key].first == SOURCE_FILES || keys[key].first == SOURCE_ADS
				? "ads: {}"
				: "api_config_source: ...");
		return;
	}
	general = arena_zalloc(reader->arena, sizeof(*general));
	if (general) {
		*general = *node;
		general->pairs =
			arena_alloc(reader->arena, node->pairs_count * sizeof(*general->pairs));
		general->pairs_count = 0;
	}
	if (!general || !general->pairs) {
		FAIL(reader, node->at, "too-large", "groups.yaml needs too much memory");
		return;
	}
	for (size_t i = 0; i < node->pairs_count; i++)
		if (!xds_type_by_name(node->pairs[i].key))
			general->pairs[general->pairs_count++] = node->pairs[i];
	if (general->pairs_count)
		set_literal(reader, key, general, general_types(key), choice);
	for (size_t i = 0; i < node->pairs_count; i++) {
		const struct xds_type_row *row = xds_type_by_name(node->pairs[i].key);

		if (row)
			set_literal(reader, key, node->pairs[i].value, 1u << row->type, choice);
	}
}

static void fail_key(struct sources_reader *reader, const struct node_pair *pair)
{
	struct suggestion suggestion;
	struct buf shown = BUF_INIT;
	char phrase[256];

	suggestion_init(&suggestion, pair->key);
	for (size_t i = 0; i < KEYS; i++)
		suggestion_offer(&suggestion, keys[i].name);
	text_quote(&shown, pair->key, 64);
	FAIL(reader, pair->key_at, "unknown-key",
		"unknown key \"%s\" in config_sources: files, rest, ads and grpc are known%s",
		buf_cstr(&shown), suggestion_phrase(&suggestion, phrase));
	buf_fini(&shown);
}

bool sources_read(const struct bind_options *bind, const struct node *node, struct arena *arena,
	struct diag_list *diags, struct sources_choice *choice)
{
	struct sources_reader reader = {.bind = bind,
		.arena = arena,
		.diags = diags,
		.type = schema_find_message(bind->schema, SLICE(OPEN_SOURCES_MESSAGE))};
	source_table preset;

	if (node->kind != NODE_MAP) {
		FAIL(&reader, node->at, "bad-config-source",
			"config_sources is a mapping of transports (files, rest, ads, grpc) and "
			"what stands in open config sources there");
		return false;
	}
	if (!reader.type) {
		FAIL(&reader, node->at, "not-in-schema",
			OPEN_SOURCES_MESSAGE " is not part of the schema (%s)",
			schema_label(bind->schema));
		return false;
	}
	config_sources_preset(preset);
	reader.validator = validator_new(bind->schema);
	for (size_t i = 0; i < node->pairs_count; i++) {
		const struct node_pair *pair = &node->pairs[i];
		size_t key = 0;

		while (key < KEYS && !slice_is(pair->key, keys[key].name))
			key++;
		if (key == KEYS) {
			fail_key(&reader, pair);
			continue;
		}
		for (int transport = keys[key].first; transport <= (int)keys[key].last;
			transport++) {
			memcpy(choice->table[transport], preset[transport],
				sizeof(preset[transport]));
			choice->said[transport] = 0;
		}
		read_transport(&reader, key, pair->value, choice);
	}
	validator_free(reader.validator);
	return !reader.is_failed;
}
