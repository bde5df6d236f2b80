/* One world from its beginning to its end, in a process of its own. */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include "options.h"

/* What came of it. */
struct sim_outcome {
    uint64_t hash;
    uint64_t requests;
    uint64_t faults;
    uint64_t points; /* that were explored */
    uint64_t instances;
    int64_t virtual_s;
    uint32_t lives;
    uint32_t findings;
};

/* A process that plays a world. */
struct sim_child {
    int pid;
    int fd;
    char folder[SIM_PATH_MAX];
};

/* Start one; its files go into options->folder/name. False: it cannot be started. */
bool sim_child_start(struct sim_child *child, const struct sim_options *options, const char *name,
                     uint64_t seed, uint32_t lives);
/* Wait for it. False: it had a finding, or crashed. Its folder is removed unless it is kept. */
bool sim_child_end(struct sim_child *child, bool keeps, struct sim_outcome *ret);

/* For a copy of the process: one that hangs is ended. Its processor time counts, so a busy machine
 * makes no difference. */
void sim_child_limit(void);

/* A finding, by which shrink.c knows it again: a file in the folder of the world. */
void sim_child_note(const char *folder, const char *text);

void sim_child_remove(const struct sim_child *child);

#endif
