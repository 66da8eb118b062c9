/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_client_config.h"

#include <errno.h>

#include "base/clock.h"
#include "serve/grpc/grpc_clients.h"
#include "serve/grpc/grpc_response.h"
#include "xdspub/client_status.pb-c.h"

/* Fields of what is written by hand; all are length-delimited. */
enum {
	RESPONSE_CONFIG = 1,
	CONFIG_NODE = 1,
	CONFIG_GENERIC = 3,
	CONFIG_SCOPE = 4,
	ANY_TYPE_URL = 1,
	ANY_VALUE = 2
};

/* One type of the stream. */
struct subject {
	const struct grpc_stream *stream;
	const struct xds_type_row *row;
	const struct resource_set *set; /* what the group serves now, or NULL */
	struct xds_type_report report;
	bool with_contents;
	int64_t now_ms;
};

static void put_head(struct buf *out, unsigned field, uint64_t length)
{
	buf_putc(out, (char)(field << 3 | 2));
	while (length >= 0x80) {
		buf_putc(out, (char)(length | 0x80));
		length >>= 7;
	}
	buf_putc(out, (char)length);
}

static void put_bytes(struct buf *out, unsigned field, struct slice bytes)
{
	put_head(out, field, bytes.length);
	buf_append_slice(out, bytes);
}

static void put_message(struct buf *out, unsigned field, const ProtobufCMessage *message)
{
	size_t length = protobuf_c_message_get_packed_size(message);
	char *at;

	put_head(out, field, length);
	at = buf_reserve(out, length);
	if (at)
		out->length += protobuf_c_message_pack(message, (uint8_t *)at);
}

static Xds__Timestamp time_of(int64_t at_ms, int64_t now_ms)
{
	Xds__Timestamp time = XDS__TIMESTAMP__INIT;
	int64_t wall_ms = clock_wall_ms() - (now_ms - at_ms);

	time.has_seconds = time.has_nanos = true;
	time.seconds = wall_ms / 1000;
	time.nanos = (int32_t)(wall_ms % 1000) * 1000000;
	return time;
}

static bool is_rejected(const struct subject *subject, const struct xds_name_report *name)
{
	if (subject->stream->form == XDS_DELTA)
		return name->is_rejected;
	return subject->report.rejected.text[0] && name->is_held;
}

static void set_states(const struct subject *subject, const struct xds_name_report *name,
	const struct resource *current, Xds__ClientConfig__GenericXdsConfig *config)
{
	config->has_config_status = config->has_client_status = true;
	if (is_rejected(subject, name)) {
		config->config_status = XDS__CONFIG_STATUS__CONFIG_ERROR;
		config->client_status = XDS__CLIENT_RESOURCE_STATUS__CLIENT_NACKED;
	} else if (!name->is_held) {
		config->config_status = XDS__CONFIG_STATUS__CONFIG_NOT_SENT;
		config->client_status = subject->set && !current
						? XDS__CLIENT_RESOURCE_STATUS__CLIENT_DOES_NOT_EXIST
						: XDS__CLIENT_RESOURCE_STATUS__CLIENT_REQUESTED;
	} else if (subject->report.is_outstanding) {
		config->config_status = XDS__CONFIG_STATUS__CONFIG_STALE;
		config->client_status = XDS__CLIENT_RESOURCE_STATUS__CLIENT_REQUESTED;
	} else {
		bool is_newest = current && digest_equal(&current->digest, &name->digest);

		config->config_status = is_newest ? XDS__CONFIG_STATUS__CONFIG_SYNCED
						  : XDS__CONFIG_STATUS__CONFIG_STALE;
		config->client_status = XDS__CLIENT_RESOURCE_STATUS__CLIENT_ACKED;
	}
}

/* What the client was told. */
static struct version version_of_name(
	const struct subject *subject, const struct xds_name_report *name)
{
	if (!name->is_held || subject->row->is_secret)
		return (struct version){.text = ""};
	return subject->stream->form == XDS_DELTA ? version_text(&name->digest)
						  : subject->report.sent;
}

