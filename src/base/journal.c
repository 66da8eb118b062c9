/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/journal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/mem.h"

#define HEADER_BYTES 16
#define RECORD_BYTES 9 /* in front of the body */
#define READ_BYTES   (1u << 18)
#define FLUSH_BYTES  (1u << 20) /* a rewrite keeps no more than this in memory */
#define OPEN_TRIES   10

struct journal {
	int dirfd;
	int fd;
	char *name;
	char *new_name;
	unsigned char header[HEADER_BYTES];
	uint64_t size; /* up to the end of the last commit */
	uint64_t dropped;
	struct buf batch;
	int batch_error;
	bool has_tail; /* there may be bytes behind size */
	bool is_rename_unsynced;
	int new_fd; /* -1: no rewrite runs */
	uint64_t new_size;
};

static void store_32(unsigned char *out, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		out[i] = (unsigned char)(value >> (8 * i));
}

static uint32_t load_32(const char *bytes)
{
	uint32_t value = 0;

	for (int i = 0; i < 4; i++)
		value |= (uint32_t)(unsigned char)bytes[i] << (8 * i);
	return value;
}

static int write_at(int fd, const void *data, size_t length, uint64_t offset)
{
	const char *rest = data;

	while (length) {
		ssize_t put = pwrite(fd, rest, length, (off_t)offset);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put < 0 ? -errno : -EIO;
		rest += put;
		length -= (size_t)put;
		offset += (uint64_t)put;
	}
	return 0;
}

/* A window that moves over the file, so that memory is bounded by the largest record. */
struct reader {
	int fd;
	uint64_t end;	   /* nothing is read beyond */
	uint64_t at;	   /* file offset of the next record */
	struct buf window; /* what was read from `at` - used on */
	size_t used;
};

