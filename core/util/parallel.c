#include "util/parallel.h"

#include <pthread.h>
#include <stdatomic.h>

#define THREADS_MAX 16

struct parallel_work {
    size_t count;
    void (*each)(void *arg, size_t i);
    void *arg;
    atomic_size_t next; /* item that nobody has taken yet */
};

static void *parallel_take_items(void *arg)
{
    struct parallel_work *work = arg;

    for (size_t i = atomic_fetch_add(&work->next, 1); i < work->count;
         i = atomic_fetch_add(&work->next, 1)) {
        work->each(work->arg, i);
    }
    return NULL;
}

void ccm_parallel_run(size_t count, size_t threads, void (*each)(void *arg, size_t i), void *arg)
{
    struct parallel_work work = { .count = count, .each = each, .arg = arg };
    pthread_t ids[THREADS_MAX - 1];
    const size_t most = threads < THREADS_MAX ? threads : THREADS_MAX;
    size_t started = 0;

    atomic_init(&work.next, 0);
    while (started + 1 < most && started + 1 < count &&
           pthread_create(&ids[started], NULL, parallel_take_items, &work) == 0) {
        started++;
    }
    (void)parallel_take_items(&work); /* no result */
    while (started > 0) {
        (void)pthread_join(ids[--started], NULL); /* joinable, joined once */
    }
}
