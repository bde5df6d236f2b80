/*
 * Instances of the daemon in one process: what each of them has for itself, and how they begin and
 * end. An instance is a process that was started once; a restart is another instance.
 *
 * Kept apart are the writable data of the plugins and of libccm-alicloud, which keeps one client
 * per process: they are exchanged whenever another instance goes on. The data of the daemon's own
 * code are shared; what it keeps there is the level of the log and the count of repeated lines. The
 * memory of an instance that was killed is lost until the process ends, and a world is a process of
 * its own (world.h).
 */
#ifndef SIM_INSTANCE_H
#define SIM_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_SEATS 3 /* that many run at the same time, at most */

/* config: the file that all of them read. restarts: whatever ends is started again a second later,
 * as a Deployment does. */
void sim_instances_begin(const char *config, int seats);
/* What runs in the seat; 0 = nothing does at the moment. */
int sim_seat_instance(int seat);
/* The seat of an instance; -1 = it does not run any more. */
int sim_instance_seat(int instance);
/* By SIGKILL, also from a thread of its own, and then it does not return; another one is started
 * after delay_us. */
void sim_seat_crash(int seat, int64_t delay_us);
/* One more, in a seat that was not there at the beginning. */
void sim_seat_add(int seat);
/* By SIGTERM. */
void sim_seat_stop(int seat);
/* All of them are gone, and none is started again: for a copy of the process. */
void sim_instances_drop(void);
/* How many were started. */
int sim_instances_count(void);
/* Called with each that was killed: what is open of it is to be closed. */
extern void (*sim_on_killed)(int instance);

#endif
