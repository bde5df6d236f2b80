#include "alilb/account.h"

#include "alicloud/eni.h"
#include "alicloud/error.h"
#include "alicloud/instance.h"
#include "alicloud/presence.h"
#include "alilb/class.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int account_acquire(const struct ccm_host *host, void **ret_account, struct ccm_error *err)
{
    struct ali_client *ali = NULL;
    const int r = ali_acquire(host, &ali, err);

    *ret_account = ali;
    return r;
}

static void account_release(void *account)
{
    if (account != NULL) {
        ali_release(account);
    }
}

static const char no_cluster_id[] =
    "option cluster_id of group alicloud is not set: it marks what belongs to this cluster and "
    "must be unique";

int alilb_check(const struct ccm_check_sink *sink)
{
    const struct ccm_host *host = sink->host;
    struct ccm_error err = CCM_ERROR_INIT;
    char text[ALILB_CLASS_TEXT];

    if (ali_check(host, &err) < 0) {
        sink->finding(sink, CCM_LEVEL_ERROR, err.message);
    } else if (host->option_string(host, "alicloud", "cluster_id")[0] == '\0') {
        sink->finding(sink, CCM_LEVEL_ERROR, no_cluster_id);
    }
    if (alilb_class_check(host, text) != NULL) {
        sink->finding(sink, CCM_LEVEL_ERROR, text);
    }
    return 0;
}

static int account_start(void *account, const struct ccm_host *host, struct ccm_error *err)
{
    char text[ALILB_CLASS_TEXT];
    const int r = ali_start(account, host, err);

    if (r == 0 && alilb_class_check(host, text) != NULL) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "%s", text);
    }
    if (r == 0 && ali_cluster_id(account)[0] == '\0') {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "%s", no_cluster_id);
    }
    return r;
}

static void account_site(const void *account, struct lbc_site *ret)
{
    ret->cluster_id = ali_cluster_id(account);
    ret->resource_group = ali_resource_group_id(account);
    ret->vpc_id = ali_vpc_id(account);
    ret->region = ali_region(account);
}

static void interface_set(struct lbc_interface *ret, const struct ali_eni *eni)
{
    static const enum lbc_interface_state states[] = {
        [ALI_ENI_FOUND] = LBC_INTERFACE_FOUND,
        [ALI_ENI_MISSING] = LBC_INTERFACE_MISSING,
        [ALI_ENI_FOREIGN] = LBC_INTERFACE_FOREIGN,
        [ALI_ENI_NODE] = LBC_INTERFACE_NODE,
    };
    _Static_assert(sizeof(ret->id) == sizeof(eni->id), "an id is never cut");

    ret->state = states[eni->state];
    memcpy(ret->id, eni->id, sizeof(ret->id));
}

static struct ali_caller account_caller(const struct lbc_cloud_caller *by)
{
    return (struct ali_caller){ by->account, by->host, by->req };
}

static int account_find_interfaces(const struct lbc_cloud_caller *by,
                                   const struct lbc_addresses *addresses, struct lbc_interface *ret,
                                   struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) struct ali_eni *found = calloc(addresses->count, sizeof(*found));
    const struct ali_caller caller = account_caller(by);
    const struct ali_eni_addresses query = { addresses->items, addresses->owners, addresses->count,
                                             addresses->anew };

    if (found == NULL) {
        return ccm_error_nomem(err);
    }
    const int r = ali_eni_resolve(&caller, &query, found, err);

    if (r < 0) {
        return ccm_error_wrap(err, r, "call DescribeNetworkInterfaces");
    }
    for (size_t i = 0; i < addresses->count; i++) {
        interface_set(&ret[i], &found[i]);
    }
    return 0;
}

static void account_forget_interface(void *account, const char *address)
{
    ali_eni_forget(account, address);
}

static int account_find_gone_instances(const struct lbc_cloud_caller *by, const char *witness,
                                       const char *const *ids, size_t count, bool *ret_gone,
                                       struct ccm_error *err)
{
    const struct ali_caller caller = account_caller(by);
    const struct ali_inquiry about = {
        .ids = ids,
        .count = count,
        .witness = witness,
        .object = by->host->dry_run(by->host) ? NULL : by->req->keys[0],
    };

    return ali_find_gone_instances(&caller, &about, ret_gone, err);
}

static void account_end_pass(const struct lbc_cloud_caller *by, const char *object)
{
    const struct ali_caller caller = account_caller(by);

    ali_call_end_request(&caller, object);
}

static void account_describe(void *account, const struct ccm_host *host,
                             const struct ccm_view_sink *sink)
{
    ali_describe(account, host, sink);
}

/* "slb" and "nlb", as the console of the cloud has them. */
static void account_format_console(const void *account, const char *product, const char *id,
                                   struct ccm_buf *url)
{
    ccm_buf_addf(url, "https://slb.console.aliyun.com/%s/%s/%ss/%s", product, ali_region(account),
                 product, id);
}

static void account_explain(const struct ccm_error *err, struct lbc_failure *ret)
{
    ret->remedy = ali_error_remedy(err);
    ret->is_wait = ali_error_is_wait(err);
}

const struct lbc_cloud_ops alilb_cloud_ops = {
    .acquire = account_acquire,
    .release = account_release,
    .start = account_start,
    .site = account_site,
    .find_interfaces = account_find_interfaces,
    .forget_interface = account_forget_interface,
    .find_gone_instances = account_find_gone_instances,
    .end_pass = account_end_pass,
    .describe = account_describe,
    .console = account_format_console,
    .explain = account_explain,
};

enum ali_priority alilb_priority(enum lbc_priority priority)
{
    static const enum ali_priority priorities[] = {
        [LBC_PRIO_REMOVE] = ALI_PRIO_REMOVE, [LBC_PRIO_NEW] = ALI_PRIO_NEW,
        [LBC_PRIO_SPEC] = ALI_PRIO_SPEC,     [LBC_PRIO_BULK] = ALI_PRIO_BULK,
        [LBC_PRIO_AUDIT] = ALI_PRIO_AUDIT,   [LBC_PRIO_RETRY] = ALI_PRIO_RETRY,
    };

    return priorities[priority];
}
