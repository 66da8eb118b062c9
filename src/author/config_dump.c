/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/config_dump.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "message/bind.h"

#define ADMIN	  "envoy.admin.v3."
#define BOOTSTRAP "envoy.config.bootstrap.v3.Bootstrap"
#define REDACTED  "[redacted]"

/* Where resources are. */
static const struct dump_place {
	const char *config; /* the message in `configs`, without its package */
	const char *list;
	const char *holder; /* a key of the list's items; NULL: the item itself */
	const char *any;    /* the key of the resource, or of a list of them */
	enum config_dump_state state;
	bool is_static;
} places[] = {
	{"ClustersConfigDump", "static_clusters", NULL, "cluster", CONFIG_DUMP_ACTIVE, true},
	{"ClustersConfigDump", "dynamic_active_clusters", NULL, "cluster", CONFIG_DUMP_ACTIVE,
		false},
	{"ClustersConfigDump", "dynamic_warming_clusters", NULL, "cluster", CONFIG_DUMP_WARMING,
		false},
	{"EcdsConfigDump", "ecds_filters", NULL, "ecds_filter", CONFIG_DUMP_ACTIVE, false},
	{"EndpointsConfigDump", "static_endpoint_configs", NULL, "endpoint_config",
		CONFIG_DUMP_ACTIVE, false},
	{"EndpointsConfigDump", "dynamic_endpoint_configs", NULL, "endpoint_config",
		CONFIG_DUMP_ACTIVE, false},
	{"ListenersConfigDump", "static_listeners", NULL, "listener", CONFIG_DUMP_ACTIVE, true},
	{"ListenersConfigDump", "dynamic_listeners", "active_state", "listener", CONFIG_DUMP_ACTIVE,
		false},
	{"ListenersConfigDump", "dynamic_listeners", "warming_state", "listener",
		CONFIG_DUMP_WARMING, false},
	{"ListenersConfigDump", "dynamic_listeners", "draining_state", "listener",
		CONFIG_DUMP_DRAINING, false},
	{"RoutesConfigDump", "dynamic_route_configs", NULL, "route_config", CONFIG_DUMP_ACTIVE,
		false},
	{"ScopedRoutesConfigDump", "dynamic_scoped_route_configs", NULL, "scoped_route_configs",
		CONFIG_DUMP_ACTIVE, false},
	{"SecretsConfigDump", "static_secrets", NULL, "secret", CONFIG_DUMP_ACTIVE, true},
	{"SecretsConfigDump", "dynamic_active_secrets", NULL, "secret", CONFIG_DUMP_ACTIVE, false},
	{"SecretsConfigDump", "dynamic_warming_secrets", NULL, "secret", CONFIG_DUMP_WARMING,
		false},
};
#define PLACES (sizeof(places) / sizeof(*places))

struct dump_reader {
	const struct config_dump_options *options;
	struct bind_options bind;
	struct arena *arena;
	struct diag_list *diags;
	struct config_dump *dump;
	bool is_bad;
};

/* --- what Envoy adds --------------------------------------------------------------------- */

static struct message_field *find(struct message *message, const char *name)
{
	const struct schema_field *field = schema_field_by_name(message->type, slice_of(name));

	return field ? message_find_mutable(message, field->number) : NULL;
}

static void clear(struct message *message, const char *name)
{
	const struct schema_field *field = schema_field_by_name(message->type, slice_of(name));

	if (field)
		message_clear(message, field);
}

static void clear_if_empty(struct message *message, const char *name)
{
	const struct message_field *field = find(message, name);

	if (field && field->one.message->fields_count == 0 && !field->one.message->unknown.length)
		clear(message, name);
}

/* A wrapped number of that value. */
static void clear_if_number(struct message *message, const char *name, uint32_t value)
{
	const struct message_field *field = find(message, name);
	const struct message_field *inner = field ? message_find(field->one.message, 1) : NULL;

	if (field && (inner ? inner->one.uint32 : 0) == value)
		clear(message, name);
}

