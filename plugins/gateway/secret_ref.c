#include "secret_ref.h"

#include "alilb/uploads.h"
#include "lbc/custom/condition.h"
#include "lbc/custom/grant.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REFS_MAX 64 /* of a listener, by the API */

static void listener_refuse_ref(struct gateway_listener *one, const char *reason, const char *why)
{
    one->unresolved = one->unresolved == NULL ? reason : one->unresolved;
    one->unresolved_why = one->unresolved_why == NULL ? why : one->unresolved_why;
}

/* *ret_key NULL with 0: the listener says why it cannot be used; *denied: for lack of consent. */
static int ref_read(const struct gateway *self, struct gateway_listener *one, const cJSON *ref,
                    char **ret_key, bool *denied)
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
        listener_refuse_ref(one, GATEWAY_INVALID_REF,
                            "certificateRefs names something else than a Secret");
        return 0;
    }
    if (!lbc_custom_reference_is_granted(self->host, &reference)) {
        *denied = true; /* whatever else is wrong */
        one->unresolved = "RefNotPermitted";
        one->unresolved_why =
            "no ReferenceGrant of another namespace lets the Gateway use a Secret there";
        return 0;
    }
    *ret_key = lbc_custom_key(reference.namespace_, reference.name);
    return *ret_key == NULL ? -ENOMEM : 0;
}

/* What is wrong with a Secret, in words of its own. */
static int listener_tell_secret(struct gateway_listener *one, const char *key, const char *why)
{
    if (one->certificate_why == NULL) {
        one->certificate_why = ccm_text_format("Secret %s: %s", key, why);
    }
    listener_refuse_ref(one, GATEWAY_INVALID_REF, one->certificate_why);
    return one->certificate_why == NULL ? -ENOMEM : 0;
}

/* One that may be used, as it was read last. Certificates behind one that is not known are not
 * used: the first is the default. */
static int listener_add_secret(const struct gateway *self, struct gateway_listener *one,
                               const char *key, struct ccm_buf *ids)
{
    struct alilb_upload upload = { 0 };
    int r = 0;

    (void)alilb_uploads_get(self->uploads, key, &upload); /* else it is not known */
    if (upload.why[0] != '\0') {
        r = listener_tell_secret(one, key, upload.why);
    }
    one->pending = one->pending || (!upload.known && upload.why[0] == '\0');
    one->unread = one->unread || !upload.known;
    one->open = one->open || (!upload.known && !upload.listed);
    if (!one->open && upload.id[0] != '\0') {
        ccm_buf_addf(ids, "%s%s", ids->len == 0 ? "" : ",", upload.id);
    }
    return r == 0 && upload.name[0] != '\0' ? lbc_texts_put(&one->uploads, upload.name) : r;
}

/* Until its Secrets are read the status of the listener stays. */
static void listener_recall(struct gateway_listener *one)
{
    const cJSON *resolved = lbc_custom_condition_find(one->said, GATEWAY_RESOLVED_REFS);
    const cJSON *programmed = lbc_custom_condition_find(one->said, GATEWAY_PROGRAMMED);

    if (ccm_text_equal(ccm_json_text(resolved, "status"), "False")) {
        listener_refuse_ref(one, lbc_custom_text(resolved, "reason", GATEWAY_INVALID_REF),
                            ccm_json_text(resolved, "message"));
    }
    one->unusable =
        one->unusable || (one->uploaded == NULL &&
                          ccm_text_equal(ccm_json_text(programmed, "reason"), GATEWAY_INVALID));
}

/* After all Secrets. Without consent the listener is deleted, unless its certificate in the cloud
 * may be that of a Secret with consent. */
static void listener_end_secrets(struct gateway_listener *one, bool denied)
{
    one->certificates = one->uploaded == NULL ? "" : one->uploaded;
    if (one->uploaded == NULL) {
        one->keeps = one->open || !denied;
        one->unusable = one->unusable || !one->unread || !one->keeps;
    }
    if (one->pending) {
        listener_recall(one);
    }
}

int gateway_secrets_read(const struct gateway *self, struct gateway_listener *listener)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf ids = { .max = 16384 };
    const cJSON *ref = ccm_json_items(ccm_json_get(listener->json, "tls"), "certificateRefs");
    bool denied = false;
    int r = 0;

    listener->uses_secrets = alilb_uploads_are_on(self->host);
    for (size_t i = 0; r == 0 && ref != NULL; i++, ref = ref->next) {
        CCM_CLEANUP(ccm_freep) char *key = NULL;

        if (i == REFS_MAX) {
            listener_refuse_ref(listener, GATEWAY_INVALID_REF,
                                "certificateRefs has more than 64 entries");
            break;
        }
        r = ref_read(self, listener, ref, &key, &denied);
        if (r == 0 && key != NULL && !listener->uses_secrets) {
            listener_refuse_ref(listener, GATEWAY_INVALID_REF,
                                "certificates of Secrets are only served with option "
                                "upload_certificates: else name the ids of such as the certificate "
                                "service has in tls.options, key " GATEWAY_CERTIFICATES_KEY);
        } else if (r == 0 && key != NULL) {
            r = listener_add_secret(self, listener, key, &ids);
        }
    }
    if (r == 0 && ids.len > 0) {
        r = ccm_buf_take(&ids, &listener->uploaded);
    }
    listener_end_secrets(listener, denied);
    return r;
}

int gateway_secrets_put(const struct gateway *self, const struct gateway_listener *listener,
                        struct lbc_texts *to)
{
    struct gateway_listener copy = *listener; /* what is wrong stands there already */
    const cJSON *ref = ccm_json_items(ccm_json_get(copy.json, "tls"), "certificateRefs");
    bool denied = false;
    int r = 0;

    for (size_t i = 0; r == 0 && copy.uses_secrets && ref != NULL && i < REFS_MAX;
         i++, ref = ref->next) {
        CCM_CLEANUP(ccm_freep) char *key = NULL;

        r = ref_read(self, &copy, ref, &key, &denied);
        r = r == 0 && key != NULL && !lbc_texts_has(to, key) ? lbc_texts_put(to, key) : r;
    }
    return r;
}
