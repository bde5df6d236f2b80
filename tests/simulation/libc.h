/* The C library of the simulation, see libc.c. One real thread. */
#ifndef SIM_LIBC_H
#define SIM_LIBC_H

/* From now on locks are locks: right after sim_begin(). */
void sim_libc_begin(void);

/* As kill(2) from outside: SIGTERM or SIGHUP for the main thread of the instance. */
void sim_send_signal(int instance, int number);

/* The instance ends itself at once, by SIGALRM: see daemon/hang_guard.c. */
extern void (*sim_on_alarm)(int instance);

#endif
