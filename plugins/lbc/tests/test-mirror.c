/* Claims, turns, and what counts as news. */
#include "check.h"

#include "lbc/apply/state.h"
#include "lbc/mirror.h"
#include "support/fake_host.h"
#include "tests/fuzz/oom.h"
#include "util/cleanup.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define LANE CCM_LANE_SPEC

/* A mirror: groups of the load balancer and a text about it, one that is the Service's own. */
struct state {
    struct lbc_state lbc;
    struct lbc_lb lb;
    char *own;
};

static void state_fini(struct lbc_state *base)
{
    struct state *state = (struct state *)base;

    assert_int_equal(lbc_text_set(&state->own, NULL), 0);
}

static const struct lbc_state_type type = {
    .size = sizeof(struct state),
    .lb_size = sizeof(struct lbc_lb),
    .group_size = sizeof(struct lbc_group),
    .groups_move = true,
    .fini = state_fini,
};

static bool entry_is_resting(const struct lbc_entry *entry)
{
    const struct lbc_state *state = entry->state;

    return state->group_count > 0 && state->groups[0]->backends.items == NULL;
}

static struct state *have(const struct lbc_entry *entry)
{
    assert_false(entry_is_resting(entry));
    return (struct state *)entry->state;
}

static void add_backend(const struct lbc_entry *entry)
{
    char id[] = "i-1";
    const struct lbc_backend backend = { .server_id = id };
    struct lbc_group *group = lbc_state_new_group(&have(entry)->lbc, &type);

    assert_non_null(group);
    assert_int_equal(lbc_backends_put(&group->backends, &backend), 0);
}

/* A store with a host that notes who is enqueued. */
static struct fake_host *fake;
static size_t seen; /* enqueues that were asked about */

static struct lbc_mirrors *fixture_begin(void)
{
    fake = fake_host_new();
    seen = 0;
    return lbc_mirrors_new(fake_host_table(fake), &type);
}

static void fixture_end(struct lbc_mirrors *mirrors)
{
    lbc_mirrors_free(mirrors);
    fake_host_free(fake);
}

