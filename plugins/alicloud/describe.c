/* The account and the rates of its actions, for the status pages. */
#include "alicloud/ali.h"
#include "alicloud/endpoint.h"
#include "alicloud/quota/governor.h"
#include "util/text.h"

#include <inttypes.h>

static const char *const columns[] = { "product", "action",  "used",  "allowed", "quota",
                                       "window",  "waiting", "state", NULL };

static void describe_tell_action(void *arg, const struct ali_governor_view *view)
{
    const struct ccm_view_sink *sink = arg;
    char used[24];
    char allowed[24];
    char quota[24];
    char window[24];
    char waiting[24];
    char state[96] = "";

    ccm_text_printf(used, sizeof(used), "%" PRId64, view->used);
    ccm_text_printf(allowed, sizeof(allowed), "%" PRId64, view->allowed);
    ccm_text_printf(quota, sizeof(quota), "%" PRId64, view->quota);
    ccm_text_printf(window, sizeof(window), "%" PRId64 " s", view->window_ms / 1000);
    ccm_text_printf(waiting, sizeof(waiting), "%zu", view->waiting);
    if (view->held_ms > 0) {
        ccm_text_printf(state, sizeof(state), "throttled by the cloud: goes on in %" PRId64 " s",
                        view->held_ms / 1000 + 1);
    } else if (view->allowed < view->quota) {
        ccm_text_printf(state, sizeof(state), "was throttled: the rate rises again");
    } else if (view->waiting > 0) {
        ccm_text_printf(state, sizeof(state), "calls wait for their turn");
    }

    const char *const cells[] = { ali_endpoint_product(view->product)->name,
                                  view->action,
                                  used,
                                  allowed,
                                  quota,
                                  window,
                                  waiting,
                                  state };

    sink->row(sink, cells);
}

void ali_describe(const struct ali_client *ali, const struct ccm_host *host,
                  const struct ccm_view_sink *sink)
{
    sink->fact(sink, "region", ali_region(ali), NULL);
    sink->fact(sink, "VPC", ali_vpc_id(ali), NULL);
    sink->fact(sink, "cluster id", ali_cluster_id(ali), NULL);
    sink->table(sink, "Calls per action", columns);
    ali_governor_list(ali->governor, host->now_ms(host), describe_tell_action,
                      (void *)(uintptr_t)sink);
}
