/* Annotations and fields that do nothing, or not what they seem to: one event for all of them. */
#include "lbc/names.h"
#include "lbc/pass.h"

#include "lbc/model/candidate.h"
#include "lbc/rules/direct.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ADVICE_MAX 1024 /* bytes of an event, as the API server takes them */

/* --- what is the same for all --- */

struct advice {
    const struct lbc_pass *pass;
    struct ccm_buf texts[LBC_FOUND_FIELD]; /* by kind; fields have an event each */
    bool is_short;                         /* keys without their prefix */
};

static void advice_fini(struct advice *advice)
{
    for (size_t i = 0; i < CCM_ARRAY_LEN(advice->texts); i++) {
        ccm_buf_fini(&advice->texts[i]);
    }
}

static void advice_add_found(void *arg, const struct lbc_found *found)
{
    struct advice *advice = arg;
    struct ccm_buf *text = &advice->texts[found->kind];
    const char *name = found->key;
    char key[LBC_ANNO_KEY_MAX];

    if (found->kind != LBC_FOUND_NO_EFFECT) {
        ccm_buf_addf(text, "%s%s", text->len == 0 ? "" : "; ", found->text);
    } else if (!lbc_refusals_has(&advice->pass->refused, name)) { /* else a sentence of its own */
        if (!advice->is_short && strchr(name, '/') == NULL) {
            name = lbc_anno_suffix_key(&advice->pass->service->meta, name, key);
        }
        ccm_buf_addf(text, "%sannotation %s %s", text->len == 0 ? "" : "; ", name, found->text);
    }
}

static bool advice_is_on(void *arg, const struct ccm_option *option)
{
    const struct ccm_host *host = ((const struct advice *)arg)->pass->lbc->host;

    return host->option_int(host, option->group, option->name) != 0;
}

static struct lbc_rule_ask advice_ask(struct advice *advice)
{
    const struct lbc_pass *pass = advice->pass;

    return (struct lbc_rule_ask){
        .kinds = (1U << LBC_FOUND_FIELD) - 1,
        .rules = pass->lbc->ops->model->rules,
        .service = pass->service,
        .view = lbc_pass_view(pass),
        .pods_by_default = pass->lbc->pods_by_default,
        .ip_mode = pass->lbc->ip_mode,
        .is_on = advice_is_on,
        .found = advice_add_found,
        .arg = advice,
    };
}

int lbc_pass_check_fields(const struct lbc_pass *pass, struct ccm_error *err)
{
    struct advice advice = { .pass = pass };
    const struct lbc_rule_ask ask = advice_ask(&advice);

    for (const struct lbc_rule *rule = ask.rules->rows; rule != NULL && rule->key != NULL; rule++) {
        if (rule->refusal != NULL && lbc_rule_holds(&ask, rule)) {
            return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "%s", rule->refusal);
        }
    }
    return 0;
}

static void advice_emit_fields(struct lbc_pass *pass)
{
    struct advice advice = { .pass = pass };
    const struct lbc_rule_ask ask = advice_ask(&advice);

    for (const struct lbc_rule *rule = ask.rules->rows; rule != NULL && rule->key != NULL; rule++) {
        const char *reason = rule->reason == NULL ? "UnsupportedField" : rule->reason;
        const bool made = rule->refusal == NULL || lbc_pass_lb_id(pass)[0] != '\0';

        if (rule->topic != NULL) {
            const char *text = made && lbc_rule_holds(&ask, rule) ? rule->text : "";

            if (rule->refusal != NULL) {
                lbc_pass_emit_standing(pass, rule->topic, reason, text);
            } else {
                lbc_pass_advise(pass, true, rule->topic, reason, text);
            }
        }
    }
}

