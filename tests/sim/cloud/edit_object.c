/* Edits of one object: which one is meant, new values, its end. */
#include "acl.h"
#include "edit.h"
#include "nlb.h"
#include "plain.h"
#include "store.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/text.h"

#include <errno.h>

/* What a request names; the members of its kind are set. */
struct target {
    struct ccm_cloud_obj *obj;
    struct ccm_cloud_lb *lb;
    struct ccm_cloud_listener *listener;
    struct ccm_cloud_vgroup *group;
    struct ccm_cloud_backend *backend;
    struct ccm_cloud_eni *eni;
    enum ccm_cloud_kind kind; /* CCM_CLOUD_KINDS: none of the plain ones */
};

void ccm_cloud_edit_type(const cJSON *json, char *text)
{
    size_t used = 0;

    for (const char *p = ccm_json_text(json, "type"); *p != '\0' && used < CCM_CLOUD_EDIT_TYPE - 1;
         p++) {
        if (*p != '_') {
            text[used++] = *p;
        }
    }
    text[used] = '\0';
}

static struct ccm_cloud_listener *listener_find(const struct ccm_cloud_lb *lb, const cJSON *json)
{
    int64_t port = ccm_json_i64(json, "port", 0);

    return lb == NULL || port < 1 || port > 65535
               ? NULL
               : ccm_cloud_listener_get(lb, ccm_json_str(json, "protocol"), (uint32_t)port);
}

static struct ccm_cloud_backend *backend_find(const struct ccm_cloud_vgroup *group,
                                              const cJSON *json)
{
    int64_t port = ccm_json_i64(json, "port", 0);
    const char *server = ccm_json_text(json, "server_id");
    const char *ip = ccm_json_text(json, "server_ip");

    for (size_t i = 0; group != NULL && i < group->len; i++) {
        struct ccm_cloud_backend *backend = &group->backends[i];

        if ((int64_t)backend->port == port && ccm_text_equal(backend->server_id, server) &&
            (ccm_text_empty(ip) || ccm_text_equal(backend->server_ip, ip))) {
            return backend;
        }
    }
    return NULL;
}

/* Objects named by their id alone. */
static void target_by_id(struct ccm_cloud *cloud, const char *type, const char *id,
                         struct target *target)
{
    enum ccm_cloud_kind kind = CCM_CLOUD_KINDS;

    if (ccm_text_equal(type, "loadbalancer")) {
        target->lb = ccm_cloud_lb_get(cloud, id);
        target->obj = target->lb == NULL ? NULL : &target->lb->obj;
    } else if (ccm_text_equal(type, "vservergroup")) {
        target->group = ccm_cloud_vgroup_get(cloud, id);
        target->obj = target->group == NULL ? NULL : &target->group->obj;
    } else if (ccm_text_equal(type, "instance")) {
        struct ccm_cloud_instance *instance = ccm_strmap_get(cloud->instances, id);

        target->obj = instance == NULL ? NULL : &instance->obj;
    } else if (ccm_text_equal(type, "eni")) {
        target->eni = ccm_strmap_get(cloud->enis, id);
        target->obj = target->eni == NULL ? NULL : &target->eni->obj;
    } else if (ccm_cloud_plain_kind(type, &kind)) {
        target->obj = ccm_cloud_plain_get(cloud, kind, id);
        target->kind = kind;
    } else if (ccm_text_equal(type, "vpc")) {
        struct ccm_cloud_vpc *vpc = ccm_strmap_get(cloud->vpcs, id);

        target->obj = vpc == NULL ? NULL : &vpc->obj;
    } else if (ccm_text_equal(type, "vswitch")) {
        struct ccm_cloud_vswitch *vswitch = ccm_strmap_get(cloud->vswitches, id);

        target->obj = vswitch == NULL ? NULL : &vswitch->obj;
    } else {
        target->obj = ccm_nlb_edit_target(cloud, type, id);
    }
}

static bool target_find(struct ccm_cloud *cloud, const cJSON *json, struct target *target)
{
    char type[CCM_CLOUD_EDIT_TYPE];

    ccm_cloud_edit_type(json, type);
    if (ccm_text_equal(type, "listener")) {
        target->lb = ccm_cloud_lb_get(cloud, ccm_json_text(json, "load_balancer"));
        target->listener = listener_find(target->lb, json);
        target->obj = target->listener == NULL ? NULL : &target->listener->obj;
    } else if (ccm_text_equal(type, "backend")) {
        target->group = ccm_cloud_vgroup_get(cloud, ccm_json_text(json, "vserver_group"));
        target->backend = backend_find(target->group, json);
    } else {
        target_by_id(cloud, type, ccm_json_text(json, "id"), target);
    }
    return target->obj != NULL || target->backend != NULL;
}

