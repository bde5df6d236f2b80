/*
 * What the plugins for load balancers of Alibaba Cloud share: their account as the engine sees it
 * (lbc/model/cloud.h). Every thread.
 */
#ifndef CCM_ALILB_ACCOUNT_H
#define CCM_ALILB_ACCOUNT_H

#include "alicloud/client.h"
#include "ccm/plugin.h"
#include "lbc/model/cloud.h"

/* Its account is a struct ali_client. */
extern const struct lbc_cloud_ops alilb_cloud_ops;

static inline struct ali_client *alilb_client(const struct lbc_cloud *cloud)
{
    return cloud->account;
}

/* check() of a plugin: its options, as far as they are about the account. */
int alilb_check(const struct ccm_check_sink *sink);

enum ali_priority alilb_priority(enum lbc_priority priority);

#endif
