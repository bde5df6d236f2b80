/* Which listeners a Service wants. */
#include "annotations.h"
#include "lbc/model/tags.h"
#include "model_parts.h"
#include "nlb.h"
#include "owner_key.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int set_certificates(struct nlb_listener *listener, const struct ccm_service *service)
{
    if (listener->lbc.protocol != LBC_TCPSSL) {
        return 0;
    }
    listener->lbc.certs_known = lbc_anno_is_set(&service->meta, "additional-cert-ids");
    return lbc_texts_split(&listener->certs, lbc_anno_get(&service->meta, "additional-cert-ids"));
}

static char *listener_format_description(const struct ccm_service *service, const char *cluster_id,
                                         const struct lbc_desired_port *want)
{
    char key[16];

    if (want->span.range) {
        ccm_text_printf(key, sizeof(key), "%u_%u", want->span.start, want->span.end);
    } else {
        ccm_text_printf(key, sizeof(key), "%u", want->span.start);
    }
    return nlb_name_format(key, want->protocol, &service->meta, cluster_id, NLB_TEXT_MAX);
}

/* Whether something that it would be made with cannot be used, beside its own attributes. */
static bool lacks_more(const struct lbc_builder *b, enum lbc_protocol protocol)
{
    const struct nlb_model *model = (const struct nlb_model *)b->model;
    const struct lbc_refusals *refused = b->in->refused;
    bool lacks = model->keep_security ||
                 (protocol == LBC_TCPSSL && lbc_refusals_has(refused, "additional-cert-ids"));

    for (size_t i = 0; !lacks && i < nlb_annotations.count; i++) {
        const struct lbc_anno *row = &nlb_annotations.rows[i];

        lacks = row->group == LBC_ANNO_SERVERS && lbc_refusals_fails(refused, row);
    }
    return lacks;
}

int nlb_model_listener(struct lbc_builder *b, const struct lbc_desired_port *want,
                       struct ccm_error *err)
{
    const struct ccm_service *service = b->in->service;
    struct nlb_listener *listener = (struct nlb_listener *)lbc_model_listener(
        b, want, listener_format_description(service, b->in->cluster_id, want));

    if (listener == NULL || lbc_text_set(&listener->lbc.group_id, want->chosen) < 0 ||
        set_certificates(listener, service) < 0) {
        return ccm_error_nomem(err);
    }
    listener->lbc.lacks = listener->lbc.lacks || lacks_more(b, want->protocol);
    return 0;
}
