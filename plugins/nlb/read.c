#include "read.h"

#include "api.h"
#include "nlb.h"
#include "owner_key.h"
#include "plan.h"
#include "util/buf.h"
#include "util/cidr.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* --- load balancer --- */

/* The values that a person asked for are not the cloud's to tell. */
static int read_parse_lb(const cJSON *json, struct lbc_lb *lb)
{
    struct nlb_lb *to = (struct nlb_lb *)lb;
    CCM_CLEANUP(nlb_lb_fini) struct nlb_lb fresh = { 0 };
    const int r = nlb_read_parse_lb(json, &fresh);

    if (r == 0) {
        const struct nlb_lb old = *to;

        fresh.lbc.explicit = old.lbc.explicit;
        fresh.lbc.untagged = old.lbc.untagged;
        *to = fresh;
        fresh = old; /* freed with the scope */
    }
    return r;
}

static int read_find_lb(struct alilb_call *call, const char *tag_value, const char *name,
                        alilb_item_fn fn, void *arg, struct ccm_error *err)
{
    return alilb_list(call, &nlb_api_lbs,
                      tag_value != NULL ? ALILB_TEXTS(LBC_TAG_OWNER, tag_value)
                                        : ALILB_TEXTS(NULL, NULL, name),
                      fn, arg, err);
}

static bool zone_has_address(const cJSON *zone, const char *ip)
{
    static const char *const members[] = { "PublicIPv4Address", "PrivateIPv4Address",
                                           "Ipv6Address" };

    for (const cJSON *one = ccm_json_items(zone, "LoadBalancerAddresses"); one != NULL;
         one = one->next) {
        for (size_t i = 0; i < CCM_ARRAY_LEN(members); i++) {
            if (ccm_ip_equal_text(ccm_json_text(one, members[i]), ip)) {
                return true;
            }
        }
    }
    return false;
}

static bool read_has_address(const cJSON *json, const struct ccm_ingress *address)
{
    const cJSON *zone = ccm_text_empty(address->ip) ? NULL : ccm_json_items(json, "ZoneMappings");
    bool has = !ccm_text_empty(address->hostname) &&
               ccm_text_equal_case(ccm_json_text(json, "DNSName"), address->hostname);

    for (; !has && zone != NULL; zone = zone->next) {
        has = zone_has_address(zone, address->ip);
    }
    return has;
}

const struct alilb_source nlb_source = {
    .find = read_find_lb,
    .get = &nlb_api_lb,
    .parse = read_parse_lb,
    .tagged = &nlb_api_lbs,
    .has_address = read_has_address,
    .type = &nlb_state_type,
    .listeners = &nlb_api_listeners,
    .parse_listener = nlb_read_parse_listener,
};

int nlb_read_check_status(const struct nlb_lb *lb, struct ccm_error *err)
{
    if (ccm_text_equal_case(lb->status, "CreateFailed")) {
        return ccm_error_set(
            err, -EIO, CCM_ERROR_AUTH,
            "the cloud could not make load balancer %s (status CreateFailed): delete it "
            "in the console, it is made again then",
            lb->lbc.id);
    }
    if (ccm_text_equal_case(lb->status, "Inactive")) {
        return ccm_error_set(err, -EIO, CCM_ERROR_AUTH,
                             "load balancer %s is switched off (status Inactive): look for overdue "
                             "payments",
                             lb->lbc.id);
    }
    return 0;
}

/* --- listeners --- */

static int read_listeners(struct alilb_call *call, struct nlb_state *state, struct ccm_error *err)
{
    if (state->lb.lbc.id == NULL) {
        lbc_state_forget_listeners(&state->lbc);
        state->lbc.listeners_known = true;
        return 0;
    }
    return alilb_read_listeners(call, &nlb_source, ALILB_TEXTS(state->lb.lbc.id), &state->lbc, err);
}

