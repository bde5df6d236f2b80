#include "alilb/certificates.h"

#include "alicloud/error.h"
#include "alicloud/params.h"
#include "util/book.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define READS_MAX 5 /* lists in a row that others' writes have overtaken */

/* Parameters go in the body: a private key has no place in a URL. */
static const struct alilb_action action_list = {
    .name = "DescribeSSLCertificateList",
    .product = ALI_CAS,
    .may_lack = true,
    .list = "CertMetaList",
    .paging = ALILB_PAGES_NUMBER,
    .page = 50,
    .page_number = "CurrentPage",
    .page_size = "ShowSize",
};
/* A name is taken once: an answer that was lost is found again by it. */
static const struct alilb_action action_make = {
    .name = "CreateSSLCertificateWithName",
    .product = ALI_CAS,
    .repeat = ALI_ONCE,
    .made = "CertIdentifier",
};
static const struct alilb_action action_remove = {
    .name = "DeleteSSLCertificate",
    .product = ALI_CAS,
    .repeat = ALI_IDEMPOTENT,
    .texts = { "CertIdentifier" },
};

struct alilb_certificates {
    struct ccm_book ids; /* by name; heap; its lock guards the rest */
    bool known;          /* the list was read */
    uint64_t changes;    /* of `ids` by writes, and what is forgotten */
};

struct alilb_certificates *alilb_certificates_new(void)
{
    struct alilb_certificates *certificates = calloc(1, sizeof(*certificates));

    if (certificates == NULL) {
        return NULL;
    }
    if (ccm_book_init(&certificates->ids, free) < 0) {
        free(certificates);
        return NULL;
    }
    return certificates;
}

void alilb_certificates_free(struct alilb_certificates *certificates)
{
    if (certificates == NULL) {
        return;
    }
    ccm_book_fini(&certificates->ids);
    free(certificates);
}

void alilb_certificates_forget(struct alilb_certificates *certificates)
{
    (void)ccm_book_open(&certificates->ids);
    certificates->known = false;
    certificates->changes++;
    ccm_book_close(&certificates->ids);
}

/* --- the list --- */

static int ids_put(struct ccm_strmap *ids, const char *name, const char *id)
{
    CCM_CLEANUP(ccm_freep) char *copy = strdup(id);

    if (copy == NULL || ccm_strmap_set(ids, name, copy) < 0) {
        return -ENOMEM;
    }
    (void)CCM_STEAL(copy); /* the map owns it now */
    return 0;
}

static int list_take_item(void *arg, const cJSON *item, struct ccm_error *err)
{
    const char *name = ccm_json_text(item, "CertName");
    const char *id = ccm_json_text(item, "CertIdentifier");

    if (id[0] == '\0' || !ccm_text_starts(name, ALILB_CERTIFICATE_PREFIX)) {
        return 0;
    }
    return ids_put(arg, name, id) < 0 ? ccm_error_nomem(err) : 0;
}

/* 1: nobody has written meanwhile, it counts. */
static int list_read(struct alilb_certificates *certificates, struct alilb_call *call,
                     struct ccm_error *err)
{
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *ids = ccm_strmap_new(free);
    uint64_t changes = 0;
    int r = 0;

    if (ids == NULL) {
        return ccm_error_nomem(err);
    }
    (void)ccm_book_open(&certificates->ids);
    changes = certificates->changes;
    ccm_book_close(&certificates->ids);
    r = alilb_list(call, &action_list, ALILB_TEXTS(NULL), list_take_item, ids, err);
    if (r < 0) {
        return ccm_error_wrap(err, r, "certificates");
    }
    (void)ccm_book_open(&certificates->ids);
    if (changes == certificates->changes) {
        struct ccm_strmap *old = certificates->ids.map;

        certificates->ids.map = ids;
        ids = old;
        certificates->known = true;
        r = 1;
    }
    ccm_book_close(&certificates->ids);
    return r;
}

static int list_know(struct alilb_certificates *certificates, struct alilb_call *call,
                     struct ccm_error *err)
{
    bool known = false;
    int r = 0;

    (void)ccm_book_open(&certificates->ids);
    known = certificates->known;
    ccm_book_close(&certificates->ids);
    for (int i = 0; !known && r == 0 && i < READS_MAX; i++) {
        r = list_read(certificates, call, err);
    }
    if (!known && r == 0) {
        return ccm_error_set(err, -EAGAIN, CCM_ERROR_TRANSIENT,
                             "certificates: the list is never up to date");
    }
    return r < 0 ? r : 0;
}

/* --- what is there --- */

