/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/mem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Noreturn void die(void)
{
	static const char message[] = "xdspub: out of memory\n";

	if (write(STDERR_FILENO, message, sizeof(message) - 1) < 0)
		abort();
	abort();
}

void *xmalloc(size_t size)
{
	void *memory = malloc(size ? size : 1);

	if (!memory)
		die();
	return memory;
}

void *xcalloc(size_t count, size_t size)
{
	void *memory = count && size ? calloc(count, size) : calloc(1, 1);

	if (!memory)
		die();
	return memory;
}

void *xrealloc(void *old, size_t size)
{
	void *memory = realloc(old, size ? size : 1);

	if (!memory)
		die();
	return memory;
}

void *xreallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		die();
	return xrealloc(old, bytes);
}

char *xstrdup(const char *text)
{
	return xstrndup(text, strlen(text));
}

char *xstrndup(const char *text, size_t length)
{
	char *copy = xmalloc(length + 1);

	if (length)
		memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

char *xasprintf(const char *format, ...)
{
	va_list arguments;
	char *text = NULL;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0 || !text)
		die();
	return text;
}

void mem_auto_free(void *pointer_to_pointer)
{
	void *memory;

	memcpy(&memory, pointer_to_pointer, sizeof(memory));
	free(memory);
}

void mem_auto_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}
