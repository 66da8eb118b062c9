/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers to text, whatever the locale: the fewest digits that read back as the same value. Not
 * for NaN and infinities. Each returns the length; a NUL follows. Pure. Threads: any.
 */
#ifndef XDSPUB_MESSAGE_NUMBER_FORMAT_H
#define XDSPUB_MESSAGE_NUMBER_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define NUMBER_FORMAT_BYTES 32

size_t number_format_u64(char out[static NUMBER_FORMAT_BYTES], uint64_t value);
size_t number_format_i64(char out[static NUMBER_FORMAT_BYTES], int64_t value);
/* 1, -0.0, 0.25, 1.5e+300 */
size_t number_format_double(char out[static NUMBER_FORMAT_BYTES], double value);
size_t number_format_float(char out[static NUMBER_FORMAT_BYTES], float value);

#endif
