#include "read_listeners.h"

#include "api_listener.h"
#include "lbc/model/owner.h"
#include "model_listeners.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PAGES_MAX 100

static int parse_attrs(const cJSON *json, struct clb_listener *ret)
{
    char part_name[32];
    const cJSON *part;
    int r = 0;

    ccm_text_printf(part_name, sizeof(part_name), "%sListenerConfig",
                    lbc_protocol_name(ret->lbc.protocol));
    part = ccm_json_get(json, part_name);
    for (size_t i = 0; r == 0 && i < clb_field_count; i++) {
        const struct lbc_field *field = &clb_fields[i];
        char space[LBC_ATTR_NUMBER];
        const cJSON *from = (field->flags & LBC_FIELD_TOP) != 0 ? json : part;
        const char *value = lbc_attr_read(from, field->name, space);

        if (value[0] == '\0' && field->read_name != NULL) {
            value = lbc_attr_read(from, field->read_name, space);
        }
        if (clb_field_applies(field, ret->lbc.protocol) && !lbc_attr_is_unset(field, value)) {
            r = lbc_attrs_set(&ret->lbc.attrs, field, value, false);
        }
    }
    return r;
}

/* The list is what counts; an update that sent only the single id would drop the others. */
static int parse_acl_ids(const cJSON *json, struct clb_listener *ret)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf ids = { .max = 4096 };

    for (const cJSON *id = ccm_json_items(json, "AclIds"); id != NULL; id = id->next) {
        if (cJSON_IsString(id)) {
            ccm_buf_addf(&ids, "%s%s", ids.len == 0 ? "" : ",", id->valuestring);
        }
    }
    if (ccm_buf_error(&ids) < 0) {
        return ccm_buf_error(&ids);
    }
    return ids.len == 0
               ? 0
               : lbc_attrs_set(&ret->lbc.attrs, clb_field_find("AclId"), ccm_buf_str(&ids), false);
}

static int parse_listener(const cJSON *json, struct clb_state *ret)
{
    const int64_t port = ccm_json_i64(json, "ListenerPort", 0);
    struct clb_listener *listener = clb_state_new_listener(ret);

    if (listener == NULL) {
        return -ENOMEM;
    }
    listener->lbc.port = port < 0 || port > UINT16_MAX ? 0 : (uint16_t)port;
    listener->lbc.last_port = listener->lbc.port;
    listener->lbc.protocol =
        lbc_protocol_parse(ccm_json_text(json, "ListenerProtocol"), CLB_PROTOCOLS);
    listener->lbc.running = !ccm_text_equal(ccm_json_text(json, "Status"), "stopped");
    if (lbc_text_set(&listener->lbc.description, ccm_json_text(json, "Description")) < 0 ||
        lbc_text_set(&listener->lbc.group_id, ccm_json_text(json, "VServerGroupId")) < 0 ||
        parse_attrs(json, listener) < 0) {
        return -ENOMEM;
    }
    return parse_acl_ids(json, listener);
}

int clb_read_parse_listener(const cJSON *json, struct clb_state *ret)
{
    return parse_listener(json, ret);
}

static int read_page(struct clb_call *call, struct clb_state *ret, char **token,
                     struct ccm_error *err)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    int r = clb_api_listeners(call, ret->lb.id, *token == NULL ? "" : *token, &answer, err);

    if (r < 0) {
        return r;
    }
    if (!cJSON_IsArray(ccm_json_get(answer, "Listeners"))) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "DescribeLoadBalancerListeners: the answer has no list");
    }
    for (const cJSON *one = ccm_json_items(answer, "Listeners"); r == 0 && one != NULL;
         one = one->next) {
        r = parse_listener(one, ret);
    }
    if (r == 0) {
        r = lbc_text_set(token, ccm_json_text(answer, "NextToken"));
    }
    return r < 0 ? ccm_error_nomem(err) : 0;
}

int clb_read_listeners(struct clb_call *call, struct clb_state *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *token = NULL;

    for (size_t page = 0; page < PAGES_MAX; page++) {
        const int r = read_page(call, ret, &token, err);

        if (r < 0) {
            return ccm_error_wrap(err, r, "get lb listeners from cloud");
        }
        if (token == NULL) {
            return 0;
        }
    }
    return ccm_error_set(err, -EMSGSIZE, CCM_ERROR_TRANSIENT,
                         "DescribeLoadBalancerListeners: more than %d pages", PAGES_MAX);
}

/* --- domain extensions --- */

static int read_domains(struct clb_call *call, const struct clb_state *state,
                        struct clb_listener *listener, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    CCM_CLEANUP(clb_domains_fini) struct clb_domains domains = { 0 };
    int r = clb_api_domains(call, state->lb.id, listener->lbc.port, &answer, err);

    if (r < 0) {
        return ccm_error_wrap(err, r, "port %u/https", listener->lbc.port);
    }
    const cJSON *list = ccm_json_get(answer, "DomainExtensions");

    if (!cJSON_IsArray(ccm_json_get(list, "DomainExtension"))) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "DescribeDomainExtensions: the answer has no list");
    }
    for (const cJSON *one = ccm_json_items(list, "DomainExtension"); r == 0 && one != NULL;
         one = one->next) {
        r = clb_domains_put(&domains, ccm_json_text(one, "Domain"),
                            ccm_json_text(one, "ServerCertificateId"),
                            ccm_json_text(one, "DomainExtensionId"));
    }
    if (r < 0) {
        return ccm_error_nomem(err);
    }
    listener->domains = domains;
    listener->domains_known = true;
    memset(&domains, 0, sizeof(domains));
    return 0;
}

