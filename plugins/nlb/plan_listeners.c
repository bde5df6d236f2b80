#include "compare.h"
#include "nlb.h"
#include "plan_parts.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

#define CERTS_PER_LISTENER 25

/* --- whose they are --- */

static enum lbc_owner listener_owner_of(const struct nlb_work *work,
                                        const struct nlb_listener *listener)
{
    return nlb_plan_owner(work, listener->lbc.description, true);
}

/* Whether it may serve a port that could not be worked out. Of such a port no more than a number
 * may be known: neither its protocol nor whether it stands for a range. */
static bool listener_is_kept(const struct nlb_work *work, const struct nlb_listener *have)
{
    const struct nlb_state *want = &work->in->model->want;

    for (size_t i = 0; i < want->lbc.listener_count; i++) {
        const struct nlb_listener *one = nlb_listener_at(want, i);

        if (one->lbc.broken && (have->range || (one->lbc.port <= have->lbc.last_port &&
                                                have->lbc.port <= one->lbc.last_port))) {
            return true;
        }
    }
    return false;
}

static bool is_unwanted(const struct nlb_work *work, const struct nlb_listener *have)
{
    const bool may_go =
        !work->in->model->lbc.reused || listener_owner_of(work, have) == LBC_OWNER_OURS;

    return may_go && have->lbc.protocol != LBC_OTHER &&
           nlb_state_listener_like(&work->in->model->want, have) == NULL &&
           !listener_is_kept(work, have);
}

/* A listener that stays where the wanted one shall be. */
static const struct nlb_listener *plan_find_occupant(const struct nlb_work *work,
                                                     const struct nlb_listener *want)
{
    for (size_t i = 0; i < work->in->have->lbc.listener_count; i++) {
        const struct nlb_listener *have = nlb_listener_at(work->in->have, i);

        if (have->lbc.protocol != LBC_OTHER && lbc_listener_clash(&want->lbc, &have->lbc) &&
            !is_unwanted(work, have)) {
            return have;
        }
    }
    return NULL;
}

/* Whether nothing could take its place, because something else is in the way as well: then it may
 * as well go on serving. */
static bool goes_in_vain(const struct nlb_work *work, const struct nlb_listener *have)
{
    const struct nlb_state *want = &work->in->model->want;
    bool vain = false;

    for (size_t i = 0; i < want->lbc.listener_count; i++) {
        const struct nlb_listener *one = nlb_listener_at(want, i);

        if (one->lbc.broken || !lbc_listener_clash(&one->lbc, &have->lbc)) {
            continue;
        }
        if (plan_find_occupant(work, one) == NULL) {
            return false;
        }
        vain = true;
    }
    return vain;
}

/* Whether a wanted listener cannot be made: what would go might be what it is to take the place of.
 */
static bool is_short(const struct nlb_work *work)
{
    const struct nlb_state *want = &work->in->model->want;

    for (size_t i = 0; i < want->lbc.listener_count; i++) {
        const struct nlb_listener *one = nlb_listener_at(want, i);

        if (one->lbc.lacks && !one->lbc.broken &&
            nlb_state_listener_like(work->in->have, one) == NULL) {
            return true;
        }
    }
    return false;
}

static bool is_stale(const struct nlb_work *work, const struct nlb_listener *have)
{
    return is_unwanted(work, have) && !is_short(work) && !goes_in_vain(work, have);
}

/* --- steps --- */

/* A step about the listener `who`; which one it is there is told by `id`, or looked up. */
static struct nlb_step *listener_new_step(const struct nlb_work *work, enum nlb_step_type type,
                                          unsigned stage, const struct nlb_listener *who,
                                          const char *id)
{
    struct nlb_step *step = nlb_plan_new_step(work->plan, type, stage);

    if (step == NULL || lbc_text_set(&step->id, id) < 0) {
        return NULL;
    }
    step->port = who->lbc.port;
    step->protocol = who->lbc.protocol;
    step->listener.lbc.protocol = who->lbc.protocol;
    step->listener.lbc.port = who->lbc.port;
    step->listener.lbc.last_port = who->lbc.last_port;
    step->listener.range = who->range;
    return step;
}

static int plan_release_listener(struct nlb_work *work, const struct nlb_listener *have)
{
    bool done = false;
    const int r = nlb_plan_restore(work, have, &done);

    if (r < 0 || done) {
        return r;
    }
    return listener_new_step(work, NLB_STEP_DELETE_LISTENER, work->stage, have, have->lbc.id) ==
                   NULL
               ? -ENOMEM
               : 0;
}

