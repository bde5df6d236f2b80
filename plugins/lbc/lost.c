#include "lbc/lost.h"
#include "lbc/names.h"

#include "lbc/health.h"
#include "lbc/instance.h"
#include "lbc/model/settings.h"
#include "lbc/pass.h"
#include "util/book.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TOPIC          "recreated" /* of the event */
#define LOST_PERIOD_MS 60000       /* between two looks */
#define MISSING        "%scan not find loadbalancer, but it's defined in service [%s]"

/* One Service. */
struct lost_item {
    int64_t since_ms; /* monotonic: since when it is known to be so */
    bool deleted;     /* the cloud says that there is none of that id */
    bool woken;       /* it was given its pass to have another one made */
};

struct lbc_lost {
    struct ccm_book items; /* by key of the Service; its lock guards the rest */
    bool scheduled;        /* the look comes */
    bool proven;           /* the last list is one of the right account */
    bool warned;           /* that it was not */
};

struct lbc_lost *lbc_lost_new(void)
{
    struct lbc_lost *lost = calloc(1, sizeof(*lost));

    if (lost == NULL) {
        return NULL;
    }
    if (ccm_book_init(&lost->items, free) < 0) {
        free(lost);
        return NULL;
    }
    return lost;
}

void lbc_lost_free(struct lbc_lost *lost)
{
    if (lost != NULL) {
        ccm_book_fini(&lost->items);
    }
    free(lost);
}

/* --- who is lost --- */

/* Between two looks; 0 = there are none. */
static int64_t lost_period_ms(const struct lbc_instance *lbc)
{
    return lbc->ops->inventory == NULL || lbc->ops->inventory->list == NULL ? 0 : LOST_PERIOD_MS;
}

static bool lost_recreates(const struct lbc_instance *lbc)
{
    return lbc->host->option_int(lbc->host, NULL, lbc_opt_recreate.name) != 0;
}

/* One answer may be wrong: that there is none has to hold for a period, and the account has to be
 * the one that the others are in. */
static bool lost_is_certain_locked(const struct lbc_lost *lost, const struct lost_item *item,
                                   int64_t period_ms, int64_t now_ms)
{
    return item->deleted && lost->proven && now_ms - item->since_ms >= period_ms;
}

/* Out of memory: NULL, its own tries find it. */
static struct lost_item *lost_get_locked(struct lbc_lost *lost, const char *key, int64_t now_ms)
{
    const bool is_new = !ccm_strmap_has(lost->items.map, key);
    struct lost_item *item = ccm_book_obtain(&lost->items, key, sizeof(*item));

    if (item != NULL && is_new) {
        item->since_ms = now_ms;
    }
    return item;
}

/* Have it looked for. True: it is certain that it does not exist. */
static bool lost_record(struct lbc_instance *lbc, const char *key, bool deleted)
{
    struct lbc_lost *lost = lbc->lost;
    const int64_t period = lost_period_ms(lbc);
    const int64_t now = lbc->host->now_ms(lbc->host);

    if (lbc->dry || period == 0) { /* a dry run sees it for the first time */
        return deleted && period == 0;
    }
    (void)ccm_book_open(&lost->items);
    struct lost_item *item = lost_get_locked(lost, key, now);
    const bool schedule = item != NULL && !lost->scheduled;
    bool certain = false;

    lost->scheduled = lost->scheduled || schedule;
    lost->proven = lost->proven && !schedule;
    if (item != NULL) {
        if (deleted != item->deleted) {
            item->since_ms = now;
            item->woken = false;
        }
        item->deleted = deleted;
        certain = lost_is_certain_locked(lost, item, period, now);
    }
    ccm_book_close(&lost->items);
    if (schedule) {
        lbc->host->enqueue(lbc->host, LBC_LOST_KEY, CCM_LANE_BULK, (uint64_t)period);
    }
    return certain;
}

void lbc_lost_forget(struct lbc_instance *lbc, const char *key)
{
    ccm_book_forget(&lbc->lost->items, key);
}

/* --- a pass --- */

/* When it is looked for again, and what comes then; "" = only by the Service's own tries. */
static void lost_format_looks(const struct lbc_instance *lbc, bool deleted, struct ccm_buf *text)
{
    const int64_t period = lost_period_ms(lbc) / 1000;

    if (period == 0) {
        return;
    }
    ccm_buf_addf(text, "; it is looked for every %" PRId64 " s", period);
    if (deleted && lost_recreates(lbc)) {
        ccm_buf_adds(text, ", and another one is made should it be missing still (option "
                           "recreate_deleted)");
    }
}

