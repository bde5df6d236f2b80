/* The governor: whole quotas at once, what is kept of them, order of service, throttling. */
#include "alicloud/quota/governor.h"

#include "alicloud/error.h"
#include "support/fake_host.h"
#include "util/cleanup.h"
#include "util/text.h"

#include "check.h"

#define ACTION(text, rank)                                                                         \
    &(const struct ali_call)                                                                       \
    {                                                                                              \
        .product = ALI_SLB, .action = (text), .priority = (rank)                                   \
    }

static const struct ali_request no_tenant = { 0 };

#define QUOTA   90    /* of a changing action of CLB, */
#define SPAN    61000 /* and how long a call counts */
#define LOOK_MS 250   /* a waiter looks again at least this often */

static void governor_freep(struct ali_governor **governor)
{
    ali_governor_free(*governor);
}

/* Ms until the turn of one more; 0: it has it, and it ends at once. */
static int64_t ask_as(struct ali_governor *governor, const char *action, enum ali_priority priority,
                      int64_t now)
{
    struct ali_ticket ticket;
    struct ali_turn turn = { .turns = NULL };

    assert_int_equal(
        ali_governor_enter(governor, ACTION(action, priority), &no_tenant, now, &ticket), 0);

    const int64_t wait = ali_governor_poll(governor, &ticket, now, &turn);

    ali_governor_leave(governor, &ticket);
    ali_governor_end(governor, &turn, ALI_TURN_TAKEN, now, 0);
    return wait;
}

static int64_t ask(struct ali_governor *governor, const char *action, int64_t now)
{
    return ask_as(governor, action, ALI_PRIO_SPEC, now);
}

static int64_t ask_until_refused(struct ali_governor *governor, const char *action,
                                 enum ali_priority priority, int64_t now)
{
    int64_t count = 0;

    while (count <= 10000 && ask_as(governor, action, priority, now) == 0) {
        count++;
    }
    return count;
}

/* A call that gets its turn, and is throttled. */
static void governor_throttle_call(struct ali_governor *governor, const char *action, int64_t now,
                                   int64_t hint)
{
    struct ali_ticket ticket;
    struct ali_turn turn = { .turns = NULL };

    assert_int_equal(
        ali_governor_enter(governor, ACTION(action, ALI_PRIO_SPEC), &no_tenant, now, &ticket), 0);
    assert_int_equal(ali_governor_poll(governor, &ticket, now, &turn), 0);
    ali_governor_end(governor, &turn, ALI_TURN_THROTTLED, now, hint);
}

