#include "families.h"
#include "lb.h"
#include "store.h"
#include "util/cleanup.h"
#include "util/text.h"
#include "vgroup.h"

#include <errno.h>
#include <string.h>

/* ---- rules ---- */

static int check_network(struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb,
                         const char *vpc)
{
    const char *home = ccm_cloud_attr(&lb->obj, "VpcId");

    if (!ccm_text_empty(home) && !ccm_text_equal(home, vpc)) {
        return ccm_cloud_fail(call, 400, "NetworkConflict",
                              "The specified backend server is in another network.");
    }
    return 0;
}

static int check_instance(struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb,
                          const struct ccm_cloud_backend *backend)
{
    const struct ccm_cloud_instance *instance =
        ccm_strmap_get(call->cloud->instances, backend->server_id);

    if (instance == NULL) {
        return ccm_cloud_fail(call, 400, "InvalidServerId.NotExist",
                              "The specified ServerId is not exist.");
    }
    if (!ccm_text_equal(ccm_cloud_attr(&instance->obj, "Status"), "Running")) {
        return ccm_cloud_fail(call, 400, "ObtainIpFail",
                              "The specified BackendServers is invalid; some of the specified "
                              "backend servers do not exist or are not running.");
    }
    return check_network(call, lb, ccm_cloud_attr(&instance->obj, "VpcId"));
}

static int check_eni(struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb,
                     const struct ccm_cloud_backend *backend)
{
    if (ccm_cloud_lb_is_shared(lb)) {
        return ccm_cloud_fail(call, 400, "SPEC_NOT_SUPPORT_PARAMETER",
                              "The loadbalancer does not support backend servers of %s type.",
                              backend->type);
    }

    const struct ccm_cloud_eni *eni = ccm_strmap_get(call->cloud->enis, backend->server_id);

    if (eni == NULL || (!ccm_text_empty(backend->server_ip) &&
                        ccm_sim_params_get(&eni->ips, backend->server_ip) == NULL &&
                        ccm_sim_params_get(&eni->ipv6, backend->server_ip) == NULL)) {
        return ccm_cloud_fail(call, 404, "ResourceNotFound.vServers",
                              "The specified enis %s does not exist.", backend->server_id);
    }
    return check_network(call, lb, ccm_cloud_attr(&eni->obj, "VpcId"));
}

/* leaving: backends that go before these come. */
static int check_backends(struct ccm_cloud_call *call, const struct ccm_cloud_vgroup *group,
                          const struct ccm_cloud_backend_list *list, size_t leaving)
{
    size_t fresh = 0;

    for (size_t i = 0; i < list->len; i++) {
        const struct ccm_cloud_backend *backend = &list->items[i];
        int r = ccm_text_equal(backend->type, "ecs") ? check_instance(call, group->lb, backend)
                                                     : check_eni(call, group->lb, backend);

        if (r < 0) {
            return r;
        }
        fresh += ccm_cloud_backend_get(group, backend) == NULL;
    }
    if (ccm_cloud_lb_backends(group->lb) - leaving + fresh > call->cloud->limits.backends) {
        return ccm_cloud_fail(call, 400, "InstanceBackendServerNumberOverLimit",
                              "The backend server number has reached to the quota limit of this "
                              "load balancers.");
    }
    return 0;
}

static int replace_text(char **text, const char *value)
{
    char *copy = strdup(value);

    if (copy == NULL) {
        return -ENOMEM;
    }
    free(*text);
    *text = copy;
    return 0;
}

int ccm_cloud_backends_add(struct ccm_cloud_call *call, struct ccm_cloud_vgroup *group,
                           const struct ccm_cloud_backend_list *list)
{
    int r = check_backends(call, group, list, 0);

    for (size_t i = 0; i < list->len && r == 0; i++) {
        struct ccm_cloud_backend *old = ccm_cloud_backend_get(group, &list->items[i]);

        if (old == NULL) {
            r = ccm_cloud_backend_add(group, &list->items[i]);
        } else if (call->cloud->limits.slb_add_updates != 0) {
            old->weight = list->items[i].weight;
            r = replace_text(&old->description, list->items[i].description);
        }
    }
    return r;
}

