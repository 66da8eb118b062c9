/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptor sets with source information, and the comments in them as plain text. */
#include <stdlib.h>

#include "author/plain.h"
#include "base/text.h"
#include "schema/comments.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice bytes = {(const char *)data, size};
	struct diag_list *diags = diag_list_new(0);
	struct comments *comments = comments_new();
	struct buf plain = BUF_INIT, wrapped = BUF_INIT;

	if (comments_add(comments, bytes, "set", diags) && diag_list_count(diags) == 0)
		abort();
	(void)comments_find(comments, "p.M", "f");
	/* The input itself as a comment: whatever it is, it comes out as printable text. */
	plain_text(&plain, bytes);
	if (!text_is_utf8(buf_slice(&plain)))
		abort();
	plain_wrap(&wrapped, buf_slice(&plain), size % 7, 40);
	for (size_t i = 0; i < wrapped.length; i++)
		if ((unsigned char)wrapped.data[i] < ' ' && wrapped.data[i] != '\n')
			abort();
	buf_fini(&plain);
	buf_fini(&wrapped);
	comments_free(comments);
	diag_list_free(diags);
	return 0;
}
