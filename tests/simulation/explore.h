/*
 * Exploration of one history, with the three patterns of Sieve (OSDI 2022): a crash after every
 * effect, a standby with caches as old as any effect that takes over at the next ones, and every
 * event of a watch missed once. At each point the world is copied by fork(); the copy suffers,
 * plays the history to its end and has to come to rest.
 */
#ifndef SIM_EXPLORE_H
#define SIM_EXPLORE_H

#include <stdbool.h>
#include <stdint.h>

/* only: the number of the point that suffers, in this process and not in a copy; 0 = all. */
void sim_explore_begin(uint32_t only);
bool sim_explore_is_child(void);
/* Whether this is a copy in which the leader may have old caches. */
bool sim_explore_is_stale(void);
/* ", point 12: crash after CreateLoadBalancer" of a copy, else "". */
const char *sim_explore_where(void);
uint64_t sim_explore_points(void);
uint32_t sim_explore_findings(void);

#endif
