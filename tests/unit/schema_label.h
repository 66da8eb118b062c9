/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Golden files must not depend on which Envoy API the schema was built from. */
#ifndef XDSPUB_TESTS_UNIT_SCHEMA_LABEL_H
#define XDSPUB_TESTS_UNIT_SCHEMA_LABEL_H

#include "base/buf.h"
#include "schema/schema.h"

/* Puts "schema envoy.pb" wherever the text names the Envoy schema by its label. */
static inline void schema_label_hide(struct buf *text, const struct schema *schema)
{
	const char *label = schema_label(schema), *plain = "schema envoy.pb";
	struct buf copy = BUF_INIT;
	const char *at, *found;

	if (!strstr(label, " in envoy.pb"))
		return;
	for (at = buf_cstr(text); (found = strstr(at, label)); at = found + strlen(label)) {
		buf_append(&copy, at, (size_t)(found - at));
		buf_puts(&copy, plain);
	}
	buf_puts(&copy, at);
	buf_fini(text);
	*text = copy;
}

#endif
