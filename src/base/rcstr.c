/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/rcstr.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

struct rcstr *rcstr_new(const char *text, size_t length)
{
	struct rcstr *string;

	assert(length < UINT32_MAX);
	string = xmalloc(sizeof(*string) + length + 1);
	atomic_init(&string->references, 1);
	string->length = (uint32_t)length;
	if (length)
		memcpy(string->text, text, length);
	string->text[length] = '\0';
	return string;
}

struct rcstr *rcstr_ref(struct rcstr *string)
{
	if (string)
		atomic_fetch_add_explicit(&string->references, 1, memory_order_relaxed);
	return string;
}

void rcstr_unref(struct rcstr *string)
{
	/* acq_rel: whoever frees has seen all that the others did before they let go. */
	if (string && atomic_fetch_sub_explicit(&string->references, 1, memory_order_acq_rel) == 1)
		free(string);
}
