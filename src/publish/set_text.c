/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "publish/set_text.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

struct set_text *set_text_ref(struct set_text *text)
{
	text->references++;
	return text;
}

void set_text_unref(struct set_text *text)
{
	if (!text || --text->references)
		return;
	resource_set_unref(text->set);
	free(text->resources);
	free(text->lengths);
	free(text);
}

/* Walks the items of the former file in step with the new ones. A run of unchanged items, with the
 * separators between them, is read in one go. */
struct composer {
	const struct publish_encoder *encoder;
	struct file_body *body;
	enum file_format format;
	struct slice separator;
	const struct set_text *former; /* NULL: none */
	int fd;
	size_t count;  /* former items */
	size_t index;  /* of the next former item */
	size_t offset; /* where it is in the former file */
	size_t run_offset;
	size_t run_length; /* read later; 0: no run is open */
	struct buf *out;
};

static int end_run(struct composer *composer)
{
	char *room = buf_reserve(composer->out, composer->run_length);

	if (!room)
		return buf_error(composer->out);
	while (composer->run_length) {
		ssize_t got = pread(
			composer->fd, room, composer->run_length, (off_t)composer->run_offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -EIO;
		room += got;
		composer->out->length += (size_t)got;
		composer->run_offset += (size_t)got;
		composer->run_length -= (size_t)got;
	}
	return 0;
}

/* Moves to the former item of that name; true when it has the same content. */
static bool find_former(struct composer *composer, const struct resource *resource)
{
	const struct set_text *former = composer->former;

	while (former && composer->index < composer->count) {
		const struct resource *item = former->resources[composer->index];
		int order = item == resource ? 0 : slice_compare(item->name, resource->name);

		if (order >= 0)
			return order == 0 && digest_equal(&item->digest, &resource->digest);
		composer->offset += former->lengths[composer->index++] + composer->separator.length;
	}
	return false;
}

static int take_former(struct composer *composer, bool is_first, uint32_t *ret_length)
{
	uint32_t length = composer->former->lengths[composer->index];
	int error = 0;

	if (composer->run_length &&
		composer->run_offset + composer->run_length + composer->separator.length ==
			composer->offset) {
		composer->run_length += composer->separator.length + length;
	} else {
		if (composer->run_length)
			error = end_run(composer);
		if (!is_first)
			buf_append_slice(composer->out, composer->separator);
		composer->run_offset = composer->offset;
		composer->run_length = length;
	}
	composer->offset += length + composer->separator.length;
	composer->index++;
	*ret_length = length;
	return error;
}

static int encode_item(struct composer *composer, const struct resource *resource, bool is_first,
	uint32_t *ret_length)
{
	struct slice body;
	size_t start;
	int error = composer->run_length ? end_run(composer) : 0;

	if (!error)
		error = file_body_make(composer->body, resource, &body);
	if (error)
		return error;
	if (!is_first)
		buf_append_slice(composer->out, composer->separator);
	start = composer->out->length;
	error = composer->encoder->item(
		composer->encoder->ctx, composer->format, resource, body, composer->out);
	if (error)
		return error;
	if (composer->out->length - start > UINT32_MAX)
		return -EFBIG;
	*ret_length = (uint32_t)(composer->out->length - start);
	return buf_error(composer->out);
}

static int compose_items(struct composer *composer, struct set_text *text)
{
	size_t count = resource_set_count(text->set);

	for (size_t i = 0; i < count; i++) {
		struct resource *resource = text->resources[i];
		int error;

		/* An empty item could not be told from the end of a run. */
		if (find_former(composer, resource) && composer->former->lengths[composer->index])
			error = take_former(composer, i == 0, &text->lengths[i]);
		else
			error = encode_item(composer, resource, i == 0, &text->lengths[i]);
		if (error)
			return error;
	}
	return composer->run_length ? end_run(composer) : 0;
}

int set_text_compose(const struct publish_encoder *encoder, struct file_body *body,
	struct resource_set *set, struct slice source, const struct set_text *former, int former_fd,
	struct buf *out, struct set_text **ret_text)
{
	enum file_format format = body->format;
	struct composer composer = {
		.encoder = encoder,
		.body = body,
		.format = format,
		.separator = encoder->separator(encoder->ctx, format),
		.out = out,
	};
	enum xds_type type = resource_set_type(set);
	struct set_text *text = xcalloc(1, sizeof(*text));
	size_t count, start = out->length;
	int error;

	text->references = 1;
	text->set = resource_set_ref(set);
	if (former) {
		text->resources =
			resource_set_sorted_from(set, former->set, former->resources, &count);
		if (former_fd >= 0) {
			composer.former = former;
			composer.fd = former_fd;
			composer.count = resource_set_count(former->set);
			composer.offset = former->begin_length;
			/* In one piece: it will be about as long. */
			buf_reserve(out, former->length + former->length / 64 + 4096);
		}
	} else {
		text->resources = resource_set_sorted(set, &count);
	}
	text->lengths = xmalloc((count ? count : 1) * sizeof(*text->lengths));
	error = encoder->begin(encoder->ctx, format, type, resource_set_version(set), count, out);
	text->begin_length = out->length - start;
	if (!error)
		error = compose_items(&composer, text);
	if (!error)
		error = encoder->end(encoder->ctx, format, type, count, source, out);
	if (!error)
		error = buf_error(out);
	text->length = out->length - start;
	if (error)
		set_text_unref(text);
	else
		*ret_text = text;
	return error;
}
