/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a journal file: never a crash, and whatever open accepts it accepts again unchanged,
 * also with one more batch behind. The first input byte 'h' puts a good header in front. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_fine)
{
	if (!is_fine)
		abort();
}

static int remember(void *ctx, uint8_t kind, struct slice body)
{
	check(kind != JOURNAL_COMMIT && body.length <= JOURNAL_BODY_BYTES);
	buf_putc(ctx, (char)kind);
	buf_printf(ctx, "%zu:", body.length);
	buf_append_slice(ctx, body);
	return 0;
}

static int open_at(int dirfd, struct buf *seen, struct journal **ret_journal)
{
	buf_reset(seen);
	return journal_open(dirfd, "j", 0600, "xdspubF\n", 1, remember, seen, ret_journal);
}

static void reopen(int dirfd)
{
	struct buf first = BUF_INIT;
	struct buf second = BUF_INIT;
	struct slice body = SLICE("one more");
	struct journal *journal;

	if (open_at(dirfd, &first, &journal) == 0) {
		journal_add(journal, 1, &body, 1);
		check(journal_commit(journal, false) == 0);
		journal_close(journal);
		remember(&first, 1, body);
		check(open_at(dirfd, &second, &journal) == 0);
		check(journal_dropped(journal) == 0);
		check(slice_equal(buf_slice(&first), buf_slice(&second)));
		journal_close(journal);
	}
	buf_fini(&first);
	buf_fini(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char header[] = "xdspubF\n\1\0\0\0\0\0\0";
	char path[] = "/tmp/xdspub-fuzz-XXXXXX";
	int dirfd;
	int fd;

	check(mkdtemp(path) != NULL);
	dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = openat(dirfd, "j", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	check(fd >= 0);
	if (size && data[0] == 'h') {
		check(file_write_all(fd, header, sizeof(header)) == 0);
		data++;
		size--;
	}
	check(file_write_all(fd, data, size) == 0);
	close(fd);
	reopen(dirfd);
	unlinkat(dirfd, "j", 0);
	close(dirfd);
	rmdir(path);
	return 0;
}