/* Who was enqueued since the last question, "a/b a/c". */
static const char *woken(void)
{
    static char text[256];
    size_t len = 0;

    text[0] = '\0';
    for (; seen < fake_host_enqueue_count(fake); seen++) {
        const struct fake_enqueue *one = fake_host_enqueued(fake, seen);

        assert_int_equal(one->delay_ms, 0);
        len +=
            (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", len == 0 ? "" : " ", one->key);
    }
    return text;
}

static int try(struct lbc_mirrors *mirrors, const char *key, const char *lb_id,
               struct lbc_entry **ret)
{
    return lbc_mirrors_acquire(mirrors, key, key, lb_id, LANE, ret);
}

static struct lbc_entry *claim(struct lbc_mirrors *mirrors, const char *key, const char *uid)
{
    struct lbc_entry *entry = NULL;

    assert_int_equal(lbc_mirrors_acquire(mirrors, key, uid, "", LANE, &entry), 0);
    return entry;
}

static void test_claims(void **state)
{
    struct lbc_mirrors *mirrors = fixture_begin();
    struct lbc_entry *entry = claim(mirrors, "a/b", "u1");
    struct lbc_entry *other = NULL;

    (void)state;
    assert_int_equal(lbc_mirrors_acquire(mirrors, "a/b", "u1", "", LANE, &other), -EBUSY);
    lbc_mirrors_forget(mirrors, "a/b"); /* held: nothing happens */
    other = claim(mirrors, "a/c", "u2");
    assert_ptr_not_equal(entry, other);
    lbc_mirrors_release(mirrors, other);
    entry->valid = true;
    entry->creation.attempt = 3;
    lbc_mirrors_release(mirrors, entry);
    assert_true(claim(mirrors, "a/b", "u1")->valid);
    lbc_mirrors_release(mirrors, entry);
    /* A new object of the same name has nothing of the old one. */
    entry = claim(mirrors, "a/b", "u9");
    assert_false(entry->valid);
    assert_int_equal(entry->creation.attempt, 0);
    lbc_mirrors_release(mirrors, entry);
    lbc_mirrors_forget(mirrors, "a/b");
    fixture_end(mirrors);
}

static struct lbc_entry *share(struct lbc_mirrors *mirrors, const char *key)
{
    struct lbc_entry *entry = NULL;

    assert_int_equal(try(mirrors, key, "lb-1", &entry), 0);
    return entry;
}

/* Two Services with one load balancer: one mirror, one at a time; what is a Service's own stays. */
static void test_shared(void **state)
{
    struct lbc_mirrors *mirrors = fixture_begin();
    struct lbc_entry *entry = share(mirrors, "a/b");
    struct lbc_entry *other = NULL;

    (void)state;
    assert_int_equal(try(mirrors, "a/c", "lb-1", &other), -EBUSY);
    assert_int_equal(try(mirrors, "a/c", "lb-2", &other), 0);
    lbc_mirrors_release(mirrors, other);
    entry->valid = true;
    assert_int_equal(lbc_text_set(&have(entry)->lb.id, "lb-1"), 0);
    assert_int_equal(lbc_text_set(&have(entry)->own, "acl-1"), 0);
    lbc_mirrors_release(mirrors, entry);
    other = share(mirrors, "a/c");
    assert_true(other->valid);
    assert_string_equal(have(other)->lb.id, "lb-1");
    assert_null(have(other)->own);
    /* What one finds wrong, the other reads again. */
    lbc_entry_drop(other);
    lbc_mirrors_release(mirrors, other);
    entry = share(mirrors, "a/b");
    assert_false(entry->valid);
    assert_null(have(entry)->lb.id);
    assert_string_equal(have(entry)->own, "acl-1");
    entry->valid = true;
    lbc_mirrors_release(mirrors, entry);
    /* It does so itself, though the first one has: what is its own was not read. */
    other = share(mirrors, "a/c");
    assert_false(other->valid);
    other->valid = true;
    lbc_mirrors_release(mirrors, other);
    /* The mirror lives as long as somebody uses it. */
    lbc_mirrors_forget(mirrors, "a/b");
    assert_true(share(mirrors, "a/c")->valid);
    lbc_mirrors_release(mirrors, other);
    lbc_mirrors_forget(mirrors, "a/c");
    assert_false(share(mirrors, "a/c")->valid);
    fixture_end(mirrors);
}

/* Who knows it as its own does not share it. */
static void test_own(void **state)
{
    struct lbc_mirrors *mirrors = fixture_begin();
    struct lbc_entry *entry = claim(mirrors, "a", "a");

    (void)state;
    assert_string_equal(lbc_entry_acquired_id(entry), "");
    assert_int_equal(lbc_text_set(&have(entry)->lb.id, "lb-1"), 0);
    entry->valid = true;
    lbc_mirrors_release(mirrors, entry);
    entry = share(mirrors, "a");
    assert_false(lbc_entry_is_reused(entry));
    assert_true(entry->valid);
    lbc_entry_drop(entry);
    lbc_mirrors_release(mirrors, entry);
    entry = share(mirrors, "a");
    assert_true(lbc_entry_is_reused(entry));
    assert_string_equal(lbc_entry_acquired_id(entry), "lb-1");
    lbc_mirrors_release(mirrors, entry);
    fixture_end(mirrors);
}

/* --- turns --- */

static void release(struct lbc_mirrors *mirrors, struct lbc_entry *entry)
{
    lbc_mirrors_release(mirrors, entry);
}

static void refuse(struct lbc_mirrors *mirrors, const char *key)
{
    struct lbc_entry *entry = NULL;

    assert_int_equal(try(mirrors, key, "lb-1", &entry), -EBUSY);
}

/* In order of arrival; coming again changes nothing, and nobody overtakes those who queue. */
static void test_turns(void **state)
{
    struct lbc_mirrors *mirrors = fixture_begin();
    struct lbc_entry *entry = share(mirrors, "a");

    (void)state;
    refuse(mirrors, "b");
    refuse(mirrors, "c");
    refuse(mirrors, "b");
    assert_string_equal(woken(), "");
    release(mirrors, entry);
    assert_string_equal(woken(), "b");
    assert_int_equal(fake_host_enqueued(fake, 0)->lane, LANE);
    refuse(mirrors, "c");
    refuse(mirrors, "a");
    entry = share(mirrors, "b");
    refuse(mirrors, "b"); /* it is held: an unlikely second caller */
    assert_string_equal(woken(), "");
    release(mirrors, entry);
    assert_string_equal(woken(), "c b");
    release(mirrors, share(mirrors, "c"));
    assert_string_equal(woken(), "a");
    refuse(mirrors, "b");
    release(mirrors, share(mirrors, "a"));
    assert_string_equal(woken(), "b");
    release(mirrors, share(mirrors, "b"));
    assert_string_equal(woken(), "");
    fixture_end(mirrors);
}

static void refuse_in(struct lbc_mirrors *mirrors, const char *key, uint64_t lane)
{
    struct lbc_entry *entry = NULL;

    assert_int_equal(lbc_mirrors_acquire(mirrors, key, key, "lb-1", lane, &entry), -EBUSY);
}

static void expect_woken(const char *key, uint64_t lane)
{
    const size_t next = seen;

    assert_string_equal(woken(), key);
    assert_int_equal(fake_host_enqueued(fake, next)->lane, lane);
}

/* The first is in the way of all who queue, so it comes in the lane of the one in the greatest
 * hurry; who comes later hurries it on. */
static void test_urgent_waiters(void **state)
{
    struct lbc_mirrors *mirrors = fixture_begin();
    struct lbc_entry *entry = share(mirrors, "a");

    (void)state;
    refuse_in(mirrors, "b", CCM_LANE_BULK);
    refuse_in(mirrors, "c", CCM_LANE_BULK);
    refuse_in(mirrors, "d", CCM_LANE_BACKENDS);
    release(mirrors, entry);
    expect_woken("b", CCM_LANE_BACKENDS);
    refuse_in(mirrors, "e", CCM_LANE_BULK);
    assert_string_equal(woken(), "");
    refuse_in(mirrors, "c", CCM_LANE_REMOVE); /* it is to be deleted now */
    expect_woken("b", CCM_LANE_REMOVE);
    refuse_in(mirrors, "d", CCM_LANE_URGENT);
    assert_string_equal(woken(), "");
    release(mirrors, share(mirrors, "b"));
    expect_woken("c", CCM_LANE_REMOVE);
    release(mirrors, share(mirrors, "c"));
    expect_woken("d", CCM_LANE_URGENT);
    lbc_mirrors_forget(mirrors, "d");
    expect_woken("e", CCM_LANE_BULK);
    release(mirrors, share(mirrors, "e"));
    fixture_end(mirrors);
}

/* A change of backends keeps the worker that is kept for it, behind an edit as well. */
static void test_waiters_for_backends(void **state)
{
    struct lbc_mirrors *mirrors = fixture_begin();
    struct lbc_entry *entry = share(mirrors, "a");

    (void)state;
    refuse_in(mirrors, "b", CCM_LANE_SPEC);
    release(mirrors, entry);
    expect_woken("b", CCM_LANE_SPEC);
    refuse_in(mirrors, "c", CCM_LANE_BACKENDS);
    assert_int_equal(fake_host_enqueued(fake, seen)->lane, CCM_LANE_SPEC);
    assert_int_equal(fake_host_enqueued(fake, seen + 1)->lane, CCM_LANE_BACKENDS);
    assert_string_equal(woken(), "b b");
    refuse_in(mirrors, "d", CCM_LANE_SPEC);
    assert_string_equal(woken(), "");
    release(mirrors, share(mirrors, "b"));
    assert_int_equal(fake_host_enqueued(fake, seen)->lane, CCM_LANE_SPEC);
    assert_int_equal(fake_host_enqueued(fake, seen + 1)->lane, CCM_LANE_BACKENDS);
    assert_string_equal(woken(), "c c");
    release(mirrors, share(mirrors, "c"));
    expect_woken("d", CCM_LANE_SPEC);
    release(mirrors, share(mirrors, "d"));
    fixture_end(mirrors);
}

/* Whoever is first and does not come hands its turn on. */
static void test_gone(void **state)
{
    struct lbc_mirrors *mirrors = fixture_begin();
    struct lbc_entry *entry = share(mirrors, "a");

    (void)state;
    refuse(mirrors, "b");
    refuse(mirrors, "c");
    refuse(mirrors, "d");
    refuse(mirrors, "e");
    lbc_mirrors_forget(mirrors, "c"); /* not the first, and it is not free: nobody is woken */
    assert_string_equal(woken(), "");
    release(mirrors, entry);
    assert_string_equal(woken(), "b");
    lbc_mirrors_forget(mirrors, "b"); /* deleted */
    assert_string_equal(woken(), "d");
    assert_int_equal(try(mirrors, "d", "", &entry), 0); /* it has one of its own now */
    assert_string_equal(woken(), "e");
    release(mirrors, entry);
    lbc_mirrors_forget(mirrors, "a"); /* the mirror lives as long as somebody queues for it */
    release(mirrors, share(mirrors, "e"));
    assert_string_equal(woken(), "");
    fixture_end(mirrors);
}

/* --- threads --- */

#define THREADS  4
#define SERVICES 6
#define ROUNDS   300

/* A queue as the core's: a key is never in two calls at once, what comes meanwhile comes again. */
struct race {
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct ccm_host host; /* `core` is the race */
    struct lbc_mirrors *mirrors;
    struct {
        bool dirty;
        bool running;
        int rounds;
    } keys[SERVICES];
    int left;    /* rounds of all */
    int holders; /* guarded by the claim itself */
    int bad;
};

static void race_enqueue(const struct ccm_host *host, const char *key, uint64_t lane,
                         uint64_t delay_ms)
{
    struct race *race = host->core;

    (void)lane;
    (void)delay_ms;
    assert_int_equal(pthread_mutex_lock(&race->lock), 0);
    race->keys[key[0] - 'a'].dirty = true;
    assert_int_equal(pthread_cond_signal(&race->more), 0);
    assert_int_equal(pthread_mutex_unlock(&race->lock), 0);
}

static int race_pick_entry(const struct race *race)
{
    for (int i = 0; i < SERVICES; i++) {
        if (race->keys[i].dirty && !race->keys[i].running) {
            return i;
        }
    }
    return -1;
}

/* Next key, -1 = all is done, or it took so long that a wake-up must be lost. */
static int race_next_number(struct race *race)
{
    struct timespec until;
    int found;
    int r = 0;

    (void)clock_gettime(CLOCK_REALTIME, &until); /* cannot fail */
    until.tv_sec += 60;
    assert_int_equal(pthread_mutex_lock(&race->lock), 0);
    while ((found = race_pick_entry(race)) < 0 && race->left > 0 && r == 0) {
        r = pthread_cond_timedwait(&race->more, &race->lock, &until);
    }
    if (found >= 0) {
        race->keys[found].dirty = false;
        race->keys[found].running = true;
    }
    assert_int_equal(pthread_mutex_unlock(&race->lock), 0);
    return found;
}

static void done(struct race *race, int index, bool worked)
{
    assert_int_equal(pthread_mutex_lock(&race->lock), 0);
    race->keys[index].running = false;
    if (worked) {
        race->left--;
        race->keys[index].rounds++;
        race->keys[index].dirty = race->keys[index].rounds < ROUNDS;
    }
    assert_int_equal(pthread_cond_broadcast(&race->more), 0);
    assert_int_equal(pthread_mutex_unlock(&race->lock), 0);
}

static void *contend(void *arg)
{
    struct race *race = arg;
    int index;

    while ((index = race_next_number(race)) >= 0) {
        const char key[] = { (char)('a' + index), '\0' };
        struct lbc_entry *entry = NULL;
        const int r = try(race->mirrors, key, "lb-1", &entry);

        if (r == 0) {
            race->bad += race->holders++ != 0;
            race->bad += sched_yield();
            race->holders--;
            lbc_mirrors_release(race->mirrors, entry);
        }
        done(race, index, r == 0);
    }
    return NULL;
}

/* One at a time, and nobody is forgotten. */
static void test_threads(void **state)
{
    struct race race = { .left = SERVICES * ROUNDS };
    pthread_t threads[THREADS];

    (void)state;
    assert_int_equal(pthread_mutex_init(&race.lock, NULL), 0);
    assert_int_equal(pthread_cond_init(&race.more, NULL), 0);
    race.host.enqueue = race_enqueue;
    race.host.core = &race;
    race.mirrors = lbc_mirrors_new(&race.host, &type);
    for (size_t i = 0; i < SERVICES; i++) {
        race.keys[i].dirty = true;
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, contend, &race), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(race.bad, 0);
    assert_int_equal(race.left, 0);
    lbc_mirrors_free(race.mirrors);
    assert_int_equal(pthread_cond_destroy(&race.more), 0);
    assert_int_equal(pthread_mutex_destroy(&race.lock), 0);
}

/* What nobody works with rests; what cannot be woken is nobody's, and still known. */
static void test_rest(void **state)
{
    struct lbc_mirrors *mirrors = fixture_begin();
    struct lbc_entry *entry = claim(mirrors, "a/b", "u1");
    struct lbc_entry *other = NULL;

    (void)state;
    assert_int_equal(lbc_text_set(&have(entry)->lb.id, "lb-7"), 0);
    add_backend(entry);
    entry->valid = true;
    lbc_mirrors_release(mirrors, entry);
    assert_true(entry_is_resting(entry));
    oom_begin(1, false);
    assert_int_equal(lbc_mirrors_acquire(mirrors, "a/b", "u1", "", LANE, &other), -ENOMEM);
    assert_true(oom_end());
    assert_null(other);
    other = claim(mirrors, "a/b", "u1");
    assert_true(other->valid);
    assert_string_equal(have(other)->lb.id, "lb-7");
    lbc_mirrors_release(mirrors, other);
    fixture_end(mirrors);
}

/* The same for one that is shared: who cannot have it stands in nobody's way. */
static void test_rest_shared(void **state)
{
    struct lbc_mirrors *mirrors = fixture_begin();
    struct lbc_entry *entry = share(mirrors, "a/b");
    struct lbc_entry *other = NULL;

    (void)state;
    assert_int_equal(lbc_text_set(&have(entry)->lb.id, "lb-1"), 0);
    add_backend(entry);
    entry->valid = true;
    assert_int_equal(try(mirrors, "a/c", "lb-1", &other), -EBUSY);
    assert_int_equal(try(mirrors, "a/d", "lb-1", &other), -EBUSY);
    lbc_mirrors_release(mirrors, entry);
    assert_string_equal(woken(), "a/c");
    oom_begin(1, false);
    assert_int_equal(try(mirrors, "a/c", "lb-1", &other), -ENOMEM);
    assert_true(oom_end());
    assert_string_equal(woken(), "a/d");
    assert_int_equal(try(mirrors, "a/d", "lb-1", &other), 0);
    assert_true(other->valid);
    assert_string_equal(have(other)->lb.id, "lb-1");
    lbc_mirrors_release(mirrors, other);
    fixture_end(mirrors);
}

/* Something in a load balancer is given up: those that lack it there are told, and nobody else. */
static void test_freed(void **state)
{
    struct lbc_mirrors *mirrors = fixture_begin();
    static const char *const keys[] = { "a/one", "a/two", "a/three", "a/far", "a/own" };
    static const char *const lbs[] = { "lb-1", "lb-1", "lb-1", "lb-2", "" };
    struct lbc_entry *entry = NULL;

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(keys); i++) {
        assert_int_equal(try(mirrors, keys[i], lbs[i], &entry), 0);
        lbc_entry_set_blocked(entry, i != 2); /* the third has all it wants */
        lbc_mirrors_release(mirrors, entry);
    }
    assert_string_equal(woken(), "");
    assert_int_equal(try(mirrors, "a/one", "lb-1", &entry), 0);
    lbc_mirrors_release(mirrors, entry); /* nothing was given up */
    assert_string_equal(woken(), "");
    assert_int_equal(try(mirrors, "a/one", "lb-1", &entry), 0);
    lbc_entry_set_freed(entry);
    lbc_mirrors_release(mirrors, entry);
    assert_string_equal(woken(), "a/two");
    assert_int_equal(try(mirrors, "a/three", "lb-1", &entry), 0);
    lbc_entry_set_freed(entry);
    lbc_mirrors_release(mirrors, entry);
    assert_string_equal(woken(), "a/one"); /* the second was told, and has not asked since */
    assert_int_equal(try(mirrors, "a/own", "", &entry), 0);
    lbc_entry_set_freed(entry);
    lbc_mirrors_release(mirrors, entry);
    assert_string_equal(woken(), "");
    fixture_end(mirrors);
}