static void test_all_at_once_less_what_is_kept(void **state)
{
    static const struct {
        const char *action;
        enum ali_priority priority;
        int64_t count;    /* at once */
        int64_t removals; /* that get through after these */
    } rows[] = {
        { "AddVServerGroupBackendServers", ALI_PRIO_BULK, QUOTA - 4, 0 },
        { "CreateVServerGroup", ALI_PRIO_SPEC, QUOTA - 4, 0 },
        { "CreateLoadBalancer", ALI_PRIO_NEW, QUOTA - 4, 4 }, /* new objects count apart */
        { "SetVServerGroupAttribute", ALI_PRIO_AUDIT, QUOTA - 8, 4 },
        { "SetVServerGroupAttribute", ALI_PRIO_NEW, QUOTA - 8, 4 },
        { "RemoveVServerGroupBackendServers", ALI_PRIO_REMOVE, QUOTA - 4, 0 },
        { "DescribeLoadBalancers", ALI_PRIO_SPEC, 2700, 150 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        CCM_CLEANUP(governor_freep) struct ali_governor *governor = ali_governor_new();
        const char *action = rows[i].action;

        assert_int_equal(ask_until_refused(governor, action, rows[i].priority, 5000),
                         rows[i].count);
        assert_int_equal(ask_as(governor, action, rows[i].priority, 5000), SPAN);
        assert_int_equal(ask_until_refused(governor, action, ALI_PRIO_REMOVE, 6000),
                         rows[i].removals);
        assert_int_equal(ask_as(governor, action, rows[i].priority, 4999 + SPAN), 1);
        assert_int_equal(ask_until_refused(governor, action, rows[i].priority, 5000 + SPAN),
                         rows[i].count - rows[i].removals);
    }
}

static void test_actions_do_not_share(void **state)
{
    CCM_CLEANUP(governor_freep) struct ali_governor *governor = ali_governor_new();

    (void)state;
    assert_int_equal(ask_until_refused(governor, "CreateVServerGroup", ALI_PRIO_SPEC, 0), 86);
    assert_int_equal(ask(governor, "DeleteVServerGroup", 0), 0);
}

/* Ends one turn of a call that has failed again and again; false: it has to wait. */
static bool governor_retry_call(struct ali_governor *governor, const char *action,
                                enum ali_turn_end end, int64_t now)
{
    struct ali_ticket ticket;
    struct ali_turn turn = { .turns = NULL };

    assert_int_equal(
        ali_governor_enter(governor, ACTION(action, ALI_PRIO_RETRY), &no_tenant, now, &ticket), 0);

    const bool mine = ali_governor_poll(governor, &ticket, now, &turn) == 0;

    ali_governor_leave(governor, &ticket);
    ali_governor_end(governor, &turn, end, now, 0);
    return mine;
}

/* What fails again and again has a tenth, and nothing where others have used that much; until one
 * of its calls succeeds. */
static void test_retries_get_what_others_leave(void **state)
{
    static const char action[] = "CreateLoadBalancer";
    CCM_CLEANUP(governor_freep) struct ali_governor *governor = ali_governor_new();
    int64_t now = 0;
    int64_t count = 0;

    (void)state;
    while (governor_retry_call(governor, action, ALI_TURN_FAILED, now)) {
        count++;
    }
    assert_int_equal(count, QUOTA / 10);
    assert_int_equal(ask_until_refused(governor, action, ALI_PRIO_NEW, now), QUOTA - 4 - count);
    now += SPAN;
    assert_int_equal(ask_until_refused(governor, action, ALI_PRIO_NEW, now), QUOTA - 4);
    now += SPAN - 1;
    assert_false(governor_retry_call(governor, action, ALI_TURN_FAILED, now));
    now += 1;
    assert_true(governor_retry_call(governor, action, ALI_TURN_FAILED, now));
    assert_int_equal(ask_as(governor, action, ALI_PRIO_NEW, now), 0);
    now += SPAN;
    for (count = 0; governor_retry_call(governor, action, ALI_TURN_TAKEN, now); count++) {
    }
    assert_int_equal(count, QUOTA - 4); /* the cloud is well again: as any other */
    now += SPAN;
    assert_true(governor_retry_call(governor, action, ALI_TURN_FAILED, now));
    for (count = 1; governor_retry_call(governor, action, ALI_TURN_FAILED, now); count++) {
    }
    assert_int_equal(count, QUOTA / 10);
}

/* --- against the windows that a cloud may keep --- */

enum cloud_window { CLOUD_FIXED, CLOUD_FROM_FIRST, CLOUD_SLIDING };

struct cloud {
    enum cloud_window kind;
    int64_t start; /* of a fixed window */
    int64_t used;  /* in it */
    int64_t arrivals[2000];
    size_t count;
    size_t first;
};

static bool cloud_takes(struct cloud *cloud, int64_t now)
{
    if (cloud->kind == CLOUD_SLIDING) {
        while (cloud->first < cloud->count && cloud->arrivals[cloud->first] <= now - 60000) {
            cloud->first++;
        }
        cloud->arrivals[cloud->count++] = now;
        return cloud->count - cloud->first <= QUOTA;
    }
    if (now - cloud->start >= 60000) {
        cloud->start = cloud->kind == CLOUD_FIXED ? now - now % 60000 : now;
        cloud->used = 0;
    }
    return ++cloud->used <= QUOTA;
}

struct worker {
    struct ali_ticket ticket;
    struct ali_turn turn; /* not ended: the call is under way */
    int64_t looks;        /* again whether it is its turn: as a waiter does, see ticket_wait() */
    int64_t arrives;      /* -1: has arrived */
    int64_t ends;
};

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Until that moment; 0 after a call that was throttled. */
static bool worker_step(struct worker *worker, struct ali_governor *governor, struct cloud *cloud,
                        int64_t now, int64_t most_ms, uint32_t *seed)
{
    if (worker->turn.turns == NULL) {
        const int64_t wait = now < worker->looks
                                 ? 1
                                 : ali_governor_poll(governor, &worker->ticket, now, &worker->turn);

        if (wait == 0) {
            worker->arrives = now + (int64_t)(next_random(seed) % most_ms);
            worker->ends = worker->arrives + (int64_t)(next_random(seed) % most_ms);
        } else if (now >= worker->looks) {
            worker->looks = now + (wait > LOOK_MS ? LOOK_MS : wait);
        }
        return true;
    }
    if (worker->arrives >= 0 && now >= worker->arrives) {
        worker->arrives = -1;
        if (!cloud_takes(cloud, now)) {
            return false;
        }
    }
    if (now >= worker->ends) {
        ali_governor_end(governor, &worker->turn, ALI_TURN_TAKEN, now, 0);
        assert_int_equal(ali_governor_enter(governor, ACTION("CreateVServerGroup", ALI_PRIO_SPEC),
                                            &no_tenant, now, &worker->ticket),
                         0);
    }
    return true;
}

/* However long calls take on their way, and however the cloud counts: nothing is throttled, and the
 * quota less what is kept is used to its end. */
static void test_no_window_of_a_cloud_is_exceeded(void **state)
{
    static const int64_t latencies[] = { 2, 50, 900, 4000 };

    (void)state;
    for (size_t i = 0; i < 3 * CCM_ARRAY_LEN(latencies); i++) {
        CCM_CLEANUP(governor_freep) struct ali_governor *governor = ali_governor_new();
        struct cloud cloud = { .kind = (enum cloud_window)(i % 3), .start = -60000 };
        const int64_t latency = latencies[i / 3];
        struct worker workers[16] = { 0 };
        uint32_t seed = (uint32_t)i + 1;
        int64_t done = 0;

        for (size_t w = 0; w < CCM_ARRAY_LEN(workers); w++) {
            assert_int_equal(ali_governor_enter(governor,
                                                ACTION("CreateVServerGroup", ALI_PRIO_SPEC),
                                                &no_tenant, 12345, &workers[w].ticket),
                             0);
        }
        for (int64_t now = 12345; now < 12345 + 8 * SPAN; now++) {
            for (size_t w = 0; w < CCM_ARRAY_LEN(workers); w++) {
                const bool waited = workers[w].turn.turns == NULL;

                assert_true(worker_step(&workers[w], governor, &cloud, now, latency, &seed));
                done += waited && workers[w].turn.turns != NULL ? 1 : 0;
            }
        }
        assert_in_range(done, latency < 1000 ? 8 * 86 - 2 : 6 * 86, 8 * 86);
    }
}

/* --- order --- */

static void test_priority_and_order(void **state)
{
    static const struct {
        enum ali_priority priority;
        int64_t turn; /* how many of those that count have to go before it */
    } waiters[] = {
        { ALI_PRIO_AUDIT, 6 }, { ALI_PRIO_BULK, 4 },   { ALI_PRIO_NEW, 2 },
        { ALI_PRIO_BULK, 5 },  { ALI_PRIO_REMOVE, 1 }, { ALI_PRIO_SPEC, 3 },
    };
    CCM_CLEANUP(governor_freep) struct ali_governor *governor = ali_governor_new();
    struct ali_ticket tickets[CCM_ARRAY_LEN(waiters)];
    struct ali_turn turn;

    (void)state;
    for (int64_t n = 1; n <= QUOTA - 4; n++) { /* one a second */
        assert_int_equal(ask_as(governor, "AddVServerGroupBackendServers",
                                n <= 4 ? ALI_PRIO_NEW : ALI_PRIO_REMOVE,
                                n <= 60 ? n * 1000 : 60000),
                         0);
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(waiters); i++) {
        assert_int_equal(ali_governor_enter(
                             governor, ACTION("AddVServerGroupBackendServers", waiters[i].priority),
                             &no_tenant, 60500, &tickets[i]),
                         0);
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(waiters); i++) {
        assert_int_equal(ali_governor_poll(governor, &tickets[i], 60500, &turn),
                         waiters[i].turn * 1000 + SPAN - 60500);
    }
    /* The first leaves without its turn: everybody moves up. */
    ali_governor_leave(governor, &tickets[4]);
    assert_int_equal(ali_governor_poll(governor, &tickets[2], 60500, &turn), 1500);
    /* Those that ask at the wrong time get nothing, also when a place is there. */
    assert_int_equal(ali_governor_poll(governor, &tickets[1], 62000, &turn), 2000);
    assert_int_equal(ali_governor_poll(governor, &tickets[2], 62000, &turn), 0);
    assert_int_equal(ali_governor_poll(governor, &tickets[5], 63000, &turn), 0);
    /* Two places: the second in line need not wait until the first has looked. */
    assert_int_equal(ali_governor_poll(governor, &tickets[3], 65000, &turn), 0);
    assert_int_equal(ali_governor_poll(governor, &tickets[1], 65000, &turn), 0);
    ali_governor_leave(governor, &tickets[1]);
    ali_governor_leave(governor, &tickets[0]);
}

/* --- throttling --- */

static void test_throttling(void **state)
{
    CCM_CLEANUP(governor_freep) struct ali_governor *governor = ali_governor_new();
    struct ali_ticket tickets[4];
    struct ali_turn turns[4];

    (void)state;
    governor_throttle_call(governor, "CreateVServerGroup", 1000, 7000);
    assert_int_equal(ask(governor, "CreateVServerGroup", 1000), 7000);
    assert_int_equal(ask(governor, "CreateVServerGroup", 7999), 1);
    assert_int_equal(ali_governor_allowed(governor, ALI_SLB, "CreateVServerGroup"), 45);
    /* With the one that was throttled, and less what is kept. */
    assert_int_equal(ask_until_refused(governor, "CreateVServerGroup", ALI_PRIO_SPEC, 8000), 42);
    /* Others are not stopped, */
    assert_int_equal(ask(governor, "DeleteVServerGroup", 1000), 0);
    assert_int_equal(ali_governor_allowed(governor, ALI_SLB, "DeleteVServerGroup"), QUOTA);
    /* but careful, for half an hour. */
    for (int64_t now = 9000; now <= 1000 + 1800000; now += 1792000) {
        const bool careful = now < 1000 + 1800000;

        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(ali_governor_enter(governor,
                                                ACTION("StopLoadBalancerListener", ALI_PRIO_SPEC),
                                                &no_tenant, now, &tickets[i]),
                             0);
        }
        for (size_t i = 0; i < 4; i++) {
            const bool waits = careful && i >= 2;

            assert_int_equal(ali_governor_poll(governor, &tickets[i], now, &turns[i]) > 0, waits);
            ali_governor_leave(governor, &tickets[i]);
        }
        for (size_t i = 0; i < (careful ? 2 : 4); i++) {
            ali_governor_end(governor, &turns[i], ALI_TURN_UNUSED, now, 0);
        }
    }
}

