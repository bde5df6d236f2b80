#define _GNU_SOURCE
#include "net.h"

#include "fault.h"
#include "instance.h"
#include "order.h"
#include "story.h"

#include "api.h"
#include "ccm/error.h"
#include "cloud/service.h"
#include "net/head.h"
#include "net/http.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"
#include "util/thread.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEADLINE_MS    20000 /* of an exchange that names none, as net/http.h says */
#define CONNECT_MS     10000
#define RESTART_US     2000000
#define STREAM_POLL_MS 5000
#define CRASH_STREAMS  1024

struct sim_net sim_net;

struct net_http {
    bool stopping;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* cancelled, room again, stopped */
};

struct net_http_ticket {
    struct net_http *http;
    const struct net_exchange *exchange;
    pthread_t thread;
    bool given_up;
    struct ccm_http_response *response;
    struct ccm_error err;
    uint64_t phase;
    int result;
};

/* One request to a simulator. */
struct call {
    const struct ccm_sim_ops *ops;
    void *simulator;
    enum sim_side side;
    int instance;
    char *uri;
    char *path;
    char *body;
    struct ccm_sim_request req;
    struct ccm_sim_reply reply;
    struct ccm_sim_call name;
    size_t place; /* among open streams + 1; 0 = none */
};

static struct call *streams[CRASH_STREAMS]; /* that are open */
static int64_t cut_off_until[SIM_SEATS][SIM_SIDES];

void sim_net_cut_off(int seat, enum sim_side side, int64_t until_us)
{
    cut_off_until[seat][side] = until_us;
}

void sim_net_heal(void)
{
    memset(cut_off_until, 0, sizeof(cut_off_until));
}

static struct {
    int64_t from_us;
    int64_t until_us;
} frozen[SIM_SEATS];

void sim_net_freeze_watches(int seat, int64_t from_us, int64_t until_us)
{
    frozen[seat].from_us = from_us;
    frozen[seat].until_us = until_us;
}

/* --- a request --- */

static void call_close_stream(struct call *call)
{
    if (call->place > 0) {
        streams[call->place - 1] = NULL;
        call->place = 0;
    }
    if (call->reply.stream.close != NULL) {
        sim_atomic(true);
        call->reply.stream.close(call->reply.stream.self);
        sim_atomic(false);
        call->reply.stream.close = NULL;
    }
}

static void call_fini(struct call *call)
{
    call_close_stream(call);
    ccm_sim_params_fini(&call->req.query);
    ccm_sim_params_fini(&call->req.form);
    ccm_sim_params_fini(&call->req.all);
    ccm_sim_params_fini(&call->req.headers);
    ccm_sim_params_fini(&call->reply.headers);
    ccm_sim_params_fini(&call->name.params);
    ccm_buf_fini(&call->reply.body);
    free(call->uri);
    free(call->path);
    free(call->body);
}

void sim_net_drop(int instance)
{
    for (size_t i = 0; i < CRASH_STREAMS; i++) {
        if (streams[i] != NULL && streams[i]->instance == instance) {
            call_close_stream(streams[i]);
        }
    }
}

static void check_memory(int r)
{
    if (r < 0) {
        abort(); /* out of memory */
    }
}

static void call_add_header(struct call *call, const char *line)
{
    const char *colon = strchr(line, ':');
    char name[128];
    size_t len = 0;

    for (; line + len < colon && len < sizeof(name) - 1; len++) {
        name[len] = (char)tolower((unsigned char)line[len]);
    }
    name[len] = '\0';
    check_memory(ccm_sim_params_add(&call->req.headers, name, colon + 1 + strspn(colon + 1, " ")));
}

static void call_add_params(struct call *call, const struct ccm_sim_params *from)
{
    for (size_t i = 0; i < from->len; i++) {
        check_memory(ccm_sim_params_borrow(&call->req.all, &from->items[i]));
    }
}

static void call_read_params(struct call *call)
{
    struct ccm_sim_request *req = &call->req;

    ccm_sim_params_sort(&req->headers);
    check_memory(ccm_sim_params_parse(&req->query, req->raw_query, strlen(req->raw_query)));
    if (ccm_text_starts(ccm_sim_params_text(&req->headers, "content-type"),
                        "application/x-www-form-urlencoded")) {
        check_memory(ccm_sim_params_parse(&req->form, req->body, req->body_len));
    }
    call_add_params(call, &req->query);
    call_add_params(call, &req->form);
    ccm_sim_params_sort(&req->query);
    ccm_sim_params_sort(&req->form);
    ccm_sim_params_sort(&req->all);
}

