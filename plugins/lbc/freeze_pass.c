#include "lbc/freeze_pass.h"

#include "lbc/pass.h"
#include "lbc/pass/empty_pass.h"

#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ASK_AGAIN_MS  1000  /* somebody else is asking */
#define ASK_FAILED_MS 30000 /* the cloud could not be asked */

/* Instances to ask about, each once, in the order in which they came. */
struct inquiry {
    struct ccm_strmap *places; /* instance -> place + 1, as a pointer-sized number */
    const char **ids;
    size_t len;
    size_t cap;
    bool *gone;
    const struct ccm_host *host;
    const struct ccm_object *const *others; /* all nodes, where the pass has not taken them */
    size_t other_count;
};

static void inquiry_fini(struct inquiry *inquiry)
{
    inquiry->host->release_list(inquiry->host, inquiry->others, inquiry->other_count);
    ccm_strmap_free(inquiry->places);
    free(inquiry->ids);
    free(inquiry->gone);
}

static void past_free(void *value)
{
    lbc_freeze_past_fini(value);
    free(value);
}

static void group_fini(struct lbc_freeze_group *group)
{
    lbc_backends_fini(&group->leaving);
    free(group->cases);
    free(group->decided);
    free(group->absents);
    free(group->items);
}

void lbc_freeze_begin(struct lbc_freeze *freeze, struct lbc_pass *pass,
                      const struct lbc_node_table *nodes)
{
    const struct lbc_instance *lbc = pass->lbc;

    freeze->pass = pass;
    freeze->nodes = nodes;
    freeze->mode = lbc_backend_mode(pass->service, lbc->pods_by_default);
    freeze->rule.released_until_ms = atomic_load(&lbc->released_until_ms);
    freeze->again_ms = CCM_REMOVAL_NEVER;
    ccm_removal_rule_read(&freeze->rule, lbc->host);
}

void lbc_freeze_fini(struct lbc_freeze *freeze)
{
    lbc_freeze_drop_other(freeze);
    for (size_t i = 0; i < freeze->len; i++) {
        group_fini(&freeze->groups[i]);
    }
    free(freeze->groups);
    ccm_strmap_free(freeze->by_server);
}

/* --- which backends --- */

static int find_causes(struct lbc_freeze *freeze, struct lbc_freeze_group *group)
{
    const size_t most = group->leaving.len;

    if (most == 0) {
        return 0;
    }
    group->cases = calloc(most, sizeof(*group->cases));
    group->decided = calloc(most, sizeof(*group->decided));
    group->absents = calloc(most, sizeof(*group->absents));
    group->items = calloc(most, sizeof(*group->items));
    if (group->cases == NULL || group->decided == NULL || group->absents == NULL ||
        group->items == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < most; i++) {
        const size_t at = group->count;

        if (lbc_freeze_find_cause(freeze, &group->leaving.items[i], &group->cases[at],
                                  &group->absents[at]) != LBC_FREEZE_NONE) {
            group->items[at] = i;
            group->count++;
        }
    }
    return 0;
}

int lbc_freeze_add(struct lbc_freeze *freeze, struct lbc_freeze_group *group)
{
    struct lbc_freeze_group one = *group;

    memset(&group->leaving, 0, sizeof(group->leaving));
    if (ccm_array_grow(&freeze->groups, &freeze->cap, freeze->len + 1, sizeof(*freeze->groups)) <
        0) {
        group_fini(&one);
        return -ENOMEM;
    }
    freeze->groups[freeze->len] = one;
    return find_causes(freeze, &freeze->groups[freeze->len++]);
}

/* --- what went before --- */

/* What went from the group; made when it is missing. NULL on ENOMEM. */
static struct lbc_freeze_past *get_past(struct lbc_freeze_memory *memory, const char *id)
{
    CCM_CLEANUP(ccm_freep) struct lbc_freeze_past *past = NULL;

    if (memory->past == NULL) {
        memory->past = ccm_strmap_new(past_free);
    }
    if (memory->past == NULL || ccm_strmap_has(memory->past, id)) {
        return memory->past == NULL ? NULL : ccm_strmap_get(memory->past, id);
    }
    past = calloc(1, sizeof(*past));
    if (past == NULL || ccm_strmap_set(memory->past, id, past) < 0) {
        return NULL;
    }
    return CCM_STEAL(past); /* the map owns it now */
}

