/* Plans: ports that annotations do not decide are served by the groups that serve them now; see
 * plan.h. */
#include "lbc/apply/plan.h"
#include "util/text.h"

#include <errno.h>

/* --- present groups --- */

/* The present group that a listener sends to, if something of the Service is in it. */
static struct lbc_group *follow_get_used(struct lbc_work *work, const struct lbc_listener *have)
{
    struct lbc_group *group = lbc_state_group_by_id(work->have, have->group_id);

    return group != NULL && lbc_plan_owns_group(work, group) ? group : NULL;
}

int lbc_plan_find_shown(const struct lbc_plan_ops *ops, const struct lbc_plan_input *in,
                        const struct lbc_group **ret)
{
    struct lbc_plan none = { .len = 0 };
    struct lbc_work work = lbc_work_begin(&none, ops, in, NULL);
    const struct lbc_group *shown = NULL;

    for (size_t i = 0; shown == NULL && i < work.have->listener_count; i++) {
        shown = follow_get_used(&work, work.have->listeners[i]);
    }
    for (size_t i = 0; shown == NULL && i < work.have->group_count; i++) {
        shown = lbc_plan_owns_group(&work, work.have->groups[i]) ? work.have->groups[i] : NULL;
    }
    *ret = shown;
    return work.error;
}

/* --- which one serves a desired group's port --- */

/* Of a port whose protocol is not known any listener serves it. */
static bool follow_serves(const struct lbc_listener *have, const struct lbc_listener *want)
{
    const enum lbc_protocol protocol =
        want->protocol == LBC_OTHER ? want->group->protocol : want->protocol;

    return have->port <= want->port && want->last_port <= have->last_port &&
           (protocol == LBC_OTHER || (protocol == LBC_UDP) == (have->protocol == LBC_UDP));
}

static struct lbc_group *follow_find_by_listener(struct lbc_work *work,
                                                 const struct lbc_listener *want)
{
    struct lbc_group *found = NULL;

    for (size_t i = 0; found == NULL && i < work->have->listener_count; i++) {
        if (follow_serves(work->have->listeners[i], want)) {
            found = follow_get_used(work, work->have->listeners[i]);
        }
    }
    return found;
}

/* A listener that a person created may be on another port. */
static struct lbc_group *follow_find_by_backends(const struct lbc_work *work,
                                                 const struct lbc_group *want)
{
    for (size_t i = 0; i < work->have->group_count; i++) {
        struct lbc_group *group = work->have->groups[i];

        for (size_t j = 0; j < group->backends.len; j++) {
            if (ccm_text_equal(group->backends.items[j].description, lbc_group_key(want))) {
                return group;
            }
        }
    }
    return NULL;
}

static struct lbc_group *follow_find(struct lbc_work *work, const struct lbc_group *want)
{
    struct lbc_group *found = NULL;

    for (size_t i = 0; found == NULL && i < work->want->listener_count; i++) {
        const struct lbc_listener *one = work->want->listeners[i];

        if (one->group == want) {
            found = follow_find_by_listener(work, one);
        }
    }
    if (found == NULL && !want->broken) {
        found = lbc_state_group_for(work->have, want);
    }
    return found == NULL ? follow_find_by_backends(work, want) : found;
}

/* --- binding --- */

/* Its backends keep their descriptions. */
static int follow_bind(struct lbc_work *work, struct lbc_group *want, const struct lbc_group *have)
{
    const bool ours = lbc_work_owner(work, have->name, false) == LBC_OWNER_OURS;

    return lbc_text_set(&want->id, have->id) < 0 ||
                   (ours && lbc_text_set(&want->key, have->name) < 0)
               ? -ENOMEM
               : 0;
}

/* Other groups that it serves share it then, so that none removes the backends of another. */
static int follow_bind_all(struct lbc_work *work, struct lbc_group *want,
                           const struct lbc_group *have)
{
    int r = follow_bind(work, want, have);

    for (size_t i = 0; r == 0 && i < work->want->group_count; i++) {
        struct lbc_group *other = work->want->groups[i];

        if (other != want && other->id == NULL && !other->broken &&
            lbc_state_group_for(work->have, other) == have) {
            r = follow_bind(work, other, have);
        }
    }
    return r;
}

static int follow_group(struct lbc_work *work, struct lbc_group *want)
{
    const struct lbc_group *have = follow_find(work, want);
    int r = 0;

    if (have == NULL) {
        return 0;
    }
    if (want->broken || lbc_state_group_for(work->have, want) != have) {
        r = follow_bind_all(work, want, have);
    }
    want->broken = false;
    want->present_only = true;
    return r;
}

int lbc_plan_follow(const struct lbc_plan_ops *ops, const struct lbc_plan_input *in)
{
    struct lbc_plan none = { .len = 0 };
    struct lbc_work work = lbc_work_begin(&none, ops, in, NULL);
    int r = 0;

    for (size_t i = 0; r == 0 && i < work.want->group_count; i++) {
        struct lbc_group *want = work.want->groups[i];

        if (want->broken || want->present_only) {
            r = follow_group(&work, want);
        }
    }
    return r < 0 ? r : work.error;
}
