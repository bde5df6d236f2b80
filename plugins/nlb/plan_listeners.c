#include "compare.h"
#include "nlb.h"
#include "plan_parts.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

#define CERTS_PER_LISTENER 25

/* --- steps --- */

/* A step about the listener `who`; have: the present one, or NULL. */
static struct nlb_step *listener_new_step(struct nlb_work *work, unsigned type, unsigned stage,
                                          const struct lbc_listener *who, struct lbc_listener *have)
{
    struct nlb_step *step = nlb_plan_new_step(work, type, stage);

    if (step == NULL) {
        return NULL;
    }
    step->lbc.port = who->port;
    step->lbc.last_port = who->is_range ? who->last_port : 0;
    step->lbc.protocol = who->protocol;
    step->lbc.listener = have;
    step->lbc.to = &step->listener.lbc;
    step->listener.lbc.protocol = who->protocol;
    step->listener.lbc.port = who->port;
    step->listener.lbc.last_port = who->last_port;
    step->listener.lbc.is_range = who->is_range;
    return step;
}

/* --- listeners that go --- */

/* One that was taken over is what it was before. *ret_done false: nobody can tell. */
static int plan_restore_listener(struct nlb_work *work, struct lbc_listener *have, bool *ret_done)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags was = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf change = { .max = 256 };
    struct lbc_group *group = NULL;
    struct nlb_step *step = NULL;

    if (lbc_plan_find_taken(&work->lbc, have, &was, &group, ret_done) < 0) {
        return -ENOMEM;
    }
    if (!*ret_done) {
        return 0;
    }
    step = listener_new_step(work, LBC_STEP_RESTORE_LISTENER, work->lbc.stage, have, have);
    if (step == NULL || lbc_attrs_copy(&step->listener.lbc.attrs, &have->attrs) < 0 ||
        lbc_plan_overlay_taken(&work->lbc, &was, &step->listener.lbc) < 0) {
        return -ENOMEM;
    }
    step->lbc.want = group;
    step->lbc.group = group;
    lbc_compare_add_change(&change, "put back, server group", have->group_id, group->id);
    return lbc_step_set_change(&step->lbc, &change);
}

static int plan_release_listener(struct nlb_work *work, struct lbc_listener *have)
{
    bool done = false;
    const int r = plan_restore_listener(work, have, &done);

    if (r < 0 || done) {
        return r;
    }
    return listener_new_step(work, LBC_STEP_DELETE_LISTENER, work->lbc.stage, have, have) == NULL
               ? -ENOMEM
               : 0;
}

