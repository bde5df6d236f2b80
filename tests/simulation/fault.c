#include "fault.h"

#include "order.h"

#include "util/strmap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[SIM_FAULT_KINDS] = {
    [SIM_FAULT_NONE] = "no fault",
    [SIM_FAULT_LOST_BEFORE] = "the request is lost",
    [SIM_FAULT_LOST_AFTER] = "the answer is lost",
    [SIM_FAULT_DELAYED] = "the request is delayed",
    [SIM_FAULT_429] = "the answer is 429",
    [SIM_FAULT_500] = "the answer is 500",
    [SIM_FAULT_503] = "the answer is 503",
    [SIM_FAULT_TRUNCATED] = "the answer is truncated",
    [SIM_FAULT_HTML] = "a proxy answers with a page",
    [SIM_FAULT_CRASH] = "the instance is killed after the call",
    [SIM_FAULT_JOB] = "the job of the call does not end well",
    [SIM_FAULT_PAUSE] = "the instance pauses before the call",
    [SIM_FAULT_WATCH_CUT] = "the watch is cut",
    [SIM_FAULT_WATCH_HANG] = "the watch hangs",
    [SIM_FAULT_WATCH_LAG] = "the watch lags",
    [SIM_FAULT_WATCH_REPEAT] = "the watch repeats its events",
};

/* Usual rates, of 1,000 calls. */
static const unsigned usual[SIM_FAULT_KINDS] = {
    [SIM_FAULT_LOST_BEFORE] = 30, [SIM_FAULT_LOST_AFTER] = 30, [SIM_FAULT_DELAYED] = 10,
    [SIM_FAULT_429] = 20,         [SIM_FAULT_500] = 20,        [SIM_FAULT_503] = 20,
    [SIM_FAULT_TRUNCATED] = 10,   [SIM_FAULT_HTML] = 5,        [SIM_FAULT_CRASH] = 12,
    [SIM_FAULT_PAUSE] = 3,        [SIM_FAULT_WATCH_CUT] = 100, [SIM_FAULT_WATCH_HANG] = 50,
    [SIM_FAULT_WATCH_LAG] = 100,  [SIM_FAULT_JOB] = 40,        [SIM_FAULT_WATCH_REPEAT] = 100,
};

static uint64_t fault_seed;
static struct sim_fault_rates current;
static bool active;
static struct ccm_strmap *calls; /* "action key" -> how many there were */
static const uint64_t *only;
static size_t only_count;
static uint64_t happened[SIM_FAULTS_MAX];
static size_t happened_count;

const char *sim_fault_name(enum sim_fault_kind kind)
{
    return names[kind];
}

void sim_faults_choose(uint64_t seed, unsigned share, struct sim_fault_rates *ret)
{
    uint64_t state = sim_mix(seed ^ UINT64_C(0xFA17));

    for (int kind = 0; kind < SIM_FAULT_KINDS; kind++) {
        const uint64_t draw = sim_next(&state);
        const unsigned factor = draw % 4 == 0 ? 2 : draw % 4 == 1 ? 1 : 0;

        ret->per_mille[kind] = usual[kind] * factor * share / 100;
    }
}

void sim_faults_begin(uint64_t seed, const struct sim_fault_rates *rates)
{
    fault_seed = seed;
    current = *rates;
    active = true;
    calls = ccm_strmap_new(NULL);
    if (calls == NULL) {
        abort();
    }
}

void sim_faults_end(void)
{
    active = false;
}

void sim_faults_pause(bool on)
{
    active = !on;
}

void sim_faults_only(const uint64_t *ids, size_t count)
{
    only = ids;
    only_count = count;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    }
    return sim_mix(hash + 1);
}

static uintptr_t fault_count_call(const char *name)
{
    const uintptr_t count = (uintptr_t)ccm_strmap_get(calls, name) + 1;

    if (ccm_strmap_set(calls, name, (void *)count) < 0) {
        abort();
    }
    return count;
}

static bool fault_is_allowed(uint64_t id)
{
    for (size_t i = 0; only != NULL && i < only_count; i++) {
        if (only[i] == id) {
            return true;
        }
    }
    return only == NULL;
}

static enum sim_fault_kind fault_find_kind(uint64_t id, bool watch)
{
    uint64_t state = id;

    for (int kind = SIM_FAULT_NONE + 1; kind < SIM_FAULT_KINDS; kind++) {
        const uint64_t draw = sim_next(&state) % 1000;

        if ((kind >= SIM_FAULT_WATCH_CUT) == watch && draw < current.per_mille[kind]) {
            return (enum sim_fault_kind)kind;
        }
    }
    return SIM_FAULT_NONE;
}

struct sim_fault sim_fault_pick(const char *action, const char *key, bool watch)
{
    struct sim_fault fault = { .kind = SIM_FAULT_NONE };
    char name[768];

    if (!active) {
        return fault;
    }
    (void)snprintf(name, sizeof(name), "%s %s", action, key);
    fault.id = hash_text(fault_seed, name) ^ sim_mix(fault_count_call(name));
    fault.id = sim_mix(fault.id);
    fault.kind = fault_find_kind(fault.id, watch);
    fault.draw = sim_mix(fault.id + 7);
    if (fault.kind == SIM_FAULT_NONE || !fault_is_allowed(fault.id)) {
        fault.kind = SIM_FAULT_NONE;
        return fault;
    }
    if (happened_count < SIM_FAULTS_MAX) {
        happened[happened_count++] = fault.id;
    }
    return fault;
}

size_t sim_faults_read(const char *path, uint64_t ret[static SIM_FAULTS_MAX])
{
    FILE *file = fopen(path, "r");
    char line[64];
    size_t count = 0;

    while (file != NULL && count < SIM_FAULTS_MAX && fgets(line, sizeof(line), file) != NULL) {
        ret[count] = 0;
        for (const char *c = line; *c >= '0' && *c <= '9'; c++) {
            ret[count] = ret[count] * 10 + (uint64_t)(*c - '0');
        }
        count++;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return count;
}

size_t sim_faults_count(void)
{
    return happened_count;
}

uint64_t sim_faults_id(size_t at)
{
    return happened[at];
}
