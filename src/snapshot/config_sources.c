/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot/config_sources.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/record.h"

/*
 * The text (numbers little-endian): per transport, for each of its literals in the order of the
 * first type that has it: u8 transport, u16 bits of the types, u32 length and the literal.
 */
static void write_text(const source_table table, struct buf *out)
{
	for (int transport = 0; transport < SOURCE_TRANSPORTS; transport++) {
		unsigned written = 0;

		for (int type = 0; type < SOURCE_TYPES; type++) {
			unsigned types = 0;

			if (written & 1u << type)
				continue;
			for (int other = type; other < SOURCE_TYPES; other++)
				if (slice_equal(table[transport][type], table[transport][other]))
					types |= 1u << other;
			written |= types;
			record_put_number(out, (uint64_t)transport, 1);
			record_put_number(out, types, 2);
			record_put_text(out, table[transport][type]);
		}
	}
}

/* The slices point into the text. */
static int read_text(struct slice text, source_table out)
{
	unsigned seen[SOURCE_TRANSPORTS] = {0};
	struct record_reader reader = {text, false};

	while (reader.rest.length && !reader.failed) {
		uint64_t transport = record_number(&reader, 1);
		unsigned types = (unsigned)record_number(&reader, 2);
		struct slice literal = record_text(&reader);

		if (reader.failed || transport >= SOURCE_TRANSPORTS || types >> SOURCE_TYPES ||
			types & seen[transport])
			return -EBADMSG;
		seen[transport] |= types;
		for (int type = 0; type < SOURCE_TYPES; type++)
			if (types & 1u << type)
				out[transport][type] = literal;
	}
	for (int transport = 0; transport < SOURCE_TRANSPORTS; transport++)
		if (seen[transport] != (1u << SOURCE_TYPES) - 1)
			return -EBADMSG;
	return reader.failed ? -EBADMSG : 0;
}

static struct config_sources *make(struct slice text)
{
	struct config_sources *sources = xmalloc(sizeof(*sources) + text.length);
	struct digest_context context;
	char *copy = (char *)(sources + 1);

	atomic_init(&sources->references, 1);
	memcpy(copy, text.data, text.length);
	sources->text = (struct slice){copy, text.length};
	digest_begin(&context, "xdspub config sources 1");
	digest_part(&context, sources->text);
	sources->digest = digest_end(&context);
	return sources;
}

struct config_sources *config_sources_new(const source_table table)
{
	struct config_sources *sources = NULL;
	struct buf text = BUF_INIT;

	write_text(table, &text);
	sources = make(buf_slice(&text));
	buf_fini(&text);
	/* What was just written is sound. */
	(void)read_text(sources->text, sources->table);
	return sources;
}

int config_sources_parse(struct slice text, struct config_sources **ret_sources)
{
	struct config_sources *sources = text.length ? make(text) : NULL;

	if (!sources || read_text(sources->text, sources->table)) {
		config_sources_unref(sources);
		return -EBADMSG;
	}
	*ret_sources = sources;
	return 0;
}

struct config_sources *config_sources_ref(struct config_sources *sources)
{
	atomic_fetch_add_explicit(&sources->references, 1, memory_order_relaxed);
	return sources;
}

void config_sources_unref(struct config_sources *sources)
{
	if (sources &&
		atomic_fetch_sub_explicit(&sources->references, 1, memory_order_acq_rel) == 1)
		free(sources);
}

void config_sources_preset(source_table out)
{
	/* self {} or ads {}, and resource_api_version: V3. */
	static const char self[] = {0x2a, 0, 0x30, 2}, ads[] = {0x1a, 0, 0x30, 2};

	for (int transport = 0; transport < SOURCE_TRANSPORTS; transport++)
		for (int type = 0; type < SOURCE_TYPES; type++)
			out[transport][type] = transport == SOURCE_ADS
						       ? (struct slice){ads, sizeof(ads)}
						       : (struct slice){self, sizeof(self)};
	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		if (xds_type_row((enum xds_type)type)->files != XDS_FILE_NONE)
			out[SOURCE_FILES][type] = SLICE("");
}
