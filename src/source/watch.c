/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inotifytools/inotifytools.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/mem.h"
#include "source/probe.h"

#define TREE_EVENTS                                                                                \
	(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ATTRIB |        \
		IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW | IN_MASK_ADD)
#define CHAIN_EVENTS                                                                               \
	(IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ONLYDIR | IN_MASK_ADD)
#define LINKS_LIMIT 40
#define OPEN_TRIES  5
/* Entries of removed folders can only go by starting again. */
#define STALE_LIMIT 1000
/* How often to see whether the root is still the same (a mount raises no event), and whether a
 * problem has gone away; where that costs a walk over the tree, every so many times. */
#define PATROL_MS	 5000
#define PATROLS_PER_WALK 6
/* The thread comes round with every patrol, unless a file system keeps it. */
#define STUCK_MS (6 * PATROL_MS)
/* A root that does not answer for so long holds the others up no longer. */
#define PATIENCE_MS 1000

/* ThreadSanitizer tracks descriptors by number, as if all threads had one table. */
#ifdef __SANITIZE_THREAD__
#define HAS_OWN_TABLE false
#else
#define HAS_OWN_TABLE true
#endif

enum problem {
	PROBLEM_NONE,
	PROBLEM_STARTING,
	PROBLEM_NO_INSTANCE,
	PROBLEM_DESCRIPTOR,
	PROBLEM_WATCH_LIMIT,
	PROBLEM_NETWORK,
	PROBLEM_STUCK
};

static const char *const problem_texts[] = {
	[PROBLEM_NONE] = NULL,
	[PROBLEM_STARTING] = "starting",
	[PROBLEM_NO_INSTANCE] = "no inotify instance to be had, see fs.inotify.max_user_instances",
	[PROBLEM_DESCRIPTOR] = "no descriptor number below 1024 is free for inotify",
	[PROBLEM_WATCH_LIMIT] = "fs.inotify.max_user_watches is used up",
	[PROBLEM_NETWORK] =
		"the tree is on a file system that does not report changes made elsewhere",
	[PROBLEM_STUCK] = "a source is on a file system that does not answer",
};

/* A name on the way to a root: when it changes, the root may be another folder. */
struct link {
	int wd; /* of the folder it is in; -1: is not watched */
	char *folder, *name;
};

struct watch_root {
	char *path;   /* absolute, links not resolved */
	char *folder; /* with all links resolved and a '/'; NULL: does not exist */
	dev_t device;
	ino_t inode;
	struct link *links;
	size_t links_count, links_capacity;
	struct probe *probe;		 /* NULL: it is the only root, and delays nobody else */
	atomic_bool is_remote, is_stuck; /* read by any thread */
};

struct watch {
	struct watch_root *roots;
	size_t roots_count;
	const struct log *log;
	watch_hint_cb callback;
	void *ctx;
	pthread_t thread;
	int control; /* eventfd; readable: stop */
	atomic_int problem;
	atomic_llong alive_ms; /* when the thread last came round */

	/* Watch thread only. */
	int fd;			  /* inotify; -1: the library is not initialised */
	struct hash watched;	  /* paths with a watch that is alive; keys are ours */
	size_t stale;		  /* entries the library cannot forget */
	unsigned patrols;	  /* since the library was started */
	bool is_full;		  /* a watch was refused for the limit */
	const char *renew_reason; /* not NULL: start again */
};

/* ---- the library ---- */

static bool is_inotify(int fd)
{
	char path[64], target[64];
	ssize_t length;
	int pending;

	snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", fd);
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return ioctl(fd, FIONREAD, &pending) == 0;
	target[length] = '\0';
	return strstr(target, "inotify") != NULL;
}

/* The library keeps its descriptor to itself; the kernel gives it the lowest free number. Where
 * the descriptor table is shared, another thread may come between. */
static enum problem library_open(struct watch *watch)
{
	for (int i = 0; i < OPEN_TRIES; i++) {
		int guess = fcntl(watch->control, F_DUPFD_CLOEXEC, 0);

		if (guess >= 0)
			close(guess);
		if (guess < 0 || guess >= FD_SETSIZE)
			return PROBLEM_DESCRIPTOR;
		if (!inotifytools_initialize())
			return PROBLEM_NO_INSTANCE;
		if (is_inotify(guess)) {
			watch->fd = guess;
			(void)fcntl(guess, F_SETFD, FD_CLOEXEC);
			return PROBLEM_NONE;
		}
		inotifytools_cleanup();
	}
	return PROBLEM_DESCRIPTOR;
}

