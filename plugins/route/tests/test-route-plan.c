/* The plan: single situations, and random worlds in which nothing of others may be touched. */
#include "build.h"
#include "check.h"
#include "route/past.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGION    "cn-hangzhou"
#define NODES_MAX 12

struct world {
    struct route_nets cluster;
    struct built_node built[NODES_MAX];
    struct route_node nodes[NODES_MAX];
    size_t node_count;
    struct route_table table;
    struct route_past past;
    size_t past_count;
    struct route_plan plan;
    char text[NODES_MAX][3][80]; /* names, ids and networks of random nodes */
};

static int fixture_begin(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    char bad[64];

    assert_non_null(world);
    assert_int_equal(route_nets_parse("10.96.0.0/12", &world->cluster, bad), 0);
    world->table.id = strdup("vtb-1");
    *state = world;
    return 0;
}

static int fixture_end(void **state)
{
    struct world *world = *state;

    route_plan_fini(&world->plan);
    route_nets_fini(&world->cluster);
    route_table_fini(&world->table);
    free(world);
    return 0;
}

static void add_node(struct world *world, const char *name, const char *provider, const char *net)
{
    struct built_node *built = &world->built[world->node_count];

    build_node(built, name, provider, net, NULL);
    built->node.meta.created_ms = (int64_t)world->node_count;
    route_node_init(&world->nodes[world->node_count++], &built->node, REGION, false);
}

/* As an entry that can not be ours: another kind of next hop. */
static void add_foreign(struct world *world, const char *net, const char *hop)
{
    const struct ccm_cidr parsed = build_net(net);

    assert_int_equal(route_table_add(&world->table, &parsed, hop, false, ROUTE_SETTLED), 0);
    route_table_sort(&world->table);
}

static void make(struct world *world, bool orphans)
{
    const struct route_view view = {
        .cluster = &world->cluster,
        .nodes = world->nodes,
        .node_count = world->node_count,
        .tables = &world->table,
        .table_count = 1,
        .past = &world->past,
        .past_count = world->past_count,
    };
    const struct route_choice choice = { .orphans = orphans };

    route_plan_fini(&world->plan);
    assert_int_equal(route_plan_make(&view, &choice, &world->plan), 0);
}

/* "+10.0.0.0/24>i-1 -..." in the order of the steps: + create, - clear, ~ retire, ? orphan. */
static void check_steps(struct world *world, const char *wanted)
{
    char all[1024] = "";

    make(world, true);
    for (size_t i = 0; i < world->plan.len; i++) {
        const struct route_step *step = &world->plan.steps[i];
        const size_t used = strlen(all);
        char net[ROUTE_NET_TEXT];

        route_net_format(&step->net, net);
        (void)snprintf(all + used, sizeof(all) - used, "%s%c%s>%s", i == 0 ? "" : " ",
                       "-+~?"[step->type], net, step -> instance);
    }
    assert_string_equal(all, wanted);
}

static void test_found(void **state)
{
    struct world *world = *state;

    add_node(world, "a", REGION ".i-a", "10.96.1.0/24");
    build_entry(&world->table, "10.96.1.0/24", "i-a", ROUTE_SETTLED);
    check_steps(world, "");
    assert_int_equal(world->plan.nodes[0].missing, 0);
    world->table.entries[0].status = ROUTE_MADE;
    check_steps(world, "");
    assert_int_equal(world->plan.nodes[0].missing, 0);
    /* On its way is no proof. */
    world->table.entries[0].status = ROUTE_COMING;
    check_steps(world, "");
    assert_int_equal(world->plan.nodes[0].missing, 1);
    assert_true(world->plan.nodes[0].wait);
    assert_true(world->plan.waits[0]);
    world->table.entries[0].status = ROUTE_LEAVING;
    check_steps(world, "");
    assert_true(world->plan.nodes[0].wait);
}

