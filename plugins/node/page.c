#include "page.h"

#include "util/cleanup.h"
#include "util/spread.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define JITTER_PARTS 10
/* Between two pages of a round, at most. */
#define GAP_MAX_MS INT64_C(5000)

struct entry {
    const struct ccm_object *object;
    struct node_subject subject;
};

/* Those that the cloud knows something about, or that nobody has initialised. */
static bool entry_is_looked_at(const struct entry *entry)
{
    const struct node_subject *subject = &entry->subject;

    if (subject->excluded) {
        return subject->kind == NODE_ECS && subject->fresh;
    }
    return subject->kind == NODE_ECS || subject->kind == NODE_LINGJUN ||
           (subject->kind == NODE_UNNAMED && subject->fresh);
}

static int compare_places(const void *a, const void *b)
{
    const struct entry *left = a;
    const struct entry *right = b;
    const int regions = strcmp(left->subject.region, right->subject.region);

    return regions != 0 ? regions : strcmp(left->object->name, right->object->name);
}

/* Whether it stands behind the place. */
static bool entry_is_behind(const struct entry *entry, const char *place)
{
    const char *blank = strchr(place, ' ');
    const size_t len = (size_t)(blank - place);
    const int regions =
        strncmp(entry->subject.region, place, len) != 0 || entry->subject.region[len] != '\0'
            ? strcmp(entry->subject.region, place)
            : 0;

    return regions != 0 ? regions > 0 : strcmp(entry->object->name, blank + 1) > 0;
}

static size_t entries_collect(const struct ccm_object *const *objects, size_t count,
                              const char *after, struct entry *entries)
{
    size_t len = 0;

    for (size_t i = 0; i < count; i++) {
        struct entry *entry = &entries[len];

        entry->object = objects[i];
        node_subject_init(&entry->subject, (const struct ccm_node *)objects[i]);
        if (entry_is_looked_at(entry) && (after == NULL || entry_is_behind(entry, after))) {
            len++;
        }
    }
    qsort(entries, len, sizeof(*entries), compare_places);
    return len;
}

/* How many of them make the first page. */
static size_t page_measure(const struct entry *entries, size_t len, size_t batch)
{
    size_t count = 0;

    while (count < len && count < batch &&
           strcmp(entries[count].subject.region, entries[0].subject.region) == 0) {
        count++;
    }
    return count;
}

/* The same of so many pages; *ret_pages: how many there are up to that. */
static size_t pages_measure(const struct entry *entries, size_t len, size_t batch, size_t most,
                            size_t *ret_pages)
{
    size_t count = 0;

    for (*ret_pages = 0; *ret_pages < most && count < len; ++*ret_pages) {
        count += page_measure(entries + count, len - count, batch);
    }
    return count;
}

/* Until all of the round is to be through. */
static int64_t round_left_ms(const struct node_control *control, int64_t now_ms)
{
    const int64_t left_ms = control->round_ms + control->period_ms / 2 - now_ms;

    return left_ms > 0 ? left_ms : 0;
}

/* How many of the pages this call takes: as many as each of those that there is time for. */
static size_t round_share(const struct node_control *control, size_t pages, int64_t now_ms)
{
    const size_t calls = (size_t)(round_left_ms(control, now_ms) / NODE_BURST_MS) + 1;
    const size_t most = NODE_KEYS_MAX / NODE_BATCH_MAX;
    const size_t share = (pages + calls - 1) / calls;

    return share < most ? share : most;
}

/* Nodes that this call takes; the pages behind them are noted. */
static size_t round_take(struct node_run *run, const struct entry *entries, size_t len)
{
    struct node_control *control = run->control;
    size_t pages = 0;
    size_t taken_pages = 0;
    size_t taken = 0;

    if (control->page_after == NULL) {
        control->round_ms = run->started_ms;
    }
    (void)pages_measure(entries, len, NODE_BATCH_MAX, SIZE_MAX, &pages);
    taken = pages_measure(entries, len, NODE_BATCH_MAX,
                          round_share(control, pages, run->started_ms), &taken_pages);
    run->page_rest = pages - taken_pages;
    return taken;
}

/* Each is asked for once more: the list is given back as a whole. */
static int page_add(struct node_run *run, const struct entry *entries, size_t count)
{
    const struct ccm_host *host = run->control->host;
    int r = 0;

    for (size_t i = 0; i < count && r == 0; i++) {
        const struct ccm_object *object = host->get(host, CCM_KIND_NODE, entries[i].object->name);

        r = object == NULL ? 0 : node_run_add(run, object, NODE_NOBODY);
    }
    return r;
}

int node_page_take(struct node_run *run)
{
    const struct ccm_host *host = run->control->host;
    CCM_CLEANUP(ccm_freep) struct entry *entries = NULL;
    const struct ccm_object *const *objects = NULL;
    size_t count = 0;
    size_t len = 0;
    int r = host->list(host, CCM_KIND_NODE, NULL, NULL, &objects, &count);

    if (r < 0) {
        return r;
    }
    entries = calloc(count + 1, sizeof(*entries));
    if (entries != NULL) {
        len = entries_collect(objects, count, run->control->page_after, entries);
    }

    const size_t taken = entries == NULL ? 0 : round_take(run, entries, len);

    r = entries == NULL ? -ENOMEM : page_add(run, entries, taken);
    if (r == 0 && taken < len) {
        run->page_end = ccm_text_format("%s %s", entries[taken - 1].subject.region,
                                        entries[taken - 1].object->name);
        r = run->page_end == NULL ? -ENOMEM : 0;
    }
    host->release_list(host, objects, count);
    return r;
}

void node_page_turn(struct node_run *run)
{
    free(run->control->page_after);
    run->control->page_after = CCM_STEAL(run->page_end);
}

uint64_t node_page_delay_ms(const struct node_run *run)
{
    const struct node_control *control = run->control;
    const struct ccm_host *host = control->host;
    const int64_t now_ms = host->now_ms(host);
    int64_t ms = 0;

    if (run->page_rest == 0) {
        ms = control->round_ms + ccm_spread(host, control->period_ms, JITTER_PARTS) - now_ms;
    } else {
        ms = round_left_ms(control, now_ms) / (int64_t)run->page_rest;
        ms = ccm_spread(host, ms > GAP_MAX_MS ? GAP_MAX_MS : ms, JITTER_PARTS);
    }
    ms -= NODE_BURST_MS;
    return ms < 1 ? 1 : (uint64_t)ms;
}
