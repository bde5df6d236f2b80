/*
 * What a process says when it crashes: one line of the log that names the call into a plugin that
 * the crashing thread was in. Then the signal does what it would have done: core dump, exit code,
 * the report of a sanitizer.
 *
 * The handler allocates nothing, takes no lock and asks nobody; it runs on a stack of its own, so
 * that it also speaks when a thread has used up its stack.
 */
#ifndef CCM_UTIL_CRASH_H
#define CCM_UTIL_CRASH_H

#include <signal.h>
#include <stddef.h>

/* A call into a plugin. In the frame of the caller, from begin() to end(); texts are borrowed as
 * long. */
struct ccm_crash_call {
    const char *plugin;
    const char *stage;       /* "reconcile" */
    const char *const *keys; /* what it works on, such as "default/web"; NULL = nothing */
    size_t key_count;

    /* Private. */
    struct ccm_crash_call *outer;
    stack_t before;
};

/* Take the signals of crashes. Once, before threads start. */
void ccm_crash_install(void);

/* Around each call into a plugin; they may be nested. They cost a system call each. */
void ccm_crash_begin(struct ccm_crash_call *call);
void ccm_crash_end(struct ccm_crash_call *call);

#endif
