/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lint/facts.h"

#include <stdlib.h>

#include "base/mem.h"

/* Strings move while the draft grows, so it holds offsets. */
struct facts_drafted {
	struct fact fact;
	size_t name, where, path, via; /* path, via 0: not in an included file */
};

struct slice fact_key(const struct fact *fact)
{
	return (struct slice){fact->name.data - 1, fact->name.length + 1};
}

static void end_string(struct facts_draft *draft)
{
	buf_putc(&draft->strings, '\0');
}

void facts_add(struct facts_draft *draft, enum fact_kind kind, unsigned flags, struct slice name,
	const struct field_step *step, struct position at, const struct diag_list *diags)
{
	struct facts_drafted *drafted;
	struct buf *strings = &draft->strings;

	array_reserve(draft->facts, draft->capacity, draft->count + 1);
	drafted = &draft->facts[draft->count++];
	*drafted = (struct facts_drafted){.fact = {.kind = kind, .flags = flags, .at = at}};
	buf_putc(strings, (char)kind);
	drafted->name = strings->length;
	drafted->fact.name.length = name.length;
	buf_append_slice(strings, name);
	end_string(draft);
	drafted->where = strings->length;
	if (step)
		field_path_write(step, strings);
	end_string(draft);
	if (at.line < DIAG_INCLUDED_LINE)
		return;
	drafted->path = strings->length;
	buf_puts(strings, diag_list_file(diags, "", at, &drafted->fact.at.line));
	end_string(draft);
	drafted->via = strings->length;
	diag_list_via(diags, at, strings);
	end_string(draft);
}

struct facts *facts_finish(struct facts_draft *draft)
{
	size_t head = sizeof(struct facts) + draft->count * sizeof(struct fact);
	struct facts *facts;
	char *strings;

	if (draft->count == 0)
		return NULL;
	facts = xmalloc(head + draft->strings.length);
	strings = (char *)facts + head;
	facts->count = (uint32_t)draft->count;
	memcpy(strings, draft->strings.data, draft->strings.length);
	for (uint32_t i = 0; i < facts->count; i++) {
		const struct facts_drafted *drafted = &draft->facts[i];
		struct fact *fact = &facts->facts[i];

		*fact = drafted->fact;
		fact->name.data = strings + drafted->name;
		fact->where = strings + drafted->where;
		fact->path = drafted->path ? strings + drafted->path : NULL;
		fact->via = drafted->via ? strings + drafted->via : NULL;
	}
	facts_reset(draft);
	return facts;
}

void facts_reset(struct facts_draft *draft)
{
	draft->count = 0;
	buf_reset(&draft->strings);
}

void facts_draft_fini(struct facts_draft *draft)
{
	free(draft->facts);
	buf_fini(&draft->strings);
	*draft = (struct facts_draft){0};
}
