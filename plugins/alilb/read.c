#include "alilb/read.h"

#include "alilb/apply.h"
#include "lbc/inventory.h"
#include "lbc/model/annotation.h"
#include "lbc/model/settings.h"
#include "lbc/pass.h"
#include "util/cidr.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

int alilb_refuse(int r, const char *what, struct ccm_error *err)
{
    if (r == -ENOMEM) {
        return ccm_error_nomem(err);
    }
    return ccm_error_set(err, r, CCM_ERROR_TRANSIENT, "the cloud's answer has a %s that is none",
                         what);
}

/* --- the load balancer of a Service --- */

struct own_search {
    struct lbc_lookup look;
    const struct alilb_source *source;
    struct lbc_lookup_how *how; /* NULL: none */
    struct lbc_lb *lb;
    bool untagged;
};

static int own_offer_lb(void *arg, const cJSON *item, struct ccm_error *err)
{
    struct own_search *search = arg;
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };
    const char *id = ccm_json_text(item, "LoadBalancerId");
    int r = id[0] == '\0' ? -EPROTO : alilb_parse_tags(item, &tags);

    if (r == 0 &&
        lbc_lookup_offer(&search->look, id, ccm_json_text(item, "LoadBalancerName"), &tags)) {
        search->untagged = lbc_tags_get(&tags, LBC_TAG_OWNER) == NULL;
        r = search->source->parse(item, search->lb);
    }
    return r < 0 ? alilb_refuse(r, "load balancer", err) : 0;
}

static int own_wrap_error(const struct own_search *search, int r, struct ccm_error *err)
{
    const struct lbc_lookup *look = &search->look;
    const bool named = look->by_name && search->source->full_texts;

    return ccm_error_wrap(err, r, "[%s] find loadbalancer by %s%s%s error", look->service->key,
                          look->by_name ? "name" : "tag", named ? " " : "",
                          named ? look->name : "");
}

/* name: NULL = by tag, "" = by the default name. */
static int own_find_lb(struct alilb_call *call, const struct ccm_service *service, const char *name,
                       struct own_search *search, struct ccm_error *err)
{
    struct lbc_lookup *look = &search->look;
    struct lbc_lookup_how *how = search->how;
    int r;

    lbc_lookup_init(look, &service->meta, call->cluster_id, name != NULL);
    look->any = how != NULL && how->any;
    r = search->source->find(call, name == NULL ? look->name : NULL,
                             ccm_text_empty(name) ? look->name : name, own_offer_lb, search, err);
    if (r < 0) {
        r = own_wrap_error(search, r, err);
    } else {
        r = how == NULL ? lbc_lookup_end(look, err) : lbc_lookup_settle(look, how, err);
    }
    if (r == 0 && lbc_lookup_leaves(look)) {
        lbc_lb_fini(search->lb, search->source->type);
        search->untagged = false;
    }
    lbc_lookup_fini(look);
    return r;
}

int alilb_read_own_lb(struct alilb_call *call, const struct alilb_source *source,
                      const struct ccm_service *service, struct lbc_lookup_how *how,
                      struct lbc_lb *lb, struct ccm_error *err)
{
    struct own_search search = { .source = source, .how = how, .lb = lb };
    const bool doubtful = how != NULL && how->by_name;
    const char *named = lbc_anno_get(&service->meta, "name");
    int r = own_find_lb(call, service, NULL, &search, err);
    struct alilb_call next = *call;

    next.waits = true; /* put off, the next pass would begin with the list by tag again */
    if (r == 0 && search.look.count == 0 && (doubtful || lbc_lookup_shows_lb(service))) {
        r = own_find_lb(&next, service, "", &search, err);
    }
    if (r == 0 && search.look.count == 0 && doubtful && !ccm_text_empty(named)) {
        r = own_find_lb(&next, service, named, &search, err);
    }
    lb->untagged = search.untagged;
    return r;
}

int alilb_read_lb(struct alilb_call *call, const struct alilb_source *source, const char *id,
                  struct lbc_lb *lb, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    const char *key = source->full_texts ? call->object : "";
    const char *before = source->full_texts ? "[" : "";
    const char *behind = source->full_texts ? "] " : "";
    int r = alilb_send(call, source->get, ALILB_TEXTS(id), &answer, err);

    if (r < 0) {
        return ccm_error_wrap(err, err->kind == CCM_ERROR_NOT_FOUND ? -ENOENT : r,
                              "%s%s%sfind loadbalancer by id error", before, key, behind);
    }
    const char *got = ccm_json_text(answer, "LoadBalancerId");

    if (got[0] != '\0' && !ccm_text_equal(got, id)) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TERMINAL,
                             "%s%s%sfind loadbalancer by id error: loadbalancer id from API not "
                             "match, expect [%s], actual [%s]",
                             before, key, behind, id, got);
    }
    r = got[0] == '\0' ? -EPROTO : source->parse(answer, lb);
    return r < 0 ? alilb_refuse(r, "load balancer", err) : 0;
}

