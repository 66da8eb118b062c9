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
	PROBLEM_NETWORK
};

static const char *const problem_texts[] = {
	[PROBLEM_NONE] = NULL,
	[PROBLEM_STARTING] = "starting",
	[PROBLEM_NO_INSTANCE] = "no inotify instance to be had, see fs.inotify.max_user_instances",
	[PROBLEM_DESCRIPTOR] = "no descriptor number below 1024 is free for inotify",
	[PROBLEM_WATCH_LIMIT] = "fs.inotify.max_user_watches is used up",
	[PROBLEM_NETWORK] =
		"the tree is on a file system that does not report changes made elsewhere",
};

/* A name on the way to the root: when it changes, the root may be another folder. */
struct link {
	int wd;
	char *name;
};

struct watch {
	char *root; /* absolute, links not resolved */
	const struct log *log;
	watch_hint_cb callback;
	void *ctx;
	pthread_t thread;
	int control; /* eventfd; readable: stop */
	atomic_int problem;

	/* Watch thread only. */
	int fd;	      /* inotify; -1: the library is not initialised */
	char *folder; /* the root with all links resolved and a '/'; NULL: does not exist */
	dev_t device;
	ino_t inode;
	struct link *links;
	size_t links_count, links_capacity;
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

/* The library would lose memory if it were told twice of a folder that it has. */
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
static void add_folders(struct watch *watch, const char *path)
{
	struct folders todo = {0};
	size_t deepest = depth_of(watch->folder) + LIMIT_DEPTH;

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

static void add_link(struct watch *watch, const char *folder, const char *name)
{
	int wd;

	if (add_watch(watch, folder, CHAIN_EVENTS) < 0)
		return;
	wd = inotifytools_wd_from_filename(folder);
	array_reserve(watch->links, watch->links_capacity, watch->links_count + 1);
	watch->links[watch->links_count++] = (struct link){wd, xstrdup(name)};
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

/* Follows the root's path as the kernel would, and watches each name on the way. Leaves the folder
 * it leads to, or NULL. */
static void add_chain(struct watch *watch)
{
	char *folder = xstrdup("/"), *rest = xstrdup(watch->root);
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
		add_link(watch, folder, name);
		error = step(&folder, &rest, name, &links);
	}
	free(rest);
	if (error) {
		free(folder);
		folder = NULL;
	}
	watch->folder = folder;
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

static void forget_all(struct watch *watch)
{
	size_t cursor = 0;
	const struct hash_entry *entry;

	library_close(watch);
	while ((entry = hash_next(&watch->watched, &cursor)))
		free(entry->value);
	hash_fini(&watch->watched);
	hash_init(&watch->watched);
	for (size_t i = 0; i < watch->links_count; i++)
		free(watch->links[i].name);
	watch->links_count = 0;
	watch->stale = 0;
	watch->patrols = 0;
	watch->is_full = false;
	free(watch->folder);
	watch->folder = NULL;
	watch->device = 0;
	watch->inode = 0;
}

static void renew(struct watch *watch)
{
	enum problem problem;
	struct stat status;

	watch->renew_reason = NULL;
	forget_all(watch);
	problem = library_open(watch);
	if (problem == PROBLEM_NONE) {
		add_chain(watch);
		if (watch->folder && stat(watch->folder, &status) == 0) {
			watch->device = status.st_dev;
			watch->inode = status.st_ino;
			add_folders(watch, watch->folder);
		}
		if (watch->is_full)
			problem = PROBLEM_WATCH_LIMIT;
		else if (watch->folder && is_remote(watch->folder))
			problem = PROBLEM_NETWORK;
	}
	set_problem(watch, problem);
	watch->callback(watch->ctx, NULL);
}

/* ---- events ---- */

static void want_renewal(struct watch *watch, const char *reason)
{
	if (watch->renew_reason)
		return;
	watch->renew_reason = reason;
	log_event(watch->log, LOG_LEVEL_DEBUG, "watch", LOG_TEXT("state", "again"),
		LOG_TEXT("reason", reason));
}

static bool is_link_name(const struct watch *watch, const struct inotify_event *event)
{
	for (size_t i = 0; i < watch->links_count; i++)
		if (watch->links[i].wd == event->wd && event->len > 0 &&
			strcmp(watch->links[i].name, event->name) == 0)
			return true;
	return false;
}

/* A new empty file is about to be written and will be reported when it is closed. Hard links and
 * files that come with content are not. */
static bool is_unfinished(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0 &&
	       status.st_nlink == 1;
}

static void on_hidden(struct watch *watch, const char *path, const char *relative)
{
	struct stat status;

	if (strcmp(relative, WATCH_HOLD) == 0)
		watch->callback(watch->ctx, relative);
	/* `..data -> ..2026_01`: swapped to change many files at once (Kubernetes volumes). */
	else if (lstat(path, &status) == 0 && S_ISLNK(status.st_mode))
		watch->callback(watch->ctx, NULL);
}

static void on_folder(struct watch *watch, const struct inotify_event *event, const char *path,
	const char *relative)
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
		add_folders(watch, folder);
		if (watch->is_full)
			set_problem(watch, PROBLEM_WATCH_LIMIT);
	}
	watch->callback(watch->ctx, relative);
}

static void on_entry(struct watch *watch, const struct inotify_event *event, const char *folder)
{
	AUTO_FREE char *path = xasprintf("%s%s", folder, event->name);
	const char *relative = path + strlen(watch->folder);

	if (is_hidden(event->name))
		on_hidden(watch, path, relative);
	else if (event->mask & IN_ISDIR)
		on_folder(watch, event, path, relative);
	else if (!(event->mask & IN_CREATE) || !is_unfinished(path))
		watch->callback(watch->ctx, relative);
}

static void on_event(struct watch *watch, const struct inotify_event *event)
{
	const char *folder;

	if (event->mask & IN_Q_OVERFLOW) {
		want_renewal(watch, "too many events at once");
		return;
	}
	if (is_link_name(watch, event)) {
		want_renewal(watch, "root changed");
		return;
	}
	folder = inotifytools_filename_from_wd(event->wd);
	if (!watch->folder || !folder || strncmp(folder, watch->folder, strlen(watch->folder)) != 0)
		return;
	if (event->mask & IN_UNMOUNT) {
		want_renewal(watch, "unmounted");
	} else if (event->mask & IN_IGNORED) {
		if (++watch->stale > STALE_LIMIT && watch->stale > watch->watched.count)
			want_renewal(watch, "many folders removed");
	} else if (event->len > 0) {
		on_entry(watch, event, folder);
	} else if (event->mask & (IN_DELETE_SELF | IN_MOVE_SELF)) {
		/* Folders below are reported by the one above. */
		if (strcmp(folder, watch->folder) == 0)
			want_renewal(watch, "root changed");
	}
}

static void patrol(struct watch *watch)
{
	struct stat status = {0};
	int problem = atomic_load(&watch->problem);

	watch->patrols++;
	(void)stat(watch->root, &status); /* missing: all zero */
	if (problem == PROBLEM_NO_INSTANCE || problem == PROBLEM_DESCRIPTOR ||
		(problem == PROBLEM_WATCH_LIMIT && watch->patrols >= PATROLS_PER_WALK))
		want_renewal(watch, "trying again");
	else if (watch->fd >= 0 &&
		 (status.st_dev != watch->device || status.st_ino != watch->inode))
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
	free(watch->links);
	free(watch->root);
	free(watch);
}

int watch_start(const char *root, const struct log *log, watch_hint_cb callback, void *ctx,
	struct watch **ret_watch)
{
	struct watch *watch;
	sigset_t all, before;
	char *path = absolute_path(root);
	int control, error;

	if (!path)
		return -errno;
	control = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (control < 0) {
		error = -errno;
		free(path);
		return error;
	}
	watch = xcalloc(1, sizeof(*watch));
	watch->root = path;
	watch->log = log;
	watch->callback = callback;
	watch->ctx = ctx;
	watch->control = control;
	watch->fd = -1;
	hash_init(&watch->watched);
	atomic_init(&watch->problem, PROBLEM_STARTING);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
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

bool watch_is_working(const struct watch *watch, const char **ret_reason)
{
	int problem = atomic_load(&watch->problem);

	*ret_reason = problem_texts[problem];
	return problem == PROBLEM_NONE || problem == PROBLEM_STARTING;
}
