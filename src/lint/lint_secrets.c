/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lint/lint_secrets.h"

#include <time.h>

#include "base/clock.h"
#include "lint/certificate.h"

#define CERTIFICATE "envoy.extensions.transport_sockets.tls.v3.TlsCertificate"

/* The content of a DataSource that has it; false: it is elsewhere. */
static bool inline_of(const struct message *message, const char *field, struct slice *ret_bytes)
{
	const struct message *source = lint_message(message, field);
	const struct message_field *entry = lint_field(source, "inline_string");

	if (!entry)
		entry = lint_field(source, "inline_bytes");
	if (!entry)
		return false;
	*ret_bytes = entry->one.bytes;
	return true;
}

struct pair {
	struct certificate_report report;
	bool is_here; /* the certificates are, and were looked at */
};

static struct pair look_at_pair(const struct message *message)
{
	struct slice chain, key = {NULL, 0};
	struct pair pair = {.is_here = inline_of(message, "certificate_chain", &chain)};

	/* A key with a password can be opened by Envoy alone. */
	if (lint_field(message, "password") || !inline_of(message, "private_key", &key))
		key = (struct slice){NULL, 0};
	if (pair.is_here)
		pair.report = certificate_look(chain, key);
	return pair;
}

static void look_for_unreadable(struct lint_look *look, const struct message *message)
{
	struct slice bytes;

	if (lint_is(message, CERTIFICATE)) {
		struct pair pair = look_at_pair(message);

		if (pair.is_here && pair.report.is_unreadable)
			lint_say(look, message, "certificate_chain",
				"there is no certificate in PEM form in it");
		else if (pair.is_here && pair.report.is_key_unreadable)
			lint_say(look, message, "private_key",
				"there is no private key in PEM form in it");
	} else if (inline_of(message, "trusted_ca", &bytes)) {
		if (certificate_look(bytes, (struct slice){NULL, 0}).is_unreadable)
			lint_say(look, message, "trusted_ca",
				"there is no certificate in PEM form in it");
	}
}

static void look_for_mismatch(struct lint_look *look, const struct message *message)
{
	struct pair pair = look_at_pair(message);

	if (pair.is_here && pair.report.is_mismatch)
		lint_say(look, message, "private_key",
			"this is not the key of the certificate at the head of certificate_chain");
}

static void say_time(struct lint_look *look, const struct message *message, const char *field,
	const struct certificate_report *report)
{
	int64_t now = clock_wall_ms() / 1000;
	bool is_over = report->expires < now;
	time_t when = (time_t)(is_over ? report->expires : report->begins);
	struct tm parts;
	char text[40];

	if (report->is_unreadable || (!is_over && report->begins <= now))
		return;
	if (!gmtime_r(&when, &parts) || !strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &parts))
		return;
	lint_say(look, message, field, "a certificate in it %s on %s",
		is_over ? "expired" : "begins to hold only", text);
}

static void look_at_times(struct lint_look *look, const struct message *message)
{
	struct certificate_report report;
	struct slice bytes;

	if (lint_is(message, CERTIFICATE) && inline_of(message, "certificate_chain", &bytes)) {
		report = certificate_look(bytes, (struct slice){NULL, 0});
		say_time(look, message, "certificate_chain", &report);
	} else if (inline_of(message, "trusted_ca", &bytes)) {
		report = certificate_look(bytes, (struct slice){NULL, 0});
		/* Collections have some that are over, and nobody minds. */
		if (report.count == 1)
			say_time(look, message, "trusted_ca", &report);
	}
}

static void look_for_open_keys(struct lint_look *look, const struct message *message)
{
	struct slice key;

	if (look->row->type != XDS_SDS && inline_of(message, "private_key", &key) && key.length)
		lint_say(look, message, "private_key",
			"a private key outside of secrets/: it is shown wherever this resource is; "
			"make it a secret and name it with sds_config");
}

static const char *const certificates[] = {CERTIFICATE, NULL};
static const char *const all[] = {CERTIFICATE,
	"envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext", NULL};

const struct lint lint_secrets[] = {
	{.rule = "bad-certificate", .level = DIAG_ERROR, .types = all, .look = look_for_unreadable},
	{.rule = "key-mismatch",
		.level = DIAG_ERROR,
		.types = certificates,
		.look = look_for_mismatch},
	{.rule = "expired-certificate", .level = DIAG_WARNING, .types = all, .look = look_at_times},
	{.rule = "inline-private-key",
		.level = DIAG_WARNING,
		.types = certificates,
		.look = look_for_open_keys},
	{0},
};
