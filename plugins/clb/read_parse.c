/* JSON of the cloud -> plain data. */
#include "read.h"

#include "util/buf.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdint.h>

/* --- load balancers --- */

static int json_parse_lb_field(const cJSON *json, enum clb_lb_field_id id, bool in_list,
                               struct clb_lb *ret)
{
    const struct clb_lb_field *field = &clb_lb_fields[id];
    const char *value = "";
    char space[LBC_ATTR_NUMBER];

    if (field->offset == SIZE_MAX) {
        return 0;
    }
    if (in_list && field->list_name != NULL) {
        value = ccm_json_text(json, field->list_name);
    }
    if (value[0] == '\0') {
        value = lbc_attr_read(json, field->name, space);
    }
    return clb_lb_set(ret, id, value);
}

int clb_read_parse_lb(const cJSON *json, bool in_list, struct clb_lb *ret)
{
    /* Not told counts as on: switching it off once too often is harmless. */
    ret->protect = !ccm_text_equal(ccm_json_text(json, "DeleteProtection"), "off");
    ret->partial = false;
    for (size_t i = 0; i < CLB_LB_FIELD_COUNT; i++) {
        if (json_parse_lb_field(json, (enum clb_lb_field_id)i, in_list, ret) < 0) {
            return -ENOMEM;
        }
    }
    if (lbc_text_set(&ret->id, ccm_json_text(json, "LoadBalancerId")) < 0 ||
        lbc_text_set(&ret->vpc_id, ccm_json_text(json, "VpcId")) < 0) {
        return -ENOMEM;
    }
    return alilb_parse_tags(json, &ret->tags);
}

/* --- listeners --- */

static int json_parse_listener_attrs(const cJSON *json, struct clb_listener *ret)
{
    char part_name[32];
    const struct lbc_anno *row = NULL;
    const cJSON *part;
    int r = 0;

    ccm_text_printf(part_name, sizeof(part_name), "%sListenerConfig",
                    lbc_protocol_name(ret->lbc.protocol));
    part = ccm_json_get(json, part_name);
    while (r == 0 && (row = lbc_attr_next(&clb_annotations, LBC_ANNO_LISTENER, row)) != NULL) {
        if (lbc_attr_applies(row, ret->lbc.protocol)) {
            r = lbc_attrs_add_answer(&ret->lbc.attrs, row,
                                     (row->cloud & LBC_ATTR_TOP) != 0 ? json : part);
        }
    }
    return r;
}

int clb_read_parse_listener(const cJSON *json, struct clb_listener *ret)
{
    (void)alilb_parse_port(json, "ListenerPort", &ret->lbc.port); /* 0: nobody asks for that one */
    ret->lbc.last_port = ret->lbc.port;
    ret->lbc.protocol = lbc_protocol_parse(ccm_json_text(json, "ListenerProtocol"), CLB_PROTOCOLS);
    ret->lbc.running = !ccm_text_equal(ccm_json_text(json, "Status"), "stopped");
    if (lbc_text_set(&ret->lbc.description, ccm_json_text(json, "Description")) < 0 ||
        lbc_text_set(&ret->lbc.group_id, ccm_json_text(json, "VServerGroupId")) < 0) {
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
