#include "api.h"

#include "alicloud/params.h"
#include "util/array.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>

#define PAGE_SIZE 100
#define PAGES_MAX 20 /* no answer about a hundred things has more */

void node_answers_fini(struct node_answers *answers)
{
    for (size_t i = 0; i < answers->len; i++) {
        cJSON_Delete(answers->items[i]);
    }
    free(answers->items);
    *answers = (struct node_answers){ 0 };
}

/* Takes the answer. */
static int answers_take(struct node_answers *answers, cJSON *answer)
{
    if (ccm_array_grow(&answers->items, &answers->cap, answers->len + 1, sizeof(cJSON *)) < 0) {
        cJSON_Delete(answer);
        return -ENOMEM;
    }
    answers->items[answers->len++] = answer;
    return 0;
}

/* ---- lists ---- */

/* A list that is asked for page by page, and where its items and their names are. */
struct query {
    const char *action;
    const char *outer;
    const char *inner;
    const char *name;
    const char *region;
    void (*add)(struct ali_params *params, const void *arg);
    const void *arg;
};

static int api_send_page(const struct node_call *call, const struct query *query, const char *token,
                         cJSON **ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    const struct ali_call request = {
        .product = ALI_ECS,
        .action = query->action,
        .params = &params,
        .priority = call->priority,
        .repeat = ALI_READ,
        .object = NODE_PLACE,
        .patience_ms = ALI_PATIENCE_MS,
        .failed_before = call->failed_before,
    };

    ali_param_add(&params, "RegionId", query->region);
    ali_param_i64(&params, "MaxResults", PAGE_SIZE);
    ali_param_opt(&params, "NextToken", token);
    query->add(&params, query->arg);
    if (params.error < 0) {
        return ccm_error_nomem(err);
    }
    return ali_call(&(const struct ali_caller){ call->ali, call->host, call->req }, &request, ret,
                    NULL, err);
}

static int page_read(const struct query *query, const cJSON *answer, struct ccm_strmap *found,
                     struct ccm_error *err)
{
    const cJSON *list = ccm_json_path(answer, query->outer, query->inner, NULL);

    if (!cJSON_IsArray(list)) {
        (void)ccm_error_set(err, 0, CCM_ERROR_TRANSIENT, "%s: no list in the answer",
                            query->action); /* below */
        ccm_error_add_request_id(err, ccm_json_text(answer, "RequestId"));
        return -EBADMSG;
    }
    for (cJSON *item = list->child; item != NULL; item = item->next) {
        const char *name = ccm_json_text(item, query->name);

        if (name[0] != '\0' && ccm_strmap_set(found, name, item) < 0) {
            return ccm_error_nomem(err);
        }
    }
    return 0;
}

/* `found` is complete or not changed: half an answer says that things are gone that are not. */
static int api_list(const struct node_call *call, const struct query *query,
                    struct node_answers *answers, struct ccm_strmap *found, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *read = ccm_strmap_new(NULL);
    const char *token = NULL;
    void *cursor = NULL;
    const char *name = NULL;
    void *item = NULL;
    int r = read == NULL ? ccm_error_nomem(err) : 0;

    for (int page = 0; r == 0 && page < PAGES_MAX && !(page > 0 && token == NULL); page++) {
        cJSON *answer = NULL;

        r = api_send_page(call, query, token, &answer, err);
        if (r == 0 && answers_take(answers, answer) < 0) {
            r = ccm_error_nomem(err);
        }
        r = r < 0 ? r : page_read(query, answer, read, err);
        token = r < 0 || ccm_text_empty(ccm_json_str(answer, "NextToken"))
                    ? NULL
                    : ccm_json_str(answer, "NextToken");
    }
    if (r == 0 && token != NULL) {
        r = ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT, "%s: the list does not end",
                          query->action);
    }
    while (r == 0 && ccm_strmap_next(read, &cursor, &name, &item) != 0) {
        r = ccm_strmap_set(found, name, item) < 0 ? ccm_error_nomem(err) : 0;
    }
    return r;
}

