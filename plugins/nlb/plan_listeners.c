/* Steps that create, change and delete listeners. */
#include "compare.h"
#include "nlb.h"
#include "plan_parts.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

#define CERTS_PER_LISTENER 25

int nlb_plan_stale_listeners(struct lbc_work *work)
{
    return lbc_model_has_listeners(work->model) ? lbc_plan_stale_listeners(work) : 0;
}

/* --- additional certificates --- */

static int cert_steps(struct lbc_work *work, unsigned type, unsigned *stage,
                      const struct nlb_listener *who, struct lbc_listener *have,
                      const struct lbc_texts *certs)
{
    struct nlb_step *step = NULL;

    for (size_t i = 0; i < certs->len; i++) {
        if (i % NLB_CERTS_MAX == 0) {
            step = nlb_plan_listener_step(work, type, (*stage)++, &who->lbc, have);
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
static int plan_certs(struct lbc_work *work, unsigned stage, const struct nlb_listener *want,
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
    return lbc_text_set(&step->listener.lbc.description, want->description);
}

static int plan_create_listener(struct lbc_work *work, const struct nlb_listener *want,
                                const struct lbc_group *group, struct lbc_group *present)
{
    const struct lbc_compare wishes =
        lbc_compare_listeners(&nlb_annotations, &want->lbc, &want->lbc);
    const unsigned stage = work->stage + 1;
    struct nlb_step *step =
        nlb_plan_listener_step(work, LBC_STEP_CREATE_LISTENER, stage, &want->lbc, NULL);

    if (step == NULL || step_describe_listener(step, &want->lbc, group, present) < 0 ||
        lbc_compare_wishes(&wishes, &step->listener.lbc.attrs) < 0) {
        return -ENOMEM;
    }
    step->lbc.needs_security = true;
    return plan_certs(work, stage + 1, want, NULL);
}

static int plan_update_listener(struct lbc_work *work, const struct nlb_listener *want,
                                struct nlb_listener *have, const struct lbc_group *group,
                                struct lbc_group *present)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf change = { .max = 4096 };
    CCM_CLEANUP(lbc_attrs_fini) struct lbc_attrs next = { 0 };
    const bool moves = present == NULL || !ccm_text_equal(present->id, have->lbc.group_id);
    /* Nobody is sent to a group that is still being filled. */
    const unsigned filled = moves ? lbc_plan_filled(work, group) : 0;
    const unsigned stage = filled > work->stage + 1 ? filled : work->stage + 1;
    struct nlb_step *step = NULL;
    const struct lbc_compare compare =
        lbc_compare_listeners(&nlb_annotations, &want->lbc, &have->lbc);
    int r = lbc_compare_overlay(&compare, work->in->fresh, &next, &change);

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
    step = nlb_plan_listener_step(work, LBC_STEP_UPDATE_LISTENER, stage, &want->lbc, &have->lbc);
    if (step == NULL || step_describe_listener(step, &want->lbc, group, present) < 0) {
        return -ENOMEM;
    }
    step->lbc.needs_backends = moves; /* nobody is sent to a group that did not get its servers */
    step->listener.lbc.attrs = next;
    memset(&next, 0, sizeof(next)); /* moved */
    r = lbc_step_set_change(&step->lbc, &change);
    return r < 0 ? r : plan_certs(work, stage + 1, want, have);
}

/* --- all of them --- */

static int plan_one(struct lbc_work *work, const struct nlb_listener *want,
                    const struct lbc_group *group)
{
    struct nlb_listener *have =
        (struct nlb_listener *)lbc_state_listener_like(work->have, &want->lbc);
    struct lbc_group *present = lbc_state_group_for(work->have, group);
    const struct lbc_listener *other = lbc_plan_obstacle(work, &want->lbc);

    if (present == NULL && work->model->keep_backends) {
        return 0; /* it is not made, so nobody can be sent there */
    }
    if (have == NULL && want->lbc.lacks) {
        return 0;
    }
    if (other != NULL) {
        lbc_plan_refuse(work, &want->lbc, other);
        return 0;
    }
    return have == NULL ? plan_create_listener(work, want, group, present)
                        : plan_update_listener(work, want, have, group, present);
}

int nlb_plan_listeners(struct lbc_work *work)
{
    const size_t count = lbc_model_has_listeners(work->model) ? work->want->listener_count : 0;
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++) {
        const struct nlb_listener *want = nlb_listener_at(&nlb_work_model(work)->want, i);
        const struct lbc_group *group = want->lbc.broken ? NULL : want->lbc.group;

        if (group != NULL && !group->broken) {
            r = plan_one(work, want, group);
        }
    }
    return r;
}
