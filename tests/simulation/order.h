/*
 * The scheduler of the simulation. Threads of the product are coroutines of one real thread: they
 * run one at a time, and the seed decides who goes on at every lock, wait, timer and exchange. When
 * all of them wait, the virtual clock jumps to the next deadline. libc.c defines the names of the C
 * library (pthread_*, clock_gettime, getrandom, ...) on top of it.
 *
 * Every thread belongs to an instance of the daemon, or to the world (SIM_WORLD_SIDE). An instance
 * can be paused, as by SIGSTOP, and killed, as by SIGKILL: its threads never run again.
 *
 * One real thread. All functions but sim_begin() are called after it.
 */
#ifndef SIM_ORDER_H
#define SIM_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_INSTANCES  512
#define SIM_WORLD_SIDE 0 /* the instance of threads that are none of the daemon's */
#define SIM_KEY_MAX    192
#define SIM_FOREVER    INT64_MAX

/* Streams of random numbers, independent of each other: another order of threads changes neither
 * what the product gets from the kernel nor the history. */
enum sim_stream { SIM_ORDER, SIM_ENTROPY, SIM_STREAMS };

struct sim_limits {
    uint64_t points;    /* scheduling points; a run that needs more has hung */
    int64_t virtual_us; /* virtual time since sim_begin() */
};

/* The calling thread becomes the first one. `order` alone decides who goes on; limits: what ends
 * the run as hung, by sim_fail(). */
void sim_begin(uint64_t seed, uint64_t order, const struct sim_limits *limits);

uint64_t sim_draw(enum sim_stream stream);
/* splitmix64 of a state that the caller keeps, and of one number. */
uint64_t sim_next(uint64_t *state);
uint64_t sim_mix(uint64_t number);

/* --- time --- */

int64_t sim_now_us(void);  /* monotonic; begins at 1,000 s */
int64_t sim_wall_us(void); /* since the epoch */
/* As date(1) sets the wall clock. */
void sim_step_wall(int64_t us);
void sim_sleep_us(int64_t us);

/* --- threads --- */

enum sim_wait { SIM_WAIT_LOCK, SIM_WAIT_COND, SIM_WAIT_JOIN, SIM_WAIT_SLEEP, SIM_WAIT_SIGNAL };

/* A number that is not 0, or 0: there is no room for another thread. Belongs to the instance of the
 * caller and works on its key. */
unsigned sim_thread_start(void *(*run)(void *arg), void *arg);
/* Blocks until it has ended. */
void *sim_thread_join(unsigned thread);
unsigned sim_thread_self(void);
/* Wait until sim_wake() for the same `on`, or until the deadline. False: the deadline came. */
bool sim_wait(enum sim_wait why, const void *on, int64_t until_us);
/* Wake all threads that wait for it, or one that is drawn. */
void sim_wake(enum sim_wait why, const void *on, bool one);
/* Between on and off no other thread runs; may be nested. No waits in between. */
void sim_atomic(bool on);
/* Let another thread run, once in eight calls: for locks. */
void sim_yield_sometimes(void);

/* --- instances --- */

int sim_instance(void);
/* The calling thread changes over to another one. */
void sim_set_instance(int instance);
/* Called with the instance that goes on next whenever it is another one than before. */
extern void (*sim_on_instance)(int instance);
/* It does not run before that time. */
void sim_pause(int instance, int64_t until_us);
/* Its threads never run again. Does not return when the caller is one of them. */
void sim_kill(int instance);
/* What the calling thread works on, "default/web"; at most SIM_KEY_MAX bytes of it are kept. */
void sim_set_key(const char *key);
const char *sim_key(void);

/* --- what happened --- */

/* A line of the trace: part of the hash, and of the trace file when there is one. */
void sim_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* At most so many bytes go there. */
void sim_trace_to(const char *path, size_t most);
uint64_t sim_hash(void);

/* The run has found something: printed, and the process ends with exit code 1. */
void sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Called first by sim_fail(), with its text. */
extern void (*sim_on_fail)(const char *text);

#endif
