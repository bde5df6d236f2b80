#include "alicloud/quota/pace.h"

#include "util/book.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_MS    1000 /* after a refusal about which nothing is known; then twice as long */
#define LONGEST_MS  8000
#define FINE_MS     20     /* what is in doubt is not worth another refusal any more, */
#define FINE_PART   8      /* or this part of it all */
#define FORGET_MS   300000 /* without a change, and after the last refusal */
#define PURGE_COUNT 256    /* from so many resources on those that are forgotten are dropped */
#define TRIES_MS    60000  /* so long the tries of a call that was put off are remembered */
#define DARE_PART   4      /* what is tried when nothing speaks against less than `high` */
#define SURE_PROOFS 2      /* from so many on `low` is believed */
#define MOST_PROOFS 7
#define ELSEWHERE   4 /* refused after so many times `high`: not because of our last change */

/*
 * A change is refused up to `low` after the last one, and taken from `high` on. One refusal proves
 * little: another client's change may have been the reason. That first tries are refused again and
 * again does, and the more of them were, the longer it takes until less is tried once more.
 */
struct pace {
    int64_t last_ms; /* when the last change was known to be done, or the first refusal was sent */
    int64_t low_ms;
    int64_t high_ms; /* 0 = not known */
    int64_t refused_ms;
    int64_t denied_ms; /* how long after the last change it was refused last */
    int64_t again_ms;  /* refused: nothing is sent before that */
    unsigned proofs;   /* first tries that were refused */
    unsigned taken;    /* changes since the last of these */
};

/* Tries of a call that was put off. */
struct tries {
    unsigned count;
    int64_t until_ms;
};

struct ali_paces {
    struct ccm_book all;
    struct ccm_book tries; /* by key of the call */
};

struct ali_paces *ali_paces_new(void)
{
    struct ali_paces *paces = calloc(1, sizeof(*paces));

    if (paces == NULL) {
        return NULL;
    }
    if (ccm_book_init(&paces->all, free) < 0) {
        free(paces);
        return NULL;
    }
    if (ccm_book_init(&paces->tries, free) < 0) {
        ccm_book_fini(&paces->all);
        free(paces);
        return NULL;
    }
    return paces;
}

void ali_paces_free(struct ali_paces *paces)
{
    if (paces == NULL) {
        return;
    }
    ccm_book_fini(&paces->all);
    ccm_book_fini(&paces->tries);
    free(paces);
}

static bool pace_is_old(const struct pace *pace, int64_t now)
{
    return now - pace->refused_ms >= FORGET_MS || now - pace->last_ms >= FORGET_MS;
}

/* NULL: it has refused nothing lately. */
static struct pace *pace_find_locked(const struct ali_paces *paces, const char *id, int64_t now)
{
    struct pace *pace = ccm_strmap_get(paces->all.map, id);

    if (pace != NULL && pace_is_old(pace, now)) {
        ccm_strmap_del(paces->all.map, id);
        return NULL;
    }
    return pace;
}

static void paces_purge_locked(struct ali_paces *paces, int64_t now)
{
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;

    while (ccm_strmap_len(paces->all.map) >= PURGE_COUNT &&
           ccm_strmap_next(paces->all.map, &cursor, &id, &value)) {
        if (pace_is_old(value, now)) {
            ccm_strmap_del(paces->all.map, id);
        }
    }
}

static struct pace *pace_new_locked(struct ali_paces *paces, const char *id, int64_t sent)
{
    struct pace *fresh = NULL;

    paces_purge_locked(paces, sent);
    fresh = ccm_book_obtain(&paces->all, id, sizeof(*fresh));
    if (fresh != NULL) {
        fresh->last_ms = sent;
    }
    return fresh;
}

/* Whether the doubt is so small that the safe side is taken. */
static bool pace_is_known(const struct pace *pace)
{
    const int64_t doubt = pace->high_ms - pace->low_ms;

    return doubt <= FINE_MS || doubt <= pace->high_ms / FINE_PART;
}

