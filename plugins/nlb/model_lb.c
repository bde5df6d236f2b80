/* What a Service wants of the load balancer itself. */
#include "annotations.h"
#include "lbc/model/settings.h"
#include "lbc/rules/lb_attrs.h"
#include "model_parts.h"
#include "owner_key.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

#define ACCEPT_PRIORITY 1
#define DROP_PRIORITY   100

/* --- attributes --- */

static int lb_read_lists(struct nlb_model *model, const struct ccm_service *service)
{
    const struct ccm_object *meta = &service->meta;
    struct nlb_lb *lb = &model->want.lb;
    struct ccm_error refused = CCM_ERROR_INIT;
    const int r = nlb_zones_of(service, lb, &refused);

    model->zones_explicit = lbc_anno_get(meta, "zone-maps")[0] != '\0';
    model->groups_explicit = lbc_anno_is_set(meta, "security-group-ids");
    if (r == -EINVAL) {
        nlb_lb_clear_zones(lb); /* a deletion: no value stands in its way */
        model->zones_explicit = false;
    }
    return r == -ENOMEM
               ? r
               : lbc_texts_split(&lb->security_groups, lbc_anno_get(meta, "security-group-ids"));
}

int nlb_model_lb(struct lbc_model *base, const struct lbc_model_input *in)
{
    struct nlb_model *model = (struct nlb_model *)base;
    struct nlb_lb *lb = &model->want.lb;

    if (lbc_model_init(base, &nlb_annotations, &model->want.lbc, in) < 0 ||
        (lb->lbc.texts[NLB_LB_GROUP] == NULL &&
         nlb_lb_set(lb, NLB_LB_GROUP, in->resource_group) < 0)) {
        return -ENOMEM;
    }
    base->keep_weights = lbc_anno_is_on(lbc_anno_get(&in->service->meta, "ignore-weight-update"));
    base->ipv6 = nlb_model_families(in->service) != LBC_IPV4;
    return lb_read_lists(model, in->service);
}

enum lbc_families nlb_model_families(const struct ccm_service *service)
{
    const char *value = lbc_anno_get(&service->meta, "backend-ip-version");

    if (!nlb_is_dual_stack(service)) {
        return LBC_IPV4;
    }
    if (ccm_text_equal_case(value, "ipv6")) {
        return LBC_IPV6;
    }
    return ccm_text_equal_case(value, "dualstack") ? LBC_DUAL_STACK : LBC_IPV4;
}

/* --- the security group for source ranges --- */

static bool has_rule(const struct nlb_security_group *security_group, const char *cidr)
{
    for (size_t i = 0; i < security_group->rule_count; i++) {
        if (strcmp(security_group->rules[i].cidr, cidr) == 0) {
            return true;
        }
    }
    return false;
}

static int security_group_add_rule(struct nlb_security_group *security_group, const char *cidr,
                                   bool ipv6, bool drop)
{
    struct nlb_rule *rule = nlb_security_group_new_rule(security_group);

    if (rule == NULL) {
        return -ENOMEM;
    }
    rule->ipv6 = ipv6;
    rule->drop = drop;
    rule->priority = drop ? DROP_PRIORITY : ACCEPT_PRIORITY;
    return lbc_text_set(&rule->cidr, cidr) < 0 || lbc_text_set(&rule->protocol, "All") < 0 ||
                   lbc_text_set(&rule->port_range, "-1/-1") < 0 ||
                   lbc_text_set(&rule->description, security_group->description) < 0
               ? -ENOMEM
               : 0;
}

static int security_group_add_block(void *arg, const char *block, bool ipv6)
{
    struct nlb_security_group *security_group = arg;

    return has_rule(security_group, block)
               ? 0
               : security_group_add_rule(security_group, block, ipv6, false);
}

/* IPv6 is closed only where it can come in: an IPv4 load balancer keeps the rules that it has. */
static int add_drops(struct nlb_security_group *security_group, bool ipv6)
{
    for (size_t i = 0; i < security_group->rule_count; i++) {
        ipv6 = ipv6 || security_group->rules[i].ipv6;
    }

    const int r = security_group_add_rule(security_group, "0.0.0.0/0", false, true);

    return r < 0 || !ipv6 ? r : security_group_add_rule(security_group, "::/0", true, true);
}

int nlb_model_security_group(struct nlb_security_group *security_group,
                             const struct ccm_service *service, const char *cluster_id,
                             struct ccm_error *err)
{
    int r;

    security_group->wanted = true;
    security_group->name = nlb_security_group_name(&service->meta);
    security_group->description = nlb_security_group_description(&service->meta, cluster_id);
    if (security_group->name == NULL || security_group->description == NULL) {
        return ccm_error_nomem(err);
    }
    r = lbc_setting_ranges(service, LBC_DUAL_STACK, security_group_add_block, security_group, err);
    if (r < 0) {
        return r;
    }
    return add_drops(security_group, nlb_is_dual_stack(service)) < 0 ? ccm_error_nomem(err) : 0;
}