static int read_all_domains(struct clb_call *call, const struct clb_state *want,
                            struct clb_state *state, struct ccm_error *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < want->lbc.listener_count; i++) {
        const struct clb_listener *one = clb_listener_at(want, i);
        struct clb_listener *have = clb_state_listener(state, one->lbc.port, one->lbc.protocol);

        if (one->domains_known && have != NULL && !have->domains_known) {
            r = read_domains(call, state, have, err);
        }
    }
    return r;
}

/* --- access list --- */

/* Adds one page; *ret_count: how many entries it had. */
static int read_entry_page(struct clb_call *call, struct clb_acl *acl, int64_t page,
                           size_t *ret_count, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    int r = clb_api_acl(call, acl->id, page, &answer, err);

    *ret_count = 0;
    if (r < 0) {
        return r;
    }
    for (const cJSON *one = ccm_json_items(ccm_json_get(answer, "AclEntrys"), "AclEntry");
         r == 0 && one != NULL; one = one->next) {
        r = lbc_texts_put(&acl->entries, ccm_json_text(one, "AclEntryIP"));
        (*ret_count)++;
    }
    return r < 0 ? ccm_error_nomem(err) : 0;
}

static int read_entries(struct clb_call *call, struct clb_acl *acl, struct ccm_error *err)
{
    for (int64_t page = 1; page <= PAGES_MAX; page++) {
        const size_t before = acl->entries.len;
        size_t count = 0;
        const int r = read_entry_page(call, acl, page, &count, err);

        if (r < 0 || count < CLB_ACL_PAGE || acl->entries.len == before) {
            return r;
        }
    }
    return ccm_error_set(err, -EMSGSIZE, CCM_ERROR_TRANSIENT,
                         "DescribeAccessControlListAttribute: more than %d pages", PAGES_MAX);
}

/* Its name is unique to the Service; its tag protects a list that a person named like it. */
static bool acl_is_ours(const cJSON *acl, const char *name, const char *cluster)
{
    bool owner = false;
    bool cluster_ok = false;

    for (const cJSON *tag = ccm_json_items(ccm_json_get(acl, "Tags"), "Tag"); tag != NULL;
         tag = tag->next) {
        const char *key = ccm_json_text(tag, "TagKey");
        const char *value = ccm_json_text(tag, "TagValue");

        owner = owner || (strcmp(key, CLB_TAG_OWNER) == 0 && strcmp(value, name) == 0);
        cluster_ok =
            cluster_ok || (strcmp(key, CLB_TAG_CLUSTER) == 0 && strcmp(value, cluster) == 0);
    }
    return owner && cluster_ok && strcmp(ccm_json_text(acl, "AclName"), name) == 0;
}

static int find_acl(struct clb_call *call, struct clb_acl *acl, struct ccm_error *err)
{
    const char *cluster = lbc_cluster_id(&call->clb->lbc);

    for (int64_t page = 1; page <= PAGES_MAX; page++) {
        CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
        const int r = clb_api_acls(call, acl->name, page, &answer, err);
        const cJSON *list = ccm_json_get(answer, "Acls");

        if (r < 0) {
            return r;
        }
        if (!cJSON_IsArray(ccm_json_get(list, "Acl"))) {
            return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                                 "DescribeAccessControlLists: the answer has no list");
        }
        for (const cJSON *one = ccm_json_items(list, "Acl"); one != NULL; one = one->next) {
            if (acl_is_ours(one, acl->name, cluster)) {
                return lbc_text_set(&acl->id, ccm_json_text(one, "AclId")) < 0
                           ? ccm_error_nomem(err)
                           : 0;
            }
        }
        if (page * CLB_ACL_PAGE >= ccm_json_i64(answer, "TotalCount", 0)) {
            break;
        }
    }
    return 0;
}

static int read_acl(struct clb_call *call, const struct ccm_service *service,
                    struct clb_state *state, struct ccm_error *err)
{
    CCM_CLEANUP(clb_acl_fini) struct clb_acl acl = { .known = true };
    char name[LBC_OWNER_LB_NAME];
    int r;

    lbc_owner_lb_name(&service->meta, name);
    r = lbc_text_set(&acl.name, name) < 0 ? ccm_error_nomem(err) : find_acl(call, &acl, err);
    if (r == 0 && acl.id != NULL) {
        r = read_entries(call, &acl, err);
    }
    if (r < 0) {
        return ccm_error_wrap(err, r, "access list of spec.loadBalancerSourceRanges");
    }
    clb_acl_fini(&state->acl);
    state->acl = acl;
    memset(&acl, 0, sizeof(acl));
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

/* Whether a list of ours may exist. Where the option is off what is there stays as it is, until the
 * Service goes. */
static bool acl_may_exist(const struct clb_call *call, const struct ccm_service *service,
                          const struct clb_state *want, bool marked, const struct clb_state *state)
{
    const bool on = (call->clb->lbc.extras & CLB_EXTRA_RANGES) != 0;

    if (want == NULL) {
        return marked || (on && service->source_range_count > 0);
    }
    return on && (marked || service->source_range_count > 0 || acl_is_bound(want, state));
}

int clb_read_details(struct clb_call *call, const struct ccm_service *service,
                     const struct clb_state *want, bool marked, struct clb_state *state,
                     struct ccm_error *err)
{
    char name[LBC_OWNER_LB_NAME];
    int r = 0;

    /* A shared load balancer has one mirror, but each of its Services its own list. */
    lbc_owner_lb_name(&service->meta, name);
    if (state->acl.name != NULL && strcmp(state->acl.name, name) != 0) {
        clb_acl_fini(&state->acl);
    }
    if (want != NULL && state->lb.id != NULL) {
        r = read_all_domains(call, want, state, err);
    }
    if (r == 0 && !state->acl.known && acl_may_exist(call, service, want, marked, state)) {
        r = read_acl(call, service, state, err);
    }
    return r;
}
