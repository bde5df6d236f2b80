/*
 * Whether instances still exist: for removals that Kubernetes alone must not decide about. What the
 * cloud said is shared by all plugins and Services of the process for a short time.
 */
#ifndef CCM_ALICLOUD_PRESENCE_H
#define CCM_ALICLOUD_PRESENCE_H

#include "alicloud/client.h"

/* A question about `count` instances. */
struct ali_inquiry {
    const char *const *ids;
    size_t count;
    /* An instance that is there for certain, "" = none is known. It is asked for as well: an answer
     * without any instance at all (rights that hide them, another region) says nothing, and what it
     * says nothing about is not gone. */
    const char *witness;
    /* For whom it is asked, then it is put off as the calls of a pass are; NULL = it waits for its
     * turn. */
    const char *object;
};

/*
 * ret_gone[i] tells whether the cloud has no instance ids[i] any more. One DescribeInstances per 99
 * of them that nobody asked about within the last half minute.
 *
 * Blocks as ali_call(). 0; -EAGAIN: another thread is asking, come again in a second or so;
 * -EBUSY: the question of somebody else failed a moment ago, come again as after a failure; both
 * without err. Other negative results with err, as has -EAGAIN when the question was put off
 * (ali_error_is_put_off()), which is no failure. Every thread.
 */
CCM_NODISCARD ALI_API int ali_find_gone_instances(const struct ali_caller *by,
                                                  const struct ali_inquiry *about, bool *ret_gone,
                                                  struct ccm_error *err);

#endif
