/* A load balancer plugin for a cloud of five actions (cloud.py), on plugins/lbc alone; README.md.
 */
#include "lbc/apply/plain.h"
#include "lbc/instance.h"
#include "lbc/lookup.h"
#include "lbc/model/class.h"
#include "lbc/pass.h"
#include "util/cleanup.h"
#include "util/text.h"

#define PROTOCOLS          (1U << LBC_TCP | 1U << LBC_UDP)
#define BODY_MAX           ((size_t)256 * 1024)
#define TEXT(field, value) (lbc_text_set(&(field), value) < 0)

static const struct lbc_anno rows[] = {
    { .name = "toy.example.com/scheduler",
      .group = LBC_ANNO_LISTENER,
      .type = LBC_ANNO_ENUM,
      .values = "rr|least",
      .fallback = "rr",
      .field = "Scheduler",
      .cloud = LBC_ATTR_ASKED,
      .help = "How connections are shared out." },
};
static const struct lbc_protocols protocols = { PROTOCOLS, { "protocol ", " is not supported" } };
static const struct lbc_anno_table annotations = { .rows = rows, .count = 1, .kind = "toy" };

/* *ret stays NULL when it is not known what became of the call. */
static int call_send(const struct ccm_host *host, const struct ccm_request *req, const char *action,
                     const struct ccm_buf *body, cJSON **ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep)
    char *url = ccm_text_format("%s/%s", host->option_string(host, NULL, "url"), action);
    const struct ccm_http_request http = { sizeof(http), "POST", url, NULL, ccm_buf_str(body),
                                           body->len,    0,      0,   NULL, 0 };
    struct ccm_http_response *answer = NULL;
    uint64_t phase = 0;
    int r = url == NULL || ccm_buf_error(body) < 0
                ? ccm_error_nomem(err)
                : host->http(host, req, &http, &answer, &phase, err);

    if (r < 0) {
        return ccm_error_wrap(err, r, "%s", action);
    }
    if (ccm_json_parse(answer->body, answer->body_len, ret) < 0 || answer->status != 200) {
        r = ccm_error_set(err, -EIO,
                          answer->status == 404 ? CCM_ERROR_NOT_FOUND : CCM_ERROR_TRANSIENT,
                          "%s: %s", action, ccm_json_text(*ret, "Message"));
        ccm_text_copy(err->code, sizeof(err->code), ccm_json_text(*ret, "Code"));
    }
    host->http_free(host, answer);
    return r;
}

/* --- what an answer holds: 0 or -ENOMEM --- */

static int answer_parse_tags(const cJSON *lb, struct lbc_tags *ret)
{
    const cJSON *tag = ccm_json_get(lb, "Tags");
    int r = 0;

    for (tag = tag == NULL ? NULL : tag->child; r == 0 && tag != NULL; tag = tag->next) {
        r = lbc_tags_put(ret, tag->string, tag->valuestring);
    }
    return r;
}

static int answer_parse_group(const cJSON *item, struct lbc_state *state)
{
    struct lbc_group *group = lbc_state_new_group(state, &lbc_plain_type);
    const cJSON *one = ccm_json_items(item, "Servers");
    int r = group == NULL || TEXT(group->id, ccm_json_text(item, "GroupId")) ||
                    TEXT(group->name, ccm_json_text(item, "Name"))
                ? -ENOMEM
                : 0;

    for (; r == 0 && one != NULL; one = one->next) {
        const struct lbc_backend backend = {
            .type = LBC_BACKEND_IP,
            .server_id = (char *)(uintptr_t)ccm_json_text(one, "Address"), /* copied */
            .port = (uint16_t)ccm_json_i64(one, "Port", 0),
            .weight = (uint8_t)ccm_json_i64(one, "Weight", 0),
        };

        r = lbc_backends_put(&group->backends, &backend);
    }
    return r;
}

static int answer_parse_listener(const cJSON *item, struct lbc_state *state)
{
    struct lbc_listener *listener = lbc_state_new_listener(state, &lbc_plain_type);

    if (listener == NULL || TEXT(listener->description, ccm_json_text(item, "Description")) ||
        TEXT(listener->group_id, ccm_json_text(item, "GroupId"))) {
        return -ENOMEM;
    }
    listener->protocol = lbc_protocol_parse(ccm_json_text(item, "Protocol"), PROTOCOLS);
    listener->port = listener->last_port = (uint16_t)ccm_json_i64(item, "Port", 0);
    const struct lbc_attr_answer attrs = {
        &annotations, LBC_ANNO_LISTENER, listener->protocol, item, NULL, 0
    };

    return lbc_attrs_add_answer(&listener->attrs, &attrs);
}

