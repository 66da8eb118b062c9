/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/yaml_problem.h"

#include "base/text.h"

struct sentence {
	const char *problem; /* as libyaml says it */
	const char *context; /* NULL: any */
	bool shows_context;  /* the place to look at is where the construct began */
	const char *text;    /* %u:%u, if it has them, is the other place */
};

static const struct sentence sentences[] = {
	{"mapping values are not allowed in this context", NULL, false,
		"a \": \" where no key can be: put the key on a line of its own, or quote the "
		"text"},
	{"could not find expected ':'", NULL, true,
		"this looks like a key, but no \":\" follows it: is a \":\" missing, or a quote?"},
	{"block sequence entries are not allowed in this context", NULL, false,
		"a list item (\"- \") cannot start here: begin it on a new line"},
	{"mapping keys are not allowed in this context", NULL, false,
		"a key cannot start here: begin it on a new line"},
	{"did not find expected key", NULL, false,
		"wrong indentation: this is no key of the mapping that starts at %u:%u"},
	{"did not find expected '-' indicator", NULL, false,
		"wrong indentation: this is no item of the list that starts at %u:%u"},
	{"did not find expected ',' or ']'", NULL, false,
		"expected \",\" or \"]\" in the list that starts at %u:%u"},
	{"did not find expected ',' or '}'", NULL, false,
		"expected \",\" or \"}\" in the mapping that starts at %u:%u"},
	{"did not find expected node content", NULL, false, "expected a value here"},
	{"found unexpected end of stream", NULL, true,
		"the quoted text that starts here is never closed"},
	{"found unexpected document indicator", NULL, true,
		"the quoted text that starts here is not closed before the document ends at %u:%u"},
	{"found unknown escape character", NULL, false,
		"unknown escape in a double-quoted text: write the backslash twice, or use single "
		"quotes"},
	{"did not find expected hexdecimal number", NULL, false,
		"an escape in a double-quoted text lacks hexadecimal digits"},
	{"found invalid Unicode character escape code", NULL, false,
		"an escape in a double-quoted text stands for no character"},
	{"found a tab character where an indentation space is expected", NULL, false,
		"a tab in the indentation: YAML wants spaces"},
	{"found a tab character where an indentation space was expected", NULL, false,
		"a tab in the indentation: YAML wants spaces"},
	{"found a tab character that violates indentation", NULL, false,
		"a tab in the indentation: YAML wants spaces"},
	{"found a tab character that violate indentation", NULL, false,
		"a tab in the indentation: YAML wants spaces"},
	{"did not find expected alphabetic or numeric character", "while scanning an alias", true,
		"a \"*\" starts an alias and needs a name; for a plain \"*\" write \"*\" with "
		"quotes"},
	{"did not find expected alphabetic or numeric character", "while scanning an anchor", true,
		"a \"&\" starts an anchor and needs a name; quote a text that begins with \"&\""},
	{"did not find expected comment or line break", NULL, false,
		"after \"|\" or \">\" the text must begin on the next line"},
	{"found an indentation indicator equal to 0", NULL, false,
		"the indentation after \"|\" or \">\" must be 1 to 9"},
	{"found undefined tag handle", NULL, false,
		"unknown tag: its \"!...!\" prefix is not declared"},
	{"did not find expected whitespace or line break", NULL, false,
		"a tag must end with a space"},
	{"did not find expected tag URI", NULL, false, "a tag needs a name after \"!\""},
	{"did not find expected <document start>", NULL, false,
		"text after the end of a document: expected \"---\" on a line before it"},
	{"found incompatible YAML document", NULL, false, "only YAML 1.1 and 1.2 can be read"},
	{"found duplicate %YAML directive", NULL, false, "a second %%YAML line"},
	{"found duplicate %TAG directive", NULL, false, "a second %%TAG line with the same handle"},
	{"found unknown directive name", NULL, false,
		"a line that starts with \"%%\" is a directive; quote text that begins with "
		"\"%%\""},
};

static void describe_token(struct slice at, struct buf *out)
{
	if (at.length && at.data[0] == '\t')
		buf_puts(out, "a tab in the indentation: YAML wants spaces");
	else if (at.length == 0)
		buf_puts(out, "the text ends in the middle of something");
	else {
		buf_puts(out, "a plain text cannot start with \"");
		text_quote(out, at, 8);
		buf_puts(out, "\": quote it");
	}
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
bool yaml_problem_describe(
	const yaml_parser_t *parser, struct slice at, struct position context, struct buf *out)
{
	const char *problem = parser->problem ? parser->problem : "not readable as YAML";

	if (strcmp(problem, "found character that cannot start any token") == 0) {
		describe_token(at, out);
		return false;
	}
	for (size_t i = 0; i < sizeof(sentences) / sizeof(*sentences); i++) {
		const struct sentence *sentence = &sentences[i];

		if (strcmp(sentence->problem, problem) != 0)
			continue;
		if (sentence->context &&
			(!parser->context || strcmp(sentence->context, parser->context) != 0))
			continue;
		struct position other = context;

		if (sentence->shows_context)
			other = (struct position){(uint32_t)parser->problem_mark.line + 1,
				(uint32_t)parser->problem_mark.column + 1};
		buf_printf(out, sentence->text, other.line, other.column);
		return sentence->shows_context && context.line;
	}
	buf_printf(out, "not YAML: %s", problem);
	if (parser->context)
		buf_printf(out, " %s", parser->context);
	if (context.line)
		buf_printf(out, " that starts at %u:%u", context.line, context.column);
	return false;
}
#pragma GCC diagnostic pop
