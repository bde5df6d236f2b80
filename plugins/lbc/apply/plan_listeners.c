/* Plans: whose port it is; see plan.h. */
#include "lbc/apply/plan.h"
#include "util/text.h"

/* Whether it may serve a port that could not be worked out. Of such a port no more than a number
 * may be known: neither its protocol nor whether it stands for a range. */
static bool work_keeps_port(const struct lbc_work *work, const struct lbc_listener *have)
{
    for (size_t i = 0; i < work->want->listener_count; i++) {
        const struct lbc_listener *one = work->want->listeners[i];

        if (one->broken &&
            (have->is_range || (one->port <= have->last_port && have->port <= one->last_port))) {
            return true;
        }
    }
    return false;
}

/* A listener that no port wants, which is ours to take away. */
static bool work_can_spare(struct lbc_work *work, const struct lbc_listener *have)
{
    const bool any = lbc_work_has(work, LBC_PLAN_SWEEPS) && !work->model->reused;

    return have->protocol != LBC_OTHER &&
           (any || lbc_work_owner(work, have->description, true) == LBC_OWNER_OURS) &&
           lbc_state_listener_like(work->want, have) == NULL && !work_keeps_port(work, have);
}

/* A listener that stays where the desired one shall be. */
static struct lbc_listener *work_find_occupant(struct lbc_work *work,
                                               const struct lbc_listener *want)
{
    for (size_t i = 0; i < work->have->listener_count; i++) {
        struct lbc_listener *have = work->have->listeners[i];

        if (have->protocol != LBC_OTHER && lbc_listener_clash(want, have) &&
            !work_can_spare(work, have)) {
            return have;
        }
    }
    return NULL;
}

/* Whether nothing could take its place, because something else is in the way as well: then it may
 * as well go on serving. */
static bool work_drops_in_vain(struct lbc_work *work, const struct lbc_listener *have)
{
    bool vain = false;

    for (size_t i = 0; i < work->want->listener_count; i++) {
        const struct lbc_listener *one = work->want->listeners[i];

        if (one->broken || !lbc_listener_clash(one, have)) {
            continue;
        }
        if (work_find_occupant(work, one) == NULL) {
            return false;
        }
        vain = true;
    }
    return vain;
}

/* Whether a desired listener cannot be made: what would go might be what it is to take the place
 * of. One that is only kept, never created, takes no other place than its port. */
static bool work_is_short(const struct lbc_work *work, const struct lbc_listener *have)
{
    for (size_t i = 0; i < work->want->listener_count; i++) {
        const struct lbc_listener *one = work->want->listeners[i];

        if (one->lacks && !one->broken && lbc_state_listener_like(work->have, one) == NULL &&
            (one->group == NULL || !one->group->present_only || lbc_listener_clash(one, have))) {
            return true;
        }
    }
    return false;
}

bool lbc_work_needs_port(const struct lbc_work *work, const struct lbc_listener *have)
{
    for (size_t i = 0; i < work->want->listener_count; i++) {
        if (lbc_listener_clash(work->want->listeners[i], have)) {
            return true;
        }
    }
    return false;
}

/* Where listeners are not managed, one of ours is deleted with its port: nothing takes its place.
 */
bool lbc_plan_is_stale(struct lbc_work *work, const struct lbc_listener *have)
{
    if (!work_can_spare(work, have)) {
        return false;
    }
    return lbc_model_has_listeners(work->model)
               ? !work_is_short(work, have) && !work_drops_in_vain(work, have)
               : !lbc_work_needs_port(work, have);
}

/* A person's that would have to be made anew, and could not be put back. */
static bool work_loses_listener(const struct lbc_work *work, const struct lbc_listener *want,
                                const struct lbc_listener *have)
{
    return work->ops->needs_rebuild != NULL && work->model->reused && work->in->restores &&
           want->protocol == have->protocol && work->ops->needs_rebuild(work, want, have);
}

struct lbc_listener *lbc_plan_obstacle(struct lbc_work *work, const struct lbc_listener *want)
{
    struct lbc_listener *have = lbc_state_listener_like(work->have, want);
    enum lbc_owner owner = LBC_OWNER_NONE;

    if (have == NULL) {
        return work_find_occupant(work, want);
    }
    owner = lbc_work_owner(work, have->description, true);
    if (owner == LBC_OWNER_OTHER) {
        return lbc_work_has(work, LBC_PLAN_SWEEPS) && !work->model->reused ? NULL : have;
    }
    /* Where only what is ours is to be changed, a person's is not ours to take over. */
    if (owner == LBC_OWNER_NONE &&
        (work->model->as_it_is || work_loses_listener(work, want, have))) {
        return have;
    }
    return NULL;
}

void lbc_plan_refuse(struct lbc_work *work, const struct lbc_listener *want,
                     const struct lbc_listener *have)
{
    const struct lbc_plan_ops *ops = work->ops;
    const enum lbc_owner owner = lbc_work_owner(work, have->description, true);
    const char *whose = "somebody else";
    const char *remedy = "choose another port, or delete that listener";
    struct ccm_error err = CCM_ERROR_INIT;
    char which[64] = "listener";

    if (lbc_work_has(work, LBC_PLAN_NAMES_CHANGES)) {
        ccm_text_printf(which, sizeof(which), "%s listener on port %u",
                        ops->steps->state->protocol_name(have->protocol), have->port);
    } else if (want->protocol != have->protocol) {
        ccm_text_printf(which, sizeof(which), "%s listener",
                        ops->steps->state->protocol_name(have->protocol));
    }
    if (owner == LBC_OWNER_OTHER) {
        whose = "another Service";
        remedy = "choose another port, or wait until that Service gives it up";
    } else if (owner == LBC_OWNER_OURS) {
        whose = "another of its ports";
        remedy = "choose another port";
    } else if (work_loses_listener(work, want, have)) {
        whose = "somebody else, and could not be put back";
    }
    (void)ccm_error_set(&err, 0, work->in->fresh ? CCM_ERROR_TERMINAL : CCM_ERROR_CONFLICT,
                        "port %u/%s: the %s belongs to %s (%s)", want->port,
                        ops->steps->state->protocol_name(want->protocol), which, whose,
                        have->description == NULL ? "no description" : have->description);
    lbc_problems_add(work->problems, &err, remedy);
}

/* A listener that is not the Service's has the port. */
static bool work_refuses_port(struct lbc_work *work, const struct lbc_listener *want)
{
    const struct lbc_listener *other = want->broken || !lbc_model_has_listeners(work->model)
                                           ? NULL
                                           : lbc_plan_obstacle(work, want);

    return other != NULL && lbc_work_owner(work, other->description, true) != LBC_OWNER_OURS;
}

bool lbc_plan_is_any_refused(struct lbc_work *work)
{
    for (size_t i = 0; i < work->want->listener_count; i++) {
        if (work_refuses_port(work, work->want->listeners[i])) {
            return true;
        }
    }
    return false;
}

bool lbc_plan_is_useless(struct lbc_work *work, const struct lbc_group *want)
{
    bool useless = false;

    for (size_t i = 0; i < work->want->listener_count; i++) {
        const struct lbc_listener *listener = work->want->listeners[i];

        if (listener->group != want) {
            continue;
        }
        if (!work_refuses_port(work, listener)) {
            return false;
        }
        useless = true;
    }
    return useless;
}
