#include "apply_listener.h"

#include "api_listener.h"
#include "apply_parts.h"
#include "lbc/model/owner.h"
#include "plan_parts.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdint.h>

#define CERT "ServerCertificateId"

/* --- what must be there first --- */

/* An empty list would let everybody in. */
static bool lacks_acl(const struct clb_apply *apply, const struct clb_step *step)
{
    const struct clb_acl *acl = &clb_actual(apply->entry)->acl;

    return step->listener.ranges && (acl->id == NULL || acl->entries.len == 0);
}

/* A listener that forwards cannot be made before the one it leads to. */
static bool lacks_target(const struct clb_apply *apply, const struct clb_step *step)
{
    const uint16_t target = clb_forward_target(&step->listener);

    return target != 0 && clb_state_listener(clb_actual(apply->entry), target, LBC_HTTPS) == NULL;
}

/* Another protocol's listener of ours could not be deleted from the port, or the present one of a
 * rebuild. */
static bool is_occupied(const struct clb_apply *apply, const struct clb_step *step)
{
    const struct clb_state *state = clb_actual(apply->entry);

    for (size_t i = 0; i < state->lbc.listener_count; i++) {
        const struct clb_listener *one = clb_listener_at(state, i);

        if (one->lbc.port == step->port && one->lbc.protocol != LBC_OTHER &&
            lbc_protocol_clash(one->lbc.protocol, step->protocol)) {
            return true;
        }
    }
    return false;
}

/* A listener of ours still forwards here, because its own deletion failed. */
static bool is_target(const struct clb_apply *apply, const struct clb_step *step)
{
    const struct clb_state *state = clb_actual(apply->entry);

    for (size_t i = 0; i < state->lbc.listener_count; i++) {
        const struct clb_listener *one = clb_listener_at(state, i);

        if (step->protocol == LBC_HTTPS && clb_forward_target(one) == step->port &&
            one->lbc.description != NULL &&
            lbc_owner_parse(one->lbc.description, true, &apply->service->meta,
                            lbc_cluster_id(&apply->clb->lbc)) == LBC_OWNER_OURS) {
            return apply->problems->count > 0;
        }
    }
    return false;
}

/* Bound to the list that is asked for, as far as we know. */
static bool listener_is_unlisted(const struct clb_step *step, const struct clb_listener *present)
{
    return step->listener.ranges &&
           !ccm_text_equal(lbc_attrs_get(&present->lbc.attrs, clb_field_find("AclStatus")), "on");
}

bool clb_apply_is_blocked(struct clb_apply *apply, const struct clb_step *step)
{
    const struct clb_state *state = clb_actual(apply->entry);
    const struct clb_listener *present = clb_state_listener(state, step->port, step->protocol);

    switch (step->type) {
    case CLB_STEP_CREATE_LISTENER:
        return clb_apply_group(apply, step) == NULL || lacks_acl(apply, step) ||
               lacks_target(apply, step) || is_occupied(apply, step);
    case CLB_STEP_UPDATE_LISTENER:
        return clb_apply_group(apply, step) == NULL || lacks_acl(apply, step) || present == NULL;
    case CLB_STEP_RESTORE_LISTENER:
        return present == NULL;
    case CLB_STEP_START_LISTENER:
        return present == NULL || listener_is_unlisted(step, present);
    case CLB_STEP_DELETE_LISTENER:
        return is_target(apply, step);
    case CLB_STEP_SET_DOMAIN:
    case CLB_STEP_CREATE_DOMAIN:
    case CLB_STEP_DELETE_DOMAIN:
        return present == NULL;
    case CLB_STEP_ADD_ENTRIES:
    case CLB_STEP_REMOVE_ENTRIES:
    case CLB_STEP_DELETE_ACL:
        return state->acl.id == NULL;
    default:
        return false;
    }
}

/* --- certificates --- */

