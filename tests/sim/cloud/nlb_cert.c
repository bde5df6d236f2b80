/* Additional certificates of TCPSSL listeners. */
#include "families.h"
#include "nlb.h"
#include "plain.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

#define CERTS_MAX      25
#define CERTS_PER_CALL 15

int ccm_nlb_cert_check(struct ccm_cloud_call *call, const char *id, bool ca)
{
    CCM_CLEANUP(ccm_freep) char *tail = ccm_text_format("-%s", call->cloud->region);
    CCM_CLEANUP(ccm_freep) char *plain = strdup(id);

    if (tail == NULL || plain == NULL) {
        return -ENOMEM;
    }
    /* Certificates are named with or without the region. */
    if (ccm_text_ends(plain, tail)) {
        plain[strlen(plain) - strlen(tail)] = '\0';
    }
    if (ccm_cloud_plain_get(call->cloud, CCM_CLOUD_CAS_CERT, plain) != NULL ||
        ccm_cloud_plain_get(call->cloud, CCM_CLOUD_CAS_CERT, id) != NULL ||
        (ca && ccm_cloud_plain_get(call->cloud, CCM_CLOUD_CA_CERT, id) != NULL)) {
        return 0;
    }
    return ca ? ccm_nlb_fail_absent(call, "CaCertificate")
              : ccm_cloud_fail(call, 400, "ResourceNotFound.Certificate",
                               "The specified resource %s is not found.", id);
}

static int check_protocol(struct ccm_cloud_call *call, const struct ccm_nlb_listener *listener)
{
    return ccm_text_equal(ccm_cloud_attr(&listener->obj, "ListenerProtocol"), "TCPSSL")
               ? 0
               : ccm_nlb_fail_denied(call, "Protocol");
}

/* Distinct ids of the request. */
static int ids_read(struct ccm_cloud_call *call, struct ccm_sim_params *ret)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params list = { 0 };
    int r = ccm_cloud_list(call, "AdditionalCertificateIds", &list);

    for (size_t i = 0; i < list.len && r == 0; i++) {
        r = ccm_sim_params_set(ret, list.items[i].value, "");
    }
    return r;
}

/* job->set: the certificates. Whatever is in motion comes to rest: on success it moves on, else it
 * goes back. */
static int certs_end(struct ccm_cloud *cloud, struct ccm_cloud_job *job, bool ok)
{
    struct ccm_nlb_listener *listener =
        ccm_nlb_listener_get(cloud, ccm_cloud_attr(&job->obj, "ResourceId"));
    int r = 0;

    if (listener == NULL) {
        return -ENOENT;
    }
    ccm_nlb_status_set(&listener->obj, "ListenerStatus", ccm_cloud_attr(&job->obj, "Before"));
    for (size_t i = 0; i < job->set.len && r == 0; i++) {
        const char *id = job->set.items[i].name;
        bool comes = ccm_text_equal(job->set.items[i].value, "Associating");

        if (comes == ok) {
            r = ccm_sim_params_set(&listener->certs, id, "Associated");
        } else {
            ccm_sim_params_del(&listener->certs, id);
        }
    }
    return r;
}

static int change(struct ccm_cloud_call *call, struct ccm_nlb_listener *listener,
                  const struct ccm_sim_params *ids, const char *status)
{
    struct ccm_cloud_job *job = NULL;
    int r = ccm_nlb_dry_run(call);

    r = r < 0 ? r
              : ccm_nlb_job(call, &listener->obj, "ListenerStatus", "Configuring", certs_end, &job);
    for (size_t i = 0; i < ids->len && r == 0; i++) {
        r = ccm_sim_params_set(&listener->certs, ids->items[i].name, status);
        r = r < 0 ? r : ccm_sim_params_set(&job->set, ids->items[i].name, status);
    }
    return r;
}

static int associate(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params ids = { 0 };
    struct ccm_nlb_listener *listener = NULL;
    int r = ccm_nlb_listener_for_change(call, &listener);

    r = r < 0 ? r : check_protocol(call, listener);
    r = r < 0 ? r : ids_read(call, &ids);
    for (size_t i = 0; i < ids.len && r == 0; i++) {
        const char *id = ids.items[i].name;

        r = ccm_nlb_cert_check(call, id, false);
        if (r == 0 && (ccm_sim_params_get(&listener->certs, id) != NULL ||
                       ccm_cloud_list_has(ccm_cloud_attr(&listener->obj, "CertificateIds"), id))) {
            r = ccm_cloud_fail(call, 400, "ResourceAlreadyAssociated.Certificate",
                               "The specified resource %s is already associated.", id);
        }
    }
    if (r == 0 && listener->certs.len + ids.len > CERTS_MAX) {
        r = ccm_nlb_fail_quota(call, "listener_additional_certificates_num", listener->certs.len,
                               CERTS_MAX);
    }
    return r < 0 ? r : change(call, listener, &ids, "Associating");
}

