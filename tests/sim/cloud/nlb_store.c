#include "nlb.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>

void ccm_nlb_zones_fini(struct ccm_nlb_zones *zones)
{
    for (size_t i = 0; i < zones->len; i++) {
        ccm_cloud_obj_fini(&zones->items[i]);
    }
    *zones = (struct ccm_nlb_zones){ 0 };
}

static void lb_free(void *value)
{
    struct ccm_nlb_lb *lb = value;

    ccm_nlb_zones_fini(&lb->zones);
    ccm_sim_params_fini(&lb->security_groups);
    ccm_cloud_obj_fini(&lb->obj);
    free(lb->listeners);
    free(lb);
}

static void group_free(void *value)
{
    struct ccm_nlb_group *group = value;

    ccm_nlb_servers_fini(&group->servers);
    ccm_cloud_obj_fini(&group->obj);
    free(group->users);
    free(group);
}

static void listener_free(void *value)
{
    struct ccm_nlb_listener *listener = value;

    ccm_sim_params_fini(&listener->certs);
    ccm_cloud_obj_fini(&listener->obj);
    free(listener);
}

struct ccm_nlb *ccm_nlb_new(void)
{
    struct ccm_nlb *nlb = calloc(1, sizeof(*nlb));

    if (nlb == NULL) {
        return NULL;
    }
    nlb->lbs = ccm_strmap_new(lb_free);
    nlb->groups = ccm_strmap_new(group_free);
    nlb->listeners = ccm_strmap_new(listener_free);
    nlb->uses = ccm_strmap_new(free);
    if (nlb->lbs == NULL || nlb->groups == NULL || nlb->listeners == NULL || nlb->uses == NULL) {
        ccm_nlb_free(nlb);
        return NULL;
    }
    return nlb;
}

void ccm_nlb_free(struct ccm_nlb *nlb)
{
    if (nlb == NULL) {
        return;
    }
    ccm_strmap_free(nlb->listeners);
    ccm_strmap_free(nlb->groups);
    ccm_strmap_free(nlb->lbs);
    ccm_strmap_free(nlb->uses);
    free(nlb);
}

struct ccm_nlb_lb *ccm_nlb_lb_get(const struct ccm_cloud *cloud, const char *id)
{
    return ccm_strmap_get(cloud->nlb->lbs, id);
}

struct ccm_nlb_group *ccm_nlb_group_get(const struct ccm_cloud *cloud, const char *id)
{
    return ccm_strmap_get(cloud->nlb->groups, id);
}

struct ccm_nlb_listener *ccm_nlb_listener_get(const struct ccm_cloud *cloud, const char *id)
{
    return ccm_strmap_get(cloud->nlb->listeners, id);
}

int ccm_nlb_lb_new(struct ccm_cloud *cloud, struct ccm_nlb_lb **ret)
{
    struct ccm_nlb_lb *lb = calloc(1, sizeof(*lb));
    char id[48];

    if (lb == NULL) {
        return -ENOMEM;
    }
    ccm_cloud_new_id(cloud, "nlb", id, sizeof(id));

    int r = ccm_cloud_obj_init(cloud, &lb->obj, id);

    r = r < 0 ? r : ccm_strmap_set(cloud->nlb->lbs, id, lb);
    if (r < 0) {
        lb_free(lb);
        return r;
    }
    *ret = lb;
    return 0;
}

int ccm_nlb_group_new(struct ccm_cloud *cloud, struct ccm_nlb_group **ret)
{
    struct ccm_nlb_group *group = calloc(1, sizeof(*group));
    char id[48];

    if (group == NULL) {
        return -ENOMEM;
    }
    ccm_cloud_new_id(cloud, "sgp", id, sizeof(id));

    int r = ccm_cloud_obj_init(cloud, &group->obj, id);

    r = r < 0 ? r : ccm_strmap_set(cloud->nlb->groups, id, group);
    if (r < 0) {
        group_free(group);
        return r;
    }
    *ret = group;
    return 0;
}

