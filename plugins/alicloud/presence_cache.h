/* What was heard about instances, and who asks. Inside of the library. Every thread; a leaf lock.
 */
#ifndef CCM_ALICLOUD_PRESENCE_CACHE_H
#define CCM_ALICLOUD_PRESENCE_CACHE_H

struct ali_presence;

/* NULL on ENOMEM. */
struct ali_presence *ali_presence_new(void);
/* NULL is fine. */
void ali_presence_free(struct ali_presence *presence);

#endif
