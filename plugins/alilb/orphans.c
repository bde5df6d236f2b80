#include "alilb/orphans.h"

#include "alilb/read.h"
#include "lbc/model/owner.h"
#include "lbc/pass.h"
#include "util/cleanup.h"
#include "util/text.h"

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

/* --- one that goes --- */

struct orphan_check {
    const struct alilb_orphan_kind *row;
    const struct lbc_orphan *one;
    const char *cluster_id;
    bool stands; /* it is there, and still without Service */
    bool is_protected;
};

static bool item_is_protected(const struct alilb_orphan_kind *row, const cJSON *item)
{
    const cJSON *value = row->protect == NULL ? NULL : ccm_json_get(item, row->shown);

    if (row->shown_in != NULL) {
        value = ccm_json_get(value, row->shown_in);
    }
    return cJSON_IsTrue(value) ||
           (cJSON_IsString(value) && (ccm_text_equal_case(value->valuestring, row->on)));
}

static int orphan_check_item(void *arg, const cJSON *item, struct ccm_error *err)
{
    struct orphan_check *check = arg;
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };

    if (!ccm_text_equal(ccm_json_text(item, check->row->id), check->one->id)) {
        return 0;
    }
    if (alilb_parse_tags(item, &tags) < 0) {
        return ccm_error_nomem(err);
    }
    check->stands = lbc_orphan_is(check->one, check->cluster_id, &tags);
    check->is_protected = item_is_protected(check->row, item);
    return 1;
}

/* Whoever looks at it later finds it as it was. */
static void orphan_protect_again(struct alilb_call *call, const struct orphan_check *check)
{
    struct ccm_error err = CCM_ERROR_INIT;

    if (alilb_write(call, check->row->protect, ALILB_TEXTS(check->one->id, check->row->on), NULL,
                    &err) < 0 &&
        err.kind != CCM_ERROR_NOT_FOUND) {
        call->host->log(call->host, CCM_LEVEL_WARN, "orphans",
                        "%s %s was not deleted, and its protection stays off: %s", check->row->what,
                        check->one->id, err.message);
    }
}

int alilb_orphans_remove(struct lbc_instance *lbc, const struct ccm_request *req,
                         const struct lbc_orphan *one, struct ccm_error *err)
{
    const struct alilb_orphan_kind *kinds = lbc->ops->inventory->orphans->kinds;
    struct alilb_call call = orphan_call(lbc, req);
    struct orphan_check check = { &kinds[one->kind], one, call.cluster_id, false, false };
    const struct alilb_orphan_kind *row = check.row;
    int r = alilb_list(&call, row->list,
                       row->untagged ? ALILB_TEXTS(NULL) : ALILB_TEXTS(LBC_TAG_OWNER, one->owner),
                       orphan_check_item, &check, err);

    if (r < 0 || !check.stands) {
        return r < 0 ? r : 1;
    }
    if (check.is_protected) {
        r = alilb_write(&call, row->protect, ALILB_TEXTS(one->id, row->off), NULL, err);
    }
    if (r == 0) {
        r = alilb_write(&call, row->remove, ALILB_TEXTS(one->id), NULL, err);
    }
    if (r < 0 && check.is_protected) {
        orphan_protect_again(&call, &check);
    }
    return r;
}
