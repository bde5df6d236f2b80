/* Source ranges that come and go in any order, with changes of type and crashes between: no access
 * list is left, no listener gets stuck. */
#include "world.h"

#include "clb/model_listeners.h"
#include "util/cleanup.h"
#include "util/json.h"

#include <stdio.h>
#include <string.h>

/* What a Service asks for. */
enum wish { CLOSED, OTHER, OPEN, INNER, WISHES };

static const char *const names[WISHES] = { "ranges", "other ranges", "no ranges", "ClusterIP" };

struct story {
    struct world world;
    size_t shown;    /* patches that the API server has */
    size_t at_crash; /* patches when the process was killed */
    unsigned edits;
};

/* --- the API server --- */

static void show_labels(struct ccm_object *meta, const cJSON *labels)
{
    for (const cJSON *one = labels == NULL ? NULL : labels->child; one != NULL; one = one->next) {
        obj_label(meta, one->string, cJSON_IsString(one) ? one->valuestring : NULL);
    }
}

static void show_ingress(struct ccm_service *service, const cJSON *json)
{
    const cJSON *balancer = ccm_json_path(json, "status", "loadBalancer", NULL);

    if (balancer == NULL) {
        return;
    }
    service->ingress = NULL;
    service->ingress_count = 0;
    for (const cJSON *one = ccm_json_items(balancer, "ingress"); one != NULL; one = one->next) {
        obj_ingress(service, ccm_json_text(one, "ip"), "");
    }
}

static void show_patch(struct ccm_service *service, const struct fake_patch *patch)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;

    assert_int_equal(ccm_json_parse(patch->body, strlen(patch->body), &json), 0);

    const cJSON *meta = ccm_json_get(json, "metadata");

    show_labels(&service->meta, ccm_json_get(meta, "labels"));
    show_ingress(service, json);
    if (ccm_json_get(meta, "finalizers") != NULL) {
        obj_finalizer(&service->meta, CLB_FINALIZER);
    }
    if (ccm_json_get(meta, "$deleteFromPrimitiveList/finalizers") != NULL) {
        service->meta.finalizers = NULL;
        service->meta.finalizer_count = 0;
    }
}

/* The caches have caught up with the first `count` patches. */
static void show(struct story *story, size_t count)
{
    for (; story->shown < count; story->shown++) {
        show_patch(story->world.service, fake_host_patch(story->world.fake, story->shown));
    }
    world_put(&story->world);
}

static size_t patches(struct story *story)
{
    return fake_host_patch_count(story->world.fake);
}

/* --- one life --- */

static void story_start(struct story *story)
{
    story->world.lbc.extras = CLB_EXTRA_RANGES;
    fake_host_option(story->world.fake, NULL, "source_ranges", "true");
}

static void story_begin(struct story *story)
{
    memset(story, 0, sizeof(*story));
    world_begin(&story->world);
    story_start(story);
}

/* An edit by a person; every one changes something of the listeners as well. */
static void story_wish(struct story *story, enum wish wish)
{
    struct ccm_service *service = story->world.service;

    service->type = wish == INNER ? "ClusterIP" : "LoadBalancer";
    if (wish == INNER) { /* API servers take the address away by themselves */
        service->ingress = NULL;
        service->ingress_count = 0;
    }
    service->source_ranges = NULL;
    service->source_range_count = 0;
    if (wish == CLOSED || wish == OTHER) {
        obj_range(service, wish == CLOSED ? "10.0.0.0/8" : "192.168.0.0/16");
    }
    obj_annotate(&service->meta, LBC_ANNO_PREFIX "scheduler",
                 story->edits++ % 2 == 0 ? "wrr" : "rr");
    world_put(&story->world);
}

static void story_is(enum wish wish)
{
    const char *dump = mini_dump();
    const bool closed = wish == CLOSED || wish == OTHER;

    assert_int_equal(strstr(dump, "acl " LB_NAME) != NULL, closed);
    if (wish == INNER) {
        assert_string_equal(dump, "");
        return;
    }
    assert_non_null(strstr(dump, "tcp 80 running"));
    assert_non_null(strstr(dump, "tcp 443 running"));
    if (closed) {
        assert_non_null(strstr(dump, wish == CLOSED ? "acl " LB_NAME " 10.0.0.0/8\n"
                                                    : "acl " LB_NAME " 192.168.0.0/16\n"));
    }
    assert_null(closed ? strstr(strstr(dump, "acl ") + 1, "acl ") : NULL);
}

/* Everything is well again within a few passes, and stays so. */
static void story_settle(struct story *story, enum wish wish)
{
    for (int pass = 0; pass < 10; pass++) {
        const int r = world_run(&story->world);

        show(story, patches(story));
        if (r == 0 && pass > 0) {
            break;
        }
        if (pass == 9) {
            fail_msg("%s: %s", names[wish], story->world.err.message);
        }
    }
    story_is(wish);
}

static void note_crash(void *arg)
{
    struct story *story = arg;

    story->at_crash = patches(story);
}

/* Killed at the nth call of what follows from an edit, before or after the cloud has done it.
 * False: there are not so many. */
static bool story_crash(struct story *story, enum wish wish, size_t nth, bool executed)
{
    const struct mini_fault fault = { .nth = nth,
                                      .times = 1000,
                                      .executed = executed,
                                      .uncertain = true,
                                      .code = "",
                                      .kind = CCM_ERROR_TRANSIENT,
                                      .hit = note_crash,
                                      .arg = story };
    const struct mini_fault none = { .nth = 1000000 };

    story_wish(story, wish);
    story->at_crash = SIZE_MAX;
    mini_fail(&fault);

    const int r = world_run(&story->world);
    const bool hit = story->at_crash != SIZE_MAX;

    (void)r; /* nobody is left to hear of it */
    mini_fail(&none);
    if (hit) {
        show(story, story->at_crash);
        story->shown = patches(story); /* what came later was never sent */
        world_restart(&story->world);
        story_start(story);
    } else {
        show(story, patches(story));
    }
    return hit;
}

