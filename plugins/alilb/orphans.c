#include "alilb/orphans.h"

#include "alilb/read.h"
#include "lbc/model/owner.h"
#include "lbc/pass.h"
#include "util/cleanup.h"

struct orphan_listing {
    const struct alilb_orphan_kind *row;
    unsigned kind;
    struct lbc_orphan_list *to;
};

static int orphan_offer_item(void *arg, const cJSON *item, struct ccm_error *err)
{
    const struct orphan_listing *listing = arg;
    const struct alilb_orphan_kind *row = listing->row;
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };
    int r = alilb_parse_tags(item, &tags);

    if (r == 0) {
        r = lbc_orphans_offer(listing->to, listing->kind, row->what, ccm_json_text(item, row->id),
                              &tags);
    }
    return r < 0 ? ccm_error_nomem(err) : 0;
}

static struct alilb_call orphan_call(struct lbc_instance *lbc, const struct ccm_request *req)
{
    struct alilb_call call = alilb_call_for_all(lbc, req);

    call.object = "orphans";
    call.waits = false;
    call.priority = LBC_PRIO_AUDIT;
    return call;
}

int alilb_orphans_list(struct lbc_instance *lbc, const struct ccm_request *req,
                       struct lbc_orphan_list *to, struct ccm_error *err)
{
    const struct alilb_orphan_kind *kinds = lbc->ops->inventory->orphans->kinds;
    struct alilb_call call = orphan_call(lbc, req);
    int r = 0;

    for (unsigned i = 0; r == 0 && kinds[i].what != NULL; i++) {
        struct orphan_listing listing = { &kinds[i], i, to };

        if (kinds[i].extras != 0 && (lbc->extras & kinds[i].extras) == 0) {
            continue;
        }
        r = alilb_list(&call, kinds[i].list,
                       kinds[i].untagged ? ALILB_TEXTS(NULL)
                                         : ALILB_TEXTS(LBC_TAG_CLUSTER, call.cluster_id),
                       orphan_offer_item, &listing, err);
        if (r < 0 && i > 0 && err->kind == CCM_ERROR_AUTH) {
            ccm_error_clear(err); /* whoever may not see these may not make them either */
            r = 0;
        }
    }
    return r;
}

int alilb_orphans_remove(struct lbc_instance *lbc, const struct ccm_request *req, unsigned kind,
                         const char *id, struct ccm_error *err)
{
    const struct alilb_orphan_kind *kinds = lbc->ops->inventory->orphans->kinds;
    const struct alilb_orphan_kind *row = &kinds[kind];
    struct alilb_call call = orphan_call(lbc, req);
    int r = 0;

    if (row->protect != NULL) {
        r = alilb_write(&call, row->protect, ALILB_TEXTS(id, row->off), NULL, err);
    }
    return r < 0 ? r : alilb_write(&call, row->remove, ALILB_TEXTS(id), NULL, err);
}