static int64_t smaller_of(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

/* How long after the last change the next one is sent, `high` being known. A single long task
 * (another size, another charge) says nothing of those that follow: long waits are worked up to. */
static int64_t pace_next_ms(const struct pace *pace)
{
    const int64_t middle = (pace->low_ms + pace->high_ms) / 2;

    if (pace->proofs < SURE_PROOFS || pace->taken >= 2U << pace->proofs) {
        return smaller_of(pace->high_ms / DARE_PART, FIRST_MS);
    }
    if (pace_is_known(pace)) {
        return pace->high_ms;
    }
    return middle <= FIRST_MS ? middle : smaller_of(middle, FIRST_MS + 2 * pace->low_ms);
}

int64_t ali_pace_wait_ms(struct ali_paces *paces, const char *id, int64_t now_ms)
{
    const struct pace *pace = NULL;
    int64_t wait = 0;

    (void)ccm_book_open(&paces->all);
    pace = pace_find_locked(paces, id, now_ms);
    if (pace != NULL && pace->high_ms > 0) {
        wait = pace->last_ms + pace_next_ms(pace) - now_ms;
    }
    if (pace != NULL && pace->again_ms - now_ms > wait) {
        wait = pace->again_ms - now_ms;
    }
    ccm_book_close(&paces->all);
    return wait > 0 ? wait : 0;
}

void ali_pace_done(struct ali_paces *paces, const char *id, int64_t sent_ms, int64_t now_ms)
{
    struct pace *pace = NULL;

    (void)ccm_book_open(&paces->all);
    pace = pace_find_locked(paces, id, now_ms);
    if (pace != NULL) {
        const int64_t most = 2 * (pace->denied_ms + FIRST_MS); /* as far as retries are apart */
        int64_t after = sent_ms > pace->last_ms ? sent_ms - pace->last_ms : 1;

        after = smaller_of(after, most); /* the rest is a pause that was not needed */
        if (pace->high_ms == 0 || after < pace->high_ms) {
            pace->high_ms = after;
        }
        if (pace->low_ms >= pace->high_ms) {
            pace->low_ms = 0; /* it is faster than it was */
            pace->proofs = 0;
        }
        pace->taken++;
        pace->last_ms = now_ms;
        pace->again_ms = 0;
    }
    ccm_book_close(&paces->all);
}

/* Again when it is known to be enough; else after pauses that double. */
static int64_t pace_retry_ms(const struct pace *pace, int64_t now, unsigned int tries)
{
    const int64_t pause = (int64_t)FIRST_MS << (tries > 4 ? 3 : tries - 1);

    if (pace != NULL && pace->high_ms > 0 &&
        (pace->high_ms <= FIRST_MS || pace->proofs >= SURE_PROOFS)) {
        const int64_t spare = FINE_MS + pace->high_ms / FINE_PART; /* not refused twice */
        const int64_t wait = pace->last_ms + pace->high_ms + spare - now;

        return wait > 1 ? wait : 1;
    }
    return pause < LONGEST_MS ? pause : LONGEST_MS;
}

static void pace_learn_refusal(struct pace *pace, int64_t sent, unsigned tries)
{
    const int64_t after = sent - pace->last_ms;

    if (after < 0) {
        return; /* overtaken by another change */
    }
    pace->denied_ms = after;
    if (tries == 1 && pace->high_ms > 0 && after > ELSEWHERE * pace->high_ms) {
        pace->last_ms = sent;
        pace->denied_ms = 0;
        pace->low_ms = 0;
        pace->high_ms = 0;
        pace->proofs = 0;
        return;
    }
    if (tries == 1 && pace->high_ms > 0) {
        pace->low_ms = after > pace->low_ms ? after : pace->low_ms;
        pace->proofs += pace->proofs < MOST_PROOFS ? 1 : 0;
        pace->taken = 0;
    }
    if (after >= pace->high_ms) {
        pace->high_ms = 0; /* it takes longer than it did */
    }
}

int64_t ali_pace_refused(struct ali_paces *paces, const char *id, int64_t sent_ms, int64_t now_ms,
                         unsigned int tries)
{
    struct pace *pace = NULL;
    int64_t wait;

    (void)ccm_book_open(&paces->all);
    pace = pace_find_locked(paces, id, now_ms);
    if (pace == NULL) {
        pace = pace_new_locked(paces, id, sent_ms);
    }
    if (pace != NULL) {
        pace->refused_ms = now_ms;
        pace_learn_refusal(pace, sent_ms, tries);
    }
    wait = pace_retry_ms(pace, now_ms, tries);
    if (pace != NULL) {
        pace->again_ms = now_ms + wait;
    }
    ccm_book_close(&paces->all);
    return wait;
}

/* --- tries of calls that were put off --- */

static void tries_purge_locked(struct ali_paces *paces, int64_t now)
{
    void *cursor = NULL;
    const char *key = NULL;
    void *value = NULL;

    while (ccm_strmap_len(paces->tries.map) >= PURGE_COUNT &&
           ccm_strmap_next(paces->tries.map, &cursor, &key, &value)) {
        if (now >= ((const struct tries *)value)->until_ms) {
            ccm_strmap_del(paces->tries.map, key);
        }
    }
}

unsigned ali_pace_take_tries(struct ali_paces *paces, const char *key, int64_t now_ms)
{
    struct ccm_strmap *map = ccm_book_open(&paces->tries);
    const struct tries *tries = ccm_strmap_get(map, key);
    unsigned count = 0;

    if (tries != NULL) {
        count = now_ms < tries->until_ms ? tries->count : 0;
        ccm_strmap_del(map, key);
    }
    ccm_book_close(&paces->tries);
    return count;
}

void ali_pace_keep_tries(struct ali_paces *paces, const char *key, unsigned count, int64_t now_ms)
{
    struct tries *fresh = NULL;

    (void)ccm_book_open(&paces->tries);
    tries_purge_locked(paces, now_ms);
    fresh = ccm_book_obtain(&paces->tries, key, sizeof(*fresh));
    if (fresh != NULL) {
        *fresh = (struct tries){ .count = count, .until_ms = now_ms + TRIES_MS };
    }
    ccm_book_close(&paces->tries);
}
