/*
 * Shrinking: from a run that has a finding to one that has as few lines of history and as few
 * faults as possible, by leaving out ever smaller parts of both (delta debugging) as long as there
 * is a finding.
 */
#ifndef SIM_SHRINK_H
#define SIM_SHRINK_H

#include "options.h"

/* Play the run of the options, shrink it, print its story. The exit code of the program. */
int sim_shrink(const struct sim_options *options);

#endif
