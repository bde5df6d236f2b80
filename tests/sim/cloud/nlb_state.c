/* Load balancers of this kind as people and tests see and edit them. */
#include "nlb.h"
#include "util/text.h"

static void pairs_write(struct ccm_jsonw *w, const char *key, const struct ccm_sim_params *pairs)
{
    ccm_jsonw_open(w, key, '{');
    for (size_t i = 0; i < pairs->len; i++) {
        ccm_jsonw_str(w, pairs->items[i].name, pairs->items[i].value);
    }
    ccm_jsonw_close(w, '}');
}

static void attrs_write(struct ccm_jsonw *w, const struct ccm_cloud_obj *obj)
{
    for (size_t i = 0; i < obj->attrs.len; i++) {
        ccm_jsonw_str(w, obj->attrs.items[i].name, obj->attrs.items[i].value);
    }
}

static void listener_write(struct ccm_jsonw *w, const struct ccm_nlb_listener *listener)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "ListenerId", listener->obj.id);
    ccm_jsonw_i64(w, "ListenerPort", listener->range ? 0 : listener->first);
    ccm_jsonw_i64(w, "StartPort", listener->range ? listener->first : 0);
    ccm_jsonw_i64(w, "EndPort", listener->range ? listener->last : 0);
    ccm_jsonw_str(w, "ServerGroupId", listener->group == NULL ? "" : listener->group->obj.id);
    attrs_write(w, &listener->obj);
    pairs_write(w, "AdditionalCertificates", &listener->certs);
    pairs_write(w, "Tags", &listener->obj.tags);
    ccm_jsonw_close(w, '}');
}

static void lb_write(struct ccm_jsonw *w, const struct ccm_nlb_lb *lb)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "LoadBalancerId", lb->obj.id);
    attrs_write(w, &lb->obj);
    pairs_write(w, "Tags", &lb->obj.tags);
    ccm_jsonw_open(w, "SecurityGroupIds", '[');
    for (size_t i = 0; i < lb->security_groups.len; i++) {
        ccm_jsonw_str(w, NULL, lb->security_groups.items[i].name);
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_open(w, "ZoneMappings", '[');
    for (size_t i = 0; i < lb->zones.len; i++) {
        ccm_jsonw_open(w, NULL, '{');
        attrs_write(w, &lb->zones.items[i]);
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_open(w, "Listeners", '[');
    for (size_t i = 0; i < lb->len; i++) {
        listener_write(w, lb->listeners[i]);
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

static void group_write(struct ccm_jsonw *w, const struct ccm_nlb_group *group)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "ServerGroupId", group->obj.id);
    attrs_write(w, &group->obj);
    pairs_write(w, "Tags", &group->obj.tags);
    ccm_jsonw_open(w, "Servers", '[');
    for (size_t i = 0; i < group->servers.len; i++) {
        const struct ccm_nlb_server *server = &group->servers.items[i];

        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "ServerId", server->id);
        ccm_jsonw_str(w, "ServerIp", server->ip);
        ccm_jsonw_str(w, "ServerType", server->type);
        ccm_jsonw_i64(w, "Port", server->port);
        ccm_jsonw_i64(w, "Weight", server->weight);
        ccm_jsonw_str(w, "Description", server->description);
        ccm_jsonw_str(w, "Status", server->status);
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

void ccm_nlb_state(struct ccm_jsonw *w, const struct ccm_cloud *cloud)
{
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;

    ccm_jsonw_open(w, "nlbLoadBalancers", '[');
    while (ccm_strmap_next(cloud->nlb->lbs, &cursor, &id, &value) != 0) {
        lb_write(w, value);
    }
    ccm_jsonw_close(w, ']');
    cursor = NULL;
    ccm_jsonw_open(w, "nlbServerGroups", '[');
    while (ccm_strmap_next(cloud->nlb->groups, &cursor, &id, &value) != 0) {
        group_write(w, value);
    }
    ccm_jsonw_close(w, ']');
    ccm_cloud_jobs_state(w, cloud);
}

struct ccm_cloud_obj *ccm_nlb_edit_target(const struct ccm_cloud *cloud, const char *type,
                                          const char *id)
{
    if (ccm_text_equal(type, "nlb")) {
        struct ccm_nlb_lb *lb = ccm_nlb_lb_get(cloud, id);

        return lb == NULL ? NULL : &lb->obj;
    }
    if (ccm_text_equal(type, "servergroup")) {
        struct ccm_nlb_group *group = ccm_nlb_group_get(cloud, id);

        return group == NULL ? NULL : &group->obj;
    }
    if (ccm_text_equal(type, "nlblistener")) {
        struct ccm_nlb_listener *listener = ccm_nlb_listener_get(cloud, id);

        return listener == NULL ? NULL : &listener->obj;
    }
    return NULL;
}

bool ccm_nlb_edit_delete(struct ccm_cloud *cloud, const char *type, const char *id)
{
    if (ccm_nlb_edit_target(cloud, type, id) == NULL) {
        return false;
    }
    if (ccm_text_equal(type, "nlb")) {
        ccm_nlb_lb_del(cloud, ccm_nlb_lb_get(cloud, id));
    } else if (ccm_text_equal(type, "servergroup")) {
        ccm_nlb_group_del(cloud, ccm_nlb_group_get(cloud, id));
    } else {
        ccm_nlb_listener_del(cloud, ccm_nlb_listener_get(cloud, id));
    }
    return true;
}
