#include "lbc/quota.h"

#include "lbc/usage.h"
#include "util/cleanup.h"
#include "util/lease_event.h"
#include "util/quota_use.h"
#include "util/text.h"

#include <stdlib.h>
#include <string.h>

/* Words for one of enum lbc_quota. */
struct quota_words {
    const char *word;  /* in metrics */
    const char *what;  /* "of {limit} {what}" */
    const char *topic; /* of the event of a Service; NULL: it is about all of them */
    const char *remedy;
};

static const struct quota_words words[LBC_QUOTA_COUNT] = {
    [LBC_QUOTA_BACKENDS] = { "backends-per-load-balancer", "backends of its load balancer",
                             "quota-backends",
                             "have fewer backends (externalTrafficPolicy Local, annotation "
                             "backend-label), or spread the ports over several load balancers" },
    [LBC_QUOTA_LISTENERS] = { "listeners-per-load-balancer", "listeners of its load balancer",
                              "quota-listeners", "spread the ports over several load balancers" },
    [LBC_QUOTA_SERVERS] = { "groups-per-server", "server groups that one server may be in", NULL,
                            "let fewer nodes be backends (externalTrafficPolicy Local, annotation "
                            "backend-label), or pods (annotation backend-type eni)" },
    [LBC_QUOTA_GROUPS] = { "server-groups", "server groups", NULL, "have fewer Services or ports" },
    [LBC_QUOTA_LBS] = { "load-balancers", "load balancers", NULL,
                        "let Services share load balancers (annotation id)" },
};

/* NULL: the product does not have it. */
static const char *quota_name(const struct lbc_instance *lbc, enum lbc_quota quota)
{
    const struct lbc_quota_limit *limits = lbc->ops->product->quotas;

    return limits == NULL ? NULL : limits[quota].name;
}

/* 0: nobody looks at it. */
static uint64_t quota_limit(const struct lbc_instance *lbc, enum lbc_quota quota)
{
    const char *name = quota_name(lbc, quota);

    return name == NULL
               ? 0
               : ccm_quota_limit(lbc->host, name, lbc->ops->product->quotas[quota].published);
}

/* Without the figures of the moment: else each backend would be an event. */
static void quota_describe(const struct lbc_instance *lbc, enum lbc_quota quota, uint64_t limit,
                           const char *whose, struct ccm_buf *text)
{
    ccm_buf_addf(text,
                 "%s80 %% or more of %llu %s are used; beyond them the cloud refuses: %s, or raise "
                 "the quota, and %s in option account_quotas of plugin %s with it",
                 whose, (unsigned long long)limit, words[quota].what, words[quota].remedy,
                 quota_name(lbc, quota), lbc->ops->product->name);
}

/* --- one load balancer --- */

static void quota_emit_one(struct lbc_pass *pass, enum lbc_quota quota, uint32_t used)
{
    const struct lbc_instance *lbc = pass->lbc;
    const uint64_t limit = quota_limit(lbc, quota);
    const unsigned bit = 1U << quota;
    const bool was_near = (pass->entry->near & bit) != 0;
    const bool near = ccm_quota_is_near(used, limit, was_near);
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 900 };

    if (near) {
        CCM_CLEANUP(ccm_freep)
        char *whose = ccm_text_format("load balancer [%s]: ", lbc_pass_lb_id(pass));

        quota_describe(lbc, quota, limit, whose == NULL ? "" : whose, &text);
    }
    lbc_pass_emit_standing(pass, words[quota].topic, "QuotaNear", ccm_buf_str(&text));
    if (near || was_near) {
        ccm_quota_note(lbc->host, pass->service->meta.key, words[quota].what, used,
                       near ? limit : 0);
    }
    pass->entry->near = near ? pass->entry->near | bit : pass->entry->near & ~bit;
}

void lbc_quota_emit(struct lbc_pass *pass)
{
    const struct lbc_counts counts = lbc_usage_count(pass->entry->state, pass->model->reused);

    for (unsigned i = 0; i < LBC_QUOTA_COUNT && !pass->lbc->dry; i++) {
        if (words[i].topic != NULL && quota_name(pass->lbc, (enum lbc_quota)i) != NULL) {
            quota_emit_one(pass, (enum lbc_quota)i, counts.of[i]);
        }
    }
}