static int ids_find_locked(const struct alilb_certificates *certificates, const char *name,
                           bool starts, char **ret_id, char *ret_name)
{
    const char *found = starts ? NULL : name;
    const char *key = NULL;
    void *cursor = NULL;
    void *value = NULL;

    while (starts && ccm_strmap_next(certificates->ids.map, &cursor, &key, &value)) {
        if (ccm_text_starts(key, name) && (found == NULL || strcmp(key, found) < 0)) {
            found = key;
        }
    }
    value = found == NULL ? NULL : ccm_strmap_get(certificates->ids.map, found);
    if (value == NULL) {
        return 0;
    }
    if (ret_name != NULL) {
        ccm_text_copy(ret_name, ALILB_CERTIFICATE_NAME, found);
    }
    *ret_id = strdup(value);
    return *ret_id == NULL ? -ENOMEM : 0;
}

int alilb_certificates_find(struct alilb_certificates *certificates, struct alilb_call *call,
                            const char *name, bool starts, char **ret_id, char *ret_name,
                            struct ccm_error *err)
{
    int r = list_know(certificates, call, err);

    *ret_id = NULL;
    if (r < 0) {
        return r;
    }
    (void)ccm_book_open(&certificates->ids);
    r = ids_find_locked(certificates, name, starts, ret_id, ret_name);
    ccm_book_close(&certificates->ids);
    return r < 0 ? ccm_error_nomem(err) : 0;
}

int alilb_certificates_names(struct alilb_certificates *certificates, struct alilb_call *call,
                             const char *prefix, bool known, struct lbc_texts *ret,
                             struct ccm_error *err)
{
    int r = known ? 0 : list_know(certificates, call, err);
    const char *key = NULL;
    void *cursor = NULL;
    void *value = NULL;

    if (r < 0) {
        return r;
    }
    (void)ccm_book_open(&certificates->ids);
    r = certificates->known ? 0 : 1;
    while (r == 0 && ccm_strmap_next(certificates->ids.map, &cursor, &key, &value)) {
        r = ccm_text_starts(key, prefix) ? lbc_texts_put(ret, key) : 0;
    }
    ccm_book_close(&certificates->ids);
    return r < 0 ? ccm_error_nomem(err) : 0;
}

/* --- writes --- */

/* id NULL: it is not there any more. What cannot be remembered is read again. */
static void ids_note(struct alilb_certificates *certificates, const char *name, const char *id)
{
    (void)ccm_book_open(&certificates->ids);
    certificates->changes++;
    if (id == NULL) {
        ccm_strmap_del(certificates->ids.map, name);
    } else if (ids_put(certificates->ids.map, name, id) < 0) {
        certificates->known = false;
    }
    ccm_book_close(&certificates->ids);
}

static int certificate_send(struct alilb_certificates *certificates, struct alilb_call *call,
                            const char *name, const struct alilb_tls_secret *secret, char **ret_id,
                            struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    struct lbc_sent sent = { 0 };
    int r = 0;

    ali_param_add(&params, "CertName", name);
    ali_param_add(&params, "Certificate", ccm_secret_text(&secret->certificate));
    ali_param_add(&params, ALI_PARAM_PRIVATE_KEY, ccm_secret_text(&secret->key));
    r = alilb_write(call, &action_make, ALILB_PARAMS(&params), &sent, err);
    if (r == 0) {
        *ret_id = sent.made_id;
        ids_note(certificates, name, sent.made_id);
    } else {
        free(sent.made_id);
    }
    return r;
}

int alilb_certificates_make(struct alilb_certificates *certificates, struct alilb_call *call,
                            const char *name, const struct alilb_tls_secret *secret, char **ret_id,
                            struct ccm_error *err)
{
    struct ccm_error own = CCM_ERROR_INIT;
    int r = alilb_certificates_find(certificates, call, name, false, ret_id, NULL, err);
    bool uncertain = false;

    if (r < 0 || *ret_id != NULL) {
        return r;
    }
    r = certificate_send(certificates, call, name, secret, ret_id, err);
    uncertain = call->uncertain;
    if (r == 0 || (!uncertain && ali_error_is_wait(err))) {
        return r;
    }
    /* It may be there all the same: its answer was lost, now or in an earlier process, or another
     * worker was faster. */
    alilb_certificates_forget(certificates);
    if (alilb_certificates_find(certificates, call, name, false, ret_id, NULL, &own) == 0 &&
        *ret_id != NULL) {
        return 0;
    }
    call->uncertain = uncertain;
    return r;
}

int alilb_certificates_remove(struct alilb_certificates *certificates, struct alilb_call *call,
                              const char *name, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *id = NULL;
    int r = alilb_certificates_find(certificates, call, name, false, &id, NULL, err);

    if (r < 0 || id == NULL) {
        return r;
    }
    r = alilb_write(call, &action_remove, ALILB_TEXTS(id), NULL, err);
    if (r < 0 && err->kind == CCM_ERROR_NOT_FOUND) {
        r = 0;
    }
    if (r == 0) {
        ids_note(certificates, name, NULL);
    }
    return r;
}
