#include "compare.h"

#include "util/text.h"

/* The default of a group depends on what it is as well. */
static const char *group_fallback(const void *arg, const struct lbc_anno *row, const char *value)
{
    const struct nlb_group *group = arg;

    if (row == nlb_group_field("PreserveClientIpEnabled") &&
        (group->lbc.protocol == LBC_TCPSSL ||
         (group->type != NULL && ccm_text_equal_case(group->type, "Ip")))) {
        return "false";
    }
    /* Groups for all ports have to have one. */
    return group->any_port && row == nlb_group_field("HealthCheckConnectPort") ? NULL : value;
}

struct lbc_compare nlb_compare_groups(const struct nlb_group *want, const struct nlb_group *have)
{
    return (struct lbc_compare){ .table = &nlb_annotations,
                                 .group = LBC_ANNO_SERVERS,
                                 .protocol = want->lbc.protocol,
                                 .want = &want->lbc.attrs,
                                 .have = &have->lbc.attrs,
                                 .fallback = group_fallback,
                                 .arg = have };
}
