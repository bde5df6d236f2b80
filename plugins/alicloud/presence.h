/*
 * Whether instances still exist: for removals that Kubernetes alone must not decide about. What the
 * cloud said is shared by all plugins and Services of the process for a short time.
 */
#ifndef CCM_ALICLOUD_PRESENCE_H
#define CCM_ALICLOUD_PRESENCE_H

#include "alicloud/client.h"

/*
 * ret_gone[i] tells whether the cloud has no instance ids[i] any more. One DescribeInstances per 99
 * of them that nobody asked about within the last half minute. witness: an instance that is there
 * for certain, "" = none is known. It is asked for as well: an answer without any instance at all
 * (rights that hide them, another region) says nothing, and what it says nothing about is not gone.
 *
 * Blocks as ali_call(). 0; -EAGAIN: another thread is asking, come again in a second or so;
 * -EBUSY: the question of somebody else failed a moment ago, come again as after a failure; both
 * without err. Other negative results with err. Every thread.
 */
CCM_NODISCARD ALI_API int ali_find_gone_instances(const struct ali_caller *by, const char *witness,
                                                  const char *const *ids, size_t count,
                                                  bool *ret_gone, struct ccm_error *err);

#endif
