/* Listeners of a person that a Service has taken over (annotation force-override-listeners), in a
 * pass; apply/taken.h has the labels of the Service in which they are kept. */
#include "lbc/pass.h"

#include "lbc/instance.h"
#include "lbc/model/settings.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

bool lbc_taken_restores(const struct lbc_instance *lbc)
{
    return ccm_text_equal(lbc->host->option_string(lbc->host, NULL, lbc_opt_taken.name), "restore");
}

/* --- before and after --- */

static void describe_taken(const struct lbc_taken *taken, struct ccm_buf *text)
{
    const char *group = lbc_tags_get(&taken->was, LBC_TAKEN_GROUP);
    const char *description = lbc_tags_get(&taken->was, LBC_TAKEN_DESCRIPTION);

    ccm_buf_addf(text, "%slistener %s (description [%s], server group [%s])",
                 text->len == 0 ? "" : ", ", taken->port,
                 ccm_text_empty(description) ? "" : description,
                 ccm_text_empty(group) ? "none" : group);
}

static void taken_emit_event(struct lbc_pass *pass, const struct lbc_taken_list *list,
                             bool restores)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 900 };

    for (size_t i = 0; i < list->len; i++) {
        describe_taken(&list->items[i], &text);
    }
    if (list->len > 0) {
        ccm_buf_addf(&text, " of load balancer [%s], which a person made, is taken over: %s",
                     lbc_pass_lb_id(pass),
                     restores ? "it is put back when the Service lets it go"
                              : "it is deleted when the Service lets it go");
        lbc_life_event(&pass->life, pass->service, true, "ListenerTakenOver", "%s",
                       ccm_buf_str(&text));
    }
}

int lbc_taken_remember(struct lbc_pass *pass, const struct lbc_taken_list *list,
                       struct ccm_error *err)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags labels = { 0 };
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
    if (r == 0) {
        taken_emit_event(pass, list, restores);
    }
    return r;
}

int lbc_taken_forget(struct lbc_pass *pass,
                     bool (*holds)(const struct lbc_pass *pass, const char *port),
                     struct ccm_error *err)
{
    const struct ccm_object *meta = &pass->service->meta;
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags labels = { 0 };

    for (uint64_t i = 0; i < meta->label_count; i++) {
        char port[LBC_TAKEN_PORT];

        if (lbc_taken_label_port(meta->labels[i]->key, port) && !holds(pass, port) &&
            lbc_tags_put(&labels, meta->labels[i]->key, "") < 0) {
            return ccm_error_nomem(err);
        }
    }
    return labels.len == 0
               ? 0
               : lbc_life_write_labels(&pass->life, pass->req, pass->service, &labels, err);
}
