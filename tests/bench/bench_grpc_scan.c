/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench_grpc_scan.h"

#include <stdio.h>
#include <stdlib.h>

const char *const bench_type_urls[BENCH_TYPE_COUNT] = {
	"type.googleapis.com/envoy.config.cluster.v3.Cluster",
	"type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
	"type.googleapis.com/envoy.config.listener.v3.Listener",
};

enum state {
	STATE_PREFIX,
	STATE_TAG,
	STATE_NUMBER,
	STATE_LENGTH,
	STATE_KEEP,
	STATE_SKIP
};

enum field {
	FIELD_VERSION = 1,
	FIELD_RESOURCES = 2,
	FIELD_TYPE_URL = 4,
	FIELD_NONCE = 5
};

static void broken(const char *what)
{
	fprintf(stderr, "not a discovery response: %s\n", what);
	exit(1);
}

static void begin(struct bench_scan *scan)
{
	if (scan->edge[0])
		broken("compressed");
	scan->left = (uint64_t)(uint8_t)scan->edge[1] << 24 |
		     (uint64_t)(uint8_t)scan->edge[2] << 16 |
		     (uint64_t)(uint8_t)scan->edge[3] << 8 | (uint8_t)scan->edge[4];
	scan->kept = 0;
	scan->value = 0;
	scan->shift = 0;
	scan->version.length = scan->type.length = scan->nonce.length = 0;
	scan->is_marked = false;
	scan->resources = 0;
	scan->resource_bytes = 0;
	scan->state = STATE_TAG;
}

static struct bench_text *text_of(struct bench_scan *scan)
{
	switch (scan->field) {
	case FIELD_VERSION:
		return &scan->version;
	case FIELD_TYPE_URL:
		return &scan->type;
	case FIELD_NONCE:
		return &scan->nonce;
	default:
		return NULL;
	}
}

/* True when the varint is complete. */
static bool feed_varint(struct bench_scan *scan, uint8_t byte)
{
	if (scan->shift > 63)
		broken("varint");
	scan->value |= (uint64_t)(byte & 127) << scan->shift;
	scan->shift += 7;
	return !(byte & 128);
}

static void on_varint(struct bench_scan *scan, struct buf *bodies)
{
	uint64_t value = scan->value;

	scan->shift = 0;
	switch ((enum state)scan->state) {
	case STATE_TAG:
		if (value >> 3 > 255 || ((value & 7) != 0 && (value & 7) != 2))
			broken("field");
		scan->field = (uint8_t)(value >> 3);
		scan->state = (value & 7) == 2 ? STATE_LENGTH : STATE_NUMBER;
		scan->value = 0;
		break;
	case STATE_NUMBER:
		scan->state = STATE_TAG;
		scan->value = 0;
		break;
	case STATE_LENGTH:
		if (value > scan->left)
			broken("length");
		scan->state = value == 0 ? STATE_TAG : text_of(scan) ? STATE_KEEP : STATE_SKIP;
		if (scan->field == FIELD_RESOURCES) {
			scan->resources++;
			scan->resource_bytes += value;
			if (bodies)
				bench_put_varint(bodies, value);
		}
		if (scan->state == STATE_KEEP) {
			text_of(scan)->length = 0;
			if (value > sizeof(text_of(scan)->text))
				broken("a text is too long");
		}
		break;
	case STATE_PREFIX:
	case STATE_KEEP:
	case STATE_SKIP:
		abort();
	}
}

