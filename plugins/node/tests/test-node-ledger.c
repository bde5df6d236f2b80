/* Where deletions are noted that count for the next process as well. */
#include "node/ledger.h"
#include "support/fake_host.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NOW_S    (FAKE_HOST_WALL_MS / 1000)
#define WINDOW_S 3600

/* ---- what a text says ---- */

static void check_parsed(const char *text, const char *expected)
{
    struct node_ledger_note notes[NODE_LEDGER_NOTES];
    const size_t len = node_ledger_parse(text, 1000, 2000, notes);
    char got[1000] = "";

    assert_true(len <= NODE_LEDGER_NOTES);
    for (size_t i = 0; i < len; i++) {
        const size_t used = strlen(got);

        (void)snprintf(got + used, sizeof(got) - used, "%s%lld:%llu", i == 0 ? "" : " ",
                       (long long)notes[i].at_s, (unsigned long long)notes[i].count);
    }
    assert_string_equal(got, expected);
}

static void test_what_a_text_says(void **state)
{
    (void)state;
    check_parsed(NULL, "");
    check_parsed("", "");
    check_parsed("1500:2 1600:1", "1500:2 1600:1");
    check_parsed("  1500:2   1600:1 ", "1500:2 1600:1");
    /* Older than the window. */
    check_parsed("999:5 1000:5 1001:1", "1001:1");
    /* Another clock wrote it. */
    check_parsed("1500:1 90000:3", "1500:1 2000:3");
    check_parsed("99999999999:3", "2000:3");
    /* Out of order: none counts shorter than it may. */
    check_parsed("1800:1 1500:2", "1800:1 1800:2");
    /* What somebody made of it by hand. */
    check_parsed("none", "");
    check_parsed("1500 1500: :3 1500:-1 1500:0 -1500:4 1500:1x x1500:1 1500:1:1 1600:7", "1600:7");
    check_parsed("1500:4294967297 1500:1000001 99999999999999999999:1 1500:1000000",
                 "1500:1000000");
    check_parsed("1500:0000000000000000000000000000000000000000000001", "");
    check_parsed("1500:1,1600:1", "");
    check_parsed("{\"at\":1500}", "");
}

static void test_a_long_text_loses_no_deletion(void **state)
{
    struct node_ledger_note notes[NODE_LEDGER_NOTES];
    char text[40 * 8 + 1] = "";
    uint64_t sum = 0;

    (void)state;
    for (size_t i = 0; i < 40; i++) {
        (void)snprintf(text + i * 7, 8, "%zu:2 ", 1500 + i);
    }
    assert_int_equal(node_ledger_parse(text, 1000, 2000, notes), NODE_LEDGER_NOTES);
    for (size_t i = 0; i < NODE_LEDGER_NOTES; i++) {
        sum += notes[i].count;
    }
    assert_int_equal(sum, 80);
    assert_int_equal(notes[NODE_LEDGER_NOTES - 1].at_s, 1539);
}

/* ---- nodes ---- */

#define NODES 12

struct kit {
    struct fake_host *fake;
    struct node_control control;
    struct ccm_request req;
    struct node_run run;
    struct ccm_node nodes[NODES];
    char names[NODES][32];
    char uids[NODES][32];
    struct ccm_pair notes[NODES];
    const struct ccm_pair *note_lists[NODES][1];
    struct node_ledger ledger;
    struct ccm_removal_budget budget;
    struct node_item item;
};

static void kit_put_node(struct kit *kit, size_t i, uint64_t ready, const char *note)
{
    struct ccm_node *node = &kit->nodes[i];

    (void)snprintf(kit->names[i], sizeof(kit->names[i]), "node-%zu", i);
    (void)snprintf(kit->uids[i], sizeof(kit->uids[i]), "u-%zu", i);
    *node = (struct ccm_node){ .meta = { .struct_size = sizeof(*node),
                                         .kind = CCM_KIND_NODE,
                                         .key = kit->names[i],
                                         .name = kit->names[i],
                                         .namespace_ = "",
                                         .uid = kit->uids[i],
                                         .resource_version = "7" },
                               .provider_id = "cn-hangzhou.i-1",
                               .ready = ready };
    if (note != NULL) {
        kit->notes[i] = (struct ccm_pair){ NODE_LEDGER, note };
        kit->note_lists[i][0] = &kit->notes[i];
        node->meta.annotations = kit->note_lists[i];
        node->meta.annotation_count = 1;
    }
    fake_host_put(kit->fake, &node->meta);
}

