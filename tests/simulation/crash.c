/*
 * In place of core/util/crash.c, by link order. A simulated process crashes by being killed, so no
 * handler is installed; what a call into a plugin works on becomes the key of the thread, by which
 * faults are addressed.
 */
#include "order.h"

#include "util/crash.h"

void ccm_crash_install(void)
{
}

void ccm_crash_begin(struct ccm_crash_call *call)
{
    sim_set_key(call->key_count > 0 ? call->keys[0] : call->plugin == NULL ? "" : call->plugin);
}

void ccm_crash_end(struct ccm_crash_call *call)
{
    (void)call;
    sim_set_key("");
}