static void test_conflicts(void **state)
{
    struct world *world = *state;

    add_node(world, "a", REGION ".i-a", "10.96.1.0/24");
    build_entry(&world->table, "10.96.1.0/24", "i-x", ROUTE_SETTLED);
    build_entry(&world->table, "10.96.1.64/26", "i-y", ROUTE_SETTLED);
    build_entry(&world->table, "10.96.0.0/16", "i-wide", ROUTE_SETTLED);
    build_entry(&world->table, "10.96.2.0/24", "i-a", ROUTE_SETTLED);
    check_steps(world, "-10.96.1.0/24>i-x -10.96.1.64/26>i-y");
    world->table.entries[1].status = ROUTE_COMING;
    check_steps(world, "-10.96.1.64/26>i-y");
    assert_true(world->plan.nodes[0].wait);
}

static void check_stuck(struct world *world, size_t node, const char *words)
{
    check_steps(world, "");
    assert_true(world->plan.nodes[node].stuck);
    assert_int_equal(world->plan.nodes[node].missing, 1);
    if (strstr(world->plan.nodes[node].problem, words) == NULL) {
        fail_msg("%s", world->plan.nodes[node].problem);
    }
}

static void test_stuck_on_another_kind(void **state)
{
    struct world *world = *state;

    add_node(world, "a", REGION ".i-a", "10.96.1.0/24");
    add_foreign(world, "10.96.1.0/24", "an entry to NetworkInterface eni-1");
    check_stuck(world, 0, "an entry to NetworkInterface eni-1");
}

static void test_stuck_outside(void **state)
{
    struct world *world = *state;

    add_node(world, "a", REGION ".i-a", "10.0.1.0/24");
    check_stuck(world, 0, "not inside of cluster_cidr");
    build_entry(&world->table, "10.0.1.0/24", "i-x", ROUTE_SETTLED);
    check_stuck(world, 0, "not inside of cluster_cidr");
    /* What is right is right, wherever it lies. */
    build_entry(&world->table, "10.0.1.0/24", "i-a", ROUTE_SETTLED);
    free(world->table.entries[0].hop);
    world->table.entries[0].hop = strdup("i-a");
    check_steps(world, "");
    assert_false(world->plan.nodes[0].stuck);
}

static void test_two_nodes_with_one_network(void **state)
{
    struct world *world = *state;

    add_node(world, "old", REGION ".i-a", "10.96.1.0/24");
    add_node(world, "new", REGION ".i-b", "10.96.1.0/24");
    check_steps(world, "+10.96.1.0/24>i-a");
    assert_true(world->plan.nodes[1].stuck);
    /* Whoever has it keeps it. */
    build_entry(&world->table, "10.96.1.0/24", "i-b", ROUTE_SETTLED);
    check_stuck(world, 0, "is also that of node new");
    assert_int_equal(world->plan.nodes[1].missing, 0);
}

static void test_past(void **state)
{
    struct world *world = *state;

    add_node(world, "a", REGION ".i-a", "10.96.1.0/24");
    world->past = (struct route_past){ .node = (char *)(uintptr_t) "b",
                                       .net = build_net("10.96.2.0/24"),
                                       .instance = "i-b" };
    world->past_count = 1;
    build_entry(&world->table, "10.96.1.0/24", "i-a", ROUTE_SETTLED);
    check_steps(world, "");
    assert_int_equal(world->plan.past_left[0], 0);
    build_entry(&world->table, "10.96.2.0/24", "i-b", ROUTE_SETTLED);
    make(world, false);
    assert_int_equal(world->plan.len, 1);
    assert_int_equal(world->plan.past_left[0], 1);
    check_steps(world, "~10.96.2.0/24>i-b ?10.96.2.0/24>i-b");
    /* The same place, but another instance: not what the node had. */
    free(world->table.entries[1].hop);
    world->table.entries[1].hop = strdup("i-c");
    make(world, false);
    assert_int_equal(world->plan.len, 0);
    /* Somebody has it again. */
    add_node(world, "b", REGION ".i-c", "10.96.2.0/24");
    memcpy(world->past.instance, "i-c", 4);
    check_steps(world, "");
    assert_int_equal(world->plan.past_left[0], 0);
}

