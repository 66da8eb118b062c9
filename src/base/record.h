/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bodies of journal records: little-endian numbers, and texts behind their length (4 bytes).
 * A reader fails once and for all; check `failed` after the last field. Threads: one at a time.
 */
#ifndef XDSPUB_BASE_RECORD_H
#define XDSPUB_BASE_RECORD_H

#include "base/buf.h"

/* `size` is 1 to 8 bytes. */
void record_put_number(struct buf *out, uint64_t value, size_t size);
void record_put_text(struct buf *out, struct slice text);

struct record_reader {
	struct slice rest;
	bool failed;
};

/* 0 and "" after a failure. Texts are borrowed from the record. */
uint64_t record_number(struct record_reader *reader, size_t size);
struct slice record_text(struct record_reader *reader);

#endif
