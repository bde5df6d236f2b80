/* Actions as rows: which parameters go out, how pages are turned, what of an answer counts. */
#include "alilb/action.h"

#include "alicloud/tests/setup.h"
#include "util/cleanup.h"

#include "lbc/tests/check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct alilb_action numbered = {
    .name = "DescribeAccessControlListAttribute",
    .texts = { "AclId" },
    .list = "AclEntrys",
    .item = "AclEntry",
    .paging = ALILB_PAGES_NUMBER,
    .page = 2,
    .page_number = "Page",
};
static const struct alilb_action by_token = {
    .name = "DescribeLoadBalancerListeners",
    .repeated = "LoadBalancerId",
    .list = "Listeners",
    .paging = ALILB_PAGES_TOKEN,
    .page = 100,
};
static const struct alilb_action made = {
    .name = "CreateVServerGroup",
    .repeat = ALI_ONCE,
    .texts = { "LoadBalancerId", "VServerGroupName" },
    .made = "VServerGroupId",
};

struct world {
    struct setup setup;
    struct alilb_call call;
    struct ccm_error err;
    size_t seen;
    size_t enough; /* items after which the rest is not needed; 0 = never */
};

static int world_begin(void **state)
{
    static struct world world;

    world = (struct world){ .err = CCM_ERROR_INIT };
    setup_begin(&world.setup, NULL);
    world.call = (struct alilb_call){
        .ali = world.setup.ali,
        .host = world.setup.host,
        .object = "default/web",
        .cluster_id = "c1",
        .priority = LBC_PRIO_SPEC,
    };
    *state = &world;
    return 0;
}

static int world_end(void **state)
{
    setup_end(&((struct world *)*state)->setup);
    return 0;
}

/* Apostrophes stand for quotes. */
static void answer(struct world *world, const char *action, const char *text)
{
    CCM_CLEANUP(ccm_freep) char *json = strdup(text);

    assert_non_null(json);
    for (char *p = json; *p != '\0'; p++) {
        *p = *p == '\'' ? '"' : *p;
    }
    fake_host_answer(world->setup.fake, action, 200, json);
}

static const char *world_sent_param(const struct world *world, size_t call, const char *name)
{
    const char *value = fake_request_param(fake_host_request(world->setup.fake, call), name);

    return value == NULL ? "" : value;
}

static int count_item(void *arg, const cJSON *item, struct ccm_error *err)
{
    struct world *world = arg;

    (void)item;
    (void)err;
    return ++world->seen == world->enough ? 1 : 0;
}

static int list_entries(struct world *world, const struct alilb_action *action)
{
    return alilb_list(&world->call, action, ALILB_TEXTS("acl-1"), count_item, world, &world->err);
}

#define ENTRIES(total) "{'RequestId':'r'" total ",'AclEntrys':{'AclEntry':[{'a':1},{'a':2}]}}"
#define LAST           "{'RequestId':'r','AclEntrys':{'AclEntry':[{'a':3}]}}"

static void test_numbered_pages(void **state)
{
    struct world *world = *state;

    answer(world, numbered.name, ENTRIES(""));
    answer(world, numbered.name, LAST);
    assert_int_equal(list_entries(world, &numbered), 0);
    assert_int_equal(world->seen, 3);
    assert_int_equal(fake_host_request_count(world->setup.fake), 2);
    assert_string_equal(world_sent_param(world, 0, "AclId"), "acl-1");
    assert_string_equal(world_sent_param(world, 0, "PageSize"), "2");
    assert_string_equal(world_sent_param(world, 0, "Page"), "1");
    assert_string_equal(world_sent_param(world, 1, "Page"), "2");
}

/* Where the answer tells how many there are, a full last page is the last one. */
static void test_total(void **state)
{
    struct world *world = *state;

    answer(world, numbered.name, ENTRIES(",'TotalCount':4"));
    answer(world, numbered.name, ENTRIES(",'TotalCount':4"));
    assert_int_equal(list_entries(world, &numbered), 0);
    assert_int_equal(world->seen, 4);
    assert_int_equal(fake_host_request_count(world->setup.fake), 2);
}

