/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lint/certificate.h"

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <string.h>

static gnutls_datum_t datum_of(struct slice bytes)
{
	return (gnutls_datum_t){(unsigned char *)(uintptr_t)bytes.data, (unsigned int)bytes.length};
}

/* An id of the public key; false: it is of a kind that cannot be compared. */
static bool id_of(gnutls_pubkey_t key, unsigned char id[static 64], size_t *length)
{
	*length = 64;
	return gnutls_pubkey_get_key_id(key, GNUTLS_KEYID_USE_SHA256, id, length) == 0;
}

static bool is_other_key(gnutls_x509_crt_t certificate, gnutls_privkey_t key)
{
	unsigned char ids[2][64];
	size_t lengths[2] = {0, 0};
	gnutls_pubkey_t public_keys[2];
	bool is_known;

	gnutls_pubkey_init(&public_keys[0]);
	gnutls_pubkey_init(&public_keys[1]);
	is_known = gnutls_pubkey_import_x509(public_keys[0], certificate, 0) == 0 &&
		   gnutls_pubkey_import_privkey(public_keys[1], key, 0, 0) == 0 &&
		   id_of(public_keys[0], ids[0], &lengths[0]) &&
		   id_of(public_keys[1], ids[1], &lengths[1]);
	gnutls_pubkey_deinit(public_keys[0]);
	gnutls_pubkey_deinit(public_keys[1]);
	return is_known && (lengths[0] != lengths[1] || memcmp(ids[0], ids[1], lengths[0]) != 0);
}

static void look_at_key(
	gnutls_x509_crt_t certificate, struct slice bytes, struct certificate_report *report)
{
	gnutls_datum_t datum = datum_of(bytes);
	gnutls_privkey_t key;

	if (gnutls_privkey_init(&key))
		return;
	if (gnutls_privkey_import_x509_raw(key, &datum, GNUTLS_X509_FMT_PEM, NULL, 0))
		report->is_key_unreadable = true;
	else
		report->is_mismatch = is_other_key(certificate, key);
	gnutls_privkey_deinit(key);
}

struct certificate_report certificate_look(struct slice chain, struct slice key)
{
	struct certificate_report report = {.expires = INT64_MAX, .begins = INT64_MIN};
	gnutls_datum_t datum = datum_of(chain);
	gnutls_x509_crt_t *certificates = NULL;
	unsigned int count = 0;

	if (gnutls_x509_crt_list_import2(&certificates, &count, &datum, GNUTLS_X509_FMT_PEM, 0) <
			0 ||
		count == 0) {
		report.is_unreadable = true;
		gnutls_free(certificates);
		return report;
	}
	for (unsigned int i = 0; i < count; i++) {
		int64_t expires = gnutls_x509_crt_get_expiration_time(certificates[i]);
		int64_t begins = gnutls_x509_crt_get_activation_time(certificates[i]);

		if (expires < report.expires)
			report.expires = expires;
		if (begins > report.begins)
			report.begins = begins;
	}
	report.count = count;
	if (key.length)
		look_at_key(certificates[0], key, &report);
	for (unsigned int i = 0; i < count; i++)
		gnutls_x509_crt_deinit(certificates[i]);
	gnutls_free(certificates);
	return report;
}