static void test_what_was_not_sent_does_not_count(void **state)
{
    CCM_CLEANUP(governor_freep) struct ali_governor *governor = ali_governor_new();

    (void)state;
    for (int i = 0; i < 3 * QUOTA; i++) {
        struct ali_ticket ticket;
        struct ali_turn turn;

        assert_int_equal(ali_governor_enter(governor, ACTION("CreateVServerGroup", ALI_PRIO_SPEC),
                                            &no_tenant, 0, &ticket),
                         0);
        assert_int_equal(ali_governor_poll(governor, &ticket, 0, &turn), 0);
        ali_governor_end(governor, &turn, ALI_TURN_UNUSED, 0, 0);
    }
    assert_int_equal(ask_until_refused(governor, "CreateVServerGroup", ALI_PRIO_SPEC, 0), 86);
}

/* --- options --- */

static void test_options(void **state)
{
    CCM_CLEANUP(governor_freep) struct ali_governor *governor = ali_governor_new();
    struct fake_host *fake = fake_host_new();
    const struct ccm_host *host = fake_host_table(fake);

    (void)state;
    assert_int_equal(ask_until_refused(governor, "CreateVServerGroup", ALI_PRIO_SPEC, 0), 86);
    ali_governor_follow(governor, host, ALI_SLB); /* a plugin that lists no quotas */
    assert_int_equal(ali_governor_allowed(governor, ALI_SLB, "CreateVServerGroup"), QUOTA);

    fake_host_option(fake, "alicloud", "quotas.slb_write", "200");
    fake_host_option(fake, "alicloud", "quotas.slb_read", "60");
    ali_governor_follow(governor, host, ALI_SLB);
    assert_int_equal(ask_until_refused(governor, "CreateVServerGroup", ALI_PRIO_SPEC, 0), 190 - 86);
    assert_int_equal(ask(governor, "CreateVServerGroup", 0), SPAN);
    fake_host_free(fake);
}

