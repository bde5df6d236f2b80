/* Listeners of a person that a Service has taken over (annotation force-override-listeners), in a
 * pass; apply/taken.h has the labels of the Service in which they are kept. */
#include "lbc/pass.h"

#include "lbc/instance.h"
#include "lbc/model/settings.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

#define REASON   "ListenerTakenOver"
#define AGAIN_MS 1800000 /* from the takeover until it is reported again */

bool lbc_taken_restores(const struct lbc_instance *lbc)
{
    return ccm_text_equal(lbc->host->option_string(lbc->host, NULL, lbc_opt_taken.name), "restore");
}

/* --- before and after --- */

static void taken_add_words(struct ccm_buf *text, const char *port, const struct lbc_tags *was)
{
    const char *group = lbc_tags_get(was, LBC_TAKEN_GROUP);
    const char *description = lbc_tags_get(was, LBC_TAKEN_DESCRIPTION);

    ccm_buf_addf(text, "%slistener %s (description [%s], server group [%s])",
                 text->len == 0 ? "" : ", ", port, ccm_text_empty(description) ? "" : description,
                 ccm_text_empty(group) ? "none" : group);
}

static void taken_end_words(const struct lbc_pass *pass, struct ccm_buf *words)
{
    if (words->len > 0) {
        ccm_buf_addf(words, " of load balancer [%s], which a person made, is taken over: %s",
                     lbc_pass_lb_id(pass),
                     lbc_taken_restores(pass->lbc) ? "it is put back when the Service lets it go"
                                                   : "it is deleted when the Service lets it go");
    }
}

int lbc_taken_remember(struct lbc_pass *pass, const struct lbc_taken_list *list,
                       struct ccm_error *err)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags labels = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf words = { .max = 900 };
    const bool restores = lbc_taken_restores(pass->lbc);
    const char *port = NULL;
    int r = 0;

    if (restores) {
        r = lbc_taken_write(list, &pass->service->meta, &labels, &port);
    }
    if (r == -E2BIG) {
        return ccm_error_set(err, r, CCM_ERROR_TERMINAL,
                             "listener %s cannot be taken over: what it is does not fit into "
                             "labels of the Service, so it could not be put back (option "
                             "taken_listeners)",
                             port);
    }
    if (r < 0) {
        return ccm_error_nomem(err);
    }
    if (labels.len > 0) {
        r = lbc_life_write_labels(&pass->life, pass->req, pass->service, &labels, err);
    }
    for (size_t i = 0; r == 0 && i < list->len; i++) {
        taken_add_words(&words, list->items[i].port, &list->items[i].was);
    }
    taken_end_words(pass, &words);
    if (words.len > 0) {
        lbc_life_event(&pass->life, pass->service, true, REASON, "%s", ccm_buf_str(&words));
    }
    return r;
}

/* The event of the takeover lasts until the Service has let go of all listeners. That one of
 * several is let go is no news. */
static void taken_stand(const struct lbc_pass *pass, struct ccm_buf *words)
{
    taken_end_words(pass, words);

    const struct lbc_life_standing taken = {
        .warning = true,
        .topic = "taken",
        .reason = REASON,
        .cause = REASON,
        .text = ccm_buf_str(words),
        .after_ms = AGAIN_MS,
    };

    lbc_pass_stand(pass, &taken);
}

/* Whether the label begins what is kept about the listener: there may be several. */
static bool is_first_label(const struct ccm_object *meta, uint64_t at, const char *port)
{
    char before[LBC_TAKEN_PORT];

    return at == 0 || !lbc_taken_label_port(meta->labels[at - 1]->key, before) ||
           strcmp(before, port) != 0;
}

int lbc_taken_forget(struct lbc_pass *pass,
                     bool (*holds)(const struct lbc_pass *pass, const char *port),
                     struct ccm_error *err)
{
    CCM_CLEANUP(lbc_life_now_fini)
    struct lbc_life_now now = lbc_life_see(&pass->life, pass->service);
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags labels = { 0 };
    const struct ccm_object *meta = &now.service->meta;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf words = { .max = 900 };
    int r = 0;

    for (uint64_t i = 0; r == 0 && i < meta->label_count; i++) {
        CCM_CLEANUP(lbc_tags_fini) struct lbc_tags was = { 0 };
        char port[LBC_TAKEN_PORT];

        if (!lbc_taken_label_port(meta->labels[i]->key, port)) {
            continue;
        }
        if (!holds(pass, port)) {
            r = lbc_tags_put(&labels, meta->labels[i]->key, "");
        } else if (is_first_label(meta, i, port)) {
            r = lbc_taken_read(meta, port, &was);
            taken_add_words(&words, port, &was);
        }
    }
    if (r == 0) {
        taken_stand(pass, &words);
    }
    if (r < 0) {
        return ccm_error_nomem(err);
    }
    return labels.len == 0
               ? 0
               : lbc_life_write_labels(&pass->life, pass->req, pass->service, &labels, err);
}
