#include "apply.h"

#include "alicloud/error.h"
#include "apply_acl.h"
#include "apply_lb.h"
#include "apply_listener.h"
#include "apply_parts.h"
#include "service/object.h"
#include "service/owner.h"
#include "service/resolve.h"
#include "service/room.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Adds that the quota refused, waiting for the removals of the same group to make room. */
struct retry {
    const struct clb_step *steps[64];
    size_t len;
};

int clb_apply_note(struct clb_apply *apply, int r)
{
    if (r < 0) {
        /* The cloud has it, our memory does not: read again next time. */
        apply->entry->valid = false;
    }
    return 0;
}

struct clb_group *clb_apply_group(struct clb_apply *apply, const struct clb_step *step)
{
    const struct clb_state *state = clb_have(apply->entry);
    const struct clb_group *want =
        apply->model == NULL || step->group_name == NULL
            ? NULL
            : clb_state_group_by_name(&apply->model->want, step->group_name);

    if (step->group_id != NULL) {
        return clb_state_group_by_id(state, step->group_id);
    }
    return want != NULL && want->id != NULL ? clb_state_group_by_id(state, want->id)
                                            : clb_state_group_by_name(state, step->group_name);
}

int clb_apply_forgive(int r, const struct ccm_error *err)
{
    const bool gone = (err->kind == CCM_ERROR_NOT_FOUND &&
                       strcmp(err->code, "InvalidLoadBalancerId.NotFound") != 0) ||
                      strcmp(err->code, "AclNotExist") == 0; /* elsewhere the annotation's fault */

    return r < 0 && gone ? 0 : r;
}

static int put_all(struct clb_group *to, const struct ccm_backends *from, const char *description)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < from->len; i++) {
        struct ccm_backend one = from->items[i];

        one.description = ccm_text_equal(description, to->name)
                              ? NULL
                              : (char *)(uintptr_t)description; /* copied by put */
        r = ccm_backends_put(&to->backends, &one);
    }
    return r;
}

static int create_group_with(struct clb_apply *apply, const struct clb_step *step,
                             const struct ccm_backends *backends, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *id = NULL;
    struct clb_group *group = NULL;
    const int r = clb_api_create_group(&apply->call, clb_have(apply->entry)->lb.id,
                                       step->group_name, backends, &id, err);

    if (r < 0) {
        return r;
    }
    group = clb_state_new_group(clb_have(apply->entry));
    if (group == NULL) {
        return clb_apply_note(apply, -ENOMEM);
    }
    group->id = CCM_STEAL(id);
    if (ccm_text_set(&group->name, step->group_name) < 0) {
        return clb_apply_note(apply, -ENOMEM);
    }
    return clb_apply_note(apply, put_all(group, backends, group->name));
}

static bool is_full(const struct ccm_error *err)
{
    return strcmp(err->code, "InstanceBackendServerNumberOverLimit") == 0;
}

/* Where the quota has no room for its backends the group is made without: they are added when
 * what is not needed any more has gone, which needs the new group in its place. */
static int do_create_group(struct clb_apply *apply, const struct clb_step *step, bool *ret_empty,
                           struct ccm_error *err)
{
    const struct ccm_backends none = { 0 };
    int r = create_group_with(apply, step, &step->backends, err);

    if (r < 0 && is_full(err) && step->backends.len > 0) {
        r = create_group_with(apply, step, &none, err);
        *ret_empty = r == 0;
    }
    return r;
}

/* One call with some of a step's backends. */
static int change_backends(struct clb_apply *apply, const struct clb_step *step,
                           const struct ccm_backends *set, struct ccm_error *err)
{
    struct clb_group *group = clb_apply_group(apply, step);
    const char *description = step->description != NULL ? step->description : group->name;
    int r;

    switch (step->type) {
    case CLB_STEP_ADD:
        r = clb_api_add(&apply->call, group->id, description, set, err);
        break;
    case CLB_STEP_REMOVE:
        r = clb_api_remove(&apply->call, group->id, description, set, err);
        break;
    default:
        r = clb_api_weigh(&apply->call, group->id, description, set, err);
        break;
    }
    if (r < 0) {
        return r;
    }
    if (step->type != CLB_STEP_REMOVE) {
        return clb_apply_note(apply, put_all(group, set, description));
    }
    for (size_t i = 0; i < set->len; i++) {
        ccm_backends_remove(&group->backends, &set->items[i]);
    }
    return 0;
}