static struct lbc_entry *leave_job(struct lbc_mirrors *mirrors, const char *key, bool comes_back)
{
    const struct lbc_step step = { .port = 80 };
    struct lbc_entry *entry = share(mirrors, key);

    entry->valid = true;
    lbc_entry_set_coming_back(entry, comes_back);
    assert_int_equal(lbc_underway_add(&entry->underway, &step), 0);
    lbc_mirrors_release(mirrors, entry);
    return entry;
}

/* Jobs are under way on a shared load balancer: whoever left them there comes back before all who
 * queue, and nobody else is let in. */
static void test_underway(void **state)
{
    struct lbc_mirrors *mirrors = fixture_begin();
    struct lbc_entry *entry = share(mirrors, "a/one");

    (void)state;
    refuse(mirrors, "a/two");
    lbc_entry_set_freed(entry);
    lbc_mirrors_release(mirrors, entry);
    assert_string_equal(woken(), "a/two");
    entry = share(mirrors, "a/two");
    entry->valid = true;
    lbc_mirrors_release(mirrors, entry);
    assert_string_equal(woken(), "");
    entry = leave_job(mirrors, "a/one", true);
    refuse(mirrors, "a/two");
    refuse(mirrors, "a/three");
    assert_string_equal(woken(), "");
    assert_ptr_equal(share(mirrors, "a/one"), entry);
    assert_true(entry->valid);
    lbc_mirrors_release(mirrors, entry); /* they still run */
    assert_string_equal(woken(), "");
    entry = share(mirrors, "a/one");
    lbc_underway_fini(&entry->underway);
    lbc_mirrors_release(mirrors, entry);
    assert_string_equal(woken(), "a/two");
    entry = share(mirrors, "a/two");
    assert_true(entry->valid);
    lbc_mirrors_release(mirrors, entry);
    fixture_end(mirrors);
}

