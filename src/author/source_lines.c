/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/source_lines.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"

#define FILE_BYTES_MAX ((uint64_t)16 << 20)

struct source_lines {
	char *path; /* of what is in `text`; NULL: nothing yet */
	struct buf text;
	size_t *starts; /* of each line */
	size_t count, capacity;
};

struct source_lines *source_lines_new(void)
{
	return xcalloc(1, sizeof(struct source_lines));
}

void source_lines_free(struct source_lines *lines)
{
	if (!lines)
		return;
	free(lines->path);
	free(lines->starts);
	buf_fini(&lines->text);
	free(lines);
}

/* Ordinary files only: a pipe would be emptied, or never answer. */
static int read_ordinary(const char *path, struct buf *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), error = -1;
	struct stat status;

	if (fd < 0)
		return -1;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		error = file_read_fd(fd, FILE_BYTES_MAX, text);
	close(fd);
	return error;
}

static void load(struct source_lines *lines, const char *path)
{
	struct slice text;
	size_t at = 0;

	free(lines->path);
	lines->path = xstrdup(path);
	lines->count = 0;
	buf_reset(&lines->text);
	if (read_ordinary(path, &lines->text))
		buf_reset(&lines->text);
	text = buf_slice(&lines->text);
	if (text.length >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0)
		at = 3;
	while (at < text.length) {
		const char *end = memchr(text.data + at, '\n', text.length - at);

		array_reserve(lines->starts, lines->capacity, lines->count + 1);
		lines->starts[lines->count++] = at;
		at = end ? (size_t)(end - text.data) + 1 : text.length;
	}
}

bool source_lines_get(
	struct source_lines *lines, const char *path, uint32_t line, struct slice *ret_line)
{
	size_t start, end;
	struct slice found;

	if (!path[0] || line == 0)
		return false;
	if (!lines->path || strcmp(lines->path, path) != 0)
		load(lines, path);
	if (line > lines->count)
		return false;
	start = lines->starts[line - 1];
	end = line < lines->count ? lines->starts[line] : lines->text.length;
	while (end > start &&
		(lines->text.data[end - 1] == '\n' || lines->text.data[end - 1] == '\r'))
		end--;
	found = (struct slice){lines->text.data + start, end - start};
	if (!text_is_utf8(found) || memchr(found.data, 0, found.length))
		return false;
	*ret_line = found;
	return true;
}