/* A port of the group at which instances are backends; 0 = none are. */
static uint16_t find_node_port(const struct lbc_backends *have)
{
    for (size_t i = 0; i < have->len; i++) {
        if (have->items[i].type == LBC_BACKEND_INSTANCE) {
            return have->items[i].port;
        }
    }
    return 0;
}

/* The first look of this process at a group that an earlier one left: nodes that are not ready and
 * not in it have gone from it, nobody knows when. They count as just gone, so that the end of a
 * process is not the end of the floor. */
static void freeze_record_earlier(const struct lbc_freeze *freeze,
                                  const struct lbc_freeze_group *group, int64_t now)
{
    struct lbc_freeze_past gone = { 0 };
    const uint16_t port = find_node_port(group->have);
    struct lbc_freeze_past *past = NULL;

    for (size_t i = 0; port != 0 && i < freeze->nodes->len; i++) {
        const struct lbc_node_entry *entry = &freeze->nodes->items[i];
        const char *id = lbc_node_instance_id(entry->node);
        const struct lbc_backend one = {
            .server_id = (char *)(uintptr_t)(id == NULL ? "" : id), /* copied */
            .server_ip = (char *)(uintptr_t) "",
            .port = port,
            .type = LBC_BACKEND_INSTANCE,
        };

        if (id != NULL && entry->use == LBC_NODE_NOT_READY && !lbc_node_is_silent(entry->node) &&
            lbc_backends_find(group->have, &one) == NULL) {
            lbc_freeze_past_record(&gone, &one, group->size, now);
        }
    }
    past = gone.len == 0 ? NULL : get_past(&freeze->pass->entry->freeze, group->id);
    if (past == NULL) {
        lbc_freeze_past_fini(&gone);
        return;
    }
    for (size_t i = 0; i < gone.len; i++) {
        gone.items[i].size += (uint32_t)gone.len;
    }
    lbc_freeze_past_fini(past);
    *past = gone;
}

/* --- the decision --- */

static void freeze_decide_group(struct lbc_freeze *freeze, struct lbc_freeze_group *group,
                                int64_t now)
{
    const struct lbc_freeze_memory *memory = &freeze->pass->entry->freeze;
    struct lbc_freeze_past *past =
        memory->past == NULL ? NULL : ccm_strmap_get(memory->past, group->id);
    const struct lbc_freeze_past none = { 0 };

    if (past != NULL) {
        lbc_freeze_past_prune(past, &freeze->rule, group->have, group->want, now);
    }

    const struct lbc_freeze_input in = {
        .rule = &freeze->rule,
        .past = past == NULL ? &none : past,
        .size = group->size,
        .staying = group->staying,
        .server_since_ms = ccm_removal_server_since(freeze->pass->lbc->host),
        .now_ms = now,
    };

    if (group->count > 0) {
        const int64_t again = lbc_freeze_decide(&in, group->cases, group->decided, group->count);

        freeze->again_ms = again < freeze->again_ms ? again : freeze->again_ms;
    }
}

/* What went by the floor's leave counts for those that follow. */
static void freeze_record_gone(struct lbc_freeze *freeze, const struct lbc_freeze_group *group,
                               int64_t now)
{
    for (size_t i = 0; i < group->count && !freeze->pass->lbc->dry; i++) {
        struct lbc_freeze_past *past =
            group->decided[i].goes ? get_past(&freeze->pass->entry->freeze, group->id) : NULL;

        if (past != NULL) {
            lbc_freeze_past_record(past, &group->leaving.items[group->items[i]], group->size, now);
        }
    }
}

/* --- the cloud's word --- */

static bool is_witness(const struct ccm_node *node, enum lbc_node_use use)
{
    return lbc_node_instance_id(node) != NULL &&
           (use == LBC_NODE_BACKEND || use == LBC_NODE_NOT_READY);
}

