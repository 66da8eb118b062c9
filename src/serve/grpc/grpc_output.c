/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_output.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/mem.h"

struct grpc_parked {
	size_t first, count; /* pieces[first..count) are left */
	struct grpc_piece pieces[];
	/* copied bytes follow */
};

bool grpc_output_has_room(const struct grpc_output *output, size_t pieces, size_t copied)
{
	return output->count + pieces <= GRPC_OUTPUT_PIECES &&
	       output->copied + copied <= GRPC_OUTPUT_COPIES && output->bytes < GRPC_OUTPUT_BYTES;
}

void grpc_output_copy(struct grpc_output *output, const void *data, size_t length)
{
	uint8_t *place = output->copies + output->copied;
	struct grpc_piece *last = output->count ? &output->pieces[output->count - 1] : NULL;

	assert(output->copied + length <= GRPC_OUTPUT_COPIES);
	if (!length)
		return;
	memcpy(place, data, length);
	output->copied += length;
	output->bytes += length;
	if (last && !last->body) {
		last->length += length;
		return;
	}
	assert(output->count < GRPC_OUTPUT_PIECES);
	output->pieces[output->count++] = (struct grpc_piece){.data = place, .length = length};
}

void grpc_output_share(
	struct grpc_output *output, struct grpc_body *body, size_t offset, size_t length)
{
	if (!length)
		return;
	assert(output->count < GRPC_OUTPUT_PIECES);
	assert(offset + length <= body->length);
	output->pieces[output->count++] = (struct grpc_piece){
		.data = body->bytes + offset, .length = length, .body = grpc_body_ref(body)};
	output->bytes += length;
}

/* One system call; advances the pieces. Returns the bytes or a negative errno. */
static ssize_t send_pieces(int fd, struct grpc_piece *pieces, size_t count)
{
	struct iovec vectors[GRPC_OUTPUT_PIECES];
	struct msghdr message = {.msg_iov = vectors, .msg_iovlen = count};
	ssize_t sent;

	for (size_t i = 0; i < count; i++) {
		vectors[i].iov_base = (void *)(uintptr_t)pieces[i].data;
		vectors[i].iov_len = pieces[i].length;
	}
	do {
		sent = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : sent;
}

/* Drops `sent` bytes from the front; returns how many pieces are gone. */
static size_t advance(struct grpc_piece *pieces, size_t count, size_t sent)
{
	size_t gone = 0;

	while (gone < count && sent >= pieces[gone].length) {
		sent -= pieces[gone].length;
		grpc_body_unref(pieces[gone++].body);
	}
	if (sent) {
		pieces[gone].data += sent;
		pieces[gone].length -= sent;
	}
	return gone;
}

static struct grpc_parked *park(const struct grpc_piece *pieces, size_t count)
{
	struct grpc_parked *parked;
	size_t copied = 0;
	uint8_t *place;

	for (size_t i = 0; i < count; i++)
		if (!pieces[i].body)
			copied += pieces[i].length;
	parked = xmalloc(sizeof(*parked) + count * sizeof(struct grpc_piece) + copied);
	parked->first = 0;
	parked->count = count;
	memcpy(parked->pieces, pieces, count * sizeof(struct grpc_piece));
	place = (uint8_t *)&parked->pieces[count];
	for (size_t i = 0; i < count; i++) {
		if (pieces[i].body)
			continue;
		memcpy(place, pieces[i].data, pieces[i].length);
		parked->pieces[i].data = place;
		place += pieces[i].length;
	}
	return parked;
}

static void clear(struct grpc_output *output, size_t first)
{
	for (size_t i = first; i < output->count; i++)
		grpc_body_unref(output->pieces[i].body);
	output->count = output->copied = output->bytes = 0;
}

int grpc_output_write(
	struct grpc_output *output, int fd, struct grpc_parked **parked, size_t *ret_bytes)
{
	ssize_t sent = send_pieces(fd, output->pieces, output->count);
	size_t gone;

	assert(!*parked);
	*ret_bytes = 0;
	if (sent < 0 && sent != -EAGAIN) {
		clear(output, 0);
		return (int)sent;
	}
	if (sent < 0)
		sent = 0;
	*ret_bytes = (size_t)sent;
	gone = advance(output->pieces, output->count, (size_t)sent);
	if (gone < output->count)
		*parked = park(output->pieces + gone, output->count - gone);
	output->count = output->copied = output->bytes = 0;
	return *parked ? -EAGAIN : 0;
}

int grpc_parked_write(struct grpc_parked **parked, int fd, size_t *ret_bytes)
{
	struct grpc_parked *rest = *parked;
	ssize_t sent = send_pieces(fd, rest->pieces + rest->first, rest->count - rest->first);

	*ret_bytes = 0;
	if (sent < 0)
		return (int)sent;
	*ret_bytes = (size_t)sent;
	rest->first += advance(rest->pieces + rest->first, rest->count - rest->first, (size_t)sent);
	if (rest->first < rest->count)
		return -EAGAIN;
	free(rest);
	*parked = NULL;
	return 0;
}

void grpc_parked_free(struct grpc_parked *parked)
{
	if (!parked)
		return;
	for (size_t i = parked->first; i < parked->count; i++)
		grpc_body_unref(parked->pieces[i].body);
	free(parked);
}
