/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_inbox.h"

void grpc_inbox_fini(struct grpc_inbox *inbox)
{
	buf_fini(&inbox->bytes);
}

bool grpc_inbox_put(struct grpc_inbox *inbox, struct slice message)
{
	uint64_t length = message.length;

	if (inbox->count == 0) {
		/* What a large request took is not kept for the next ones. */
		buf_fini(&inbox->bytes);
		inbox->bytes = BUF_INIT;
		inbox->at = 0;
	} else if (inbox->count == GRPC_INBOX_COUNT ||
		   inbox->bytes.length - inbox->at + message.length > GRPC_INBOX_BYTES) {
		return false;
	} else if (inbox->at > inbox->bytes.length / 2) {
		memmove(inbox->bytes.data, inbox->bytes.data + inbox->at,
			inbox->bytes.length - inbox->at);
		inbox->bytes.length -= inbox->at;
		inbox->at = 0;
	}
	buf_append(&inbox->bytes, &length, sizeof(length));
	buf_append_slice(&inbox->bytes, message);
	if (buf_error(&inbox->bytes))
		return false;
	inbox->count++;
	return true;
}

bool grpc_inbox_take(struct grpc_inbox *inbox, struct slice *ret_message)
{
	uint64_t length;

	if (inbox->count == 0)
		return false;
	memcpy(&length, inbox->bytes.data + inbox->at, sizeof(length));
	inbox->at += sizeof(length);
	*ret_message = (struct slice){inbox->bytes.data + inbox->at, length};
	inbox->at += length;
	inbox->count--;
	return true;
}
