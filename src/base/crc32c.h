/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CRC-32C (Castagnoli), with the processor's instruction where there is one. Threads: any. */
#ifndef XDSPUB_BASE_CRC32C_H
#define XDSPUB_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* crc is 0 at first, then the result for the bytes so far. */
uint32_t crc32c_update(uint32_t crc, const void *data, size_t length);
/* The same without the instruction, so that tests can compare. */
uint32_t crc32c_update_portable(uint32_t crc, const void *data, size_t length);

#endif