/* The marker may lie across two pieces: their edges are looked at together. */
static void look(struct bench_scan *scan, const uint8_t *data, size_t length, struct slice marker)
{
	char edges[sizeof(scan->edge) * 2];
	size_t head = length < marker.length ? length : marker.length;
	size_t keep = marker.length - 1;

	if (!marker.length || scan->is_marked)
		return;
	memcpy(edges, scan->edge, scan->kept);
	memcpy(edges + scan->kept, data, head);
	scan->is_marked = memmem(edges, scan->kept + head, marker.data, marker.length) ||
			  memmem(data, length, marker.data, marker.length);
	if (length >= keep) {
		memcpy(scan->edge, data + length - keep, keep);
		scan->kept = (uint8_t)keep;
	} else {
		size_t whole = scan->kept + head;

		keep = whole < keep ? whole : keep;
		memcpy(scan->edge, edges + whole - keep, keep);
		scan->kept = (uint8_t)keep;
	}
}

static void feed_fields(
	struct bench_scan *scan, const uint8_t *data, size_t length, struct buf *bodies)
{
	size_t at = 0;

	while (at < length) {
		size_t run;

		if (scan->state < STATE_KEEP) {
			if (feed_varint(scan, data[at++]))
				on_varint(scan, bodies);
			continue;
		}
		run = scan->value < length - at ? scan->value : length - at;
		if (scan->state == STATE_KEEP) {
			struct bench_text *text = text_of(scan);

			memcpy(text->text + text->length, data + at, run);
			text->length = (uint8_t)(text->length + run);
		} else if (bodies && scan->field == FIELD_RESOURCES) {
			buf_append(bodies, data + at, run);
		}
		at += run;
		scan->value -= run;
		if (scan->value == 0)
			scan->state = STATE_TAG;
	}
}

size_t bench_scan_feed(struct bench_scan *scan, const uint8_t *data, size_t length,
	struct slice marker, struct buf *bodies, bool *ret_is_complete)
{
	size_t at = 0, run;

	*ret_is_complete = false;
	if (scan->state == STATE_PREFIX) {
		while (scan->kept < 5 && at < length)
			scan->edge[scan->kept++] = (char)data[at++];
		if (scan->kept < 5)
			return at;
		begin(scan);
	}
	run = scan->left < length - at ? scan->left : length - at;
	look(scan, data + at, run, marker);
	feed_fields(scan, data + at, run, bodies);
	scan->left -= run;
	at += run;
	if (scan->left == 0) {
		if (scan->state != STATE_TAG || scan->shift)
			broken("cut off");
		scan->state = STATE_PREFIX;
		scan->kept = 0;
		*ret_is_complete = true;
	}
	return at;
}

enum bench_type bench_scan_type(const struct bench_scan *scan)
{
	struct slice type = {scan->type.text, scan->type.length};

	for (int i = 0; i < BENCH_TYPE_COUNT; i++)
		if (slice_is(type, bench_type_urls[i]))
			return (enum bench_type)i;
	broken("type");
	return BENCH_TYPE_COUNT;
}

void bench_put_varint(struct buf *out, uint64_t value)
{
	for (; value > 127; value >>= 7)
		buf_putc(out, (char)(value | 128));
	buf_putc(out, (char)value);
}

void bench_put_field(struct buf *out, unsigned number, struct slice value)
{
	bench_put_varint(out, number << 3 | 2);
	bench_put_varint(out, value.length);
	buf_append_slice(out, value);
}

static uint64_t take_varint(struct slice *rest)
{
	uint64_t value = 0;

	for (unsigned shift = 0; rest->length && shift < 64; shift += 7) {
		uint8_t byte = (uint8_t)*rest->data++;

		rest->length--;
		value |= (uint64_t)(byte & 127) << shift;
		if (!(byte & 128))
			return value;
	}
	broken("varint");
	return 0;
}

bool bench_next_field(struct slice *rest, unsigned *ret_number, struct slice *ret_value)
{
	while (rest->length) {
		uint64_t tag = take_varint(rest), value = take_varint(rest);

		if ((tag & 7) == 0)
			continue;
		if ((tag & 7) != 2 || value > rest->length)
			broken("field");
		*ret_number = (unsigned)(tag >> 3);
		*ret_value = (struct slice){rest->data, value};
		rest->data += value;
		rest->length -= value;
		return true;
	}
	return false;
}