static void clean_endpoint(struct message *endpoint)
{
	const struct message_field *status = find(endpoint, "health_status"), *inner;

	if (status && status->one.int32 == 1) /* HEALTHY: so is what nobody says anything about */
		clear(endpoint, "health_status");
	clear_if_number(endpoint, "load_balancing_weight", 1);
	clear_if_empty(endpoint, "metadata");
	inner = find(endpoint, "endpoint"); /* clearing moves fields */
	if (inner)
		clear_if_empty(inner->one.message, "health_check_config");
}

static void clean_assignment(struct message *assignment)
{
	const struct message_field *localities = find(assignment, "endpoints");
	const struct message_field *policy = find(assignment, "policy");

	for (uint32_t i = 0; localities && i < localities->count; i++) {
		struct message *locality = localities->items[i].message;
		const struct message_field *endpoints;

		clear_if_empty(locality, "locality");
		clear_if_number(locality, "load_balancing_weight", 0);
		endpoints = find(locality, "lb_endpoints"); /* clearing moves fields */
		for (uint32_t k = 0; endpoints && k < endpoints->count; k++)
			clean_endpoint(endpoints->items[k].message);
	}
	if (policy) {
		clear_if_number(policy->one.message, "overprovisioning_factor", 140);
		clear_if_empty(assignment, "policy");
	}
}

static void clean_bootstrap(struct message *bootstrap)
{
	static const char *const added[] = {"user_agent_name", "user_agent_version",
		"user_agent_build_version", "extensions", "client_features", "dynamic_parameters",
		"hidden_envoy_deprecated_build_version"};
	const struct message_field *node = find(bootstrap, "node");

	for (size_t i = 0; node && i < sizeof(added) / sizeof(*added); i++)
		clear(node->one.message, added[i]);
}

/* As deep as messages may be. */
bool config_dump_is_redacted(const struct message *message)
{
	if (message->any_content)
		return config_dump_is_redacted(message->any_content);
	for (uint32_t i = 0; i < message->fields_count; i++) {
		const struct message_field *entry = &message->fields[i];
		const union message_value *values =
			entry->field->is_repeated ? entry->items : &entry->one;
		enum schema_type type = entry->field->type;

		for (uint32_t k = 0; k < entry->count; k++) {
			if (type == SCHEMA_STRING || type == SCHEMA_BYTES) {
				if (slice_is(values[k].bytes, REDACTED))
					return true;
			} else if (type == SCHEMA_MESSAGE &&
				   config_dump_is_redacted(values[k].message)) {
				return true;
			}
		}
	}
	return false;
}

/* --- reading ----------------------------------------------------------------------------- */

/* As Envoy writes keys, or in lowerCamelCase. */
static const struct node *find_key(const struct node *map, const char *name)
{
	const struct node_pair *pair = node_find(map, name);
	char camel[64];
	size_t length = 0;

	for (const char *c = name; !pair && *c && length < sizeof(camel) - 1; c++) {
		if (*c == '_' && c[1])
			camel[length++] = (char)(*++c - 'a' + 'A');
		else
			camel[length++] = *c;
	}
	camel[length] = '\0';
	if (!pair)
		pair = node_find(map, camel);
	return pair ? pair->value : NULL;
}

static struct slice find_text(const struct node *map, const char *name)
{
	const struct node *value = find_key(map, name);

	return value && value->kind == NODE_SCALAR ? value->text : SLICE("");
}

static void read_any(struct dump_reader *reader, const struct dump_place *place,
	const struct node *holder, const struct node *any)
{
	const struct schema_message *type = NULL;
	struct config_dump *dump = reader->dump;
	struct config_dump_item item = {.state = place->state,
		.is_static = place->is_static,
		.version = find_text(holder, "version_info")};

	if (bind_find_type(&reader->bind, any, reader->diags, &type) ||
		(type && bind_typed(&reader->bind, type, any, reader->arena, reader->diags,
				 &item.message))) {
		reader->is_bad = true;
		return;
	}
	item.row = type ? xds_type_by_message(slice_of(type->full_name)) : NULL;
	if (!item.row) {
		diag_error(reader->diags, reader->options->path, any->at, "not-a-resource",
			"%s is no xDS resource", type ? type->full_name : "this");
		reader->is_bad = true;
		return;
	}
	if (item.row->type == XDS_EDS)
		clean_assignment(item.message);
	item.is_redacted = config_dump_is_redacted(item.message);
	item.name = message_get_bytes(item.message, item.row->name_field);
	array_reserve(dump->items, dump->capacity, dump->count + 1);
	dump->items[dump->count++] = item;
}