/* Additional ones only: the default one and those of authorities are attributes. */
static int read_add_cert(void *arg, const cJSON *item, struct ccm_error *err)
{
    struct lbc_texts *certs = arg;
    const char *id = ccm_json_text(item, "CertificateId");

    if (ccm_json_bool(item, "IsDefault", false) ||
        ccm_text_equal_case(ccm_json_text(item, "CertificateType"), "Ca") ||
        ccm_text_equal_case(ccm_json_text(item, "Status"), "Diassociating") || id[0] == '\0') {
        return 0;
    }
    return lbc_texts_put(certs, id) < 0 ? ccm_error_nomem(err) : 0;
}

static int read_certs(struct alilb_call *call, const struct nlb_state *want,
                      struct nlb_state *state, struct ccm_error *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && want != NULL && i < state->lbc.listener_count; i++) {
        struct nlb_listener *one = nlb_listener_at(state, i);
        const struct nlb_listener *wanted = nlb_state_listener_like(want, one);

        if (one->lbc.protocol != LBC_TCPSSL || one->lbc.certs_known || wanted == NULL ||
            !wanted->lbc.certs_known) {
            continue;
        }
        lbc_texts_fini(&one->certs);
        r = alilb_list(call, &nlb_api_certs, ALILB_TEXTS(one->lbc.id), read_add_cert, &one->certs,
                       err);
        one->lbc.certs_known = r == 0;
    }
    return r;
}

/* --- groups --- */

/* A look for groups. */
struct group_look {
    struct nlb_state *state;
    const struct ccm_object *service; /* whose tag they have to carry; NULL: asked for by id */
    const char *cluster_id;
    bool persons; /* leave out those that a controller created */
};

static int read_add_group(void *arg, const cJSON *item, struct ccm_error *err)
{
    const struct group_look *look = arg;
    struct nlb_group *group = nlb_state_new_group(look->state);
    const int r = group == NULL ? -ENOMEM : nlb_read_parse_group(item, group);

    if (group != NULL &&
        (r < 0 || nlb_state_group_by_id(look->state, group->lbc.id) != group ||
         (look->persons && nlb_name_is_key(group->lbc.name)) ||
         (look->service != NULL &&
          lbc_owner_of_tags(&group->tags, look->service, look->cluster_id) != LBC_OWNER_OURS))) {
        lbc_state_drop_group(&look->state->lbc, &group->lbc);
    }
    return r < 0 ? alilb_refuse(r, "server group", err) : 0;
}

/* Chosen groups that are not known yet. */
static int add_chosen(const struct nlb_state *want, const struct nlb_state *state,
                      struct lbc_texts *ret)
{
    int r = 0;

    for (size_t i = 0; r == 0 && want != NULL && i < want->lbc.group_count; i++) {
        const char *id = nlb_group_at(want, i)->lbc.id;

        if (id != NULL && nlb_state_group_by_id(state, id) == NULL) {
            r = lbc_texts_put(ret, id);
        }
    }
    return r;
}

/* Groups that our listeners use and that have lost their tags. */
static int add_used(const struct alilb_call *call, const struct ccm_service *service,
                    const struct nlb_state *state, struct lbc_texts *ret)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < state->lbc.listener_count; i++) {
        const struct nlb_listener *one = nlb_listener_at(state, i);
        enum lbc_owner owner = LBC_OWNER_NONE;

        if (one->lbc.group_id != NULL && nlb_state_group_by_id(state, one->lbc.group_id) == NULL) {
            r = nlb_name_parse(one->lbc.description, true, &service->meta, call->cluster_id,
                               &owner);
        }
        if (r == 0 && owner == LBC_OWNER_OURS) {
            r = lbc_texts_put(ret, one->lbc.group_id);
        }
    }
    return r;
}

/* Our own of before that no tag leads to: a list by tags may be late. */
static int add_before(const struct alilb_call *call, const struct ccm_service *service,
                      const struct nlb_state *before, const struct nlb_state *state,
                      struct lbc_texts *ret)
{
    int r = 0;