enum leaves { LEAVES_FAILED, LEAVES_FORGOTTEN, LEAVES_NEW, LEAVES_OWN, LEAVES_OTHER };

/* Whoever does not come back for them lets the others in: they read, and take what was given up. */
static void leave_and_check(enum leaves how)
{
    struct lbc_mirrors *mirrors = fixture_begin();
    struct lbc_entry *entry = share(mirrors, "a/blocked");

    lbc_entry_set_blocked(entry, true);
    lbc_mirrors_release(mirrors, entry);
    entry = share(mirrors, "a/one");
    lbc_entry_set_freed(entry);
    lbc_entry_set_coming_back(entry, how != LEAVES_FAILED);
    entry->valid = true;
    assert_int_equal(lbc_underway_add(&entry->underway, &(struct lbc_step){ .port = 80 }), 0);
    refuse(mirrors, "a/two");
    lbc_mirrors_release(mirrors, entry);
    if (how != LEAVES_FAILED) {
        assert_string_equal(woken(), "");
    }
    if (how == LEAVES_FORGOTTEN) {
        lbc_mirrors_forget(mirrors, "a/one");
    } else if (how == LEAVES_NEW) {
        lbc_mirrors_release(mirrors, claim(mirrors, "a/one", "u9"));
    } else if (how != LEAVES_FAILED) {
        assert_int_equal(try(mirrors, "a/one", how == LEAVES_OWN ? "" : "lb-2", &entry), 0);
        lbc_underway_fini(&entry->underway);
        lbc_mirrors_release(mirrors, entry);
    }
    assert_string_equal(woken(), "a/two a/blocked");
    entry = share(mirrors, "a/two");
    assert_false(entry->valid);
    lbc_mirrors_release(mirrors, entry);
    fixture_end(mirrors);
}

