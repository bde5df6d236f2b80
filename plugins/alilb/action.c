#include "alilb/action.h"

#include "alicloud/params.h"
#include "alilb/account.h"
#include "alilb/apply.h"
#include "alilb/read.h"
#include "lbc/apply/token.h"
#include "lbc/keys.h"
#include "lbc/pass.h"
#include "lbc/rules/lb_attrs.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGES_MAX 10000 /* more is no list, but a server that goes round in circles */

struct alilb_call alilb_call_for(const struct lbc_pass *pass, enum lbc_priority priority)
{
    const struct alilb_source *source = alilb_source_of(pass->lbc);

    return (struct alilb_call){
        .ali = alilb_client(&pass->lbc->cloud),
        .host = pass->lbc->host,
        .req = pass->req,
        .object = pass->service->meta.key,
        .cluster_id = lbc_cluster_id(pass->lbc),
        .priority = lbc_pass_priority(pass, priority),
        .paced = source->paced ? &lbc_pass_lb(pass)->id : NULL,
        .waits = pass->lbc->dry,
        .failed_before = !lbc_failure_is_first(&pass->entry->failure),
    };
}

struct alilb_call alilb_call_for_all(const struct lbc_instance *lbc, const struct ccm_request *req)
{
    return (struct alilb_call){
        .ali = alilb_client(&lbc->cloud),
        .host = lbc->host,
        .req = req,
        .object = "inventory",
        .waits = true,
        .cluster_id = lbc_cluster_id(lbc),
        .mark = lbc_cluster_id(lbc),
        .priority = LBC_PRIO_SPEC,
    };
}

const char *alilb_number(char space[static 24], int64_t number)
{
    ccm_text_printf(space, 24, "%" PRId64, number);
    return space;
}

/* --- parameters --- */

static void params_add_list(struct ali_params *params, const char *name, const char *list)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts texts = { 0 };

    if (lbc_texts_split(&texts, list) < 0) {
        params->error = -ENOMEM;
        return;
    }
    for (size_t i = 0; i < texts.len; i++) {
        ali_param_item(params, name, i + 1, texts.items[i]);
    }
}

static bool attr_is_sent(const struct lbc_attr *attr, enum lbc_protocol protocol, bool create)
{
    const struct lbc_anno *row = attr->row;

    return !attr->kept && lbc_attr_applies(row, protocol) &&
           (create || (row->cloud & LBC_ATTR_CREATE) == 0) &&
           ((row->absent.on >> protocol & 1U) == 0 ||
            !ccm_text_equal(attr->value, row->absent.value));
}

static void params_add_attr(struct ali_params *params, const struct alilb_action *action,
                            const struct lbc_attr *attr, enum lbc_protocol protocol)
{
    const struct lbc_anno *row = attr->row;
    const bool renamed = action->creates && row->create_name != NULL &&
                         (row->create_on == 0 || (row->create_on >> protocol & 1U) != 0);
    char name[96];

    ccm_text_printf(name, sizeof(name), "%s%s",
                    (row->cloud & ALILB_ATTR_HEALTH) != 0 ? "HealthCheckConfig." : "",
                    renamed ? row->create_name : row->field);
    /* NLB counts a list out, SLB takes it as it is. */
    if ((row->cloud & LBC_ATTR_LIST) != 0 && action->product == ALI_NLB) {
        params_add_list(params, name, attr->value);
    } else {
        ali_param_opt(params, name, attr->value);
    }
}

