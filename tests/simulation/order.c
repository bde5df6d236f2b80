#define _DEFAULT_SOURCE /* anonymous memory */
#include "order.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define THREADS            1024
#define STACK_SIZE         ((size_t)512 * 1024)
#define START_US           INT64_C(1000000000)
#define EPOCH_US           INT64_C(1790000000000000)
#define YIELD_ODDS         8
#define POINTS_OF_A_MOMENT 200000 /* more is a loop */

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define SIM_FIBERS 1
#else
#define SIM_FIBERS 0
#endif

enum state { FREE, RUNNABLE, WAITING, PAUSED, ENDED, DEAD };

struct thread {
    enum state state;
    enum sim_wait why;
    int instance;
    int place; /* among those that can run */
    int saved_errno;
    const void *on;
    int64_t until_us;
    bool timed_out;
    uint64_t priority;
    void *(*run)(void *arg);
    void *arg;
    void *result;
    void *sp;
    void *stack;
    char key[SIM_KEY_MAX];
};

static struct thread threads[THREADS];
static struct thread *runnable[THREADS];
static int runnable_len;
static int used; /* of `threads` */
static struct thread *self;
static int atomic_depth;

static int64_t now_us = START_US;
static int64_t wall_offset_us = EPOCH_US;
static uint64_t streams[SIM_STREAMS];
static bool by_priority;
static struct sim_limits limit;
static uint64_t points;
static uint64_t points_before; /* until the present moment of virtual time */

static int64_t paused_until[SIM_INSTANCES];
static int current_instance;
void (*sim_on_instance)(int instance);

static uint64_t trace_hash = UINT64_C(0xcbf29ce484222325);
static FILE *trace_file;
static size_t trace_left;
void (*sim_on_fail)(const char *text);

/* --- numbers --- */

uint64_t sim_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

uint64_t sim_next(uint64_t *state)
{
    return sim_mix(*state += UINT64_C(0x9E3779B97F4A7C15));
}

uint64_t sim_draw(enum sim_stream stream)
{
    return sim_next(&streams[stream]);
}

/* --- what happened --- */

void sim_trace_to(const char *path, size_t most)
{
    trace_file = fopen(path, "w");
    trace_left = most;
}

