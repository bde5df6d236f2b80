/* Listeners start, stop and go; on their way they are in a state of its own for a while. */
#include "families.h"
#include "lb.h"
#include "listener.h"
#include "plain.h"
#include "store.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <errno.h>

/* ---- on the way ---- */

/* By names, since a listener or its load balancer may go meanwhile. */
struct move {
    char lb[64];
    char to[16];
    const char *protocol;
    uint32_t port;
    uint64_t seq; /* of the listener: another one with these names is not meant */
    int64_t due_ms;
};

struct ccm_cloud_moves {
    struct move *items;
    size_t len;
    size_t cap;
};

struct ccm_cloud_moves *ccm_cloud_moves_new(void)
{
    return calloc(1, sizeof(struct ccm_cloud_moves));
}

void ccm_cloud_moves_free(struct ccm_cloud_moves *moves)
{
    if (moves != NULL) {
        free(moves->items);
        free(moves);
    }
}

int ccm_cloud_listener_move(struct ccm_cloud *cloud, const struct ccm_cloud_lb *lb,
                            struct ccm_cloud_listener *listener, const char *through,
                            const char *to)
{
    struct ccm_cloud_moves *moves = cloud->moves;
    struct move move = {
        .protocol = listener->protocol,
        .port = listener->port,
        .seq = listener->obj.seq,
        .due_ms = ccm_clock_now_ms() + cloud->limits.listener_ms,
    };

    ccm_text_copy(move.lb, sizeof(move.lb), lb->obj.id);
    ccm_text_copy(move.to, sizeof(move.to), to);
    if (cloud->limits.listener_ms == 0) {
        return ccm_sim_params_set(&listener->obj.attrs, "Status", move.to);
    }
    if (ccm_array_grow(&moves->items, &moves->cap, moves->len + 1, sizeof(*moves->items)) < 0) {
        return -ENOMEM;
    }
    moves->items[moves->len++] = move;
    return ccm_sim_params_set(&listener->obj.attrs, "Status", through);
}

static void arrive(struct ccm_cloud *cloud, const struct move *move)
{
    const struct ccm_cloud_lb *lb = ccm_cloud_lb_get(cloud, move->lb);
    struct ccm_cloud_listener *listener =
        lb == NULL ? NULL : ccm_cloud_listener_get(lb, move->protocol, move->port);

    /* The attribute is there already and only replaced; without memory it keeps the old status. */
    if (listener != NULL && listener->obj.seq == move->seq &&
        ccm_sim_params_set(&listener->obj.attrs, "Status", move->to) < 0) {
        return;
    }
}

void ccm_cloud_listeners_advance(struct ccm_cloud *cloud)
{
    struct ccm_cloud_moves *moves = cloud->moves;
    const int64_t now = moves->len == 0 ? 0 : ccm_clock_now_ms();
    size_t kept = 0;

    for (size_t i = 0; i < moves->len; i++) {
        if (moves->items[i].due_ms <= now || cloud->limits.listener_ms == 0) {
            arrive(cloud, &moves->items[i]);
        } else {
            moves->items[kept++] = moves->items[i];
        }
    }
    moves->len = kept;
}

/* ---- actions ---- */

int ccm_cloud_listener_fail_absent(struct ccm_cloud_call *call)
{
    return ccm_cloud_fail(call, 400, "InvalidParameter", "The specified resource does not exist.");
}

/* The listener that port and, where needed, protocol name. */
static int listener_of(struct ccm_cloud_call *call, struct ccm_cloud_lb **ret_lb,
                       struct ccm_cloud_listener **ret)
{
    const char *protocol = ccm_cloud_text(call, "ListenerProtocol", NULL);
    uint32_t port = (uint32_t)ccm_cloud_int(call, "ListenerPort", 0);
    size_t found = 0;
    int r = ccm_cloud_lb_of(call, ret_lb);