/* node-0 is the one that goes. */
static int fixture_begin(void **state)
{
    static struct kit kit;

    memset(&kit, 0, sizeof(kit));
    kit.fake = fake_host_new();
    kit.control.host = fake_host_table(kit.fake);
    kit.control.rule =
        (struct ccm_removal_rule){ .window_ms = WINDOW_S * 1000, .share_percent = 10 };
    kit.req.struct_size = sizeof(kit.req);
    kit.run = (struct node_run){ .control = &kit.control,
                                 .req = &kit.req,
                                 .started_ms = fake_host_now(kit.fake) };
    kit_put_node(&kit, 0, CCM_CONDITION_UNKNOWN, NULL);
    kit.item.object = &kit.nodes[0].meta;
    *state = &kit;
    return 0;
}

static int fixture_end(void **state)
{
    struct kit *kit = *state;
    const size_t borrowed = fake_host_borrowed(kit->fake);

    fake_host_free(kit->fake);
    return borrowed == 0 ? 0 : -1;
}

static int kit_write(struct kit *kit, struct ccm_error *err)
{
    return node_ledger_write(&kit->ledger, &kit->run, &kit->item, &kit->budget, err);
}

static void check_patch(const struct kit *kit, size_t i, const char *node, const char *value)
{
    char body[300];

    (void)snprintf(body, sizeof(body), "{\"metadata\":{\"annotations\":{\"%s\":\"%s\"}}}",
                   NODE_LEDGER, value);
    assert_int_equal(fake_host_patch_count(kit->fake), i + 1);
    assert_string_equal(fake_host_patch(kit->fake, i)->key, node);
    assert_string_equal(fake_host_patch(kit->fake, i)->body, body);
    assert_string_equal(fake_host_patch(kit->fake, i)->subresource, "");
}

static size_t kit_allowed(struct kit *kit, size_t size)
{
    return ccm_removal_allowed(&kit->budget, &kit->control.rule, size, kit->run.started_ms);
}

static void test_who_keeps_it(void **state)
{
    struct kit *kit = *state;
    struct ccm_error err = CCM_ERROR_INIT;

    kit_put_node(kit, 1, CCM_CONDITION_FALSE, "1:1");
    kit_put_node(kit, 2, CCM_CONDITION_TRUE, NULL);
    kit->nodes[2].meta.deleted_ms = 5;
    kit_put_node(kit, 3, CCM_CONDITION_TRUE, NULL);
    kit_put_node(kit, 4, CCM_CONDITION_TRUE, NULL);
    assert_int_equal(kit_write(kit, &err), 0);
    check_patch(kit, 0, "node-3", "1767323045:1");
    /* The next one goes there, too, with the one before. */
    ccm_removal_record(&kit->budget, &kit->control.rule, 5, 1, kit->run.started_ms);
    fake_host_advance(kit->fake, 10000);
    kit->run.started_ms = fake_host_now(kit->fake);
    fake_host_remove(kit->fake, CCM_KIND_NODE, "node-2");
    assert_int_equal(kit_write(kit, &err), 0);
    check_patch(kit, 1, "node-3", "1767323045:1 1767323055:1");
    /* Not when it is the one that goes. */
    kit->item.object = &kit->nodes[3].meta;
    assert_int_equal(kit_write(kit, &err), 0);
    check_patch(kit, 2, "node-4", "1767323045:1 1767323055:1");
}

static void test_the_only_node(void **state)
{
    struct kit *kit = *state;
    struct ccm_error err = CCM_ERROR_INIT;

    assert_int_equal(kit_write(kit, &err), 0);
    assert_int_equal(fake_host_patch_count(kit->fake), 0);
}

/* What the API server says of the keeper is nothing about the node that goes. */
static void test_a_keeper_that_is_not_found(void **state)
{
    struct kit *kit = *state;
    struct ccm_error err = CCM_ERROR_INIT;

    kit_put_node(kit, 1, CCM_CONDITION_TRUE, NULL);
    fake_host_patch_result(kit->fake, -ENOENT, CCM_ERROR_NOT_FOUND);
    assert_true(kit_write(kit, &err) < 0);
    assert_int_equal(err.kind, CCM_ERROR_CONFLICT);
    assert_string_equal(kit->ledger.keeper, "");
}