/* What annotations and fields come to, an event per kind. */
static void advice_emit_found(struct lbc_pass *pass)
{
    static const struct {
        bool warning;
        const char *topic;
        const char *reason;
    } rows[LBC_FOUND_FIELD] = {
        [LBC_FOUND_NO_EFFECT] = { .warning = true, .topic = "NoEffect", .reason = "NoEffect" },
        [LBC_FOUND_UNCLEAR] = { .warning = true,
                                .topic = "UnclearValue",
                                .reason = "UnclearValue" },
        [LBC_FOUND_INSIDE] = { .warning = false, .topic = "inside", .reason = "InClusterAccess" },
        [LBC_FOUND_TLS] = { .warning = true, .topic = "tls", .reason = "PlainHttpToTls" },
    };
    CCM_CLEANUP(advice_fini)
    struct advice advice = { pass,
                             { { .max = 1000 }, { .max = 900 }, { .max = 900 }, { .max = 900 } },
                             false };
    struct lbc_rule_ask ask = advice_ask(&advice);
    struct ccm_buf *idle = &advice.texts[LBC_FOUND_NO_EFFECT];

    lbc_rules_find(&ask);
    if (ccm_buf_error(idle) != 0) { /* too many for whole keys */
        ccm_buf_reset(idle);
        advice.is_short = true;
        ask.kinds = 1U << LBC_FOUND_NO_EFFECT;
        lbc_rules_find(&ask);
    }
    if (pass->refused.idle.len > 0) {
        ccm_buf_addf(idle, "%s%s", idle->len == 0 ? "" : "; ", ccm_buf_str(&pass->refused.idle));
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        lbc_pass_advise(pass, rows[i].warning, rows[i].topic, rows[i].reason,
                        ccm_buf_str(&advice.texts[i]));
    }
}

void lbc_pass_advise_manifest(struct lbc_pass *pass)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf unknown = { .max = 1000 };

    lbc_anno_unknown(pass->lbc->ops->model->rules->annotations, &pass->service->meta, &unknown);
    lbc_pass_advise(pass, true, "UnknownAnnotation", "UnknownAnnotation", ccm_buf_str(&unknown));
    advice_emit_found(pass);
    advice_emit_fields(pass);
}

void lbc_pass_advise_preserve(struct lbc_pass *pass)
{
    const bool preserve = pass->model->preserve && !pass->model->reused;
    CCM_CLEANUP(ccm_freep)
    char *text = ccm_text_format("The lb [%s] will be preserved after the service is deleted.",
                                 lbc_pass_lb_id(pass));

    lbc_pass_advise(pass, false, "preserve", "PreservedOnDelete", preserve ? text : "");
}

/* --- backends, groups --- */

/* Left out by option endpoints. */
static void advice_emit_podless(struct lbc_pass *pass, const struct lbc_candidates *sets,
                                size_t count)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 400 };

    for (size_t i = 0; i < count && text.len == 0; i++) {
        if (sets[i].podless != NULL) {
            ccm_buf_addf(&text, "Endpoints that are no pods are left out: %s", sets[i].podless);
        }
    }
    lbc_pass_advise(pass, true, "podless", "SkipSyncBackends", ccm_buf_str(&text));
}

/* Local: an endpoint that names no node gets no traffic. Cluster: it does, by all nodes. */
void lbc_pass_advise_nameless(struct lbc_pass *pass, const struct lbc_candidates *sets,
                              size_t count)
{
    const bool local = ccm_text_equal(pass->service->external_traffic_policy, "Local");
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 400 };

    for (size_t i = 0; i < count && text.len == 0; i++) {
        if (sets[i].nameless != NULL) {
            ccm_buf_addf(&text, "Endpoints without a node name are %s: NodeName is nil for ip %s",
                         local ? "left out" : "reached by way of all nodes", sets[i].nameless);
        }
    }
    lbc_pass_advise(pass, local, "nameless", "SkipSyncBackends", ccm_buf_str(&text));
    advice_emit_podless(pass, sets, count);
}

/* Behind the addresses of pods that cannot be backends. */
/* What is left undone while most pods have no interface; see struct lbc_group.add_only. */
static void advice_emit_kept(struct lbc_pass *pass, const struct lbc_resolved_list *resolved)
{
    const char *const *kept = pass->lbc->ops->product->kept_text;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 800 };

    for (size_t i = 0; kept[0] != NULL && i < resolved->count; i++) {
        const char *invalid = ccm_buf_str(&resolved->items[i].invalid);

        if (resolved->items[i].doubtful) {
            ccm_buf_addf(&text, "%s%s%s%s%s", text.len == 0 ? "" : "; ", kept[0],
                         pass->model->want->groups[i]->name, kept[1], invalid);
        }
    }
    lbc_pass_emit_standing(pass, "kept", "SkipSyncBackends", ccm_buf_str(&text));
}