/* url: "http://kube/..." or "http://cloud/..." */
static void call_make(struct call *call, const char *method, const char *url, const char *body,
                      size_t len)
{
    const bool cloud = ccm_text_starts(url, "http://cloud");
    const char *path = strchr(url + strlen("http://"), '/');
    char host[256];
    char *mark = NULL;

    *call = (struct call){
        .ops = cloud ? &ccm_cloud_ops : &ccm_ks_api_ops,
        .simulator = cloud ? (void *)sim_net.cloud : (void *)sim_net.kube,
        .side = cloud ? SIM_CLOUD : SIM_KUBE,
        .instance = sim_instance(),
        .uri = strdup(path == NULL ? "/" : path),
        .body = strndup(body == NULL ? "" : body, len),
    };
    call->reply.status = 200;
    call->reply.content_type = "application/json";
    mark = strchr(call->uri, '?');
    call->req.raw_query = mark == NULL ? "" : mark + 1;
    if (mark != NULL) {
        *mark = '\0';
    }
    call->req.raw_path = call->uri;
    check_memory(ccm_sim_unescape(call->uri, strlen(call->uri), false, &call->path));
    call->req.path = call->path;
    call->req.method = method;
    call->req.body = call->body;
    call->req.body_len = len;
    (void)snprintf(host, sizeof(host), "host: %.*s", (int)strcspn(url + 7, "/?"), url + 7);
    call_add_header(call, host);
}

static void call_identify(struct call *call)
{
    call_read_params(call);
    sim_atomic(true);
    call->ops->identify(call->simulator, &call->req, &call->name);
    sim_atomic(false);
}

static bool call_writes(const struct call *call)
{
    const char *action = call->name.action;

    if (call->side == SIM_KUBE) {
        return strcmp(call->req.method, "GET") != 0;
    }
    return !ccm_text_starts(action, "Describe") && !ccm_text_starts(action, "List") &&
           !ccm_text_starts(action, "Get") && strcmp(action, "AssumeRole") != 0 &&
           action[0] != '\0' && strchr(action, ' ') == NULL; /* else: the metadata service */
}

static struct sim_call call_describe(const struct call *call)
{
    const char *version = ccm_sim_params_text(&call->req.headers, "x-acs-version");

    return (struct sim_call){
        .side = call->side,
        .action = call->name.action,
        .product = ccm_cloud_product_of(
            version[0] == '\0' ? ccm_sim_params_text(&call->req.all, "Version") : version),
        .method = call->req.method,
        .path = call->req.path,
        .params = &call->req.all,
        .body = call->req.body,
        .instance = sim_instance(),
        .key = sim_key(),
        .writes = call_writes(call),
        .status = call->reply.status,
        .code = call->reply.code,
        .answer = ccm_buf_str(&call->reply.body),
    };
}

static bool call_starts_job(const struct call *call)
{
    const char *product = call_describe(call).product;

    return product != NULL && strcmp(product, "nlb") == 0 && call_writes(call);
}

static void call_execute(struct call *call)
{
    const struct sim_call before = call_describe(call);

    sim_net.requests++;
    if (before.writes && sim_net.before != NULL) {
        sim_net.before(&before);
    }
    sim_atomic(true);
    if (call->ops->begin != NULL) {
        call->ops->begin(call->simulator, &call->req);
    }
    call->ops->handle(call->simulator, &call->req, &call->reply);
    if (call->ops->end != NULL) {
        call->ops->end(call->simulator, &call->req);
    }
    sim_atomic(false);

    const struct sim_call after = call_describe(call);

    sim_trace("%s %s %.2000s -> %u %s %zu", after.action, after.key,
              call->req.body_len > 0 ? call->req.body : call->req.raw_query, after.status,
              after.code, call->reply.body.len);
    if (after.instance != SIM_WORLD_SIDE && after.writes && strstr(after.path, "/leases") == NULL) {
        sim_story_add("instance %d: %s %s: %u %s %.400s", after.instance, after.action, after.key,
                      after.status, after.code,
                      call->side == SIM_KUBE ? after.body : call->req.raw_query);
    }
    if (sim_net.after != NULL) {
        sim_net.after(&after);
    }
}

