#include "secret_ref.h"

#include "alilb/uploads.h"
#include "lbc/custom/grant.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INVALID_REF "InvalidCertificateRef"

static void listener_refuse_ref(struct gateway_listener *one, const char *reason, const char *why)
{
    one->unresolved = one->unresolved == NULL ? reason : one->unresolved;
    one->unresolved_why = one->unresolved_why == NULL ? why : one->unresolved_why;
}

/* *ret_key NULL with 0: the listener says why it cannot be used. */
static int ref_read(const struct gateway *self, struct gateway_listener *one, const cJSON *ref,
                    char **ret_key)
{
    const struct lbc_custom_reference reference = { GATEWAY_GROUP,
                                                    one->owner_kind,
                                                    one->owner->namespace_,
                                                    "Secret",
                                                    lbc_custom_text(ref, "namespace",
                                                                    one->owner->namespace_),
                                                    lbc_custom_text(ref, "name", "") };

    *ret_key = NULL;
    if (lbc_custom_text(ref, "group", "")[0] != '\0' ||
        strcmp(lbc_custom_text(ref, "kind", "Secret"), "Secret") != 0) {
        listener_refuse_ref(one, INVALID_REF, "certificateRefs names something else than a Secret");
        return 0;
    }
    if (!lbc_custom_reference_is_granted(self->host, &reference)) {
        listener_refuse_ref(one, "RefNotPermitted",
                            "no ReferenceGrant of another namespace lets the Gateway use a Secret "
                            "there");
        return 0;
    }
    *ret_key = lbc_custom_key(reference.namespace_, reference.name);
    return *ret_key == NULL ? -ENOMEM : 0;
}

/* What is wrong with a Secret, in words of its own. */
static int listener_tell_secret(struct gateway_listener *one, const char *key, const char *why)
{
    if (one->secret_why == NULL) {
        one->secret_why = ccm_text_format("Secret %s: %s", key, why);
    }
    listener_refuse_ref(one, INVALID_REF, one->secret_why);
    return one->secret_why == NULL ? -ENOMEM : 0;
}

int gateway_secrets_read(const struct gateway *self, struct gateway_listener *listener)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf ids = { .max = 16384 };
    const cJSON *ref = ccm_json_items(ccm_json_get(listener->json, "tls"), "certificateRefs");
    int r = 0;

    listener->uses_secrets = alilb_uploads_are_on(self->host);
    for (; r == 0 && ref != NULL; ref = ref->next) {
        CCM_CLEANUP(ccm_freep) char *key = NULL;
        struct alilb_upload upload = { 0 };

        r = ref_read(self, listener, ref, &key);
        if (r < 0 || key == NULL) {
            continue;
        }
        if (!listener->uses_secrets) {
            listener_refuse_ref(listener, INVALID_REF,
                                "certificates of Secrets are only served with option "
                                "upload_certificates: else name the ids of such as the certificate "
                                "service has in tls.options, key " GATEWAY_CERTIFICATES_KEY);
            continue;
        }
        if (!alilb_uploads_get(self->uploads, key, &upload)) {
            r = listener_tell_secret(listener, key, "it was not read yet");
        } else if (upload.why[0] != '\0') {
            r = listener_tell_secret(listener, key, upload.why);
        }
        if (upload.id[0] != '\0') {
            ccm_buf_addf(&ids, "%s%s", ids.len == 0 ? "" : ",", upload.id);
        }
    }
    if (r == 0 && ids.len > 0) {
        r = ccm_buf_take(&ids, &listener->uploaded);
    }
    listener->certificates = listener->uploaded == NULL ? "" : listener->uploaded;
    listener->unusable = listener->unusable || listener->uploaded == NULL;
    return r;
}

int gateway_secrets_put(const struct gateway *self, const struct gateway_listener *listener,
                        struct lbc_texts *to)
{
    struct gateway_listener copy = *listener; /* what is wrong stands there already */
    const cJSON *ref = ccm_json_items(ccm_json_get(copy.json, "tls"), "certificateRefs");
    int r = 0;

    for (; r == 0 && copy.uses_secrets && ref != NULL; ref = ref->next) {
        CCM_CLEANUP(ccm_freep) char *key = NULL;

        r = ref_read(self, &copy, ref, &key);
        r = r == 0 && key != NULL && !lbc_texts_has(to, key) ? lbc_texts_put(to, key) : r;
    }
    return r;
}
