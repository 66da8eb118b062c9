/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers of an HTTP server: no crash, and a body is never larger than the answer. */
#include <stdlib.h>

#include "cli/http_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf out = BUF_INIT;
	int status = -1;
	int rc = http_answer_parse((struct slice){(const char *)data, size}, &out, &status);

	if (out.length > size || (rc == 0 && (status < 0 || status > 999)))
		abort();
	buf_fini(&out);
	return 0;
}