static void call_answer_fault(struct call *call, const struct sim_fault *fault)
{
    static char throttled[] = "Throttling";
    static char internal[] = "InternalError";
    static char unavailable[] = "ServiceUnavailable";
    static char message[] = "fault of the simulation";
    const bool is_429 = fault->kind == SIM_FAULT_429;
    struct ccm_sim_effect effect = {
        .code = is_429                         ? throttled
                : fault->kind == SIM_FAULT_500 ? internal
                                               : unavailable,
        .message = message,
        .http = is_429 ? (call->side == SIM_CLOUD ? 400 : 429)
                       : (fault->kind == SIM_FAULT_500 ? 500 : 503),
        .truncate = -1,
    };

    call->reply.status = effect.http;
    sim_atomic(true);
    call->ops->fault(call->simulator, &call->req, &effect, &call->reply);
    sim_atomic(false);
    if (is_429 && call->side == SIM_KUBE) {
        check_memory(ccm_sim_params_add(&call->reply.headers, "Retry-After", "1"));
    }
}

unsigned sim_ask(const char *method, const char *url, const char *type, const char *body,
                 struct ccm_buf *ret)
{
    struct call call;
    unsigned status = 0;

    call_make(&call, method, url, body, body == NULL ? 0 : strlen(body));
    if (type != NULL) {
        char header[128];

        (void)snprintf(header, sizeof(header), "content-type: %s", type);
        call_add_header(&call, header);
    }
    call_identify(&call);
    call_execute(&call);
    status = call.reply.status;
    if (ret != NULL) {
        ccm_buf_reset(ret);
        ccm_buf_adds(ret, ccm_buf_str(&call.reply.body));
    }
    call_fini(&call);
    return status;
}

unsigned sim_control(enum sim_side side, const char *method, const char *path, const char *body,
                     struct ccm_buf *ret)
{
    char url[256];
    struct call call;
    unsigned status = 0;

    (void)snprintf(url, sizeof(url), "http://%s%s", side == SIM_CLOUD ? "cloud" : "kube", path);
    call_make(&call, method, url, body, body == NULL ? 0 : strlen(body));
    call_read_params(&call);
    sim_atomic(true);
    if (call.ops->control(call.simulator, &call.req, &call.reply) < 0) {
        call.reply.status = 404;
    }
    sim_atomic(false);
    status = call.reply.status;
    if (ret != NULL) {
        ccm_buf_reset(ret);
        ccm_buf_adds(ret, ccm_buf_str(&call.reply.body));
    }
    call_fini(&call);
    return status;
}

/* --- an exchange --- */

static int ticket_fail(struct net_http_ticket *ticket, int r, uint64_t kind, uint64_t phase,
                       const char *text)
{
    ticket->phase = phase;
    ticket->result = ccm_error_set(&ticket->err, r, kind, "%s", text);
    return ticket->result;
}

static int ticket_fail_cut(struct net_http_ticket *ticket)
{
    return ticket_fail(ticket, -ECONNRESET, CCM_ERROR_TRANSIENT, CCM_HTTP_MAYBE_RUN,
                       "http://sim: the connection was cut off");
}

static bool ticket_is_cancelled(const struct net_http_ticket *ticket)
{
    const struct net_exchange *exchange = ticket->exchange;

    return ticket->http->stopping || ticket->given_up ||
           (exchange->cancel != NULL && atomic_load(&exchange->cancel->cancelled)) ||
           !ccm_gate_leads(exchange->gate);
}

static int ticket_fail_cancelled(struct net_http_ticket *ticket, uint64_t phase)
{
    return ticket_fail(ticket, -ECANCELED, CCM_ERROR_CANCELLED, phase, "http://sim: cancelled");
}

/* Wait so long, or less when it is cancelled. */
static void ticket_sleep_until(const struct net_http_ticket *ticket, int64_t until_us)
{
    const struct ccm_gate *gate = ticket->exchange->gate;

    while (sim_now_us() < until_us && !ticket_is_cancelled(ticket)) {
        const int64_t gate_ms = gate == NULL ? CCM_GATE_ALWAYS : ccm_gate_until(gate);
        int64_t wake_us = until_us;

        if (gate_ms < wake_us / 1000 && gate_ms * 1000 > sim_now_us()) {
            wake_us = gate_ms * 1000;
        }
        (void)sim_wait(SIM_WAIT_COND, &ticket->http->changed,
                       wake_us); /* the loop checks why it woke */
    }
}

