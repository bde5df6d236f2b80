#include "lbc/pass.h"

#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <stdlib.h>
#include <string.h>

static int advice_defer(struct lbc_pass *pass, bool warning, const char *topic, const char *reason,
                        const char *text)
{
    struct lbc_advice one = { warning, topic, reason, strdup(text) };

    if (one.text == NULL || ccm_array_grow(&pass->advice, &pass->advice_cap, pass->advice_count + 1,
                                           sizeof(*pass->advice)) < 0) {
        free(one.text);
        return -1;
    }
    pass->advice[pass->advice_count++] = one;
    return 0;
}

static void advice_emit_event(struct lbc_pass *pass, bool warning, const char *reason,
                              const char *text)
{
    lbc_life_event(&pass->lbc->life, pass->service, warning, reason, "%s", text);
}

void lbc_pass_advise(struct lbc_pass *pass, bool warning, const char *topic, const char *reason,
                     const char *text)
{
    if (lbc_entry_is_news(pass->entry, topic, text) &&
        (!pass->returning || advice_defer(pass, warning, topic, reason, text) < 0)) {
        advice_emit_event(pass, warning, reason,
                          text); /* once too often without memory, rather than never */
    }
}

void lbc_pass_end_advice(struct lbc_pass *pass, bool complete)
{
    for (size_t i = 0; i < pass->advice_count; i++) {
        const struct lbc_advice *one = &pass->advice[i];

        if (pass->writes > 0) {
            advice_emit_event(pass, one->warning, one->reason, one->text);
        }
        free(one->text);
    }
    free(pass->advice);
    pass->advice = NULL;
    pass->advice_count = 0;
    pass->advice_cap = 0;
    pass->entry->advised = pass->entry->advised || complete || !pass->known;
}

/* --- what is the same for all --- */

static void add_hints(const struct lbc_pass *pass, const struct lbc_hint *hint,
                      struct ccm_buf *text)
{
    const struct ccm_host *host = pass->lbc->host;

    for (; hint->key != NULL; hint++) {
        if (lbc_hint_applies(hint, pass->service) &&
            (hint->unless == NULL ||
             host->option_int(host, hint->unless->group, hint->unless->name) == 0)) {
            ccm_buf_addf(text, "%sannotation %s %s", text->len == 0 ? "" : "; ", hint->key,
                         hint->text);
        }
    }
}

static void add_lacking(void *arg, const struct lbc_anno *row, const char *why)
{
    struct ccm_buf *text = arg;

    ccm_buf_addf(text, "%sannotation %s %s", text->len == 0 ? "" : "; ", row->name, why);
}

/* Who rehearses a take-over has to know; else who lets them count knows already. */
static void advice_emit_unclear(struct lbc_pass *pass)
{
    const char *text = ccm_buf_str(&pass->refused.unclear);

    if (pass->dry) {
        lbc_pass_emit_event(pass, true, "UnclearValue", "UnclearValue", text);
    } else {
        lbc_pass_advise(pass, true, "UnclearValue", "UnclearValue", pass->lbc->loose ? "" : text);
    }
}

void lbc_pass_advise_manifest(struct lbc_pass *pass)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf unknown = { .max = 900 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf hints = { .max = 900 };
    const struct lbc_unserved *field = pass->lbc->ops->unserved;

    lbc_anno_unknown(pass->lbc->ops->annotations, &pass->service->meta, &unknown);
    lbc_pass_advise(pass, true, "UnknownAnnotation", "UnknownAnnotation", ccm_buf_str(&unknown));
    add_hints(pass, lbc_hints, &hints);
    lbc_hint_lacking(pass->lbc->ops->annotations, pass->service, add_lacking, &hints);
    add_hints(pass, pass->lbc->ops->hints, &hints);
    if (pass->refused.idle.len > 0) {
        ccm_buf_addf(&hints, "%s%s", hints.len == 0 ? "" : "; ", ccm_buf_str(&pass->refused.idle));
    }
    lbc_pass_advise(pass, true, "NoEffect", "NoEffect", ccm_buf_str(&hints));
    advice_emit_unclear(pass);
    for (; field->topic != NULL; field++) {
        const bool told =
            (pass->lbc->extras & field->unless) == 0 && lbc_unserved_applies(field, pass->service);

        lbc_pass_advise(pass, true, field->topic,
                        field->reason == NULL ? "UnsupportedField" : field->reason,
                        told ? field->text : "");
    }
}

void lbc_pass_advise_preserve(struct lbc_pass *pass, bool preserve)
{
    CCM_CLEANUP(ccm_freep)
    char *text = ccm_text_format("The lb [%s] will be preserved after the service is deleted.",
                                 lbc_pass_lb_id(pass));

    lbc_pass_advise(pass, true, "preserve", "PreservedOnDelete", preserve ? text : "");
}