void sim_trace(const char *format, ...)
{
    char line[4096];
    va_list args;
    int len =
        snprintf(line, sizeof(line), "%lld i%d t%d ", (long long)(now_us - START_US),
                 self == NULL ? 0 : self->instance, self == NULL ? -1 : (int)(self - threads));

    va_start(args, format);
    (void)vsnprintf(line + len, sizeof(line) - (size_t)len, format, args);
    va_end(args);
    for (const char *c = line; *c != '\0'; c++) {
        trace_hash = (trace_hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    }
    if (trace_file != NULL && trace_left > sizeof(line)) {
        trace_left -= (size_t)fprintf(trace_file, "%s\n", line);
        (void)fflush(trace_file);
    }
}

uint64_t sim_hash(void)
{
    return trace_hash;
}

void sim_fail(const char *format, ...)
{
    char text[2048];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (sim_on_fail != NULL) {
        sim_on_fail(text);
    }
    (void)fflush(NULL);
    _exit(1);
}

/* --- who can run --- */

static void thread_make_runnable(struct thread *thread)
{
    const int64_t until_us = paused_until[thread->instance];

    if (until_us > now_us) {
        thread->state = PAUSED;
        thread->until_us = until_us;
        return;
    }
    thread->state = RUNNABLE;
    thread->place = runnable_len;
    runnable[runnable_len++] = thread;
}

static void thread_take_out(struct thread *thread, enum state state)
{
    runnable[thread->place] = runnable[--runnable_len];
    runnable[thread->place]->place = thread->place;
    thread->state = state;
}

static void thread_end_wait(struct thread *thread, bool timed_out)
{
    thread->timed_out = timed_out;
    thread->on = NULL;
    thread_make_runnable(thread);
}

static const char *thread_describe(const struct thread *thread)
{
    static const char *const whys[] = { "lock", "condition", "thread", "time", "signal" };

    return thread->state == PAUSED ? "pause" : whys[thread->why];
}

static void clock_report_deadlock(void)
{
    for (int i = 0; i < used; i++) {
        if (threads[i].state == WAITING) {
            (void)fprintf(stderr, "  thread %d of instance %d waits for a %s\n", i,
                          threads[i].instance, thread_describe(&threads[i]));
        }
    }
    sim_fail("deadlock: every thread waits, and none has a deadline");
}

/* No thread can run: time passes until one can. */
static void clock_jump(void)
{
    int64_t next = SIM_FOREVER;

    for (int i = 0; i < used; i++) {
        const struct thread *one = &threads[i];

        if ((one->state == WAITING || one->state == PAUSED) && one->until_us < next) {
            next = one->until_us;
        }
    }
    if (next == SIM_FOREVER) {
        clock_report_deadlock();
    }
    if (next > now_us) {
        now_us = next;
        points_before = points;
    }
    if (now_us - START_US > limit.virtual_us) {
        sim_fail("the run does not end: %lld s of virtual time",
                 (long long)(now_us - START_US) / 1000000);
    }
    for (int i = 0; i < used; i++) {
        struct thread *one = &threads[i];

        if ((one->state == WAITING || one->state == PAUSED) && one->until_us <= now_us) {
            thread_end_wait(one, one->state == WAITING || one->timed_out);
        }
    }
}

/* --- coroutines --- */

#if defined(__x86_64__)
void sim_swap(void **save, void *load);
__asm__(".text\n.globl sim_swap\n.type sim_swap,@function\nsim_swap:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp,(%rdi)\nmov %rsi,%rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n"
        ".size sim_swap,.-sim_swap\n.section .note.GNU-stack,\"\",@progbits\n.text\n");
#define SAVED_WORDS 6 /* behind the address to return to */
#elif defined(__aarch64__)
void sim_swap(void **save, void *load);
__asm__(".text\n.globl sim_swap\n.type sim_swap,%function\nsim_swap:\n"
        "sub sp,sp,#160\n"
        "stp x19,x20,[sp]\nstp x21,x22,[sp,#16]\nstp x23,x24,[sp,#32]\nstp x25,x26,[sp,#48]\n"
        "stp x27,x28,[sp,#64]\nstp x29,x30,[sp,#80]\nstp d8,d9,[sp,#96]\nstp d10,d11,[sp,#112]\n"
        "stp d12,d13,[sp,#128]\nstp d14,d15,[sp,#144]\n"
        "mov x9,sp\nstr x9,[x0]\nmov sp,x1\n"
        "ldp x19,x20,[sp]\nldp x21,x22,[sp,#16]\nldp x23,x24,[sp,#32]\nldp x25,x26,[sp,#48]\n"
        "ldp x27,x28,[sp,#64]\nldp x29,x30,[sp,#80]\nldp d8,d9,[sp,#96]\nldp d10,d11,[sp,#112]\n"
        "ldp d12,d13,[sp,#128]\nldp d14,d15,[sp,#144]\n"
        "add sp,sp,#160\nret\n.size sim_swap,.-sim_swap\n");
#else
#error "the simulation has no switch of coroutines for this machine"
#endif

#if SIM_FIBERS
static const void *first_stack; /* of the first thread, which is no coroutine */
static size_t first_stack_size;
#endif

static void thread_switch(struct thread *from, struct thread *to)
{
    self = to;
#if SIM_FIBERS
    const bool is_first = to == &threads[0];
    void *fake = NULL;

    __sanitizer_start_switch_fiber(from->state == ENDED || from->state == DEAD ? NULL : &fake,
                                   is_first ? first_stack : to->stack,
                                   is_first ? first_stack_size : STACK_SIZE);
#endif
    sim_swap(&from->sp, to->sp);
#if SIM_FIBERS
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
}

static void order_end_thread(void *result);

static void thread_main(void)
{
#if SIM_FIBERS
    const void *from = NULL;
    size_t size = 0;

    __sanitizer_finish_switch_fiber(NULL, &from, &size);
    if (first_stack == NULL) { /* the first of all is started by the first thread */
        first_stack = from;
        first_stack_size = size;
    }
#endif
    order_end_thread(self->run(self->arg));
    abort();
}

static bool thread_prepare_stack(struct thread *thread)
{
    if (thread->stack == NULL) {
        thread->stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (thread->stack == MAP_FAILED) {
        thread->stack = NULL;
        return false;
    }
#if SIM_FIBERS
    __asan_unpoison_memory_region(thread->stack, STACK_SIZE); /* what the one before left */
#endif
    void **sp = (void **)(void *)((char *)thread->stack + STACK_SIZE - 64);

#if defined(__x86_64__)
    *--sp = NULL; /* keeps the stack aligned as after a call */
    *--sp = (void *)(uintptr_t)thread_main;
    for (int i = 0; i < SAVED_WORDS; i++) {
        *--sp = NULL;
    }
#else
    sp -= 20;
    memset(sp, 0, 160);
    sp[11] = (void *)(uintptr_t)thread_main; /* x30 */
#endif
    thread->sp = sp;
    return true;
}

/* --- the choice --- */

static struct thread *order_choose(void)
{
    if (runnable_len == 1) {
        return runnable[0];
    }
    if (!by_priority) {
        return runnable[sim_draw(SIM_ORDER) % (uint64_t)runnable_len];
    }
    struct thread *best = runnable[0];

    for (int i = 1; i < runnable_len; i++) {
        best = runnable[i]->priority > best->priority ? runnable[i] : best;
    }
    if (sim_draw(SIM_ORDER) % 64 == 0) {
        best->priority = sim_draw(SIM_ORDER);
    }
    return best;
}

static void order_schedule(void)
{
    struct thread *me = self;
    struct thread *next = NULL;

    if (++points > limit.points) {
        sim_fail("the run does not end: %llu scheduling points", (unsigned long long)points);
    }
    if (points - points_before > POINTS_OF_A_MOMENT) {
        sim_fail("virtual time stands still: something is done again and again without a pause");
    }
    while (runnable_len == 0) {
        clock_jump();
    }
    next = order_choose();
    if (next == me) {
        return;
    }
    me->saved_errno = errno;
    if (next->instance != current_instance) {
        current_instance = next->instance;
        if (sim_on_instance != NULL) {
            sim_on_instance(current_instance);
        }
    }
    thread_switch(me, next);
    errno = me->saved_errno;
}

void sim_begin(uint64_t seed, uint64_t order, const struct sim_limits *limits)
{
    streams[SIM_ORDER] = sim_mix(order * 2 + 1);
    streams[SIM_ENTROPY] = sim_mix(seed * 2);
    by_priority = order % 4 == 3;
    limit = *limits;
    self = &threads[0];
    used = 1;
    thread_make_runnable(self);
}

/* --- time --- */

int64_t sim_now_us(void)
{
    return now_us;
}

int64_t sim_wall_us(void)
{
    return now_us + wall_offset_us;
}

void sim_step_wall(int64_t us)
{
    wall_offset_us += us;
}

void sim_sleep_us(int64_t us)
{
    if (us > 0) {
        (void)sim_wait(SIM_WAIT_SLEEP, NULL, now_us + us); /* it always times out */
    }
}

void sim_yield_sometimes(void)
{
    if (atomic_depth == 0 && sim_draw(SIM_ORDER) % YIELD_ODDS == 0) {
        order_schedule();
    }
}

/* --- threads --- */

unsigned sim_thread_self(void)
{
    return self == NULL ? 0 : (unsigned)(self - threads);
}

static struct thread *order_find_room(void)
{
    for (int i = 1; i < used; i++) {
        if (threads[i].state == FREE) {
            return &threads[i];
        }
    }
    return used == THREADS ? NULL : &threads[used++];
}

unsigned sim_thread_start(void *(*run)(void *arg), void *arg)
{
    struct thread *thread = order_find_room();

    if (thread == NULL || !thread_prepare_stack(thread)) {
        return 0;
    }
    thread->instance = self->instance;
    thread->run = run;
    thread->arg = arg;
    thread->timed_out = false;
    thread->priority = sim_draw(SIM_ORDER);
    memcpy(thread->key, self->key, sizeof(thread->key));
    thread_make_runnable(thread);
    if (atomic_depth == 0) {
        order_schedule();
    }
    return (unsigned)(thread - threads);
}

static void order_end_thread(void *result)
{
    struct thread *me = self;

    me->result = result;
    thread_take_out(me, ENDED);
    sim_wake(SIM_WAIT_JOIN, me, false);
    order_schedule(); /* for good */
}

void *sim_thread_join(unsigned id)
{
    struct thread *thread = &threads[id];

    while (thread->state != ENDED) {
        (void)sim_wait(SIM_WAIT_JOIN, thread, SIM_FOREVER); /* there is no deadline */
    }
    thread->state = FREE;
    return thread->result;
}

bool sim_wait(enum sim_wait why, const void *on, int64_t until_us)
{
    if (atomic_depth > 0) {
        sim_fail("a simulator waits inside of a request");
    }
    self->why = why;
    self->on = on;
    self->until_us = until_us;
    self->timed_out = false;
    thread_take_out(self, WAITING);
    order_schedule();
    return !self->timed_out;
}

void sim_wake(enum sim_wait why, const void *on, bool one)
{
    struct thread *found[THREADS];
    size_t len = 0;

    for (int i = 0; i < used; i++) {
        if (threads[i].state == WAITING && threads[i].why == why && threads[i].on == on) {
            found[len++] = &threads[i];
        }
    }
    if (one && len > 1) {
        found[0] = found[sim_draw(SIM_ORDER) % len];
    }
    for (size_t i = 0; i < (one && len > 0 ? 1 : len); i++) {
        thread_end_wait(found[i], false);
    }
}

void sim_atomic(bool on)
{
    atomic_depth += on ? 1 : -1;
}

/* --- instances --- */

int sim_instance(void)
{
    return self == NULL ? SIM_WORLD_SIDE : self->instance;
}

void sim_set_instance(int instance)
{
    self->instance = instance;
    if (instance != current_instance) {
        current_instance = instance;
        if (sim_on_instance != NULL) {
            sim_on_instance(instance);
        }
    }
}

void sim_pause(int instance, int64_t until_us)
{
    paused_until[instance] = until_us;
    for (int i = 0; i < used; i++) {
        if (threads[i].instance == instance && threads[i].state == RUNNABLE &&
            &threads[i] != self) {
            thread_take_out(&threads[i], PAUSED);
            threads[i].until_us = until_us;
        }
    }
}

void sim_kill(int instance)
{
    bool own = false;

    for (int i = 0; i < used; i++) {
        struct thread *one = &threads[i];

        if (one->instance != instance || one->state == FREE || one->state == DEAD) {
            continue;
        }
        if (one->state == RUNNABLE) {
            thread_take_out(one, DEAD);
        }
        one->state = DEAD;
        own = own || one == self;
    }
    for (int i = 0; i < used; i++) { /* stacks may be used again, but for the one we are on */
        if (threads[i].state == DEAD && &threads[i] != self) {
            threads[i].state = FREE;
        }
    }
    if (own) {
        order_schedule(); /* for good */
    }
}

void sim_set_key(const char *key)
{
    (void)snprintf(self->key, sizeof(self->key), "%s", key);
}

const char *sim_key(void)
{
    return self == NULL ? "" : self->key;
}
