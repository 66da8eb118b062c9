/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/import_split.h"

#include <stdlib.h>

#include "author/config_dump.h"
#include "author/import_walk.h"
#include "base/text.h"
#include "message/wire_write.h"
#include "message/yaml_write.h"

#define MANAGER "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
#define TLS	"envoy.extensions.transport_sockets.tls.v3."
#define EDS	3 /* Cluster.DiscoveryType */

struct splitter {
	struct import_plan *plan;
	const struct import_split_options *options;
	struct import_item *item; /* that is looked at */
	const char *source;	  /* YAML of a ConfigSource */
	struct hash secrets;	  /* those that were made, by the bytes of their content */
	size_t named_files;
};

/* --- small parts ------------------------------------------------------------------------- */

static struct message_field *find(struct message *message, const char *name)
{
	return message_find_mutable(message, import_plan_field(message, name)->number);
}

static struct slice get_text(const struct message *message, const char *name)
{
	return message_get_bytes(message, import_plan_field(message, name)->number);
}

static void take_out(struct message *message, const char *name)
{
	message_clear(message, import_plan_field(message, name));
}

/* As a YAML scalar, in the arena. */
static const char *quoted(struct splitter *splitter, struct slice text)
{
	struct buf out = BUF_INIT;
	const char *copy;

	yaml_write_string(&out, text);
	copy = arena_strdup(splitter->plan->arena, buf_cstr(&out));
	buf_fini(&out);
	return copy;
}

static void set_source(struct splitter *splitter, struct message *holder, const char *field)
{
	struct import_plan *plan = splitter->plan;
	struct message *source = import_plan_sub(plan, holder, field);

	import_plan_sub(plan, source, splitter->options->uses_self ? "self" : "ads");
	message_set(plan->arena, source, import_plan_field(source, "resource_api_version"))
		->one.int32 = 2; /* V3 */
}

