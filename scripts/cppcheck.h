/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For cppcheck, which does not read the system's headers: macros that declare things. */
#define LIST_HEAD(name, type) struct name { struct type *lh_first; }
#define LIST_ENTRY(type) struct { struct type *le_next, **le_prev; }
#define TAILQ_HEAD(name, type) struct name { struct type *tqh_first, **tqh_last; }
#define TAILQ_ENTRY(type) struct { struct type *tqe_next, **tqe_prev; }
#define LIST_FOREACH(item, head, link)                                                             \
	for ((item) = (head)->lh_first; (item); (item) = (item)->link.le_next)
#define STAILQ_HEAD(name, type) struct name { struct type *stqh_first, **stqh_last; }
#define STAILQ_ENTRY(type) struct { struct type *stqe_next; }
