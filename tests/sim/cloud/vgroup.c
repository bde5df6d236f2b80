#include "vgroup.h"

#include "families.h"
#include "lb.h"
#include "store.h"
#include "tag.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <errno.h>

static int check_quota(struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb)
{
    if (lb->vgroups_len >= call->cloud->limits.vserver_groups) {
        return ccm_cloud_fail(call, 400, "QuotaLimitExceeds.VServerGroup",
                              "The number of VServer groups of the load balancer is exceeded.");
    }
    return 0;
}

static int group_make(struct ccm_cloud_call *call, struct ccm_cloud_lb *lb,
                      struct ccm_cloud_vgroup **ret)
{
    struct ccm_cloud_vgroup *group = NULL;
    char id[48];
    char created[32];

    ccm_cloud_new_id(call->cloud, "rsp", id, sizeof(id));
    ccm_cloud_format_time(ccm_clock_wall_ms(), false, created, sizeof(created));

    const struct ccm_cloud_pair pairs[] = {
        { "VServerGroupName", ccm_cloud_text(call, "VServerGroupName", id) },
        { "CreateTime", created },
    };
    int r = ccm_cloud_vgroup_new(call->cloud, lb, id, &group);

    if (r < 0) {
        return r;
    }
    r = ccm_cloud_attrs_set(&group->obj, pairs, CCM_ARRAY_LEN(pairs));
    if (r < 0) {
        ccm_cloud_vgroup_del(call->cloud, group);
        return r;
    }
    *ret = group;
    return 0;
}

static int create(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params tags = { 0 };
    CCM_CLEANUP(ccm_cloud_backend_list_fini) struct ccm_cloud_backend_list list = { 0 };
    struct ccm_cloud_lb *lb = NULL;
    struct ccm_cloud_vgroup *group = NULL;
    int r = ccm_cloud_lb_of(call, &lb);

    r = r < 0 ? r : check_quota(call, lb);
    r = r < 0 ? r : ccm_cloud_tags_read(call, &tags);
    r = r < 0 ? r : ccm_cloud_backends_read(call, "BackendServers", &list);
    r = r < 0 ? r : group_make(call, lb, &group);
    if (r < 0) {
        return r;
    }
    r = ccm_cloud_tags_put(call, &group->obj, &tags);
    r = r < 0 ? r : ccm_cloud_backends_add(call, group, &list);
    if (r < 0) {
        ccm_cloud_vgroup_del(call->cloud, group);
        return r;
    }
    ccm_jsonw_str(call->out, "VServerGroupId", group->obj.id);
    ccm_cloud_backends_write(call->out, group, CCM_CLOUD_BACKEND_DESCRIPTION);
    return 0;
}

static int del(struct ccm_cloud_call *call)
{
    struct ccm_cloud_vgroup *group = NULL;
    int r = ccm_cloud_vgroup_of(call, &group);

    if (r < 0) {
        return r;
    }
    for (size_t i = 0; i < group->lb->listeners_len; i++) {
        if (ccm_cloud_vgroup_used_by(group, group->lb->listeners[i])) {
            return ccm_cloud_fail(call, 400, "RspoolVipExist",
                                  "there are vips associating with this vServer group.");
        }
    }
    ccm_cloud_vgroup_del(call->cloud, group);
    return 0;
}

