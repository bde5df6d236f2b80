#include "run.h"

size_t route_run_key(const struct route_run *run, const char *name)
{
    const uintptr_t found = (uintptr_t)ccm_strmap_get(run->keys, name);

    return found == 0 ? ROUTE_NOBODY : (size_t)(found - 1);
}

size_t route_run_step_key(const struct route_run *run, const struct route_step *step)
{
    if (step->type == ROUTE_STEP_ORPHAN) {
        return run->pass_key;
    }
    return route_run_key(run, step->past != ROUTE_NOBODY
                                  ? run->past[step->past].node
                                  : run->nodes[step->node].object->meta.name);
}

#define WAIT_LEAST_MS 1000

uint64_t route_run_wait_ms(const struct ccm_error *err)
{
    return err->retry_after_ms < WAIT_LEAST_MS ? WAIT_LEAST_MS : err->retry_after_ms;
}

void route_run_wait(struct route_run *run, struct route_verdict *verdict,
                    const struct ccm_error *err)
{
    const uint64_t ms = route_run_wait_ms(err);

    verdict->waits = true;
    run->wait_ms = run->wait_ms == 0 || ms < run->wait_ms ? ms : run->wait_ms;
}

void route_verdict_fail(struct route_verdict *verdict, const struct ccm_error *err)
{
    if (!verdict->failed) {
        verdict->failed = true;
        ccm_error_copy(&verdict->err, err);
    }
}