/* Backends that are to have more traffic than others of their group. */
static bool has_uneven_weights(const struct lbc_backends *set)
{
    for (size_t i = 1; i < set->len; i++) {
        if (set->items[i].weight != set->items[0].weight && !set->items[i].kept &&
            !set->items[0].kept) {
            return true;
        }
    }
    return false;
}

/* Local: nodes weigh what their pods come to, which one scheduler takes no notice of. */
static void advice_emit_uneven(struct lbc_pass *pass)
{
    const struct lbc_anno *row =
        lbc_anno_find(pass->lbc->ops->model->rules->annotations, "scheduler");
    const char *value = row == NULL ? "" : lbc_anno_value(&lbc_pass_view(pass)->meta, row);
    const bool is_rr =
        row != NULL && ccm_text_equal(value[0] == '\0' ? row->fallback : value, "rr");
    const struct lbc_state *want = pass->model->want;
    bool uneven = false;

    for (size_t i = 0; i < want->group_count && is_rr; i++) {
        uneven = uneven || has_uneven_weights(&want->groups[i]->backends);
    }
    lbc_pass_advise(pass, false, "uneven", "UnevenLoad",
                    uneven && lbc_backend_mode(lbc_pass_view(pass), pass->lbc->pods_by_default) ==
                                  LBC_MODE_LOCAL
                        ? "nodes have different numbers of pods (externalTrafficPolicy Local) and "
                          "so different weights, which scheduler rr takes no notice of: each node "
                          "gets the same, pods that are alone more than others. Set annotation "
                          "scheduler to wrr"
                        : "");
}

/* Told once: what is not known at times, as while no pod is ready, is no news. */
void lbc_pass_advise_direct(struct lbc_pass *pass)
{
    const struct lbc_model_ops *ops = pass->lbc->ops->model;
    const struct lbc_lb *lb = lbc_pass_lb(pass);
    const struct lbc_direct in = { lbc_pass_view(pass), pass->lbc->pods_by_default,
                                   &pass->model->nodes, pass->snapshot.slices,
                                   pass->snapshot.slice_count };

    if (!lbc_direct_is_open(&in)) {
        lbc_pass_advise(pass, false, "direct", "PodsCanBeBackends", "");
    } else if (lbc_direct_fits(&in) && (lb->id == NULL || ops->unfit == NULL ||
                                        ops->unfit(pass->model, lb, true) == NULL)) {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 600 };

        lbc_direct_write(&text);
        lbc_pass_advise(pass, false, "direct", "PodsCanBeBackends", ccm_buf_str(&text));
    }
}

/* Behind a list that is not empty: what a person can do. */
/* before, and after: of the annotation that lets nodes be the backends. */
static void advice_end_list(struct ccm_buf *text, const char *before, const char *after)
{
    if (text->len > 0) {
        text->max = ADVICE_MAX;
        ccm_buf_addf(text, " (%sannotation %s %s%s)", before, lbc_names.backend_type,
                     lbc_names.nodes, after);
    }
}

