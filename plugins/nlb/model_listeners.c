#include "annotations.h"
#include "lbc/model/tags.h"
#include "model_parts.h"
#include "names.h"
#include "nlb.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- values --- */

static int set_number(struct lbc_attrs *attrs, const struct lbc_field *field,
                      const struct lbc_anno *row, const char *value)
{
    char text[24];
    int64_t number = 0;

    if (ccm_parse_i64(value, INT64_MIN, INT64_MAX, &number) < 0 ||
        (number == 0 && (row->flags & LBC_ANNO_ZERO) != 0)) {
        return 0; /* 0 means "not set"; what is no number was refused before */
    }
    ccm_text_printf(text, sizeof(text), "%" PRId64, number);
    return lbc_attrs_set(attrs, field, text, true);
}

static int set_choice(struct lbc_attrs *attrs, const struct lbc_field *field,
                      const struct lbc_anno *row, const char *value)
{
    char text[64];

    lbc_anno_spell(row->values, value, text, sizeof(text));
    return lbc_attrs_set(attrs, field, text, true);
}

/* Without the blanks around commas. */
static int set_list(struct lbc_attrs *attrs, const struct lbc_field *field, const char *value)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 4096 };
    const char *cursor = value;
    const char *piece = NULL;
    size_t len = 0;

    while (ccm_parse_piece(&cursor, ',', &piece, &len)) {
        if (len > 0) {
            ccm_buf_addf(&text, "%s%.*s", text.len == 0 ? "" : ",", (int)len, piece);
        }
    }
    return ccm_buf_error(&text) < 0 ? -ENOMEM
                                    : lbc_attrs_set(attrs, field, ccm_buf_str(&text), true);
}

int nlb_model_set(struct lbc_attrs *attrs, const struct lbc_field *field,
                  const struct lbc_anno *row, const char *value)
{
    switch (row->type) {
    case LBC_ANNO_INT:
        return set_number(attrs, field, row, value);
    case LBC_ANNO_ENUM:
        return set_choice(attrs, field, row, value);
    case LBC_ANNO_BOOL:
    case LBC_ANNO_SWITCH:
        return lbc_attrs_set(attrs, field, lbc_anno_is_on(value) ? "true" : "false", true);
    case LBC_ANNO_TEXT:
    case LBC_ANNO_ANY:
        break;
    }
    return (field->flags & NLB_FIELD_LIST) != 0 ? set_list(attrs, field, value)
                                                : lbc_attrs_set(attrs, field, value, true);
}

/* --- listeners --- */

/* The value, or the switch that it counts with, cannot be used. */
static bool annotation_is_kept(const struct lbc_refusals *refused, const struct lbc_anno *row)
{
    const char *gate = nlb_annotation_gate(row);

    return lbc_refusals_keeps(refused, row) || (gate != NULL && lbc_refusals_has(refused, gate));
}

bool nlb_model_keep(struct lbc_attrs *attrs, const struct lbc_field *field,
                    const struct lbc_refusals *refused, const struct lbc_anno *row, int *ret)
{
    const bool kept = annotation_is_kept(refused, row);

    *ret = kept ? lbc_attrs_keep(attrs, field) : 0;
    return kept;
}

static int listener_set_annotations(struct nlb_listener *listener,
                                    const struct ccm_service *service,
                                    const struct lbc_refusals *refused)
{
    const bool alpn = lbc_anno_is_on(lbc_anno_get(&service->meta, "alpn"));
    int r = 0;

    for (size_t i = 0; r == 0 && i < nlb_annotations.count; i++) {
        const struct lbc_anno *row = &nlb_annotations.rows[i];
        const char *value = lbc_anno_value(&service->meta, row);
        const struct lbc_field *field = row->group == LBC_ANNO_LISTENER && row->field != NULL
                                            ? nlb_listener_field(row->field)
                                            : NULL;

        if (field == NULL || !nlb_field_applies(field, listener->lbc.protocol)) {
            continue;
        }
        listener->lbc.lacks = listener->lbc.lacks || lbc_refusals_fails(refused, row);
        if (nlb_model_keep(&listener->lbc.attrs, field, refused, row, &r) || value[0] == '\0' ||
            (!alpn && strcmp(row->field, "AlpnPolicy") == 0)) {
            continue;
        }
        r = nlb_model_set(&listener->lbc.attrs, field, row, value);
    }
    return r;
}

static int set_certificates(struct nlb_listener *listener, const struct ccm_service *service)
{
    if (listener->lbc.protocol != LBC_TCPSSL) {
        return 0;
    }
    listener->certs_known = lbc_anno_is_set(&service->meta, "additional-cert-ids");
    return lbc_texts_split(&listener->certs, lbc_anno_get(&service->meta, "additional-cert-ids"));
}

static char *listener_format_description(const struct ccm_service *service, const char *cluster_id,
                                         const struct nlb_desired_port *want)
{
    char key[16];

    if (want->span.range) {
        ccm_text_printf(key, sizeof(key), "%u_%u", want->span.start, want->span.end);
    } else {
        ccm_text_printf(key, sizeof(key), "%u", want->span.start);
    }
    return nlb_name_format(key, want->lbc.protocol, &service->meta, cluster_id, NLB_TEXT_MAX);
}

/* Whether something that it would be made with cannot be used, beside its own attributes. */
static bool lacks_more(const struct nlb_model *model, const struct lbc_refusals *refused,
                       enum lbc_protocol protocol)
{
    bool lacks = model->keep_security ||
                 (protocol == LBC_TCPSSL && lbc_refusals_has(refused, "additional-cert-ids"));

    for (size_t i = 0; !lacks && i < nlb_annotations.count; i++) {
        const struct lbc_anno *row = &nlb_annotations.rows[i];

        lacks = row->group == LBC_ANNO_SERVERS && lbc_refusals_fails(refused, row);
    }
    return lacks;
}

int nlb_model_listener(struct nlb_model *model, const struct lbc_model_input *in,
                       const struct nlb_desired_port *want)
{
    const struct ccm_service *service = in->service;
    CCM_CLEANUP(ccm_freep)
    char *text = listener_format_description(service, in->cluster_id, want);
    struct nlb_listener *listener = text == NULL ? NULL : nlb_state_new_listener(&model->want);

    if (listener == NULL) {
        return -ENOMEM;
    }
    listener->lbc.protocol = want->lbc.protocol;
    listener->lbc.port = want->span.start;
    listener->lbc.last_port = want->span.end;
    listener->range = want->span.range;
    listener->lbc.broken = want->lbc.broken;
    listener->lbc.lacks = lacks_more(model, in->refused, want->lbc.protocol);
    listener->lbc.description = CCM_STEAL(text);
    listener->lbc.group = want->lbc.group;
    if (lbc_text_set(&listener->lbc.group_name, want->lbc.name) < 0 ||
        lbc_text_set(&listener->lbc.group_id, want->lbc.chosen) < 0 ||
        listener_set_annotations(listener, service, in->refused) < 0 ||
        set_certificates(listener, service) < 0) {
        return -ENOMEM;
    }
    return 0;
}