static void backends_drop(struct ccm_cloud_vgroup *group, const struct ccm_cloud_backend_list *list)
{
    for (size_t i = 0; i < list->len; i++) {
        struct ccm_cloud_backend *old = ccm_cloud_backend_get(group, &list->items[i]);

        if (old != NULL) {
            ccm_cloud_backend_del(group, old);
        }
    }
}

void ccm_cloud_backends_write(struct ccm_jsonw *w, const struct ccm_cloud_vgroup *group,
                              unsigned members)
{
    ccm_jsonw_open(w, "BackendServers", '{');
    ccm_jsonw_open(w, "BackendServer", '[');
    for (size_t i = 0; i < group->len; i++) {
        const struct ccm_cloud_backend *backend = &group->backends[i];

        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "ServerId", backend->server_id);
        if ((members & CCM_CLOUD_BACKEND_IP) != 0) {
            ccm_jsonw_str(w, "ServerIp", backend->server_ip);
        }
        ccm_jsonw_i64(w, "Port", backend->port);
        ccm_jsonw_i64(w, "Weight", backend->weight);
        ccm_jsonw_str(w, "Type", backend->type);
        if ((members & CCM_CLOUD_BACKEND_DESCRIPTION) != 0) {
            ccm_jsonw_str(w, "Description", backend->description);
        }
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

/* ---- actions ---- */

static void answer(struct ccm_cloud_call *call, const struct ccm_cloud_vgroup *group,
                   unsigned members)
{
    ccm_jsonw_str(call->out, "VServerGroupId", group->obj.id);
    ccm_cloud_backends_write(call->out, group, members);
}

static int add(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_cloud_backend_list_fini) struct ccm_cloud_backend_list list = { 0 };
    struct ccm_cloud_vgroup *group = NULL;
    int r = ccm_cloud_vgroup_of(call, &group);

    r = r < 0 ? r : ccm_cloud_backends_read(call, "BackendServers", &list);
    r = r < 0 ? r : ccm_cloud_backends_add(call, group, &list);
    if (r == 0) {
        answer(call, group, CCM_CLOUD_BACKEND_DESCRIPTION);
    }
    return r;
}

static int remove_backends(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_cloud_backend_list_fini) struct ccm_cloud_backend_list list = { 0 };
    struct ccm_cloud_vgroup *group = NULL;
    int r = ccm_cloud_vgroup_of(call, &group);

    r = r < 0 ? r : ccm_cloud_backends_read(call, "BackendServers", &list);
    if (r == 0) {
        backends_drop(group, &list);
        answer(call, group, 0);
    }
    return r;
}

/* Weights; whether the service changes descriptions too is not documented. */
static int set_weights(struct ccm_cloud_call *call, const struct ccm_cloud_vgroup *group,
                       const struct ccm_cloud_backend_list *list)
{
    for (size_t i = 0; i < list->len; i++) {
        if (ccm_cloud_backend_get(group, &list->items[i]) == NULL) {
            return ccm_cloud_fail(call, 400, "InvalidServerId.NotFound",
                                  "The specified server is not found.");
        }
    }
    for (size_t i = 0; i < list->len; i++) {
        struct ccm_cloud_backend *backend = ccm_cloud_backend_get(group, &list->items[i]);
        int r = call->cloud->limits.slb_set_description == 0
                    ? 0
                    : replace_text(&backend->description, list->items[i].description);

        if (r < 0) {
            return r;
        }
        backend->weight = list->items[i].weight;
    }
    return 0;
}

static int set(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_cloud_backend_list_fini) struct ccm_cloud_backend_list list = { 0 };
    const struct ccm_cloud_pair name = { "VServerGroupName",
                                         ccm_cloud_text(call, "VServerGroupName", NULL) };
    struct ccm_cloud_vgroup *group = NULL;
    int r = ccm_cloud_vgroup_of(call, &group);

    if (r == 0 && name.value == NULL && !ccm_cloud_has(call, "BackendServers")) {
        r = ccm_cloud_fail(call, 400, "MissingParameter",
                           "The VServerGroupName or BackendServers is required at lease one.");
    }
    r = r < 0 ? r : ccm_cloud_backends_read(call, "BackendServers", &list);
    r = r < 0 ? r : set_weights(call, group, &list);
    r = r < 0 ? r : ccm_cloud_attrs_set(&group->obj, &name, 1);
    if (r == 0) {
        answer(call, group, CCM_CLOUD_BACKEND_DESCRIPTION);
        ccm_jsonw_str(call->out, "VServerGroupName",
                      ccm_cloud_attr(&group->obj, "VServerGroupName"));
    }
    return r;
}