static void test_underway_left(void **state)
{
    (void)state;
    for (enum leaves how = LEAVES_FAILED; how <= LEAVES_OTHER; how++) {
        leave_and_check(how);
    }
}

static void name_group(const struct lbc_entry *entry, const char *id)
{
    const struct lbc_state *state = entry->state;

    add_backend(entry);
    assert_int_equal(lbc_text_set(&state->groups[state->group_count - 1]->id, id), 0);
}

/* What was created after the mirror was last believed is remembered, too. */
static void test_created_while_aside(void **state)
{
    struct lbc_mirrors *mirrors = fixture_begin();
    struct lbc_entry *entry = claim(mirrors, "a/b", "u1");

    (void)state;
    assert_int_equal(lbc_text_set(&lbc_state_lb(entry->state)->id, "lb-1"), 0);
    name_group(entry, "old");
    entry->valid = true;
    lbc_entry_put_aside(entry);
    assert_int_equal(lbc_text_set(&lbc_state_lb(entry->state)->id, "lb-1"), 0);
    name_group(entry, "old");
    name_group(entry, "new");
    lbc_entry_put_aside(entry); /* it is not believed */
    assert_string_equal(lbc_entry_known_id(entry), "lb-1");
    assert_int_equal(entry->aside->group_count, 2);
    assert_non_null(lbc_state_group_by_id(entry->aside, "new"));
    assert_int_equal(entry->state->group_count, 0);
    lbc_mirrors_release(mirrors, entry);
    fixture_end(mirrors);
}

/* Another Service has dropped the load balancer that they share: its own groups are remembered. */
static void test_groups_aside_without_lb(void **state)
{
    struct lbc_mirrors *mirrors = fixture_begin();
    struct lbc_entry *entry = claim(mirrors, "a/b", "u1");

    (void)state;
    for (int i = 0; i < 2; i++) {
        name_group(entry, i == 0 ? "old" : "new");
        lbc_entry_put_aside(entry);
        assert_int_equal(entry->state->group_count, 0);
    }
    assert_int_equal(entry->aside->group_count, 2);
    lbc_mirrors_release(mirrors, entry);
    fixture_end(mirrors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_claims),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_own),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_urgent_waiters),
        cmocka_unit_test(test_waiters_for_backends),
        cmocka_unit_test(test_gone),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_rest),
        cmocka_unit_test(test_rest_shared),
        cmocka_unit_test(test_freed),
        cmocka_unit_test(test_underway),
        cmocka_unit_test(test_underway_left),
        cmocka_unit_test(test_created_while_aside),
        cmocka_unit_test(test_groups_aside_without_lb),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