/* An update that Envoy did not take. */
static void report_refused(struct dump_reader *reader, const struct node *item)
{
	const struct node *error = find_key(item, "error_state");
	struct buf name = BUF_INIT, details = BUF_INIT;

	if (!error)
		return;
	text_quote(&name, find_text(item, "name"), 100);
	text_quote(&details, find_text(error, "details"), 500);
	diag_warning(reader->diags, reader->options->path, error->at, "import-refused",
		"Envoy has refused an update of \"%s\": %s", buf_cstr(&name), buf_cstr(&details));
	buf_fini(&name);
	buf_fini(&details);
}

static void read_place(
	struct dump_reader *reader, const struct dump_place *place, const struct node *config)
{
	const struct node *list = find_key(config, place->list);

	for (size_t i = 0; list && list->kind == NODE_LIST && i < list->items_count; i++) {
		const struct node *item = list->items[i];
		const struct node *holder = place->holder ? find_key(item, place->holder) : item;
		const struct node *any = holder ? find_key(holder, place->any) : NULL;

		if (!place->holder || place->state == CONFIG_DUMP_ACTIVE)
			report_refused(reader, item);
		if (!any)
			continue;
		if (any->kind != NODE_LIST)
			read_any(reader, place, holder, any);
		for (size_t k = 0; any->kind == NODE_LIST && k < any->items_count; k++)
			read_any(reader, place, holder, any->items[k]);
	}
}

static void read_bootstrap(struct dump_reader *reader, const struct node *config)
{
	const struct schema_message *type =
		schema_find_message(reader->options->schema, SLICE(BOOTSTRAP));
	const struct node *node = find_key(config, "bootstrap");

	if (!node || !type)
		return;
	if (bind_typed(&reader->bind, type, node, reader->arena, reader->diags,
		    &reader->dump->bootstrap))
		reader->is_bad = true;
	else
		clean_bootstrap(reader->dump->bootstrap);
}

static void read_config(struct dump_reader *reader, const struct node *config)
{
	struct slice type = find_text(config, "@type"), name = type;
	const char *slash = type.length ? memrchr(type.data, '/', type.length) : NULL;
	bool is_known = false;

	if (slash)
		name = (struct slice){slash + 1, type.length - (size_t)(slash + 1 - type.data)};
	if (name.length > strlen(ADMIN) && memcmp(name.data, ADMIN, strlen(ADMIN)) == 0)
		name = (struct slice){name.data + strlen(ADMIN), name.length - strlen(ADMIN)};
	if (slice_is(name, "BootstrapConfigDump")) {
		read_bootstrap(reader, config);
		return;
	}
	for (size_t i = 0; i < PLACES; i++) {
		if (!slice_is(name, places[i].config))
			continue;
		is_known = true;
		read_place(reader, &places[i], config);
	}
	if (slice_is(name, "EndpointsConfigDump"))
		reader->dump->has_endpoints = true;
	if (!is_known) {
		struct buf quoted = BUF_INIT;

		text_quote(&quoted, name, 100);
		diag_note(reader->diags, reader->options->path, config->at, "ignored-key",
			"\"%s\" in the config dump is not looked at", buf_cstr(&quoted));
		buf_fini(&quoted);
	}
}

/* --- endpoints --------------------------------------------------------------------------- */

