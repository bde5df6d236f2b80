/* Carries out steps about listeners. */
#include "api.h"
#include "apply_parts.h"
#include "lbc/apply/record.h"
#include "lbc/model/owner.h"
#include "plan_parts.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdint.h>

#define CERT "ServerCertificateId"

/* --- what must be there first --- */

/* An empty list would let everybody in. */
static bool lacks_acl(const struct lbc_apply *apply, const struct lbc_listener *to)
{
    const struct clb_acl *acl = &clb_apply_have(apply)->acl;

    return to->ranges && (acl->id == NULL || acl->entries.len == 0);
}

/* A listener that forwards cannot be made before the one it leads to. */
static bool lacks_target(const struct lbc_apply *apply, const struct lbc_listener *to)
{
    const uint16_t target = clb_forward_target(to);

    return target != 0 && lbc_state_listener_on(apply->have, LBC_HTTPS, target, target) == NULL;
}

/* A listener of ours still forwards here, because its own deletion failed. */
static bool is_target(const struct lbc_apply *apply, const struct lbc_step *step)
{
    const struct lbc_state *have = apply->have;

    for (size_t i = 0; i < have->listener_count; i++) {
        const struct lbc_listener *one = have->listeners[i];

        if (step->protocol == LBC_HTTPS && clb_forward_target(one) == step->port &&
            one->description != NULL &&
            lbc_owner_parse(one->description, true, &apply->service->meta,
                            alilb_apply_call(apply)->cluster_id) == LBC_OWNER_OURS) {
            return apply->failed > 0;
        }
    }
    return false;
}

/* Bound to the list that is asked for, as far as we know. */
static bool listener_is_unlisted(const struct lbc_listener *to, const struct lbc_listener *present)
{
    return to->ranges && !lbc_attrs_is_on(&present->attrs, clb_field_find("AclStatus"));
}

bool clb_apply_is_blocked(const struct lbc_apply *apply, const struct lbc_step *step)
{
    const struct lbc_listener *to = step->to;

    switch (step->type) {
    case LBC_STEP_CREATE_LISTENER:
        return lacks_acl(apply, to) || lacks_target(apply, to);
    case LBC_STEP_UPDATE_LISTENER:
        return lacks_acl(apply, to);
    case CLB_STEP_START_LISTENER:
        return listener_is_unlisted(to, step->listener);
    case LBC_STEP_DELETE_LISTENER:
        return is_target(apply, step);
    case CLB_STEP_ADD_ENTRIES:
    case CLB_STEP_REMOVE_ENTRIES:
    case CLB_STEP_DELETE_ACL:
        return clb_apply_have(apply)->acl.id == NULL;
    default:
        return false;
    }
}

/* --- certificates --- */

/* *ret_expires_ms: -1 when the cloud does not know the certificate. */
static int read_certificate(struct lbc_apply *apply, const char *id, int64_t *ret_expires_ms,
                            struct ccm_error *err)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    const int r =
        alilb_send(alilb_apply_call(apply), &clb_api_certificate, ALILB_TEXTS(id), &answer, err);
    const cJSON *first;

    *ret_expires_ms = -1;
    if (r < 0) {
        return r;
    }
    first = ccm_json_items(ccm_json_get(answer, "ServerCertificates"), "ServerCertificate");
    if (first != NULL && first->next != NULL) {
        return ccm_error_set(err, -EEXIST, CCM_ERROR_TERMINAL,
                             "find more than 1 server cert by id %s", id);
    }
    if (first != NULL) {
        *ret_expires_ms = ccm_json_i64(first, "ExpireTimeStamp", INT64_MAX);
    }
    return 0;
}

/* A certificate that serves is not replaced by one that is missing or out of date. */
static int check_certificate(struct lbc_apply *apply, const char *old_id, const char *new_id,
                             struct ccm_error *err)
{
    const struct ccm_host *host = apply->host;
    int64_t old_ms = -1;
    int64_t new_ms = -1;
    int r = read_certificate(apply, old_id, &old_ms, err);

    if (r < 0) {
        return ccm_error_wrap(err, r, "describe old cert %s error", old_id);
    }
    if (old_ms < 0) {
        return 0;
    }
    r = read_certificate(apply, new_id, &new_ms, err);
    if (r < 0) {
        return ccm_error_wrap(err, r, "describe new cert %s error", new_id);
    }
    if (new_ms < 0) {
        return ccm_error_set(err, -ENOENT, CCM_ERROR_TERMINAL, "can not found cert by id %s",
                             new_id);
    }
    if (new_ms < host->wall_ms(host)) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "can not update cert %s because it is expired", new_id);
    }
    return 0;
}