/* The next backends of a step from item *next on, at most `batch`; an add leaves out what an
 * earlier try has added. */
static int next_part(struct clb_apply *apply, const struct clb_step *step, size_t *next,
                     size_t batch, struct ccm_backends *ret)
{
    const struct clb_group *group = clb_apply_group(apply, step);

    while (*next < step->backends.len && ret->len < batch) {
        const struct ccm_backend *one = &step->backends.items[(*next)++];

        if (step->type == CLB_STEP_ADD && ccm_backends_find(&group->backends, one) != NULL) {
            continue;
        }
        if (ccm_backends_put(ret, one) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

/* In portions of the batch size, which may have become smaller since the plan was made. */
static int change_in_batches(struct clb_apply *apply, const struct clb_step *step,
                             struct ccm_error *err)
{
    size_t next = 0;
    int r = 0;

    while (r == 0 && next < step->backends.len) {
        CCM_CLEANUP(ccm_backends_fini) struct ccm_backends part = { 0 };
        const size_t start = next;

        if (next_part(apply, step, &next, atomic_load(&apply->clb->batch), &part) < 0) {
            return ccm_error_nomem(err);
        }
        r = part.len == 0 ? 0 : change_backends(apply, step, &part, err);
        if (r < 0 && strcmp(err->code, "TooManyBackendServers") == 0 &&
            part.len > CLB_BATCH_SMALL) {
            atomic_store(&apply->clb->batch, CLB_BATCH_SMALL);
            next = start;
            r = 0;
        }
    }
    return r;
}

/* Removing after a failed add must not leave the group without any backend. */
static bool would_empty(struct clb_apply *apply, const struct clb_step *step, bool add_failed)
{
    return add_failed && step->type == CLB_STEP_REMOVE &&
           clb_apply_group(apply, step)->backends.len <= step->backends.len;
}

static int do_delete_group(struct clb_apply *apply, const struct clb_step *step,
                           struct ccm_error *err)
{
    const int r = clb_apply_forgive(clb_api_delete_group(&apply->call, step->group_id, err), err);

    if (r == 0) {
        clb_state_drop_group(clb_have(apply->entry), step->group_id);
    }
    return r;
}

static int execute(struct clb_apply *apply, const struct clb_step *step, bool *ret_empty,
                   struct ccm_error *err)
{
    switch (step->type) {
    case CLB_STEP_CREATE_LB:
    case CLB_STEP_TAG:
    case CLB_STEP_UNTAG:
    case CLB_STEP_CHARGE:
    case CLB_STEP_SPEC:
    case CLB_STEP_INTERNET:
    case CLB_STEP_PROTECT:
    case CLB_STEP_GUARD:
    case CLB_STEP_RENAME:
    case CLB_STEP_UNPROTECT:
    case CLB_STEP_DELETE_LB:
        return clb_apply_lb(apply, step, err);
    case CLB_STEP_CREATE_GROUP:
        return do_create_group(apply, step, ret_empty, err);
    case CLB_STEP_ADD:
    case CLB_STEP_REMOVE:
    case CLB_STEP_WEIGH:
        return change_in_batches(apply, step, err);
    case CLB_STEP_CREATE_LISTENER:
    case CLB_STEP_UPDATE_LISTENER:
    case CLB_STEP_START_LISTENER:
    case CLB_STEP_DELETE_LISTENER:
    case CLB_STEP_SET_DOMAIN:
    case CLB_STEP_CREATE_DOMAIN:
    case CLB_STEP_DELETE_DOMAIN:
        return clb_apply_listener(apply, step, err);
    case CLB_STEP_CREATE_ACL:
    case CLB_STEP_ADD_ENTRIES:
    case CLB_STEP_REMOVE_ENTRIES:
    case CLB_STEP_DELETE_ACL:
        return clb_apply_acl(apply, step, err);
    case CLB_STEP_DELETE_GROUP:
        return do_delete_group(apply, step, err);
    }
    return 0;
}

/* What a step needs is missing because an earlier step failed, which was reported there. */
static bool is_blocked(struct clb_apply *apply, const struct clb_step *step)
{
    switch (step->type) {
    case CLB_STEP_ADD:
    case CLB_STEP_REMOVE:
    case CLB_STEP_WEIGH:
        return clb_apply_group(apply, step) == NULL;
    default:
        return clb_apply_is_blocked(apply, step);
    }
}

static bool lb_is_gone(const struct ccm_error *err)
{
    return strcmp(err->code, "InvalidLoadBalancerId.NotFound") == 0;
}

/* Returns negative when the rest of the plan makes no sense. */
static int fail(struct clb_apply *apply, const struct clb_step *step, int r, struct ccm_error *err)
{
    const char *remedy = ccm_ali_error_remedy(err);

    if (apply->call.uncertain || !ccm_ali_error_is_wait(err)) {
        apply->entry->valid = false;
        ccm_resolve_forget(apply->clb->lbc.ali, &step->backends);
    }
    if (lb_is_gone(err)) {
        apply->entry->attempt++;
        ccm_entry_drop(apply->entry);
    }
    if (err->kind == CCM_ERROR_NOT_FOUND ||
        (err->kind == CCM_ERROR_TERMINAL && !apply->entry->valid && !apply->fresh)) {
        err->kind = CCM_ERROR_CONFLICT; /* our picture may have been wrong: look again soon */
    }
    if (step->port != 0) {
        (void)ccm_error_wrap(err, r, "port %u/%s: %s", step->port,
                             clb_protocol_name(step->protocol),
                             clb_step_name(step->type)); /* the result is r */
    } else {
        (void)ccm_error_wrap(err, r, "%s", clb_step_name(step->type)); /* the result is r */
    }
    ccm_problems_add(apply->problems, err, remedy);
    return lb_is_gone(err) || err->kind == CCM_ERROR_CANCELLED ||
                   step->type == CLB_STEP_CREATE_LB || step->type == CLB_STEP_UNPROTECT ||
                   step->type == CLB_STEP_DELETE_LB
               ? r
               : 0;
}

/* State of one walk over a plan. */
struct walk {
    struct retry retry;   /* adds of the group at hand */
    struct retry late;    /* of groups that were made empty, after everything else */
    bool add_failed;      /* of the group at hand */
    struct ccm_room room; /* for listeners */
};

static void walk_fini(struct walk *walk)
{
    ccm_room_fini(&walk->room);
}

/* Steps of a group that was made empty. */
static bool is_late(const struct walk *walk, const struct clb_step *step)
{
    for (size_t i = 0; i < walk->late.len; i++) {
        if (step->type == CLB_STEP_ADD &&
            ccm_text_equal(walk->late.steps[i]->group_name, step->group_name)) {
            return walk->late.len < CCM_ARRAY_LEN(walk->late.steps);
        }
    }
    return false;
}

/* The load balancer takes no further listener, whichever it is. */
static bool is_crowded(const struct clb_step *step, const struct ccm_error *err)
{
    return step->type == CLB_STEP_CREATE_LISTENER &&
           (strcmp(err->code, "ListenerNumberOverLimit") == 0 ||
            strcmp(err->code, "VipTooManyListeners") == 0);
}

/* A refusal that is known beforehand is not asked for. */
static bool is_left_out(struct walk *walk, const struct clb_step *step)
{
    char name[32];

    if (!walk->room.full || step->type != CLB_STEP_CREATE_LISTENER) {
        return false;
    }
    (void)snprintf(name, sizeof(name), "%u/%s", step->port,
                   clb_protocol_name(step->protocol)); /* fits */
    ccm_room_leave_out(&walk->room, name);
    return true;
}

static void note_done(struct clb_apply *apply, const struct clb_step *step, bool empty,
                      struct walk *walk)
{
    apply->writes++;
    if (empty && walk->late.len < CCM_ARRAY_LEN(walk->late.steps)) {
        walk->late.steps[walk->late.len++] = step;
    }
    if (step->type == CLB_STEP_DELETE_LISTENER) {
        ccm_room_free(&walk->room);
    }
}

static int run_step(struct clb_apply *apply, const struct clb_step *step, struct walk *walk)
{
    struct ccm_error err = CCM_ERROR_INIT;
    bool empty = false;
    int r;

    if (is_blocked(apply, step) || is_left_out(walk, step) ||
        (step->last && apply->problems->count > 0) ||
        (walk->retry.len == 0 && would_empty(apply, step, walk->add_failed))) {
        return 0;
    }
    if (is_late(walk, step)) {
        walk->late.steps[walk->late.len++] = step;
        return 0;
    }
    apply->call.priority = step->type == CLB_STEP_REMOVE || step->type == CLB_STEP_DELETE_LB
                               ? CCM_ALI_PRIO_REMOVE
                               : apply->call.priority;
    r = execute(apply, step, &empty, &err);
    if (r == 0) {
        note_done(apply, step, empty, walk);
        return 0;
    }
    if (is_crowded(step, &err)) {
        ccm_room_fill(&walk->room, &err);
    }
    if (step->type == CLB_STEP_ADD) {
        walk->add_failed = true;
        if (is_full(&err) && walk->retry.len < CCM_ARRAY_LEN(walk->retry.steps)) {
            walk->retry.steps[walk->retry.len++] = step;
            return 0;
        }
    }
    return fail(apply, step, r, &err);
}

/* The adds that lacked room, once more. */
static int run_retries(struct clb_apply *apply, struct retry *retry)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < retry->len; i++) {
        struct ccm_error err = CCM_ERROR_INIT;

        struct clb_step step = *retry->steps[i]; /* borrows; one that made a group adds now */

        step.type = CLB_STEP_ADD;
        r = execute(apply, &step, NULL, &err);
        if (r < 0) {
            r = fail(apply, &step, r, &err);
        } else {
            apply->writes++;
        }
    }
    retry->len = 0;
    return r;
}

static bool is_backend_step(const struct clb_step *step)
{
    return step->type == CLB_STEP_ADD || step->type == CLB_STEP_REMOVE ||
           step->type == CLB_STEP_WEIGH;
}

static bool ends_group(const struct clb_plan *plan, size_t i)
{
    return i + 1 == plan->len || !is_backend_step(&plan->steps[i + 1]) ||
           !ccm_text_equal(plan->steps[i].group_id, plan->steps[i + 1].group_id) ||
           !ccm_text_equal(plan->steps[i].group_name, plan->steps[i + 1].group_name);
}

static int check_cancelled(struct clb_apply *apply)
{
    const struct ccm_host *host = apply->clb->lbc.host;
    struct ccm_error err = CCM_ERROR_INIT;

    if (!host->cancelled(host, apply->call.req)) {
        return 0;
    }
    (void)ccm_error_set(&err, 0, CCM_ERROR_CANCELLED,
                        "stopped in the middle"); /* the result is the argument */
    ccm_problems_add(apply->problems, &err, NULL);
    return -ECANCELED;
}

int clb_apply_run(struct clb_apply *apply, const struct clb_plan *plan)
{
    const enum ccm_ali_priority priority = apply->call.priority;
    CCM_CLEANUP(walk_fini) struct walk walk = { .room = CCM_ROOM_INIT };
    int r = 0;

    for (size_t i = 0; r == 0 && i < plan->len; i++) {
        r = check_cancelled(apply);
        if (r == 0) {
            apply->call.priority = priority;
            r = run_step(apply, &plan->steps[i], &walk);
        }
        if (r == 0 && ends_group(plan, i)) {
            r = run_retries(apply, &walk.retry);
            walk.add_failed = false;
        }
    }
    ccm_room_tell(&walk.room, clb_step_name(CLB_STEP_CREATE_LISTENER), apply->problems);
    return r < 0 ? r : run_retries(apply, &walk.late);
}
