#include "read.h"

#include "api.h"
#include "clb.h"
#include "lbc/model/owner.h"
#include "util/cidr.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

/* --- load balancer --- */

static bool read_has_address(const cJSON *json, const struct ccm_ingress *address)
{
    return !ccm_text_empty(address->ip) &&
           ccm_ip_equal_text(ccm_json_text(json, "Address"), address->ip);
}

const struct alilb_source clb_source = {
    .find = clb_api_find_lb,
    .get = &clb_api_lb,
    .parse = clb_read_parse_lb,
    .paced = true,
    .full_texts = true,
    .tagged = &clb_api_tagged_lbs,
    .has_address = read_has_address,
    .type = &clb_state_type,
    .listeners = &clb_api_listeners,
    .parse_listener = clb_read_parse_listener,
};

static int read_add_eip(void *arg, const cJSON *item, struct ccm_error *err)
{
    struct ccm_buf *ips = arg;

    (void)err;
    ccm_buf_addf(ips, "%s%s", ips->len == 0 ? "" : ",", ccm_json_text(item, "IpAddress"));
    return 0;
}

int clb_read_eips(struct alilb_call *call, struct clb_lb *lb, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf ips = { .max = 0 };
    const int r = alilb_list(call, &clb_api_eips, ALILB_TEXTS("SlbInstance", lb->lbc.id),
                             read_add_eip, &ips, err);

    if (r < 0) {
        return r;
    }
    if (ccm_buf_error(&ips) < 0 || lbc_text_set(&lb->eips, ccm_buf_str(&ips)) < 0) {
        return ccm_error_nomem(err);
    }
    return 0;
}

/* --- listeners --- */

static int read_listeners(struct alilb_call *call, struct clb_state *state, struct ccm_error *err)
{
    const struct lbc_texts ids = { .items = &state->lb.lbc.id, .len = 1 };
    const int r = alilb_read_listeners(call, &clb_source, ALILB_LIST(&ids, NULL), &state->lbc, err);

    return r < 0 ? ccm_error_wrap(err, r, "get lb listeners from cloud") : 0;
}

/* --- groups --- */

static int read_add_group(void *arg, const cJSON *item, struct ccm_error *err)
{
    struct lbc_group *group = clb_state_new_group(arg);

    return group == NULL || clb_read_parse_group(item, group) < 0 ? ccm_error_nomem(err) : 0;
}

static bool needs_group(const struct alilb_call *call, const struct ccm_service *service,
                        const struct clb_need *need, const struct lbc_group *group)
{
    const char *name = group->name == NULL ? "" : group->name;

    if (lbc_owner_parse(name, false, &service->meta, call->cluster_id) == LBC_OWNER_OURS) {
        return true;
    }
    if (need->want != NULL && lbc_state_group_by_id(&need->want->lbc, group->id) != NULL) {
        return true;
    }
    return need->scan && !lbc_owner_is_key(name);
}

int clb_read_parts(struct alilb_call *call, const struct ccm_service *service,
                   const struct clb_need *need, struct clb_state *state, struct ccm_error *err)
{
    int r = 0;

    if (need->listeners && !state->lbc.listeners_known) {
        r = read_listeners(call, state, err);
    }
    if (r == 0 && !state->lbc.groups_known) {
        r = alilb_list(call, &clb_api_groups, ALILB_TEXTS(state->lb.lbc.id), read_add_group, state,
                       err);
        state->lbc.groups_known = r == 0;
    }
    for (size_t i = 0; r == 0 && i < state->lbc.group_count; i++) {
        struct lbc_group *group = state->lbc.groups[i];

        if (group->unread && needs_group(call, service, need, group)) {
            r = alilb_read_backends(call, &clb_api_backends, group, err);
        }
    }
    return r;
}

/* --- domain extensions --- */

static int read_add_domain(void *arg, const cJSON *item, struct ccm_error *err)
{
    return clb_domains_put(arg, ccm_json_text(item, "Domain"),
                           ccm_json_text(item, "ServerCertificateId"),
                           ccm_json_text(item, "DomainExtensionId")) < 0
               ? ccm_error_nomem(err)
               : 0;
}

static int read_domains(struct alilb_call *call, const struct clb_state *want,
                        struct clb_state *state, struct ccm_error *err)
{
    for (size_t i = 0; i < want->lbc.listener_count; i++) {
        const struct clb_listener *one = clb_listener_at(want, i);
        struct clb_listener *have = clb_state_listener(state, one->lbc.port, one->lbc.protocol);

        if (!one->lbc.certs_known || have == NULL || have->lbc.certs_known) {
            continue;
        }
        clb_domains_fini(&have->domains);

        const int r = alilb_list(call, &clb_api_domains,
                                 ALILB_TEXTS(state->lb.lbc.id, ALILB_NUMBER(have->lbc.port)),
                                 read_add_domain, &have->domains, err);

        have->lbc.certs_known = r == 0;
        if (r < 0) {
            return ccm_error_wrap(err, r, "port %u/https", have->lbc.port);
        }
    }
    return 0;
}