static const char *find_witness(const struct lbc_freeze *freeze, const struct inquiry *inquiry)
{
    const struct lbc_node_table *nodes = freeze->nodes;

    for (size_t i = 0; i < nodes->len; i++) {
        if (is_witness(nodes->items[i].node, nodes->items[i].use)) {
            return lbc_node_instance_id(nodes->items[i].node);
        }
    }
    for (size_t i = 0; i < inquiry->other_count; i++) {
        const struct ccm_node *node = (const struct ccm_node *)inquiry->others[i];

        if (is_witness(node, lbc_node_classify(node, &nodes->rules))) {
            return lbc_node_instance_id(node);
        }
    }
    return "";
}

static int gather_instance(struct inquiry *inquiry, const char *id)
{
    int r = 0;

    if (id[0] == '\0' || ccm_strmap_has(inquiry->places, id)) {
        return 0;
    }
    r = ccm_array_grow(&inquiry->ids, &inquiry->cap, inquiry->len + 1, sizeof(*inquiry->ids));
    if (r == 0) {
        inquiry->ids[inquiry->len++] = id;
        r = ccm_strmap_set(inquiry->places, id, (void *)(uintptr_t)inquiry->len);
    }
    return r;
}

static int gather_all(const struct lbc_freeze *freeze, struct inquiry *inquiry)
{
    int r = 0;

    for (size_t g = 0; g < freeze->len; g++) {
        const struct lbc_freeze_group *group = &freeze->groups[g];

        for (size_t i = 0; r == 0 && i < group->count; i++) {
            r = group->decided[i].asks ? gather_instance(inquiry, group->absents[i].instance) : 0;
        }
    }
    inquiry->gone = calloc(inquiry->len == 0 ? 1 : inquiry->len, sizeof(*inquiry->gone));
    return r < 0 || inquiry->gone == NULL ? -ENOMEM : 0;
}

static void believe_answer(struct lbc_freeze *freeze, const struct inquiry *inquiry)
{
    for (size_t g = 0; g < freeze->len; g++) {
        struct lbc_freeze_group *group = &freeze->groups[g];

        for (size_t i = 0; i < group->count; i++) {
            const uintptr_t place =
                (uintptr_t)ccm_strmap_get(inquiry->places, group->absents[i].instance);

            if (group->decided[i].asks && place != 0 && inquiry->gone[place - 1]) {
                group->decided[i].goes = true;
            }
        }
    }
}

static void come_within(struct lbc_freeze *freeze, int64_t ms)
{
    const int64_t at = freeze->pass->lbc->host->now_ms(freeze->pass->lbc->host) + ms;

    freeze->again_ms = at < freeze->again_ms ? at : freeze->again_ms;
}

/* By the verdict too: another quota is tried out at once by those that wait because of one. */
static void freeze_wait(struct lbc_pass *pass, uint64_t ms)
{
    pass->again.ms = pass->again.ms == 0 || ms < pass->again.ms ? ms : pass->again.ms;
}

/* A question that fails is no answer: everything stays. */
static int ask_cloud(struct lbc_freeze *freeze, struct ccm_error *err)
{
    const struct lbc_pass *pass = freeze->pass;
    const struct lbc_cloud *cloud = &pass->lbc->cloud;
    const struct ccm_host *host = pass->lbc->host;
    const struct lbc_cloud_caller by = lbc_pass_caller(pass);
    CCM_CLEANUP(inquiry_fini)
    struct inquiry inquiry = { .places = ccm_strmap_new(NULL), .host = host };
    struct ccm_error why = CCM_ERROR_INIT;
    int r = 0;

    if (inquiry.places == NULL || gather_all(freeze, &inquiry) < 0) {
        return ccm_error_nomem(err);
    }
    if (inquiry.len == 0 || cloud->ops->find_gone_instances == NULL) {
        return 0;
    }
    if (freeze->mode != LBC_MODE_CLUSTER &&
        host->list(host, CCM_KIND_NODE, NULL, NULL, &inquiry.others, &inquiry.other_count) < 0) {
        return ccm_error_nomem(err);
    }
    r = cloud->ops->find_gone_instances(&by, find_witness(freeze, &inquiry), inquiry.ids,
                                        inquiry.len, inquiry.gone, &why);
    believe_answer(freeze, &inquiry);
    if (r < 0 && lbc_error_is_put_off(&why)) {
        come_within(freeze, (int64_t)why.retry_after_ms);
        freeze_wait(freeze->pass, why.retry_after_ms);
        return 0;
    }
    if (r < 0 && r != -EAGAIN && r != -EBUSY) {
        host->log(host, CCM_LEVEL_WARN, pass->service->meta.key,
                  "whether instances of missing nodes still exist is not known: %s", why.message);
    }
    if (r < 0) {
        come_within(freeze, r == -EAGAIN ? ASK_AGAIN_MS : ASK_FAILED_MS);
    }
    return 0;
}

