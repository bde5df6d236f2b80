/*
 * The load balancer itself as plain data, and one table of its attributes: how an annotation, the
 * cloud's parameters and its answers call each of them. Pure. One thread at a time per struct.
 */
#ifndef CCM_CLB_LB_FIELDS_H
#define CCM_CLB_LB_FIELDS_H

#include "lbc/model/tags.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NULL = not known, or not asked for. */
struct clb_lb {
    char *id;
    char *name;
    char *address;
    char *address_type;
    char *vswitch_id;
    char *vpc_id;
    char *network_type;
    char *master_zone;
    char *slave_zone;
    char *ip_version;
    char *resource_group;
    char *traffic_charge; /* internet: by traffic or by bandwidth */
    char *bandwidth;
    char *spec;
    char *charge_type; /* of the instance */
    char *modification;
    char *eips;           /* bound elastic addresses, "a,b"; NULL = not read, or none */
    struct lbc_tags tags; /* desired: the additional ones */
    bool protect;         /* deletion protection is on (or may be) */
    bool untagged;        /* found by its name: the ownership tag is missing */
    bool partial;         /* known from its creation only: what was not asked for is not known */
};

void clb_lb_fini(struct clb_lb *lb);
/* Deep copy of all texts and tags into an empty one. 0 or -ENOMEM (the caller finishes `to` in any
 * case). */
CCM_NODISCARD int clb_lb_copy(struct clb_lb *to, const struct clb_lb *from);

/* Stands for what an internet load balancer is paid by: of lb, by such a charge and bandwidth.
 * Never 0. */
uint64_t clb_lb_charge_what(const struct clb_lb *lb, const char *traffic_charge,
                            const char *bandwidth);

/* Rows of the table, and bits of struct clb_model.told. */
enum clb_lb_field_id {
    CLB_LB_NAME,
    CLB_LB_ADDRESS_TYPE,
    CLB_LB_VSWITCH,
    CLB_LB_NETWORK,
    CLB_LB_MASTER,
    CLB_LB_SLAVE,
    CLB_LB_IP_VERSION,
    CLB_LB_GROUP,
    CLB_LB_ADDRESS,
    CLB_LB_TRAFFIC_CHARGE,
    CLB_LB_BANDWIDTH,
    CLB_LB_SPEC,
    CLB_LB_CHARGE,
    CLB_LB_MODIFICATION,
    CLB_LB_PROTECT,
    CLB_LB_FIELD_COUNT,
};

struct clb_lb_field {
    const char *annotation;
    const char *name;      /* in the cloud's answers and parameters */
    const char *list_name; /* in answers that are lists; NULL = name */
    const char *immutable; /* how the refusal of a change calls it; NULL = it can be changed */
    size_t offset;         /* of the text inside struct clb_lb; SIZE_MAX = no text */
};

extern const struct clb_lb_field clb_lb_fields[CLB_LB_FIELD_COUNT];

/* The text of one row; the row must have one. */
const char *clb_lb_get(const struct clb_lb *lb, enum clb_lb_field_id id);
CCM_NODISCARD int clb_lb_set(struct clb_lb *lb, enum clb_lb_field_id id, const char *value);

#endif