static void params_add_attrs(struct ali_params *params, const struct alilb_action *action,
                             const struct lbc_attrs *attrs, enum lbc_protocol protocol)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf ppv2 = { .max = 1024 };
    struct ccm_jsonw w = { .buf = &ppv2 };
    bool any = false;

    ccm_jsonw_open(&w, NULL, '{');
    for (size_t i = 0; i < attrs->len; i++) {
        const struct lbc_attr *attr = &attrs->items[i];

        if (!attr_is_sent(attr, protocol, action->creates)) {
            continue;
        }
        if ((attr->row->cloud & ALILB_ATTR_PPV2) != 0) {
            ccm_jsonw_bool(&w, attr->row->field, ccm_text_equal(attr->value, "true"));
            any = true;
        } else {
            params_add_attr(params, action, attr, protocol);
        }
    }
    ccm_jsonw_close(&w, '}');
    if (ccm_buf_error(&ppv2) < 0) {
        params->error = ccm_buf_error(&ppv2);
    } else if (any) {
        ali_param_add(params, "ProxyProtocolV2Config", ccm_buf_str(&ppv2));
    }
}

const char *alilb_protect_why(const char *modification)
{
    return ccm_text_equal(modification, "ConsoleProtection") ? "managed.by.ack" : NULL;
}

void alilb_param_lb(struct ali_params *params, const struct lbc_anno_table *table,
                    char *const *texts)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct lbc_anno *row = &table->rows[i];

        if ((row->cloud & LBC_ATTR_LATER) == 0) {
            ali_param_opt(params, row->create_name != NULL ? row->create_name : row->field,
                          lbc_lb_get(row, texts));
        }
    }
}

static void params_add_tags(struct ali_params *params, const struct alilb_call *call,
                            const struct alilb_args *args)
{
    const size_t marks = args->owner == NULL ? 0 : 2;

    if (marks > 0) {
        ali_param_tag(params, 1, LBC_TAG_OWNER, args->owner);
        ali_param_tag(params, 2, LBC_TAG_CLUSTER, call->cluster_id);
    }
    for (size_t i = 0; args->tags != NULL && i < args->tags->len; i++) {
        ali_param_tag(params, marks + i + 1, args->tags->items[i].key, args->tags->items[i].value);
    }
}

static void args_write(const struct alilb_call *call, const struct alilb_action *action,
                       const struct alilb_args *args, struct ali_params *ret)
{
    for (size_t i = 0; i < ALILB_TEXTS_MAX && action->texts[i] != NULL; i++) {
        ali_param_opt(ret, action->texts[i], args->texts[i]);
    }
    for (size_t i = 0; args->repeated != NULL && i < args->repeated->len; i++) {
        ali_param_item(ret, action->repeated, i + 1, args->repeated->items[i]);
    }
    if (args->attrs != NULL) {
        params_add_attrs(ret, action, args->attrs, args->protocol);
    }
    params_add_tags(ret, call, args);
    for (size_t i = 0; args->params != NULL && i < args->params->len; i++) {
        ali_param_add(ret, args->params->items[i].name, args->params->items[i].value);
    }
    if (args->params != NULL && args->params->error != 0) {
        ret->error = args->params->error;
    }
}

/* Append copies of those that belong there. */
static void params_pick(const struct ali_params *from, const struct alilb_action *action,
                        bool query, struct ali_params *to)
{
    to->error = from->error;
    for (size_t i = 0; i < from->len; i++) {
        const bool in_query =
            action->query == ALILB_QUERY_ALL ||
            (action->query == ALILB_QUERY_TAGS && ccm_text_starts(from->items[i].name, "Tag."));

        if (in_query == query) {
            ali_param_add(to, from->items[i].name, from->items[i].value);
        }
    }
}

static int params_send(struct alilb_call *call, const struct alilb_action *action,
                       const struct ali_params *params, cJSON **ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params query = { 0 };
    CCM_CLEANUP(ali_params_fini) struct ali_params body = { 0 };
    const struct ali_call request = {
        .product = action->product,
        .action = action->name,
        .params = &body,
        .query = &query,
        .priority = alilb_priority(call->priority),
        .repeat = action->repeat,
        .object = call->object,
        .paced = call->paced == NULL || action->aside ? NULL : *call->paced,
        .patience_ms = call->waits ? 0 : ALI_PATIENCE_MS,
        .failed_before = call->failed_before,
    };

    params_pick(params, action, true, &query);
    params_pick(params, action, false, &body);
    call->uncertain = false;
    return ali_call(&(const struct ali_caller){ call->ali, call->host, call->req }, &request, ret,
                    &call->uncertain, err);
}

