#include "api.h"

#include "util/buf.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PAGES_MAX 1000 /* more is no list, but a server that goes round in circles */
#define TOKEN_MAX 48

void nlb_sent_fini(struct nlb_sent *sent)
{
    free(sent->made_id);
    memset(sent, 0, sizeof(*sent));
}

/* The place of a parameter is fixed per action. */
static bool is_query(const char *action, const char *name)
{
    static const char *const all[] = { "ListLoadBalancers", "GetLoadBalancerAttribute",
                                       "ListListeners" };

    for (size_t i = 0; i < CCM_ARRAY_LEN(all); i++) {
        if (strcmp(action, all[i]) == 0) {
            return true;
        }
    }
    return strcmp(action, "ListServerGroups") == 0 && ccm_text_starts(name, "Tag.");
}

/* Append copies of those that belong there. */
static void sort_out(const struct ali_params *from, const char *action, bool query,
                     struct ali_params *to)
{
    to->error = from->error;
    for (size_t i = 0; i < from->len; i++) {
        if (is_query(action, from->items[i].name) == query) {
            ali_param_add(to, from->items[i].name, from->items[i].value);
        }
    }
}

static int api_send_request(struct nlb_call *call, enum ali_product product, const char *action,
                            const struct ali_params *params, enum ali_repeat repeat, cJSON **ret,
                            struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params query = { 0 };
    CCM_CLEANUP(ali_params_fini) struct ali_params body = { 0 };
    const struct ali_call request = {
        .product = product,
        .action = action,
        .params = &body,
        .query = &query,
        .priority = call->priority,
        .repeat = repeat,
        .object = call->object,
    };

    sort_out(params, action, true, &query);
    sort_out(params, action, false, &body);
    call->uncertain = false;
    return ali_call(call->ali, call->host, call->req, &request, ret, &call->uncertain, err);
}

int nlb_api_read(struct nlb_call *call, enum ali_product product, const char *action,
                 const struct ali_params *params, cJSON **ret, struct ccm_error *err)
{
    return api_send_request(call, product, action, params, ALI_READ, ret, err);
}

/* --- lists --- */

static int read_page(struct nlb_call *call, const struct nlb_list *list,
                     const struct ali_params *params, const char *token, cJSON **ret,
                     struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params all = { 0 };

    for (size_t i = 0; i < params->len; i++) {
        ali_param_add(&all, params->items[i].name, params->items[i].value);
    }
    all.error = params->error != 0 ? params->error : all.error;
    ali_param_i64(&all, "MaxResults", list->page);
    ali_param_opt(&all, "NextToken", token);
    return nlb_api_read(call, list->product, list->action, &all, ret, err);
}

static int answer_parse_page(const struct nlb_list *list, const cJSON *answer, nlb_item_fn fn,
                             void *arg, struct ccm_error *err)
{
    const cJSON *items = ccm_json_get(answer, list->name);
    int r = 0;

    if (list->item != NULL) {
        items = ccm_json_get(items, list->item);
    }
    if (!cJSON_IsArray(items)) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT, "%s: the answer has no list",
                             list->action);
    }
    for (const cJSON *one = items->child; r == 0 && one != NULL; one = one->next) {
        r = fn(arg, one, err);
    }
    return r;
}

int nlb_api_list(struct nlb_call *call, const struct nlb_list *list,
                 const struct ali_params *params, nlb_item_fn fn, void *arg, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *token = NULL;

    for (size_t page = 0; page < PAGES_MAX; page++) {
        CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
        int r = read_page(call, list, params, token, &answer, err);

        r = r < 0 ? r : answer_parse_page(list, answer, fn, arg, err);
        if (r < 0) {
            return r;
        }
        const char *next = ccm_json_text(answer, "NextToken");

        if (next[0] == '\0') {
            return 0;
        }
        if (ccm_text_equal(token, next)) {
            break;
        }
        if (lbc_text_set(&token, next) < 0) {
            return ccm_error_nomem(err);
        }
    }
    return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT, "%s: the pages have no end",
                         list->action);
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

/* One token per call, not per resource: the repeats inside of the call are the same request, a
 * later call is another one. */
static int add_token(const struct nlb_call *call, struct ali_params *params)
{
    unsigned char bytes[16];
    char token[TOKEN_MAX] = "ccm-";
    const int r = call->host->random(call->host, bytes, sizeof(bytes));

    if (r < 0) {
        return r;
    }
    for (size_t i = 0; i < sizeof(bytes); i++) {
        ccm_text_printf(token + 4 + 2 * i, 3, "%02x", (unsigned int)bytes[i]);
    }
    ali_param_add(params, "ClientToken", token);
    return 0;
}