static int64_t ticket_deadline_us(const struct net_http_ticket *ticket)
{
    const int64_t ms = ticket->exchange->deadline_ms;

    return (ms == 0 ? ccm_clock_now_ms() + DEADLINE_MS : ms) * 1000;
}

/* The way of a request or an answer. 0, or the exchange has failed. */
static int ticket_travel(struct net_http_ticket *ticket, int64_t more_us, int64_t deadline_us,
                         uint64_t phase)
{
    const int64_t us =
        more_us + 1 + (int64_t)(sim_draw(SIM_ORDER) % (uint64_t)(sim_net.latency_us + 1));
    const int64_t until_us = sim_now_us() + us;

    ticket_sleep_until(ticket, until_us < deadline_us ? until_us : deadline_us);
    if (ticket_is_cancelled(ticket)) {
        return ticket_fail_cancelled(ticket, phase);
    }
    if (until_us > deadline_us) {
        return ticket_fail(ticket, -ETIMEDOUT, CCM_ERROR_TRANSIENT, phase,
                           "http://sim: no answer before the deadline");
    }
    return 0;
}

static int give_chunk(struct net_http_ticket *ticket, const char *data, size_t len)
{
    const struct net_exchange *exchange = ticket->exchange;
    int r = exchange->on_chunk(exchange->arg, data, len);

    while (r == NET_HTTP_PAUSE && !ticket_is_cancelled(ticket)) {
        ticket_sleep_until(ticket, sim_now_us() + 1000000);
        r = exchange->on_chunk(exchange->arg, data, len);
    }
    return r == NET_HTTP_PAUSE ? 0 : r;
}

/* What becomes of a watch: nothing happens before at_us. */
struct stream_fate {
    enum sim_fault_kind kind;
    int64_t at_us;
    int64_t until_us;
};

static struct stream_fate stream_choose_fate(const struct sim_fault *fault)
{
    const int64_t at_us = sim_now_us() + (int64_t)(fault->draw % 60000000);

    return (struct stream_fate){
        .kind = fault->kind,
        .at_us = at_us,
        .until_us = at_us + 1000000 + (int64_t)(sim_mix(fault->draw) % 120000000),
    };
}

static bool stream_is_silent(const struct stream_fate *fate)
{
    return (fate->kind == SIM_FAULT_WATCH_HANG || fate->kind == SIM_FAULT_WATCH_LAG) &&
           sim_now_us() >= fate->at_us && sim_now_us() < fate->until_us;
}

static bool stream_is_cut_off(const struct call *call)
{
    const int seat = sim_instance_seat(call->instance);

    return seat >= 0 &&
           (cut_off_until[seat][call->side] > sim_now_us() ||
            (sim_now_us() >= frozen[seat].from_us && sim_now_us() < frozen[seat].until_us));
}

static void stream_wait(const struct stream_fate *fate)
{
    struct ccm_ks_cluster *kube = sim_net.kube;

    if (stream_is_silent(fate)) {
        sim_sleep_us(500000);
        return;
    }
    ccm_lock(&kube->lock);
    (void)ccm_clock_cond_wait(&kube->changed, &kube->lock, ccm_clock_now_ms() + STREAM_POLL_MS);
    ccm_unlock(&kube->lock);
}

static void stream_note_open(struct call *call)
{
    for (size_t i = 0; i < CRASH_STREAMS; i++) {
        if (streams[i] == NULL) {
            streams[i] = call;
            call->place = i + 1;
            return;
        }
    }
    sim_fail("more than %d streams are open", CRASH_STREAMS);
}

static int stream_read(struct call *call, struct ccm_buf *piece)
{
    int r = 0;

    ccm_buf_reset(piece);
    sim_atomic(true);
    r = call->reply.stream.next(call->reply.stream.self, piece, 0);
    sim_atomic(false);
    return r;
}