int alilb_send(struct alilb_call *call, const struct alilb_action *action,
               const struct alilb_args *args, cJSON **ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    args_write(call, action, args, &params);
    return params_send(call, action, &params, ret, err);
}

/* --- lists --- */

/* Where a list is read to. */
struct page {
    int64_t number; /* from 1 */
    int64_t seen;   /* items, on this page and before */
    char *token;    /* NULL = the first page */
};

static void page_fini(struct page *page)
{
    free(page->token);
}

static int page_read(struct alilb_call *call, const struct alilb_action *action,
                     const struct alilb_args *args, const struct page *page, cJSON **ret,
                     struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    args_write(call, action, args, &params);
    if (action->paging == ALILB_PAGES_TOKEN) {
        ali_param_i64(&params, "MaxResults", action->page);
        ali_param_opt(&params, "NextToken", page->token);
    } else if (action->paging == ALILB_PAGES_NUMBER) {
        ali_param_i64(&params, action->page_size == NULL ? "PageSize" : action->page_size,
                      action->page);
        ali_param_i64(&params, action->page_number == NULL ? "PageNumber" : action->page_number,
                      page->number);
    }
    return params_send(call, action, &params, ret, err);
}

static int page_parse(const struct alilb_action *action, const cJSON *answer, struct page *page,
                      alilb_item_fn fn, void *arg, struct ccm_error *err)
{
    const cJSON *items = ccm_json_get(answer, action->list);
    int r = 0;

    if (action->item != NULL) {
        items = ccm_json_get(items, action->item);
    }
    if (!cJSON_IsArray(items)) {
        return action->may_lack ? 0
                                : ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                                                "%s: the answer has no list", action->name);
    }
    for (const cJSON *one = items->child; r == 0 && one != NULL; one = one->next) {
        r = fn(arg, one, err);
        page->seen++;
    }
    return r;
}

static int pages_fail(const struct alilb_action *action, struct ccm_error *err)
{
    return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT, "%s: the pages have no end",
                         action->name);
}

/* 1: there is another page; 0: there is none. before: items on earlier pages. */
static int page_turn(const struct alilb_action *action, const cJSON *answer, int64_t before,
                     struct page *page, struct ccm_error *err)
{
    const int64_t total = ccm_json_i64(answer, "TotalCount", -1);
    const char *next = ccm_json_text(answer, "NextToken");
    const int64_t count = page->seen - before;

    page->number++;
    switch (action->paging) {
    case ALILB_PAGES_TOKEN:
        if (next[0] == '\0') {
            return 0;
        }
        if (ccm_text_equal(page->token, next)) {
            return pages_fail(action, err);
        }
        return lbc_text_set(&page->token, next) < 0 ? ccm_error_nomem(err) : 1;
    case ALILB_PAGES_NUMBER:
        return count > 0 && (total < 0 ? count >= action->page : page->seen < total) ? 1 : 0;
    case ALILB_PAGES_NONE:
        break;
    }
    return 0;
}

/* 1: that was enough. */
static int pages_read(struct alilb_call *call, const struct alilb_action *action,
                      const struct alilb_args *args, alilb_item_fn fn, void *arg,
                      struct ccm_error *err)
{
    CCM_CLEANUP(page_fini) struct page page = { .number = 1 };

    while (page.number <= PAGES_MAX) {
        CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
        const int64_t before = page.seen;
        int r = page_read(call, action, args, &page, &answer, err);

        if (r == 0) {
            r = page_parse(action, answer, &page, fn, arg, err);
        }
        if (r != 0) {
            return r;
        }
        r = page_turn(action, answer, before, &page, err);
        if (r <= 0) {
            return r;
        }
    }
    return pages_fail(action, err);
}

