/*
 * Ends the process when a call into a plugin hangs for so long that only a new process helps: two
 * minutes longer than /livez bears it. Also when the end of the process hangs, or does not begin. A
 * process that stood still as a whole, stopped or frozen, counts as hung two minutes after it
 * continues at the earliest. A thread of its own, because the main one may hang.
 */
#ifndef CCM_DAEMON_HANG_GUARD_H
#define CCM_DAEMON_HANG_GUARD_H

#include "daemon/collect.h"
#include "util/attr.h"

struct daemon_hang_guard;

/* Both are borrowed until free. end: have the process end in order; once, from the thread. NULL
 * when there is no memory or no thread. */
struct daemon_hang_guard *daemon_hang_guard_start(struct daemon_observed *seen,
                                                  void (*end)(void *arg), void *arg);

/* The process ends, and has stop_ms for it: from now on only that is looked at. NULL is fine, here
 * and below. */
void daemon_hang_guard_note_end(struct daemon_hang_guard *guard, int64_t stop_ms);

void daemon_hang_guard_free(struct daemon_hang_guard *guard);

#endif
