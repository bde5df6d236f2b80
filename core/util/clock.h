/* Time. Monotonic for deadlines, wall clock for what people and servers read. Every thread. */
#ifndef CCM_UTIL_CLOCK_H
#define CCM_UTIL_CLOCK_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* Milliseconds of a clock that never goes back; only differences mean anything. */
int64_t ccm_clock_now_ms(void);

/* The same in microseconds: for how long something took. */
int64_t ccm_clock_now_us(void);

/* As now_ms(), but counting on while the machine sleeps: for what others do meanwhile. */
int64_t ccm_clock_boot_ms(void);

/* Milliseconds since the epoch, UTC. */
int64_t ccm_clock_wall_ms(void);

/* "2026-01-02T03:04:05Z"; size >= CCM_CLOCK_TEXT. */
#define CCM_CLOCK_TEXT 32
void ccm_clock_format(int64_t wall_ms, char *text, size_t size);

/* The same with six digits of fraction ("…05.123000Z"), the form of Kubernetes MicroTime. */
void ccm_clock_format_micro(int64_t wall_ms, char *text, size_t size);

/* A condition variable that waits on the monotonic clock. 0 or -errno. */
int ccm_clock_cond_init(pthread_cond_t *cond);

/* Wait until signalled or until the monotonic deadline. 0, or -ETIMEDOUT. Spurious wake-ups happen.
 */
int ccm_clock_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t deadline_ms);

#endif