int alilb_read_pass_lb(struct lbc_pass *pass, const char *id, struct lbc_state *state,
                       struct ccm_error *err)
{
    const struct alilb_source *source = alilb_source_of(pass->lbc);
    struct alilb_call call = alilb_call_for(pass, LBC_PRIO_SPEC);
    struct lbc_lb *lb = lbc_state_lb(state);
    struct lbc_lookup_how how = lbc_pass_begin_lookup(pass);
    const int r = id == NULL ? alilb_read_own_lb(&call, source, pass->service, &how, lb, err)
                             : alilb_read_lb(&call, source, id, lb, err);

    if (id == NULL) {
        lbc_pass_end_lookup(pass, &how, lb->id, r);
    }
    if (r < 0 && err->kind == CCM_ERROR_NOT_FOUND) {
        lbc_lb_fini(lb, source->type);
    }
    return r < 0 && !source->full_texts && id != NULL && pass->model->reused && !pass->releases
               ? ccm_error_wrap(err, r, "load balancer %s", id)
               : r;
}

/* --- one that has an address --- */

struct shown_search {
    const struct alilb_source *source;
    const struct ccm_service *service;
    bool found;
};

static int shown_offer_lb(void *arg, const cJSON *item, struct ccm_error *err)
{
    struct shown_search *search = arg;

    (void)err; /* nothing fails */
    for (uint64_t i = 0; !search->found && i < search->service->ingress_count; i++) {
        search->found = search->source->has_address(item, search->service->ingress[i]);
    }
    return search->found;
}

int alilb_read_shown(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct alilb_source *source = alilb_source_of(pass->lbc);
    struct alilb_call call = alilb_call_for(pass, LBC_PRIO_SPEC);
    struct shown_search search = { source, pass->service, false };
    const struct ccm_ingress *first = pass->service->ingress[0];

    call.waits = true; /* as above: it is behind lists by tag and by name */

    const int r =
        alilb_list(&call, source->tagged, ALILB_TEXTS(NULL), shown_offer_lb, &search, err);

    return r < 0 ? ccm_error_wrap(err, r,
                                  "no load balancer is created before it is known whether one of "
                                  "the account has the address in the status [%s]",
                                  ccm_text_empty(first->ip) ? first->hostname : first->ip)
                 : search.found;
}

/* --- those of all Services --- */

struct listing {
    const struct alilb_source *source;
    struct lbc_survey *items;
};

static int listing_add_lb(void *arg, const cJSON *item, struct ccm_error *err)
{
    const struct listing *listing = arg;
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };
    const char *id = ccm_json_text(item, "LoadBalancerId");
    struct lbc_state *state = NULL;
    int r = id[0] == '\0' ? -EPROTO : alilb_parse_tags(item, &tags);

    if (r == 0) {
        r = lbc_survey_add(listing->items, id, &tags, &state);
    }
    if (r == 0 && state != NULL) {
        r = listing->source->parse(item, lbc_state_lb(state));
    }
    return r < 0 ? alilb_refuse(r, "load balancer", err) : 0;
}

int alilb_list_lbs(struct lbc_instance *lbc, const struct ccm_request *req,
                   struct lbc_survey *items, struct ccm_error *err)
{
    struct alilb_call call = alilb_call_for_all(lbc, req);
    struct listing listing = { alilb_source_of(lbc), items };

    return alilb_list(&call, listing.source->tagged, ALILB_TEXTS(LBC_TAG_CLUSTER, call.cluster_id),
                      listing_add_lb, &listing, err);
}

/* --- listeners --- */

struct listeners {
    const struct alilb_source *source;
    struct lbc_state *state;
};

int alilb_add_listener(const struct alilb_source *source, const cJSON *json,
                       struct lbc_state *state, struct ccm_error *err)
{
    if (ccm_text_equal_case(ccm_json_text(json, "ListenerStatus"), "Deleting")) {
        state->listener_leaves = true; /* it counts as deleted, and is read again */
        return 0;
    }

    struct lbc_listener *listener = lbc_state_new_listener(state, source->type);
    const int r = listener == NULL ? -ENOMEM : source->parse_listener(json, listener);

    return r < 0 ? alilb_refuse(r, "listener", err) : 0;
}

static int listeners_add(void *arg, const cJSON *item, struct ccm_error *err)
{
    const struct listeners *listeners = arg;

    return alilb_add_listener(listeners->source, item, listeners->state, err);
}

int alilb_read_listeners(struct alilb_call *call, const struct alilb_source *source,
                         const struct alilb_args *args, struct lbc_state *state,
                         struct ccm_error *err)
{
    struct listeners listeners = { source, state };
    int r;

    lbc_state_forget_listeners(state);
    r = alilb_list(call, source->listeners, args, listeners_add, &listeners, err);
    if (r < 0) {
        lbc_state_forget_listeners(state);
    }
    state->listeners_known = r == 0;
    return r;
}

/* --- backends --- */

static enum lbc_backend_type backend_type(const cJSON *json)
{
    const char *type = ccm_json_str(json, "ServerType");