/* All of a load balancer, into an empty state. */
static int answer_parse_lb(const cJSON *json, struct lbc_plain_state *state)
{
    const cJSON *group = ccm_json_items(json, "Groups");
    const cJSON *listener = ccm_json_items(json, "Listeners");
    int r = TEXT(state->lb.id, ccm_json_text(json, "Id")) ||
                    TEXT(state->lb.texts[LBC_LB_NAME], ccm_json_text(json, "Name")) ||
                    TEXT(state->lb.texts[LBC_PLAIN_ADDRESS], ccm_json_text(json, "Address"))
                ? -ENOMEM
                : answer_parse_tags(json, &state->lb.tags);

    for (; r == 0 && group != NULL; group = group->next) {
        r = answer_parse_group(group, &state->lbc);
    }
    for (; r == 0 && listener != NULL; listener = listener->next) {
        r = answer_parse_listener(listener, &state->lbc);
    }
    return r;
}

/* --- reading: the load balancer comes with all that is in it --- */

static int read_lb(struct lbc_pass *pass, const char *id, struct lbc_state *state,
                   struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = BODY_MAX };
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    CCM_CLEANUP(lbc_lookup_fini) struct lbc_lookup look;
    struct lbc_plain_state *have = (struct lbc_plain_state *)state;
    const cJSON *lb = NULL;
    int r;

    lbc_lookup_init(&look, &pass->service->meta, lbc_cluster_id(pass->lbc), false);
    ccm_buf_addf(&body, "{\"Id\":\"%s\",\"TagKey\":\"%s\",\"TagValue\":\"%s\"}",
                 id == NULL ? "" : id, LBC_TAG_OWNER, look.name);
    r = call_send(pass->lbc->host, pass->req, "ListLoadBalancers", &body, &answer, err);
    if (r < 0) {
        return r;
    }
    lbc_state_fini(&have->lbc, &lbc_plain_type);
    have->lbc.groups_known = have->lbc.listeners_known = true;
    for (lb = ccm_json_items(answer, "LoadBalancers"); r == 0 && lb != NULL; lb = lb->next) {
        CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };

        r = answer_parse_tags(lb, &tags);
        if (r == 0 && (id != NULL || lbc_lookup_offer(&look, ccm_json_text(lb, "Id"),
                                                      ccm_json_text(lb, "Name"), &tags))) {
            r = answer_parse_lb(lb, have);
        }
    }
    if (r < 0) {
        return ccm_error_nomem(err);
    }
    return id != NULL && have->lb.id == NULL
               ? ccm_error_set(err, -ENOENT, CCM_ERROR_NOT_FOUND, "no load balancer %s", id)
               : lbc_lookup_end(&look, err);
}

/* --- steps: whatever one says is sent, its action takes what it needs --- */

static void body_add(struct ccm_buf *body, const char *name, const char *value)
{
    ccm_buf_addf(body, ",\"%s\":\"%s\"", name, value == NULL ? "" : value);
}

static void body_add_step(struct ccm_buf *body, const struct lbc_step *step, const char *lb_id)
{
    const bool removes = step->type == LBC_STEP_REMOVE || step->type == LBC_STEP_UNTAG;
    const struct lbc_backends *set = &step->backends;
    const struct lbc_listener *to = step->to;

    ccm_buf_addf(body, "{\"Port\":%u,\"Remove\":%s", step->port, removes ? "true" : "false");
    body_add(body, "Id", lb_id);
    body_add(body, "GroupId", step->group == NULL ? NULL : step->group->id);
    body_add(body, "Name", step->want == NULL ? step->value : step->want->name);
    for (size_t i = 0; i < step->tags.len; i++) {
        body_add(body, step->tags.items[i].key, step->tags.items[i].value);
    }
    for (size_t i = 0; to != NULL && i < to->attrs.len; i++) {
        body_add(body, to->attrs.items[i].row->field, to->attrs.items[i].value);
    }
    if (to != NULL) {
        body_add(body, "Protocol", lbc_protocol_name(step->protocol));
        body_add(body, "Description", to->description);
    }
    ccm_buf_adds(body, ",\"Servers\":[");
    for (size_t i = 0; i < set->len; i++) {
        ccm_buf_addf(body, "%s{\"Address\":\"%s\",\"Port\":%u,\"Weight\":%u}", i == 0 ? "" : ",",
                     set->items[i].server_id, set->items[i].port, set->items[i].weight);
    }
    ccm_buf_adds(body, "]}");
}