/* JSON text of a list of the keys. */
static void params_add_list(struct ali_params *params, const char *name,
                            const struct ccm_strmap *keys)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf list = { .max = 32768 };
    struct ccm_jsonw w = { .buf = &list };
    void *cursor = NULL;
    const char *key = NULL;

    ccm_jsonw_open(&w, NULL, '[');
    while (ccm_strmap_next(keys, &cursor, &key, NULL) != 0) {
        ccm_jsonw_str(&w, NULL, key);
    }
    ccm_jsonw_close(&w, ']');
    ali_param_add(params, name, ccm_buf_str(&list));
    params->error = ccm_buf_error(&list) < 0 ? -ENOMEM : params->error;
}

static void params_add_ids(struct ali_params *params, const void *arg)
{
    params_add_list(params, "InstanceIds", arg);
    ali_param_add(params, "AdditionalAttributes.1", "NETWORK_PRIMARY_ENI_IP");
}

int node_api_instances(const struct node_call *call, const char *region,
                       const struct ccm_strmap *ids, struct node_answers *answers,
                       struct ccm_strmap *found, struct ccm_error *err)
{
    const struct query query = { "DescribeInstances", "Instances", "Instance", "InstanceId", region,
                                 params_add_ids,      ids };

    return api_list(call, &query, answers, found, err);
}

struct by_address {
    const char *vpc;
    const struct ccm_strmap *ips;
};

static void params_add_addresses(struct ali_params *params, const void *arg)
{
    const struct by_address *by = arg;

    ali_param_add(params, "InstanceNetworkType", "vpc");
    ali_param_add(params, "VpcId", by->vpc);
    params_add_list(params, "PrivateIpAddresses", by->ips);
    ali_param_add(params, "AdditionalAttributes.1", "NETWORK_PRIMARY_ENI_IP");
}

int node_api_addresses(const struct node_call *call, const struct ccm_strmap *ips,
                       struct node_answers *answers, struct ccm_strmap *found,
                       struct ccm_error *err)
{
    const struct by_address by = { ali_vpc_id(call->ali), ips };
    const struct query query = {
        "DescribeInstances",   "Instances",          "Instance", "InstanceId",
        ali_region(call->ali), params_add_addresses, &by
    };

    return api_list(call, &query, answers, found, err);
}

static void params_add_interfaces(struct ali_params *params, const void *arg)
{
    void *cursor = NULL;
    const char *id = NULL;

    for (size_t n = 1; ccm_strmap_next(arg, &cursor, &id, NULL) != 0; n++) {
        ali_param_item(params, "NetworkInterfaceId", n, id);
    }
}

int node_api_interfaces(const struct node_call *call, const char *region,
                        const struct ccm_strmap *ids, struct node_answers *answers,
                        struct ccm_strmap *found, struct ccm_error *err)
{
    const struct query query = { "DescribeNetworkInterfaces",
                                 "NetworkInterfaceSets",
                                 "NetworkInterfaceSet",
                                 "NetworkInterfaceId",
                                 region,
                                 params_add_interfaces,
                                 ids };

    return api_list(call, &query, answers, found, err);
}

/* One call without a list in its answer. */
static int api_send(const struct node_call *call, enum ali_product product, const char *action,
                    const struct ali_params *params, enum ali_repeat repeat, struct ccm_error *err)
{
    const struct ali_call request = {
        .product = product,
        .action = action,
        .params = params,
        .priority = call->priority,
        .repeat = repeat,
        .object = NODE_PLACE,
        .patience_ms = ALI_PATIENCE_MS,
        .failed_before = call->failed_before,
    };

    return params->error < 0
               ? ccm_error_nomem(err)
               : ali_call(&(const struct ali_caller){ call->ali, call->host, call->req }, &request,
                          NULL, NULL, err);
}

int node_api_forward(const struct node_call *call, const char *region, const char *id,
                     struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "RegionId", region);
    ali_param_add(&params, "NetworkInterfaceId", id);
    ali_param_add(&params, "SourceDestCheck", "false");
    return api_send(call, ALI_ECS, "ModifyNetworkInterfaceAttribute", &params, ALI_IDEMPOTENT, err);
}

int node_api_lingjun(const struct node_call *call, const char *id, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "NodeId", id);
    return api_send(call, ALI_EFLO, "DescribeNode", &params, ALI_READ, err);
}
