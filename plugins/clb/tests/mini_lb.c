#include "mini_parts.h"

#include "alicloud/params.h"
#include "lbc/model/lb_attrs.h"
#include "mini_cloud.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTES 16

static struct {
    struct {
        char action[64];
        struct lbc_tags params;
    } notes[NOTES];
    char eips[128];
    char full[64];
    bool all_full;
    bool show;
} mini;

void mini_lb_end(void)
{
    for (size_t i = 0; i < NOTES; i++) {
        lbc_tags_fini(&mini.notes[i].params);
    }
    memset(&mini, 0, sizeof(mini));
}

void mini_show_all(void)
{
    mini.show = true;
}

void mini_eips(const char *list)
{
    ccm_text_copy(mini.eips, sizeof(mini.eips), list);
}

void mini_full_vswitch(const char *id)
{
    mini.all_full = id != NULL && id[0] == '\0';
    ccm_text_copy(mini.full, sizeof(mini.full), id == NULL ? "" : id);
}

void mini_lb_note(const struct ali_call *call)
{
    for (size_t i = 0; i < NOTES; i++) {
        if (mini.notes[i].action[0] != '\0' && strcmp(mini.notes[i].action, call->action) != 0) {
            continue;
        }
        ccm_text_copy(mini.notes[i].action, sizeof(mini.notes[i].action), call->action);
        lbc_tags_fini(&mini.notes[i].params);
        for (size_t p = 0; p < call->params->len; p++) {
            mini_must(lbc_tags_put(&mini.notes[i].params, call->params->items[p].name,
                                   call->params->items[p].value));
        }
        return;
    }
}

const char *mini_last(const char *action, const char *name)
{
    for (size_t i = 0; i < NOTES; i++) {
        if (strcmp(mini.notes[i].action, action) == 0) {
            const char *value = lbc_tags_get(&mini.notes[i].params, name);

            return value == NULL ? "" : value;
        }
    }
    return "";
}

void mini_lb_dump(const struct mini_lb *lb, struct ccm_buf *text)
{
    if (!mini.show) {
        return;
    }
    for (unsigned i = 0; i < CLB_LB_FIELD_COUNT; i++) {
        const struct lbc_anno *row = lbc_lb_row(&clb_annotations, i);
        const char *value = lbc_lb_get(row, &lb->state.lb);

        if (value != NULL) {
            ccm_buf_addf(text, "%s %s\n", lbc_lb_name(row), value);
        }
    }
    for (size_t i = 0; i < lb->state.lb.tags.len; i++) {
        ccm_buf_addf(text, "tag %s=%s\n", lb->state.lb.tags.items[i].key,
                     lb->state.lb.tags.items[i].value);
    }
}

/* --- by hand --- */

static struct mini_lb *only(void)
{
    for (size_t i = 0; i < MINI_LBS; i++) {
        if (mini_lb_at(i)->used) {
            return mini_lb_at(i);
        }
    }
    abort();
}

void mini_add_lb(void)
{
    struct mini_lb *lb = mini_lb_at(0);

    lb->used = true;
    mini_must(lbc_text_set(&lb->state.lb.id, MINI_HAND));
    mini_set_attr("LoadBalancerName", "by-hand");
    mini_set_attr("Address", "47.9.9.9");
    mini_set_attr("AddressType", "internet");
    mini_set_attr("AddressIPVersion", "ipv4");
    mini_set_attr("NetworkType", "classic");
    mini_set_attr("InstanceChargeType", "PayByCLCU");
    mini_set_attr("InternetChargeType", "paybytraffic");
}

void mini_add_group(const char *id, const char *name)
{
    struct lbc_group *group = clb_state_new_group(&only()->state);

    mini_must(lbc_text_set(&group->id, id));
    mini_must(lbc_text_set(&group->name, name));
}

void mini_tag(const char *key, const char *value)
{
    if (value == NULL) {
        lbc_tags_remove(&only()->state.lb.tags, key);
    } else {
        mini_must(lbc_tags_put(&only()->state.lb.tags, key, value));
    }
}

static void set_attr(struct mini_lb *lb, const char *name, const char *value)
{
    for (unsigned i = 0; i < CLB_LB_FIELD_COUNT; i++) {
        const struct lbc_anno *row = lbc_lb_row(&clb_annotations, i);

        if (strcmp(lbc_lb_name(row), name) == 0) {
            mini_must(lbc_lb_set(row, &lb->state.lb, value));
        }
    }
    if (strcmp(name, "DeleteProtection") == 0) {
        lb->state.lb.protect = strcmp(value, "on") == 0;
    }
}

