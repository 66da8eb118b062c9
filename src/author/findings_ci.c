/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/findings_ci.h"

#include "base/text.h"

/* --- GitHub -------------------------------------------------------------------------------- */

static void write_command_text(struct buf *out, struct slice text, bool is_property)
{
	for (size_t i = 0; i < text.length; i++) {
		unsigned char c = (unsigned char)text.data[i];

		if (c == '%' || c == '\r' || c == '\n' || (is_property && (c == ':' || c == ',')))
			buf_printf(out, "%%%02X", c);
		else
			buf_putc(out, (char)c);
	}
}

void findings_ci_github(const struct diag *diag, struct buf *out)
{
	struct buf text = BUF_INIT;

	/* Words of an operator's terminal are not those of a browser: escapes stay text. */
	text_quote(&text, slice_of(diag->text), 0);
	if (diag->via[0]) {
		buf_puts(&text, " (included by ");
		diag_format_via(diag, &text);
		buf_putc(&text, ')');
	}
	buf_printf(
		out, "::%s ", diag->level == DIAG_NOTE ? "notice" : diag_level_name(diag->level));
	if (diag->path[0]) {
		buf_puts(out, "file=");
		write_command_text(out, slice_of(diag->path), true);
		if (diag->at.line)
			buf_printf(out, ",line=%u", diag->at.line);
		if (diag->at.line && diag->at.column)
			buf_printf(out, ",col=%u", diag->at.column);
		buf_putc(out, ',');
	}
	buf_puts(out, "title=");
	write_command_text(out, slice_of(diag->rule[0] ? diag->rule : "xdspub"), true);
	buf_puts(out, "::");
	write_command_text(out, buf_slice(&text), false);
	buf_putc(out, '\n');
	buf_fini(&text);
}

/* --- JUnit --------------------------------------------------------------------------------- */

static void write_xml(struct buf *out, const char *text)
{
	struct buf safe = BUF_INIT;

	/* Nothing that XML 1.0 cannot hold is left then, but U+FFFE and U+FFFF. */
	text_quote(&safe, slice_of(text), 0);
	for (size_t i = 0; i < safe.length; i++) {
		unsigned char c = (unsigned char)safe.data[i];

		if (c == '&')
			buf_puts(out, "&amp;");
		else if (c == '<')
			buf_puts(out, "&lt;");
		else if (c == '>')
			buf_puts(out, "&gt;");
		else if (c == '"')
			buf_puts(out, "&quot;");
		else if (c == 0xef && i + 2 < safe.length &&
			 (unsigned char)safe.data[i + 1] == 0xbf &&
			 (unsigned char)safe.data[i + 2] >= 0xbe) {
			buf_puts(out, "&#xFFFD;");
			i += 2;
		} else {
			buf_putc(out, (char)c);
		}
	}
	buf_fini(&safe);
}

static bool is_shown(const struct findings_junit *options, const struct diag *diag)
{
	return diag->level != DIAG_NOTE || options->has_notes;
}

static bool is_failure(const struct findings_junit *options, const struct diag *diag)
{
	return diag->level == DIAG_ERROR || (diag->level == DIAG_WARNING && options->is_strict);
}

static void write_case(
	const struct findings_junit *options, const struct diag *diag, struct buf *out)
{
	struct buf line = BUF_INIT;

	diag_format(diag, &line);
	buf_puts(out, "    <testcase classname=\"");
	write_xml(out, diag->rule);
	buf_puts(out, "\" name=\"");
	write_xml(out, diag->path[0] ? diag->path : "xdspub");
	if (diag->path[0] && diag->at.line)
		buf_printf(out, ":%u:%u", diag->at.line, diag->at.column);
	buf_puts(out, "\" time=\"0\">\n");
	if (is_failure(options, diag)) {
		buf_puts(out, "      <failure type=\"");
		write_xml(out, diag->rule);
		buf_puts(out, "\" message=\"");
		write_xml(out, diag->text);
		buf_puts(out, "\">");
		write_xml(out, buf_cstr(&line));
		buf_puts(out, "</failure>\n");
	} else {
		buf_puts(out, "      <system-out>");
		write_xml(out, buf_cstr(&line));
		buf_puts(out, "</system-out>\n");
	}
	buf_puts(out, "    </testcase>\n");
	buf_fini(&line);
}

void findings_ci_junit(
	const struct findings_junit *options, const struct diag_list *diags, struct buf *out)
{
	size_t cases = 0, failures = 0;

	for (size_t i = 0; i < diag_list_count(diags); i++) {
		cases += is_shown(options, diag_list_get(diags, i));
		failures += is_failure(options, diag_list_get(diags, i));
	}
	buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	buf_printf(out,
		"  <testsuite name=\"xdspub check\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" "
		"skipped=\"0\" time=\"0\">\n",
		cases ? cases : options->checked_count, failures);
	for (size_t i = 0; !cases && i < options->checked_count; i++) {
		buf_puts(out, "    <testcase classname=\"xdspub\" name=\"");
		write_xml(out, options->checked[i]);
		buf_puts(out, "\" time=\"0\"/>\n");
	}
	for (size_t i = 0; i < diag_list_count(diags); i++) {
		if (is_shown(options, diag_list_get(diags, i)))
			write_case(options, diag_list_get(diags, i), out);
	}
	buf_puts(out, "  </testsuite>\n</testsuites>\n");
}
