/* Load balancers of SLB and what is in them. */
#include "store.h"

#include "plain.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

/* ---- load balancers ---- */

static void listener_free(struct ccm_cloud_listener *listener)
{
    ccm_cloud_obj_fini(&listener->obj);
    free(listener);
}

static void vgroup_free(struct ccm_cloud_vgroup *group)
{
    for (size_t i = 0; i < group->len; i++) {
        ccm_cloud_backend_fini(&group->backends[i]);
    }
    free(group->backends);
    ccm_cloud_obj_fini(&group->obj);
    free(group);
}

void ccm_cloud_lb_free(void *value)
{
    struct ccm_cloud_lb *lb = value;

    for (size_t i = 0; i < lb->listeners_len; i++) {
        listener_free(lb->listeners[i]);
    }
    for (size_t i = 0; i < lb->vgroups_len; i++) {
        vgroup_free(lb->vgroups[i]);
    }
    free(lb->listeners);
    free(lb->vgroups);
    ccm_cloud_obj_fini(&lb->obj);
    free(lb);
}

int ccm_cloud_lb_new(struct ccm_cloud *cloud, const char *id, struct ccm_cloud_lb **ret)
{
    if (ccm_strmap_has(cloud->lbs, id)) {
        return -EEXIST;
    }

    struct ccm_cloud_lb *lb = calloc(1, sizeof(*lb));

    if (lb == NULL) {
        return -ENOMEM;
    }

    int r = ccm_cloud_obj_init(cloud, &lb->obj, id);

    r = r < 0 ? r : ccm_strmap_set(cloud->lbs, id, lb);
    if (r < 0) {
        ccm_cloud_lb_free(lb);
        return r;
    }
    *ret = lb;
    return 0;
}

void ccm_cloud_lb_del(struct ccm_cloud *cloud, struct ccm_cloud_lb *lb)
{
    CCM_CLEANUP(ccm_freep) char *id = CCM_STEAL(lb->obj.id);

    void *cursor = NULL;

    ccm_cloud_address_give_back(cloud, ccm_cloud_attr(&lb->obj, "Address"));
    for (struct ccm_cloud_obj *obj = ccm_cloud_plain_next(cloud, CCM_CLOUD_EXTENSION, &cursor);
         obj != NULL; obj = ccm_cloud_plain_next(cloud, CCM_CLOUD_EXTENSION, &cursor)) {
        if (ccm_text_equal(ccm_cloud_attr(obj, "LoadBalancerId"), id)) {
            ccm_cloud_plain_del(cloud, CCM_CLOUD_EXTENSION, obj->id);
        }
    }
    for (size_t i = 0; i < lb->vgroups_len; i++) {
        ccm_strmap_del(cloud->vgroups, lb->vgroups[i]->obj.id);
    }
    ccm_strmap_del(cloud->lbs, id);
}

struct ccm_cloud_lb *ccm_cloud_lb_get(const struct ccm_cloud *cloud, const char *id)
{
    return ccm_strmap_get(cloud->lbs, id);
}

int ccm_cloud_lb_status_refresh(struct ccm_cloud_lb *lb)
{
    return ccm_sim_params_set(&lb->obj.attrs, "LoadBalancerStatus",
                              lb->listeners_len == 0 ? "inactive" : "active");
}

/* ---- listeners ---- */

int ccm_cloud_listener_new(struct ccm_cloud *cloud, struct ccm_cloud_lb *lb, const char *protocol,
                           uint32_t port, struct ccm_cloud_listener **ret)
{
    CCM_CLEANUP(ccm_freep) char *id = ccm_text_format("%s_%s_%u", lb->obj.id, protocol, port);

    if (ccm_cloud_listener_get(lb, protocol, port) != NULL) {
        return -EEXIST;
    }
    if (id == NULL || ccm_array_grow(&lb->listeners, &lb->listeners_cap, lb->listeners_len + 1,
                                     sizeof(struct ccm_cloud_listener *)) < 0) {
        return -ENOMEM;
    }

    struct ccm_cloud_listener *listener = calloc(1, sizeof(*listener));

    if (listener == NULL || ccm_cloud_obj_init(cloud, &listener->obj, id) < 0) {
        free(listener);
        return -ENOMEM;
    }
    listener->port = port;
    listener->protocol = protocol;
    lb->listeners[lb->listeners_len++] = listener;
    *ret = listener;
    return ccm_cloud_lb_status_refresh(lb);
}

void ccm_cloud_listener_del(struct ccm_cloud_lb *lb, struct ccm_cloud_listener *listener)
{
    for (size_t i = 0; i < lb->listeners_len; i++) {
        if (lb->listeners[i] == listener) {
            lb->listeners_len--;
            memmove(lb->listeners + i, lb->listeners + i + 1,
                    (lb->listeners_len - i) * sizeof(struct ccm_cloud_listener *));
            listener_free(listener);
            break;
        }
    }
    /* The attribute is there already and only replaced; without memory it keeps the old status. */
    if (ccm_cloud_lb_status_refresh(lb) < 0) {
        return;
    }
}

