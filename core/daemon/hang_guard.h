/*
 * Ends the process by itself when a call into a plugin hangs for so long that nothing but a new
 * process helps: longer than /livez bears it, and two minutes more. Also when the end
 * of the process hangs, or does not begin. A process that stood still as a whole, stopped or
 * frozen, hangs no earlier than that option after it goes on. A thread of its own, because it may
 * be the main one that hangs.
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
