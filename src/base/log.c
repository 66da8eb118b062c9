/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/text.h"

#define VALUE_BYTES 4096

static const char *const level_names[] = {
	[LOG_LEVEL_ERROR] = "error",
	[LOG_LEVEL_WARNING] = "warning",
	[LOG_LEVEL_INFO] = "info",
	[LOG_LEVEL_DEBUG] = "debug",
};

static const char level_priorities[] = {
	[LOG_LEVEL_ERROR] = '3',
	[LOG_LEVEL_WARNING] = '4',
	[LOG_LEVEL_INFO] = '6',
	[LOG_LEVEL_DEBUG] = '7',
};

/* The variable names the journal's socket; a descriptor that was redirected is another one. */
static bool is_journal(int fd)
{
	const char *stream = getenv("JOURNAL_STREAM");
	uintmax_t device;
	uintmax_t inode;
	struct stat st;

	return stream && sscanf(stream, "%ju:%ju", &device, &inode) == 2 && fstat(fd, &st) == 0 &&
	       st.st_dev == device && st.st_ino == inode;
}

void log_init(struct log *log, int fd, enum log_level level)
{
	*log = (struct log){.fd = fd, .level = level, .journal = is_journal(fd)};
}

int log_level_parse(struct slice text, enum log_level *ret_level)
{
	for (size_t i = 0; i < sizeof(level_names) / sizeof(level_names[0]); i++) {
		if (!slice_is(text, level_names[i]))
			continue;
		*ret_level = (enum log_level)i;
		return 0;
	}
	return -EINVAL;
}

static bool is_plain(struct slice value)
{
	for (size_t i = 0; i < value.length; i++) {
		unsigned char byte = (unsigned char)value.data[i];

		if (byte <= ' ' || byte == '"' || byte == '=' || byte == '\\' || byte >= 0x7f)
			return false;
	}
	return value.length && value.length <= VALUE_BYTES;
}

static void put_value(struct buf *line, struct slice value)
{
	struct buf safe = {.limit_bytes = 2 * VALUE_BYTES};

	if (is_plain(value)) {
		buf_append_slice(line, value);
		return;
	}
	buf_putc(line, '"');
	/* Quotes and backslashes first, so that the escapes which text_quote adds stay single. */
	for (size_t i = 0; i < value.length && i < VALUE_BYTES; i++) {
		if (value.data[i] == '"' || value.data[i] == '\\')
			buf_putc(&safe, '\\');
		buf_putc(&safe, value.data[i]);
	}
	text_quote(line, buf_slice(&safe), 0);
	if (value.length > VALUE_BYTES)
		buf_puts(line, "...");
	buf_putc(line, '"');
	buf_fini(&safe);
}

void log_write(const struct log *log, enum log_level level, const char *event,
	const struct log_field *fields, size_t count)
{
	struct buf line = BUF_INIT;
	int saved = errno;

	if (level > __atomic_load_n(&log->level, __ATOMIC_RELAXED))
		return;
	if (log->journal) {
		buf_printf(&line, "<%c>", level_priorities[level]);
	} else {
		char now[25];

		clock_format_utc(clock_wall_ms(), now);
		buf_printf(&line, "%s ", now);
	}
	buf_printf(&line, "level=%s event=%s", level_names[level], event);
	for (size_t i = 0; i < count; i++) {
		buf_printf(&line, " %s=", fields[i].key);
		if (fields[i].kind == LOG_FIELD_NUMBER)
			buf_printf(&line, "%" PRId64, fields[i].number);
		else
			put_value(&line, fields[i].text);
	}
	buf_putc(&line, '\n');
	/* A log that cannot be written has nobody to tell. */
	if (!buf_error(&line))
		while (write(log->fd, line.data, line.length) < 0 && errno == EINTR)
			continue;
	buf_fini(&line);
	errno = saved;
}
