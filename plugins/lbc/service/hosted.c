#include "lbc/service/hosted.h"

#include "lbc/model/own_rule.h"
#include "lbc/model/resolve.h"
#include "util/cidr.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define ASKS_MAX 100 /* pods that one pass reads */

/* What is found of a pod, by "namespace/slice/pod/address/mark of its uid". */
struct seen_pod {
    enum lbc_own_rule rule; /* against it */
    char version[];         /* of the slice that named it */
};

void lbc_hosted_fini(struct lbc_hosted *hosted)
{
    ccm_strmap_free(hosted->known);
    ccm_strmap_free(hosted->found);
    hosted->known = NULL;
    hosted->found = NULL;
}

/* --- memory --- */

static int hosted_record(struct lbc_hosted *hosted, const char *key, enum lbc_own_rule rule,
                         const char *version)
{
    const size_t size = strlen(version) + 1;
    CCM_CLEANUP(ccm_freep) struct seen_pod *seen = malloc(sizeof(*seen) + size);

    if (hosted->found == NULL) {
        hosted->found = ccm_strmap_new(free);
    }
    if (seen == NULL || hosted->found == NULL) {
        return -ENOMEM;
    }
    seen->rule = rule;
    memcpy(seen->version, version, size);
    if (ccm_strmap_set(hosted->found, key, seen) < 0) {
        return -ENOMEM;
    }
    (void)CCM_STEAL(seen); /* the map owns it now */
    return 0;
}

static const struct seen_pod *seen_get(const struct ccm_strmap *map, const char *key)
{
    return map == NULL ? NULL : ccm_strmap_get(map, key);
}

/* Whether it is known. A pod that has the network of its node keeps it as long as its uid is the
 * same, whatever its slice says later; one that could not be read is read again. mark: of the uid,
 * 0 = the endpoint names none. */
static bool hosted_recall(const struct lbc_hosted *hosted, const char *key, uint64_t mark,
                          const char *version, enum lbc_own_rule *ret)
{
    const struct seen_pod *now = seen_get(hosted->found, key);
    const struct seen_pod *seen = now == NULL ? seen_get(hosted->known, key) : now;

    if (seen == NULL ||
        (now == NULL && (seen->rule != LBC_OWN_RULE_NONE || mark == 0) &&
         (seen->rule == LBC_OWN_RULE_UNREAD || strcmp(seen->version, version) != 0))) {
        return false;
    }
    *ret = seen->rule;
    return true;
}

/* --- the pod --- */

/* An older core does not say. */
static bool pod_is_hosted(const struct ccm_pod *pod, const char *address)
{
    bool has = ccm_ip_equal_text(pod->ip, address);

    if (pod->meta.struct_size <= offsetof(struct ccm_pod, ip_count) || pod->host_network == 0) {
        return false;
    }
    for (uint64_t i = 0; !has && i < pod->ip_count; i++) {
        has = ccm_ip_equal_text(pod->ips[i], address);
    }
    return has;
}

static enum lbc_own_rule hosted_ask(struct lbc_hosted *hosted, const struct lbc_endpoint_ref *ref)
{
    const struct ccm_host *host = hosted->host;
    const struct ccm_object *object = NULL;
    const char *namespace_ = ref->slice->meta.namespace_;
    const char *name = ref->endpoint->pod_name;
    struct ccm_error err = CCM_ERROR_INIT;

    if (hosted->failed) {
        return LBC_OWN_RULE_UNREAD;
    }
    if (hosted->asked == ASKS_MAX) {
        hosted->more = true;
        return LBC_OWN_RULE_UNASKED;
    }
    hosted->asked++;
    if (host->fetch(host, hosted->req, CCM_KIND_POD, namespace_, name, &object, &err) == 0) {
        const bool is_hosted =
            pod_is_hosted((const struct ccm_pod *)(const void *)object, ref->endpoint->address);

        host->release(host, object);
        return is_hosted ? LBC_OWN_RULE_NONE : LBC_OWN_RULE_NODE_ADDRESS;
    }
    if (err.kind == CCM_ERROR_NOT_FOUND) {
        return LBC_OWN_RULE_NODE_ADDRESS;
    }
    hosted->failed = true;
    if (err.kind != CCM_ERROR_CANCELLED) {
        host->log(host, CCM_LEVEL_WARN, hosted->key,
                  "pod %s/%s has the address of a node, and cannot be read: %s", namespace_, name,
                  err.message);
    }
    return LBC_OWN_RULE_UNREAD;
}

int lbc_hosted_judge(void *self, const struct lbc_endpoint_ref *ref)
{
    struct lbc_hosted *hosted = self;
    const struct ccm_object *slice = &ref->slice->meta;
    const char *pod = ref->endpoint->pod_name;
    const uint64_t mark = ref->endpoint->flags & CCM_ENDPOINT_POD_MARK;
    const int r = lbc_address_is_of_node(hosted->host, ref->endpoint->address);
    CCM_CLEANUP(ccm_freep) char *key = NULL;
    enum lbc_own_rule rule = LBC_OWN_RULE_NODE_ADDRESS;

    if (r <= 0 || pod[0] == '\0') {
        return r <= 0 ? r : (int)rule;
    }
    key = ccm_text_format("%s/%s/%s/%s/%" PRIx64, slice->namespace_, slice->name, pod,
                          ref->endpoint->address, mark);
    if (key == NULL) {
        return -ENOMEM;
    }
    if (!hosted_recall(hosted, key, mark, slice->resource_version, &rule)) {
        rule = hosted_ask(hosted, ref);
    }
    return rule != LBC_OWN_RULE_UNASKED &&
                   hosted_record(hosted, key, rule, slice->resource_version) < 0
               ? -ENOMEM
               : (int)rule;
}