    type = type == NULL ? ccm_json_text(json, "Type") : type;
    if (type[0] == '\0' || ccm_text_equal_case(type, "ecs")) {
        return LBC_BACKEND_INSTANCE;
    }
    return ccm_text_equal_case(type, "ip") ? LBC_BACKEND_IP : LBC_BACKEND_INTERFACE;
}

int alilb_parse_backend(const cJSON *json, struct lbc_group *group)
{
    const char *id = ccm_json_text(json, "ServerId");
    const char *description = ccm_json_text(json, "Description");
    const int64_t weight = ccm_json_i64(json, "Weight", 0);
    const bool usual = ccm_text_equal(description, group->name);
    const char *status = ccm_json_text(json, "Status");
    struct lbc_backend backend = {
        .server_id = (char *)(uintptr_t)id, /* put copies it, as the other texts */
        .server_ip = (char *)(uintptr_t)ccm_json_text(json, "ServerIp"),
        .description = usual ? NULL : (char *)(uintptr_t)description,
        .weight = weight < 0 || weight > 100 ? 0 : (uint8_t)weight,
        .type = (uint8_t)backend_type(json),
        .leaving = ccm_text_equal_case(status, "Removing"),
    };

    if (id[0] == '\0' || !alilb_parse_port(json, "Port", &backend.port)) {
        return -EPROTO;
    }
    group->changing = group->changing || backend.leaving || ccm_text_equal_case(status, "Adding") ||
                      ccm_text_equal_case(status, "Configuring");
    return lbc_backends_put(&group->backends, &backend);
}

static int group_add_backend(void *arg, const cJSON *item, struct ccm_error *err)
{
    const int r = alilb_parse_backend(item, arg);

    return r < 0 ? alilb_refuse(r, "backend", err) : 0;
}

int alilb_read_backends(struct alilb_call *call, const struct alilb_action *action,
                        struct lbc_group *group, struct ccm_error *err)
{
    int r;

    lbc_backends_fini(&group->backends);
    group->changing = false;
    r = alilb_list(call, action, ALILB_TEXTS(group->id), group_add_backend, group, err);
    group->unread = r < 0;
    return r;
}

/* --- how full a vSwitch is --- */

#define RESERVED_ADDRESSES 4 /* the first and the last three */

const struct alilb_action alilb_api_vswitch = {
    .name = "DescribeVSwitches",
    .product = ALI_VPC,
    .texts = { "VSwitchId" },
};

static int parse_vswitch(const cJSON *json, struct lbc_vswitch_use *ret)
{
    struct ccm_cidr block = { .bits = 0 };
    const int64_t available = ccm_json_i64(json, "AvailableIpAddressCount", -1);

    if (ccm_cidr_parse(ccm_json_text(json, "CidrBlock"), &block) < 0 || !ccm_ip_is_v4(&block.ip) ||
        available < 0) {
        return -EPROTO;
    }
    const uint64_t size = UINT64_C(1) << (128 - block.bits);
    const uint64_t total = size > RESERVED_ADDRESSES ? size - RESERVED_ADDRESSES : 0;

    ret->total = total;
    ret->used = (uint64_t)available < total ? total - (uint64_t)available : 0;
    return 0;
}

int alilb_read_vswitch(struct lbc_pass *pass, const char *id, struct lbc_vswitch_use *ret,
                       struct ccm_error *err)
{
    struct alilb_call call = alilb_call_for(pass, LBC_PRIO_AUDIT);
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    const cJSON *one = NULL;
    int r = alilb_send(&call, &alilb_api_vswitch, ALILB_TEXTS(id), &answer, err);

    if (r < 0) {
        return r;
    }
    one = ccm_json_items(ccm_json_get(answer, "VSwitches"), "VSwitch");
    if (one == NULL) {
        return ccm_error_set(err, -ENOENT, CCM_ERROR_NOT_FOUND, "vSwitch [%s] not found", id);
    }
    r = parse_vswitch(one, ret);
    return r < 0 ? alilb_refuse(r, "vSwitch", err) : 0;
}

/* --- members --- */

int alilb_parse_tags(const cJSON *json, struct lbc_tags *ret)
{
    const cJSON *tags = ccm_json_get(json, "Tags");
    const cJSON *tag = cJSON_IsArray(tags) ? tags->child : ccm_json_items(tags, "Tag");
    int r = 0;

    lbc_tags_fini(ret);
    for (; r == 0 && tag != NULL; tag = tag->next) {
        const char *key = ccm_json_str(tag, "TagKey");
        const char *value = ccm_json_str(tag, "TagValue");

        key = key != NULL ? key : ccm_json_text(tag, "Key");
        value = value != NULL ? value : ccm_json_text(tag, "Value");
        r = lbc_tags_put(ret, key, value);
    }
    return r;
}

bool alilb_parse_port(const cJSON *json, const char *name, uint16_t *ret)
{
    const int64_t port = ccm_json_i64(json, name, 0);

    *ret = port < 0 || port > UINT16_MAX ? 0 : (uint16_t)port;
    return *ret == port;
}