    for (size_t i = 0; r == 0 && before != NULL && i < before->lbc.group_count; i++) {
        const struct nlb_group *group = nlb_group_at(before, i);

        if (nlb_state_group_by_id(state, group->lbc.id) == NULL &&
            lbc_owner_of_tags(&group->tags, &service->meta, call->cluster_id) == LBC_OWNER_OURS) {
            r = lbc_texts_put(ret, group->lbc.id);
        }
    }
    return r;
}

/* Other groups that listeners of the load balancer use. */
static int add_scanned(const struct nlb_state *state, const struct lbc_texts *known,
                       struct lbc_texts *ret)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < state->lbc.listener_count; i++) {
        const char *id = state->lbc.listeners[i]->group_id;

        if (id != NULL && nlb_state_group_by_id(state, id) == NULL && !lbc_texts_has(known, id)) {
            r = lbc_texts_put(ret, id);
        }
    }
    return r;
}

/* Groups that listeners go back to that were taken over, once nobody wants these. */
static int add_taken(const struct alilb_call *call, const struct ccm_service *service,
                     const struct nlb_need *need, const struct nlb_state *state,
                     struct lbc_texts *ret)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < state->lbc.listener_count; i++) {
        const struct nlb_listener *one = nlb_listener_at(state, i);
        CCM_CLEANUP(lbc_tags_fini) struct lbc_tags was = { 0 };
        enum lbc_owner owner = LBC_OWNER_NONE;
        char port[LBC_TAKEN_PORT];

        if (need->want != NULL && nlb_state_listener_like(need->want, one) != NULL) {
            continue;
        }
        lbc_taken_format_port(&one->lbc, port);
        r = lbc_taken_read(&service->meta, port, &was);

        const char *group = lbc_tags_get(&was, LBC_TAKEN_GROUP);

        if (r == 0 && !ccm_text_empty(group) && nlb_state_group_by_id(state, group) == NULL) {
            r = nlb_name_parse(one->lbc.description, true, &service->meta, call->cluster_id,
                               &owner);
        }
        if (r == 0 && owner == LBC_OWNER_OURS) {
            r = lbc_texts_put(ret, group);
        }
    }
    return r;
}

/* Whether a group of the Service may exist that nothing has shown. */
static bool may_lack_groups(const struct nlb_need *need, const struct nlb_state *state)
{
    const size_t count = need->doubtful ? need->want->lbc.group_count : 0;
    bool lacks = need->ends && need->doubtful;

    for (size_t i = 0; !lacks && i < count; i++) {
        lacks = lbc_state_group_for(&state->lbc, need->want->lbc.groups[i]) == NULL;
    }
    return lacks && (!state->lbc.groups_known || state->by_tag);
}

static int list_groups(struct alilb_call *call, const struct ccm_service *service,
                       const struct nlb_need *need, struct nlb_state *state, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts ids = { 0 };
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts scanned = { 0 };
    struct group_look by_tag = { state, &service->meta, call->cluster_id, false };
    struct group_look by_id = { state, NULL, call->cluster_id, false };
    struct group_look scan = { state, NULL, call->cluster_id, true };
    char tag[LBC_OWNER_LB_NAME];
    int r = 0;

    lbc_owner_lb_name(&service->meta, tag);
    if (!state->lbc.groups_known) {
        r = alilb_list(call, &nlb_api_groups, ALILB_TEXTS(LBC_TAG_OWNER, tag), read_add_group,
                       &by_tag, err);
        if (r == 0 && (add_used(call, service, state, &ids) < 0 ||
                       add_before(call, service, need->before, state, &ids) < 0)) {
            r = ccm_error_nomem(err);
        }
    }
    if (r == 0 &&
        (add_chosen(need->want, state, &ids) < 0 ||
         add_taken(call, service, need, state, &ids) < 0 ||
         (need->scan && !state->lbc.groups_known && add_scanned(state, &ids, &scanned) < 0))) {
        r = ccm_error_nomem(err);
    }
    if (r == 0) {
        r = alilb_list(call, &nlb_api_groups, ALILB_LIST(&ids, NULL), read_add_group, &by_id, err);
    }
    if (r == 0 && may_lack_groups(need, state)) {
        struct alilb_call patient = *call;

        patient.waits = true; /* put off, the next pass would begin with the lists above again */
        r = alilb_list(&patient, &nlb_api_groups, ALILB_TEXTS(NULL), read_add_group, &by_tag, err);
    }
    return r < 0 ? r
                 : alilb_list(call, &nlb_api_groups, ALILB_LIST(&scanned, NULL), read_add_group,
                              &scan, err);
}