/* --- access list --- */

static int read_add_entry(void *arg, const cJSON *item, struct ccm_error *err)
{
    return lbc_texts_put(arg, ccm_json_text(item, "AclEntryIP")) < 0 ? ccm_error_nomem(err) : 0;
}

struct acl_search {
    const struct ccm_object *service;
    const char *cluster_id;
    struct clb_acl acl;
};

static void acl_search_fini(struct acl_search *search)
{
    clb_acl_fini(&search->acl);
}

/* Its name is unique to the Service; its tags protect a list that a person named like it. */
static int acl_offer(void *arg, const cJSON *item, struct ccm_error *err)
{
    struct acl_search *search = arg;
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };

    if (alilb_parse_tags(item, &tags) < 0) {
        return ccm_error_nomem(err);
    }
    if (lbc_owner_of_tags(&tags, search->service, search->cluster_id) != LBC_OWNER_OURS ||
        lbc_tags_get(&tags, LBC_TAG_CLUSTER) == NULL ||
        strcmp(ccm_json_text(item, "AclName"), search->acl.name) != 0) {
        return 0;
    }
    return lbc_text_set(&search->acl.id, ccm_json_text(item, "AclId")) < 0 ? ccm_error_nomem(err)
                                                                           : 1;
}

static int read_acl(struct alilb_call *call, const struct ccm_service *service,
                    struct clb_state *state, struct ccm_error *err)
{
    CCM_CLEANUP(acl_search_fini)
    struct acl_search search = { &service->meta, call->cluster_id, { .known = true } };
    struct clb_acl *acl = &search.acl;
    char name[LBC_OWNER_LB_NAME];
    int r;

    lbc_owner_lb_name(&service->meta, name);
    r = lbc_text_set(&acl->name, name) < 0
            ? ccm_error_nomem(err)
            : alilb_list(call, &clb_api_acls, ALILB_TEXTS(name), acl_offer, &search, err);
    if (r == 0 && acl->id != NULL) {
        r = alilb_list(call, &clb_api_entries, ALILB_TEXTS(acl->id), read_add_entry, &acl->entries,
                       err);
    }
    if (r < 0) {
        return ccm_error_wrap(err, r, "access list of spec.loadBalancerSourceRanges");
    }
    clb_acl_fini(&state->acl);
    state->acl = *acl;
    memset(acl, 0, sizeof(*acl));
    return 0;
}

/* A listener is bound to a list although no annotation says so. */
static bool acl_is_bound(const struct clb_state *want, const struct clb_state *state)
{
    for (size_t i = 0; i < want->lbc.listener_count; i++) {
        const struct clb_listener *one = clb_listener_at(want, i);
        const struct clb_listener *have =
            clb_state_listener(state, one->lbc.port, one->lbc.protocol);

        if (have != NULL && lbc_attrs_get(&have->lbc.attrs, clb_field_find("AclId")) != NULL &&
            lbc_attrs_get(&one->lbc.attrs, clb_field_find("AclId")) == NULL) {
            return true;
        }
    }
    return false;
}

/* Whether a list of ours may exist. Where the option is off it stays as it is for as long as the
 * Service has ranges: a missing option must not open the load balancer. */
static bool acl_may_exist(const struct ccm_service *service, const struct clb_details *need,
                          const struct clb_state *state)
{
    const bool limits = lbc_setting_limits_sources(service);

    if (need->want == NULL || !need->ranges) {
        return need->want == NULL ? need->marked || (need->ranges && limits)
                                  : need->marked && !limits;
    }
    return limits || need->marked || acl_is_bound(need->want, state);
}

int clb_read_details(struct alilb_call *call, const struct ccm_service *service,
                     const struct clb_details *need, struct clb_state *state, struct ccm_error *err)
{
    char name[LBC_OWNER_LB_NAME];
    int r = 0;

    /* A shared load balancer has one mirror, but each of its Services its own list. */
    lbc_owner_lb_name(&service->meta, name);
    if (state->acl.name != NULL && strcmp(state->acl.name, name) != 0) {
        clb_acl_fini(&state->acl);
    }
    if (need->want != NULL && state->lb.lbc.id != NULL) {
        r = read_domains(call, need->want, state, err);
    }
    if (r == 0 && !state->acl.known && acl_may_exist(service, need, state)) {
        r = read_acl(call, service, state, err);
    }
    return r;
}