/* --- the end --- */

/* Of groups that are no more nobody asks: what went from them is forgotten with time. */
static void forget_old_pasts(const struct lbc_freeze *freeze, int64_t now)
{
    struct ccm_strmap *pasts = freeze->pass->entry->freeze.past;
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;

    while (pasts != NULL && ccm_strmap_next(pasts, &cursor, &id, &value)) {
        const struct lbc_freeze_past *past = value;

        if (past->len == 0 || now - past->items[past->len - 1].at_ms >= freeze->rule.window_ms) {
            ccm_strmap_del(pasts, id);
        }
    }
}

static int keep_frozen(struct lbc_freeze_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        struct lbc_backend one = group->leaving.items[group->items[i]];

        one.kept = true;
        if (!group->decided[i].goes && lbc_backends_put(group->want, &one) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

static bool has_frozen(const struct lbc_freeze *freeze)
{
    for (size_t g = 0; g < freeze->len; g++) {
        for (size_t i = 0; i < freeze->groups[g].count; i++) {
            if (!freeze->groups[g].decided[i].goes) {
                return true;
            }
        }
    }
    return false;
}

/* By the queue and not by the verdict: also when the rest of the pass fails. */
static void come_again(const struct lbc_freeze *freeze)
{
    const struct ccm_host *host = freeze->pass->lbc->host;
    const int64_t rest = freeze->again_ms - host->now_ms(host);

    if (freeze->again_ms != CCM_REMOVAL_NEVER && !freeze->pass->lbc->dry && has_frozen(freeze)) {
        host->enqueue(host, freeze->pass->entry->key, CCM_LANE_BACKENDS,
                      (uint64_t)(rest < 1 ? 1 : rest));
    }
}

int lbc_freeze_end(struct lbc_freeze *freeze, struct ccm_error *err)
{
    struct lbc_pass *pass = freeze->pass;
    const int64_t now = pass->lbc->host->now_ms(pass->lbc->host);
    int r = 0;

    for (size_t i = 0; i < freeze->len; i++) {
        if (!pass->entry->freeze.decided && lbc_hash_may_hold(pass->hash.verdict) &&
            freeze->mode == LBC_MODE_CLUSTER) {
            freeze_record_earlier(freeze, &freeze->groups[i], now);
        }
        freeze_decide_group(freeze, &freeze->groups[i], now);
    }
    forget_old_pasts(freeze, now);
    pass->entry->freeze.decided = true;
    for (size_t i = 0; i < freeze->len; i++) {
        freeze_record_gone(freeze, &freeze->groups[i], now);
    }
    r = ask_cloud(freeze, err);
    for (size_t i = 0; r == 0 && i < freeze->len; i++) {
        r = keep_frozen(&freeze->groups[i]) < 0 ? ccm_error_nomem(err) : 0;
    }
    if (r == 0) {
        lbc_freeze_publish(freeze);
        lbc_leave_collect(freeze);
        come_again(freeze);
    }
    return r;
}

/* --- for the instance --- */

void lbc_freeze_forget(struct lbc_instance *lbc, const char *key)
{
    if (lbc_absence_set_frozen(lbc->absence, key, false)) {
        ccm_removal_record_held(lbc->host, key, 0, "");
    }
}

static void freeze_enqueue_key(void *arg, const char *key)
{
    const struct lbc_instance *lbc = arg;

    lbc->host->enqueue(lbc->host, key, CCM_LANE_BACKENDS, 0);
}

int64_t lbc_freeze_release(struct lbc_instance *lbc)
{
    const struct ccm_host *host = lbc->host;
    struct ccm_removal_rule rule = { 0 };

    ccm_removal_rule_read(&rule, host);
    ccm_removal_release(&rule, host->now_ms(host));
    atomic_store(&lbc->released_until_ms, rule.released_until_ms);
    lbc_absence_list_frozen(lbc->absence, freeze_enqueue_key, lbc);
    return rule.window_ms;
}