static void user_del(struct ccm_nlb_group *group, const struct ccm_nlb_listener *listener)
{
    for (size_t i = 0; i < group->users_len; i++) {
        if (group->users[i] == listener) {
            group->users_len--;
            memmove(group->users + i, group->users + i + 1,
                    (group->users_len - i) * sizeof(struct ccm_nlb_listener *));
            return;
        }
    }
}

int ccm_nlb_listener_point(struct ccm_nlb_listener *listener, struct ccm_nlb_group *group)
{
    if (listener->group == group) {
        return 0;
    }
    if (ccm_array_grow(&group->users, &group->users_cap, group->users_len + 1,
                       sizeof(struct ccm_nlb_listener *)) < 0) {
        return -ENOMEM;
    }
    if (listener->group != NULL) {
        user_del(listener->group, listener);
    }
    group->users[group->users_len++] = listener;
    listener->group = group;
    return 0;
}

int ccm_nlb_listener_new(struct ccm_cloud *cloud, struct ccm_nlb_lb *lb,
                         struct ccm_nlb_group *group, uint32_t port, struct ccm_nlb_listener **ret)
{
    struct ccm_nlb_listener *listener = calloc(1, sizeof(*listener));
    char own[48];
    char id[64];

    if (listener == NULL) {
        return -ENOMEM;
    }
    ccm_cloud_new_id(cloud, "lsn", own, sizeof(own));
    (void)snprintf(id, sizeof(id), "%s@%u", own, port); /* always fits */

    int r =
        ccm_array_grow(&lb->listeners, &lb->cap, lb->len + 1, sizeof(struct ccm_nlb_listener *));

    r = r < 0 ? r : ccm_cloud_obj_init(cloud, &listener->obj, id);
    r = r < 0 ? r : ccm_nlb_listener_point(listener, group);
    r = r < 0 ? r : ccm_strmap_set(cloud->nlb->listeners, id, listener);
    if (r < 0) {
        if (listener->group != NULL) {
            user_del(group, listener);
        }
        listener_free(listener);
        return r;
    }
    listener->lb = lb;
    listener->first = port;
    listener->last = port;
    lb->listeners[lb->len++] = listener;
    *ret = listener;
    return 0;
}

void ccm_nlb_listener_del(struct ccm_cloud *cloud, struct ccm_nlb_listener *listener)
{
    CCM_CLEANUP(ccm_freep) char *id = CCM_STEAL(listener->obj.id);
    struct ccm_nlb_lb *lb = listener->lb;

    for (size_t i = 0; i < lb->len; i++) {
        if (lb->listeners[i] == listener) {
            lb->len--;
            memmove(lb->listeners + i, lb->listeners + i + 1,
                    (lb->len - i) * sizeof(struct ccm_nlb_listener *));
            break;
        }
    }
    if (listener->group != NULL) {
        user_del(listener->group, listener);
    }
    ccm_strmap_del(cloud->nlb->listeners, id);
}

void ccm_nlb_lb_del(struct ccm_cloud *cloud, struct ccm_nlb_lb *lb)
{
    CCM_CLEANUP(ccm_freep) char *id = CCM_STEAL(lb->obj.id);

    while (lb->len > 0) {
        ccm_nlb_listener_del(cloud, lb->listeners[lb->len - 1]);
    }
    ccm_nlb_zones_release(cloud, &lb->zones, NULL);
    ccm_strmap_del(cloud->nlb->lbs, id);
}

void ccm_nlb_group_del(struct ccm_cloud *cloud, struct ccm_nlb_group *group)
{
    CCM_CLEANUP(ccm_freep) char *id = CCM_STEAL(group->obj.id);

    for (size_t i = 0; i < group->users_len; i++) {
        group->users[i]->group = NULL;
    }
    while (group->servers.len > 0) {
        ccm_nlb_group_drop(cloud, group, &group->servers.items[group->servers.len - 1]);
    }
    ccm_strmap_del(cloud->nlb->groups, id);
}

/* ---- servers ---- */

static void server_fini(struct ccm_nlb_server *server)
{
    free(server->id);
    free(server->ip);
    free(server->type);
    free(server->description);
    free(server->zone);
}

