/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The well-known text formats of validate.rules: e-mail addresses, host names, IP addresses, URIs,
 * UUIDs, header names and values. Pure. Threads: any.
 */
#ifndef XDSPUB_VALIDATE_FORMAT_H
#define XDSPUB_VALIDATE_FORMAT_H

#include "base/slice.h"

bool format_is_email(struct slice text);    /* user@host, no display name */
bool format_is_hostname(struct slice text); /* RFC 1034; a dot at the end is fine */
bool format_is_ipv4(struct slice text);
bool format_is_ipv6(struct slice text); /* without a zone */
bool format_is_uri(struct slice text);	/* RFC 3986, with a scheme */
bool format_is_uri_reference(struct slice text);
bool format_is_uuid(struct slice text);
/* As PGV's patterns: strict ones are RFC 7230's with ':' in front for HTTP/2, loose ones refuse
 * only NUL, CR and LF. An empty name is no name, strictly. */
bool format_is_header_name(struct slice text, bool is_loose);
bool format_is_header_value(struct slice text, bool is_loose);

#endif