static const struct ali_call create_call = {
    .product = ALI_SLB,
    .action = "CreateVServerGroup",
    .priority = ALI_PRIO_SPEC,
};

static void acquire_all(struct ali_governor *governor, const struct ali_ctx *ctx, int count)
{
    struct ccm_error err = CCM_ERROR_INIT;

    for (int i = 0; i < count; i++) {
        struct ali_turn turn;

        assert_int_equal(ali_governor_acquire(governor, ctx, &create_call, &turn, &err), 0);
        ali_governor_end(governor, &turn, ALI_TURN_TAKEN, ctx->host->now_ms(ctx->host), 0);
    }
}

static void test_acquire_waits(void **state)
{
    CCM_CLEANUP(governor_freep) struct ali_governor *governor = ali_governor_new();
    struct fake_host *fake = fake_host_new();
    const struct ali_ctx ctx = ali_ctx(fake_host_table(fake), NULL, 90000);
    const int64_t start = fake_host_now(fake);

    (void)state;
    acquire_all(governor, &ctx, 86);
    assert_int_equal(fake_host_now(fake), start);
    acquire_all(governor, &ctx, 1);
    assert_int_equal(fake_host_now(fake) - start, SPAN);
    fake_host_free(fake);
}

static void test_acquire_refuses_early(void **state)
{
    CCM_CLEANUP(governor_freep) struct ali_governor *governor = ali_governor_new();
    struct fake_host *fake = fake_host_new();
    const struct ali_ctx ctx = ali_ctx(fake_host_table(fake), NULL, 500);
    const struct ali_ctx later = ali_ctx(fake_host_table(fake), NULL, SPAN);
    struct ccm_error err = CCM_ERROR_INIT;
    const int64_t start = fake_host_now(fake);
    struct ali_turn turn = { .turns = NULL };

    (void)state;
    acquire_all(governor, &ctx, 86);
    /* The turn comes after 61 s, the deadline after 0.5 s: no time is lost with waiting. */
    assert_int_equal(ali_governor_acquire(governor, &ctx, &create_call, &turn, &err), -EAGAIN);
    assert_int_equal(err.kind, CCM_ERROR_THROTTLED);
    assert_int_equal(err.retry_after_ms, SPAN);
    assert_int_equal(fake_host_now(fake), start);

    fake_host_cancel(fake, true);
    assert_int_equal(ali_governor_acquire(governor, &later, &create_call, &turn, &err), -ECANCELED);
    assert_int_equal(err.kind, CCM_ERROR_CANCELLED);
    assert_null(turn.turns);
    fake_host_free(fake);
}

/* --- places that are kept --- */

struct visit {
    const char *object;
    enum ali_priority priority;
    int64_t pass; /* of the object */
};

/* Ms to come again after; 0: it had its turn. */
static int64_t acquire_or_keep(struct ali_governor *governor, struct fake_host *fake,
                               struct visit visit)
{
    const struct ali_ctx ctx = ali_ctx(fake_host_table(fake), NULL, 90000 + visit.pass);
    struct ali_call call = create_call;
    const int64_t now = fake_host_now(fake);
    struct ccm_error err = CCM_ERROR_INIT;
    struct ali_turn turn = { .turns = NULL };

    call.object = visit.object;
    call.priority = visit.priority;
    call.patience_ms = 1000;

    const int r = ali_governor_acquire(governor, &ctx, &call, &turn, &err);

    if (r == 0) {
        ali_governor_end(governor, &turn, ALI_TURN_TAKEN, fake_host_now(fake), 0);
        return 0;
    }
    assert_int_equal(r, -EAGAIN);
    assert_true(ali_error_is_put_off(&err));
    assert_true(ali_error_is_wait(&err));
    assert_int_equal(fake_host_now(fake), now);
    return (int64_t)err.retry_after_ms;
}

/* However many wait for their tenth of a quota: they look whether the cloud is well again. */
static void test_retries_come_again_soon(void **state)
{
    CCM_CLEANUP(governor_freep) struct ali_governor *governor = ali_governor_new();
    struct fake_host *fake = fake_host_new();

    (void)state;
    for (int i = 0; i < QUOTA / 10; i++) {
        assert_int_equal(acquire_or_keep(governor, fake, (struct visit){ "z", ALI_PRIO_SPEC, i }),
                         0);
    }
    for (int i = 0; i < 1000; i++) {
        char name[16];

        ccm_text_printf(name, sizeof(name), "o-%d", i);

        const int64_t again =
            acquire_or_keep(governor, fake, (struct visit){ name, ALI_PRIO_RETRY, i });

        assert_in_range(again, SPAN, 300000);
    }
    fake_host_free(fake);
}