void mini_set_attr(const char *name, const char *value)
{
    set_attr(only(), name, value);
}

/* --- reads --- */

static void write_lb(struct ccm_jsonw *w, const struct mini_lb *lb, bool in_list)
{
    ccm_jsonw_str(w, "LoadBalancerId", lb->state.lb.id);
    for (unsigned i = 0; i < CLB_LB_FIELD_COUNT; i++) {
        const struct lbc_anno *row = lbc_lb_row(&clb_annotations, i);

        if (row->offset != 0) {
            ccm_jsonw_str(w, in_list && row->read_name != NULL ? row->read_name : lbc_lb_name(row),
                          lbc_lb_get(row, &lb->state.lb));
        }
    }
    ccm_jsonw_str(w, "DeleteProtection", lb->state.lb.protect ? "on" : "off");
    ccm_jsonw_open(w, "Tags", '{');
    ccm_jsonw_open(w, "Tag", '[');
    for (size_t i = 0; i < lb->state.lb.tags.len; i++) {
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "TagKey", lb->state.lb.tags.items[i].key);
        ccm_jsonw_str(w, "TagValue", lb->state.lb.tags.items[i].value);
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

static bool is_asked(const struct ali_call *call, const struct mini_lb *lb)
{
    const char *tags = mini_param(call, "Tags");
    const char *owner = lbc_tags_get(&lb->state.lb.tags, CLB_TAG_OWNER);

    if (mini_param(call, "Tag.1.Key")[0] != '\0') {
        const char *value = lbc_tags_get(&lb->state.lb.tags, mini_param(call, "Tag.1.Key"));

        return lb->used && ccm_text_equal(value, mini_param(call, "Tag.1.Value"));
    }
    return lb->used && (tags[0] != '\0' ? owner != NULL && strstr(tags, owner) != NULL
                                        : ccm_text_equal(lb->state.lb.name,
                                                         mini_param(call, "LoadBalancerName")));
}

static void describe_lbs(const struct ali_call *call, struct ccm_jsonw *w)
{
    ccm_jsonw_open(w, "LoadBalancers", '{');
    ccm_jsonw_open(w, "LoadBalancer", '[');
    for (size_t i = 0; i < MINI_LBS; i++) {
        if (is_asked(call, mini_lb_at(i))) {
            ccm_jsonw_open(w, NULL, '{');
            write_lb(w, mini_lb_at(i), true);
            ccm_jsonw_close(w, '}');
        }
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

static void describe_lb(const struct ali_call *call, struct ccm_jsonw *w)
{
    const struct mini_lb *lb = mini_find_lb(mini_param(call, "LoadBalancerId"));

    if (lb != NULL) {
        write_lb(w, lb, false);
    }
}

static void describe_vswitches(const struct ali_call *call, struct ccm_jsonw *w)
{
    const char *id = mini_param(call, "VSwitchId");

    ccm_jsonw_open(w, "VSwitches", '{');
    ccm_jsonw_open(w, "VSwitch", '[');
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "VSwitchId", id);
    ccm_jsonw_i64(w, "AvailableIpAddressCount",
                  mini.all_full || strcmp(id, mini.full) == 0 ? 0 : 10);
    ccm_jsonw_close(w, '}');
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

static void describe_eips(const struct ali_call *call, struct ccm_jsonw *w)
{
    const char *cursor = mini.eips;
    const char *ip = NULL;
    size_t len = 0;

    (void)call; /* there is one list for all */
    ccm_jsonw_open(w, "EipAddresses", '{');
    ccm_jsonw_open(w, "EipAddress", '[');
    while (mini.eips[0] != '\0' && ccm_parse_piece(&cursor, ',', &ip, &len)) {
        char text[64];

        (void)snprintf(text, sizeof(text), "%.*s", (int)len, ip); /* fits */
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "IpAddress", text);
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

/* --- writes --- */

static void put_tags(const struct ali_call *call, struct mini_lb *lb)
{
    for (size_t n = 1; n <= 20; n++) {
        char key[32];
        char value[32];

        (void)snprintf(key, sizeof(key), "Tag.%zu.Key", n);       /* fits */
        (void)snprintf(value, sizeof(value), "Tag.%zu.Value", n); /* fits */
        if (mini_param(call, key)[0] != '\0') {
            mini_must(
                lbc_tags_put(&lb->state.lb.tags, mini_param(call, key), mini_param(call, value)));
        }
    }
}

static struct mini_lb *new_lb(const struct ali_call *call)
{
    CCM_CLEANUP(ccm_freep) char *id = ccm_text_format("lb-%zu", mini_next_id());
    struct mini_lb *lb = NULL;

    for (size_t i = MINI_LBS; i > 0; i--) {
        struct mini_lb *one = mini_lb_at(i - 1);

        if (one->used && ccm_text_equal(one->token, mini_param(call, "ClientToken"))) {
            return one;
        }
        lb = one->used ? lb : one;
    }
    lb->used = true;
    mini_must(lbc_text_set(&lb->state.lb.id, id));
    mini_must(lbc_text_set(&lb->token, mini_param(call, "ClientToken")));
    for (size_t i = 0; i < call->params->len; i++) {
        set_attr(lb, call->params->items[i].name, call->params->items[i].value);
    }
    if (lb->state.lb.address == NULL) {
        set_attr(lb, "Address", "47.0.0.1");
    }
    if (lb->state.lb.ip_version == NULL) {
        set_attr(lb, "AddressIPVersion", "ipv4");
    }
    set_attr(lb, "NetworkType", lb->state.lb.vswitch_id == NULL ? "classic" : "vpc");
    put_tags(call, lb);
    return lb;
}

static void create_lb(const struct ali_call *call, struct ccm_jsonw *w)
{
    const char *vswitch = mini_param(call, "VSwitchId");

    if (vswitch[0] != '\0' && (mini.all_full || strcmp(vswitch, mini.full) == 0)) {
        mini_refuse("VSwitchAvailableIpNotExist", 400);
        return;
    }
    const struct mini_lb *lb = new_lb(call);

    ccm_jsonw_str(w, "LoadBalancerId", lb->state.lb.id);
    ccm_jsonw_str(w, "Address", lb->state.lb.address);
}

static void change_lb(const struct ali_call *call, struct ccm_jsonw *w)
{
    struct mini_lb *lb = mini_find_lb(mini_param(call, "LoadBalancerId"));

    (void)w; /* the answer is empty */
    for (size_t i = 0; lb != NULL && i < call->params->len; i++) {
        set_attr(lb, call->params->items[i].name, call->params->items[i].value);
    }
}

static void tag_lb(const struct ali_call *call, struct ccm_jsonw *w)
{
    struct mini_lb *lb = mini_find_lb(mini_param(call, "ResourceId.1"));

    (void)w; /* the answer is empty */
    if (lb != NULL) {
        put_tags(call, lb);
    }
}

static void untag_lb(const struct ali_call *call, struct ccm_jsonw *w)
{
    struct mini_lb *lb = mini_find_lb(mini_param(call, "ResourceId.1"));

    (void)w; /* the answer is empty */
    if (mini_param(call, "TagKey.1")[0] == '\0') {
        mini_refuse("MissingParameter.TagKey", 400);
        return;
    }
    for (size_t n = 1; lb != NULL && n <= 20; n++) {
        char key[32];

        (void)snprintf(key, sizeof(key), "TagKey.%zu", n); /* fits */
        lbc_tags_remove(&lb->state.lb.tags, mini_param(call, key));
    }
}

static void delete_lb(const struct ali_call *call, struct ccm_jsonw *w)
{
    struct mini_lb *lb = mini_find_lb(mini_param(call, "LoadBalancerId"));

    (void)w; /* the answer is empty */
    if (lb != NULL && lb->state.lb.protect) {
        mini_refuse("OperationDenied.DeleteProtectionIsOn", 400);
    } else if (lb != NULL) {
        mini_lb_fini(lb);
    }
}

static const struct {
    const char *name;
    void (*run)(const struct ali_call *call, struct ccm_jsonw *w);
} actions[] = {
    { "DescribeLoadBalancers", describe_lbs },
    { "DescribeLoadBalancerAttribute", describe_lb },
    { "DescribeVSwitches", describe_vswitches },
    { "DescribeEipAddresses", describe_eips },
    { "CreateLoadBalancer", create_lb },
    { "SetLoadBalancerDeleteProtection", change_lb },
    { "SetLoadBalancerModificationProtection", change_lb },
    { "SetLoadBalancerName", change_lb },
    { "ModifyLoadBalancerInstanceChargeType", change_lb },
    { "ModifyLoadBalancerInstanceSpec", change_lb },
    { "ModifyLoadBalancerInternetSpec", change_lb },
    { "TagResources", tag_lb },
    { "UntagResources", untag_lb },
    { "DeleteLoadBalancer", delete_lb },
};

void mini_lb_run(const struct ali_call *call, struct ccm_jsonw *w)
{
    for (size_t i = 0; i < CCM_ARRAY_LEN(actions); i++) {
        if (strcmp(actions[i].name, call->action) == 0) {
            actions[i].run(call, w);
        }
    }
}