static int read_groups(struct alilb_call *call, const struct ccm_service *service,
                       const struct nlb_need *need, struct nlb_state *state, struct ccm_error *err)
{
    int r = list_groups(call, service, need, state, err);

    for (size_t i = 0; r == 0 && i < state->lbc.group_count; i++) {
        struct nlb_group *group = nlb_group_at(state, i);

        if (group->lbc.unread) {
            r = alilb_read_backends(call, &nlb_api_servers, &group->lbc, err);
        }
    }
    state->lbc.groups_known = state->lbc.groups_known || r == 0;
    state->by_tag = state->by_tag && (r < 0 || !need->doubtful);
    return r;
}

/* --- the security group --- */

static int read_add_rule(void *arg, const cJSON *item, struct ccm_error *err)
{
    struct nlb_rule *rule = nlb_security_group_new_rule(arg);
    const int r = rule == NULL ? -ENOMEM : nlb_read_parse_rule(item, rule);

    return r < 0 ? alilb_refuse(r, "rule", err) : 0;
}

int nlb_read_rules(struct alilb_call *call, struct nlb_security_group *security_group,
                   struct ccm_error *err)
{
    CCM_CLEANUP(nlb_security_group_fini) struct nlb_security_group fresh = { .known = false };
    const int r = alilb_list(call, &nlb_api_rules, ALILB_TEXTS(security_group->id, "ingress"),
                             read_add_rule, &fresh, err);

    if (r == 0) {
        const struct nlb_security_group old = *security_group;

        security_group->rules = fresh.rules;
        security_group->rule_count = fresh.rule_count;
        security_group->rule_cap = fresh.rule_cap;
        fresh.rules = old.rules; /* freed with the scope */
        fresh.rule_count = old.rule_count;
        fresh.rule_cap = old.rule_cap;
    }
    return r;
}

/* One look for the security group of a Service. */
struct range_search {
    const struct ccm_object *service;
    const char *cluster_id;
    struct nlb_security_group first;
    char *foreign; /* id of one that carries the Service's tag and another cluster's */
    size_t count;
};

static void range_search_fini(struct range_search *search)
{
    nlb_security_group_fini(&search->first);
    free(search->foreign);
}

static int security_group_record_found(struct range_search *search, const cJSON *item,
                                       const char *id)
{
    struct nlb_security_group *security_group = &search->first;

    if (search->count++ > 0) {
        return 0;
    }
    return lbc_text_set(&security_group->id, id) < 0 ||
                   lbc_text_set(&security_group->name, ccm_json_text(item, "SecurityGroupName")) <
                       0 ||
                   lbc_text_set(&security_group->description, ccm_json_text(item, "Description")) <
                       0
               ? -ENOMEM
               : 0;
}