/* 86 calls, one a second and the last ones together: from SPAN after the start on there is a place
 * each second. */
static void test_put_off_with_its_place_kept(void **state)
{
    static const struct {
        int64_t at_ms; /* since the start; the clock stays when it is later */
        struct visit visit;
        int64_t ret_ms; /* when to come again, since the start; 0 = its turn */
        int64_t end_ms; /* waited for until then; 0 = not */
    } rows[] = {
        /* In order of priority and arrival. */
        { 43000, { "a", ALI_PRIO_SPEC, 1 }, SPAN, 0 },
        { 43000, { "b", ALI_PRIO_BULK, 1 }, SPAN + 1000, 0 },
        { 43000, { "c", ALI_PRIO_SPEC, 1 }, SPAN + 1000, 0 },
        { 43000, { "a", ALI_PRIO_SPEC, 1 }, SPAN + 2000, 0 }, /* its second call */
        { 43000, { "d", ALI_PRIO_SPEC, 1 }, SPAN + 3000, 0 },
        /* Who asks too early has the same places. */
        { 44000, { "b", ALI_PRIO_BULK, 2 }, SPAN + 4000, 0 },
        { 44000, { "a", ALI_PRIO_SPEC, 2 }, SPAN, 0 },
        { 44000, { "a", ALI_PRIO_SPEC, 2 }, SPAN + 2000, 0 },
        /* A place is there, but for `a`; others wait, within their patience. */
        { SPAN, { "e", ALI_PRIO_SPEC, 1 }, SPAN + 4000, 0 },
        { SPAN, { "c", ALI_PRIO_SPEC, 2 }, 0, SPAN + 1000 },
        { SPAN, { "a", ALI_PRIO_SPEC, 3 }, 0, SPAN + 1000 },
        { SPAN, { "a", ALI_PRIO_SPEC, 3 }, 0, SPAN + 2000 },
        { SPAN, { "d", ALI_PRIO_SPEC, 2 }, 0, SPAN + 3000 },
        /* A better priority does not need the place that is kept. */
        { SPAN, { "b", ALI_PRIO_REMOVE, 3 }, 0, SPAN + 4000 },
    };
    CCM_CLEANUP(governor_freep) struct ali_governor *governor = ali_governor_new();
    struct fake_host *fake = fake_host_new();
    const int64_t start = fake_host_now(fake);

    (void)state;
    for (int i = 0; i < 86; i++) {
        assert_int_equal(acquire_or_keep(governor, fake, (struct visit){ "z", ALI_PRIO_SPEC, i }),
                         0);
        fake_host_advance(fake, i < 42 ? 1000 : 0);
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const int64_t rest = start + rows[i].at_ms - fake_host_now(fake);

        fake_host_advance(fake, rest > 0 ? rest : 0);

        const int64_t now = fake_host_now(fake) - start;
        const int64_t wait = acquire_or_keep(governor, fake, rows[i].visit);

        print_message("row %zu\n", i);
        assert_int_equal(wait, rows[i].ret_ms == 0 ? 0 : rows[i].ret_ms - now);
        assert_int_equal(fake_host_now(fake) - start, rows[i].end_ms == 0 ? now : rows[i].end_ms);
    }
    fake_host_free(fake);
}

static void test_places_are_given_up(void **state)
{
    static const struct {
        int64_t later_ms; /* than its turn */
        bool waits;       /* another one */
    } rows[] = { { 0, true }, { 14999, true }, { 15000, false } };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        CCM_CLEANUP(governor_freep) struct ali_governor *governor = ali_governor_new();
        struct fake_host *fake = fake_host_new();

        assert_int_equal(
            ask_until_refused(governor, "CreateVServerGroup", ALI_PRIO_SPEC, fake_host_now(fake)),
            86);
        for (int n = 0; n < 86; n++) { /* as many as there are places then */
            assert_int_equal(
                acquire_or_keep(governor, fake, (struct visit){ "gone", ALI_PRIO_SPEC, 1 }), SPAN);
        }
        fake_host_advance(fake, SPAN + rows[i].later_ms);
        assert_int_equal(ask(governor, "CreateVServerGroup", fake_host_now(fake)) > 0,
                         rows[i].waits);
        fake_host_free(fake);
    }
}

/* Far behind: the windows to come are as large as this one may be, however few calls are in it. */
static void test_waits_of_a_long_queue(void **state)
{
    static const int64_t used[] = { 0, 13, 86 };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(used); i++) {
        CCM_CLEANUP(governor_freep) struct ali_governor *governor = ali_governor_new();
        struct fake_host *fake = fake_host_new();
        int64_t left = 86 - used[i];

        for (int64_t n = 0; n < used[i]; n++) {
            assert_int_equal(ask(governor, "CreateVServerGroup", fake_host_now(fake)), 0);
        }
        fake_host_advance(fake, 30000);
        for (int64_t n = 0; n < left; n++) {
            assert_int_equal(ask(governor, "CreateVServerGroup", fake_host_now(fake)), 0);
        }
        for (int n = 0; n < 1000; n++) {
            const int64_t since = n % 86 < used[i] ? 30000 : 0;
            char name[16];

            ccm_text_printf(name, sizeof(name), "s-%d", n);

            const int64_t wait = SPAN - since + n / 86 * SPAN;

            assert_int_equal(
                acquire_or_keep(governor, fake, (struct visit){ name, ALI_PRIO_SPEC, 1 }),
                wait < 300000 ? wait : 300000); /* five windows: much may have changed then */
        }
        fake_host_free(fake);
    }
}