static int check_doubles(struct ccm_cloud_call *call, const struct ccm_cloud_backend_list *list)
{
    for (size_t i = 0; i < list->len; i++) {
        for (size_t k = i + 1; k < list->len; k++) {
            if (list->items[i].port == list->items[k].port &&
                ccm_text_equal(list->items[i].server_id, list->items[k].server_id) &&
                ccm_text_equal(list->items[i].server_ip, list->items[k].server_ip)) {
                return ccm_cloud_fail(call, 400, "InvalidParameter",
                                      "The specified BackendServers contain duplicated value of "
                                      "ServerID and Port.");
            }
        }
    }
    return 0;
}

static size_t present(const struct ccm_cloud_vgroup *group,
                      const struct ccm_cloud_backend_list *list)
{
    size_t n = 0;

    for (size_t i = 0; i < list->len; i++) {
        n += ccm_cloud_backend_get(group, &list->items[i]) != NULL;
    }
    return n;
}

/* The old ones go and the new ones come. That nothing happens when the new ones are refused is not
 * promised, so it happens with limits.slb_modify_atomic alone. */
static int modify(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_cloud_backend_list_fini) struct ccm_cloud_backend_list old = { 0 };
    CCM_CLEANUP(ccm_cloud_backend_list_fini) struct ccm_cloud_backend_list fresh = { 0 };
    struct ccm_cloud_vgroup *group = NULL;
    int r = ccm_cloud_vgroup_of(call, &group);

    r = r < 0 ? r : ccm_cloud_backends_read(call, "OldBackendServers", &old);
    r = r < 0 ? r : ccm_cloud_backends_read(call, "NewBackendServers", &fresh);
    r = r < 0 ? r : check_doubles(call, &old);
    r = r < 0 ? r : check_doubles(call, &fresh);
    if (r == 0 && call->cloud->limits.slb_modify_atomic != 0) {
        r = check_backends(call, group, &fresh, present(group, &old));
    }
    if (r < 0) {
        return r;
    }
    backends_drop(group, &old);
    r = ccm_cloud_backends_add(call, group, &fresh);
    if (r == 0) {
        answer(call, group, CCM_CLOUD_BACKEND_DESCRIPTION);
    }
    return r;
}

#define ID_ROW                                                                                     \
    {                                                                                              \
        .name = "VServerGroupId", .required = true                                                 \
    }

static const struct ccm_cloud_param list_params[] = {
    ID_ROW,
    { .name = "BackendServers", .required = true },
    { 0 },
};

static const struct ccm_cloud_param set_params[] = {
    ID_ROW,
    { .name = "BackendServers" },
    { .name = "VServerGroupName", .min = 1, .max = 256 },
    { 0 },
};

static const struct ccm_cloud_param modify_params[] = {
    ID_ROW,
    { .name = "OldBackendServers" },
    { .name = "NewBackendServers" },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_backend_actions[] = {
    { .name = "AddVServerGroupBackendServers",
      .params = list_params,
      .region = true,
      .run = add,
      .change = CCM_CLOUD_CHANGE_GROUP },
    { .name = "RemoveVServerGroupBackendServers",
      .params = list_params,
      .region = true,
      .run = remove_backends,
      .change = CCM_CLOUD_CHANGE_GROUP },
    { .name = "SetVServerGroupAttribute",
      .params = set_params,
      .region = true,
      .run = set,
      .change = CCM_CLOUD_CHANGE_GROUP },
    { .name = "ModifyVServerGroupBackendServers",
      .params = modify_params,
      .region = true,
      .run = modify,
      .change = CCM_CLOUD_CHANGE_GROUP },
    { 0 },
};
