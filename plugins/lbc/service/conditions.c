#include "lbc/service/conditions.h"
#include "lbc/names.h"

#include "util/buf.h"
#include "util/cleanup.h"
#include "util/jsonw.h"

static int condition_remove(const struct lbc_life *life, const struct ccm_request *req,
                            const struct ccm_service *service, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = LBC_LIFE_PATCH_MAX };
    CCM_CLEANUP(lbc_life_now_fini) struct lbc_life_now now = lbc_life_see(life, service);
    struct ccm_jsonw w = { .buf = &body };

    if (lbc_condition_find_ours(now.service) == NULL) {
        return 0;
    }
    lbc_life_record_condition(life, true);
    if (life->plan != NULL) {
        ccm_buf_addf(life->plan, "remove condition %s\n", lbc_names.condition);
        return 0;
    }
    lbc_condition_open_patch(&w, service->meta.uid, lbc_names.condition);
    ccm_jsonw_str(&w, "$patch", "delete");
    ccm_jsonw_close_all(&w, "}]}}");
    return lbc_life_patch_status(life, req, service, CCM_PATCH_STRATEGIC, &body, err);
}

int lbc_life_publish_condition(const struct lbc_life *life, const struct ccm_request *req,
                               const struct ccm_service *service,
                               const struct lbc_life_condition *condition, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = LBC_LIFE_PATCH_MAX };
    CCM_CLEANUP(lbc_condition_words_fini) struct lbc_condition_words words = { .status = NULL };
    CCM_CLEANUP(lbc_life_now_fini) struct lbc_life_now now = lbc_life_see(life, service);
    const int64_t wall_ms = life->host->wall_ms(life->host);
    struct ccm_jsonw w = { .buf = &body };

    if (condition == NULL) {
        return condition_remove(life, req, service, err);
    }
    lbc_condition_format(condition, now.service, wall_ms, &words);
    if (words.is_shown) {
        return 0;
    }
    lbc_life_record_condition(life, true);
    if (life->plan != NULL) {
        lbc_life_print_condition(life, &words);
        return 0;
    }
    lbc_condition_open_patch(&w, service->meta.uid, lbc_names.condition);
    lbc_condition_print(&w, &words, !words.same_status, wall_ms);
    ccm_jsonw_close_all(&w, "}]}}");
    return lbc_life_patch_status(life, req, service, CCM_PATCH_STRATEGIC, &body, err);
}
