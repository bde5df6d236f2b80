/* What was heard about instances, and who asks. Inside of the library. Every thread; a leaf lock.
 */
#ifndef CCM_ALICLOUD_PRESENCE_CACHE_H
#define CCM_ALICLOUD_PRESENCE_CACHE_H

struct ccm_presence;

/* NULL on ENOMEM. */
struct ccm_presence *ccm_presence_new(void);
/* NULL is fine. */
void ccm_presence_free(struct ccm_presence *presence);

#endif
