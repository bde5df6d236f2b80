/* When the certificates of https listeners end; read together with what health checks say. */
#include "controller.h"

#include "alilb/action.h"
#include "annotations.h"
#include "api.h"
#include "lbc/report/figures.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/strmap.h"
#include "util/text.h"

#include <string.h>

#define DAY_MS    ((int64_t)24 * 3600 * 1000)
#define SOON_MS   (14 * DAY_MS) /* time enough to get another one */
#define READS_MAX 10            /* calls per look: most Services have one certificate */
#define TOPIC     "certificate"

struct certificate_look {
    struct lbc_pass *pass;
    struct alilb_call *call;
    struct ccm_strmap *seen; /* ids */
    struct ccm_buf text;
    int64_t first_ms; /* when the first of them ends; 0 = none is known */
    bool failed;      /* not all of them could be read */
};

/* ends_ms: since 1970. Without the days that are left: else each day would be an event. */
static void certificate_describe(struct certificate_look *look, const char *id, uint16_t port,
                                 int64_t ends_ms)
{
    const struct ccm_host *host = look->pass->lbc->host;
    const int64_t left_ms = ends_ms - host->wall_ms(host);
    const bool ended = left_ms <= 0;
    char day[CCM_CLOCK_TEXT];

    if (left_ms > SOON_MS) {
        return;
    }
    ccm_clock_format(ends_ms, day, sizeof(day));
    day[strcspn(day, "T")] = '\0';
    ccm_buf_addf(&look->text, "%scertificate [%s] of port %u/https %s %s%s",
                 look->text.len == 0 ? "" : "; ", id, port, ended ? "has expired on" : "ends on",
                 day, ended ? ", so clients refuse to connect" : "");
}

static void certificate_read(struct certificate_look *look, const char *id, uint16_t port)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    const cJSON *first = NULL;

    if (ccm_text_empty(id) || ccm_strmap_has(look->seen, id) ||
        ccm_strmap_len(look->seen) >= READS_MAX) {
        return;
    }
    if (ccm_strmap_set(look->seen, id, NULL) < 0 ||
        alilb_send(look->call, &clb_api_certificate, ALILB_TEXTS(id), &answer, &err) < 0) {
        look->failed = true;
        return;
    }
    first = ccm_json_items(ccm_json_get(answer, "ServerCertificates"), "ServerCertificate");
    if (first != NULL) {
        const int64_t ends_ms = ccm_json_i64(first, "ExpireTimeStamp", INT64_MAX);

        certificate_describe(look, id, port, ends_ms);
        if (ends_ms != INT64_MAX && (look->first_ms == 0 || ends_ms < look->first_ms)) {
            look->first_ms = ends_ms;
        }
    }
}

static void certificates_read(struct certificate_look *look)
{
    const struct clb_state *want = (const struct clb_state *)look->pass->model->want;
    const struct lbc_anno *field = clb_field_find("ServerCertificateId");

    for (size_t i = 0; i < want->lbc.listener_count; i++) {
        const struct clb_listener *listener = clb_listener_at(want, i);

        if (listener->lbc.protocol != LBC_HTTPS) {
            continue;
        }
        certificate_read(look, lbc_attrs_get(&listener->lbc.attrs, field), listener->lbc.port);
        for (size_t k = 0; k < listener->domains.len; k++) {
            certificate_read(look, listener->domains.items[k].cert, listener->lbc.port);
        }
    }
}

void clb_certificates_look(struct lbc_pass *pass, struct alilb_call *call)
{
    struct certificate_look look = {
        .pass = pass, .call = call, .seen = ccm_strmap_new(NULL), .text = { .max = 700 }
    };

    if (look.seen != NULL) {
        certificates_read(&look);
    }
    if (look.text.len > 0) {
        look.text.max = 1000;
        ccm_buf_adds(&look.text, ": upload a renewed one and put its id into annotation "
                                 "cert-id, or domain-extensions");
    }
    if (look.seen != NULL && !look.failed) {
        lbc_figures_set_certificate(pass->lbc->figures, pass->entry->key, look.first_ms);
    }
    if (look.seen != NULL && (look.text.len > 0 || !look.failed)) {
        lbc_pass_emit_standing(pass, TOPIC, "CertificateExpires", ccm_buf_str(&look.text));
    }
    ccm_buf_fini(&look.text);
    ccm_strmap_free(look.seen);
}