int nlb_plan_stale_listeners(struct nlb_work *work)
{
    for (size_t i = 0; i < work->in->have->lbc.listener_count; i++) {
        const struct nlb_listener *have = nlb_listener_at(work->in->have, i);

        if (is_stale(work, have) && plan_release_listener(work, have) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

/* --- additional certificates --- */

static int cert_steps(const struct nlb_work *work, enum nlb_step_type type, unsigned *stage,
                      const struct nlb_listener *who, const char *id, const struct lbc_texts *certs)
{
    struct nlb_step *step = NULL;

    for (size_t i = 0; i < certs->len; i++) {
        if (i % NLB_CERTS_MAX == 0) {
            step = listener_new_step(work, type, (*stage)++, who, id);
        }
        if (step == NULL || lbc_texts_put(&step->texts, certs->items[i]) < 0) {
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
static int plan_certs(const struct nlb_work *work, unsigned stage, const struct nlb_listener *want,
                      const struct nlb_listener *have)
{
    static const struct lbc_texts none = { 0 };
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts add = { 0 };
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts remove = { 0 };
    const struct lbc_texts *present = have == NULL ? &none : &have->certs;
    const char *own = lbc_attrs_get(&want->lbc.attrs, nlb_listener_field("CertificateIds"));
    const char *id = have == NULL ? NULL : have->lbc.id;
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
        r = cert_steps(work, NLB_STEP_REMOVE_CERTS, &stage, want, id, &remove);
    }
    if (r == 0) {
        r = cert_steps(work, NLB_STEP_ADD_CERTS, &stage, want, id, &add);
    }
    return r < 0 || crowded ? r
                            : cert_steps(work, NLB_STEP_REMOVE_CERTS, &stage, want, id, &remove);
}

/* --- creation and change --- */

static const struct nlb_group *group_of(const struct nlb_work *work,
                                        const struct nlb_listener *want)
{
    const struct nlb_state *all = &work->in->model->want;

    for (size_t i = 0; i < all->lbc.group_count; i++) {
        const struct nlb_group *group = nlb_group_at(all, i);

        /* One name can stand for a group of ours and for one that a person chose. */
        if (ccm_text_equal(group->lbc.name, want->lbc.group_name) &&
            ccm_text_equal(group->lbc.id, want->lbc.group_id)) {
            return group;
        }
    }
    return NULL;
}

/* What the listener shall be: `to` has its attributes. */
static int step_describe_listener(struct nlb_step *step, const struct nlb_listener *want,
                                  const struct nlb_group *group, const char *group_id)
{
    return lbc_text_set(&step->listener.lbc.description, want->lbc.description) < 0 ||
                   lbc_text_set(&step->listener.lbc.group_name, want->lbc.group_name) < 0 ||
                   lbc_text_set(&step->listener.lbc.group_id, group_id) < 0 ||
                   nlb_group_copy_identity(&step->group, group) < 0
               ? -ENOMEM
               : 0;
}

static int plan_create_listener(struct nlb_work *work, const struct nlb_listener *want,
                                const struct nlb_group *group, const char *group_id)
{
    const unsigned stage = work->stage + 1;
    const struct lbc_compare wishes =
        lbc_compare_listeners(&nlb_annotations, &want->lbc, &want->lbc);
    struct nlb_step *step = listener_new_step(work, NLB_STEP_CREATE_LISTENER, stage, want, NULL);

    if (step == NULL || step_describe_listener(step, want, group, group_id) < 0 ||
        lbc_compare_wishes(&wishes, &step->listener.lbc.attrs) < 0) {
        return -ENOMEM;
    }
    step->needs_security = true;
    return plan_certs(work, stage + 1, want, NULL);
}

static int plan_update_listener(struct nlb_work *work, const struct nlb_listener *want,
                                const struct nlb_listener *have, const struct nlb_group *group,
                                const char *group_id)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf change = { .max = 4096 };
    CCM_CLEANUP(lbc_attrs_fini) struct lbc_attrs next = { 0 };
    const struct lbc_compare compare =
        lbc_compare_listeners(&nlb_annotations, &want->lbc, &have->lbc);
    const bool moves = group_id == NULL || !ccm_text_equal(group_id, have->lbc.group_id);
    /* Nobody is sent to a group that is still being filled. */
    const unsigned filled = moves ? nlb_plan_filled(work, group) : 0;
    const unsigned stage = filled > work->stage + 1 ? filled : work->stage + 1;
    struct nlb_step *step = NULL;
    int r = lbc_compare_overlay(&compare, work->in->fresh, &next, &change);

    if (r == 0 && moves) {
        lbc_compare_add_change(&change, "server group", have->lbc.group_id,
                               group_id == NULL ? group->lbc.name : group_id);
    }
    if (r == 0 && !ccm_text_equal(want->lbc.description, have->lbc.description)) {
        lbc_compare_add_change(&change, "description", have->lbc.description,
                               want->lbc.description);
    }
    r = r < 0 ? r : ccm_buf_error(&change);
    if (r < 0 || change.len == 0) {
        return r < 0 ? r : plan_certs(work, stage, want, have);
    }
    step = listener_new_step(work, NLB_STEP_UPDATE_LISTENER, stage, want, have->lbc.id);
    if (step == NULL || step_describe_listener(step, want, group, group_id) < 0) {
        return -ENOMEM;
    }
    step->listener.lbc.attrs = next;
    memset(&next, 0, sizeof(next)); /* moved */
    r = nlb_plan_set_change(step, &change);
    return r < 0 ? r : plan_certs(work, stage + 1, want, have);
}

/* --- whose port it is --- */

static void plan_refuse_listener(const struct nlb_work *work, const struct nlb_listener *want,
                                 const struct nlb_listener *have)
{
    const enum lbc_owner owner = listener_owner_of(work, have);
    struct ccm_error err = CCM_ERROR_INIT;

    (void)ccm_error_set(&err, 0, work->in->fresh ? CCM_ERROR_TERMINAL : CCM_ERROR_CONFLICT,
                        "port %u/%s: the %s listener on port %u belongs to %s (%s)", want->lbc.port,
                        lbc_protocol_name(want->lbc.protocol),
                        lbc_protocol_name(have->lbc.protocol), have->lbc.port,
                        owner == LBC_OWNER_OTHER  ? "another Service"
                        : owner == LBC_OWNER_OURS ? "another port of this Service"
                                                  : "somebody else",
                        have->lbc.description == NULL
                            ? "no description"
                            : have->lbc.description); /* the text is what counts */
    lbc_problems_add(work->problems, &err, "choose another port, or delete that listener");
}

/* The listener that keeps us from the port; NULL: there is none. */
static const struct nlb_listener *obstacle_of(const struct nlb_work *work,
                                              const struct nlb_listener *want)
{
    const struct nlb_listener *have = nlb_state_listener_like(work->in->have, want);

    if (have == NULL) {
        return plan_find_occupant(work, want);
    }
    const enum lbc_owner owner = listener_owner_of(work, have);

    /* Where only what is ours is to be changed, a person's is not ours to take over. */
    return (work->in->model->lbc.reused && owner == LBC_OWNER_OTHER) ||
                   (work->in->model->lbc.as_it_is && owner == LBC_OWNER_NONE)
               ? have
               : NULL;
}

bool nlb_plan_is_refused(const struct nlb_work *work, const struct nlb_listener *want)
{
    const struct nlb_listener *other =
        want->lbc.broken || !lbc_model_has_listeners(&work->in->model->lbc)
            ? NULL
            : obstacle_of(work, want);

    return other != NULL && listener_owner_of(work, other) != LBC_OWNER_OURS;
}

static int plan_one(struct nlb_work *work, const struct nlb_listener *want,
                    const struct nlb_group *group)
{
    const struct nlb_listener *have = nlb_state_listener_like(work->in->have, want);
    const struct nlb_group *target = nlb_state_group_for(work->in->have, group);
    const char *group_id = target == NULL ? group->lbc.id : target->lbc.id;
    const struct nlb_listener *other = obstacle_of(work, want);

    if (target == NULL && work->in->model->lbc.keep_backends) {
        return 0; /* it is not made, so nobody can be sent there */
    }
    if (have == NULL && want->lbc.lacks) {
        return 0;
    }
    if (other != NULL) {
        plan_refuse_listener(work, want, other);
        return 0;
    }
    return have == NULL ? plan_create_listener(work, want, group, group_id)
                        : plan_update_listener(work, want, have, group, group_id);
}

int nlb_plan_listeners(struct nlb_work *work)
{
    const struct nlb_state *all = &work->in->model->want;
    int r = 0;

    for (size_t i = 0; r == 0 && i < all->lbc.listener_count; i++) {
        const struct nlb_listener *want = nlb_listener_at(all, i);
        const struct nlb_group *group = want->lbc.broken ? NULL : group_of(work, want);

        if (group != NULL && !group->lbc.broken) {
            r = plan_one(work, want, group);
        }
    }
    return r;
}
