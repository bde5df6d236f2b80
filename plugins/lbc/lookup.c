#include "lbc/lookup.h"
#include "lbc/names.h"

#include "ccm/object.h"
#include "lbc/model/annotation.h"
#include "lbc/model/settings.h"
#include "lbc/service/hash.h"
#include "lbc/service/lifecycle.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

#define FOREIGN_TEXT                                                                               \
    "load balancer %s carries the same name or tag but belongs to cluster %s (tag "                \
    "%s), it is left alone"

void lbc_lookup_init(struct lbc_lookup *look, const struct ccm_object *service,
                     const char *cluster_id, bool by_name)
{
    *look = (struct lbc_lookup){
        .service = service,
        .cluster_id = cluster_id,
        .by_name = by_name,
        .labelled = ccm_object_label(service, lbc_names.lb_label),
        .named = lbc_anno_get(service, "name"),
        .ids = { .max = 480 },
        .foreign = { .max = 512 },
        .stranger = { .max = 128 },
    };
    lbc_owner_lb_name(service, look->name);
}

void lbc_lookup_fini(struct lbc_lookup *look)
{
    ccm_buf_fini(&look->ids);
    ccm_buf_fini(&look->foreign);
    ccm_buf_fini(&look->stranger);
}

/* Whether it is what was asked for, clusters aside. By its name only one without owner is. */
static bool lookup_matches(const struct lbc_lookup *look, const char *name,
                           const struct lbc_tags *tags)
{
    const char *owner = lbc_tags_get(tags, lbc_names.tag_owner);

    return ccm_text_equal(owner, look->name) ||
           (look->by_name && owner == NULL && ccm_text_equal(name, look->name));
}

static void lookup_add_id(struct lbc_lookup *look, const char *id, bool goes)
{
    ccm_buf_addf(&look->ids, "%s%s%s", look->ids.len == 0 ? "" : ",", id, goes ? " (goes)" : "");
}

bool lbc_lookup_offer(struct lbc_lookup *look, const char *id, const char *name,
                      const struct lbc_tags *tags)
{
    const char *cluster = lbc_tags_get(tags, lbc_names.tag_cluster);

    if (!lookup_matches(look, name, tags)) {
        if (look->stranger.len == 0) {
            ccm_buf_adds(&look->stranger, id);
        }
        return false;
    }
    if (cluster != NULL && strcmp(cluster, look->cluster_id) != 0) {
        if (look->foreign.len == 0) {
            ccm_buf_addf(&look->foreign, FOREIGN_TEXT, id, cluster, lbc_names.tag_cluster);
        }
        if (look->any) {
            lookup_add_id(look, id, false);
            look->left = true;
        }
        return false;
    }
    const bool labelled = ccm_text_equal(id, look->labelled);
    const bool own = labelled || (!look->by_name && cluster != NULL &&
                                  (ccm_text_equal(name, look->name) ||
                                   (look->named[0] != '\0' && ccm_text_equal(name, look->named))));
    const bool better = labelled || (own && look->own == 0);

    lookup_add_id(look, id, look->any && own);
    look->chosen = look->chosen || labelled;
    look->own += own ? 1 : 0;
    return look->count++ == 0 || better;
}

/* More than one: which of them is taken, if any is. */
static int lookup_end_several(const struct lbc_lookup *look, struct ccm_error *err)
{
    const char *by = look->by_name ? "name" : "tag";

    if (look->any ? look->own > 0 : look->chosen) {
        return 0;
    }
    return look->any ? ccm_error_set(err, LBC_LOOKUP_NOT_OURS, CCM_ERROR_TERMINAL,
                                     "load balancers %s all carry the same %s, and neither its "
                                     "label nor their names tell which one it has used",
                                     ccm_buf_str(&look->ids), by)
                     : ccm_error_set(err, -EEXIST, CCM_ERROR_TERMINAL,
                                     "[%s] find multiple loadbalances by %s, lbIds[%s]: nothing is "
                                     "changed until one of them is left; delete the others in the "
                                     "console, or take their tag %s off",
                                     look->service->key, by, ccm_buf_str(&look->ids),
                                     lbc_names.tag_owner);
}

bool lbc_lookup_leaves(const struct lbc_lookup *look)
{
    return look->any && look->count > 0 && look->own == 0 && !ccm_text_empty(look->labelled);
}

int lbc_lookup_end(const struct lbc_lookup *look, struct ccm_error *err)
{
    if (lbc_lookup_leaves(look)) {
        return 0;
    }
    if (look->count > 1) {
        return lookup_end_several(look, err);
    }
    if (look->count == 1) {
        return 0;
    }
    if (look->foreign.len > 0) {
        return ccm_error_set(err, LBC_LOOKUP_NOT_OURS, CCM_ERROR_TERMINAL, "%s",
                             ccm_buf_str(&look->foreign));
    }
    /* A name is free for everybody: others may bear it. A tag was asked for by its value. */
    return look->by_name || look->stranger.len == 0
               ? 0
               : ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                               "[%s] find loadbalancer by tag error: the answer holds %s, which "
                               "does not carry tag %s=%s",
                               look->service->key, ccm_buf_str(&look->stranger),
                               lbc_names.tag_owner, look->name);
}

int lbc_lookup_settle(const struct lbc_lookup *look, struct lbc_lookup_how *how,
                      struct ccm_error *err)
{
    const int r = lbc_lookup_end(look, err);

    if (r < 0 || (look->count <= 1 && !look->left && !lbc_lookup_leaves(look))) {
        return r;
    }
    how->several = strdup(ccm_buf_str(&look->ids));
    how->more = how->any && look->own > 1;
    return how->several == NULL ? ccm_error_nomem(err) : 0;
}

int lbc_lookup_check(const struct ccm_object *service, const char *cluster_id, const char *id,
                     const char *name, const struct lbc_tags *tags, struct ccm_error *err)
{
    const char *owner = lbc_tags_get(tags, lbc_names.tag_owner);
    const char *cluster = lbc_tags_get(tags, lbc_names.tag_cluster);
    char own[LBC_OWNER_LB_NAME];

    lbc_owner_lb_name(service, own);
    if (lbc_owner_has_lb(tags, name, service, cluster_id)) {
        return 0;
    }
    if (owner != NULL && strcmp(owner, own) != 0) {
        return ccm_error_set(err, LBC_LOOKUP_NOT_OURS, CCM_ERROR_TERMINAL,
                             "load balancer %s carries tag %s=%s of another owner%s%s, it is left "
                             "alone",
                             id, lbc_names.tag_owner, owner, cluster == NULL ? "" : " in cluster ",
                             cluster == NULL ? "" : cluster);
    }
    if (lbc_owner_of_tags(tags, service, cluster_id) == LBC_OWNER_OTHER) {
        return ccm_error_set(err, LBC_LOOKUP_NOT_OURS, CCM_ERROR_TERMINAL, FOREIGN_TEXT, id,
                             cluster == NULL ? "" : cluster, lbc_names.tag_cluster);
    }
    return ccm_error_set(err, LBC_LOOKUP_NOT_OURS, CCM_ERROR_TERMINAL,
                         "load balancer %s [%s] has lost its tag %s=%s and has a name of its own, "
                         "so nobody can tell whose it is: it is left alone with all its listeners "
                         "and server groups",
                         id, name == NULL ? "" : name, lbc_names.tag_owner, own);
}

bool lbc_lookup_shows_lb(const struct ccm_service *service)
{
    return service->ingress_count > 0 ||
           ccm_object_label(&service->meta, lbc_names.hash_label) != NULL ||
           ccm_object_label(&service->meta, lbc_names.lb_label) != NULL;
}