struct ccm_cloud_listener *ccm_cloud_listener_get(const struct ccm_cloud_lb *lb,
                                                  const char *protocol, uint32_t port)
{
    for (size_t i = 0; i < lb->listeners_len; i++) {
        struct ccm_cloud_listener *listener = lb->listeners[i];

        if (listener->port == port &&
            (protocol == NULL || ccm_text_equal(listener->protocol, protocol))) {
            return listener;
        }
    }
    return NULL;
}

/* ---- groups and backends ---- */

int ccm_cloud_vgroup_new(struct ccm_cloud *cloud, struct ccm_cloud_lb *lb, const char *id,
                         struct ccm_cloud_vgroup **ret)
{
    if (ccm_strmap_has(cloud->vgroups, id)) {
        return -EEXIST;
    }
    if (ccm_array_grow(&lb->vgroups, &lb->vgroups_cap, lb->vgroups_len + 1,
                       sizeof(struct ccm_cloud_vgroup *)) < 0) {
        return -ENOMEM;
    }

    struct ccm_cloud_vgroup *group = calloc(1, sizeof(*group));

    if (group == NULL) {
        return -ENOMEM;
    }
    group->lb = lb;
    if (ccm_cloud_obj_init(cloud, &group->obj, id) < 0 ||
        ccm_strmap_set(cloud->vgroups, id, group) < 0) {
        vgroup_free(group);
        return -ENOMEM;
    }
    lb->vgroups[lb->vgroups_len++] = group;
    *ret = group;
    return 0;
}

void ccm_cloud_vgroup_del(struct ccm_cloud *cloud, struct ccm_cloud_vgroup *group)
{
    struct ccm_cloud_lb *lb = group->lb;

    for (size_t i = 0; i < lb->vgroups_len; i++) {
        if (lb->vgroups[i] == group) {
            lb->vgroups_len--;
            memmove(lb->vgroups + i, lb->vgroups + i + 1,
                    (lb->vgroups_len - i) * sizeof(struct ccm_cloud_vgroup *));
            break;
        }
    }
    ccm_strmap_del(cloud->vgroups, group->obj.id);
    vgroup_free(group);
}

struct ccm_cloud_vgroup *ccm_cloud_vgroup_get(const struct ccm_cloud *cloud, const char *id)
{
    return ccm_strmap_get(cloud->vgroups, id);
}

bool ccm_cloud_vgroup_used_by(const struct ccm_cloud_vgroup *group,
                              const struct ccm_cloud_listener *listener)
{
    return ccm_text_equal(ccm_cloud_attr(&listener->obj, "VServerGroupId"), group->obj.id);
}

void ccm_cloud_backend_fini(struct ccm_cloud_backend *backend)
{
    free(backend->server_id);
    free(backend->server_ip);
    free(backend->type);
    free(backend->description);
    *backend = (struct ccm_cloud_backend){ 0 };
}

struct ccm_cloud_backend *ccm_cloud_backend_get(const struct ccm_cloud_vgroup *group,
                                                const struct ccm_cloud_backend *like)
{
    for (size_t i = 0; i < group->len; i++) {
        struct ccm_cloud_backend *backend = &group->backends[i];

        if (backend->port == like->port && ccm_text_equal(backend->server_id, like->server_id) &&
            (ccm_text_empty(like->server_ip) ||
             ccm_text_equal(backend->server_ip, like->server_ip))) {
            return backend;
        }
    }
    return NULL;
}

int ccm_cloud_backend_add(struct ccm_cloud_vgroup *group, const struct ccm_cloud_backend *like)
{
    struct ccm_cloud_backend copy = {
        .server_id = strdup(like->server_id),
        .server_ip = strdup(like->server_ip),
        .type = strdup(like->type),
        .description = strdup(like->description),
        .port = like->port,
        .weight = like->weight,
    };

    if (copy.server_id == NULL || copy.server_ip == NULL || copy.type == NULL ||
        copy.description == NULL ||
        ccm_array_grow(&group->backends, &group->cap, group->len + 1, sizeof(copy)) < 0) {
        ccm_cloud_backend_fini(&copy);
        return -ENOMEM;
    }
    group->backends[group->len++] = copy;
    return 0;
}

void ccm_cloud_backend_del(struct ccm_cloud_vgroup *group, struct ccm_cloud_backend *backend)
{
    size_t i = (size_t)(backend - group->backends);

    ccm_cloud_backend_fini(backend);
    group->len--;
    memmove(group->backends + i, group->backends + i + 1,
            (group->len - i) * sizeof(*group->backends));
}

size_t ccm_cloud_lb_backends(const struct ccm_cloud_lb *lb)
{
    size_t n = 0;

    for (size_t i = 0; i < lb->vgroups_len; i++) {
        n += lb->vgroups[i]->len;
    }
    return n;
}
