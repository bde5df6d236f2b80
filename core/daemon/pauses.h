/*
 * Pauses that plugins name: of an account, an action, whatever shares a limit. Names belong to the
 * plugin of which several instances may run. Every thread; one lock, a leaf.
 */
#ifndef CCM_DAEMON_PAUSES_H
#define CCM_DAEMON_PAUSES_H

#include <stdint.h>

struct daemon_pauses;

/* NULL on ENOMEM. */
struct daemon_pauses *daemon_pauses_new(void);
/* NULL is fine. */
void daemon_pauses_free(struct daemon_pauses *pauses);

/* Until a monotonic time, at most 10 minutes from now; of several the latest counts, one that is
 * over ends it. Of at most 1,000 names at a time; what comes beyond is lost. */
void daemon_pauses_set(struct daemon_pauses *pauses, const char *plugin, const char *name,
                       int64_t until_ms);

/* Until when; 0 = there is none. */
int64_t daemon_pauses_get(struct daemon_pauses *pauses, const char *plugin, const char *name);

#endif