static void test_orphans(void **state)
{
    struct world *world = *state;

    build_entry(&world->table, "10.96.7.0/24", "i-gone", ROUTE_SETTLED);
    check_steps(world, ""); /* no node at all: who knows */
    add_node(world, "a", REGION ".i-a", "10.96.1.0/24");
    build_entry(&world->table, "10.96.1.0/24", "i-a", ROUTE_SETTLED);
    build_entry(&world->table, "10.96.8.0/24", "i-a", ROUTE_SETTLED);    /* backs a node */
    build_entry(&world->table, "10.96.0.0/16", "i-gone", ROUTE_SETTLED); /* wider than a node's */
    build_entry(&world->table, "10.0.7.0/24", "i-gone", ROUTE_SETTLED);  /* outside */
    build_entry(&world->table, "10.0.0.0/8", "i-gone", ROUTE_SETTLED);   /* wider than all */
    add_foreign(world, "10.96.9.0/24", "an entry to HaVip havip-1");
    check_steps(world, "?10.96.7.0/24>i-gone");
}

static void test_notes(void **state)
{
    struct route_pasts *pasts = route_pasts_new();
    struct built_node a;
    struct built_node b;
    struct route_past *list = NULL;
    size_t count = 0;

    (void)state;
    build_node(&a, "n", REGION ".i-a", "10.96.1.0/24", "fd00::/64");
    build_node(&b, "n", REGION ".i-b", "10.96.2.0/24", "fd00::/64");
    assert_false(route_pasts_record(pasts, &a.node, &a.node, ROUTE_LOSS_CHANGED, 1));
    assert_true(route_pasts_record(pasts, &a.node, &b.node, ROUTE_LOSS_CHANGED, 1));
    assert_true(route_pasts_record(pasts, &a.node, NULL, ROUTE_LOSS_DELETED, 1));
    assert_true(route_pasts_has(pasts, "n"));
    assert_int_equal(route_pasts_copy(pasts, &list, &count), 0);
    assert_int_equal(count, 2); /* each network once */
    for (size_t i = 0; i < count; i++) {
        route_pasts_forget(pasts, &list[i]);
    }
    route_past_list_free(list, count);
    assert_false(route_pasts_has(pasts, "n"));
    build_label(&a, "service.alibabacloud.com/exclude-node");
    assert_false(route_pasts_record(pasts, &a.node, NULL, ROUTE_LOSS_DELETED, 1));
    route_pasts_free(pasts);
}

/* ---- random worlds ---- */

static unsigned int random_pick_below(uint64_t *seed, unsigned int below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned int)(*seed >> 33) % below;
}

/* Small ranges, so that things meet: inside and outside of the cluster, of several lengths. */
static void random_net(uint64_t *seed, char text[80])
{
    static const unsigned int seconds[] = { 96, 111, 0, 112 };
    static const unsigned int lengths[] = { 24, 24, 24, 25, 26, 22, 16, 12, 8 };

    (void)snprintf(text, 80, "10.%u.%u.%u/%u", seconds[random_pick_below(seed, 4)],
                   random_pick_below(seed, 8), random_pick_below(seed, 4) * 64,
                   lengths[random_pick_below(seed, 9)]);
}

static void random_world(struct world *world, uint64_t *seed)
{
    const size_t nodes = random_pick_below(seed, NODES_MAX);
    const size_t entries = random_pick_below(seed, 40);

    for (size_t i = 0; i < nodes; i++) {
        char(*text)[80] = world->text[i];

        (void)snprintf(text[0], 80, "node-%zu", i);
        (void)snprintf(text[1], 80, REGION ".i-%u", random_pick_below(seed, 16));
        (void)snprintf(text[2], 80, "10.%u.%u.0/24", random_pick_below(seed, 8) == 0 ? 0U : 96U,
                       random_pick_below(seed, 8));
        add_node(world, text[0], text[1], text[2]);
    }
    for (size_t i = 0; i < entries; i++) {
        char net[80];
        char hop[16];
        bool taken = false;

        random_net(seed, net);
        (void)snprintf(hop, sizeof(hop), "i-%u", random_pick_below(seed, 24));

        const struct ccm_cidr parsed = build_net(net);

        for (size_t k = 0; k < world->table.len; k++) {
            taken = taken || route_net_compare(&world->table.entries[k].net, &parsed) == 0;
        }
        if (!taken) { /* destinations in a table are unique */
            assert_int_equal(route_table_add(&world->table, &parsed, hop,
                                             random_pick_below(seed, 4) != 0, ROUTE_SETTLED),
                             0);
        }
    }
    route_table_sort(&world->table);
}