/* 0, -ENODATA: the file ends before, or an I/O error. */
static int reader_need(struct reader *reader, size_t bytes)
{
	struct buf *window = &reader->window;
	size_t have = window->length - reader->used;

	if (have >= bytes)
		return 0;
	if (bytes > reader->end - reader->at)
		return -ENODATA;
	if (have)
		memmove(window->data, window->data + reader->used, have);
	window->length = have;
	reader->used = 0;
	while (window->length < bytes) {
		uint64_t offset = reader->at + window->length;
		uint64_t left = reader->end - offset;
		size_t want = bytes - window->length;
		char *room;
		ssize_t got;

		if (want < READ_BYTES)
			want = left < READ_BYTES ? (size_t)left : READ_BYTES;
		room = buf_reserve(window, want);
		if (!room)
			return buf_error(window);
		got = pread(reader->fd, room, want, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -ENODATA;
		window->length += (size_t)got;
	}
	return 0;
}

/* 0, -ENODATA: no whole record here, or an I/O error. The body lives until the next call. */
static int reader_next(struct reader *reader, uint8_t *ret_kind, struct slice *ret_body)
{
	int error = reader_need(reader, RECORD_BYTES);
	const char *record;
	uint32_t length;

	if (error)
		return error;
	length = load_32(reader->window.data + reader->used);
	if (length > JOURNAL_BODY_BYTES)
		return -ENODATA;
	error = reader_need(reader, RECORD_BYTES + (size_t)length);
	if (error)
		return error;
	record = reader->window.data + reader->used;
	if (load_32(record + 4) != crc32c_update(0, record + 8, 1 + (size_t)length) ||
		(record[8] == JOURNAL_COMMIT && length))
		return -ENODATA;
	*ret_kind = (uint8_t)record[8];
	*ret_body = (struct slice){record + RECORD_BYTES, length};
	reader->used += RECORD_BYTES + (size_t)length;
	reader->at += RECORD_BYTES + (size_t)length;
	return 0;
}

/* Finds the end of the last whole batch. */
static int find_end(int fd, uint64_t file_size, uint64_t *ret_end)
{
	struct reader reader = {.fd = fd, .at = HEADER_BYTES, .end = file_size};
	uint64_t end = HEADER_BYTES;
	uint8_t kind;
	struct slice body;
	int error;

	while (!(error = reader_next(&reader, &kind, &body)))
		if (kind == JOURNAL_COMMIT)
			end = reader.at;
	buf_fini(&reader.window);
	if (error != -ENODATA)
		return error;
	*ret_end = end;
	return 0;
}

static int replay_to(int fd, uint64_t end, journal_replay_cb replay, void *ctx)
{
	struct reader reader = {.fd = fd, .at = HEADER_BYTES, .end = end};
	uint8_t kind;
	struct slice body;
	int error = 0;

	while (!error && reader.at < end) {
		error = reader_next(&reader, &kind, &body);
		if (error == -ENODATA)
			error = -EIO; /* it was whole a moment ago */
		else if (!error && kind != JOURNAL_COMMIT && replay)
			error = replay(ctx, kind, body);
	}
	buf_fini(&reader.window);
	return error;
}

/* Opens the file and locks it; sure to be the one that has the name now. */
static int open_locked(int dirfd, const char *name, unsigned mode, int *ret_fd)
{
	for (int tries = 0; tries < OPEN_TRIES; tries++) {
		AUTO_CLOSE int fd = openat(dirfd, name,
			O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, (mode_t)mode);
		struct stat opened;
		struct stat named;

		if (fd < 0)
			return -errno;
		if (flock(fd, LOCK_EX | LOCK_NB) < 0)
			return errno == EWOULDBLOCK ? -EBUSY : -errno;
		if (fstat(fd, &opened) < 0)
			return -errno;
		if (!S_ISREG(opened.st_mode))
			return -EBADMSG;
		/* A rewrite by the former owner may have put another file in its place. */
		if (fstatat(dirfd, name, &named, AT_SYMLINK_NOFOLLOW) < 0) {
			if (errno != ENOENT)
				return -errno;
			continue;
		}
		if (opened.st_dev == named.st_dev && opened.st_ino == named.st_ino) {
			*ret_fd = fd;
			fd = -1;
			return 0;
		}
	}
	return -EBUSY;
}

static int sync_directory(int dirfd)
{
	return fsync(dirfd) < 0 ? -errno : 0;
}

/* Checks the header or writes it where creation was cut short: nothing can follow it then. */
static int check_header(const struct journal *journal, uint64_t file_size, uint64_t *ret_size)
{
	unsigned char found[HEADER_BYTES] = {0};
	size_t want = file_size < HEADER_BYTES ? (size_t)file_size : HEADER_BYTES;
	ssize_t got = want ? pread(journal->fd, found, want, 0) : 0;
	int error;

	*ret_size = file_size;
	if (got < 0 || (size_t)got != want)
		return got < 0 ? -errno : -EIO;
	if (want == HEADER_BYTES && memcmp(found, journal->header, HEADER_BYTES) == 0)
		return 0;
	if (file_size > HEADER_BYTES)
		return -EBADMSG;
	for (size_t i = 0; i < HEADER_BYTES; i++)
		if (found[i] && found[i] != journal->header[i])
			return -EBADMSG;
	error = write_at(journal->fd, journal->header, HEADER_BYTES, 0);
	if (!error && fsync(journal->fd) < 0)
		error = -errno;
	if (!error)
		error = sync_directory(journal->dirfd);
	*ret_size = HEADER_BYTES;
	return error;
}

static int load(struct journal *journal, journal_replay_cb replay, void *ctx)
{
	struct stat st;
	uint64_t file_size;
	int error;

	if (fstat(journal->fd, &st) < 0)
		return -errno;
	error = check_header(journal, (uint64_t)st.st_size, &file_size);
	if (error)
		return error;
	error = find_end(journal->fd, file_size, &journal->size);
	if (error)
		return error;
	journal->dropped = file_size - journal->size;
	error = replay_to(journal->fd, journal->size, replay, ctx);
	if (error)
		return error;
	if (journal->dropped && ftruncate(journal->fd, (off_t)journal->size) < 0)
		return -errno;
	if (unlinkat(journal->dirfd, journal->new_name, 0) < 0 && errno != ENOENT)
		return -errno;
	return 0;
}

int journal_open(int dirfd, const char *name, unsigned mode, const char magic[static 8],
	uint32_t format, journal_replay_cb replay, void *ctx, struct journal **ret_journal)
{
	struct journal *journal = xcalloc(1, sizeof(*journal));
	int error = 0;

	assert(!strchr(name, '/'));
	journal->fd = -1;
	journal->new_fd = -1;
	journal->name = xstrdup(name);
	journal->new_name = xasprintf("%s.new", name);
	memcpy(journal->header, magic, 8);
	store_32(journal->header + 8, format);
	journal->dirfd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (journal->dirfd < 0)
		error = -errno;
	if (!error)
		error = open_locked(journal->dirfd, name, mode, &journal->fd);
	if (!error)
		error = load(journal, replay, ctx);
	if (error) {
		journal_close(journal);
		return error;
	}
	*ret_journal = journal;
	return 0;
}

void journal_close(struct journal *journal)
{
	if (!journal)
		return;
	journal_abandon(journal);
	buf_fini(&journal->batch);
	if (journal->fd >= 0)
		close(journal->fd);
	if (journal->dirfd >= 0)
		close(journal->dirfd);
	free(journal->name);
	free(journal->new_name);
	free(journal);
}

uint64_t journal_dropped(const struct journal *journal)
{
	return journal->dropped;
}

uint64_t journal_size(const struct journal *journal)
{
	return journal->size;
}

static void append_record(
	struct buf *out, uint8_t kind, const struct slice *parts, size_t count, size_t length)
{
	unsigned char head[RECORD_BYTES];
	uint32_t crc = crc32c_update(0, &kind, 1);

	for (size_t i = 0; i < count; i++)
		crc = crc32c_update(crc, parts[i].data, parts[i].length);
	store_32(head, (uint32_t)length);
	store_32(head + 4, crc);
	head[8] = kind;
	buf_append(out, head, sizeof(head));
	for (size_t i = 0; i < count; i++)
		buf_append_slice(out, parts[i]);
}

static void flush_rewrite(struct journal *journal)
{
	int error = write_at(
		journal->new_fd, journal->batch.data, journal->batch.length, journal->new_size);

	if (error)
		journal->batch_error = error;
	journal->new_size += journal->batch.length;
	buf_reset(&journal->batch);
}

void journal_add(struct journal *journal, uint8_t kind, const struct slice *parts, size_t count)
{
	size_t length = 0;

	assert(kind != JOURNAL_COMMIT);
	for (size_t i = 0; i < count && length <= JOURNAL_BODY_BYTES; i++)
		if (__builtin_add_overflow(length, parts[i].length, &length))
			length = SIZE_MAX;
	if (length > JOURNAL_BODY_BYTES && !journal->batch_error)
		journal->batch_error = -EFBIG;
	if (journal->batch_error)
		return;
	append_record(&journal->batch, kind, parts, count, length);
	journal->batch_error = buf_error(&journal->batch);
	if (!journal->batch_error && journal->new_fd >= 0 && journal->batch.length >= FLUSH_BYTES)
		flush_rewrite(journal);
}

static void drop_batch(struct journal *journal)
{
	/* What a large batch took is given back. */
	if (journal->batch.capacity > FLUSH_BYTES)
		buf_fini(&journal->batch);
	else
		buf_reset(&journal->batch);
	journal->batch_error = 0;
}

static void end_rewrite(struct journal *journal)
{
	if (journal->new_fd < 0)
		return;
	close(journal->new_fd);
	journal->new_fd = -1;
	unlinkat(journal->dirfd, journal->new_name, 0);
}

void journal_abandon(struct journal *journal)
{
	drop_batch(journal);
	end_rewrite(journal);
}

int journal_rewrite_begin(struct journal *journal)
{
	struct stat st;
	int error = 0;

	assert(!journal->batch.length && !journal->batch_error && journal->new_fd < 0);
	if (fstat(journal->fd, &st) < 0)
		return -errno;
	if (unlinkat(journal->dirfd, journal->new_name, 0) < 0 && errno != ENOENT)
		return -errno;
	journal->new_fd = openat(journal->dirfd, journal->new_name,
		O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (journal->new_fd < 0)
		return -errno;
	/* Locked before it gets the name: whoever opens the name finds it taken. */
	if (flock(journal->new_fd, LOCK_EX | LOCK_NB) < 0 ||
		fchmod(journal->new_fd, st.st_mode & 07777) < 0)
		error = -errno;
	if (!error)
		error = write_at(journal->new_fd, journal->header, HEADER_BYTES, 0);
	if (error)
		end_rewrite(journal);
	journal->new_size = HEADER_BYTES;
	return error;
}

static int commit_rewrite(struct journal *journal)
{
	int error = journal->batch_error;

	if (!error) {
		append_record(&journal->batch, JOURNAL_COMMIT, NULL, 0, 0);
		error = buf_error(&journal->batch);
	}
	if (!error) {
		flush_rewrite(journal);
		error = journal->batch_error;
	}
	if (!error && fsync(journal->new_fd) < 0)
		error = -errno;
	if (!error &&
		renameat(journal->dirfd, journal->new_name, journal->dirfd, journal->name) < 0)
		error = -errno;
	if (error) {
		journal_abandon(journal);
		return error;
	}
	close(journal->fd);
	journal->fd = journal->new_fd;
	journal->new_fd = -1;
	journal->size = journal->new_size;
	journal->has_tail = false;
	/* Both files are whole, so a failure matters only to what is committed from here on. */
	journal->is_rename_unsynced = sync_directory(journal->dirfd) != 0;
	drop_batch(journal);
	return 0;
}

static int cut_tail(struct journal *journal)
{
	if (journal->has_tail && ftruncate(journal->fd, (off_t)journal->size) < 0)
		return -errno;
	journal->has_tail = false;
	return 0;
}

static int sync_file(struct journal *journal)
{
	int error = 0;

	if (journal->is_rename_unsynced)
		error = sync_directory(journal->dirfd);
	if (error)
		return error;
	journal->is_rename_unsynced = false;
	return fdatasync(journal->fd) < 0 ? -errno : 0;
}

int journal_commit(struct journal *journal, bool sync)
{
	size_t length = journal->batch.length;
	int error = journal->batch_error;

	if (journal->new_fd >= 0)
		return commit_rewrite(journal);
	if (!error)
		error = cut_tail(journal);
	if (error)
		return error;
	if (!length)
		return sync ? sync_file(journal) : 0;
	append_record(&journal->batch, JOURNAL_COMMIT, NULL, 0, 0);
	error = buf_error(&journal->batch);
	if (!error) {
		journal->has_tail = true;
		error = write_at(
			journal->fd, journal->batch.data, journal->batch.length, journal->size);
	}
	if (!error && sync)
		error = sync_file(journal);
	if (error) {
		/* The batch stays for another try; what was half written must not. */
		journal->batch.error = 0;
		journal->batch.length = length;
		cut_tail(journal);
		return error;
	}
	journal->has_tail = false;
	journal->size += journal->batch.length;
	drop_batch(journal);
	return 0;
}
