#include "lbc/apply/state.h"

#include "lbc/model/tags.h"
#include "util/array.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- the load balancer --- */

void lbc_lb_fini(struct lbc_lb *lb, const struct lbc_state_type *type)
{
    if (type->lb_fini != NULL) {
        type->lb_fini(lb);
    }
    for (size_t i = 0; i < LBC_LB_TEXTS; i++) {
        free(lb->texts[i]);
    }
    free(lb->id);
    free(lb->vpc_id);
    lbc_tags_fini(&lb->tags);
    memset(lb, 0, type->lb_size);
}

int lbc_lb_copy(struct lbc_lb *to, const struct lbc_lb *from, const struct lbc_state_type *type)
{
    for (size_t i = 0; i < LBC_LB_TEXTS; i++) {
        to->texts[i] = from->texts[i] == NULL ? NULL : strdup(from->texts[i]);
        if (to->texts[i] == NULL && from->texts[i] != NULL) {
            return -ENOMEM;
        }
    }
    to->untagged = from->untagged;
    to->explicit = from->explicit;
    if (lbc_text_set(&to->id, from->id) < 0 || lbc_text_set(&to->vpc_id, from->vpc_id) < 0 ||
        (type->lb_copy != NULL && type->lb_copy(to, from) < 0)) {
        return -ENOMEM;
    }
    return lbc_tags_copy(&to->tags, &from->tags);
}

/* --- groups and listeners --- */

const char *lbc_group_key(const struct lbc_group *group)
{
    return group->key == NULL ? group->name : group->key;
}

void lbc_group_fini(struct lbc_group *group, const struct lbc_state_type *type)
{
    if (type->group_fini != NULL) {
        type->group_fini(group);
    }
    free(group->id);
    free(group->name);
    free(group->key);
    lbc_attrs_fini(&group->attrs);
    lbc_backends_fini(&group->backends);
    memset(group, 0, type->group_size);
}

void lbc_listener_fini(struct lbc_listener *listener, const struct lbc_state_type *type)
{
    if (type->listener_fini != NULL) {
        type->listener_fini(listener);
    }
    free(listener->id);
    free(listener->description);
    free(listener->group_id);
    lbc_attrs_fini(&listener->attrs);
    memset(listener, 0, type->listener_size);
}

int lbc_listener_copy(struct lbc_listener *to, const struct lbc_listener *from)
{
    to->protocol = from->protocol;
    to->port = from->port;
    to->last_port = from->last_port;
    to->is_range = from->is_range;
    to->running = from->running;
    to->broken = from->broken;
    to->lacks = from->lacks;
    to->ranges = from->ranges;
    if (lbc_text_set(&to->id, from->id) < 0 ||
        lbc_text_set(&to->description, from->description) < 0 ||
        lbc_text_set(&to->group_id, from->group_id) < 0) {
        return -ENOMEM;
    }
    return lbc_attrs_copy(&to->attrs, &from->attrs);
}

bool lbc_listener_clash(const struct lbc_listener *a, const struct lbc_listener *b)
{
    return lbc_protocol_clash(a->protocol, b->protocol) && a->port <= b->last_port &&
           b->port <= a->last_port;
}

/* --- lists --- */

struct lbc_group *lbc_state_new_group(struct lbc_state *state, const struct lbc_state_type *type)
{
    struct lbc_group *group = NULL;

    if (ccm_array_grow(&state->groups, &state->group_cap, state->group_count + 1,
                       sizeof(*state->groups)) < 0) {
        return NULL;
    }
    group = calloc(1, type->group_size);
    if (group != NULL) {
        state->type = type;
        state->groups[state->group_count++] = group;
    }
    return group;
}

struct lbc_listener *lbc_state_new_listener(struct lbc_state *state,
                                            const struct lbc_state_type *type)
{
    struct lbc_listener *listener = NULL;

    if (ccm_array_grow(&state->listeners, &state->listener_cap, state->listener_count + 1,
                       sizeof(*state->listeners)) < 0) {
        return NULL;
    }
    listener = calloc(1, type->listener_size);
    if (listener != NULL) {
        state->type = type;
        state->listeners[state->listener_count++] = listener;
    }
    return listener;
}

static void state_free_group(const struct lbc_state *state, struct lbc_group *group)
{
    lbc_group_fini(group, state->type);
    free(group);
}

static void state_free_listener(const struct lbc_state *state, struct lbc_listener *listener)
{
    lbc_listener_fini(listener, state->type);
    free(listener);
}

void lbc_state_drop_group(struct lbc_state *state, const struct lbc_group *group)
{
    for (size_t i = 0; i < state->group_count; i++) {
        if (state->groups[i] == group) {
            state_free_group(state, state->groups[i]);
            state->group_count--;
            memmove(&state->groups[i], &state->groups[i + 1],
                    (state->group_count - i) * sizeof(*state->groups));
            return;
        }
    }
}

void lbc_state_keep_groups(struct lbc_state *to, struct lbc_state *from)
{
    for (size_t i = from->group_count; i > 0; i--) {
        struct lbc_group *group = from->groups[i - 1];

        if (group->id == NULL || lbc_state_group_by_id(to, group->id) != NULL ||
            ccm_array_grow(&to->groups, &to->group_cap, to->group_count + 1,
                           sizeof(*to->groups)) < 0) {
            continue;
        }
        to->type = from->type;
        to->groups[to->group_count++] = group;
        from->group_count--;
        memmove(&from->groups[i - 1], &from->groups[i],
                (from->group_count - (i - 1)) * sizeof(*from->groups));
    }
}

