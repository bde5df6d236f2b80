/*
 * Faults of exchanges. Whether one happens follows from the seed and from what it hits, the n-th
 * call of an action for an object, and not from the moment: the same fault hits the same call in
 * another order of threads, in a shorter history, and in another build. So every fault has a
 * number of its own, and a run may be limited to a list of them.
 *
 * One real thread.
 */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_fault_kind {
    SIM_FAULT_NONE,
    SIM_FAULT_LOST_BEFORE, /* the connection ends, the request was not executed */
    SIM_FAULT_LOST_AFTER,  /* it was executed */
    SIM_FAULT_DELAYED,     /* by up to 40 s: beyond most deadlines */
    SIM_FAULT_429,         /* with Retry-After, or the cloud's throttling */
    SIM_FAULT_500,
    SIM_FAULT_503,
    SIM_FAULT_TRUNCATED, /* executed; the answer ends in the middle */
    SIM_FAULT_HTML,      /* a proxy answers 200 with a page */
    SIM_FAULT_CRASH,     /* the instance is killed after the call took effect */
    SIM_FAULT_JOB,       /* of NLB: it fails, is forgotten, or takes up to a minute */
    SIM_FAULT_PAUSE,     /* the instance stops for up to 40 s before the call, and goes on */
    SIM_FAULT_WATCH_CUT, /* a watch ends in the middle */
    SIM_FAULT_WATCH_HANG,
    SIM_FAULT_WATCH_LAG,
    SIM_FAULT_WATCH_REPEAT, /* it gives each event twice */
    SIM_FAULT_KINDS
};

struct sim_fault {
    uint64_t id;
    enum sim_fault_kind kind;
    uint64_t draw; /* for whatever else has to be chosen */
};

/* per_mille: how many of 1,000 calls a fault of that kind hits. Without: none. */
struct sim_fault_rates {
    unsigned per_mille[SIM_FAULT_KINDS];
};

/* Rates that the seed chooses: most kinds are off in most runs. share: 0 none, 100 the usual. */
void sim_faults_choose(uint64_t seed, unsigned share, struct sim_fault_rates *ret);

void sim_faults_begin(uint64_t seed, const struct sim_fault_rates *rates);
/* No fault while it is on. */
void sim_faults_pause(bool on);
/* No further fault. */
void sim_faults_end(void);
/* Only these; the array is borrowed. NULL = all that the rates allow. */
void sim_faults_only(const uint64_t *ids, size_t count);

/* What the next call of this action for this object meets; watch: it is a stream. */
struct sim_fault sim_fault_pick(const char *action, const char *key, bool watch);

#define SIM_FAULTS_MAX 65536

/* The numbers of faults in a file, one a line; how many. A file that cannot be read has none. */
size_t sim_faults_read(const char *path, uint64_t ret[static SIM_FAULTS_MAX]);

/* Those that happened, in order. */
size_t sim_faults_count(void);
uint64_t sim_faults_id(size_t at);
const char *sim_fault_name(enum sim_fault_kind kind);

#endif
