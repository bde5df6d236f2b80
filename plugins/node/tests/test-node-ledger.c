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
    struct node_ledger_text said;
    char got[1000] = "";

    node_ledger_parse(text, 1000, 2000, &said);
    assert_true(said.len <= NODE_LEDGER_NOTES && said.name_count <= NODE_LEDGER_OPEN);
    for (size_t i = 0, name = 0; i < said.len; i++) {
        size_t used = strlen(got);

        (void)snprintf(got + used, sizeof(got) - used, "%s%lld:%llu", i == 0 ? "" : " ",
                       (long long)said.notes[i].at_s, (unsigned long long)said.notes[i].count);
        if (name < said.name_count && said.names[name].note == i) {
            used = strlen(got);
            (void)snprintf(got + used, sizeof(got) - used, " %s/%s", said.names[name].uid,
                           said.names[name].version);
            name++;
        }
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

static void test_whom_a_text_names(void **state)
{
    static const char long_uid[] = "1500:1 0123456789012345678901234567890123456789012345678901234"
                                   "567890123456789/7";

    (void)state;
    check_parsed("1500:1 u-1/7", "1500:1 u-1/7");
    check_parsed("1500:2 1600:1 u-1/7", "1500:2 1600:1 u-1/7");
    check_parsed("1500:1 u-1/7 1600:1  u-2/8 ", "1500:1 u-1/7 1600:1 u-2/8");
    /* It belongs to a note that counts. */
    check_parsed("u-1/7 1500:1", "1500:1");
    check_parsed("999:1 u-1/7 1500:1", "1500:1");
    check_parsed("1500:1 u-1/7 u-2/8", "1500:1 u-1/7");
    /* Nobody is named twice. */
    check_parsed("1500:1 u-1/7 1600:1 u-1/8", "1500:1 u-1/7 1600:1");
    /* What is no name is none: the note counts. */
    check_parsed("1500:1 u-1 1600:1 /7 1700:1 u-1/ 1800:1 /", "1500:1 1600:1 1700:1 1800:1");
    check_parsed("1500:1 u\"1/7 1600:1 u-1/7/8 1700:1 u-1/\\7", "1500:1 1600:1 1700:1");
    check_parsed("1500:1 u\xc3\xa4/7", "1500:1");
    check_parsed(long_uid, "1500:1");
    check_parsed("1:1 a/1 1501:1 a/1 1502:1 b/1 1503:1 c/1 1504:1 d/1 1505:1 e/1 1506:1 f/1 "
                 "1507:1 g/1 1508:1 h/1 1509:1 i/1",
                 "1501:1 a/1 1502:1 b/1 1503:1 c/1 1504:1 d/1 1505:1 e/1 1506:1 f/1 1507:1 g/1 "
                 "1508:1 h/1 1509:1");
}

static void test_a_long_text_loses_no_deletion(void **state)
{
    struct node_ledger_text said;
    char text[40 * 8 + 1] = "";
    uint64_t sum = 0;

    (void)state;
    for (size_t i = 0; i < 40; i++) {
        (void)snprintf(text + i * 7, 8, "%zu:2 ", 1500 + i);
    }
    node_ledger_parse(text, 1000, 2000, &said);
    assert_int_equal(said.len, NODE_LEDGER_NOTES);
    for (size_t i = 0; i < NODE_LEDGER_NOTES; i++) {
        sum += said.notes[i].count;
    }
    assert_int_equal(sum, 80);
    assert_int_equal(said.notes[NODE_LEDGER_NOTES - 1].at_s, 1539);
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
    const struct ccm_object *going;
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
    kit.going = &kit.nodes[0].meta;
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
    return node_ledger_write(&kit->ledger, &kit->run, kit->going, &kit->budget, err);
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

/* The one that went last is gone for certain. */
static void kit_close(struct kit *kit)
{
    node_ledger_close(&kit->ledger, kit->going->uid);
    ccm_removal_record(&kit->budget, &kit->control.rule, NODES, 1, kit->run.started_ms);
}

static void kit_advance(struct kit *kit, int64_t ms)
{
    fake_host_advance(kit->fake, ms);
    kit->run.started_ms = fake_host_now(kit->fake);
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
    check_patch(kit, 0, "node-3", "1767323045:1 u-0/7");
    /* The next one goes there, too, with the one before. */
    kit_close(kit);
    kit_advance(kit, 10000);
    fake_host_remove(kit->fake, CCM_KIND_NODE, "node-2");
    assert_int_equal(kit_write(kit, &err), 0);
    check_patch(kit, 1, "node-3", "1767323045:1 1767323055:1 u-0/7");
    /* Not when it is the one that goes; what is open stays so. */
    kit->going = &kit->nodes[3].meta;
    assert_int_equal(kit_write(kit, &err), 0);
    check_patch(kit, 2, "node-4", "1767323045:1 1767323055:1 u-0/7 1767323055:1 u-3/7");
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
    kit_close(kit);
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

    kit_advance(kit, WINDOW_S * 1000 + 1);
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

/* ---- deletions of which nobody knows what has become ---- */

#define DELETED "1767323000:1 u-0/7" /* 45 s ago */

static void kit_read(struct kit *kit)
{
    kit->ledger = (struct node_ledger){ 0 };
    kit->budget = (struct ccm_removal_budget){ 0 };
    assert_int_equal(node_ledger_read(&kit->ledger, &kit->run, &kit->budget), 0);
}

static void kit_ask(struct kit *kit)
{
    node_ledger_ask(&kit->ledger, &kit->run, &kit->budget, NODES);
}

/* The process before was killed between the note and the deletion. */
static void test_a_node_that_is_still_there_does_not_count_for_itself(void **state)
{
    struct kit *kit = *state;

    kit_put_more(kit, DELETED);
    kit_read(kit);
    kit_ask(kit);
    assert_int_equal(kit_allowed(kit, NODES), 1);
    assert_int_equal(node_ledger_count_others(&kit->ledger, "u-0"), 0);
    assert_int_equal(node_ledger_count_others(&kit->ledger, "u-5"), 1);
    /* The deletion cannot be on its way any more. */
    kit_advance(kit, 16000);
    kit_ask(kit);
    assert_int_equal(kit_allowed(kit, NODES), 1);
    assert_int_equal(node_ledger_count_others(&kit->ledger, "u-5"), 0);
}

/* The deletion was for what it was before. */
static void test_a_node_that_has_changed_since_was_never_deleted(void **state)
{
    struct kit *kit = *state;

    kit_put_more(kit, DELETED);
    kit->nodes[0].meta.resource_version = "8";
    kit_read(kit);
    assert_int_equal(node_ledger_count_others(&kit->ledger, "u-5"), 1);
    kit_ask(kit);
    assert_int_equal(node_ledger_count_others(&kit->ledger, "u-5"), 0);
    assert_int_equal(kit_allowed(kit, NODES), 1);
}

static void test_a_node_that_is_not_there_counts(void **state)
{
    struct kit *kit = *state;

    kit_put_more(kit, DELETED);
    fake_host_remove(kit->fake, CCM_KIND_NODE, "node-0");
    kit_read(kit);
    assert_int_equal(kit->ledger.open_count, 0);
    assert_int_equal(kit_allowed(kit, NODES), 0);
}

/* The caches have it, the API server has not, or another one, or is about to delete it. */
static void test_the_api_server_knows_better(void **state)
{
    struct kit *kit = *state;
    struct ccm_node live;

    kit_put_more(kit, DELETED);
    for (int i = 0; i < 2; i++) {
        live = kit->nodes[0];
        live.meta.uid = i == 0 ? "u-new" : live.meta.uid;
        live.meta.deleted_ms = i == 0 ? 0 : 5;
        fake_host_put_live(kit->fake, &live.meta);
        kit_read(kit);
        assert_int_equal(kit->ledger.open_count, 1);
        kit_ask(kit);
        assert_int_equal(kit->ledger.open_count, 0);
        assert_int_equal(kit_allowed(kit, NODES), 0);
    }
}

static void test_an_api_server_that_does_not_answer(void **state)
{
    struct kit *kit = *state;

    kit_put_more(kit, DELETED);
    kit_read(kit);
    fake_host_fetch_result(kit->fake, -EIO, CCM_ERROR_TRANSIENT);
    kit_advance(kit, WINDOW_S * 1000);
    kit_ask(kit);
    assert_int_equal(node_ledger_count_others(&kit->ledger, "u-5"), 1);
    /* Asked once in a call. */
    fake_host_fetch_result(kit->fake, 0, CCM_ERROR_NONE);
    kit_ask(kit);
    assert_int_equal(node_ledger_count_others(&kit->ledger, "u-5"), 1);
    kit_advance(kit, 1);
    kit_ask(kit);
    assert_int_equal(node_ledger_count_others(&kit->ledger, "u-5"), 0);
}

static void test_no_more_than_so_many_are_open(void **state)
{
    struct kit *kit = *state;
    struct ccm_error err = CCM_ERROR_INIT;
    size_t len = 0;

    kit_put_more(kit, NULL);
    for (size_t i = 0; i < NODE_LEDGER_OPEN; i++) {
        kit->going = &kit->nodes[i].meta;
        assert_int_equal(kit_write(kit, &err), 0);
    }
    len = fake_host_patch_count(kit->fake);
    kit->going = &kit->nodes[NODE_LEDGER_OPEN].meta;
    assert_true(kit_write(kit, &err) < 0);
    assert_int_equal(fake_host_patch_count(kit->fake), len);
    /* One of them may go once more, and what is written then names it once, at the end. */
    kit_advance(kit, 1000);
    kit->going = &kit->nodes[2].meta;
    assert_int_equal(kit_write(kit, &err), 0);
    assert_int_equal(kit->ledger.open_count, NODE_LEDGER_OPEN);

    const char *body = fake_host_patch(kit->fake, len)->body;
    const char *first = strstr(body, "u-2/7");

    assert_non_null(first);
    assert_string_equal(first, "u-2/7\"}}}");
    assert_null(strstr(first + 1, "u-2/7"));
}

/* What could not be noted was not deleted; what was open before stays so. */
static void test_a_note_that_fails(void **state)
{
    struct kit *kit = *state;
    struct ccm_error err = CCM_ERROR_INIT;

    kit_put_more(kit, DELETED);
    kit_read(kit);
    fake_host_patch_result(kit->fake, -EIO, CCM_ERROR_TRANSIENT);
    kit->going = &kit->nodes[3].meta;
    assert_true(kit_write(kit, &err) < 0);
    assert_int_equal(node_ledger_count_others(&kit->ledger, "u-0"), 0);
    assert_int_equal(node_ledger_count_others(&kit->ledger, "u-3"), 1);
}

/* Nothing of it has to be escaped, and nothing is longer than an annotation may be. */
static void test_names_that_cannot_be_written(void **state)
{
    struct kit *kit = *state;
    struct ccm_error err = CCM_ERROR_INIT;
    char huge[400];

    memset(huge, 'v', sizeof(huge) - 1);
    huge[sizeof(huge) - 1] = '\0';
    kit_put_node(kit, 1, CCM_CONDITION_TRUE, NULL);
    kit->nodes[0].meta.resource_version = "7\" 1";
    assert_int_equal(kit_write(kit, &err), 0);
    check_patch(kit, 0, "node-1", "1767323045:1");
    kit->nodes[0].meta.resource_version = huge;
    assert_int_equal(kit_write(kit, &err), 0);
    assert_true(strlen(fake_host_patch(kit->fake, 1)->body) < 200);
}

/* A kubelet that names nodes that are there takes nothing from what others have noted. */
static void test_hostile_names_give_no_new_share(void **state)
{
    struct kit *kit = *state;

    kit_put_more(kit, "1767322000:1");
    kit_put_node(kit, 4, CCM_CONDITION_TRUE,
                 "1767323000:1 u-2/7 1767323000:1 u-3/7 1767323000:1 u-4/7 1767323000:1 u-5/7");
    kit_read(kit);
    assert_string_equal(kit->ledger.keeper, "node-1");
    assert_int_equal(kit->ledger.open_count, 0);
    assert_int_equal(kit_allowed(kit, NODES), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_text_says),
        cmocka_unit_test(test_whom_a_text_names),
        cmocka_unit_test(test_a_long_text_loses_no_deletion),
        cmocka_unit_test_setup_teardown(test_who_keeps_it, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_the_only_node, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_a_keeper_that_is_not_found, fixture_begin,
                                        fixture_end),
        cmocka_unit_test_setup_teardown(test_a_keeper_that_goes, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_the_next_process, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_a_hostile_text_lets_nothing_go, fixture_begin,
                                        fixture_end),
        cmocka_unit_test_setup_teardown(test_a_node_that_is_still_there_does_not_count_for_itself,
                                        fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_a_node_that_has_changed_since_was_never_deleted,
                                        fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_a_node_that_is_not_there_counts, fixture_begin,
                                        fixture_end),
        cmocka_unit_test_setup_teardown(test_the_api_server_knows_better, fixture_begin,
                                        fixture_end),
        cmocka_unit_test_setup_teardown(test_an_api_server_that_does_not_answer, fixture_begin,
                                        fixture_end),
        cmocka_unit_test_setup_teardown(test_no_more_than_so_many_are_open, fixture_begin,
                                        fixture_end),
        cmocka_unit_test_setup_teardown(test_a_note_that_fails, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_names_that_cannot_be_written, fixture_begin,
                                        fixture_end),
        cmocka_unit_test_setup_teardown(test_hostile_names_give_no_new_share, fixture_begin,
                                        fixture_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