static void note(struct splitter *splitter, struct position at, const char *rule,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
static void note(
	struct splitter *splitter, struct position at, const char *rule, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	diag_vadd(splitter->plan->diags, DIAG_NOTE, splitter->item->path, at, rule, format,
		arguments);
	va_end(arguments);
}

/* The name under which a part becomes a resource: its own, unless another has that. `message`
 * holds the name in field `field`. Sets *ret_renamed when it must change there. */
static struct slice choose_name(struct splitter *splitter, const struct xds_type_row *row,
	struct message *message, const char *field, bool *ret_renamed)
{
	struct import_plan *plan = splitter->plan;
	struct slice own = get_text(message, field);
	const struct import_item *other = import_plan_find(plan, row->type, own);
	const char *name;

	*ret_renamed = false;
	if (own.length && (!other || message_equal(other->message, message)))
		return own;
	*ret_renamed = true;
	if (own.length)
		name = arena_printf(
			plan->arena, "%.*s-%.*s", SLICE_ARG(splitter->item->name), SLICE_ARG(own));
	else
		name = arena_printf(
			plan->arena, "%.*s-%s", SLICE_ARG(splitter->item->name), row->folder);
	name = import_plan_free_name(plan, row->type, name);
	import_plan_set_text(plan, message, field, slice_of(name));
	if (own.length)
		note(splitter, message->at, "import-named",
			"another %s is called \"%.*s\": this one becomes \"%s\"", row->noun,
			SLICE_ARG(own), name);
	else
		note(splitter, message->at, "import-named",
			"this %s has no name: it becomes \"%s\"", row->noun, name);
	return slice_of(name);
}

/* A part as an item of its own, cut out of the same text. */
static struct import_item *add_part(struct splitter *splitter, const struct xds_type_row *row,
	struct message *message, struct position at)
{
	bool is_new;
	struct import_item *part =
		import_plan_add(splitter->plan, row, message, splitter->item->path, &is_new);

	if (!part || !is_new)
		return NULL;
	part->source = splitter->item->source;
	part->at = at;
	part->is_redacted = config_dump_is_redacted(message);
	return part;
}

/* --- routes ------------------------------------------------------------------------------ */

static void split_routes(struct splitter *splitter, struct message *manager)
{
	struct import_plan *plan = splitter->plan;
	const struct xds_type_row *row = xds_type_row(XDS_RDS);
	struct message_field *entry = find(manager, "route_config"), *name_entry;
	struct message *routes, *rds;
	struct position key, name_key = {0};
	struct import_item *part;
	struct slice name;
	bool renamed;

	if (!entry)
		return;
	key = entry->at;
	routes = entry->one.message;
	name_entry = find(routes, "name");
	if (name_entry)
		name_key = name_entry->at;
	name = choose_name(splitter, row, routes, "name", &renamed);
	part = add_part(splitter, row, routes, routes->at);
	if (part && renamed && name_entry)
		import_plan_edit(plan, part, name_key, "name: %s\n", quoted(splitter, name));
	else if (part && renamed)
		part->prefix = arena_printf(plan->arena, "name: %s\n", quoted(splitter, name));
	take_out(manager, "route_config");
	rds = import_plan_sub(plan, manager, "rds");
	import_plan_set_text(plan, rds, "route_config_name", name);
	set_source(splitter, rds, "config_source");
	import_plan_edit(plan, splitter->item, key,
		"rds:\n  config_source: %s\n  route_config_name: %s\n", splitter->source,
		quoted(splitter, name));
}

/* --- endpoints --------------------------------------------------------------------------- */

static void split_endpoints(struct splitter *splitter, struct message *cluster)
{
	struct import_plan *plan = splitter->plan;
	struct message_field *entry = find(cluster, "load_assignment");
	struct message_field *type = find(cluster, "type");
	struct position key, type_key = {0}, name_key;
	struct message *assignment, *config;
	struct import_item *part;
	const char *service;
	struct slice name;
	bool renamed;

	if (!entry)
		return;
	if ((type && type->one.int32 != 0) || find(cluster, "cluster_type")) {
		const struct schema_enum_value *value =
			type ? schema_enum_by_number(type->field->enumeration, type->one.int32)
			     : NULL;

		note(splitter, entry->at, "import-not-moved",
			"the endpoints of cluster \"%.*s\" stay in it: its type is %s, and EDS has "
			"no host names to look up",
			SLICE_ARG(splitter->item->name), value ? value->name : "its own");
		return;
	}
	key = entry->at;
	if (type)
		type_key = type->at;
	assignment = entry->one.message;
	if (!find(assignment, "cluster_name"))
		return;
	name_key = find(assignment, "cluster_name")->at;
	name = choose_name(splitter, xds_type_row(XDS_EDS), assignment, "cluster_name", &renamed);
	part = add_part(splitter, xds_type_row(XDS_EDS), assignment, assignment->at);
	if (part && renamed)
		import_plan_edit(
			plan, part, name_key, "cluster_name: %s\n", quoted(splitter, name));
	take_out(cluster, "load_assignment");
	message_set(plan->arena, cluster, import_plan_field(cluster, "type"))->one.int32 = EDS;
	config = import_plan_sub(plan, cluster, "eds_cluster_config");
	set_source(splitter, config, "eds_config");
	import_plan_set_text(plan, config, "service_name", name);
	service = quoted(splitter, name);
	import_plan_edit(plan, splitter->item, key,
		"%seds_cluster_config:\n  eds_config: %s\n  service_name: %s\n",
		type_key.line ? "" : "type: EDS\n", splitter->source, service);
	if (type_key.line)
		import_plan_edit(plan, splitter->item, type_key, "type: EDS\n");
}

/* --- certificates ------------------------------------------------------------------------ */

static bool is_inline(const struct message *message)
{
	if (message->any_content)
		return is_inline(message->any_content);
	for (uint32_t i = 0; i < message->fields_count; i++) {
		const struct message_field *entry = &message->fields[i];

		if (strcmp(message->type->full_name, "envoy.config.core.v3.DataSource") == 0 &&
			strncmp(entry->field->name, "inline_", 7) == 0)
			return true;
		for (uint32_t k = 0; entry->field->type == SCHEMA_MESSAGE && k < entry->count; k++)
			if (is_inline(entry->field->is_repeated ? entry->items[k].message
								: entry->one.message))
				return true;
	}
	return false;
}

/* The name of a secret with this content in field `field`: one that was made before, or a new
 * one. */
static struct slice make_secret(
	struct splitter *splitter, struct message *content, const char *field, const char *suffix)
{
	struct import_plan *plan = splitter->plan;
	const struct xds_type_row *row = xds_type_row(XDS_SDS);
	struct message *secret =
		message_new(plan->arena, schema_find_message(plan->schema, slice_of(row->message)));
	const struct schema_field *target = import_plan_field(secret, field);
	struct message_field *entry = message_set(plan->arena, secret, target);
	struct import_item *part;
	struct buf bytes = BUF_INIT;
	struct slice known;
	const char *name;

	entry->count = 1;
	entry->one.message = content;
	secret->at = content->at;
	wire_write(secret, &bytes);
	known = arena_copy(plan->arena, bytes.data, bytes.length);
	buf_fini(&bytes);
	name = hash_get(&splitter->secrets, known);
	if (name)
		return slice_of(name);
	name = arena_printf(plan->arena, "%.*s-%s", SLICE_ARG(splitter->item->name), suffix);
	name = import_plan_free_name(plan, XDS_SDS, name);
	hash_put(&splitter->secrets, known, (void *)(uintptr_t)name);
	import_plan_set_text(plan, secret, "name", slice_of(name));
	part = add_part(splitter, row, secret, content->at);
	if (part) {
		part->prefix = arena_printf(
			plan->arena, "name: %s\n%s:\n", quoted(splitter, slice_of(name)), field);
		part->is_nested = true;
	}
	note(splitter, content->at, "import-named", "this becomes secret \"%s\"", name);
	return slice_of(name);
}

/* A SdsSecretConfig for the name. */
static void set_reference(struct splitter *splitter, struct message *reference, struct slice name)
{
	import_plan_set_text(splitter->plan, reference, "name", name);
	set_source(splitter, reference, "sds_config");
}

/* A single message in `field` becomes a reference in `field`_sds_secret_config. */
static void split_secret(
	struct splitter *splitter, struct message *message, const char *field, const char *suffix)
{
	struct import_plan *plan = splitter->plan;
	struct message_field *entry = find(message, field);
	struct position key;
	const char *reference;
	struct slice name;

	if (!entry)
		return;
	if (!is_inline(entry->one.message)) {
		splitter->named_files++;
		return;
	}
	key = entry->at;
	name = make_secret(splitter, entry->one.message, field, suffix);
	take_out(message, field);
	reference = arena_printf(plan->arena, "%s_sds_secret_config", field);
	set_reference(splitter, import_plan_sub(plan, message, reference), name);
	import_plan_edit(plan, splitter->item, key, "%s:\n  name: %s\n  sds_config: %s\n",
		reference, quoted(splitter, name), splitter->source);
}

static void split_certificates(struct splitter *splitter, struct message *context)
{
	struct import_plan *plan = splitter->plan;
	struct message_field *list = find(context, "tls_certificates"), *references;
	struct buf lines = BUF_INIT;
	struct position key;

	split_secret(splitter, context, "validation_context", "validation");
	list = find(context, "tls_certificates");
	if (!list || list->count == 0)
		return;
	for (uint32_t i = 0; i < list->count; i++) {
		if (is_inline(list->items[i].message))
			continue;
		splitter->named_files++;
		return;
	}
	key = list->at;
	struct message_field old = *list;

	take_out(context, "tls_certificates");
	references = message_set(plan->arena, context,
		import_plan_field(context, "tls_certificate_sds_secret_configs"));
	buf_puts(&lines, "tls_certificate_sds_secret_configs:\n");
	for (uint32_t i = 0; i < old.count; i++) {
		struct slice name = make_secret(
			splitter, old.items[i].message, "tls_certificate", "certificate");
		struct message *reference = message_new(plan->arena, references->field->message);

		message_add(plan->arena, references)->message = reference;
		set_reference(splitter, reference, name);
		buf_printf(&lines, "- name: %s\n  sds_config: %s\n", quoted(splitter, name),
			splitter->source);
	}
	import_plan_edit(plan, splitter->item, key, "%s", buf_cstr(&lines));
	buf_fini(&lines);
}

/* A reference to a static secret that becomes one of SDS. */
static void split_reference(struct splitter *splitter, struct message *reference)
{
	struct import_plan *plan = splitter->plan;
	struct slice name = get_text(reference, "name");
	const struct import_item *secret = import_plan_find(plan, XDS_SDS, name);

	if (find(reference, "sds_config") || !secret || !secret->is_static || secret->is_kept)
		return;
	set_source(splitter, reference, "sds_config");
	import_plan_edit(plan, splitter->item, find(reference, "name")->at,
		"name: %s\nsds_config: %s\n", quoted(splitter, name), splitter->source);
}

/* --- all of it --------------------------------------------------------------------------- */

static void split_message(void *ctx, struct message *message)
{
	struct splitter *splitter = ctx;
	const char *type = message->type->full_name;

	if (splitter->options->routes && strcmp(type, MANAGER) == 0)
		split_routes(splitter, message);
	if (!splitter->options->certificates || strncmp(type, TLS, strlen(TLS)) != 0)
		return;
	type += strlen(TLS);
	if (strcmp(type, "CommonTlsContext") == 0)
		split_certificates(splitter, message);
	else if (strcmp(type, "DownstreamTlsContext") == 0)
		split_secret(splitter, message, "session_ticket_keys", "tickets");
	else if (strcmp(type, "SdsSecretConfig") == 0)
		split_reference(splitter, message);
}

void import_split(struct import_plan *plan, const struct import_split_options *options)
{
	struct splitter splitter = {.plan = plan, .options = options};
	size_t count = plan->count; /* what is added needs no splitting */

	splitter.source = options->uses_self ? "{self: {}, resource_api_version: V3}"
					     : "{ads: {}, resource_api_version: V3}";
	hash_init(&splitter.secrets);
	for (size_t i = 0; i < count; i++) {
		struct import_item *item = plan->items[i];

		splitter.item = item;
		if (item->is_kept)
			continue;
		if (options->endpoints && item->row->type == XDS_CDS)
			split_endpoints(&splitter, item->message);
		import_walk(item->message, split_message, &splitter);
		if (item->is_redacted)
			item->is_redacted = config_dump_is_redacted(item->message);
	}
	if (splitter.named_files)
		diag_note(plan->diags, "", (struct position){0}, "import-not-moved",
			"%zu %s on Envoy's host: left where they are named", splitter.named_files,
			splitter.named_files == 1 ? "certificate is a file"
						  : "certificates are files");
	hash_fini(&splitter.secrets);
}