/* How a person has another one made. */
static void lost_format_recipe(const struct lbc_pass *pass, struct ccm_buf *ret)
{
    const struct ccm_object *meta = &pass->service->meta;
    const struct lbc_served *served = lbc_product_served(pass->lbc->ops->product);
    const char *name = strchr(meta->key, '/');

    ccm_buf_addf(ret,
                 "for a new one, with another address: kubectl patch %s %s -n %s "
                 "--subresource=status --type=merge -p '{\"status\":{\"%s\":null}}'",
                 served->resource, name == NULL ? meta->name : name + 1, meta->namespace_,
                 served->member);
}

int lbc_lost_refuse(const struct lbc_pass *pass, const struct lbc_lost_known *known,
                    struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf looks = { .max = 200 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf recipe = { .max = 1000 };
    const struct ccm_object *meta = &pass->service->meta;
    const struct ccm_ingress *first = pass->service->ingress[0];
    const char *shown = ccm_text_empty(first->ip) ? first->hostname : first->ip;
    char tag[LBC_OWNER_LB_NAME];

    lost_format_recipe(pass, &recipe);
    if (lbc_life_reused_id(&pass->lbc->life, pass->service)[0] == '\0') {
        lost_format_looks(pass->lbc, known->found == -ENOENT, &looks);
    }
    if (known->found == LBC_LOOKUP_NOT_OURS) {
        return ccm_error_set(err, known->found, CCM_ERROR_TERMINAL, MISSING ": %s%s",
                             lbc_names.messages, shown, known->why.message, ccm_buf_str(&looks));
    }
    if (known->found == -ENOENT) {
        return ccm_error_set(
            err, -ENOENT, CCM_ERROR_TERMINAL,
            MISSING " this may happen when you delete the loadbalancer (%s does not exist any "
                    "more; %s%s)",
            lbc_names.messages, shown, lbc_pass_lb_id(pass), ccm_buf_str(&recipe),
            ccm_buf_str(&looks));
    }
    lbc_owner_lb_name(meta, tag);
    return ccm_error_set(
        err, -ENOENT, CCM_ERROR_TERMINAL,
        MISSING " this may happen when you delete the loadbalancer (%s"
                "; does it still exist, then put tag %s=%s back on it, or, if a person made it, "
                "annotation %sid on the %s%s)",
        lbc_names.messages, shown, ccm_buf_str(&recipe), lbc_names.tag_owner, tag,
        lbc_names.annotations, lbc_product_served(pass->lbc->ops->product)->noun,
        ccm_buf_str(&looks));
}

int lbc_lost_check(struct lbc_pass *pass, const struct lbc_lost_known *known, struct ccm_error *err)
{
    struct lbc_instance *lbc = pass->lbc;

    /* That of a person is not looked for: an annotation has to name it. */
    if (lbc_life_reused_id(&lbc->life, pass->service)[0] == '\0' &&
        lost_record(lbc, pass->service->meta.key, known->found == -ENOENT) && lost_recreates(lbc)) {
        return 0;
    }
    lbc_health_look(pass); /* of one that is gone nothing is told */
    return lbc_lost_refuse(pass, known, err);
}

void lbc_lost_emit_recreated(struct lbc_pass *pass)
{
    CCM_CLEANUP(ccm_freep)
    char *text = ccm_text_format("Load balancer [%s] was deleted by somebody else: another one is "
                                 "made, with another address (option recreate_deleted)",
                                 lbc_pass_lb_id(pass));

    lbc_pass_emit_standing(pass, TOPIC, "LoadBalancerRecreated", text);
}

void lbc_lost_end(struct lbc_pass *pass)
{
    lbc_lost_forget(pass->lbc, pass->service->meta.key);
    lbc_pass_emit_standing(pass, TOPIC, "", "");
}

/* --- the look --- */

/* All that are to be looked for, as an array of the caller's; NULL on ENOMEM. */
static char **lost_copy_keys(struct lbc_lost *lost, size_t *ret_count)
{
    void *cursor = NULL;
    const char *key = NULL;
    size_t count = 0;

    (void)ccm_book_open(&lost->items);
    char **keys = calloc(ccm_strmap_len(lost->items.map) + 1, sizeof(*keys));

    while (keys != NULL && ccm_strmap_next(lost->items.map, &cursor, &key, NULL) != 0) {
        keys[count] = strdup(key);
        count += keys[count] == NULL ? 0 : 1;
    }
    ccm_book_close(&lost->items);
    *ret_count = count;
    return keys;
}

/* It is there still, and shows one of its own. */
static bool lost_is_missed(const struct lbc_instance *lbc, const struct ccm_service *service)
{
    return service != NULL && service->ingress_count > 0 && !lbc_pass_is_unwanted(lbc, service) &&
           ccm_text_empty(lbc_reused_id(lbc, service));
}

/* Load balancers that are looked for; the others that Services show are witnesses. */
static enum lbc_claim lost_claim(struct lbc_instance *lbc, const struct ccm_service *service)
{
    if (!lost_is_missed(lbc, service)) {
        return LBC_CLAIM_NONE;
    }
    (void)ccm_book_open(&lbc->lost->items);
    const bool looked_for = ccm_strmap_has(lbc->lost->items.map, service->meta.key);

    ccm_book_close(&lbc->lost->items);
    return looked_for ? LBC_CLAIM_OWN : LBC_CLAIM_WITNESS;
}

/* Whether its pass will make another one; once, then its own tries do. */
static bool lost_may_be_made(struct lbc_instance *lbc, const char *key)
{
    const int64_t now = lbc->host->now_ms(lbc->host);
    const int64_t period = lost_period_ms(lbc);
    const bool recreates = lost_recreates(lbc);
    bool may = false;

    (void)ccm_book_open(&lbc->lost->items);
    struct lost_item *item = ccm_strmap_get(lbc->lost->items.map, key);

    if (item != NULL && recreates && !item->woken &&
        lost_is_certain_locked(lbc->lost, item, period, now)) {
        item->woken = true;
        may = true;
    }
    ccm_book_close(&lbc->lost->items);
    return may;
}

/* The pass of one that is found reads all, and decides; one that is not missed any more is
 * forgotten. */
static void lost_settle(struct lbc_instance *lbc, const struct lbc_survey *survey, const char *key)
{
    const struct ccm_host *host = lbc->host;
    const struct ccm_object *service = host->get(host, CCM_KIND_SERVICE, key);
    const bool missed = lost_is_missed(lbc, (const struct ccm_service *)service);
    const bool found = missed && lbc_survey_has(survey, service);

    if (!missed || found) {
        lbc_lost_forget(lbc, key);
    }
    if (found || (missed && lost_may_be_made(lbc, key))) {
        host->enqueue(host, key, CCM_LANE_SPEC, 0);
    }
    if (service != NULL) {
        host->release(host, service);
    }
}

/* An answer that lacks all of several load balancers proves nothing about any of them: it may be
 * that of another account. */
static void lost_judge_answer(struct lbc_instance *lbc, const struct lbc_survey *survey,
                              size_t shown)
{
    const bool proven = shown < 2 || lbc_survey_count_known(survey) > 0;

    (void)ccm_book_open(&lbc->lost->items);
    const bool is_news = !proven && !lbc->lost->warned;

    lbc->lost->proven = proven;
    lbc->lost->warned = !proven;
    ccm_book_close(&lbc->lost->items);
    if (is_news) {
        lbc->host->log(lbc->host, CCM_LEVEL_WARN, NULL,
                       "the cloud lists none of the %zu load balancers that Services show: are "
                       "the credentials those of another account? Nothing is made again",
                       shown);
    }
}

static int lost_find(struct lbc_instance *lbc, const struct ccm_request *req, char *const *keys,
                     size_t count, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_strmap_freep)
    struct ccm_strmap *shown = lbc_survey_names(lbc, lost_claim);
    struct lbc_survey *survey = shown == NULL ? NULL : lbc_survey_new(lbc, shown);
    int r = 0;

    if (survey == NULL) {
        return ccm_error_nomem(err);
    }
    if (lbc_survey_count_claims(survey) > 0) {
        r = lbc->ops->inventory->list(lbc, req, survey, err);
        if (r == 0) {
            lost_judge_answer(lbc, survey, ccm_strmap_len(shown));
        }
    }
    for (size_t i = 0; r == 0 && i < count; i++) {
        lost_settle(lbc, survey, keys[i]);
    }
    lbc_survey_free(survey);
    return r;
}

/* When the next one comes; 0 = there is none. */
static uint64_t lost_schedule_next(struct lbc_instance *lbc)
{
    const int64_t period = lost_period_ms(lbc);

    (void)ccm_book_open(&lbc->lost->items);
    lbc->lost->scheduled = period > 0 && ccm_strmap_len(lbc->lost->items.map) > 0;
    const bool scheduled = lbc->lost->scheduled;

    ccm_book_close(&lbc->lost->items);
    return scheduled ? (uint64_t)period : 0;
}

int lbc_lost_look(struct lbc_instance *lbc, const struct ccm_request *req, struct ccm_result *ret,
                  struct ccm_error *err)
{
    size_t count = 0;
    char **keys = lost_copy_keys(lbc->lost, &count);
    const int r = keys == NULL ? ccm_error_nomem(err) : lost_find(lbc, req, keys, count, err);

    for (size_t i = 0; i < count; i++) {
        free(keys[i]);
    }
    free(keys);
    ret->requeue_after_ms = lost_schedule_next(lbc);
    return r;
}
