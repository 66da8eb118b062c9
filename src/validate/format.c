/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "validate/format.h"

#include <arpa/inet.h>
#include <string.h>

#define HOST_BYTES_MAX	 253
#define LABEL_BYTES_MAX	 63
#define LOCAL_BYTES_MAX	 64
#define EMAIL_BYTES_MAX	 254
#define UNRESERVED_EXTRA "-._~"
#define SUB_DELIMITERS	 "!$&'()*+,;="

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_among(char c, const char *set)
{
	return c && strchr(set, c);
}

static struct slice until(struct slice *rest, const char *stops)
{
	struct slice head = {rest->data, 0};

	while (head.length < rest->length && !is_among(rest->data[head.length], stops))
		head.length++;
	rest->data += head.length;
	rest->length -= head.length;
	return head;
}

bool format_is_hostname(struct slice text)
{
	if (text.length && text.data[text.length - 1] == '.')
		text.length--;
	if (text.length == 0 || text.length > HOST_BYTES_MAX)
		return false;
	for (;;) {
		struct slice label = until(&text, ".");

		if (label.length == 0 || label.length > LABEL_BYTES_MAX || label.data[0] == '-' ||
			label.data[label.length - 1] == '-')
			return false;
		for (size_t i = 0; i < label.length; i++)
			if (!is_letter(label.data[i]) && !is_digit(label.data[i]) &&
				label.data[i] != '-')
				return false;
		if (text.length == 0)
			return true;
		text.data++;
		text.length--;
	}
}

/* RFC 5321: dotted atoms before the last '@', a host name after it. */
bool format_is_email(struct slice text)
{
	struct slice local = text, host;
	char before = '.';

	if (text.length > EMAIL_BYTES_MAX)
		return false;
	while (local.length && local.data[local.length - 1] != '@')
		local.length--;
	if (local.length < 2 || local.length - 1 > LOCAL_BYTES_MAX)
		return false;
	host = (struct slice){text.data + local.length, text.length - local.length};
	local.length--;
	for (size_t i = 0; i < local.length; i++) {
		char c = local.data[i];

		if (c == '.' ? before == '.'
			     : !is_letter(c) && !is_digit(c) && !(c & 0x80) &&
					!is_among(c, "!#$%&'*+-/=?^_`{|}~"))
			return false;
		before = c;
	}
	return before != '.' && format_is_hostname(host);
}

static bool is_address(int family, struct slice text)
{
	char copy[INET6_ADDRSTRLEN + 1];
	unsigned char address[16];

	if (text.length >= sizeof(copy))
		return false;
	memcpy(copy, text.length ? text.data : "", text.length);
	copy[text.length] = 0;
	return strlen(copy) == text.length && inet_pton(family, copy, address) == 1;
}

bool format_is_ipv4(struct slice text)
{
	return is_address(AF_INET, text);
}

bool format_is_ipv6(struct slice text)
{
	return is_address(AF_INET6, text);
}

/* Letters that may stand as they are, and %XX. */
static bool is_uri_part(struct slice part, const char *extra)
{
	for (size_t i = 0; i < part.length; i++) {
		char c = part.data[i];

		if (c == '%') {
			if (part.length - i < 3 || !is_hex(part.data[i + 1]) ||
				!is_hex(part.data[i + 2]))
				return false;
			i += 2;
		} else if (!is_letter(c) && !is_digit(c) && !is_among(c, UNRESERVED_EXTRA) &&
			   !is_among(c, SUB_DELIMITERS) && !is_among(c, extra)) {
			return false;
		}
	}
	return true;
}

static bool is_port(struct slice text)
{
	for (size_t i = 0; i < text.length; i++)
		if (!is_digit(text.data[i]))
			return false;
	return true;
}

static bool is_authority(struct slice text)
{
	struct slice rest = text, user = until(&rest, "@"), host;

	if (rest.length) {
		if (!is_uri_part(user, ":"))
			return false;
		text = (struct slice){rest.data + 1, rest.length - 1};
	}
	if (text.length && text.data[0] == '[') {
		struct slice inner = {text.data + 1, text.length - 1}, address;

		address = until(&inner, "]");
		if (inner.length == 0 || !format_is_ipv6(address))
			return false;
		inner.data++;
		inner.length--;
		return inner.length == 0 ||
		       (inner.data[0] == ':' &&
			       is_port((struct slice){inner.data + 1, inner.length - 1}));
	}
	host = until(&text, ":");
	return is_uri_part(host, "") &&
	       (text.length == 0 || is_port((struct slice){text.data + 1, text.length - 1}));
}

/* What follows the scheme. */
static bool is_uri_rest(struct slice text)
{
	struct slice path, query;

	if (text.length >= 2 && text.data[0] == '/' && text.data[1] == '/') {
		text.data += 2;
		text.length -= 2;
		if (!is_authority(until(&text, "/?#")))
			return false;
	}
	path = until(&text, "?#");
	if (!is_uri_part(path, ":@/"))
		return false;
	if (text.length && text.data[0] == '?') {
		query = until(&text, "#");
		if (!is_uri_part((struct slice){query.data + 1, query.length - 1}, ":@/?"))
			return false;
	}
	return text.length == 0 ||
	       is_uri_part((struct slice){text.data + 1, text.length - 1}, ":@/?");
}

/* Length of "scheme:", 0 when the text does not begin with one. */
static size_t scheme_length(struct slice text)
{
	if (text.length == 0 || !is_letter(text.data[0]))
		return 0;
	for (size_t i = 1; i < text.length; i++) {
		if (text.data[i] == ':')
			return i + 1;
		if (!is_letter(text.data[i]) && !is_digit(text.data[i]) &&
			!is_among(text.data[i], "+-."))
			return 0;
	}
	return 0;
}

bool format_is_uri(struct slice text)
{
	size_t scheme = scheme_length(text);

	return scheme && is_uri_rest((struct slice){text.data + scheme, text.length - scheme});
}

bool format_is_uri_reference(struct slice text)
{
	struct slice rest = text, first = until(&rest, "/?#");

	if (scheme_length(text))
		return format_is_uri(text);
	return !memchr(first.length ? first.data : "", ':', first.length) && is_uri_rest(text);
}

bool format_is_uuid(struct slice text)
{
	if (text.length != 36)
		return false;
	for (size_t i = 0; i < text.length; i++) {
		bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (is_dash ? text.data[i] != '-' : !is_hex(text.data[i]))
			return false;
	}
	return true;
}

static bool ends_no_header(struct slice text)
{
	for (size_t i = 0; i < text.length; i++)
		if (text.data[i] == 0 || text.data[i] == '\n' || text.data[i] == '\r')
			return false;
	return true;
}

bool format_is_header_name(struct slice text, bool is_loose)
{
	size_t first = text.length && text.data[0] == ':' ? 1 : 0;

	if (is_loose)
		return ends_no_header(text);
	for (size_t i = first; i < text.length; i++)
		if (!is_letter(text.data[i]) && !is_digit(text.data[i]) &&
			!is_among(text.data[i], "!#$%&'*+,-.^_|~`"))
			return false;
	return text.length > first;
}

bool format_is_header_value(struct slice text, bool is_loose)
{
	if (is_loose)
		return ends_no_header(text);
	for (size_t i = 0; i < text.length; i++) {
		unsigned char c = (unsigned char)text.data[i];

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}