static int answer_parse_sent(struct nlb_call *call, const char *action, const char *id_name,
                             const cJSON *answer, struct nlb_sent *ret, struct ccm_error *err)
{
    const char *job = ccm_json_text(answer, "JobId");
    const char *id = id_name == NULL ? "" : ccm_json_text(answer, id_name);

    if (strlen(job) >= sizeof(ret->job.id) || (id_name != NULL && id[0] == '\0')) {
        call->uncertain = true;
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "%s: the answer does not say what was made", action);
    }
    if (lbc_text_set(&ret->made_id, id) < 0) {
        call->uncertain = true;
        return ccm_error_nomem(err);
    }
    ccm_text_copy(ret->job.id, sizeof(ret->job.id), job);
    ccm_text_copy(ret->request_id, sizeof(ret->request_id), ccm_json_text(answer, "RequestId"));
    return 0;
}

int nlb_api_write(struct nlb_call *call, enum ali_product product, const char *action,
                  struct ali_params *params, const char *id_name, struct nlb_sent *ret,
                  struct ccm_error *err)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    int r = has_token(params) ? 0 : add_token(call, params);

    call->uncertain = false;
    if (r < 0) {
        return ccm_error_set(err, r, CCM_ERROR_TRANSIENT, "%s: no random numbers", action);
    }
    r = api_send_request(call, product, action, params, ALI_IDEMPOTENT, &answer, err);
    return r < 0 ? r : answer_parse_sent(call, action, id_name, answer, ret, err);
}

int nlb_api_change(struct nlb_call *call, enum ali_product product, const char *action,
                   const struct ali_params *params, struct ccm_error *err)
{
    return api_send_request(call, product, action, params, ALI_IDEMPOTENT, NULL, err);
}

/* --- parameters --- */

void nlb_api_add_tags(struct ali_params *params, const struct lbc_tags *tags, size_t first)
{
    for (size_t i = 0; i < tags->len; i++) {
        ali_param_tag(params, first + i, tags->items[i].key, tags->items[i].value);
    }
}

void nlb_api_add_texts(struct ali_params *params, const char *name, const struct lbc_texts *texts)
{
    for (size_t i = 0; i < texts->len; i++) {
        ali_param_item(params, name, i + 1, texts->items[i]);
    }
}

static void add_list(struct ali_params *params, const char *name, const char *list)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts texts = { 0 };

    if (lbc_texts_split(&texts, list) < 0) {
        params->error = -ENOMEM;
        return;
    }
    nlb_api_add_texts(params, name, &texts);
}

static void add_attr(struct ali_params *params, const struct lbc_field *field, bool create,
                     const char *value)
{
    const char *name = create && field->create_name != NULL ? field->create_name : field->name;
    char full[96];

    ccm_text_printf(full, sizeof(full), "%s%s",
                    (field->flags & NLB_FIELD_HEALTH) != 0 ? "HealthCheckConfig." : "", name);
    if ((field->flags & NLB_FIELD_LIST) != 0) {
        add_list(params, full, value);
    } else {
        ali_param_opt(params, full, value);
    }
}

void nlb_api_add_attrs(struct ali_params *params, const struct lbc_attrs *attrs,
                       enum lbc_protocol protocol, bool create)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf ppv2 = { .max = 1024 };
    struct ccm_jsonw w = { .buf = &ppv2 };
    bool any = false;

    ccm_jsonw_open(&w, NULL, '{');
    for (size_t i = 0; i < attrs->len; i++) {
        const struct lbc_attr *attr = &attrs->items[i];

        if (attr->kept || !nlb_field_applies(attr->field, protocol) ||
            (!create && (attr->field->flags & LBC_FIELD_CREATE) != 0)) {
            continue;
        }
        if ((attr->field->flags & NLB_FIELD_PPV2) != 0) {
            ccm_jsonw_bool(&w, attr->field->name, ccm_text_equal(attr->value, "true"));
            any = true;
        } else {
            add_attr(params, attr->field, create, attr->value);
        }
    }
    ccm_jsonw_close(&w, '}');
    if (ccm_buf_error(&ppv2) < 0) {
        params->error = ccm_buf_error(&ppv2);
    } else if (any) {
        ali_param_add(params, "ProxyProtocolV2Config", ccm_buf_str(&ppv2));
    }
}