void lbc_pass_emit_backends(struct lbc_pass *pass, const struct lbc_resolved_list *resolved)
{
    const char *const *missing = pass->lbc->ops->product->missing_text;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf invalid = { .max = 800 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf foreign = { .max = 800 };

    for (size_t i = 0; i < resolved->count; i++) {
        const struct lbc_resolved *one = &resolved->items[i];

        if (one->invalid.len > 0) {
            ccm_buf_addf(&invalid, "%s%s%s%s", invalid.len == 0 ? "" : "; ", missing[0],
                         ccm_buf_str(&one->invalid), missing[1]);
        }
        if (one->foreign.len > 0) {
            ccm_buf_addf(&foreign, "%sNot sync pods [%s] whose ip is not in vpc cidrs",
                         foreign.len == 0 ? "" : "; ", ccm_buf_str(&one->foreign));
        }
    }
    advice_end_list(&invalid,
                    "no network interface of the VPC has these addresses, as for a "
                    "moment while pods start; if it lasts, let nodes be the backends: ",
                    ", or option default_backend_type");
    advice_end_list(&foreign,
                    "a load balancer reaches no address outside of its VPC: let nodes be "
                    "the backends (",
                    "), or check option vpc_id of group alicloud");
    lbc_pass_emit_standing(pass, "invalid", "SkipSyncBackends", ccm_buf_str(&invalid));
    lbc_pass_advise(pass, true, "foreign", "SkipSyncBackends", ccm_buf_str(&foreign));
    advice_emit_kept(pass, resolved);
    advice_emit_uneven(pass);
}

static bool group_has_ruled(const struct lbc_group *group, const struct lbc_ruled *ruled)
{
    for (size_t i = 0; i < group->backends.len; i++) {
        if (lbc_ruled_is(ruled, &group->backends.items[i])) {
            return true;
        }
    }
    return false;
}

void lbc_pass_advise_node_addresses(struct lbc_pass *pass)
{
    const struct lbc_model *model = pass->model;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf list = { .max = 600 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 800 };

    for (size_t i = 0; i < model->want->group_count; i++) {
        for (size_t j = 0; j < model->sets[i].ruled_len; j++) {
            const struct lbc_ruled *one = &model->sets[i].ruled[j];

            if (one->rule == LBC_OWN_RULE_NODE_ADDRESS &&
                !group_has_ruled(model->want->groups[i], one) &&
                !ccm_parse_has_piece(ccm_buf_str(&list), ',', one->address, strlen(one->address))) {
                ccm_buf_addf(&list, "%s%s", list.len == 0 ? "" : ",", one->address);
            }
        }
    }
    if (list.len > 0) {
        ccm_buf_addf(&text, "Not sync pods [%s] whose ip is that of a node", ccm_buf_str(&list));
    }
    advice_end_list(&text,
                    "their endpoints name no pod of their namespace that has hostNetwork and this "
                    "address: correct the endpoints, or let nodes be the backends: ",
                    "");
    lbc_pass_advise(pass, true, "nodes", "SkipSyncBackends", ccm_buf_str(&text));
}

/* They are no backends, so they are not ready. */
static void advice_record_pods(struct lbc_pass *pass, const struct lbc_backends *set)
{
    for (size_t i = 0; i < set->len; i++) {
        if (set->items[i].type != LBC_BACKEND_INSTANCE) {
            ccm_buf_addf(&pass->invalid, "%s%s", pass->invalid.len == 0 ? "" : ",",
                         set->items[i].server_ip);
        }
    }
}

int lbc_pass_emit_left_out(struct lbc_pass *pass)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf cause = { .max = ADVICE_MAX };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf what = { .max = ADVICE_MAX - CCM_RETRY_TEXT - 40 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = ADVICE_MAX };
    const struct lbc_left_out *left_out = &pass->left_out;
    char retry[CCM_RETRY_TEXT] = "";

    lbc_left_out_format(left_out, pass->model, NULL, &pass->left_out.names);
    for (size_t i = 0; i < left_out->len; i++) {
        advice_record_pods(pass, &left_out->parts[i].backends);
        ccm_buf_addf(&cause, "%s ", left_out->parts[i].why.code);
    }
    if (left_out->again_ms > 0) {
        ccm_retry_format(lbc_product_served(pass->lbc->ops->product)->noun, CCM_ERROR_TRANSIENT,
                         left_out->again_ms, left_out->again_ms, retry);
    }
    if (left_out->len > 0) {
        ccm_buf_adds(&cause, ccm_buf_str(&pass->left_out.names));
        lbc_left_out_format(left_out, pass->model, &pass->lbc->cloud, &what);
        ccm_buf_addf(&text, "Left out of the backends: %s.%s%s", ccm_buf_str(&what),
                     retry[0] == '\0' ? "" : " ", retry);
    }

    const struct lbc_life_standing standing = {
        .warning = true,
        .topic = "left-out",
        .reason = "SkipSyncBackends",
        .cause = ccm_buf_str(&cause),
        .text = ccm_buf_str(&text),
    };

    lbc_pass_stand(pass, &standing);
    return ccm_buf_error(&pass->invalid);
}

void lbc_pass_emit_frozen(struct lbc_pass *pass, enum lbc_frozen_by frozen_by)
{
    static const char *const holds[] = {
        [LBC_FROZEN_BY_NONE] = "",
        [LBC_FROZEN_BY_FAMILY] = "Only EndpointSlices of another address family: backends are kept",
        [LBC_FROZEN_BY_LARGE] =
            "An EndpointSlice is too large to be read: the present backends are kept",
        [LBC_FROZEN_BY_LABEL] = "Annotation backend-label cannot be used, so no node is added, and "
                                "no present backend serves any more: the present backends are kept",
    };

    lbc_pass_emit_standing(pass, "hold", "SkipSyncBackends", holds[frozen_by]);
}
