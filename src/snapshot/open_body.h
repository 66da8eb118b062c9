/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The open config sources in an encoded message: where each of them is, what it leads to, and how
 * the message is written with others in their places. No schema is needed for that: besides the
 * sources themselves only the lengths of the messages around them change. Immutable,
 * reference-counted, any thread.
 */
#ifndef XDSPUB_SNAPSHOT_OPEN_BODY_H
#define XDSPUB_SNAPSHOT_OPEN_BODY_H

#include "base/buf.h"
#include "base/record.h"
#include "snapshot/config_sources.h"

struct open_place {
	uint8_t type;	   /* enum xds_type, or SOURCE_NO_TYPE */
	struct slice name; /* of the resource it leads to; "": a whole set, or not known */
};

/* A message with its length in front: an open source, or one around such. */
struct open_mark {
	uint32_t at;	/* of the length; offsets in the body */
	uint32_t start; /* of the message */
	uint32_t end;
	int32_t outer; /* the mark around it, -1: none */
	int32_t place; /* which source it is, -1: one around */
};

struct open_body {
	atomic_uint references;
	struct open_place *places; /* in the order of the body */
	uint32_t places_count;
	struct open_mark *marks; /* by `at`, so outer ones come first */
	uint32_t marks_count;
};

struct open_body *open_body_ref(struct open_body *open); /* NULL stays NULL */
void open_body_unref(struct open_body *open);		 /* NULL is fine */

/* Appends the path of what a source leads to; to the Envoy that reads the file. */
typedef void (*open_path_cb)(void *ctx, enum xds_type type, struct slice name, struct buf *out);

/* Appends the body with the sources of a transport in their places. Of the source that was there
 * all is kept but where it leads: a timeout, say. `path` is for files only. Errors are sticky in
 * `out`. */
void open_body_fill(const struct open_body *open, struct slice body,
	const struct config_sources *sources, enum source_transport transport, open_path_cb path,
	void *ctx, struct buf *out);
/* Whether some place gets the published path. */
bool open_body_has_path(const struct open_body *open, const struct config_sources *sources);
/* Whether the marks make sense in a body of that length. */
bool open_body_fits(const struct open_body *open, size_t length);

/* Part of a journal record: u32 number of places, each u8 type, text name, u32 number of marks,
 * each u32 at, start, end, outer + 1, place + 1. */
void open_body_write(const struct open_body *open, struct buf *record);
/* NULL: it makes no sense for a body of that length. */
struct open_body *open_body_read(struct record_reader *record, size_t body_length);

/* One being made. */
struct open_builder {
	struct open_place *places;
	struct open_mark *marks;
	size_t places_count, places_capacity, marks_count, marks_capacity;
};

/* Names are copied when it is finished, and borrowed until then; so are those of open_builder_take.
 */
void open_builder_place(struct open_builder *builder, struct open_place place);
void open_builder_mark(struct open_builder *builder, struct open_mark mark);
/* Takes the marks of another body from offset `begin` up to `end`, with their places, moved by
 * `shift`; those without one around them get `outer`. open NULL: nothing. */
void open_builder_take(struct open_builder *builder, const struct open_body *open, size_t begin,
	size_t end, int64_t shift, int32_t outer);
/* Ends the builder. NULL: there are no places. */
struct open_body *open_builder_finish(struct open_builder *builder);

#endif