bool ccm_cloud_edit_delete(struct ccm_cloud *cloud, const cJSON *json, struct ccm_sim_reply *reply)
{
    char type[CCM_CLOUD_EDIT_TYPE];
    struct target target = { .kind = CCM_CLOUD_KINDS };

    ccm_cloud_edit_type(json, type);
    if (ccm_text_equal(type, "account")) {
        ccm_cloud_accounts_del(cloud->accounts, ccm_json_text(json, "id"));
        return true;
    }
    if (ccm_nlb_edit_delete(cloud, type, ccm_json_text(json, "id"))) {
        return true;
    }
    if (!target_find(cloud, json, &target)) {
        ccm_sim_reply_error(reply, 404, "no such %s", type);
        return false;
    }
    if (target.backend != NULL) {
        ccm_cloud_backend_del(target.group, target.backend);
    } else if (target.listener != NULL) {
        ccm_cloud_listener_del(target.lb, target.listener);
    } else if (target.group != NULL) {
        ccm_cloud_vgroup_del(cloud, target.group);
    } else if (target.lb != NULL) {
        ccm_cloud_lb_del(cloud, target.lb);
    } else if (target.eni != NULL) {
        ccm_cloud_eni_del(cloud, target.eni);
    } else if (target.kind != CCM_CLOUD_KINDS) {
        if (target.kind == CCM_CLOUD_ACL) {
            ccm_cloud_acl_entries_del(cloud, target.obj->id);
        }
        ccm_cloud_plain_del(cloud, target.kind, target.obj->id);
    } else if (ccm_text_equal(type, "instance")) {
        ccm_cloud_instance_del(cloud, ccm_json_text(json, "id"));
    } else {
        ccm_sim_reply_error(reply, 400, "a %s cannot be deleted", type);
        return false;
    }
    return true;
}

int ccm_cloud_edit_pairs(struct ccm_sim_params *pairs, const cJSON *json)
{
    int r = 0;

    for (const cJSON *item = json == NULL ? NULL : json->child; item != NULL && r == 0;
         item = item->next) {
        if (cJSON_IsNull(item)) {
            ccm_sim_params_del(pairs, item->string);
        } else if (cJSON_IsString(item)) {
            r = ccm_sim_params_set(pairs, item->string, item->valuestring);
        } else if (cJSON_IsNumber(item)) {
            CCM_CLEANUP(ccm_freep) char *text = ccm_text_format("%.0f", item->valuedouble);

            r = text == NULL ? -ENOMEM : ccm_sim_params_set(pairs, item->string, text);
        } else {
            r = -EINVAL;
        }
    }
    return r;
}

static int backend_update(struct ccm_cloud_backend *backend, const cJSON *attributes)
{
    const char *description = ccm_json_str(attributes, "Description");
    int64_t weight = ccm_json_i64(attributes, "Weight", backend->weight);

    if (weight < 0 || weight > 100) {
        return -EINVAL;
    }
    if (description != NULL) {
        char *copy = strdup(description);

        if (copy == NULL) {
            return -ENOMEM;
        }
        free(backend->description);
        backend->description = copy;
    }
    backend->weight = (uint32_t)weight;
    return 0;
}

bool ccm_cloud_edit_update(struct ccm_cloud *cloud, const cJSON *json, struct ccm_sim_reply *reply)
{
    struct target target = { .kind = CCM_CLOUD_KINDS };
    int r = 0;

    if (!target_find(cloud, json, &target)) {
        ccm_sim_reply_error(reply, 404, "no such %s", ccm_json_text(json, "type"));
        return false;
    }
    if (target.backend != NULL) {
        r = backend_update(target.backend, ccm_json_get(json, "attributes"));
    } else {
        r = ccm_cloud_edit_pairs(&target.obj->attrs, ccm_json_get(json, "attributes"));
        r = r < 0 ? r : ccm_cloud_edit_pairs(&target.obj->tags, ccm_json_get(json, "tags"));
        r = r < 0 || target.eni == NULL ? r : ccm_cloud_eni_attach(cloud, target.eni);
    }
    if (r < 0) {
        ccm_sim_reply_error(reply, r == -EINVAL ? 400 : 500, "the values cannot be set");
    }
    return r == 0;
}