static int disassociate(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params ids = { 0 };
    struct ccm_nlb_listener *listener = NULL;
    int r = ccm_nlb_listener_for_change(call, &listener);

    r = r < 0 ? r : check_protocol(call, listener);
    r = r < 0 ? r : ids_read(call, &ids);
    for (size_t i = 0; i < ids.len && r == 0; i++) {
        const char *id = ids.items[i].name;

        if (ccm_cloud_list_has(ccm_cloud_attr(&listener->obj, "CertificateIds"), id)) {
            r = ccm_nlb_fail_denied(call, "DefaultCertificateUsed");
        } else if (ccm_cloud_list_has(ccm_cloud_attr(&listener->obj, "CaCertificateIds"), id)) {
            r = ccm_nlb_fail_denied(call, "CaCertificateUsed");
        } else if (ccm_sim_params_get(&listener->certs, id) == NULL) {
            r = ccm_cloud_fail(call, 400, "ResourceNotAssociated.Certificate",
                               "The specified resource %s is not associated.", id);
        }
    }
    return r < 0 ? r : change(call, listener, &ids, "Diassociating"); /* as the service spells it */
}

/* ---- list ---- */

struct cert {
    const char *id;
    const char *type;
    const char *status;
    bool is_default;
};

/* Ids, and items, of those on the page: two lists of the same answer. */
struct lists {
    struct ccm_buf ids;
    struct ccm_buf items;
    struct ccm_jsonw ids_w;
    struct ccm_jsonw items_w;
    struct ccm_sim_params wanted;
    struct ccm_nlb_page page;
    uint64_t index;
};

static void lists_fini(struct lists *lists)
{
    ccm_buf_fini(&lists->ids);
    ccm_buf_fini(&lists->items);
    ccm_sim_params_fini(&lists->wanted);
}

static void cert_take(const struct ccm_cloud_call *call, struct lists *lists,
                      const struct cert *cert)
{
    const char *type = ccm_cloud_text(call, "CertType", NULL);
    struct ccm_jsonw *w = &lists->items_w;

    lists->index++;
    if ((type != NULL && !ccm_text_equal_case(type, cert->type)) ||
        !ccm_nlb_list_has(&lists->wanted, cert->id) ||
        !ccm_nlb_page_takes(&lists->page, lists->index, 0)) {
        return;
    }
    ccm_jsonw_str(&lists->ids_w, NULL, cert->id);
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "CertificateId", cert->id);
    ccm_jsonw_str(w, "CertificateType", cert->type);
    ccm_jsonw_bool(w, "IsDefault", cert->is_default);
    ccm_jsonw_str(w, "Status", cert->status);
    ccm_jsonw_close(w, '}');
}

/* A listener has at most one of each of these. */
static void single_take(const struct ccm_cloud_call *call, struct lists *lists, const char *id,
                        const char *type)
{
    if (!ccm_text_empty(id)) {
        cert_take(call, lists,
                  &(struct cert){ .id = id,
                                  .type = type,
                                  .status = "Associated",
                                  .is_default = ccm_text_equal(type, "Server") });
    }
}

static int list(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(lists_fini) struct lists lists = { 0 };
    struct ccm_nlb_listener *listener = NULL;
    int r = ccm_nlb_listener_of(call, &listener);

    r = r < 0 ? r : check_protocol(call, listener);
    r = r < 0 ? r : ccm_nlb_page_read(call, 20, &lists.page);
    r = r < 0 ? r : ccm_cloud_list(call, "CertificateIds", &lists.wanted);
    if (r < 0) {
        return r;
    }
    lists.ids_w.buf = &lists.ids;
    lists.items_w.buf = &lists.items;
    ccm_jsonw_open(&lists.ids_w, NULL, '[');
    ccm_jsonw_open(&lists.items_w, NULL, '[');
    single_take(call, &lists, ccm_cloud_attr(&listener->obj, "CertificateIds"), "Server");
    single_take(call, &lists, ccm_cloud_attr(&listener->obj, "CaCertificateIds"), "Ca");
    for (size_t i = 0; i < listener->certs.len; i++) {
        cert_take(call, &lists,
                  &(struct cert){ .id = listener->certs.items[i].name,
                                  .type = "Server",
                                  .status = listener->certs.items[i].value });
    }
    ccm_jsonw_close(&lists.ids_w, ']');
    ccm_jsonw_close(&lists.items_w, ']');
    ccm_jsonw_raw(call->out, "CertificateIds", ccm_buf_str(&lists.ids));
    ccm_jsonw_raw(call->out, "Certificates", ccm_buf_str(&lists.items));
    ccm_nlb_page_write(call, &lists.page);
    r = ccm_buf_error(&lists.ids);
    return r < 0 ? r : ccm_buf_error(&lists.items);
}

static const struct ccm_cloud_param change_params[] = {
    { .name = "AdditionalCertificateIds.N", .required = true, .items = CERTS_PER_CALL },
    CCM_NLB_WRITE_ROWS,
    { .name = "ListenerId", .required = true },
    { 0 },
};

static const struct ccm_cloud_param list_params[] = {
    { .name = "CertType", .type = CCM_CLOUD_ENUM, .values = "Ca|Server" },
    { .name = "CertificateIds.N", .items = 100 },
    { .name = "ListenerId", .required = true },
    CCM_NLB_PAGE_ROWS(50),
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_nlb_cert_actions[] = {
    { .name = "AssociateAdditionalCertificatesWithListener",
      .params = change_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = associate },
    { .name = "DisassociateAdditionalCertificatesWithListener",
      .params = change_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = disassociate },
    { .name = "ListListenerCertificates",
      .params = list_params,
      .manner = &ccm_nlb_manner,
      .run = list },
    { 0 },
};