static bool belongs_to_a_node(const struct world *world, const struct ccm_cidr *net,
                              const char *hop)
{
    for (size_t i = 0; i < world->node_count; i++) {
        if (strcmp(world->nodes[i].instance, hop) == 0 &&
            route_net_compare(&world->nodes[i].nets[0], net) == 0) {
            return true;
        }
    }
    return false;
}

/* The table after the step; each step has to be one that we may take. */
static void carry_out(struct world *world, const struct route_step *step)
{
    struct route_table *table = &world->table;
    size_t i = route_table_from(table, &step->net);

    assert_true(route_nets_contain(&world->cluster, &step->net));
    if (step->type == ROUTE_STEP_CREATE) {
        assert_true(belongs_to_a_node(world, &step->net, step->instance));
        assert_true(i == table->len || route_net_compare(&table->entries[i].net, &step->net) != 0);
        assert_int_equal(route_table_created(table, &step->net, step->instance), 0);
        table->entries[i].status = ROUTE_SETTLED;
        return;
    }
    assert_true(i < table->len && route_net_compare(&table->entries[i].net, &step->net) == 0);
    assert_true(table->entries[i].can_be_ours);
    assert_string_equal(table->entries[i].hop, step->instance);
    assert_false(belongs_to_a_node(world, &step->net, step->instance));
    free(table->entries[i].hop);
    memmove(table->entries + i, table->entries + i + 1,
            (table->len - i - 1) * sizeof(*table->entries));
    table->len--;
}

static size_t foreign_count(const struct world *world)
{
    size_t count = 0;

    for (size_t i = 0; i < world->table.len; i++) {
        const struct route_entry *entry = &world->table.entries[i];

        count += !entry->can_be_ours || !route_nets_contain(&world->cluster, &entry->net);
    }
    return count;
}

static void settle(struct world *world)
{
    for (int round = 0; round < 8; round++) {
        struct route_step steps[256];
        char hops[256][ROUTE_ID_SIZE];
        size_t count = 0;

        make(world, true);
        count = world->plan.len;
        assert_true(count < 256);
        if (count == 0) {
            return;
        }
        for (size_t i = 0; i < count; i++) { /* carrying out frees what the plan borrows */
            steps[i] = world->plan.steps[i];
            (void)snprintf(hops[i], sizeof(hops[i]), "%s", steps[i].instance);
            steps[i].instance = hops[i];
        }
        for (size_t i = 0; i < count; i++) {
            size_t earlier = 0;

            while (earlier < i && (route_net_compare(&steps[earlier].net, &steps[i].net) != 0 ||
                                   (steps[earlier].type == ROUTE_STEP_CREATE) !=
                                       (steps[i].type == ROUTE_STEP_CREATE))) {
                earlier++;
            }
            if (earlier == i) { /* two nodes may see the same obstacle */
                carry_out(world, &steps[i]);
            }
        }
    }
    fail_msg("it does not settle");
}

static void test_random_worlds(void **state)
{
    uint64_t seed = 20260101;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        void *own = NULL;
        struct world *world = NULL;
        size_t foreign = 0;

        assert_int_equal(fixture_begin(&own), 0);
        world = own;
        random_world(world, &seed);
        foreign = foreign_count(world);
        settle(world);
        assert_int_equal(foreign_count(world), foreign);
        for (size_t n = 0; n < world->node_count; n++) {
            const struct route_outlook *outlook = &world->plan.nodes[n];

            assert_true(outlook->missing == 0 || outlook->stuck);
            assert_false(outlook->wait);
        }
        assert_int_equal(fixture_end(&own), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_found, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_conflicts, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_stuck_on_another_kind, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_stuck_outside, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_two_nodes_with_one_network, fixture_begin,
                                        fixture_end),
        cmocka_unit_test_setup_teardown(test_past, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_orphans, fixture_begin, fixture_end),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_random_worlds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