/* *ret_expires_ms: -1 when the cloud does not know the certificate. */
static int read_certificate(struct clb_apply *apply, const char *id, int64_t *ret_expires_ms,
                            struct ccm_error *err)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    const int r = alilb_send(&apply->call, &clb_api_certificate, ALILB_TEXTS(id), &answer, err);
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
static int check_certificate(struct clb_apply *apply, const char *old_id, const char *new_id,
                             struct ccm_error *err)
{
    const struct ccm_host *host = apply->clb->lbc.host;
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

static int bind_acl(const struct clb_apply *apply, struct clb_listener *listener)
{
    return listener->ranges ? lbc_attrs_set(&listener->lbc.attrs, clb_field_find("AclId"),
                                            clb_actual(apply->entry)->acl.id, true)
                            : 0;
}

static int check_update(struct clb_apply *apply, const struct clb_listener *to,
                        struct ccm_error *err)
{
    const struct clb_listener *present =
        clb_state_listener(clb_actual(apply->entry), to->lbc.port, to->lbc.protocol);
    const char *old_id = lbc_attrs_get(&present->lbc.attrs, clb_field_find(CERT));
    const char *new_id = lbc_attrs_get(&to->lbc.attrs, clb_field_find(CERT));

    return old_id == NULL || new_id == NULL || ccm_text_equal(old_id, new_id)
               ? 0
               : check_certificate(apply, old_id, new_id, err);
}

/* What the cloud gives a new listener and is compared only where it is known. */
static int listener_record_defaults(struct clb_listener *listener)
{
    const struct lbc_anno *field = clb_field_find("PersistenceTimeout");

    return lbc_attr_applies(field, listener->lbc.protocol) &&
                   lbc_attrs_get(&listener->lbc.attrs, field) == NULL
               ? lbc_attrs_set(&listener->lbc.attrs, field, "0", false)
               : 0;
}

static int listener_record_step(struct clb_apply *apply, const struct clb_step *step,
                                const struct clb_listener *now, const char *group_id)
{
    const bool fresh = step->type == CLB_STEP_CREATE_LISTENER;
    struct clb_state *state = clb_actual(apply->entry);
    struct clb_listener *listener = fresh ? clb_state_new_listener(state)
                                          : clb_state_listener(state, step->port, step->protocol);
    int r;

    if (listener == NULL) {
        return clb_apply_check_mirror(apply, -ENOMEM);
    }
    r = clb_listener_copy(listener, now); /* attributes that were not sent stay */
    if (r == 0 && fresh) {
        r = listener_record_defaults(listener);
    }
    listener->lbc.running = !fresh && now->lbc.running;
    listener->domains_known = fresh || listener->domains_known;
    return clb_apply_check_mirror(apply,
                                  r < 0 ? r : lbc_text_set(&listener->lbc.group_id, group_id));
}

static int do_listener(struct clb_apply *apply, const struct clb_step *step, struct ccm_error *err)
{
    CCM_CLEANUP(clb_listener_fini) struct clb_listener now = { 0 };
    CCM_CLEANUP(ccm_freep) char *group_id = NULL;
    const char *lb_id = clb_actual(apply->entry)->lb.id;
    int r;

    if (clb_listener_copy(&now, &step->listener) < 0 || bind_acl(apply, &now) < 0 ||
        lbc_text_set(&group_id, clb_apply_group(apply, step)->id) < 0) {
        return ccm_error_nomem(err);
    }
    if (step->type == CLB_STEP_CREATE_LISTENER) {
        r = clb_api_create_listener(&apply->call, lb_id, &now, group_id, err);
    } else {
        r = check_update(apply, &now, err);
        r = r < 0 ? r : clb_api_update_listener(&apply->call, lb_id, &now, group_id, err);
    }
    return r < 0 ? r : listener_record_step(apply, step, &now, group_id);
}

/* --- domain extensions --- */

static int do_create_domain(struct clb_apply *apply, const struct clb_step *step,
                            struct clb_listener *listener, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *id = NULL;
    const int r = alilb_make(&apply->call, &clb_api_create_domain,
                             ALILB_TEXTS(clb_actual(apply->entry)->lb.id, ALILB_NUMBER(step->port),
                                         step->domain.name, step->domain.cert),
                             &id, err);

    if (r < 0) {
        return r;
    }
    if (id == NULL) {
        listener->domains_known = false; /* made, but we cannot name it */
        return 0;
    }
    return clb_apply_check_mirror(
        apply, clb_domains_put(&listener->domains, step->domain.name, step->domain.cert, id));
}

static int do_domain(struct clb_apply *apply, const struct clb_step *step, struct ccm_error *err)
{
    struct clb_listener *listener =
        clb_state_listener(clb_actual(apply->entry), step->port, step->protocol);
    const struct clb_domain *domain = &step->domain;
    int r;

    if (step->type == CLB_STEP_CREATE_DOMAIN) {
        r = do_create_domain(apply, step, listener, err);
    } else if (step->type == CLB_STEP_SET_DOMAIN) {
        r = alilb_write(&apply->call, &clb_api_set_domain, ALILB_TEXTS(domain->id, domain->cert),
                        NULL, err);
        r = r < 0 ? r
                  : clb_apply_check_mirror(apply, clb_domains_put(&listener->domains, domain->name,
                                                                  domain->cert, domain->id));
    } else {
        r = alilb_write(&apply->call, &clb_api_delete_domain, ALILB_TEXTS(domain->id), NULL, err);
        r = clb_apply_forgive(r, err);
        if (r == 0) {
            clb_domains_remove(&listener->domains, domain->name);
        }
    }
    return r < 0 ? ccm_error_wrap(err, r, "domain %s", domain->name) : 0;
}

/* --- back to what it was --- */

static int do_restore(struct clb_apply *apply, const struct clb_step *step, struct ccm_error *err)
{
    struct clb_state *state = clb_actual(apply->entry);
    struct clb_listener *listener = clb_state_listener(state, step->port, step->protocol);
    const bool running = listener->lbc.running;
    const int r =
        clb_api_update_listener(&apply->call, state->lb.id, &step->listener, step->group_id, err);

    if (r < 0) {
        return r;
    }
    clb_listener_fini(listener);
    listener->lbc.port = step->port;
    listener->lbc.last_port = listener->lbc.port;
    listener->lbc.protocol = step->protocol;

    const int copied = clb_listener_copy(listener, &step->listener);

    listener->lbc.running = running;
    return clb_apply_check_mirror(
        apply, copied < 0 ? copied : lbc_text_set(&listener->lbc.group_id, step->group_id));
}

/* --- start and end --- */

static int send_for_port(struct clb_apply *apply, const struct alilb_action *action,
                         const struct clb_step *step, struct ccm_error *err)
{
    return alilb_write(&apply->call, action,
                       ALILB_TEXTS(clb_actual(apply->entry)->lb.id, ALILB_NUMBER(step->port),
                                   lbc_protocol_lower(step->protocol)),
                       NULL, err);
}

static int do_start(struct clb_apply *apply, const struct clb_step *step, struct ccm_error *err)
{
    struct clb_state *state = clb_actual(apply->entry);
    const int r = send_for_port(apply, &clb_api_start_listener, step, err);

    if (r == 0) {
        clb_state_listener(state, step->port, step->protocol)->lbc.running = true;
    }
    return r;
}

static int do_delete_listener(struct clb_apply *apply, const struct clb_step *step,
                              struct ccm_error *err)
{
    struct clb_state *state = clb_actual(apply->entry);
    const int r = clb_apply_forgive(send_for_port(apply, &clb_api_delete_listener, step, err), err);

    if (r == 0) {
        lbc_state_drop_listener(&state->lbc, lbc_state_listener_on(&state->lbc, step->protocol,
                                                                   step->port, step->port));
    }
    return r;
}

int clb_apply_listener(struct clb_apply *apply, const struct clb_step *step, struct ccm_error *err)
{
    switch (step->type) {
    case CLB_STEP_RESTORE_LISTENER:
        return do_restore(apply, step, err);
    case CLB_STEP_START_LISTENER:
        return do_start(apply, step, err);
    case CLB_STEP_DELETE_LISTENER:
        return do_delete_listener(apply, step, err);
    case CLB_STEP_SET_DOMAIN:
    case CLB_STEP_CREATE_DOMAIN:
    case CLB_STEP_DELETE_DOMAIN:
        return do_domain(apply, step, err);
    default:
        return do_listener(apply, step, err);
    }
}