static void test_enough(void **state)
{
    struct world *world = *state;

    world->enough = 1;
    answer(world, numbered.name, ENTRIES(""));
    assert_int_equal(list_entries(world, &numbered), 0);
    assert_int_equal(world->seen, 1);
    assert_int_equal(fake_host_request_count(world->setup.fake), 1);
}

/* A failed read is never an empty answer, unless the row says that a missing list is one. */
static void test_no_list(void **state)
{
    struct world *world = *state;
    struct alilb_action lenient = numbered;

    answer(world, numbered.name, "{'RequestId':'r'}");
    assert_int_equal(list_entries(world, &numbered), -EBADMSG);
    assert_string_equal(world->err.message,
                        "DescribeAccessControlListAttribute: the answer has no list");
    lenient.may_lack = true;
    answer(world, numbered.name, "{'RequestId':'r'}");
    assert_int_equal(list_entries(world, &lenient), 0);
    assert_int_equal(world->seen, 0);
}

static void test_tokens(void **state)
{
    struct world *world = *state;
    char *ids[] = { (char *)(uintptr_t) "lb-1", (char *)(uintptr_t) "lb-2" }; /* read only */
    const struct lbc_texts list = { .items = ids, .len = 2 };

    answer(world, by_token.name, "{'RequestId':'r','Listeners':[{}],'NextToken':'t'}");
    answer(world, by_token.name, "{'RequestId':'r','Listeners':[{}],'NextToken':'t'}");
    assert_int_equal(alilb_list(&world->call, &by_token, ALILB_LIST(&list, NULL), count_item, world,
                                &world->err),
                     -EBADMSG);
    assert_string_equal(world->err.message, "DescribeLoadBalancerListeners: the pages have no end");
    assert_string_equal(world_sent_param(world, 0, "LoadBalancerId.1"), "lb-1");
    assert_string_equal(world_sent_param(world, 0, "LoadBalancerId.2"), "lb-2");
    assert_string_equal(world_sent_param(world, 0, "NextToken"), "");
    assert_string_equal(world_sent_param(world, 1, "NextToken"), "t");
}

/* What is empty is left out; what was made is named, or nobody knows what became of the call. */
static void test_make(void **state)
{
    struct world *world = *state;
    CCM_CLEANUP(lbc_sent_fini) struct lbc_sent sent = { .made_id = NULL };

    answer(world, made.name, "{'RequestId':'r','VServerGroupId':'rsp-1'}");
    assert_int_equal(alilb_write(&world->call, &made, ALILB_TEXTS("lb-1", ""), &sent, &world->err),
                     0);
    assert_string_equal(sent.made_id, "rsp-1");
    assert_string_equal(world_sent_param(world, 0, "LoadBalancerId"), "lb-1");
    assert_null(fake_request_param(fake_host_request(world->setup.fake, 0), "VServerGroupName"));
    assert_string_equal(world_sent_param(world, 0, "ClientToken"), "");
    assert_false(world->call.uncertain);

    answer(world, made.name, "{'RequestId':'r'}");
    assert_int_equal(alilb_write(&world->call, &made, ALILB_TEXTS("lb-1"), &sent, &world->err),
                     -EBADMSG);
    assert_true(world->call.uncertain);
    assert_string_equal(sent.made_id, "rsp-1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_numbered_pages, world_begin, world_end),
        cmocka_unit_test_setup_teardown(test_total, world_begin, world_end),
        cmocka_unit_test_setup_teardown(test_enough, world_begin, world_end),
        cmocka_unit_test_setup_teardown(test_no_list, world_begin, world_end),
        cmocka_unit_test_setup_teardown(test_tokens, world_begin, world_end),
        cmocka_unit_test_setup_teardown(test_make, world_begin, world_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
