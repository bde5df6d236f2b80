#include "condition.h"

#include "util/buf.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/parallel.h"

#include <time.h>

#define BODY_MAX ((size_t)4096)
/* So many writes are under way at once; the thread of the call is one of them. */
#define WRITERS 8

static void format_now(const struct ccm_host *host, char *to, size_t size)
{
    const time_t now = (time_t)(host->wall_ms(host) / 1000);
    struct tm parts;

    to[0] = '\0';
    if (gmtime_r(&now, &parts) != NULL) {
        (void)strftime(to, size, "%Y-%m-%dT%H:%M:%SZ", &parts); /* 20 characters fit */
    }
}

static void write_body(struct ccm_buf *body, const struct ccm_node *node, bool unavailable,
                       const char *now)
{
    struct ccm_jsonw w = { .buf = body };

    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_open(&w, "metadata", '{');
    ccm_jsonw_str(&w, "uid", node->meta.uid);
    ccm_jsonw_str(&w, "resourceVersion", node->meta.resource_version);
    ccm_jsonw_close(&w, '}');
    ccm_jsonw_open(&w, "status", '{');
    ccm_jsonw_open(&w, "conditions", '[');
    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "type", "NetworkUnavailable");
    ccm_jsonw_str(&w, "status", unavailable ? "True" : "False");
    ccm_jsonw_str(&w, "reason", unavailable ? "NoRouteCreated" : "RouteCreated");
    ccm_jsonw_str(&w, "message",
                  unavailable ? "RouteController failed to create a route"
                              : "RouteController created a route");
    ccm_jsonw_str(&w, "lastTransitionTime", now);
    ccm_jsonw_str(&w, "lastHeartbeatTime", now);
    ccm_jsonw_close(&w, '}');
    ccm_jsonw_close(&w, ']');
    ccm_jsonw_close(&w, '}');
    ccm_jsonw_close(&w, '}');
}

static int write_condition(const struct route_run *run, const struct ccm_node *node,
                           bool unavailable, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = BODY_MAX };
    const struct ccm_host *host = run->route->host;
    char now[32];

    format_now(host, now, sizeof(now));
    write_body(&body, node, unavailable, now);
    if (ccm_buf_error(&body) < 0) {
        return ccm_error_nomem(err);
    }

    const struct ccm_patch patch = {
        .struct_size = sizeof(patch),
        .kind = CCM_KIND_NODE,
        .type = CCM_PATCH_STRATEGIC,
        .name = node->meta.name,
        .subresource = "status",
        .body = ccm_buf_str(&body),
    };
    const int r = host->patch(host, run->req, &patch, err);

    if (r < 0 && err->kind == CCM_ERROR_NOT_FOUND) {
        ccm_error_clear(err);
        return 0; /* its deletion is on its way to us */
    }
    return r < 0 ? ccm_error_wrap(err, r, "condition NetworkUnavailable") : 0;
}

/* ---- all of a call ---- */

/* A key is taken by one thread alone, and with it its verdict. */
static void condition_write_key(void *arg, size_t key)
{
    struct route_run *run = arg;
    struct route_verdict *verdict = &run->verdicts[key];
    struct ccm_error err = CCM_ERROR_INIT;

    if (verdict->network == ROUTE_NETWORK_KEEP ||
        write_condition(run, run->nodes[verdict->node].object,
                        verdict->network == ROUTE_NETWORK_DOWN, &err) == 0) {
        return;
    }
    /* Its retry is due earlier than that of the failure itself. */
    ccm_error_copy(&verdict->err, &err);
    verdict->failed = true;
    verdict->shared = false;
}

void route_conditions_write(struct route_run *run)
{
    size_t writes = 0;

    for (size_t i = 0; i < run->req->key_count; i++) {
        writes += run->verdicts[i].network == ROUTE_NETWORK_KEEP ? 0 : 1;
    }
    ccm_parallel_run(run->req->key_count, writes < WRITERS ? writes : WRITERS, condition_write_key,
                     run);
}
