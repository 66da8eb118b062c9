/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/second_opinion.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "author/envoy_bootstrap.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/envoy_run.h"

#define WHOLE		((struct position){0, 0})
#define UNKNOWN_CLUSTER "unknown cluster '"
#define SHOWN_BYTES	1000

/* One group's tries. */
struct tries {
	const struct second_opinion *opinion;
	const struct snapshot *snapshot;
	struct diag_list *diags;
	char *folder, *file;
	struct hash left_out; /* keys are ours */
	const char **clusters;
	size_t clusters_count, clusters_capacity;
};

/* --- what Envoy says ----------------------------------------------------------------------- */

/* The reason among what it printed, without what stands around it; data NULL: there is none. */
static struct slice find_reason(struct slice output, const char *file)
{
	static const char *const marks[] = {
		"error initializing configuration '", "[critical] ", "[error] "};
	const char *at = NULL, *end;
	struct slice reason;

	for (size_t i = 0; !at && output.length && i < sizeof(marks) / sizeof(*marks); i++) {
		at = memmem(output.data, output.length, marks[i], strlen(marks[i]));
		if (at)
			at += strlen(marks[i]);
	}
	if (!at)
		return (struct slice){NULL, 0};
	reason = (struct slice){at, output.length - (size_t)(at - output.data)};
	if (reason.length > strlen(file) + 3 && memcmp(at, file, strlen(file)) == 0) {
		reason.data += strlen(file) + 3; /* "': " */
		reason.length -= strlen(file) + 3;
	}
	end = memchr(reason.data, '\n', reason.length);
	if (end)
		reason.length = (size_t)(end - reason.data);
	return reason;
}

static bool has(struct slice text, const char *part)
{
	return text.length && memmem(text.data, text.length, part, strlen(part));
}

/* What only the host of the Envoy can have. */
static bool is_about_host(struct slice reason)
{
	return has(reason, "from path: /") || has(reason, "unable to read file") ||
	       has(reason, "does not exist") || has(reason, "No such file") ||
	       has(reason, "Invalid path: ") || has(reason, "Unable to open file") ||
	       has(reason, "unable to open file");
}

static void tell(struct diag_list *diags, const char *path, struct position at, const char *group,
	struct slice reason)
{
	struct buf shown = BUF_INIT;

	text_quote(&shown, reason, SHOWN_BYTES);
	if (group)
		buf_printf(&shown, " (group \"%s\")", group);
	if (is_about_host(reason))
		diag_warning(diags, path, at, "envoy-unsure",
			"Envoy wants what is on its own host: %s", buf_cstr(&shown));
	else
		diag_error(diags, path, at, "envoy-refused", "Envoy: %s", buf_cstr(&shown));
	buf_fini(&shown);
}

/* 1: it is content, 0: it is not, and `output` says why; negative: told. */
static int ask(const struct second_opinion *opinion, const char *file, struct buf *output,
	struct diag_list *diags)
{
	const struct envoy_run run = {opinion->program, file, opinion->timeout_ms};
	int status = 0, error;

	buf_reset(output);
	error = envoy_run_validate(&run, &status, output);
	if (error == -ETIMEDOUT)
		diag_error(diags, opinion->program, WHOLE, "envoy-failed",
			"said nothing within %lld s and was ended",
			(long long)opinion->timeout_ms / 1000);
	else if (error)
		diag_error(diags, opinion->program, WHOLE, "envoy-failed", "cannot be run: %s",
			strerror(-error));
	else if (status && !find_reason(buf_slice(output), file).data)
		diag_error(diags, opinion->program, WHOLE, "envoy-failed",
			"ended with status %d and no reason: is this an Envoy?", status);
	else
		return status == 0;
	return -1;
}

/* --- a group ------------------------------------------------------------------------------- */

