/*
 * Two builds play the same history, which comes to rest after each line, and what they report is
 * compared (report.h). The other build plays with another order of threads: two builds of different
 * code never share one.
 */
#ifndef SIM_AGAINST_H
#define SIM_AGAINST_H

#include "options.h"
#include "run.h"

/* Play that world, in two processes, one after the other; a difference is a finding, printed. */
void sim_against_play(const struct sim_options *options, uint64_t seed, uint32_t lives,
                      const char *folder, struct sim_outcome *ret);

#endif
