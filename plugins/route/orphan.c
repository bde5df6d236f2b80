#include "orphan.h"

#include "tell.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define NAMED_MAX 5
#define SIGN_SIZE 256

void route_orphans_forget(struct route *route)
{
    ccm_strmap_free(route->orphans);
    route->orphans = NULL;
}

static void sign(const struct route_run *run, const struct route_step *step, char text[SIGN_SIZE])
{
    char net[ROUTE_NET_TEXT];

    route_net_format(&step->net, net);
    (void)snprintf(text, SIGN_SIZE, "%s -> %.70s in %.100s", net, step->instance,
                   run->route->tables[step->table].id); /* fits */
}

static void tell(struct route_run *run, const struct ccm_buf *names, size_t count)
{
    struct route *route = run->route;
    CCM_CLEANUP(ccm_freep)
    char *text = ccm_text_format(
        "%zu route%s lead%s to instances that back no node: %s%s%s", count, count == 1 ? "" : "s",
        count == 1 ? "s" : "", ccm_buf_str(names), count > NAMED_MAX ? " and others" : "",
        route->orphan_cleanup ? "; deleted now" : "; option orphan_cleanup deletes such routes");

    if (count == 0 || text == NULL) {
        free(route->told_orphans);
        route->told_orphans = NULL;
        return;
    }
    if (!ccm_text_equal(text, route->told_orphans)) {
        route_tell_lease(route, !route->orphan_cleanup, "OrphanRoutes", text);
        free(route->told_orphans);
        route->told_orphans = CCM_STEAL(text);
    }
}

/* Take the step out unless it was seen before. */
static int judge(struct route_run *run, struct ccm_strmap *seen, struct ccm_buf *names,
                 size_t *ret_count)
{
    struct route_plan *plan = &run->plan;
    size_t kept = 0;

    for (size_t i = 0; i < plan->len; i++) {
        const struct route_step step = plan->steps[i];
        char text[SIGN_SIZE];

        if (step.type == ROUTE_STEP_ORPHAN) {
            sign(run, &step, text);
            if (ccm_strmap_set(seen, text, NULL) < 0) {
                return -ENOMEM;
            }
            if (run->route->orphans == NULL || !ccm_strmap_has(run->route->orphans, text)) {
                continue;
            }
            if (*ret_count < NAMED_MAX) {
                ccm_buf_addf(names, "%s%s", *ret_count == 0 ? "" : ", ", text);
            }
            (*ret_count)++;
        }
        plan->steps[kept++] = step;
    }
    plan->len = kept;
    return 0;
}

int route_orphans_judge(struct route_run *run)
{
    struct route *route = run->route;
    struct ccm_buf names = { .max = 1500 };
    struct ccm_strmap *seen = NULL;
    size_t count = 0;
    int r;

    /* Two looks in a row at the same moment are one. */
    if (route->orphans != NULL && run->started_ms - route->orphans_ms < route->period_ms / 2) {
        route_orphans_forget(route);
    }
    seen = ccm_strmap_new(NULL);
    r = seen == NULL ? -ENOMEM : judge(run, seen, &names, &count);
    if (r == 0) {
        tell(run, &names, count);
        route_orphans_forget(route);
        route->orphans = CCM_STEAL(seen);
        route->orphans_ms = run->started_ms;
    }
    ccm_strmap_free(seen);
    ccm_buf_fini(&names);
    return r;
}