/* After a throttled answer few calls are under way at once; those whose places are kept are not. */
static void test_kept_places_do_not_run(void **state)
{
    static const char *const objects[] = { "a", "b", "c", "d" };
    CCM_CLEANUP(governor_freep) struct ali_governor *governor = ali_governor_new();
    struct fake_host *fake = fake_host_new();

    (void)state;
    governor_throttle_call(governor, "CreateVServerGroup", fake_host_now(fake), 7000);
    for (size_t i = 0; i < CCM_ARRAY_LEN(objects); i++) {
        assert_int_equal(
            acquire_or_keep(governor, fake, (struct visit){ objects[i], ALI_PRIO_SPEC, 1 }), 7000);
    }
    fake_host_advance(fake, 7000);
    for (size_t i = CCM_ARRAY_LEN(objects); i > 0; i--) {
        const int64_t now = fake_host_now(fake);

        assert_int_equal(
            acquire_or_keep(governor, fake, (struct visit){ objects[i - 1], ALI_PRIO_SPEC, 2 }), 0);
        assert_int_equal(fake_host_now(fake), now);
    }
    fake_host_free(fake);
}

/* --- namespaces --- */

#define WAITERS 500

/* A call of somebody who stays in the line. */
static int64_t governor_ask_for(struct ali_governor *governor, const char *object,
                                enum ali_priority priority, int64_t now, struct ali_ticket *ticket)
{
    const struct ali_call call = {
        .product = ALI_SLB, .action = "CreateVServerGroup", .priority = priority, .object = object
    };
    struct ali_turn turn = { .turns = NULL };

    assert_int_equal(ali_governor_enter(governor, &call, &no_tenant, now, ticket), 0);

    const int64_t wait = ali_governor_poll(governor, ticket, now, &turn);

    ali_governor_end(governor, &turn, ALI_TURN_TAKEN, now, 0);
    return wait;
}

/* 400 of one namespace want the same; those of others come in the middle of it. */
static void test_first_calls_wait_for_nothing(void **state)
{
    static const struct {
        int64_t at_ms;
        const char *object;
        enum ali_priority priority;
        int64_t wait_ms;
    } rows[] = {
        { 1000, "shop/a", ALI_PRIO_SPEC, 0 },
        { 1000, "crowd/more", ALI_PRIO_NEW, 0 }, /* new objects count apart */
        { 1000, "shop/b", ALI_PRIO_SPEC, 0 },
        { 2000, "bank/a", ALI_PRIO_BULK, 0 },
        { 2000, "bank/b", ALI_PRIO_BULK, SPAN - 2000 }, /* what was kept is used up */
        { SPAN, "shop/c", ALI_PRIO_SPEC, 0 },
        { SPAN, "shop/d", ALI_PRIO_SPEC, 0 },
        { SPAN, "crowd/x", ALI_PRIO_SPEC, -1 },
    };
    CCM_CLEANUP(governor_freep) struct ali_governor *governor = ali_governor_new();
    static struct ali_ticket crowd[400];
    struct ali_ticket others[CCM_ARRAY_LEN(rows)];
    size_t served = 0;

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(crowd); i++) {
        served += governor_ask_for(governor, "crowd/s", ALI_PRIO_SPEC, 0, &crowd[i]) == 0;
    }
    assert_int_equal(served, QUOTA - 4);
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const int64_t wait =
            governor_ask_for(governor, rows[i].object, rows[i].priority, rows[i].at_ms, &others[i]);

        print_message("row %zu\n", i);
        if (rows[i].wait_ms < 0) {
            assert_true(wait > 0);
        } else {
            assert_int_equal(wait, rows[i].wait_ms);
        }
    }
}

/* Who waits behind a crowd: one of them, one of the crowd, and so on. */
static void test_namespaces_take_turns(void **state)
{
    CCM_CLEANUP(governor_freep) struct ali_governor *governor = ali_governor_new();
    static struct ali_ticket crowd[WAITERS];
    struct ali_ticket shop[10];
    struct ali_turn turn = { .turns = NULL };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(crowd); i++) {
        (void)governor_ask_for(governor, "crowd/s", ALI_PRIO_SPEC, 0, &crowd[i]);
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(shop); i++) { /* four of them wait for nothing */
        assert_int_equal(governor_ask_for(governor, "shop/s", ALI_PRIO_SPEC, 1000, &shop[i]) == 0,
                         i < 4);
    }
    for (size_t i = 4; i < CCM_ARRAY_LEN(shop); i++) {
        assert_int_equal(ali_governor_poll(governor, &shop[i], SPAN, &turn), 0);
        ali_governor_end(governor, &turn, ALI_TURN_TAKEN, SPAN, 0);
    }
    for (size_t i = QUOTA - 4; i < CCM_ARRAY_LEN(crowd); i++) { /* 86 less four and six */
        assert_int_equal(ali_governor_poll(governor, &crowd[i], SPAN, &turn) == 0,
                         i < (QUOTA - 4) + (QUOTA - 4) - 10);
        ali_governor_end(governor, &turn, ALI_TURN_TAKEN, SPAN, 0);
    }
}