static void story_end(struct story *story)
{
    story_wish(story, INNER);
    story_settle(story, INNER);
    world_end(&story->world);
}

/* From each state, killed at each call on the way to each other one, and on to a third. */
static void test_killed_at_each_call(void **state)
{
    size_t lives = 0;

    (void)state;
    for (unsigned n = 0; n < WISHES * WISHES * WISHES * 2; n++) {
        const enum wish from = n % WISHES;
        const enum wish over = n / WISHES % WISHES;
        const enum wish to = n / WISHES / WISHES % WISHES;
        bool hit = true;

        for (size_t nth = 1; hit; nth++) {
            struct story story;

            story_begin(&story);
            story_wish(&story, from);
            story_settle(&story, from);
            hit = story_crash(&story, over, nth, n >= WISHES * WISHES * WISHES);
            story_wish(&story, to);
            story_settle(&story, to);
            story_end(&story);
            lives++;
        }
    }
    assert_true(lives > 500);
}

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

static void test_random_lives(void **state)
{
    (void)state;
    for (uint64_t life = 1; life <= 60; life++) {
        uint64_t seed = life;
        struct story story;

        story_begin(&story);
        for (int i = 0; i < 12; i++) {
            const enum wish wish = next_random(&seed) % WISHES;

            if (next_random(&seed) % 3 == 0) {
                story_wish(&story, wish);
                story_settle(&story, wish);
            } else {
                (void)story_crash(&story, wish, 1 + next_random(&seed) % 8,
                                  next_random(&seed) % 2 == 0);
            }
        }
        story_end(&story);
    }
}

/* The listener tells the list that it had, which is gone: nothing of it is sent. */
static void test_listener_changes_afterwards(void **state)
{
    (void)state;
    for (int restart = 0; restart < 2; restart++) {
        struct story story;

        story_begin(&story);
        story_wish(&story, CLOSED);
        story_settle(&story, CLOSED);
        story_wish(&story, OPEN);
        story_settle(&story, OPEN);
        if (restart == 1) {
            world_restart(&story.world);
            story_start(&story);
        }
        mini_reset_log();
        story_wish(&story, OPEN);
        assert_int_equal(world_run(&story.world), 0);
        assert_non_null(strstr(mini_log(), "SetLoadBalancerTCPListenerAttribute"));
        assert_string_equal(mini_last("SetLoadBalancerTCPListenerAttribute", "AclId"), "");
        story_end(&story);
    }
}

/* A cloud whose listeners do not let go of a list: it is told, costs one call, and goes at last. */
static void test_list_that_stays_bound(void **state)
{
    struct story story;
    bool was_emitted = false;

    (void)state;
    story_begin(&story);
    mini_acl_off_keeps();
    story_wish(&story, CLOSED);
    story_settle(&story, CLOSED);
    story.world.events = fake_host_event_count(story.world.fake);
    story_wish(&story, OPEN);
    assert_int_equal(world_run(&story.world), 0);
    show(&story, patches(&story));
    for (const char *event = world_event(&story.world); event != NULL;
         event = world_event(&story.world)) {
        was_emitted = was_emitted || strncmp(event, "AccessListKept: access list [", 29) == 0;
    }
    assert_true(was_emitted);
    mini_reset_log();
    story_wish(&story, OPEN);
    assert_int_equal(world_run(&story.world), 0);
    assert_null(strstr(mini_log(), "DeleteAccessControlList"));
    story_wish(&story, OTHER);
    story_settle(&story, OTHER);
    story_wish(&story, OPEN);
    assert_int_equal(world_run(&story.world), 0);
    story_end(&story);
}

/* Switched off meanwhile: the list stays as it is for as long as the Service has ranges, and is
 * deleted with them. */
static void test_option_is_off_at_the_end(void **state)
{
    struct story story;

    (void)state;
    story_begin(&story);
    story_wish(&story, CLOSED);
    story_settle(&story, CLOSED);
    world_restart(&story.world);
    story_wish(&story, OTHER);
    assert_int_equal(world_run(&story.world), 0);
    assert_non_null(strstr(mini_dump(), "acl " LB_NAME " 10.0.0.0/8\n"));
    show(&story, patches(&story));
    story_wish(&story, OPEN);
    assert_int_equal(world_run(&story.world), 0);
    assert_null(strstr(mini_dump(), "acl " LB_NAME));
    show(&story, patches(&story));
    story_end(&story);
}

/* Where there was never a list nobody looks for one. */
static void test_nothing_to_look_for(void **state)
{
    struct story story;

    (void)state;
    story_begin(&story);
    story_wish(&story, OPEN);
    story_settle(&story, OPEN);
    mini_reset_log();
    story_wish(&story, INNER);
    assert_int_equal(world_run(&story.world), 0);
    assert_null(strstr(mini_log(), "AccessControlList"));
    world_end(&story.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed_at_each_call),
        cmocka_unit_test(test_random_lives),
        cmocka_unit_test(test_listener_changes_afterwards),
        cmocka_unit_test(test_list_that_stays_bound),
        cmocka_unit_test(test_option_is_off_at_the_end),
        cmocka_unit_test(test_nothing_to_look_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
