/* What a Service asks for and cannot have: annotations, fields, ids of the account. */
#include "lbc/pass/ensure.h"

#include "lbc/pass/keep.h"
#include "lbc/reuse.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>

/* Whether it ends here: it would be for creation alone, or it is about the load balancer itself. A
 * finalizer proves no load balancer: an earlier controller may have set it, and created nothing. */
static bool manifest_is_refused(struct lbc_pass *pass)
{
    const bool all = lbc_refusals_decide(&pass->refused, LBC_DECIDES_ALL);
    const bool keeps = lbc_keep_find_id(pass->lbc, pass->service)[0] != '\0' ||
                       (all && lbc_keep_find_label(pass->lbc, pass->service)[0] != '\0');

    pass->kept = keeps ? "" : NULL;
    return pass->refused.problems.count > 0 &&
           ((all && !keeps) || !lbc_lookup_shows_lb(pass->service));
}

/* The row, and the annotations that mean nothing without it. */
static int manifest_refuse_row(struct lbc_refusals *refused, const struct lbc_anno *row,
                               const struct ccm_error *err)
{
    const char *cursor = row->along;
    const char *piece = NULL;
    size_t len = 0;
    int r = lbc_refusals_add(refused, row->name, err);

    while (r == 0 && cursor != NULL && ccm_parse_piece(&cursor, '|', &piece, &len)) {
        char suffix[LBC_ANNO_KEY_MAX];

        ccm_text_printf(suffix, sizeof(suffix), "%.*s", (int)len, piece);
        r = lbc_refusals_add(refused, suffix, err);
    }
    return r;
}

/* Ids of the account that are not for this namespace. */
static int manifest_refuse_ids(struct lbc_pass *pass)
{
    const struct lbc_lint_rules *rules = pass->lbc->ops->model->rules;
    const struct lbc_allow allow = lbc_pass_allow(pass);
    int r = 0;

    for (size_t i = 0; r == 0 && i < rules->annotations->count; i++) {
        const struct lbc_anno *row = &rules->annotations->rows[i];
        struct ccm_error err = CCM_ERROR_INIT;

        if (lbc_allow_check_row(&allow, row, &pass->service->meta, &err) < 0 &&
            lbc_rules_count(rules, pass->service, row)) {
            r = manifest_refuse_row(&pass->refused, row, &err);
        }
    }
    return r;
}

int lbc_manifest_check(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct lbc_instance *lbc = pass->lbc;
    struct lbc_refusals *refused = &pass->refused;
    int r = lbc_refusals_collect(refused, lbc->ops->model->rules, pass->service);
    if (r == 0) {
        r = lbc_reuse_check_option(pass, err);
        r = r < 0 && r != -ENOMEM ? lbc_refusals_add(refused, "id", err) : r;
    }
    r = r < 0 ? r : manifest_refuse_ids(pass);
    if (r == 0 && lbc->ops->product->refuse != NULL) {
        r = lbc->ops->product->refuse(lbc, refused);
    }
    r = r < 0 ? r : lbc_refusals_shorten(refused);
    if (r < 0 || lbc_refusals_view(refused) == NULL) {
        return ccm_error_nomem(err);
    }
    lbc_pass_advise_manifest(pass);
    if (!manifest_is_refused(pass)) {
        return 0;
    }
    lbc_pass_join_refused(pass);
    (void)lbc_pass_fail_all(pass, err); /* always fails */
    return -EINVAL;
}
