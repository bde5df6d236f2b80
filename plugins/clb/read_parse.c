/* JSON of the cloud -> plain data. */
#include "read.h"

#include "lbc/rules/lb_attrs.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdint.h>

/* --- load balancers --- */

int clb_read_parse_lb(const cJSON *json, struct lbc_lb *lb)
{
    struct clb_lb *ret = (struct clb_lb *)lb;

    ret->partial = false;
    ret->locked = ccm_text_equal(ccm_json_text(json, "LoadBalancerStatus"), "locked");
    if (lbc_lb_parse(&clb_annotations, json, lb->texts) < 0 ||
        lbc_text_set(&lb->id, ccm_json_text(json, "LoadBalancerId")) < 0 ||
        lbc_text_set(&lb->vpc_id, ccm_json_text(json, "VpcId")) < 0) {
        return -ENOMEM;
    }
    return alilb_parse_tags(json, &lb->tags);
}

/* --- listeners --- */

static int json_parse_listener_attrs(const cJSON *json, struct lbc_listener *ret)
{
    char part_name[32];
    struct lbc_attr_answer answer = {
        .table = &clb_annotations,
        .group = LBC_ANNO_LISTENER,
        .protocol = ret->protocol,
        .other = json,
        .other_bit = LBC_ATTR_TOP,
    };

    ccm_text_printf(part_name, sizeof(part_name), "%sListenerConfig",
                    lbc_protocol_name(ret->protocol));
    answer.json = ccm_json_get(json, part_name);
    return lbc_attrs_add_answer(&ret->attrs, &answer);
}

int clb_read_parse_listener(const cJSON *json, struct lbc_listener *ret)
{
    const char *status = ccm_json_text(json, "Status");

    (void)alilb_parse_port(json, "ListenerPort", &ret->port); /* 0: nobody asks for that one */
    ret->last_port = ret->port;
    ret->protocol = lbc_protocol_parse(ccm_json_text(json, "ListenerProtocol"), CLB_PROTOCOLS);
    ret->running = !ccm_text_equal(status, "stopped");
    ret->changing = ccm_text_equal(status, "configuring") || ccm_text_equal(status, "stopping");
    if (lbc_text_set(&ret->description, ccm_json_text(json, "Description")) < 0 ||
        lbc_text_set(&ret->group_id, ccm_json_text(json, "VServerGroupId")) < 0) {
        return -ENOMEM;
    }
    return json_parse_listener_attrs(json, ret);
}

/* --- groups --- */

int clb_read_parse_group(const cJSON *json, struct lbc_group *ret)
{
    ret->unread = true;
    return lbc_text_set(&ret->name, ccm_json_text(json, "VServerGroupName")) < 0 ||
                   lbc_text_set(&ret->id, ccm_json_text(json, "VServerGroupId")) < 0
               ? -ENOMEM
               : 0;
}