static int ticket_run_stream(struct net_http_ticket *ticket, struct call *call,
                             const struct sim_fault *fault)
{
    const struct net_exchange *exchange = ticket->exchange;
    const struct stream_fate fate = stream_choose_fate(fault);
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf piece = { 0 };
    int64_t heard_us = sim_now_us();
    int r = exchange->on_head == NULL ? 0 : exchange->on_head(exchange->arg, call->reply.status);

    stream_note_open(call);
    while (r >= 0) {
        if (ticket_is_cancelled(ticket)) {
            return ticket_fail_cancelled(ticket, CCM_HTTP_MAYBE_RUN);
        }
        if (exchange->idle_ms > 0 && sim_now_us() - heard_us > exchange->idle_ms * 1000) {
            return ticket_fail(ticket, -ETIMEDOUT, CCM_ERROR_TRANSIENT, CCM_HTTP_MAYBE_RUN,
                               "http://sim: silent for too long");
        }
        if (fate.kind == SIM_FAULT_WATCH_CUT && sim_now_us() >= fate.at_us) {
            return ticket_fail_cut(ticket);
        }
        if (stream_is_silent(&fate) || stream_is_cut_off(call)) {
            stream_wait(&fate);
            continue;
        }
        r = stream_read(call, &piece);
        if (piece.len > 0) {
            if (sim_net.event != NULL) {
                sim_net.event(call->req.path, ccm_buf_str(&piece));
            }
            int taken = give_chunk(ticket, ccm_buf_str(&piece), piece.len);

            if (taken >= 0 && fate.kind == SIM_FAULT_WATCH_REPEAT) {
                taken = give_chunk(ticket, ccm_buf_str(&piece), piece.len);
            }
            heard_us = sim_now_us();
            r = taken < 0 ? taken : r;
        } else if (r == 0) {
            stream_wait(&fate);
        }
    }
    return r == -ENODATA ? 0 : ticket_fail_cut(ticket);
}

static int ticket_answer(struct net_http_ticket *ticket, struct call *call)
{
    CCM_CLEANUP(net_http_head_fini)
    struct net_http_head head = { .text = { .max = NET_HTTP_HEAD_MAX } };
    const char *type = call->reply.content_type;
    char line[512];
    int len = snprintf(line, sizeof(line), "HTTP/1.1 %u X\r\n", call->reply.status);

    check_memory(net_http_head_line(&head, line, (size_t)len));
    len = snprintf(line, sizeof(line), "content-type: %s\r\n", type == NULL ? "" : type);
    check_memory(net_http_head_line(&head, line, (size_t)len));
    for (size_t i = 0; i < call->reply.headers.len; i++) {
        const struct ccm_sim_param *one = &call->reply.headers.items[i];

        len = snprintf(line, sizeof(line), "%s: %s\r\n", one->name, one->value);
        check_memory(net_http_head_line(&head, line, (size_t)len));
    }
    return net_http_response_build(call->reply.status, &head, &call->reply.body, &ticket->response);
}

static void call_make_from(struct call *call, const struct net_exchange *exchange)
{
    call_make(call, exchange->method, exchange->url, exchange->body, exchange->body_len);
    for (size_t i = 0; exchange->headers != NULL && exchange->headers[i] != NULL; i++) {
        call_add_header(call, exchange->headers[i]);
    }
    if (exchange->bearer != NULL && ccm_secret_text(exchange->bearer)[0] != '\0') {
        char line[4096];

        (void)snprintf(line, sizeof(line), "authorization: Bearer %s",
                       ccm_secret_text(exchange->bearer));
        call_add_header(call, line);
    }
    call_identify(call);
}

static void ticket_crash(const struct sim_fault *fault)
{
    const int seat = sim_instance_seat(sim_instance());

    if (fault->kind == SIM_FAULT_CRASH && seat >= 0) {
        sim_seat_crash(seat, RESTART_US);
    }
}

/* As a virtual machine that its host stops, at times for longer than the Lease. */
static void ticket_pause(const struct sim_fault *fault)
{
    const int64_t us = (int64_t)(fault->draw % 40000000);

    if (fault->kind == SIM_FAULT_PAUSE && sim_instance_seat(sim_instance()) >= 0) {
        sim_pause(sim_instance(), sim_now_us() + us);
        sim_sleep_us(us);
    }
}

/* How the job ends that the call starts. One that is lost has done its work. A load balancer that
 * could not be made is deleted by a person (see nlb_read_check_status()), so none fails here. */
static void job_plan(const struct call *call, const struct sim_fault *fault)
{
    static const char *const outcomes[] = { "succeed", "lose", "fail" };
    const bool creates = strcmp(call->name.action, "CreateLoadBalancer") == 0;
    char json[128];

    (void)snprintf(json, sizeof(json), "{\"op\":\"jobs\",\"outcome\":\"%s\",\"ms\":%u}",
                   outcomes[creates ? 0 : fault->draw % 3], (unsigned)(fault->draw / 3 % 60000));
    (void)sim_control(SIM_CLOUD, "POST", "/_sim/edit", json, NULL); /* a known operation */
}

