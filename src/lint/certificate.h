/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Certificates and keys in PEM form, read with GnuTLS: whether they can be read, belong together
 * and hold at a time. Values only. Threads: any.
 */
#ifndef XDSPUB_LINT_CERTIFICATE_H
#define XDSPUB_LINT_CERTIFICATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

struct certificate_report {
	bool is_unreadable;	/* no certificate in it; nothing else is said then */
	bool is_key_unreadable; /* a key was given, and is none */
	bool is_mismatch;	/* the key is not that of the first certificate */
	uint32_t count;
	/* Of the certificate that expires first, and of the one that begins last; seconds since
	 * 1970. */
	int64_t expires, begins;
};

/* `key`: empty when there is none to compare with. */
struct certificate_report certificate_look(struct slice chain, struct slice key);

#endif