static void test_a_keeper_that_goes(void **state)
{
    struct kit *kit = *state;
    struct ccm_error err = CCM_ERROR_INIT;

    kit_put_node(kit, 1, CCM_CONDITION_TRUE, NULL);
    kit_put_node(kit, 2, CCM_CONDITION_TRUE, NULL);
    node_ledger_move(&kit->ledger, &kit->run, &kit->budget);
    assert_int_equal(kit_write(kit, &err), 0);
    ccm_removal_record(&kit->budget, &kit->control.rule, 3, 1, kit->run.started_ms);
    node_ledger_move(&kit->ledger, &kit->run, &kit->budget);
    assert_int_equal(fake_host_patch_count(kit->fake), 1);
    fake_host_remove(kit->fake, CCM_KIND_NODE, "node-1");
    fake_host_patch_result(kit->fake, -EIO, CCM_ERROR_TRANSIENT);
    node_ledger_move(&kit->ledger, &kit->run, &kit->budget);
    fake_host_patch_result(kit->fake, 0, CCM_ERROR_NONE);
    node_ledger_move(&kit->ledger, &kit->run, &kit->budget);
    check_patch(kit, fake_host_patch_count(kit->fake) - 1, "node-2", "1767323045:1");
    /* One of the same name is another one. */
    kit->nodes[2].meta.uid = "u-new";
    node_ledger_move(&kit->ledger, &kit->run, &kit->budget);
    check_patch(kit, fake_host_patch_count(kit->fake) - 1, "node-2", "1767323045:1");
    /* Of what does not count any more nothing is written. */
    const size_t written = fake_host_patch_count(kit->fake);

    fake_host_advance(kit->fake, WINDOW_S * 1000 + 1);
    kit->run.started_ms = fake_host_now(kit->fake);
    kit->nodes[2].meta.uid = "u-newer";
    node_ledger_move(&kit->ledger, &kit->run, &kit->budget);
    assert_int_equal(fake_host_patch_count(kit->fake), written);
}

static void kit_put_more(struct kit *kit, const char *note)
{
    kit_put_node(kit, 1, CCM_CONDITION_TRUE, note);
    for (size_t i = 2; i < NODES; i++) {
        kit_put_node(kit, i, CCM_CONDITION_TRUE, NULL);
    }
}

static void test_the_next_process(void **state)
{
    struct kit *kit = *state;

    kit->control.rule.share_percent = 25;
    kit_put_more(kit, "1767322000:1");
    kit_put_node(kit, 5, CCM_CONDITION_TRUE, "1767322000:1 1767322500:1");
    kit_put_node(kit, 6, CCM_CONDITION_TRUE, "1767310000:400");
    assert_int_equal(node_ledger_read(&kit->ledger, &kit->run, &kit->budget), 0);
    assert_string_equal(kit->ledger.keeper, "node-5");
    /* Of 14 three, and two have gone. */
    assert_int_equal(kit_allowed(kit, NODES), 1);
    /* Read once. */
    assert_int_equal(node_ledger_read(&kit->ledger, &kit->run, &kit->budget), 0);
    assert_int_equal(kit_allowed(kit, NODES), 1);
    /* The first one counts for a window from when it went. */
    kit->run.started_ms += (1767322000 + WINDOW_S - NOW_S) * 1000 + 2000;
    assert_int_equal(kit_allowed(kit, NODES), 2);
}

static void test_a_hostile_text_lets_nothing_go(void **state)
{
    static const char *const texts[] = {
        "1767323000:1000000",
        "99999999999:1000000 99999999999:1000000",
        "1767322999:1000000 1767319446:1000000",
        "-1:-1 1767323000:1000000 x",
    };
    struct kit *kit = *state;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        kit->ledger = (struct node_ledger){ 0 };
        kit->budget = (struct ccm_removal_budget){ 0 };
        kit_put_more(kit, texts[i]);
        assert_int_equal(node_ledger_read(&kit->ledger, &kit->run, &kit->budget), 0);
        assert_int_equal(kit_allowed(kit, NODES), 0);
        /* For one window. */
        kit->run.started_ms = fake_host_now(kit->fake) + WINDOW_S * 1000;
        assert_int_equal(kit_allowed(kit, NODES), 1);
        kit->run.started_ms = fake_host_now(kit->fake);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_text_says),
        cmocka_unit_test(test_a_long_text_loses_no_deletion),
        cmocka_unit_test_setup_teardown(test_who_keeps_it, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_the_only_node, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_a_keeper_that_is_not_found, fixture_begin,
                                        fixture_end),
        cmocka_unit_test_setup_teardown(test_a_keeper_that_goes, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_the_next_process, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_a_hostile_text_lets_nothing_go, fixture_begin,
                                        fixture_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