int alilb_list(struct alilb_call *call, const struct alilb_action *action,
               const struct alilb_args *args, alilb_item_fn fn, void *arg, struct ccm_error *err)
{
    const struct lbc_texts *all = args->repeated;
    struct alilb_args some = *args;
    int r = 0;

    if (all == NULL || action->batch == 0) {
        r = pages_read(call, action, args, fn, arg, err);
        return r < 0 ? r : 0;
    }
    for (size_t from = 0; r == 0 && from < all->len; from += action->batch) {
        const size_t rest = all->len - from;
        const struct lbc_texts part = { .items = all->items + from,
                                        .len = rest < action->batch ? rest : action->batch };

        some.repeated = &part;
        r = pages_read(call, action, &some, fn, arg, err);
    }
    return r < 0 ? r : 0;
}

/* --- writes --- */

static bool has_token(const struct ali_params *params)
{
    for (size_t i = 0; i < params->len; i++) {
        if (strcmp(params->items[i].name, "ClientToken") == 0) {
            return true;
        }
    }
    return false;
}

static int add_token(const struct alilb_call *call, struct ali_params *params)
{
    char token[LBC_TOKEN_SIZE];
    const int r = lbc_token_write_random(call->host, token);

    if (r == 0) {
        ali_param_add(params, "ClientToken", token);
    }
    return r;
}

static int sent_parse(struct alilb_call *call, const struct alilb_action *action,
                      const cJSON *answer, struct lbc_sent *ret, struct ccm_error *err)
{
    const char *job = ccm_json_text(answer, "JobId");
    const char *id = action->made == NULL ? "" : ccm_json_text(answer, action->made);
    const bool lacks = action->made != NULL && id[0] == '\0' && !action->may_lack;

    if (strlen(job) >= sizeof(ret->job) || lacks) {
        call->uncertain = true;
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "%s: the answer does not say what was made", action->name);
    }
    if (lbc_text_set(&ret->made_id, id) < 0) {
        call->uncertain = true;
        return ccm_error_nomem(err);
    }
    ccm_text_copy(ret->job, sizeof(ret->job), job);
    ccm_text_copy(ret->request_id, sizeof(ret->request_id), ccm_json_text(answer, "RequestId"));
    return 0;
}

int alilb_write(struct alilb_call *call, const struct alilb_action *action,
                const struct alilb_args *args, struct lbc_sent *sent, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    int r = 0;

    args_write(call, action, args, &params);
    call->uncertain = false;
    if (action->token && !has_token(&params)) {
        r = add_token(call, &params);
    }
    if (r < 0) {
        return ccm_error_set(err, r, CCM_ERROR_TRANSIENT, "%s: no random numbers", action->name);
    }
    r = params_send(call, action, &params, sent == NULL ? NULL : &answer, err);
    return r < 0 || sent == NULL ? r : sent_parse(call, action, answer, sent, err);
}

/* --- tags --- */

int alilb_change_tags(struct alilb_call *call, enum ali_product product,
                      const struct alilb_tagging *tagging, struct lbc_sent *sent,
                      struct ccm_error *err)
{
    const struct alilb_action action = {
        .name = tagging->remove ? "UntagResources" : "TagResources",
        .product = product,
        .repeat = ALI_IDEMPOTENT,
        .token = product == ALI_NLB,
        .aside = true,
    };
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "ResourceType", tagging->type);
    ali_param_item(&params, "ResourceId", 1, tagging->id);
    for (size_t i = 0; tagging->remove && i < tagging->tags->len; i++) {
        ali_param_item(&params, "TagKey", i + 1, tagging->tags->items[i].key);
    }
    return alilb_write(call, &action,
                       &(const struct alilb_args){ .tags = tagging->remove ? NULL : tagging->tags,
                                                   .params = &params },
                       sent, err);
}