/* Removals of one namespace leave room for those of another one. */
static void test_removals_of_a_crowd(void **state)
{
    static const char action[] = "RemoveVServerGroupBackendServers";
    CCM_CLEANUP(governor_freep) struct ali_governor *governor = ali_governor_new();
    struct ali_call call = { .product = ALI_SLB, .action = action, .object = "shop/a" };
    struct ali_ticket ticket;
    struct ali_turn turn = { .turns = NULL };

    (void)state;
    assert_int_equal(ask_until_refused(governor, action, ALI_PRIO_REMOVE, 0), QUOTA - 4);
    assert_int_equal(ali_governor_enter(governor, &call, &no_tenant, 1, &ticket), 0);
    assert_int_equal(ali_governor_poll(governor, &ticket, 1, &turn), 0);
    ali_governor_end(governor, &turn, ALI_TURN_TAKEN, 1, 0);
}

/* --- wishes that are gone --- */

/* A pass that ends gives up what earlier ones waited for: a Service that is gone or another one
 * now holds up nobody. */
static void test_forgotten_places(void **state)
{
    static const struct {
        const char *object;
        int64_t pass;  /* that ends; the places are of pass 1 */
        bool same;     /* caller */
        int64_t waits; /* for a turn, afterwards */
    } rows[] = {
        { "a/gone", 2, true, SPAN },
        { "a/gone", 1, true, 2 * SPAN }, /* it has asked for them */
        { "a/gone", 2, false, 2 * SPAN },
        { "a/other", 2, true, 2 * SPAN },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        CCM_CLEANUP(governor_freep) struct ali_governor *governor = ali_governor_new();
        struct fake_host *fake = fake_host_new();
        const struct ali_ctx ctx = ali_ctx(fake_host_table(fake), NULL, 90000 + rows[i].pass);
        struct ali_request ends = ali_governor_request(&ctx);

        ends.by = rows[i].same ? ends.by : governor;
        for (int n = 0; n < 86; n++) {
            const struct visit visit = { "a/b", ALI_PRIO_SPEC, n };

            assert_int_equal(acquire_or_keep(governor, fake, visit), 0);
        }
        for (int n = 0; n < 86; n++) {
            const struct visit visit = { "a/gone", ALI_PRIO_SPEC, 1 };

            assert_int_equal(acquire_or_keep(governor, fake, visit), SPAN);
        }
        ali_governor_forget(governor, rows[i].object, &ends);
        assert_int_equal(
            acquire_or_keep(governor, fake, (struct visit){ "a/next", ALI_PRIO_SPEC, 1 }),
            rows[i].waits);
        fake_host_free(fake);
    }
}

/* --- what has failed again and again --- */

/* Others use whatever there is, and those are served nevertheless, from the third window on: all of
 * them together get a tenth. */
static void test_retries_age(void **state)
{
    static const struct {
        const char *action;
        enum ali_priority others;
    } rows[] = {
        { "CreateLoadBalancer", ALI_PRIO_SPEC },
        { "DeleteLoadBalancer", ALI_PRIO_REMOVE },
        { "SetVServerGroupAttribute", ALI_PRIO_BULK },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        CCM_CLEANUP(governor_freep) struct ali_governor *governor = ali_governor_new();
        struct ali_ticket tickets[100];
        int64_t counts[6] = { 0 };
        size_t next = 0;
        struct ali_turn turn;

        (void)ask_until_refused(governor, rows[i].action, rows[i].others, 0);
        for (size_t t = 0; t < CCM_ARRAY_LEN(tickets); t++) {
            assert_int_equal(ali_governor_enter(governor, ACTION(rows[i].action, ALI_PRIO_RETRY),
                                                &no_tenant, 0, &tickets[t]),
                             0);
        }
        for (int64_t now = 0; now < 6 * SPAN; now += 1000) {
            (void)ask_until_refused(governor, rows[i].action, rows[i].others, now);
            for (size_t t = next; t < CCM_ARRAY_LEN(tickets); t++) {
                if (ali_governor_poll(governor, &tickets[t], now, &turn) == 0) {
                    ali_governor_end(governor, &turn, ALI_TURN_FAILED, now, 0);
                    counts[now / SPAN]++;
                    next++; /* they are served in order */
                }
            }
        }
        assert_int_equal(counts[0] + counts[1], 0);
        for (size_t n = 2; n < CCM_ARRAY_LEN(counts); n++) {
            assert_true(counts[n] <= QUOTA / 10);
        }
        assert_true(counts[2] + counts[3] + counts[4] + counts[5] >= 2 * QUOTA / 10);
    }
}

/* Serves those that stand first in line, each of which fails and queues up again behind the others;
 * returns how many. */
static size_t crowd_serve(struct ali_governor *governor, struct ali_ticket *tickets, size_t count,
                          size_t *first, int64_t now)
{
    struct ali_turn turn;
    size_t served = 0;

    while (ali_governor_poll(governor, &tickets[*first], now, &turn) == 0) {
        ali_governor_end(governor, &turn, ALI_TURN_FAILED, now, 0);
        assert_int_equal(ali_governor_enter(governor, ACTION("CreateLoadBalancer", ALI_PRIO_RETRY),
                                            &no_tenant, now, &tickets[*first]),
                         0);
        *first = (*first + 1) % count;
        served++;
    }
    return served;
}

/* A thousand of them for ten minutes: a tenth of the quota in any window, and whoever is well gets
 * all the rest. */