void ccm_nlb_servers_fini(struct ccm_nlb_servers *servers)
{
    for (size_t i = 0; i < servers->len; i++) {
        server_fini(&servers->items[i]);
    }
    free(servers->items);
    *servers = (struct ccm_nlb_servers){ 0 };
}

int ccm_nlb_servers_add(struct ccm_nlb_servers *servers, const struct ccm_nlb_server *like)
{
    struct ccm_nlb_server copy = {
        .seq = like->seq,
        .id = strdup(like->id),
        .ip = strdup(like->ip),
        .type = strdup(like->type),
        .description = strdup(like->description),
        .zone = strdup(like->zone),
        .status = like->status,
        .port = like->port,
        .weight = like->weight,
    };

    if (copy.id == NULL || copy.ip == NULL || copy.type == NULL || copy.description == NULL ||
        copy.zone == NULL ||
        ccm_array_grow(&servers->items, &servers->cap, servers->len + 1, sizeof(copy)) < 0) {
        server_fini(&copy);
        return -ENOMEM;
    }
    servers->items[servers->len++] = copy;
    return 0;
}

struct ccm_nlb_server *ccm_nlb_servers_find(const struct ccm_nlb_servers *servers,
                                            const struct ccm_nlb_server *like)
{
    for (size_t i = 0; i < servers->len; i++) {
        struct ccm_nlb_server *server = &servers->items[i];

        if (server->port == like->port && ccm_text_equal(server->id, like->id) &&
            ccm_text_equal(server->type, like->type) &&
            (ccm_text_empty(like->ip) || ccm_text_equal(server->ip, like->ip))) {
            return server;
        }
    }
    return NULL;
}

void ccm_nlb_servers_del(struct ccm_nlb_servers *servers, struct ccm_nlb_server *server)
{
    size_t i = (size_t)(server - servers->items);

    server_fini(server);
    servers->len--;
    memmove(servers->items + i, servers->items + i + 1, (servers->len - i) * sizeof(*server));
}

static char *use_key(const struct ccm_nlb_server *server)
{
    return ccm_text_format("%s/%s", server->id, server->ip);
}

uint32_t ccm_nlb_server_uses(const struct ccm_cloud *cloud, const struct ccm_nlb_server *server)
{
    CCM_CLEANUP(ccm_freep) char *key = use_key(server);
    const uint32_t *count = key == NULL ? NULL : ccm_strmap_get(cloud->nlb->uses, key);

    return count == NULL ? 0 : *count;
}

int ccm_nlb_group_add(struct ccm_cloud *cloud, struct ccm_nlb_group *group,
                      const struct ccm_nlb_server *like)
{
    CCM_CLEANUP(ccm_freep) char *key = use_key(like);
    uint32_t *count = key == NULL ? NULL : ccm_strmap_get(cloud->nlb->uses, key);

    if (key == NULL) {
        return -ENOMEM;
    }
    if (count == NULL) {
        count = calloc(1, sizeof(*count));
        if (count == NULL || ccm_strmap_set(cloud->nlb->uses, key, count) < 0) {
            free(count);
            return -ENOMEM;
        }
    }

    int r = ccm_nlb_servers_add(&group->servers, like);

    *count += r == 0;
    return r;
}

void ccm_nlb_group_drop(struct ccm_cloud *cloud, struct ccm_nlb_group *group,
                        struct ccm_nlb_server *server)
{
    CCM_CLEANUP(ccm_freep) char *key = use_key(server);
    uint32_t *count = key == NULL ? NULL : ccm_strmap_get(cloud->nlb->uses, key);

    if (count != NULL && --*count == 0) {
        ccm_strmap_del(cloud->nlb->uses, key);
    }
    ccm_nlb_servers_del(&group->servers, server);
}

size_t ccm_nlb_lb_servers(const struct ccm_nlb_lb *lb)
{
    size_t n = 0;

    for (size_t i = 0; i < lb->len; i++) {
        const struct ccm_nlb_group *group = lb->listeners[i]->group;
        bool counted = group == NULL;

        for (size_t k = 0; k < i && !counted; k++) {
            counted = lb->listeners[k]->group == group;
        }
        n += counted ? 0 : group->servers.len;
    }
    return n;
}