void lbc_state_drop_listener(struct lbc_state *state, const struct lbc_listener *listener)
{
    for (size_t i = 0; i < state->listener_count; i++) {
        if (state->listeners[i] == listener) {
            state_free_listener(state, state->listeners[i]);
            state->listener_count--;
            memmove(&state->listeners[i], &state->listeners[i + 1],
                    (state->listener_count - i) * sizeof(*state->listeners));
            return;
        }
    }
}

void lbc_state_forget_groups(struct lbc_state *state)
{
    for (size_t i = 0; i < state->group_count; i++) {
        state_free_group(state, state->groups[i]);
    }
    state->group_count = 0;
    state->groups_known = false;
}

void lbc_state_forget_listeners(struct lbc_state *state)
{
    for (size_t i = 0; i < state->listener_count; i++) {
        state_free_listener(state, state->listeners[i]);
    }
    state->listener_count = 0;
    state->listeners_known = false;
    state->listener_leaves = false;
}

static void state_move_listeners(struct lbc_state *to, struct lbc_state *from)
{
    free(to->listeners);
    to->listeners = from->listeners;
    to->listener_count = from->listener_count;
    to->listener_cap = from->listener_cap;
    to->listeners_known = from->listeners_known;
    to->listener_leaves = from->listener_leaves;
    to->type = to->type == NULL ? from->type : to->type;
    from->listeners = NULL;
    from->listener_count = 0;
    from->listener_cap = 0;
    from->listeners_known = false;
    from->listener_leaves = false;
}

void lbc_state_move(struct lbc_state *to, struct lbc_state *from, const struct lbc_state_type *type)
{
    memcpy(lbc_state_lb(to), lbc_state_lb(from), type->lb_size);
    memset(lbc_state_lb(from), 0, type->lb_size);
    if (type->groups_move) {
        *to = *from;
        memset(from, 0, sizeof(*from));
    } else {
        state_move_listeners(to, from);
    }
}

void lbc_state_fini(struct lbc_state *state, const struct lbc_state_type *type)
{
    lbc_state_forget_groups(state);
    lbc_state_forget_listeners(state);
    free(state->groups);
    free(state->listeners);
    lbc_lb_fini(lbc_state_lb(state), type);
    if (type->fini != NULL) {
        type->fini(state);
    }
    memset(state, 0, type->size);
}

void lbc_state_rest(struct lbc_state *state)
{
    ccm_array_trim(&state->groups, &state->group_cap, state->group_count, sizeof(*state->groups));
    ccm_array_trim(&state->listeners, &state->listener_cap, state->listener_count,
                   sizeof(*state->listeners));
    for (size_t i = 0; i < state->group_count; i++) {
        lbc_attrs_trim(&state->groups[i]->attrs);
        lbc_backends_rest(&state->groups[i]->backends);
    }
    for (size_t i = 0; i < state->listener_count; i++) {
        lbc_attrs_trim(&state->listeners[i]->attrs);
    }
}

int lbc_state_wake(struct lbc_state *state)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < state->group_count; i++) {
        r = lbc_backends_wake(&state->groups[i]->backends);
    }
    return r;
}

/* --- look-ups --- */

struct lbc_group *lbc_state_group_by_id(const struct lbc_state *state, const char *id)
{
    for (size_t i = 0; id != NULL && i < state->group_count; i++) {
        if (ccm_text_equal(state->groups[i]->id, id)) {
            return state->groups[i];
        }
    }
    return NULL;
}

bool lbc_state_uses_group(const struct lbc_state *state, const struct lbc_group *group)
{
    for (size_t i = 0; group->id != NULL && i < state->listener_count; i++) {
        if (ccm_text_equal(state->listeners[i]->group_id, group->id)) {
            return true;
        }
    }
    return false;
}

static bool group_serves(const struct lbc_state *state, const struct lbc_group *have,
                         const struct lbc_group *want)
{
    return ccm_text_equal(have->name, want->name) &&
           (state->type->group_serves == NULL || state->type->group_serves(have, want));
}

struct lbc_group *lbc_state_group_for(const struct lbc_state *state, const struct lbc_group *want)
{
    struct lbc_group *found = NULL;

    if (want->id != NULL) {
        return lbc_state_group_by_id(state, want->id);
    }
    for (size_t i = 0; i < state->group_count; i++) {
        struct lbc_group *group = state->groups[i];

        if (!group_serves(state, group, want)) {
            continue;
        }
        if (lbc_state_uses_group(state, group)) {
            return group;
        }
        found = found == NULL ? group : found;
    }
    return found;
}

struct lbc_listener *lbc_state_listener_by_id(const struct lbc_state *state, const char *id)
{
    for (size_t i = 0; id != NULL && i < state->listener_count; i++) {
        if (ccm_text_equal(state->listeners[i]->id, id)) {
            return state->listeners[i];
        }
    }
    return NULL;
}

struct lbc_listener *lbc_state_listener_on(const struct lbc_state *state,
                                           enum lbc_protocol protocol, uint16_t port,
                                           uint16_t last_port)
{
    const struct lbc_listener like = { .protocol = protocol, .port = port, .last_port = last_port };

    return lbc_state_listener_like(state, &like);
}

struct lbc_listener *lbc_state_listener_like(const struct lbc_state *state,
                                             const struct lbc_listener *like)
{
    for (size_t i = 0; i < state->listener_count; i++) {
        struct lbc_listener *one = state->listeners[i];

        if (one->protocol == like->protocol && one->port == like->port &&
            one->last_port == like->last_port) {
            return one;
        }
    }
    return NULL;
}
