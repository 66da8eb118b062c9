/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/crc32c.h"
#include "base/file.h"
#include "base/mem.h"

#define MAGIC  "xdspubT\n"
#define FORMAT 3

struct fixture {
	char path[64];
	int dirfd;
	struct buf seen; /* "kind:body;" per replayed record */
};

static int set_up(void **state)
{
	struct fixture *fixture = xcalloc(1, sizeof(*fixture));

	strcpy(fixture->path, "/tmp/xdspub-journal-XXXXXX");
	if (!mkdtemp(fixture->path))
		return -1;
	fixture->dirfd = open(fixture->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*state = fixture;
	return fixture->dirfd < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	AUTO_FREE char *command = xasprintf("rm -rf '%s'", fixture->path);

	close(fixture->dirfd);
	buf_fini(&fixture->seen);
	free(fixture);
	return system(command);
}

static int remember(void *ctx, uint8_t kind, struct slice body)
{
	struct fixture *fixture = ctx;

	buf_printf(&fixture->seen, "%d:", kind);
	if (body.length < 64)
		buf_append_slice(&fixture->seen, body);
	else
		buf_printf(&fixture->seen, "%zu bytes", body.length);
	buf_putc(&fixture->seen, ';');
	return 0;
}

static int open_journal(struct fixture *fixture, struct journal **ret_journal)
{
	buf_reset(&fixture->seen);
	return journal_open(
		fixture->dirfd, "j", 0600, MAGIC, FORMAT, remember, fixture, ret_journal);
}

static struct journal *must_open(struct fixture *fixture, const char *want)
{
	struct journal *journal;

	assert_int_equal(open_journal(fixture, &journal), 0);
	assert_string_equal(buf_cstr(&fixture->seen), want);
	return journal;
}

static void add(struct journal *journal, uint8_t kind, const char *text)
{
	struct slice body = slice_of(text);

	journal_add(journal, kind, &body, 1);
}

static uint64_t size_of(const struct fixture *fixture, const char *name)
{
	struct stat st;

	assert_int_equal(fstatat(fixture->dirfd, name, &st, 0), 0);
	return (uint64_t)st.st_size;
}

static void read_file(const struct fixture *fixture, const char *name, struct buf *out)
{
	AUTO_CLOSE int fd = openat(fixture->dirfd, name, O_RDONLY | O_CLOEXEC);

	buf_reset(out);
	assert_int_equal(file_read_fd(fd, 1u << 30, out), 0);
}

static void write_file(
	const struct fixture *fixture, const char *name, const void *data, size_t length)
{
	AUTO_CLOSE int fd =
		openat(fixture->dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_int_equal(file_write_all(fd, data, length), 0);
}

static void batches_come_back(void **state)
{
	struct fixture *fixture = *state;
	struct journal *journal = must_open(fixture, "");
	struct slice parts[] = {SLICE("in "), {NULL, 0}, SLICE("parts")};

	assert_int_equal(journal_size(journal), 16);
	assert_int_equal(journal_dropped(journal), 0);
	add(journal, 1, "one");
	add(journal, 255, "");
	assert_int_equal(size_of(fixture, "j"), 16);
	assert_int_equal(journal_commit(journal, true), 0);
	journal_add(journal, 2, parts, 3);
	assert_int_equal(journal_commit(journal, false), 0);
	assert_int_equal(journal_commit(journal, true), 0);
	assert_int_equal(journal_size(journal), size_of(fixture, "j"));
	add(journal, 3, "never committed");
	journal_close(journal);
	journal = must_open(fixture, "1:one;255:;2:in parts;");
	add(journal, 4, "dropped");
	journal_abandon(journal);
	add(journal, 5, "later");
	assert_int_equal(journal_commit(journal, true), 0);
	journal_close(journal);
	journal_close(must_open(fixture, "1:one;255:;2:in parts;5:later;"));
	journal_close(NULL);
}

/* The layout that the header promises, byte by byte. */
static void layout(void **state)
{
	struct fixture *fixture = *state;
	struct journal *journal = must_open(fixture, "");
	struct buf bytes = BUF_INIT;
	unsigned char want[16 + 11 + 9] = {'x', 'd', 's', 'p', 'u', 'b', 'T', '\n', 3, 0, 0, 0, 0,
		0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 7, 'a', 'b'};
	uint32_t crc = crc32c_update_portable(0, "\7ab", 3);

	for (int i = 0; i < 4; i++)
		want[20 + i] = (unsigned char)(crc >> (8 * i));
	memcpy(want + 27, "\0\0\0\0\x51\x53\x7d\x52\0", 9);
	add(journal, 7, "ab");
	assert_int_equal(journal_commit(journal, true), 0);
	journal_close(journal);
	read_file(fixture, "j", &bytes);
	assert_int_equal(bytes.length, sizeof(want));
	assert_memory_equal(bytes.data, want, sizeof(want));
	buf_fini(&bytes);
}

/* Makes batches of known ends; returns how many there are. */
static size_t make_batches(struct fixture *fixture, uint64_t ends[], const char *wants[])
{
	struct journal *journal = must_open(fixture, "");

	ends[0] = journal_size(journal);
	wants[0] = "";
	add(journal, 1, "first");
	assert_int_equal(journal_commit(journal, false), 0);
	ends[1] = journal_size(journal);
	wants[1] = "1:first;";
	add(journal, 2, "");
	add(journal, 3, "a somewhat longer body of the second");
	assert_int_equal(journal_commit(journal, false), 0);
	ends[2] = journal_size(journal);
	wants[2] = "1:first;2:;3:a somewhat longer body of the second;";
	add(journal, 4, "third");
	assert_int_equal(journal_commit(journal, false), 0);
	ends[3] = journal_size(journal);
	wants[3] = "1:first;2:;3:a somewhat longer body of the second;4:third;";
	journal_close(journal);
	return 4;
}

/* A crash may leave any length: open finds the last whole batch, and the journal goes on. */
static void cut_at_every_byte(void **state)
{
	struct fixture *fixture = *state;
	uint64_t ends[4];
	const char *wants[4];
	size_t count = make_batches(fixture, ends, wants);
	struct buf whole = BUF_INIT;

	read_file(fixture, "j", &whole);
	for (size_t length = 0; length <= whole.length; length++) {
		AUTO_FREE char *after = NULL;
		struct journal *journal;
		size_t last = 0;

		for (size_t i = 0; i < count; i++)
			if (ends[i] <= length)
				last = i;
		write_file(fixture, "j", whole.data, length);
		journal = must_open(fixture, wants[last]);
		assert_int_equal(journal_size(journal), ends[last]);
		assert_int_equal(size_of(fixture, "j"), ends[last]);
		assert_int_equal(
			journal_dropped(journal), length > ends[last] ? length - ends[last] : 0);
		add(journal, 9, "next");
		assert_int_equal(journal_commit(journal, false), 0);
		journal_close(journal);
		after = xasprintf("%s9:next;", wants[last]);
		journal_close(must_open(fixture, after));
	}
	buf_fini(&whole);
}

/* A torn tail may also be zeros or old bytes of the disk. */
static void garbage_behind_every_cut(void **state)
{
	struct fixture *fixture = *state;
	uint64_t ends[4];
	const char *wants[4];
	size_t count = make_batches(fixture, ends, wants);
	struct buf whole = BUF_INIT;
	struct buf torn = BUF_INIT;

	read_file(fixture, "j", &whole);
	for (size_t length = 16; length < whole.length; length++) {
		for (int kind = 0; kind < 3; kind++) {
			size_t same = length;
			size_t last = 0;

			buf_reset(&torn);
			buf_append(&torn, whole.data, length);
			if (kind < 2)
				buf_fill(&torn, kind ? '\xff' : '\0', 300);
			else
				buf_append(&torn, whole.data, whole.length);
			/* The garbage may happen to be what was there. */
			while (same < whole.length && torn.data[same] == whole.data[same])
				same++;
			for (size_t i = 0; i < count; i++)
				if (ends[i] <= same)
					last = i;
			write_file(fixture, "j", torn.data, torn.length);
			/* The next bytes of the true file could complete a batch: they do not here.
			 */
			journal_close(must_open(fixture, wants[last]));
			assert_int_equal(size_of(fixture, "j"), ends[last]);
		}
	}
	buf_fini(&whole);
	buf_fini(&torn);
}

/* Never a wrong record: what comes back is a run of whole batches from the start. */
static void flipped_bytes(void **state)
{
	struct fixture *fixture = *state;
	uint64_t ends[4];
	const char *wants[4];
	size_t count = make_batches(fixture, ends, wants);
	struct buf whole = BUF_INIT;

	read_file(fixture, "j", &whole);
	for (size_t at = 0; at < whole.length; at++) {
		for (int flip = 0; flip < 10; flip++) {
			struct journal *journal = NULL;
			char kept = whole.data[at];
			size_t last = 0;
			int error;

			for (size_t i = 0; i < count; i++)
				if (ends[i] <= at)
					last = i;
			whole.data[at] ^= (char)(flip < 8 ? 1 << flip : flip == 8 ? 0xff : 0x55);
			write_file(fixture, "j", whole.data, whole.length);
			whole.data[at] = kept;
			error = open_journal(fixture, &journal);
			if (at < 16) {
				assert_int_equal(error, -EBADMSG);
				assert_int_equal(size_of(fixture, "j"), whole.length);
				continue;
			}
			assert_int_equal(error, 0);
			assert_string_equal(buf_cstr(&fixture->seen), wants[last]);
			journal_close(journal);
		}
	}
	buf_fini(&whole);
}

static void foreign_files_are_left_alone(void **state)
{
	struct fixture *fixture = *state;
	struct journal *journal;

	write_file(fixture, "j", "short", 5);
	assert_int_equal(open_journal(fixture, &journal), -EBADMSG);
	write_file(fixture, "j", "xdspubU\n\3\0\0\0\0\0\0\0", 16);
	assert_int_equal(open_journal(fixture, &journal), -EBADMSG);
	write_file(fixture, "j", "xdspubT\n\4\0\0\0\0\0\0\0", 16);
	assert_int_equal(open_journal(fixture, &journal), -EBADMSG);
	write_file(fixture, "j", "xdspubT\n\3\0\0\0\1\0\0\0", 16);
	assert_int_equal(open_journal(fixture, &journal), -EBADMSG);
	assert_int_equal(size_of(fixture, "j"), 16);
	/* Creation that was cut short, with zeros where nothing was written. */
	write_file(fixture, "j", "xds\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	journal_close(must_open(fixture, ""));
	assert_int_equal(unlinkat(fixture->dirfd, "j", 0), 0);
	assert_int_equal(symlinkat("elsewhere", fixture->dirfd, "j"), 0);
	assert_int_equal(open_journal(fixture, &journal), -ELOOP);
	assert_int_equal(unlinkat(fixture->dirfd, "j", 0), 0);
	assert_int_equal(mkfifoat(fixture->dirfd, "j", 0600), 0);
	assert_int_equal(open_journal(fixture, &journal), -EBADMSG);
	assert_int_equal(unlinkat(fixture->dirfd, "j", 0), 0);
	assert_int_equal(mkdirat(fixture->dirfd, "j", 0700), 0);
	assert_int_equal(open_journal(fixture, &journal), -EISDIR);
	assert_int_equal(journal_open(-1, "j", 0600, MAGIC, FORMAT, NULL, NULL, &journal), -EBADF);
}

static void put_record(struct buf *out, uint8_t kind, const char *body, size_t length)
{
	uint32_t crc = crc32c_update(crc32c_update(0, &kind, 1), body, length);

	for (int i = 0; i < 4; i++)
		buf_putc(out, (char)(length >> (8 * i)));
	for (int i = 0; i < 4; i++)
		buf_putc(out, (char)(crc >> (8 * i)));
	buf_putc(out, (char)kind);
	buf_append(out, body, length);
}

/* Good checksums do not make good what the format forbids. */
static void whole_but_wrong(void **state)
{
	struct fixture *fixture = *state;
	struct buf file = BUF_INIT;
	struct buf body = BUF_INIT;

	buf_append(&file, "xdspubT\n\3\0\0\0\0\0\0\0", 16);
	put_record(&file, 1, "a", 1);
	put_record(&file, JOURNAL_COMMIT, "x", 1);
	put_record(&file, JOURNAL_COMMIT, "", 0);
	write_file(fixture, "j", file.data, file.length);
	journal_close(must_open(fixture, ""));

	buf_fill(&body, 'b', JOURNAL_BODY_BYTES + 1);
	file.length = 16;
	put_record(&file, 1, "a", 1);
	put_record(&file, JOURNAL_COMMIT, "", 0);
	put_record(&file, 2, body.data, body.length);
	put_record(&file, JOURNAL_COMMIT, "", 0);
	write_file(fixture, "j", file.data, file.length);
	journal_close(must_open(fixture, "1:a;"));
	buf_fini(&file);
	buf_fini(&body);
}

static int stop_at_two(void *ctx, uint8_t kind, struct slice body)
{
	(void)body;
	++*(int *)ctx;
	return kind == 2 ? -EPROTO : 0;
}

static void replay_can_refuse(void **state)
{
	struct fixture *fixture = *state;
	uint64_t ends[4];
	const char *wants[4];
	struct journal *journal;
	int calls = 0;

	make_batches(fixture, ends, wants);
	assert_int_equal(journal_open(fixture->dirfd, "j", 0600, MAGIC, FORMAT, stop_at_two, &calls,
				 &journal),
		-EPROTO);
	assert_int_equal(calls, 2);
	/* And the lock is gone with it. */
	journal_close(must_open(fixture, wants[3]));
	assert_int_equal(
		journal_open(fixture->dirfd, "j", 0600, MAGIC, FORMAT, NULL, NULL, &journal), 0);
	journal_close(journal);
}

static void large_bodies(void **state)
{
	struct fixture *fixture = *state;
	struct journal *journal = must_open(fixture, "");
	struct buf body = BUF_INIT;
	struct slice parts[2];

	buf_fill(&body, 'b', JOURNAL_BODY_BYTES);
	parts[0] = buf_slice(&body);
	parts[1] = SLICE("x");
	add(journal, 1, "small");
	journal_add(journal, 2, parts, 1);
	add(journal, 3, "small");
	assert_int_equal(journal_commit(journal, false), 0);
	/* One byte too many: the batch cannot be committed, whatever else is in it. */
	add(journal, 4, "lost");
	journal_add(journal, 5, parts, 2);
	add(journal, 6, "lost");
	assert_int_equal(journal_commit(journal, false), -EFBIG);
	assert_int_equal(journal_commit(journal, false), -EFBIG);
	journal_abandon(journal);
	parts[0].length = SIZE_MAX;
	journal_add(journal, 5, parts, 2);
	assert_int_equal(journal_commit(journal, false), -EFBIG);
	journal_abandon(journal);
	add(journal, 7, "kept");
	assert_int_equal(journal_commit(journal, false), 0);
	journal_close(journal);
	journal_close(must_open(fixture, "1:small;2:67108864 bytes;3:small;7:kept;"));
	buf_fini(&body);
}

/* Records around the size of the reading window, so that they straddle its ends. */
static void records_straddle_the_window(void **state)
{
	struct fixture *fixture = *state;
	struct journal *journal = must_open(fixture, "");
	struct buf want = BUF_INIT;
	struct buf body = BUF_INIT;

	buf_fill(&body, 'b', 300000);
	for (size_t i = 0; i < 120; i++) {
		struct slice part = {body.data, 64 + i * 7919 % 300000};

		journal_add(journal, 1, &part, 1);
		buf_printf(&want, "1:%zu bytes;", part.length);
		if (i % 7 == 6)
			assert_int_equal(journal_commit(journal, false), 0);
	}
	assert_int_equal(journal_commit(journal, false), 0);
	journal_close(journal);
	journal_close(must_open(fixture, buf_cstr(&want)));
	buf_fini(&want);
	buf_fini(&body);
}

static void second_owner_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct journal *journal = must_open(fixture, "");
	struct journal *other;

	assert_int_equal(open_journal(fixture, &other), -EBUSY);
	/* The lock survives the replacement of the file. */
	assert_int_equal(journal_rewrite_begin(journal), 0);
	assert_int_equal(open_journal(fixture, &other), -EBUSY);
	add(journal, 1, "rewritten");
	assert_int_equal(journal_commit(journal, true), 0);
	assert_int_equal(open_journal(fixture, &other), -EBUSY);
	journal_close(journal);
	journal_close(must_open(fixture, "1:rewritten;"));
}

static void rewrite_replaces_all(void **state)
{
	struct fixture *fixture = *state;
	uint64_t ends[4];
	const char *wants[4];
	struct journal *journal;
	struct stat st;

	make_batches(fixture, ends, wants);
	assert_int_equal(fchmodat(fixture->dirfd, "j", 0640, 0), 0);
	journal = must_open(fixture, wants[3]);
	assert_int_equal(journal_rewrite_begin(journal), 0);
	add(journal, 1, "new");
	add(journal, 2, "state");
	assert_int_equal(size_of(fixture, "j"), ends[3]);
	assert_int_equal(journal_commit(journal, true), 0);
	assert_int_equal(journal_size(journal), size_of(fixture, "j"));
	assert_int_equal(fstatat(fixture->dirfd, "j.new", &st, 0), -1);
	assert_int_equal(fstatat(fixture->dirfd, "j", &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	add(journal, 3, "after");
	assert_int_equal(journal_commit(journal, true), 0);
	/* To nothing at all. */
	assert_int_equal(journal_rewrite_begin(journal), 0);
	journal_abandon(journal);
	assert_int_equal(fstatat(fixture->dirfd, "j.new", &st, 0), -1);
	journal_close(journal);
	journal = must_open(fixture, "1:new;2:state;3:after;");
	assert_int_equal(journal_rewrite_begin(journal), 0);
	assert_int_equal(journal_commit(journal, true), 0);
	journal_close(journal);
	journal_close(must_open(fixture, ""));
}

/* A rewrite larger than what is kept in memory. */
static void large_rewrite(void **state)
{
	struct fixture *fixture = *state;
	struct journal *journal = must_open(fixture, "");
	struct buf body = BUF_INIT;
	struct buf want = BUF_INIT;

	buf_fill(&body, 'b', 400000);
	assert_int_equal(journal_rewrite_begin(journal), 0);
	for (int i = 0; i < 20; i++) {
		struct slice part = buf_slice(&body);

		journal_add(journal, 1, &part, 1);
		buf_puts(&want, "1:400000 bytes;");
	}
	assert_int_equal(journal_commit(journal, false), 0);
	assert_int_equal(journal_size(journal), size_of(fixture, "j"));
	journal_close(journal);
	journal_close(must_open(fixture, buf_cstr(&want)));
	buf_fini(&body);
	buf_fini(&want);
}

/* kill -9 in the middle of a rewrite: the old file is whole, the leftover goes at the next open. */
static void crash_in_a_rewrite(void **state)
{
	struct fixture *fixture = *state;
	uint64_t ends[4];
	const char *wants[4];
	struct stat st;
	int status;
	pid_t child;

	make_batches(fixture, ends, wants);
	child = fork();
	if (child == 0) {
		struct journal *journal;
		struct buf body = BUF_INIT;
		struct slice part;

		buf_fill(&body, 'b', 3 << 20);
		part = buf_slice(&body);
		if (open_journal(fixture, &journal) == 0 && journal_rewrite_begin(journal) == 0)
			journal_add(journal, 1, &part, 1);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(size_of(fixture, "j.new") > 3 << 20);
	journal_close(must_open(fixture, wants[3]));
	assert_int_equal(fstatat(fixture->dirfd, "j.new", &st, 0), -1);
}

/* A full disk, played by the file size limit: appends fail part of the way. */
static void failed_append_can_be_repeated(void **state)
{
	struct fixture *fixture = *state;
	uint64_t ends[4];
	const char *wants[4];
	struct journal *journal;
	struct rlimit before;
	struct rlimit tight;
	AUTO_FREE char *want = NULL;

	make_batches(fixture, ends, wants);
	want = xasprintf("%s5:repeated;6:too;", wants[3]);
	journal = must_open(fixture, wants[3]);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	tight = before;
	add(journal, 5, "repeated");
	add(journal, 6, "too");
	for (rlim_t more = 0; more < 3 * 9 + 11; more++) {
		int error;

		tight.rlim_cur = ends[3] + more;
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
		error = journal_commit(journal, true);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
		assert_int_equal(error, -EFBIG);
		assert_int_equal(size_of(fixture, "j"), ends[3]);
		assert_int_equal(journal_size(journal), ends[3]);
	}
	assert_int_equal(journal_commit(journal, true), 0);
	assert_int_equal(journal_size(journal), ends[3] + 9 + 8 + 9 + 3 + 9);
	/* A rewrite that fails leaves the old file and is over. */
	assert_int_equal(journal_rewrite_begin(journal), 0);
	add(journal, 7, "not to be");
	tight.rlim_cur = 20;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	assert_int_equal(journal_commit(journal, true), -EFBIG);
	assert_int_equal(journal_rewrite_begin(journal), 0);
	journal_abandon(journal);
	tight.rlim_cur = 10;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	assert_int_equal(journal_rewrite_begin(journal), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	journal_close(journal);
	journal_close(must_open(fixture, want));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(batches_come_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(layout, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cut_at_every_byte, set_up, tear_down),
		cmocka_unit_test_setup_teardown(garbage_behind_every_cut, set_up, tear_down),
		cmocka_unit_test_setup_teardown(flipped_bytes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(foreign_files_are_left_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(whole_but_wrong, set_up, tear_down),
		cmocka_unit_test_setup_teardown(replay_can_refuse, set_up, tear_down),
		cmocka_unit_test_setup_teardown(large_bodies, set_up, tear_down),
		cmocka_unit_test_setup_teardown(records_straddle_the_window, set_up, tear_down),
		cmocka_unit_test_setup_teardown(second_owner_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rewrite_replaces_all, set_up, tear_down),
		cmocka_unit_test_setup_teardown(large_rewrite, set_up, tear_down),
		cmocka_unit_test_setup_teardown(crash_in_a_rewrite, set_up, tear_down),
		cmocka_unit_test_setup_teardown(failed_append_can_be_repeated, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("journal", tests, NULL, NULL);
}