static void test_a_thousand_retries(void **state)
{
    CCM_CLEANUP(governor_freep) struct ali_governor *governor = ali_governor_new();
    static struct ali_ticket tickets[1000];
    size_t served[600] = { 0 };
    size_t first = 0;
    size_t sum = 0;

    (void)state;
    for (size_t t = 0; t < CCM_ARRAY_LEN(tickets); t++) {
        assert_int_equal(ali_governor_enter(governor, ACTION("CreateLoadBalancer", ALI_PRIO_RETRY),
                                            &no_tenant, 0, &tickets[t]),
                         0);
    }
    for (size_t second = 0; second < CCM_ARRAY_LEN(served); second++) {
        const int64_t now = (int64_t)second * 1000;

        served[second] = crowd_serve(governor, tickets, CCM_ARRAY_LEN(tickets), &first, now);
        sum += served[second] - (second < 60 ? 0 : served[second - 60]);
        assert_true(sum <= QUOTA / 10);
        if (second == 300) {
            assert_true(ask_until_refused(governor, "CreateLoadBalancer", ALI_PRIO_NEW, now) >=
                        QUOTA - 4 - QUOTA / 10);
        }
    }
    assert_true(sum > 0);
    for (size_t t = 0; t < CCM_ARRAY_LEN(tickets); t++) {
        ali_governor_leave(governor, &tickets[t]);
    }
}

/* --- careful --- */

/* After a throttled answer: two at once, by priority and in order, whoever asks first. */
static void test_careful_in_order(void **state)
{
    static const enum ali_priority order[] = { ALI_PRIO_BULK, ALI_PRIO_SPEC, ALI_PRIO_SPEC,
                                               ALI_PRIO_REMOVE };
    static const size_t expected[] = { 3, 1, 2, 0 };
    CCM_CLEANUP(governor_freep) struct ali_governor *governor = ali_governor_new();
    struct ali_ticket tickets[CCM_ARRAY_LEN(order)];
    struct ali_turn turns[CCM_ARRAY_LEN(order)];
    int64_t now = 10000;

    (void)state;
    governor_throttle_call(governor, "SetVServerGroupAttribute", 1000, 500);
    for (size_t i = 0; i < CCM_ARRAY_LEN(order); i++) {
        assert_int_equal(ali_governor_enter(governor, ACTION("SetVServerGroupAttribute", order[i]),
                                            &no_tenant, now, &tickets[i]),
                         0);
    }
    for (size_t done = 0; done < CCM_ARRAY_LEN(order); done += 2, now += 8000) {
        for (size_t i = 0; i < CCM_ARRAY_LEN(order); i++) {
            if (tickets[i].turns == NULL || i == expected[done] || i == expected[done + 1]) {
                continue;
            }
            /* As long as calls take: it is not asked again and again. */
            assert_in_range(ali_governor_poll(governor, &tickets[i], now, &turns[i]),
                            done == 0 ? 20 : 2000, 8000);
        }
        for (size_t k = done; k < done + 2; k++) {
            assert_int_equal(
                ali_governor_poll(governor, &tickets[expected[k]], now, &turns[expected[k]]), 0);
        }
        for (size_t k = done; k < done + 2; k++) {
            ali_governor_end(governor, &turns[expected[k]], ALI_TURN_TAKEN, now + 8000, 0);
        }
    }
}

/* While its action is stopped, a removal is sent, once; others wait. */
static void test_removals_probe(void **state)
{
    static const char action[] = "SetVServerGroupAttribute";
    CCM_CLEANUP(governor_freep) struct ali_governor *governor = ali_governor_new();
    struct ali_ticket tickets[2];
    struct ali_turn turns[2];

    (void)state;
    governor_throttle_call(governor, action, 1000, 30000);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(ali_governor_enter(governor, ACTION(action, ALI_PRIO_REMOVE), &no_tenant,
                                            2000, &tickets[i]),
                         0);
    }
    assert_int_equal(ask(governor, action, 2000), 29000);
    assert_int_equal(ali_governor_poll(governor, &tickets[0], 2000, &turns[0]), 0);
    assert_int_equal(ali_governor_poll(governor, &tickets[1], 2000, &turns[1]), 29000);
    ali_governor_end(governor, &turns[0], ALI_TURN_TAKEN, 2100, 0);
    assert_int_equal(ali_governor_poll(governor, &tickets[1], 2200, &turns[1]), 0);
    ali_governor_end(governor, &turns[1], ALI_TURN_THROTTLED, 2300, 30000);
    assert_int_equal(ask_as(governor, action, ALI_PRIO_REMOVE, 10000), 22300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_at_once_less_what_is_kept),
        cmocka_unit_test(test_actions_do_not_share),
        cmocka_unit_test(test_retries_get_what_others_leave),
        cmocka_unit_test(test_no_window_of_a_cloud_is_exceeded),
        cmocka_unit_test(test_priority_and_order),
        cmocka_unit_test(test_throttling),
        cmocka_unit_test(test_what_was_not_sent_does_not_count),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_acquire_waits),
        cmocka_unit_test(test_acquire_refuses_early),
        cmocka_unit_test(test_put_off_with_its_place_kept),
        cmocka_unit_test(test_retries_come_again_soon),
        cmocka_unit_test(test_places_are_given_up),
        cmocka_unit_test(test_waits_of_a_long_queue),
        cmocka_unit_test(test_kept_places_do_not_run),
        cmocka_unit_test(test_first_calls_wait_for_nothing),
        cmocka_unit_test(test_namespaces_take_turns),
        cmocka_unit_test(test_removals_of_a_crowd),
        cmocka_unit_test(test_forgotten_places),
        cmocka_unit_test(test_retries_age),
        cmocka_unit_test(test_a_thousand_retries),
        cmocka_unit_test(test_careful_in_order),
        cmocka_unit_test(test_removals_probe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