    if (r < 0) {
        return r;
    }
    for (size_t i = 0; i < (*ret_lb)->listeners_len; i++) {
        struct ccm_cloud_listener *listener = (*ret_lb)->listeners[i];

        if (listener->port == port &&
            (protocol == NULL || ccm_text_equal(listener->protocol, protocol))) {
            *ret = listener;
            found++;
        }
    }
    if (found > 1) {
        return ccm_cloud_fail(call, 400, "TooManyListeners",
                              "More than 1 listener is found, please be more specified.");
    }
    return found == 1 ? 0 : ccm_cloud_listener_fail_absent(call);
}

static int status_set(struct ccm_cloud_call *call, const char *from, const char *through,
                      const char *to)
{
    struct ccm_cloud_lb *lb = NULL;
    struct ccm_cloud_listener *listener = NULL;
    int r = listener_of(call, &lb, &listener);

    if (r < 0) {
        return r;
    }
    if (!ccm_text_equal(ccm_cloud_attr(&listener->obj, "Status"), from)) {
        return ccm_cloud_fail(call, 400, "Operation.NotAllowed",
                              "The specified listener is not allowed to operate.");
    }
    return ccm_cloud_listener_move(call->cloud, lb, listener, through, to);
}

static int start(struct ccm_cloud_call *call)
{
    return status_set(call, "stopped", "starting", "running");
}

static int stop(struct ccm_cloud_call *call)
{
    return status_set(call, "running", "stopping", "stopped");
}

/* Domain extensions go with their listener. */
static void extensions_del(struct ccm_cloud *cloud, const struct ccm_cloud_lb *lb,
                           const struct ccm_cloud_listener *listener)
{
    void *cursor = NULL;
    CCM_CLEANUP(ccm_freep) char *port = ccm_text_format("%u", listener->port);

    for (struct ccm_cloud_obj *obj = ccm_cloud_plain_next(cloud, CCM_CLOUD_EXTENSION, &cursor);
         obj != NULL; obj = ccm_cloud_plain_next(cloud, CCM_CLOUD_EXTENSION, &cursor)) {
        if (ccm_text_equal(ccm_cloud_attr(obj, "LoadBalancerId"), lb->obj.id) &&
            ccm_text_equal(ccm_cloud_attr(obj, "ListenerPort"), port)) {
            ccm_cloud_plain_del(cloud, CCM_CLOUD_EXTENSION, obj->id);
        }
    }
}

static int del(struct ccm_cloud_call *call)
{
    struct ccm_cloud_lb *lb = NULL;
    struct ccm_cloud_listener *listener = NULL;
    int r = listener_of(call, &lb, &listener);

    if (r < 0) {
        return r;
    }
    for (size_t i = 0; i < lb->listeners_len; i++) {
        const struct ccm_cloud_obj *other = &lb->listeners[i]->obj;

        if (ccm_text_equal(ccm_cloud_attr(other, "ListenerForward"), "on") &&
            ccm_text_equal(ccm_cloud_attr(other, "ForwardPort"),
                           ccm_cloud_text(call, "ListenerPort", ""))) {
            return ccm_cloud_fail(call, 400, "ListenerForwardExist",
                                  "The specified listener is forwarded by the other listener, the "
                                  "ListenerForward relationship should be deleted firstly.");
        }
    }
    extensions_del(call->cloud, lb, listener);
    ccm_cloud_listener_del(lb, listener);
    return 0;
}

static const struct ccm_cloud_param id_params[] = {
    CCM_CLOUD_LISTENER_ID_ROWS,
    { .name = "ListenerProtocol", .type = CCM_CLOUD_ENUM, .values = "tcp|udp|http|https" },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_listener_state_actions[] = {
    { .name = "StartLoadBalancerListener",
      .params = id_params,
      .run = start,
      .change = CCM_CLOUD_CHANGE_LISTENER },
    { .name = "StopLoadBalancerListener",
      .params = id_params,
      .run = stop,
      .change = CCM_CLOUD_CHANGE_LISTENER },
    { .name = "DeleteLoadBalancerListener",
      .params = id_params,
      .run = del,
      .change = CCM_CLOUD_CHANGE_LISTENER },
    { 0 },
};