static int step_send(struct lbc_apply *apply, struct lbc_step *step, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = BODY_MAX };
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    const bool deletes = step->type == LBC_STEP_DELETE_LB || step->type == LBC_STEP_DELETE_GROUP ||
                         step->type == LBC_STEP_DELETE_LISTENER;
    const char *action = deletes              ? "Delete"
                         : step->to != NULL   ? "PutListener"
                         : step->want != NULL ? "PutServers"
                                              : "PutLoadBalancer";
    struct lbc_plain_state *have = (struct lbc_plain_state *)apply->have;
    int r;

    body_add_step(&body, step, have->lb.id);
    r = call_send(apply->host, apply->req, action, &body, &answer, err);
    *apply->uncertain = r < 0 && answer == NULL;
    if (r < 0) {
        return deletes ? lbc_apply_forgive(apply, r, err) : r;
    }
    r = step->type == LBC_STEP_CREATE_LB
            ? answer_parse_lb(answer, have)
            : lbc_text_set(&step->sent.made_id, ccm_json_text(answer, "GroupId"));
    return r < 0 ? ccm_error_nomem(err) : 0;
}

static const struct lbc_step_ops step_ops[] = LBC_PLAIN_STEPS(step_send);
static const struct lbc_refusal_row lb_gone[] = { { .code = "NoLoadBalancer" }, { .code = NULL } };
static const struct lbc_apply_ops apply_ops = {
    .steps = step_ops, .state = &lbc_plain_type, .backends_name = "servers", .lb_gone = lb_gone
};

static const struct lbc_plan_ops plan_rules = { LBC_PLAIN_RULES(&annotations, 50) };

static const char *account_cluster_id(const void *account)
{
    return ((const struct ccm_host *)account)->option_string(account, NULL, "cluster_id");
}

/* --- the plugin --- */

static bool product_is_ours(const struct ccm_service *service)
{
    return lbc_class_is(service, "example.com/toy");
}

static bool status_publish(struct lbc_pass *pass, struct lbc_life_state *state)
{
    state->ip = ((const struct lbc_plain_state *)pass->entry->state)->lb.texts[LBC_PLAIN_ADDRESS];
    return true;
}

static const struct lbc_lint_rules lint_rules = { .annotations = &annotations,
                                                  .protocols = &protocols,
                                                  .is_ours = product_is_ours };
static const struct lbc_product product = {
    .name = "toy",
    .finalizer = "example.com/toy",
    .component = "toy-controller",
    .type = "Toy",
    .rules = &lint_rules,
    .no_backends_text = "There are no nodes for the toy load balancer",
};
static const struct lbc_ops ops = {
    .product = &product,
    .cloud = &(const struct lbc_cloud_ops){ .cluster_id = account_cluster_id },
    .mirror = &lbc_plain_type,
    .model = &(const struct lbc_model_ops){ LBC_PLAIN_MODEL(&annotations, &protocols) },
    .read = &(const struct lbc_read_ops){ .lb = read_lb },
    .change = &(const struct lbc_change_ops){ .rules = &plan_rules, .steps = &apply_ops },
    .status = &(const struct lbc_status_ops){ .publish = status_publish },
};

#define TEXT_OPTION(symbol, key, words)                                                            \
    static const struct ccm_option symbol = { .struct_size = sizeof(symbol),                       \
                                              .type = CCM_OPTION_STRING,                           \
                                              .flags = CCM_OPTION_REQUIRED,                        \
                                              .name = (key),                                       \
                                              .help = (words) }
TEXT_OPTION(opt_url, "url", "Where the cloud is.");
TEXT_OPTION(opt_cluster, "cluster_id", "Marks what is this cluster's.");

LBC_PLUGIN_ENTRIES(ops, NULL)

const struct ccm_plugin ccm_plugin = {
    LBC_PLUGIN,
    .name = "toy",
    .options = (const struct ccm_option *const[]){ &opt_url, &opt_cluster, LBC_OPTIONS, NULL },
    .summary = "Services of class example.com/toy as load balancers of a toy cloud",
};