/* Only what was sent, so only as long as it is still there. */
static void put_any(const struct subject *subject, const struct xds_name_report *name,
	const struct resource *current, struct buf *out)
{
	if (!subject->with_contents || subject->row->is_secret || !current || !name->is_held ||
		!digest_equal(&current->digest, &name->digest))
		return;
	put_bytes(out, ANY_TYPE_URL, slice_of(subject->row->type_url));
	put_bytes(out, ANY_VALUE,
		resource_body(current, grpc_response_transport(!subject->stream->row,
					       subject->stream->form == XDS_DELTA)));
}

/* false: the name is larger than what fits. */
static bool put_name(
	const struct subject *subject, const struct xds_name_report *name, struct buf *out)
{
	Xds__ClientConfig__GenericXdsConfig config = XDS__CLIENT_CONFIG__GENERIC_XDS_CONFIG__INIT;
	Xds__UpdateFailureState failure = XDS__UPDATE_FAILURE_STATE__INIT;
	Xds__Timestamp sent, refused;
	struct version version = version_of_name(subject, name);
	const struct resource *current =
		subject->set ? resource_set_find(subject->set, name->name) : NULL;
	struct buf text = BUF_INIT, any = {.limit_bytes = out->limit_bytes};

	buf_append_slice(&text, name->name);
	put_any(subject, name, current, &any);
	config.type_url = (char *)subject->row->type_url;
	config.name = (char *)buf_cstr(&text);
	set_states(subject, name, current, &config);
	if (version.text[0])
		config.version_info = version.text;
	if (name->is_held && subject->report.sent_ms >= 0) {
		sent = time_of(subject->report.sent_ms, subject->now_ms);
		config.last_updated = &sent;
	}
	config.has_xds_config = any.length != 0;
	config.xds_config = (ProtobufCBinaryData){.len = any.length, .data = (uint8_t *)any.data};
	if (is_rejected(subject, name) && subject->report.last_nack) {
		refused = time_of(subject->report.rejected_ms, subject->now_ms);
		failure.last_update_attempt = &refused;
		failure.details = (char *)subject->report.last_nack;
		if (!subject->row->is_secret && subject->report.rejected.text[0])
			failure.version_info = (char *)subject->report.rejected.text;
		config.error_state = &failure;
	}
	if (buf_error(&any) || buf_error(&text))
		buf_fail(out, -EFBIG);
	else
		put_message(out, CONFIG_GENERIC, &config.base);
	buf_fini(&text);
	buf_fini(&any);
	return !buf_error(out);
}

static void put_type(const struct grpc_stream *stream, enum xds_type type, bool with_contents,
	int64_t now_ms, struct buf *out)
{
	const struct snapshot *snapshot = xds_feed_snapshot(xds_stream_feed(stream->stream));
	struct subject subject = {
		.stream = stream,
		.row = xds_type_row(type),
		.set = snapshot ? snapshot->sets[type] : NULL,
		.with_contents = with_contents,
		.now_ms = now_ms,
	};
	struct xds_name_report name;
	size_t cursor = 0;

	if (!xds_stream_report(stream->stream, type, &subject.report))
		return;
	while (xds_stream_next_name(stream->stream, type, &cursor, &name))
		if (!put_name(&subject, &name, out))
			return;
}

void grpc_client_config_write(
	const struct grpc_stream *stream, bool with_contents, int64_t now_ms, struct buf *out)
{
	struct buf config = {.limit_bytes = out->limit_bytes};
	char transport[GRPC_TRANSPORT_SIZE];

	if (stream->node->length)
		put_bytes(&config, CONFIG_NODE,
			(struct slice){stream->node->bytes, stream->node->length});
	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		put_type(stream, (enum xds_type)type, with_contents, now_ms, &config);
	grpc_clients_transport(stream, transport);
	put_bytes(&config, CONFIG_SCOPE, slice_of(transport));
	if (buf_error(&config))
		buf_fail(out, buf_error(&config));
	else
		put_bytes(out, RESPONSE_CONFIG, buf_slice(&config));
	buf_fini(&config);
}