/* The listeners of the group; rules come with HTTP listeners, which do not exist here. */
static void users_write(struct ccm_cloud_call *call, const struct ccm_cloud_vgroup *group)
{
    const struct ccm_cloud_lb *lb = group->lb;
    bool listeners = ccm_text_equal(ccm_cloud_text(call, "IncludeListener", ""), "true");

    ccm_jsonw_open(call->out, "AssociatedObjects", '{');
    ccm_jsonw_open(call->out, "Listeners", '{');
    ccm_jsonw_open(call->out, "Listener", '[');
    for (size_t i = 0; listeners && i < lb->listeners_len; i++) {
        if (ccm_cloud_vgroup_used_by(group, lb->listeners[i])) {
            ccm_jsonw_open(call->out, NULL, '{');
            ccm_jsonw_i64(call->out, "Port", lb->listeners[i]->port);
            ccm_jsonw_str(call->out, "Protocol", lb->listeners[i]->protocol);
            ccm_jsonw_close(call->out, '}');
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    ccm_jsonw_open(call->out, "Rules", '{');
    ccm_jsonw_open(call->out, "Rule", '[');
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    ccm_jsonw_close(call->out, '}');
}

static void group_write(struct ccm_jsonw *w, const struct ccm_cloud_vgroup *group)
{
    static const struct ccm_cloud_field fields[] = {
        { "CreateTime", 's', NULL, "" },
        { "VServerGroupName", 's', NULL, "" },
        { 0 },
    };

    ccm_jsonw_str(w, "VServerGroupId", group->obj.id);
    ccm_cloud_write_fields(w, &group->obj, fields);
    ccm_cloud_tags_write(w, "Tags", &group->obj, false);
}

static int describe_all(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params tags = { 0 };
    const char *name = ccm_cloud_text(call, "Description", NULL);
    struct ccm_cloud_lb *lb = NULL;
    int r = ccm_cloud_lb_of(call, &lb);

    r = r < 0 ? r : ccm_cloud_tags_read(call, &tags);
    if (r < 0) {
        return r;
    }
    ccm_jsonw_open(call->out, "VServerGroups", '{');
    ccm_jsonw_open(call->out, "VServerGroup", '[');
    for (size_t i = 0; i < lb->vgroups_len; i++) {
        const struct ccm_cloud_vgroup *group = lb->vgroups[i];

        if (ccm_cloud_tags_fit(&group->obj, &tags) &&
            (name == NULL ||
             ccm_text_equal(name, ccm_cloud_attr(&group->obj, "VServerGroupName")))) {
            ccm_jsonw_open(call->out, NULL, '{');
            group_write(call->out, group);
            users_write(call, group);
            ccm_jsonw_close(call->out, '}');
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    return 0;
}

static int describe_one(struct ccm_cloud_call *call)
{
    struct ccm_cloud_vgroup *group = NULL;
    int r = ccm_cloud_vgroup_of(call, &group);

    if (r < 0) {
        return r;
    }
    ccm_jsonw_str(call->out, "LoadBalancerId", group->lb->obj.id);
    group_write(call->out, group);
    ccm_cloud_backends_write(call->out, group,
                             CCM_CLOUD_BACKEND_IP | CCM_CLOUD_BACKEND_DESCRIPTION);
    return 0;
}

static const struct ccm_cloud_param create_params[] = {
    { .name = "BackendServers" },
    { .name = "LoadBalancerId", .required = true },
    CCM_CLOUD_TAG_ROWS,
    { .name = "VServerGroupName", .min = 1, .max = 256 },
    { 0 },
};

static const struct ccm_cloud_param list_params[] = {
    { .name = "Description" },
    { .name = "IncludeListener", .type = CCM_CLOUD_BOOL },
    { .name = "IncludeRule", .type = CCM_CLOUD_BOOL },
    { .name = "LoadBalancerId", .required = true },
    CCM_CLOUD_TAG_ROWS,
    { 0 },
};

static const struct ccm_cloud_param id_params[] = {
    { .name = "VServerGroupId", .required = true },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_vgroup_actions[] = {
    { .name = "CreateVServerGroup",
      .params = create_params,
      .region = true,
      .run = create,
      .change = CCM_CLOUD_CHANGE_GROUP },
    { .name = "DeleteVServerGroup",
      .params = id_params,
      .region = true,
      .run = del,
      .change = CCM_CLOUD_CHANGE_GROUP },
    { .name = "DescribeVServerGroups", .params = list_params, .region = true, .run = describe_all },
    { .name = "DescribeVServerGroupAttribute",
      .params = id_params,
      .region = true,
      .run = describe_one },
    { 0 },
};