/* It may have started none. */
static void job_unplan(void)
{
    (void)sim_control(SIM_CLOUD, "POST", "/_sim/edit", "{\"op\":\"jobs\",\"clear\":true}", NULL);
}

static void ticket_note_effect(const struct call *call)
{
    const struct sim_call done = call_describe(call);

    if (sim_net.effect != NULL && done.instance != SIM_WORLD_SIDE && done.writes &&
        done.status < 300 && strstr(done.path, "/events") == NULL &&
        strstr(done.path, "/leases") == NULL) {
        sim_net.effect(&done);
    }
}

/* The answer is on its way back. */
static void ticket_receive(struct net_http_ticket *ticket, struct call *call,
                           const struct sim_fault *fault, int64_t deadline_us)
{
    const struct net_exchange *exchange = ticket->exchange;
    const bool is_stream = exchange->on_chunk != NULL && call->reply.status / 100 == 2;

    if (ticket_travel(ticket, 0, deadline_us, CCM_HTTP_MAYBE_RUN) < 0) {
        return;
    }
    if (fault->kind == SIM_FAULT_LOST_AFTER || fault->kind == SIM_FAULT_TRUNCATED ||
        call->reply.drop) {
        (void)ticket_fail_cut(ticket);
        return;
    }
    if (is_stream && call->reply.stream.next != NULL) {
        ticket->result = ticket_run_stream(ticket, call, fault);
    } else if (is_stream) {
        if (exchange->on_head != NULL) {
            (void)exchange->on_head(exchange->arg, call->reply.status); /* the body decides */
        }
        ticket->result =
            give_chunk(ticket, ccm_buf_str(&call->reply.body), call->reply.body.len) < 0
                ? ticket_fail_cut(ticket)
                : 0;
    }
    if (is_stream) {
        ccm_buf_reset(&call->reply.body);
    }
    if (ticket->result == 0) {
        ticket->result = ticket_answer(ticket, call);
    }
}

static bool fault_answers(enum sim_fault_kind kind)
{
    return kind == SIM_FAULT_429 || kind == SIM_FAULT_500 || kind == SIM_FAULT_503;
}

static void ticket_send(struct net_http_ticket *ticket, struct call *call, int64_t deadline_us)
{
    const bool is_stream = ticket->exchange->on_chunk != NULL;
    struct sim_fault fault =
        sim_fault_pick(call->name.action, is_stream ? call->req.path : sim_key(), is_stream);
    const int64_t more_us = fault.kind == SIM_FAULT_DELAYED ? (int64_t)(fault.draw % 40000000) : 0;

    if ((fault.kind == SIM_FAULT_CRASH || fault.kind == SIM_FAULT_PAUSE) && !call_writes(call)) {
        fault.kind = SIM_FAULT_NONE;
    }
    if (fault.kind == SIM_FAULT_JOB && !call_starts_job(call)) {
        fault.kind = SIM_FAULT_NONE;
    }
    if (fault.kind != SIM_FAULT_NONE) {
        sim_trace("fault %016llx: %s: %s %s", (unsigned long long)fault.id,
                  sim_fault_name(fault.kind), call->name.action, sim_key());
        sim_story_add("fault at instance %d: %s: %s %s", sim_instance(), sim_fault_name(fault.kind),
                      call->name.action, sim_key());
    }
    ticket_pause(&fault);
    if (ticket_travel(ticket, more_us, deadline_us, CCM_HTTP_MAYBE_RUN) < 0) {
        return;
    }
    if (!ccm_gate_is_open(ticket->exchange->gate)) {
        (void)ticket_fail_cancelled(ticket, CCM_HTTP_NOT_SENT);
        return;
    }
    if (fault.kind == SIM_FAULT_LOST_BEFORE) {
        (void)ticket_fail_cut(ticket);
        return;
    }
    if (fault_answers(fault.kind)) {
        call_answer_fault(call, &fault);
    } else if (fault.kind == SIM_FAULT_HTML) {
        call->reply.content_type = "text/html";
        ccm_buf_adds(&call->reply.body, "<html><body>welcome</body></html>");
    } else {
        if (fault.kind == SIM_FAULT_JOB) {
            job_plan(call, &fault);
        }
        call_execute(call);
        if (fault.kind == SIM_FAULT_JOB) {
            job_unplan();
        }
        ticket_note_effect(call);
        ticket_crash(&fault);
    }
    ticket_receive(ticket, call, &fault, deadline_us);
}