/* A bootstrap of the first resources, for the user alone: there are secrets in it. */
static int write_config(struct tries *tries, size_t first, const struct resource **ret_last)
{
	const struct envoy_bootstrap bootstrap = {.schema = tries->opinion->schema,
		.snapshot = tries->snapshot,
		.clusters = tries->clusters,
		.clusters_count = tries->clusters_count,
		.left_out = &tries->left_out,
		.first = first};
	struct buf text = BUF_INIT;
	int error = envoy_bootstrap_write(&bootstrap, &text, ret_last), fd;

	if (!error) {
		fd = open(tries->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
		error = fd < 0 ? -errno : file_write_all(fd, text.data, text.length);
		if (fd >= 0)
			close(fd);
	}
	buf_fini(&text);
	if (error)
		diag_error(tries->diags, tries->file, WHOLE, "envoy-failed",
			"the bootstrap for Envoy cannot be written: %s", strerror(-error));
	return error;
}

/* As ask(); `output` gets what Envoy says. */
static int ask_first(
	struct tries *tries, size_t first, struct buf *output, const struct resource **ret_last)
{
	if (write_config(tries, first, ret_last))
		return -1;
	return ask(tries->opinion, tries->file, output, tries->diags);
}

/* Envoy stops at the first problem, and takes resources one after the other: the shortest row of
 * them that it refuses ends with the one to blame. NULL: it is none of them, or has been told. */
static const struct resource *find_culprit(struct tries *tries, struct buf *output)
{
	const struct resource *last, *culprit = NULL;
	size_t good = 0, bad = 0;
	struct buf said = BUF_INIT;

	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		bad += resource_set_count(tries->snapshot->sets[type]);
	while (bad - good > 0) {
		size_t middle = good + (bad - good) / 2;
		int answer = ask_first(tries, middle, &said, &last);

		if (answer < 0) {
			culprit = NULL;
			break;
		}
		if (answer) {
			good = middle + 1;
		} else {
			bad = middle;
			culprit = last;
			buf_reset(output);
			buf_append_slice(output, buf_slice(&said));
		}
	}
	if (!culprit && good == bad && ask_first(tries, bad, &said, &last) == 0)
		culprit = last;
	buf_fini(&said);
	return culprit;
}

/* A cluster that the group does not have is the bootstrap's, or the references tell. */
static bool add_cluster(struct tries *tries, struct slice reason)
{
	const char *at = reason.data ? memmem(reason.data, reason.length, UNKNOWN_CLUSTER,
					       strlen(UNKNOWN_CLUSTER))
				     : NULL;
	const char *end;

	if (!at)
		return false;
	at += strlen(UNKNOWN_CLUSTER);
	end = memchr(at, '\'', reason.length - (size_t)(at - reason.data));
	if (!end || end == at)
		return false;
	array_reserve(tries->clusters, tries->clusters_capacity, tries->clusters_count + 1);
	tries->clusters[tries->clusters_count++] = xasprintf("%.*s", (int)(end - at), at);
	return true;
}

/* Tells, and leaves out what is to blame. False: nothing more can be tried. */
static bool take_reason(struct tries *tries, struct buf *output)
{
	const char *group = tries->snapshot->group->text;
	const struct resource *culprit;
	struct slice reason;
	struct buf key = BUF_INIT;
	char *copy;

	if (add_cluster(tries, find_reason(buf_slice(output), tries->file)))
		return true;
	culprit = find_culprit(tries, output);
	reason = find_reason(buf_slice(output), tries->file);
	tell(tries->diags, culprit && culprit->path ? culprit->path->text : "",
		culprit ? culprit->at : WHOLE, group, reason);
	if (!culprit)
		return false;
	envoy_bootstrap_key(culprit, &key);
	copy = buf_take(&key, NULL);
	hash_put(&tries->left_out, slice_of(copy), copy);
	return true;
}

static bool try_all(struct tries *tries)
{
	struct buf output = BUF_INIT;
	const struct resource *last;
	bool can_run = true;

	for (int i = 0; i < OPINION_TRIES; i++) {
		int answer = ask_first(tries, SIZE_MAX, &output, &last);

		can_run = answer >= 0;
		if (answer || !take_reason(tries, &output))
			break;
	}
	buf_fini(&output);
	return can_run;
}

static void fini(struct tries *tries)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	while ((slot = hash_next(&tries->left_out, &cursor)))
		free(slot->value);
	hash_fini(&tries->left_out);
	for (size_t i = 0; i < tries->clusters_count; i++)
		free((char *)tries->clusters[i]);
	free(tries->clusters);
}

bool second_opinion_group(const struct second_opinion *opinion, const struct snapshot *snapshot,
	struct diag_list *diags)
{
	const char *place = getenv("TMPDIR");
	AUTO_FREE char *folder =
		xasprintf("%s/xdspub-check.XXXXXX", place && place[0] ? place : "/tmp");
	AUTO_FREE char *file = NULL;
	struct tries tries = {
		.opinion = opinion, .snapshot = snapshot, .diags = diags, .folder = folder};
	bool can_run;

	if (!mkdtemp(folder)) {
		diag_error(diags, folder, WHOLE, "envoy-failed", "cannot be made: %s",
			strerror(errno));
		return false;
	}
	tries.file = file = xasprintf("%s/envoy.json", folder);
	hash_init(&tries.left_out);
	can_run = try_all(&tries);
	unlink(file);
	rmdir(folder);
	fini(&tries);
	return can_run;
}

bool second_opinion_bootstrap(
	const struct second_opinion *opinion, const char *path, struct diag_list *diags)
{
	struct buf output = BUF_INIT;
	int answer = ask(opinion, path, &output, diags);

	if (answer == 0)
		tell(diags, path, WHOLE, NULL, find_reason(buf_slice(&output), path));
	buf_fini(&output);
	return answer >= 0;
}
