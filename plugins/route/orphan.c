#include "orphan.h"

#include "events.h"
#include "util/cleanup.h"
#include "util/lease_event.h"
#include "util/leaving.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define SIGN_SIZE 256

void route_orphans_forget(struct route *route)
{
    ccm_strmap_free(route->orphans);
    route->orphans = NULL;
}

static void orphan_format_key(const struct route_run *run, const struct route_step *step,
                              char text[SIGN_SIZE])
{
    char net[ROUTE_NET_TEXT];

    route_net_format(&step->net, net);
    ccm_text_printf(text, SIGN_SIZE, "%s -> %.70s in %.100s", net, step->instance,
                    run->route->tables[step->table].id);
}

static void orphans_emit_event(struct route_run *run, const struct ccm_buf *names, size_t count)
{
    struct route *route = run->route;
    CCM_CLEANUP(ccm_freep)
    char *text =
        ccm_text_format("%zu route%s lead%s to instances that back no node: %s%s", count,
                        count == 1 ? "" : "s", count == 1 ? "s" : "", ccm_buf_str(names),
                        route->orphan_cleanup ? "; they are deleted"
                                              : "; option orphan_cleanup deletes such routes");

    if (count == 0 && route->orphans_message == NULL) {
        return;
    }

    const struct ccm_lease_standing what = {
        .warning = !route->orphan_cleanup,
        .topic = "orphans",
        .reason = "OrphanRoutes",
        .message = count == 0 || text == NULL ? "" : text,
    };

    route_stand_on_lease(route, &what);
    free(route->orphans_message);
    route->orphans_message = count == 0 ? NULL : CCM_STEAL(text);
}

/* Whether it was seen long enough to be told, or deleted: a node may just be missing in what an API
 * server says. Two looks at the same moment are one. */
static bool is_ripe(const struct route_run *run, int64_t first_ms)
{
    const struct route *route = run->route;
    const struct ccm_removal_rule *rule = &route->rule;

    if (first_ms == 0 || run->started_ms - first_ms < route->period_ms / 2) {
        return false;
    }
    return !route->orphan_cleanup || rule->released_until_ms > run->started_ms ||
           run->started_ms >=
               ccm_removal_due_ms(rule, first_ms, ccm_removal_server_since(route->host));
}

/* Take the step out unless it was seen before. */
static int orphans_drop_unripe(struct route_run *run, struct ccm_strmap *seen,
                               struct ccm_buf *names, size_t *ret_count)
{
    struct route_plan *plan = &run->plan;
    size_t kept = 0;

    for (size_t i = 0; i < plan->len; i++) {
        const struct route_step step = plan->steps[i];
        char text[SIGN_SIZE];
        int64_t first_ms = 0;

        if (step.type == ROUTE_STEP_ORPHAN) {
            orphan_format_key(run, &step, text);
            if (ccm_leaving_see(run->route->orphans, seen, text, run->started_ms, &first_ms) < 0) {
                return -ENOMEM;
            }
            if (!is_ripe(run, first_ms)) {
                continue;
            }
            ccm_buf_add_name(names, ret_count, "%s", text);
        }
        plan->steps[kept++] = step;
    }
    plan->len = kept;
    return 0;
}

int route_orphans_decide(struct route_run *run)
{
    struct route *route = run->route;
    struct ccm_buf names = { .max = 1500 };
    struct ccm_strmap *seen = NULL;
    size_t count = 0;
    int r;

    seen = ccm_strmap_new(free);
    r = seen == NULL ? -ENOMEM : orphans_drop_unripe(run, seen, &names, &count);
    if (r == 0) {
        orphans_emit_event(run, &names, count);
        route_orphans_forget(route);
        route->orphans = CCM_STEAL(seen);
    }
    ccm_strmap_free(seen);
    ccm_buf_fini(&names);
    return r;
}
