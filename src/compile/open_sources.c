/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/open_sources.h"

#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"

/* Fields of envoy.config.core.v3.ConfigSource, and a value of ApiVersion. */
enum {
	SOURCE_SELF = 5,
	SOURCE_API_VERSION = 6,
	API_VERSION_V3 = 2
};

/* The name of a cluster, filter ... in the message around. */
#define OUTER_NAME 1

/* What the fields of the Envoy API lead to. */
struct lead {
	const char *message; /* that has the ConfigSource as a field */
	uint32_t field;
	uint8_t type;  /* enum xds_type, or SOURCE_NO_TYPE */
	uint32_t name; /* the field with the name, 0: none */
	bool is_outer; /* without one there: that of the message around */
	bool is_not_open;
};

#define HCM "envoy.extensions.filters.network.http_connection_manager.v3."

static const struct lead leads[] = {
	{"envoy.config.cluster.v3.Cluster.EdsClusterConfig", 1, XDS_EDS, 2, true, false},
	{"envoy.config.cluster.v3.Cluster", 42, SOURCE_NO_TYPE, 0, false, true},
	{"envoy.config.core.v3.ExtensionConfigSource", 1, XDS_ECDS, 0, true, false},
	{"envoy.config.route.v3.Vhds", 1, XDS_VHDS, 0, false, false},
	{"envoy.extensions.filters.http.on_demand.v3.OnDemandCds", 1, XDS_CDS, 0, false, false},
	{HCM "Rds", 1, XDS_RDS, 2, false, false},
	{HCM "ScopedRds", 1, XDS_SRDS, 0, false, false},
	{HCM "ScopedRoutes", 3, XDS_RDS, 0, false, false},
	{"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.OnDemand", 1, XDS_CDS, 0, false,
		false},
	{"envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig", 2, XDS_SDS, 1, false, false},
};

void open_sources_init(
	struct open_sources *sources, const struct schema *schema, struct arena *arena)
{
	*sources = (struct open_sources){.schema = schema,
		.arena = arena,
		.type = schema_find_message(schema, SLICE(OPEN_SOURCES_MESSAGE))};
}

void open_sources_fini(struct open_sources *sources)
{
	free(sources->found);
	free(sources->places);
	free(sources->trace.spans);
}

static const struct lead *find_lead(const struct schema_field *field)
{
	for (size_t i = 0; i < sizeof(leads) / sizeof(*leads); i++)
		if (leads[i].field == field->number &&
			strcmp(leads[i].message, field->parent->full_name) == 0)
			return &leads[i];
	return NULL;
}

/* One message on the way down. */
struct step {
	const struct step *outer;
	const struct message *message;
};

static struct slice name_of(const struct lead *lead, const struct step *step)
{
	struct slice name = SLICE("");
	const struct message_field *entry;

	if (lead->name)
		name = message_get_bytes(step->message, lead->name);
	if (name.length == 0 && lead->is_outer && step->outer) {
		entry = message_find(step->outer->message, OUTER_NAME);
		if (entry && entry->field->type == SCHEMA_STRING && !entry->field->is_repeated)
			name = entry->one.bytes;
	}
	return name;
}

static bool has_specifier(const struct message *source)
{
	const struct schema_field *self = schema_field_by_number(source->type, SOURCE_SELF);

	for (uint32_t i = 0; i < source->fields_count; i++) {
		const struct schema_field *field = source->fields[i].field;

		if (self && field != self && field->oneof && field->oneof == self->oneof)
			return true;
	}
	return false;
}

/* False: the arena is full, or the schema's ConfigSource is another one than Envoy's. */
static bool unify(struct open_sources *sources, struct message *source)
{
	const struct schema_field *self = schema_field_by_number(source->type, SOURCE_SELF);
	const struct schema_field *version =
		schema_field_by_number(source->type, SOURCE_API_VERSION);
	struct message_field *entry;

	if (!self || !self->message || !version || version->type != SCHEMA_ENUM)
		return false;
	entry = message_set(sources->arena, source, self);
	if (!entry)
		return false;
	if (!entry->at.line)
		entry->at = source->at;
	entry->one.message = message_new(sources->arena, self->message);
	if (!entry->one.message)
		return false;
	entry->one.message->at = entry->at;
	entry = message_set(sources->arena, source, version);
	if (!entry)
		return false;
	if (entry->one.int32 == 0)
		entry->one.int32 = API_VERSION_V3;
	return true;
}

static void look_at(struct open_sources *sources, const struct step *step,
	const struct schema_field *field, struct message *source)
{
	const struct lead *lead = find_lead(field);
	struct open_place place = {.type = SOURCE_NO_TYPE, .name = SLICE("")};

	if ((lead && lead->is_not_open) || has_specifier(source) || !unify(sources, source))
		return;
	if (lead) {
		place.type = lead->type;
		place.name = name_of(lead, step);
	}
	array_reserve(sources->found, sources->found_capacity, sources->count + 1);
	array_reserve(sources->places, sources->places_capacity, sources->count + 1);
	sources->found[sources->count] = source;
	sources->places[sources->count++] = place;
}

/* Nothing in these can be a ConfigSource, and a Struct can be large. */
static bool is_plain(const struct schema_message *type)
{
	return type->well_known != SCHEMA_ORDINARY && type->well_known != SCHEMA_ANY;
}

/* Recursive: readers limit the depth of messages. */
static void walk(struct open_sources *sources, struct message *message, const struct step *outer,
	unsigned depth)
{
	const struct step step = {outer, message};

	if (is_plain(message->type) || depth > LIMIT_DEPTH)
		return;
	for (uint32_t i = 0; i < message->fields_count; i++) {
		const struct message_field *entry = &message->fields[i];
		const struct schema_field *field = entry->field;
		const union message_value *items = &entry->one;
		union message_value *copy = NULL;

		if (!field->message)
			continue;
		if (field->is_repeated)
			items = message_items_in_order(entry, &copy);
		for (uint32_t k = 0; k < entry->count; k++) {
			if (field->message == sources->type)
				look_at(sources, &step, field, items[k].message);
			else
				walk(sources, items[k].message, &step, depth + 1);
		}
		free(copy);
	}
	if (message->any_content)
		walk(sources, message->any_content, outer, depth + 1);
}

void open_sources_find(struct open_sources *sources, struct message *message)
{
	sources->count = 0;
	if (sources->type)
		walk(sources, message, NULL, 0);
}

void open_sources_write(struct open_sources *sources, struct message *message, struct buf *out,
	struct open_body **ret_open)
{
	struct wire_trace *trace = &sources->trace;
	struct open_builder builder = {0};

	*ret_open = NULL;
	if (sources->count == 0) {
		wire_write(message, out);
		return;
	}
	trace->targets = sources->found;
	trace->targets_count = sources->count;
	trace->count = 0;
	wire_write_traced(message, out, trace);
	if (buf_error(out))
		return;
	for (size_t i = 0; i < sources->count; i++)
		open_builder_place(&builder, sources->places[i]);
	for (size_t i = 0; i < trace->count; i++) {
		const struct wire_span *span = &trace->spans[i];

		open_builder_mark(&builder, (struct open_mark){span->at, span->start, span->end,
						    span->outer, span->target});
	}
	*ret_open = open_builder_finish(&builder);
}
