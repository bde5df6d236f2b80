#include "state.h"

#include "util/array.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void group_fini(struct clb_group *group)
{
    free(group->id);
    free(group->name);
    free(group->key);
    lbc_backends_fini(&group->backends);
}

const char *clb_group_key(const struct clb_group *group)
{
    return group->key == NULL ? group->name : group->key;
}

void clb_listener_fini(struct clb_listener *listener)
{
    free(listener->description);
    free(listener->group_name);
    free(listener->group_id);
    lbc_attrs_fini(&listener->attrs);
    clb_domains_fini(&listener->domains);
    memset(listener, 0, sizeof(*listener));
}

void clb_acl_fini(struct clb_acl *acl)
{
    free(acl->id);
    free(acl->name);
    lbc_texts_fini(&acl->entries);
    memset(acl, 0, sizeof(*acl));
}

void clb_state_fini(struct clb_state *state)
{
    for (size_t i = 0; i < state->group_count; i++) {
        group_fini(&state->groups[i]);
    }
    for (size_t i = 0; i < state->listener_count; i++) {
        clb_listener_fini(&state->listeners[i]);
    }
    free(state->groups);
    free(state->listeners);
    clb_lb_fini(&state->lb);
    clb_acl_fini(&state->acl);
    memset(state, 0, sizeof(*state));
}

void clb_state_rest(struct clb_state *state)
{
    ccm_array_trim(&state->groups, &state->group_cap, state->group_count, sizeof(*state->groups));
    ccm_array_trim(&state->listeners, &state->listener_cap, state->listener_count,
                   sizeof(*state->listeners));
    for (size_t i = 0; i < state->group_count; i++) {
        lbc_backends_rest(&state->groups[i].backends);
    }
    for (size_t i = 0; i < state->listener_count; i++) {
        lbc_attrs_trim(&state->listeners[i].attrs);
    }
}

int clb_state_wake(struct clb_state *state)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < state->group_count; i++) {
        r = lbc_backends_wake(&state->groups[i].backends);
    }
    return r;
}

struct clb_group *clb_state_new_group(struct clb_state *state)
{
    if (ccm_array_grow(&state->groups, &state->group_cap, state->group_count + 1,
                       sizeof(*state->groups)) < 0) {
        return NULL;
    }
    struct clb_group *group = &state->groups[state->group_count++];

    memset(group, 0, sizeof(*group));
    return group;
}

struct clb_listener *clb_state_new_listener(struct clb_state *state)
{
    if (ccm_array_grow(&state->listeners, &state->listener_cap, state->listener_count + 1,
                       sizeof(*state->listeners)) < 0) {
        return NULL;
    }
    struct clb_listener *listener = &state->listeners[state->listener_count++];

    memset(listener, 0, sizeof(*listener));
    return listener;
}

void clb_state_drop_group(struct clb_state *state, const char *id)
{
    struct clb_group *group = clb_state_group_by_id(state, id);

    if (group == NULL) {
        return;
    }
    const size_t at = (size_t)(group - state->groups);

    group_fini(group);
    state->group_count--;
    memmove(group, group + 1, (state->group_count - at) * sizeof(*group));
}

void clb_state_forget_listeners(struct clb_state *state)
{
    for (size_t i = 0; i < state->listener_count; i++) {
        clb_listener_fini(&state->listeners[i]);
    }
    state->listener_count = 0;
    state->listeners_known = false;
}

void clb_state_drop_listener(struct clb_state *state, uint16_t port, enum clb_protocol protocol)
{
    struct clb_listener *listener = clb_state_listener(state, port, protocol);

    if (listener == NULL) {
        return;
    }
    const size_t at = (size_t)(listener - state->listeners);

    clb_listener_fini(listener);
    state->listener_count--;
    memmove(listener, listener + 1, (state->listener_count - at) * sizeof(*listener));
}

struct clb_listener *clb_state_listener(const struct clb_state *state, uint16_t port,
                                        enum clb_protocol protocol)
{
    for (size_t i = 0; i < state->listener_count; i++) {
        if (state->listeners[i].port == port && state->listeners[i].protocol == protocol) {
            return &state->listeners[i];
        }
    }
    return NULL;
}

struct clb_group *clb_state_group_by_id(const struct clb_state *state, const char *id)
{
    for (size_t i = 0; i < state->group_count; i++) {
        if (ccm_text_equal(state->groups[i].id, id)) {
            return &state->groups[i];
        }
    }
    return NULL;
}

static bool is_used(const struct clb_state *state, const struct clb_group *group)
{
    for (size_t i = 0; i < state->listener_count; i++) {
        if (group->id != NULL && ccm_text_equal(state->listeners[i].group_id, group->id)) {
            return true;
        }
    }
    return false;
}

struct clb_group *clb_state_group_by_name(const struct clb_state *state, const char *name)
{
    struct clb_group *found = NULL;

    for (size_t i = 0; i < state->group_count; i++) {
        struct clb_group *group = &state->groups[i];

        if (!ccm_text_equal(group->name, name)) {
            continue;
        }
        if (is_used(state, group)) {
            return group;
        }
        found = found == NULL ? group : found;
    }
    return found;
}

int clb_listener_copy(struct clb_listener *to, const struct clb_listener *from)
{
    to->port = from->port;
    to->protocol = from->protocol;
    to->running = from->running;
    to->broken = from->broken;
    to->ranges = from->ranges;
    if (lbc_text_set(&to->description, from->description) < 0 ||
        lbc_text_set(&to->group_name, from->group_name) < 0 ||
        lbc_text_set(&to->group_id, from->group_id) < 0) {
        return -ENOMEM;
    }
    return lbc_attrs_copy(&to->attrs, &from->attrs);
}