int nlb_plan_stale_listeners(struct nlb_work *work)
{
    for (size_t i = 0; i < work->lbc.have->listener_count; i++) {
        struct lbc_listener *have = work->lbc.have->listeners[i];

        if (lbc_plan_is_stale(&work->lbc, have) && plan_release_listener(work, have) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

/* --- additional certificates --- */

static int cert_steps(struct nlb_work *work, unsigned type, unsigned *stage,
                      const struct nlb_listener *who, struct lbc_listener *have,
                      const struct lbc_texts *certs)
{
    struct nlb_step *step = NULL;

    for (size_t i = 0; i < certs->len; i++) {
        if (i % NLB_CERTS_MAX == 0) {
            step = listener_new_step(work, type, (*stage)++, &who->lbc, have);
        }
        if (step == NULL || lbc_texts_put(&step->lbc.texts, certs->items[i]) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

/* Those of `from` that `to` lacks; the listener's own certificate is none of them. */
static int certs_find_missing(const struct lbc_texts *from, const struct lbc_texts *to,
                              const char *own, struct lbc_texts *ret)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < from->len; i++) {
        if (!lbc_texts_has(to, from->items[i]) && !ccm_text_equal(from->items[i], own)) {
            r = lbc_texts_put(ret, from->items[i]);
        }
    }
    return r;
}

/* From `stage` on. have NULL: a new listener. New ones first, unless there is no room for both. */
static int plan_certs(struct nlb_work *work, unsigned stage, const struct nlb_listener *want,
                      struct nlb_listener *have)
{
    static const struct lbc_texts none = { 0 };
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts add = { 0 };
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts remove = { 0 };
    const struct lbc_texts *present = have == NULL ? &none : &have->certs;
    const char *own = lbc_attrs_get(&want->lbc.attrs, nlb_listener_field("CertificateIds"));
    struct lbc_listener *whose = have == NULL ? NULL : &have->lbc;
    int r = 0;

    if (want->lbc.protocol != LBC_TCPSSL || !want->certs_known ||
        (have != NULL && !have->certs_known)) {
        return 0;
    }
    r = certs_find_missing(&want->certs, present, own, &add);
    if (r == 0) {
        r = certs_find_missing(present, &want->certs, own, &remove);
    }
    const bool crowded = present->len + add.len > CERTS_PER_LISTENER;

    if (r == 0 && crowded) {
        r = cert_steps(work, NLB_STEP_REMOVE_CERTS, &stage, want, whose, &remove);
    }
    if (r == 0) {
        r = cert_steps(work, NLB_STEP_ADD_CERTS, &stage, want, whose, &add);
    }
    return r < 0 || crowded ? r
                            : cert_steps(work, NLB_STEP_REMOVE_CERTS, &stage, want, whose, &remove);
}

/* --- creation and change --- */

/* What the listener shall be but for its attributes. */
static int step_describe_listener(struct nlb_step *step, const struct lbc_listener *want,
                                  const struct lbc_group *group, struct lbc_group *present)
{
    step->lbc.want = group;
    step->lbc.group = present;
    return lbc_text_set(&step->listener.lbc.description, want->description) < 0 ||
                   lbc_text_set(&step->listener.lbc.group_name, want->group_name) < 0
               ? -ENOMEM
               : 0;
}

static int plan_create_listener(struct nlb_work *work, const struct nlb_listener *want,
                                const struct lbc_group *group, struct lbc_group *present)
{
    const struct lbc_compare wishes =
        lbc_compare_listeners(&nlb_annotations, &want->lbc, &want->lbc);
    const unsigned stage = work->lbc.stage + 1;
    struct nlb_step *step =
        listener_new_step(work, LBC_STEP_CREATE_LISTENER, stage, &want->lbc, NULL);

    if (step == NULL || step_describe_listener(step, &want->lbc, group, present) < 0 ||
        lbc_compare_wishes(&wishes, &step->listener.lbc.attrs) < 0) {
        return -ENOMEM;
    }
    step->lbc.needs_security = true;
    return plan_certs(work, stage + 1, want, NULL);
}

static int plan_update_listener(struct nlb_work *work, const struct nlb_listener *want,
                                struct nlb_listener *have, const struct lbc_group *group,
                                struct lbc_group *present)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf change = { .max = 4096 };
    CCM_CLEANUP(lbc_attrs_fini) struct lbc_attrs next = { 0 };
    const bool moves = present == NULL || !ccm_text_equal(present->id, have->lbc.group_id);
    /* Nobody is sent to a group that is still being filled. */
    const unsigned filled = moves ? lbc_plan_filled(&work->lbc, group) : 0;
    const unsigned stage = filled > work->lbc.stage + 1 ? filled : work->lbc.stage + 1;
    struct nlb_step *step = NULL;
    const struct lbc_compare compare =
        lbc_compare_listeners(&nlb_annotations, &want->lbc, &have->lbc);
    int r = lbc_compare_overlay(&compare, work->lbc.fresh, &next, &change);

    if (r == 0 && moves) {
        lbc_compare_add_change(&change, "server group", have->lbc.group_id,
                               present == NULL ? group->name : present->id);
    }
    if (r == 0 && !ccm_text_equal(want->lbc.description, have->lbc.description)) {
        lbc_compare_add_change(&change, "description", have->lbc.description,
                               want->lbc.description);
    }
    r = r < 0 ? r : ccm_buf_error(&change);
    if (r < 0 || change.len == 0) {
        return r < 0 ? r : plan_certs(work, stage, want, have);
    }
    step = listener_new_step(work, LBC_STEP_UPDATE_LISTENER, stage, &want->lbc, &have->lbc);
    if (step == NULL || step_describe_listener(step, &want->lbc, group, present) < 0) {
        return -ENOMEM;
    }
    step->lbc.needs_backends = moves; /* nobody is sent to a group that did not get its servers */
    step->listener.lbc.attrs = next;
    memset(&next, 0, sizeof(next)); /* moved */
    r = lbc_step_set_change(&step->lbc, &change);
    return r < 0 ? r : plan_certs(work, stage + 1, want, have);
}

/* --- whose port it is --- */

static void plan_refuse_listener(struct nlb_work *work, const struct lbc_listener *want,
                                 const struct lbc_listener *have)
{
    const enum lbc_owner owner = lbc_work_owner(&work->lbc, have->description, true);
    struct ccm_error err = CCM_ERROR_INIT;

    (void)ccm_error_set(&err, 0, work->lbc.fresh ? CCM_ERROR_TERMINAL : CCM_ERROR_CONFLICT,
                        "port %u/%s: the %s listener on port %u belongs to %s (%s)", want->port,
                        lbc_protocol_name(want->protocol), lbc_protocol_name(have->protocol),
                        have->port,
                        owner == LBC_OWNER_OTHER  ? "another Service"
                        : owner == LBC_OWNER_OURS ? "another port of this Service"
                                                  : "somebody else",
                        have->description == NULL ? "no description" : have->description);
    lbc_problems_add(work->lbc.problems, &err, "choose another port, or delete that listener");
}

static int plan_one(struct nlb_work *work, const struct nlb_listener *want,
                    const struct lbc_group *group)
{
    struct nlb_listener *have =
        (struct nlb_listener *)lbc_state_listener_like(work->lbc.have, &want->lbc);
    struct lbc_group *present = lbc_state_group_for(work->lbc.have, group);
    const struct lbc_listener *other = lbc_plan_obstacle(&work->lbc, &want->lbc);

    if (present == NULL && work->lbc.model->keep_backends) {
        return 0; /* it is not made, so nobody can be sent there */
    }
    if (have == NULL && want->lbc.lacks) {
        return 0;
    }
    if (other != NULL) {
        plan_refuse_listener(work, &want->lbc, other);
        return 0;
    }
    return have == NULL ? plan_create_listener(work, want, group, present)
                        : plan_update_listener(work, want, have, group, present);
}

int nlb_plan_listeners(struct nlb_work *work)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < work->lbc.want->listener_count; i++) {
        const struct nlb_listener *want = nlb_listener_at(&work->in->model->want, i);
        const struct lbc_group *group = want->lbc.broken ? NULL : want->lbc.group;

        if (group != NULL && !group->broken) {
            r = plan_one(work, want, group);
        }
    }
    return r;
}