void lbc_quota_forget(const struct lbc_instance *lbc, const char *key)
{
    for (unsigned i = 0; i < LBC_QUOTA_COUNT; i++) {
        if (words[i].topic != NULL) {
            ccm_quota_note(lbc->host, key, words[i].what, 0, 0);
        }
    }
}

/* --- all of them --- */

static void quota_publish_shared(struct lbc_instance *lbc, enum lbc_quota quota, uint64_t used,
                                 uint64_t limit)
{
    const unsigned bit = 1U << quota;
    const bool was_near = (atomic_load(&lbc->near) & bit) != 0;
    const bool near = ccm_quota_is_near(used, limit, was_near);
    CCM_CLEANUP(ccm_freep) char *cause = NULL;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 900 };
    CCM_CLEANUP(ccm_freep) char *server = NULL;

    if (!near && !was_near) {
        return;
    }
    ccm_quota_note(lbc->host, "all Services", words[quota].what, used, near ? limit : 0);
    if (near) {
        (void)atomic_fetch_or(&lbc->near, bit); /* what was there does not matter */
        quota_describe(lbc, quota, limit, "", &text);
        cause = strdup(ccm_buf_str(&text));
    } else {
        (void)atomic_fetch_and(&lbc->near, ~bit); /* the same */
    }
    if (near && quota == LBC_QUOTA_SERVERS && lbc_usage_find_server(lbc->usage, &server)) {
        ccm_buf_addf(&text, " (%s is in %llu)", server, (unsigned long long)used);
    }

    const struct ccm_lease_standing what = {
        .warning = true,
        .topic = words[quota].word,
        .reason = "QuotaNear",
        .cause = cause,
        .message = ccm_buf_str(&text),
    };

    ccm_lease_stand(lbc->host, lbc->ops->product->component, &what);
}

void lbc_quota_publish(struct lbc_instance *lbc)
{
    for (unsigned i = 0; i < LBC_QUOTA_COUNT && !lbc->dry; i++) {
        const enum lbc_quota quota = (enum lbc_quota)i;
        const uint64_t limit = quota_limit(lbc, quota);
        bool whole = false;
        const size_t used = lbc_usage_top(lbc->usage, quota, &whole);

        const uint64_t figures = limit << 32 | (used & UINT32_MAX);

        if (quota_name(lbc, quota) == NULL ||
            (!whole && figures <= atomic_load(&lbc->quota_told[i]))) {
            continue;
        }
        if (atomic_exchange(&lbc->quota_told[i], figures) != figures) {
            ccm_quota_measure(lbc->host, lbc->ops->product->type, words[i].word, used, limit);
        }
        if (words[i].topic == NULL) {
            quota_publish_shared(lbc, quota, used, limit);
        }
    }
}

void lbc_quota_tell(const struct lbc_instance *lbc, const struct ccm_view_sink *sink)
{
    static const char *const columns[] = { "quota", "whose", "used", "allowed", "option", NULL };

    sink->table(sink, "Quotas", columns);
    for (unsigned i = 0; i < LBC_QUOTA_COUNT; i++) {
        const enum lbc_quota quota = (enum lbc_quota)i;
        const uint64_t limit = quota_limit(lbc, quota);
        bool whole = false;
        char used[24];
        char allowed[24];
        char option[64];

        if (quota_name(lbc, quota) == NULL) {
            continue;
        }
        ccm_text_printf(used, sizeof(used), "%zu", lbc_usage_top(lbc->usage, quota, &whole));
        ccm_text_printf(option, sizeof(option), CCM_QUOTA_OPTION_NAME ": %s",
                        quota_name(lbc, quota));
        ccm_text_printf(allowed, sizeof(allowed), "%llu", (unsigned long long)limit);

        const char *const cells[] = { words[i].what,
                                      words[i].topic != NULL       ? "the load balancer with most"
                                      : quota == LBC_QUOTA_SERVERS ? "the server in most"
                                                                   : "all Services",
                                      used, limit == 0 ? "not looked at" : allowed, option };

        sink->row(sink, cells);
    }
}
