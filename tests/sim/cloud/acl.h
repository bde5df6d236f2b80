/* Access control lists of SLB: what lists, their entries and listeners know of each other. With the
 * cloud's lock held. */
#ifndef CCM_CLOUD_ACL_H
#define CCM_CLOUD_ACL_H

#include "cloud.h"

/* The list that AclId names. 0 or -EPROTO. */
CCM_NODISCARD int ccm_cloud_acl_of(struct ccm_cloud_call *call, struct ccm_cloud_obj **ret);

/* Whether the list is bound to the listener. No page says what AclStatus=off does to that; since
 * there is no other call that could undo it, off does, unless limits.acl_off_keeps is set. */
bool ccm_cloud_acl_binds(const struct ccm_cloud *cloud, const struct ccm_cloud_listener *listener,
                         const char *id);

/* Listeners that the list is bound to. */
size_t ccm_cloud_acl_users(const struct ccm_cloud *cloud, const char *id);

/* Rules of AclId, AclStatus and AclType of a listener; NULL: it is being made. 0 or -EPROTO. */
CCM_NODISCARD int ccm_cloud_acl_check(struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb,
                                      const struct ccm_cloud_listener *listener);

/* Next entry of a list; start with *cursor = NULL. NULL at the end. The one just returned may be
 * deleted. Attributes: AclId, Entry, Comment. */
struct ccm_cloud_obj *ccm_cloud_acl_entry_next(const struct ccm_cloud *cloud, const char *id,
                                               void **cursor);

/* Whether the list has the entry. */
bool ccm_cloud_acl_entry_has(const struct ccm_cloud *cloud, const char *id, const char *entry);

void ccm_cloud_acl_entries_del(struct ccm_cloud *cloud, const char *id);

#endif