static void library_close(struct watch *watch)
{
	if (watch->fd < 0)
		return;
	/* Its read position would survive and point into the next life's first events. */
	while (inotifytools_next_events(0, 1))
		;
	inotifytools_cleanup();
	watch->fd = -1;
}

/* ---- what to watch ---- */

static bool is_hidden(const char *name)
{
	return name[0] == '.';
}

/* The library would lose memory if it were told twice of a folder that it has: so those of trees
 * come first, since their events are more than those of ways to a root. */
static int add_watch(struct watch *watch, const char *path, int events)
{
	char *key;
	int error;

	if (hash_get(&watch->watched, slice_of(path)))
		return 0;
	if (inotifytools_watch_file(path, events)) {
		key = xstrdup(path);
		hash_put(&watch->watched, slice_of(key), key);
		return 0;
	}
	error = inotifytools_error();
	if (error == ENOSPC || error == ENOMEM)
		watch->is_full = true;
	return -error;
}

struct folders {
	char **items;
	size_t count, capacity;
};

static void folders_push(struct folders *folders, char *path)
{
	array_reserve(folders->items, folders->capacity, folders->count + 1);
	folders->items[folders->count++] = path;
}

static bool is_folder(int dirfd, const struct dirent *entry)
{
	struct stat status;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(dirfd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(status.st_mode);
}

static size_t depth_of(const char *path)
{
	size_t depth = 0;

	for (; *path; path++)
		depth += *path == '/';
	return depth;
}

/* The folder and all below it; the watch is there before the folder is read, so that nothing that
 * is made meanwhile is missed. `path` ends with '/'. Links are not followed: what they lead to
 * inside the tree is watched where it is. */
static void add_folders(struct watch *watch, const struct watch_root *root, const char *path)
{
	struct folders todo = {0};
	size_t deepest = depth_of(root->folder) + LIMIT_DEPTH;

	folders_push(&todo, xstrdup(path));
	while (todo.count > 0) {
		AUTO_FREE char *folder = todo.items[--todo.count];
		struct dirent *entry;
		DIR *dir;

		if (watch->is_full || depth_of(folder) > deepest ||
			add_watch(watch, folder, TREE_EVENTS) < 0)
			continue;
		dir = opendir(folder);
		if (!dir)
			continue;
		while ((entry = readdir(dir)))
			if (!is_hidden(entry->d_name) && is_folder(dirfd(dir), entry))
				folders_push(&todo, xasprintf("%s%s/", folder, entry->d_name));
		closedir(dir);
	}
	free(todo.items);
}

static void add_link(struct watch_root *root, const char *folder, const char *name)
{
	array_reserve(root->links, root->links_capacity, root->links_count + 1);
	root->links[root->links_count++] = (struct link){-1, xstrdup(folder), xstrdup(name)};
}

static void parent_of(char *folder) /* "/a/b/" to "/a/"; "/" stays */
{
	char *end = folder + strlen(folder) - 1;

	if (end == folder)
		return;
	*end = '\0';
	strrchr(folder, '/')[1] = '\0';
}

/* What is at folder/name: a folder (entered), a link (its target is put before the rest), or
 * nothing of use. */
static int step(char **folder, char **rest, const char *name, unsigned *links)
{
	AUTO_FREE char *path = xasprintf("%s%s", *folder, name);
	char target[PATH_MAX];
	struct stat status;
	ssize_t length;
	char *next;

	if (lstat(path, &status) < 0)
		return -errno;
	if (S_ISDIR(status.st_mode)) {
		next = xasprintf("%s/", path);
		free(*folder);
		*folder = next;
		return 0;
	}
	if (!S_ISLNK(status.st_mode))
		return -ENOTDIR;
	if (++*links > LINKS_LIMIT)
		return -ELOOP;
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return -errno;
	target[length] = '\0';
	next = xasprintf("%s/%s", target, *rest);
	free(*rest);
	*rest = next;
	if (target[0] == '/')
		strcpy(*folder, "/");
	return 0;
}

/* Follows the root's path as the kernel would, and notes each name on the way. Leaves the folder it
 * leads to, or NULL. */
static void find_chain(struct watch_root *root)
{
	char *folder = xstrdup("/"), *rest = xstrdup(root->path);
	unsigned links = 0;
	int error = 0;

	while (error == 0) {
		char *start = rest + strspn(rest, "/");
		size_t length = strcspn(start, "/");
		AUTO_FREE char *name = xstrndup(start, length);
		char *after = xstrdup(start + length);

		free(rest);
		rest = after;
		if (length == 0)
			break;
		if (strcmp(name, ".") == 0)
			continue;
		if (strcmp(name, "..") == 0) {
			parent_of(folder);
			continue;
		}
		add_link(root, folder, name);
		error = step(&folder, &rest, name, &links);
	}
	free(rest);
	if (error) {
		free(folder);
		folder = NULL;
	}
	root->folder = folder;
}

static void watch_chain(struct watch *watch, struct watch_root *root)
{
	for (size_t i = 0; i < root->links_count; i++) {
		struct link *link = &root->links[i];

		if (add_watch(watch, link->folder, CHAIN_EVENTS) == 0)
			link->wd = inotifytools_wd_from_filename(link->folder);
	}
}

static bool is_remote(const char *path)
{
	static const uint32_t kinds[] = {
		0x6969,	    /* NFS */
		0x517B,	    /* SMB */
		0xFE534D42, /* SMB2 */
		0xFF534D42, /* CIFS */
		0x65735546, /* FUSE, virtiofs */
		0x01021997, /* 9p */
		0x00C36400, /* Ceph */
		0x5346414F, /* AFS */
		0x6B414653, /* kAFS */
		0x73757245, /* Coda */
		0x0BD00BD0, /* Lustre */
		0x01161970, /* GFS2 */
		0x7461636F, /* OCFS2 */
		0x786F4256, /* vboxsf */
		0xBACBACBC, /* vmhgfs */
		0x47504653, /* GPFS */
		0xAAD7AAEA, /* PanFS */
		0x013111A8, /* IBRIX */
	};
	struct statfs status;

	if (statfs(path, &status) < 0)
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if ((uint32_t)status.f_type == kinds[i])
			return true;
	return false;
}

/* ---- from one life of the library to the next ---- */

static void set_problem(struct watch *watch, enum problem problem)
{
	int before = atomic_exchange(&watch->problem, (int)problem);

	if (before == (int)problem)
		return;
	if (problem != PROBLEM_NONE)
		log_event(watch->log, LOG_LEVEL_WARNING, "watch", LOG_TEXT("state", "not-working"),
			LOG_TEXT("reason", problem_texts[problem]));
	else
		log_event(watch->log, LOG_LEVEL_INFO, "watch", LOG_TEXT("state", "working"),
			LOG_NUMBER("folders", (int64_t)watch->watched.count));
}

static void forget_root(struct watch_root *root)
{
	for (size_t i = 0; i < root->links_count; i++) {
		free(root->links[i].folder);
		free(root->links[i].name);
	}
	root->links_count = 0;
	free(TAKE(root->folder));
	root->device = 0;
	root->inode = 0;
	atomic_store(&root->is_remote, false);
}

static void forget_all(struct watch *watch)
{
	size_t cursor = 0;
	const struct hash_entry *entry;

	library_close(watch);
	while ((entry = hash_next(&watch->watched, &cursor)))
		free(entry->value);
	hash_fini(&watch->watched);
	hash_init(&watch->watched);
	for (size_t i = 0; i < watch->roots_count; i++)
		forget_root(&watch->roots[i]);
	watch->stale = 0;
	watch->patrols = 0;
	watch->is_full = false;
}

/* Another look could take for ever. */
static bool is_stuck(const struct watch_root *root)
{
	return root->probe && probe_ask(root->probe, PATIENCE_MS) == -ETIMEDOUT;
}

static void add_root(struct watch *watch, struct watch_root *root)
{
	struct stat status;

	atomic_store(&root->is_stuck, is_stuck(root));
	if (atomic_load(&root->is_stuck))
		return;
	find_chain(root);
	if (!root->folder || stat(root->folder, &status) < 0)
		return;
	root->device = status.st_dev;
	root->inode = status.st_ino;
	add_folders(watch, root, root->folder);
	atomic_store(&root->is_remote, is_remote(root->folder));
}

static void want_renewal(struct watch *watch, const char *reason)
{
	if (watch->renew_reason)
		return;
	watch->renew_reason = reason;
	log_event(watch->log, LOG_LEVEL_DEBUG, "watch", LOG_TEXT("state", "again"),
		LOG_TEXT("reason", reason));
}

/* Whether some root is another folder than the one that is watched. */
static bool is_other(struct watch *watch)
{
	bool is_any = false;

	for (size_t i = 0; i < watch->roots_count; i++) {
		struct watch_root *root = &watch->roots[i];
		bool was_stuck = atomic_load(&root->is_stuck);
		struct stat status = {0};

		atomic_store(&root->is_stuck, is_stuck(root));
		if (atomic_load(&root->is_stuck))
			continue;
		/* Missing, or no folder: all zero. */
		if (stat(root->path, &status) < 0 || !S_ISDIR(status.st_mode))
			status = (struct stat){0};
		is_any = is_any || was_stuck || status.st_dev != root->device ||
			 status.st_ino != root->inode;
	}
	return is_any;
}

static void renew(struct watch *watch)
{
	static const char at_once[] = "root changed meanwhile";
	bool is_second = watch->renew_reason == at_once;
	enum problem problem;

	watch->renew_reason = NULL;
	forget_all(watch);
	problem = library_open(watch);
	for (size_t i = 0; problem == PROBLEM_NONE && i < watch->roots_count; i++)
		add_root(watch, &watch->roots[i]);
	for (size_t i = 0; problem == PROBLEM_NONE && i < watch->roots_count; i++)
		watch_chain(watch, &watch->roots[i]);
	/* What changed on the way before it was watched; once, the patrol sees to the rest. */
	if (problem == PROBLEM_NONE && !is_second && is_other(watch))
		want_renewal(watch, at_once);
	if (watch->is_full)
		problem = PROBLEM_WATCH_LIMIT;
	set_problem(watch, problem);
	for (size_t i = 0; i < watch->roots_count; i++) {
		if (atomic_load(&watch->roots[i].is_remote))
			log_event(watch->log, LOG_LEVEL_WARNING, "watch",
				LOG_TEXT("state", "not-working"),
				LOG_TEXT("path", watch->roots[i].path),
				LOG_TEXT("reason", problem_texts[PROBLEM_NETWORK]));
		watch->callback(watch->ctx, i, NULL);
	}
}

/* ---- events ---- */

static bool is_link_name(const struct watch_root *root, const struct inotify_event *event)
{
	for (size_t i = 0; i < root->links_count; i++)
		if (root->links[i].wd == event->wd && event->len > 0 &&
			strcmp(root->links[i].name, event->name) == 0)
			return true;
	return false;
}

static void hint(struct watch *watch, const struct watch_root *root, const char *path)
{
	watch->callback(watch->ctx, (size_t)(root - watch->roots), path);
}

/* A new empty file is about to be written and will be reported when it is closed. Hard links and
 * files that come with content are not. */
static bool is_unfinished(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0 &&
	       status.st_nlink == 1;
}

static void on_hidden(
	struct watch *watch, const struct watch_root *root, const char *path, const char *relative)
{
	struct stat status;

	if (strcmp(relative, WATCH_HOLD) == 0)
		hint(watch, root, relative);
	/* `..data -> ..2026_01`: swapped to change many files at once (Kubernetes volumes). */
	else if (lstat(path, &status) == 0 && S_ISLNK(status.st_mode))
		hint(watch, root, NULL);
}

static void on_folder(struct watch *watch, const struct watch_root *root,
	const struct inotify_event *event, const char *path, const char *relative)
{
	AUTO_FREE char *folder = NULL;

	if (event->mask & IN_MOVED_FROM) {
		/* Watches go on under the old name, wherever it has gone. */
		want_renewal(watch, "folder moved");
		return;
	}
	folder = xasprintf("%s/", path);
	if (event->mask & IN_DELETE) {
		/* Not when its watch is reported gone: that may come after a new folder of this
		 * name, when somebody had the old one open. */
		free(hash_remove(&watch->watched, slice_of(folder)));
	} else {
		add_folders(watch, root, folder);
		if (watch->is_full)
			set_problem(watch, PROBLEM_WATCH_LIMIT);
	}
	hint(watch, root, relative);
}

static void on_entry(struct watch *watch, const struct watch_root *root,
	const struct inotify_event *event, const char *folder)
{
	AUTO_FREE char *path = xasprintf("%s%s", folder, event->name);
	const char *relative = path + strlen(root->folder);

	if (is_hidden(event->name))
		on_hidden(watch, root, path, relative);
	else if (event->mask & IN_ISDIR)
		on_folder(watch, root, event, path, relative);
	else if (!(event->mask & IN_CREATE) || !is_unfinished(path))
		hint(watch, root, relative);
}

/* The event's folder is below this root. */
static void on_root_event(struct watch *watch, const struct watch_root *root,
	const struct inotify_event *event, const char *folder)
{
	if (event->len > 0)
		on_entry(watch, root, event, folder);
	else if ((event->mask & (IN_DELETE_SELF | IN_MOVE_SELF)) &&
		 strcmp(folder, root->folder) == 0)
		/* Folders below are reported by the one above. */
		want_renewal(watch, "root changed");
	else if ((event->mask & IN_ATTRIB) && strcmp(folder, root->folder) == 0)
		hint(watch, root, NULL);
}

static void on_event(struct watch *watch, const struct inotify_event *event)
{
	AUTO_FREE char *folder = NULL;
	const char *name;
	bool is_below = false;

	if (event->mask & IN_Q_OVERFLOW) {
		want_renewal(watch, "too many events at once");
		return;
	}
	for (size_t i = 0; i < watch->roots_count; i++) {
		if (is_link_name(&watch->roots[i], event)) {
			want_renewal(watch, "root changed");
			return;
		}
	}
	name = inotifytools_filename_from_wd(event->wd);
	if (!name)
		return;
	/* What follows may add watches. */
	folder = xstrdup(name);
	for (size_t i = 0; i < watch->roots_count; i++) {
		const struct watch_root *root = &watch->roots[i];

		if (!root->folder || strncmp(folder, root->folder, strlen(root->folder)) != 0)
			continue;
		is_below = true;
		if (!(event->mask & (IN_UNMOUNT | IN_IGNORED)))
			on_root_event(watch, root, event, folder);
	}
	if (is_below && (event->mask & IN_UNMOUNT))
		want_renewal(watch, "unmounted");
	else if (is_below && (event->mask & IN_IGNORED) && ++watch->stale > STALE_LIMIT &&
		 watch->stale > watch->watched.count)
		want_renewal(watch, "many folders removed");
}

static void patrol(struct watch *watch)
{
	int problem = atomic_load(&watch->problem);

	watch->patrols++;
	if (problem == PROBLEM_NO_INSTANCE || problem == PROBLEM_DESCRIPTOR ||
		(problem == PROBLEM_WATCH_LIMIT && watch->patrols >= PATROLS_PER_WALK))
		want_renewal(watch, "trying again");
	else if (watch->fd >= 0 && is_other(watch))
		want_renewal(watch, "root changed");
}

/* ---- the thread ---- */

/* From here on descriptors of this thread are its own: other threads cannot take the small number
 * that the library needs, and clients' sockets are not kept open by a copy. */
static void separate_descriptors(const struct watch *watch)
{
	int low = watch->control < watch->log->fd ? watch->control : watch->log->fd;
	int high = watch->control < watch->log->fd ? watch->log->fd : watch->control;

	if (!HAS_OWN_TABLE || unshare(CLONE_FILES) < 0)
		return;
	low = low < 2 ? 2 : low;
	if (low > 3)
		(void)close_range(3, (unsigned)low - 1, 0);
	if (high > low + 1)
		(void)close_range((unsigned)low + 1, (unsigned)high - 1, 0);
	(void)close_range((unsigned)high + 1, ~0u, 0);
}

static void *watch_main(void *argument)
{
	struct watch *watch = argument;
	int64_t patrol_at_ms;
	bool is_stopping = false;

	(void)pthread_setname_np(pthread_self(), "watch");
	separate_descriptors(watch);
	renew(watch);
	patrol_at_ms = clock_monotonic_ms() + PATROL_MS;
	while (!is_stopping) {
		struct pollfd fds[2] = {
			{.fd = watch->control, .events = POLLIN},
			{.fd = watch->fd, .events = POLLIN},
		};
		int64_t wait_ms = patrol_at_ms - clock_monotonic_ms();
		const struct inotify_event *event;

		(void)poll(fds, 2, wait_ms > 0 ? (int)wait_ms : 0);
		atomic_store(&watch->alive_ms, clock_monotonic_ms());

		if (fds[0].revents) {
			is_stopping = true;
			continue;
		}
		if (wait_ms <= 0) {
			patrol(watch);
			patrol_at_ms = clock_monotonic_ms() + PATROL_MS;
		}
		if (fds[1].revents)
			while (!watch->renew_reason && (event = inotifytools_next_events(0, 1)))
				on_event(watch, event);
		if (watch->renew_reason)
			renew(watch);
	}
	forget_all(watch);
	return NULL;
}

static char *absolute_path(const char *path)
{
	AUTO_FREE char *folder = NULL;

	if (path[0] == '/')
		return xstrdup(path);
	folder = getcwd(NULL, 0);
	return folder ? xasprintf("%s/%s", folder, path) : NULL;
}

static void free_watch(struct watch *watch)
{
	close(watch->control);
	hash_fini(&watch->watched);
	for (size_t i = 0; i < watch->roots_count; i++) {
		free(watch->roots[i].links);
		free(watch->roots[i].path);
		probe_free(watch->roots[i].probe);
	}
	free(watch->roots);
	free(watch);
}

static int take_roots(struct watch *watch, const char *const *roots, size_t count)
{
	watch->roots = xcalloc(count, sizeof(*watch->roots));
	watch->roots_count = count;
	for (size_t i = 0; i < count; i++) {
		atomic_init(&watch->roots[i].is_remote, false);
		atomic_init(&watch->roots[i].is_stuck, false);
		watch->roots[i].path = absolute_path(roots[i]);
		if (!watch->roots[i].path)
			return -errno;
		if (count > 1)
			watch->roots[i].probe = probe_new(watch->roots[i].path);
	}
	return 0;
}

int watch_start(const char *const *roots, size_t count, const struct log *log,
	watch_hint_cb callback, void *ctx, struct watch **ret_watch)
{
	struct watch *watch;
	sigset_t all, before;
	int control = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), error;

	if (control < 0)
		return -errno;
	watch = xcalloc(1, sizeof(*watch));
	watch->log = log;
	watch->callback = callback;
	watch->ctx = ctx;
	watch->control = control;
	watch->fd = -1;
	hash_init(&watch->watched);
	atomic_init(&watch->problem, PROBLEM_STARTING);
	atomic_init(&watch->alive_ms, clock_monotonic_ms());
	error = take_roots(watch, roots, count);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!error)
		error = -pthread_create(&watch->thread, NULL, watch_main, watch);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		free_watch(watch);
		return error;
	}
	*ret_watch = watch;
	return 0;
}

void watch_stop(struct watch *watch)
{
	const uint64_t one = 1;

	if (!watch)
		return;
	while (write(watch->control, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(watch->thread, NULL);
	free_watch(watch);
}

bool watch_is_working(const struct watch *watch, size_t root, const char **ret_reason)
{
	int problem = atomic_load(&watch->problem);

	/* A root of former settings. */
	if (root >= watch->roots_count)
		problem = PROBLEM_STARTING;
	else if (problem == PROBLEM_NONE && atomic_load(&watch->roots[root].is_remote))
		problem = PROBLEM_NETWORK;
	else if (problem == PROBLEM_NONE && atomic_load(&watch->roots[root].is_stuck))
		problem = PROBLEM_STUCK;
	if (clock_monotonic_ms() - atomic_load(&watch->alive_ms) > STUCK_MS)
		problem = PROBLEM_STUCK;
	*ret_reason = problem_texts[problem];
	return problem == PROBLEM_NONE || problem == PROBLEM_STARTING;
}