static int read_add_security_group(void *arg, const cJSON *item, struct ccm_error *err)
{
    struct range_search *search = arg;
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };
    const char *id = ccm_json_text(item, "SecurityGroupId");
    char own[LBC_OWNER_LB_NAME];
    int r = alilb_parse_tags(item, &tags);

    if (id[0] == '\0') {
        return alilb_refuse(-EPROTO, "security group", err);
    }
    lbc_owner_lb_name(search->service, own);
    if (r == 0 && ccm_text_equal(lbc_tags_get(&tags, LBC_TAG_OWNER), own)) {
        r = lbc_owner_of_tags(&tags, search->service, search->cluster_id) == LBC_OWNER_OURS
                ? security_group_record_found(search, item, id)
                : lbc_text_set(&search->foreign, id);
    }
    return r < 0 ? ccm_error_nomem(err) : 0;
}

/* ends: the Service goes, and asks for none of its own. */
static int range_search_check(const struct range_search *search, bool ends, struct ccm_error *err)
{
    if (search->count > 1) {
        return ccm_error_set(err, -EEXIST, CCM_ERROR_TERMINAL,
                             "find associated security group error: expect 1, got %zu",
                             search->count);
    }
    if (search->count == 0 && search->foreign != NULL && !ends) {
        return ccm_error_set(err, -EPERM, CCM_ERROR_TERMINAL,
                             "security group %s carries this Service's tag but belongs to another "
                             "cluster (tag %s), it is left alone",
                             search->foreign, LBC_TAG_CLUSTER);
    }
    return 0;
}

/* A list by tags may be late: by the id that is known, or by its name when one was announced and no
 * id of it is known. */
static int find_late_security_group(struct alilb_call *call, const struct ccm_service *service,
                                    const struct nlb_state *before, struct range_search *search,
                                    struct ccm_error *err)
{
    const char *label = ccm_object_label(&service->meta, NLB_SECURITY_GROUP_LABEL);
    const char *known = before == NULL ? NULL : before->security_group.id;
    CCM_CLEANUP(ccm_freep) char *name = NULL;

    known = known == NULL ? label : known;
    if (ccm_text_empty(known)) {
        return 0;
    }
    if (strcmp(known, LBC_LIFE_PENDING) == 0) {
        name = nlb_security_group_name(&service->meta);
        known = NULL;
        if (name == NULL) {
            return ccm_error_nomem(err);
        }
    }
    return alilb_list(call, &nlb_api_security_groups, ALILB_TEXTS(NULL, NULL, known, name),
                      read_add_security_group, search, err);
}

static int read_security_group(struct alilb_call *call, const struct ccm_service *service,
                               const struct nlb_need *need, struct nlb_security_group *ret,
                               struct ccm_error *err)
{
    CCM_CLEANUP(range_search_fini)
    struct range_search search = { .service = &service->meta, .cluster_id = call->cluster_id };
    char tag[LBC_OWNER_LB_NAME];
    int r;

    lbc_owner_lb_name(&service->meta, tag);
    r = alilb_list(call, &nlb_api_security_groups, ALILB_TEXTS(LBC_TAG_OWNER, tag),
                   read_add_security_group, &search, err);
    if (r == 0 && search.count == 0) {
        r = find_late_security_group(call, service, need->before, &search, err);
    }
    if (r == 0) {
        r = range_search_check(&search, need->ends, err);
    }
    if (r == 0 && search.count == 1) {
        r = nlb_read_rules(call, &search.first, err);
    }
    if (r < 0) {
        return r;
    }
    nlb_security_group_fini(ret);
    *ret = search.first;
    ret->known = true;
    memset(&search.first, 0, sizeof(search.first));
    return 0;
}

int nlb_read_parts(struct alilb_call *call, const struct ccm_service *service,
                   const struct nlb_need *need, struct nlb_state *state, struct ccm_error *err)
{
    int r = 0;

    if (need->listeners && !state->lbc.listeners_known) {
        r = read_listeners(call, state, err);
    }
    if (r == 0) {
        r = read_groups(call, service, need, state, err);
    }
    if (r == 0 && need->certs) {
        r = read_certs(call, need->want, state, err);
    }
    if (r == 0 && need->security_group && !state->security_group.known) {
        r = read_security_group(call, service, need, &state->security_group, err);
    }
    return r;
}
