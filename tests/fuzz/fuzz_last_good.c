/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any records in a whole journal of what mounts gave: never a crash, never a leak, and what is
 * understood can be taken and written again. A record is its kind, two bytes of length, its body.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/journal.h"
#include "compile/last_good.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_fine)
{
	if (!is_fine)
		abort();
}

static int ignore(void *ctx, uint8_t kind, struct slice body)
{
	(void)ctx;
	(void)kind;
	(void)body;
	return 0;
}

static void write_journal(const char *folder, const uint8_t *data, size_t size)
{
	int dirfd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct journal *journal;

	check(journal_open(dirfd, "mounts", 0600, "xdspubMt", 1, ignore, NULL, &journal) == 0);
	while (size >= 3) {
		size_t length = data[1] | (size_t)data[2] << 8;
		struct slice body = {(const char *)data + 3, length < size - 3 ? length : size - 3};

		journal_add(journal, data[0] ? data[0] : 1, &body, 1);
		data += 3 + body.length;
		size -= 3 + body.length;
	}
	check(journal_commit(journal, false) == 0);
	journal_close(journal);
	close(dirfd);
}

static bool may_have(void *ctx, const struct unit_content *content)
{
	(void)ctx;
	return content->items_count < 100;
}

static void on_unit(
	void *ctx, struct rcstr *path, struct unit_content *content, bool was_read, uint64_t bytes)
{
	(void)ctx;
	check(path->length > 0 && (was_read || !was_read) && bytes > 0);
	for (uint32_t i = 0; i < content->items_count; i++)
		check(content->items[i].resource->name.length > 0);
	unit_content_fini(content);
}

static void on_folder(void *ctx, struct rcstr *path)
{
	(void)ctx;
	check(path->length > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct last_good_listener listener = {
		.may_have = may_have, .on_unit = on_unit, .on_folder = on_folder};
	char folder[] = "/tmp/xdspub-fuzz-XXXXXX", path[64];
	struct last_good *last_good;
	const char *problem;

	check(mkdtemp(folder) != NULL);
	write_journal(folder, data, size);
	check(last_good_open(folder, &last_good, &problem) == 0);
	last_good_take(last_good, SLICE("m"), &listener);
	last_good_take(last_good, SLICE("live/eds"), &listener);
	last_good_forget_others(last_good);
	check(last_good_commit(last_good) == 0);
	last_good_close(last_good);
	check(last_good_open(folder, &last_good, &problem) == 0 && !problem);
	last_good_close(last_good);
	snprintf(path, sizeof(path), "%s/mounts", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/mounts.damaged", folder);
	unlink(path);
	rmdir(folder);
	return 0;
}
