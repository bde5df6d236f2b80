/*
 * A world without a past: the same objects of the cluster, as their owners wrote them, and a cloud
 * in which no Service has been served yet. What a fresh instance makes of them there is what has to
 * be here.
 */
#ifndef SIM_FRESH_H
#define SIM_FRESH_H

/* All is at rest: compare with such a world, played in a copy of the process. A difference is a
 * finding. */
void sim_fresh_compare(void);

#endif