/* The name under which a cluster asks for endpoints; empty: it does not. */
static struct slice eds_name(const struct message *cluster)
{
	const struct schema_field *type = schema_field_by_name(cluster->type, SLICE("type"));
	const struct schema_field *config =
		schema_field_by_name(cluster->type, SLICE("eds_cluster_config"));
	const struct message_field *entry = type ? message_find(cluster, type->number) : NULL;
	const struct message *eds = config ? message_get_message(cluster, config->number) : NULL;
	struct slice name;

	if (!entry || entry->one.int32 != 3) /* EDS */
		return SLICE("");
	name = eds ? message_get_bytes(eds, 2) : SLICE(""); /* service_name */
	return name.length ? name : message_get_bytes(cluster, 1);
}

/* Envoy lists what every cluster has, those that got it from their own definition, too. */
static void drop_own_endpoints(struct config_dump *dump)
{
	struct hash wanted;
	size_t kept = 0;

	hash_init(&wanted);
	for (size_t i = 0; i < dump->count; i++) {
		struct slice name = dump->items[i].row->type == XDS_CDS
					    ? eds_name(dump->items[i].message)
					    : SLICE("");

		if (name.length)
			hash_put(&wanted, name, dump);
	}
	for (size_t i = 0; i < dump->count; i++) {
		const struct config_dump_item *item = &dump->items[i];

		if (item->row->type == XDS_EDS && !hash_get(&wanted, item->name))
			continue;
		dump->items[kept++] = *item;
	}
	dump->count = kept;
	hash_fini(&wanted);
}

int config_dump_read(const struct config_dump_options *options, const struct node *root,
	struct arena *arena, struct diag_list *diags, struct config_dump *ret_dump)
{
	struct dump_reader reader = {.options = options,
		.bind = {.schema = options->schema, .path = options->path, .lenient = true},
		.arena = arena,
		.diags = diags,
		.dump = ret_dump};
	const struct node_pair *configs = node_find(root, "configs");

	*ret_dump = (struct config_dump){0};
	if (!configs || configs->value->kind != NODE_LIST) {
		diag_error(diags, options->path, root->at, "import-dump",
			"this is no config dump: it has no list \"configs\"");
		return -EBADMSG;
	}
	for (size_t i = 0; i < configs->value->items_count; i++)
		read_config(&reader, configs->value->items[i]);
	drop_own_endpoints(ret_dump);
	return reader.is_bad ? -EBADMSG : 0;
}

void config_dump_fini(struct config_dump *dump)
{
	free(dump->items);
	*dump = (struct config_dump){0};
}

/* --- what there is to say ---------------------------------------------------------------- */

static void report_item(
	const struct config_dump_item *item, const char *path, struct diag_list *diags)
{
	struct buf name = BUF_INIT;

	text_quote(&name, item->name, 100);
	if (item->state == CONFIG_DUMP_WARMING)
		diag_warning(diags, path, item->message->at, "import-not-active",
			"a %s \"%s\" is still warming: only what is active is taken",
			item->row->noun, buf_cstr(&name));
	else if (item->state == CONFIG_DUMP_DRAINING)
		diag_note(diags, path, item->message->at, "import-not-active",
			"%s \"%s\" is draining: left out", item->row->noun, buf_cstr(&name));
	else if (item->is_redacted)
		diag_warning(diags, path, item->message->at, "import-redacted",
			"Envoy does not tell the secrets in %s \"%s\": \"[redacted]\" stands in "
			"their place",
			item->row->noun, buf_cstr(&name));
	buf_fini(&name);
}

void config_dump_report(const struct config_dump *dump, const char *path, struct diag_list *diags)
{
	size_t wanted = 0;

	for (size_t i = 0; i < dump->count; i++) {
		report_item(&dump->items[i], path, diags);
		wanted += dump->items[i].row->type == XDS_CDS &&
			  eds_name(dump->items[i].message).length;
	}
	if (wanted && !dump->has_endpoints)
		diag_warning(diags, path, (struct position){0}, "import-no-endpoints",
			"%zu clusters have endpoints from EDS, which are not in this dump: ask for "
			"/config_dump?include_eds",
			wanted);
}
