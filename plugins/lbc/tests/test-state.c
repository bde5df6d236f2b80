/* Groups and listeners of a state: lists, look-ups, what moves and what rests. */
#include "check.h"

#include "lbc/apply/state.h"
#include "lbc/model/tags.h"
#include "util/attr.h"
#include "util/cleanup.h"

#include <errno.h>
#include <string.h>

/* A product with something of its own in each. */
struct group {
    struct lbc_group lbc;
    char *own;
};

struct listener {
    struct lbc_listener lbc;
    char *own;
};

struct state {
    struct lbc_state lbc;
    struct lbc_lb lb;
    char *own;
};

static size_t ends; /* of what is the product's own */

static void own_fini(char **own)
{
    ends++;
    assert_int_equal(lbc_text_set(own, NULL), 0);
}

static void group_fini(struct lbc_group *group)
{
    own_fini(&((struct group *)group)->own);
}

static void listener_fini(struct lbc_listener *listener)
{
    own_fini(&((struct listener *)listener)->own);
}

static void state_fini_own(struct lbc_state *state)
{
    own_fini(&((struct state *)state)->own);
}

/* What cannot be changed: the protocol. */
static bool group_serves(const struct lbc_group *have, const struct lbc_group *want)
{
    return have->protocol == want->protocol;
}

static const struct lbc_state_type type = {
    .size = sizeof(struct state),
    .lb_size = sizeof(struct lbc_lb),
    .group_size = sizeof(struct group),
    .listener_size = sizeof(struct listener),
    .fini = state_fini_own,
    .group_fini = group_fini,
    .listener_fini = listener_fini,
    .group_serves = group_serves,
};

static void state_fini(struct state *state)
{
    lbc_state_fini(&state->lbc, &type);
}

static struct lbc_group *add_group(struct state *state, const char *id, const char *name)
{
    struct group *group = (struct group *)lbc_state_new_group(&state->lbc, &type);

    assert_non_null(group);
    assert_int_equal(lbc_text_set(&group->lbc.id, id), 0);
    assert_int_equal(lbc_text_set(&group->lbc.name, name), 0);
    assert_int_equal(lbc_text_set(&group->own, "own"), 0);
    return &group->lbc;
}

static struct lbc_listener *add_listener(struct state *state, const char *id,
                                         enum lbc_protocol protocol, uint16_t port,
                                         uint16_t last_port)
{
    struct listener *one = (struct listener *)lbc_state_new_listener(&state->lbc, &type);

    assert_non_null(one);
    assert_int_equal(lbc_text_set(&one->lbc.id, id), 0);
    assert_int_equal(lbc_text_set(&one->own, "own"), 0);
    one->lbc.protocol = protocol;
    one->lbc.port = port;
    one->lbc.last_port = last_port;
    return &one->lbc;
}

static void test_pointers_hold(void **arg)
{
    CCM_CLEANUP(state_fini) struct state state = { .own = NULL };
    struct lbc_group *groups[40];

    (void)arg;
    for (size_t i = 0; i < CCM_ARRAY_LEN(groups); i++) {
        groups[i] = add_group(&state, i == 7 ? "g-7" : "g", "a");
    }
    for (size_t i = 0; i < 7; i++) {
        lbc_state_drop_group(&state.lbc, groups[i]);
    }
    lbc_state_drop_group(&state.lbc, NULL);
    assert_int_equal(state.lbc.group_count, CCM_ARRAY_LEN(groups) - 7);
    assert_ptr_equal(state.lbc.groups[0], groups[7]);
    assert_ptr_equal(lbc_state_group_by_id(&state.lbc, "g-7"), groups[7]);
    lbc_state_drop_group(&state.lbc, groups[7]);
    assert_null(lbc_state_group_by_id(&state.lbc, "g-7"));
    assert_null(lbc_state_group_by_id(&state.lbc, NULL));
}

static void test_ends(void **arg)
{
    struct state state = { .own = NULL };

    (void)arg;
    ends = 0;
    (void)add_group(&state, "g-1", "a"); /* the state has it */
    lbc_state_drop_listener(&state.lbc, add_listener(&state, "l-1", LBC_TCP, 80, 80));
    assert_non_null(add_listener(&state, "l-2", LBC_TCP, 81, 81));
    state.lbc.listeners_known = true;
    assert_int_equal(ends, 1);
    lbc_state_forget_listeners(&state.lbc);
    assert_int_equal(ends, 2);
    assert_false(state.lbc.listeners_known);
    state_fini(&state);
    assert_int_equal(ends, 4);
    assert_null(state.lbc.type);
    state_fini(&state); /* of an empty one */
}

static void test_listeners(void **arg)
{
    CCM_CLEANUP(state_fini) struct state state = { .own = NULL };
    struct lbc_listener *tcp = add_listener(&state, "l-1", LBC_TCP, 80, 80);
    struct lbc_listener *udp = add_listener(&state, "l-2", LBC_UDP, 80, 80);
    struct lbc_listener *range = add_listener(&state, "l-3", LBC_TCP, 100, 200);
    const struct lbc_listener like = { .protocol = LBC_UDP, .port = 80, .last_port = 80 };

    (void)arg;
    assert_ptr_equal(lbc_state_listener_on(&state.lbc, LBC_TCP, 80, 80), tcp);
    assert_ptr_equal(lbc_state_listener_like(&state.lbc, &like), udp);
    assert_ptr_equal(lbc_state_listener_on(&state.lbc, LBC_TCP, 100, 200), range);
    assert_null(lbc_state_listener_on(&state.lbc, LBC_TCP, 100, 100));
    assert_null(lbc_state_listener_on(&state.lbc, LBC_HTTP, 80, 80));
    assert_null(lbc_state_listener_by_id(&state.lbc, NULL));
    lbc_state_drop_listener(&state.lbc, lbc_state_listener_by_id(&state.lbc, "l-2"));
    lbc_state_drop_listener(&state.lbc, lbc_state_listener_by_id(&state.lbc, "l-9"));
    assert_int_equal(state.lbc.listener_count, 2);
    assert_null(lbc_state_listener_by_id(&state.lbc, "l-2"));
    assert_ptr_equal(lbc_state_listener_by_id(&state.lbc, "l-3"), range);
}