static void ticket_run(struct net_http_ticket *ticket)
{
    const int64_t deadline_us = ticket_deadline_us(ticket);
    const int seat = sim_instance_seat(sim_instance());
    struct call call;

    call_make_from(&call, ticket->exchange);
    if (ticket_is_cancelled(ticket)) {
        (void)ticket_fail_cancelled(ticket, CCM_HTTP_NOT_SENT);
    } else if (seat >= 0 && cut_off_until[seat][call.side] > sim_now_us()) {
        ticket_sleep_until(ticket, sim_now_us() + (int64_t)CONNECT_MS * 1000);
        (void)ticket_fail(ticket, -ETIMEDOUT, CCM_ERROR_TRANSIENT, CCM_HTTP_NOT_SENT,
                          "http://sim: no connection");
    } else {
        ticket_send(ticket, &call, deadline_us);
    }
    call_fini(&call);
}

static void *ticket_main(void *arg)
{
    struct net_http_ticket *ticket = arg;

    ticket_run(ticket);
    if (ticket->exchange->on_end != NULL) {
        ticket->exchange->on_end(ticket->exchange->arg);
    }
    return NULL;
}

/* --- what net/http.h promises --- */

struct net_http *net_http_new(struct ccm_error *err)
{
    (void)err;
    return calloc(1, sizeof(struct net_http));
}

static void http_wake_all(struct net_http *http)
{
    sim_wake(SIM_WAIT_COND, &http->changed, false);
    sim_wake(SIM_WAIT_COND, &sim_net.kube->changed, false);
}

void net_http_stop(struct net_http *http)
{
    http->stopping = true;
    http_wake_all(http);
}

void net_http_free(struct net_http *http)
{
    free(http);
}

void net_http_resume(struct net_http *http)
{
    http_wake_all(http);
}

void ccm_http_cancel(struct net_http *http, struct ccm_cancel *cancel)
{
    atomic_store(&cancel->cancelled, true);
    http_wake_all(http);
}

void net_http_give_up(struct net_http *http, struct net_http_ticket *ticket)
{
    ticket->given_up = true;
    http_wake_all(http);
}

int net_http_begin(struct net_http *http, const struct net_exchange *exchange,
                   struct net_http_ticket **ret, struct ccm_error *err)
{
    struct net_http_ticket *ticket = calloc(1, sizeof(*ticket));

    check_memory(ticket == NULL ? -ENOMEM : 0);
    ticket->http = http;
    ticket->exchange = exchange;
    if (pthread_create(&ticket->thread, NULL, ticket_main, ticket) != 0) {
        free(ticket);
        return ccm_error_set(err, -ENOMEM, CCM_ERROR_TRANSIENT, "no room for another thread");
    }
    *ret = ticket;
    return 0;
}

static int ticket_end(struct net_http_ticket *ticket, struct ccm_http_response **ret,
                      uint64_t *ret_phase, struct ccm_error *err)
{
    const int r = ticket->result;

    if (r == 0 && ret != NULL) {
        *ret = CCM_STEAL(ticket->response);
    }
    if (r < 0 && err != NULL) {
        ccm_error_copy(err, &ticket->err);
    }
    if (r < 0 && ret_phase != NULL) {
        *ret_phase = ticket->phase;
    }
    net_http_response_free(ticket->response);
    return r;
}

int net_http_end(struct net_http *http, struct net_http_ticket *ticket,
                 struct ccm_http_response **ret, uint64_t *ret_phase, struct ccm_error *err)
{
    int r = 0;

    (void)http;
    (void)pthread_join(ticket->thread, NULL); /* cannot fail */
    r = ticket_end(ticket, ret, ret_phase, err);
    free(ticket);
    return r;
}

int net_http_do(struct net_http *http, const struct net_exchange *exchange,
                struct ccm_http_response **ret, uint64_t *ret_phase, struct ccm_error *err)
{
    struct net_http_ticket ticket = { .http = http, .exchange = exchange };

    ticket_run(&ticket);
    return ticket_end(&ticket, ret, ret_phase, err);
}