/* --- the listener itself --- */

static int bind_acl(const struct lbc_apply *apply, struct lbc_listener *to)
{
    return to->ranges ? lbc_attrs_set(&to->attrs, clb_field_find("AclId"),
                                      clb_apply_have(apply)->acl.id, true)
                      : 0;
}

/* What the cloud gives it is compared only where it is known. */
int clb_apply_new_listener_done(struct lbc_apply *apply, struct lbc_step *step)
{
    const struct lbc_anno *field = clb_field_find("PersistenceTimeout");
    const int r = lbc_record_new_listener(apply->have, step, &clb_state_type);

    return r == 0 && lbc_attr_applies(field, step->protocol) &&
                   lbc_attrs_get(&step->listener->attrs, field) == NULL
               ? lbc_attrs_set(&step->listener->attrs, field, "0", false)
               : r;
}

int clb_apply_listener(struct lbc_apply *apply, struct lbc_step *step, struct ccm_error *err)
{
    struct lbc_listener *to = step->to;
    const char *old_cert = NULL;
    const char *new_cert = lbc_attrs_get(&to->attrs, clb_field_find(CERT));

    if (bind_acl(apply, to) < 0) {
        return ccm_error_nomem(err);
    }
    if (step->type == LBC_STEP_UPDATE_LISTENER) {
        old_cert = lbc_attrs_get(&step->listener->attrs, clb_field_find(CERT));
    }
    if (old_cert != NULL && new_cert != NULL && !ccm_text_equal(old_cert, new_cert)) {
        const int r = check_certificate(apply, old_cert, new_cert, err);

        if (r < 0) {
            return r;
        }
    }
    return clb_api_write_listener(alilb_apply_call(apply), alilb_apply_lb_id(apply), to,
                                  step->group == NULL ? NULL : step->group->id,
                                  step->type == LBC_STEP_CREATE_LISTENER, err);
}

/* --- start and end --- */

int clb_apply_start_listener_done(struct lbc_apply *apply, struct lbc_step *step)
{
    (void)apply;
    step->listener->running = true;
    return 0;
}

/* --- domain extensions --- */

/* Of the present extension for the domain; NULL: there is none. */
static const char *listener_domain_id(const struct clb_listener *listener, const char *name)
{
    const struct clb_domain *present = clb_domains_find(&listener->domains, name);

    return present == NULL ? NULL : present->id;
}

int clb_apply_domain(struct lbc_apply *apply, struct lbc_step *step, struct ccm_error *err)
{
    const struct lbc_tag *domain = &step->tags.items[0];
    const char *id = listener_domain_id((const struct clb_listener *)step->listener, domain->key);
    int r;

    switch (step->type) {
    case CLB_STEP_CREATE_DOMAIN:
        r = alilb_apply_write(apply, step, &clb_api_create_domain,
                              ALILB_TEXTS(alilb_apply_lb_id(apply), ALILB_NUMBER(step->port),
                                          domain->key, domain->value),
                              err);
        break;
    case CLB_STEP_SET_DOMAIN:
        r = alilb_apply_write(apply, step, &clb_api_set_domain, ALILB_TEXTS(id, domain->value),
                              err);
        break;
    default:
        r = alilb_apply_write(apply, step, &clb_api_delete_domain, ALILB_TEXTS(id), err);
        r = lbc_apply_forgive(apply, r, err);
        break;
    }
    return r < 0 ? ccm_error_wrap(err, r, "domain %s", domain->key) : 0;
}

int clb_apply_domain_done(struct lbc_apply *apply, struct lbc_step *step)
{
    struct clb_listener *listener = (struct clb_listener *)step->listener;
    const struct lbc_tag *domain = &step->tags.items[0];
    const bool creates = step->type == CLB_STEP_CREATE_DOMAIN;

    (void)apply;
    if (step->type == CLB_STEP_DELETE_DOMAIN) {
        clb_domains_remove(&listener->domains, domain->key);
        return 0;
    }
    if (creates && step->sent.made_id == NULL) {
        listener->lbc.certs_known = false; /* made, but we cannot name it */
        return 0;
    }
    return clb_domains_put(&listener->domains, domain->key, domain->value,
                           creates ? step->sent.made_id
                                   : listener_domain_id(listener, domain->key));
}