/* Scenario 11 of the specification, and TCP with TCPSSL. */
static void test_clash(void **arg)
{
    static const struct {
        struct lbc_listener a;
        struct lbc_listener b;
        bool clash;
    } cases[] = {
#define ON(p, s, e) { .protocol = (p), .port = (s), .last_port = (e) }
        { ON(LBC_TCP, 80, 80), ON(LBC_TCP, 443, 443), false },
        { ON(LBC_TCP, 80, 80), ON(LBC_TCP, 80, 80), true },
        { ON(LBC_TCP, 80, 80), ON(LBC_TCP, 1, 100), true },
        { ON(LBC_TCP, 1, 100), ON(LBC_TCP, 101, 200), false },
        { ON(LBC_TCP, 1, 101), ON(LBC_TCP, 101, 200), true },
        { ON(LBC_TCP, 1, 102), ON(LBC_TCP, 50, 80), true },
        { ON(LBC_TCP, 443, 443), ON(LBC_TCPSSL, 443, 443), true },
        { ON(LBC_TCPSSL, 443, 443), ON(LBC_TCP, 400, 500), true },
        { ON(LBC_HTTP, 80, 80), ON(LBC_HTTPS, 80, 80), true },
        { ON(LBC_UDP, 443, 443), ON(LBC_TCP, 443, 443), false },
        { ON(LBC_UDP, 443, 443), ON(LBC_TCPSSL, 443, 443), false },
#undef ON
    };

    (void)arg;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        assert_int_equal(lbc_listener_clash(&cases[i].a, &cases[i].b), cases[i].clash);
        assert_int_equal(lbc_listener_clash(&cases[i].b, &cases[i].a), cases[i].clash);
    }
}

/* The chosen one by its id; else one of the name that agrees, a used one first. */
static void test_group_for(void **arg)
{
    CCM_CLEANUP(state_fini) struct state state = { .own = NULL };
    char name[] = "web";
    char id[] = "g-3";
    struct lbc_group want = { .name = name, .protocol = LBC_TCP };
    struct lbc_group *other = add_group(&state, "g-1", "web");
    struct lbc_group *first = add_group(&state, "g-2", "web");
    struct lbc_group *second = add_group(&state, "g-3", "web");

    (void)arg;
    other->protocol = LBC_UDP;
    assert_ptr_equal(lbc_state_group_for(&state.lbc, &want), first);
    assert_int_equal(lbc_text_set(&add_listener(&state, "l-1", LBC_TCP, 80, 80)->group_id, "g-3"),
                     0);
    assert_true(lbc_state_uses_group(&state.lbc, second));
    assert_false(lbc_state_uses_group(&state.lbc, first));
    assert_ptr_equal(lbc_state_group_for(&state.lbc, &want), second);
    lbc_state_forget_listeners(&state.lbc);
    want.id = id;
    want.protocol = LBC_UDP;
    assert_ptr_equal(lbc_state_group_for(&state.lbc, &want), second);
    id[2] = '9';
    assert_null(lbc_state_group_for(&state.lbc, &want));
}

/* What rests has nothing to look at, can be moved, and is what it was when it is woken. */
static void test_rest(void **arg)
{
    CCM_CLEANUP(state_fini) struct state state = { .own = NULL };
    CCM_CLEANUP(state_fini) struct state shared = { .own = NULL };
    char server[] = "eni-1";
    char ip[] = "10.0.0.1";
    char hand[] = "hand";
    const struct lbc_backend one = { .server_id = server,
                                     .server_ip = ip,
                                     .description = hand,
                                     .port = 80,
                                     .weight = 7,
                                     .type = LBC_BACKEND_INTERFACE };
    struct lbc_group *group = add_group(&state, "g-1", "a");

    (void)arg;
    assert_int_equal(lbc_backends_put(&group->backends, &one), 0);
    (void)add_listener(&state, "l-1", LBC_TCP, 80, 80); /* the state has it */
    state.lbc.listeners_known = true;
    lbc_state_rest(&state.lbc);
    assert_int_equal(state.lbc.group_cap, 1);
    assert_int_equal(group->backends.len, 1);
    assert_null(group->backends.items);
    lbc_state_move(&shared.lbc, &state.lbc, &type);
    assert_int_equal(state.lbc.listener_count, 0);
    assert_false(state.lbc.listeners_known);
    assert_true(shared.lbc.listeners_known);
    assert_string_equal(shared.lbc.listeners[0]->id, "l-1");
    assert_int_equal(lbc_state_wake(&state.lbc), 0);
    assert_int_equal(group->backends.len, 1);
    assert_string_equal(group->backends.items[0].server_ip, "10.0.0.1");
    assert_string_equal(group->backends.items[0].description, "hand");
    assert_int_equal(group->backends.items[0].weight, 7);
    (void)add_group(&state, "g-2", "b"); /* and grows as ever */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pointers_hold), cmocka_unit_test(test_ends),
        cmocka_unit_test(test_listeners),     cmocka_unit_test(test_clash),
        cmocka_unit_test(test_group_for),     cmocka_unit_test(test_rest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
