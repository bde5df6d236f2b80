#include "life.h"

#include "order.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FIRST_MS   5000
#define PODS_MAX   40
#define REST_EVERY 10    /* lives */
#define TROUBLE_MS 12000 /* between two, on average, with the usual share */

/* While a value is refused, a Service is not as it would be without a past. */
struct window {
    int64_t from_ms;
    int64_t until_ms;
};

#define WINDOWS_MAX 256

struct drawing {
    struct window windows[WINDOWS_MAX];
    size_t window_count;
    struct sim_history *history;
    const struct sim_life_options *options;
    uint64_t state;
};

/* One Service while its lines are drawn. */
struct life {
    unsigned number;
    unsigned slot; /* the first two may use the load balancer of a person, each its own */
    bool nlb;
    bool reuse;
    bool is_balanced; /* its type is LoadBalancer */
    unsigned ports;   /* row of the table */
    int64_t at_ms;
};

static const char *const port_sets[] = { "80/TCP", "80/TCP,443/TCP", "80/TCP,53/UDP",
                                         "443/TCP,8080/TCP", "80/TCP,443/TCP,8080/TCP" };
#define PORT_SETS (sizeof(port_sets) / sizeof(port_sets[0]))

/* Annotations with values that both follow each other and mean something; all of a table fit. */
static const char *const clb_values[] = {
    "scheduler=rr",
    "scheduler=wrr",
    "persistence-timeout=120",
    "persistence-timeout=60",
    "established-timeout=60",
    "established-timeout=300",
    "health-check-interval=5",
    "health-check-interval=9",
    "healthy-threshold=4",
    "healthy-threshold=6",
    /* of the load balancer itself */
    "name=mine",
    "delete-protection=on",
    "delete-protection=off",
    "additional-resource-tags=a=1",
    "additional-resource-tags=b=2",
    "modification-protection=NonProtection",
};
#define OF_LISTENERS 10 /* so many of them; on the load balancer of a person what is set stays */
static const char *const nlb_values[] = {
    "scheduler=wrr",           "scheduler=rr",
    "idle-timeout=15",         "idle-timeout=20",
    "health-check-interval=5", "health-check-interval=9",
    "healthy-threshold=4",     "cps=1000",
    "cross-zone-enabled=on",   "additional-resource-tags=a=1",
};
#define NLB_OF_LISTENERS 8 /* as OF_LISTENERS */
/* What no row takes, and what follows it: an annotation that is taken away leaves what it has set.
 */
static const char *const bad_values[] = {
    "scheduler=fastest|rr",
    "health-check-interval=often|5",
    "healthy-threshold=77|4",
};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t drawing_pick(struct drawing *drawing, uint64_t many)
{
    return sim_next(&drawing->state) % many;
}

static void life_draw_pods(struct drawing *drawing, const struct life *life)
{
    static const unsigned counts[] = { 0, 1, 1, 2, 3, 5, 8 };
    const unsigned count = counts[drawing_pick(drawing, COUNT(counts))];
    const unsigned first = (unsigned)drawing_pick(drawing, PODS_MAX);
    char ready[128] = "";
    char unready[128] = "";

    for (unsigned i = 0; i < count; i++) {
        char *list = drawing_pick(drawing, 10) == 0 ? unready : ready;
        const size_t len = strlen(list);

        (void)snprintf(list + len, sizeof(ready) - len, "%s%u", len == 0 ? "" : ",",
                       (first + i * 7) % PODS_MAX);
    }
    sim_history_add(drawing->history, life->at_ms, "slice s%u pods=%s%s%s", life->number, ready,
                    unready[0] == '\0' ? "" : " unready=", unready);
}

static void life_draw_begin(struct drawing *drawing, struct life *life)
{
    const struct sim_life_options *options = drawing->options;
    const bool eni = drawing_pick(drawing, 4) == 0;
    const bool slice_first = drawing_pick(drawing, 4) == 0;
    char reuse[32] = "";

    life->nlb = options->nlb && (!options->clb || drawing_pick(drawing, 3) == 0);
    life->reuse = life->slot < 2 && drawing_pick(drawing, 3) == 0;
    life->ports = (unsigned)drawing_pick(drawing, PORT_SETS);
    life->is_balanced = true;
    if (slice_first) {
        life_draw_pods(drawing, life);
        life->at_ms += (int64_t)drawing_pick(drawing, 500);
    }
    if (life->reuse) {
        (void)snprintf(reuse, sizeof(reuse), " reuse=reuse-%s%u", life->nlb ? "nlb-" : "",
                       life->slot);
    }
    sim_history_add(drawing->history, life->at_ms, "service s%u product=%s ports=%s policy=%s%s%s",
                    life->number, life->nlb ? "nlb" : "clb", port_sets[life->ports],
                    drawing_pick(drawing, 3) == 0 ? "Local" : "Cluster", eni ? " eni=1" : "",
                    reuse);
    if (!slice_first) {
        life->at_ms += (int64_t)drawing_pick(drawing, 500);
        life_draw_pods(drawing, life);
    }
}

static void life_draw_annotation(struct drawing *drawing, const struct life *life)
{
    const size_t clb_count = life->reuse ? OF_LISTENERS : COUNT(clb_values);
    const size_t nlb_count = life->reuse ? NLB_OF_LISTENERS : COUNT(nlb_values);
    const char *value = life->nlb ? nlb_values[drawing_pick(drawing, nlb_count)]
                                  : clb_values[drawing_pick(drawing, clb_count)];

    sim_history_add(drawing->history, life->at_ms, "annotate s%u %s", life->number, value);
}

static void drawing_open_window(struct drawing *drawing, int64_t from_ms)
{
    if (drawing->window_count < WINDOWS_MAX) {
        drawing->windows[drawing->window_count++] = (struct window){ from_ms, INT64_MAX };
    }
}

/* Set, and mended some time later. */
static void life_draw_bad_value(struct drawing *drawing, struct life *life)
{
    const char *pair = bad_values[drawing_pick(drawing, COUNT(bad_values))];
    const int key = (int)strcspn(pair, "=");
    const int bad = (int)strcspn(pair, "|");

    sim_history_add(drawing->history, life->at_ms, "annotate s%u %.*s", life->number, bad, pair);
    drawing_open_window(drawing, life->at_ms);
    life->at_ms += 500 + (int64_t)drawing_pick(drawing, 8000);
    sim_history_add(drawing->history, life->at_ms, "annotate s%u %.*s=%s", life->number, key, pair,
                    pair + bad + 1);
    drawing->windows[drawing->window_count - 1].until_ms = life->at_ms;
}

/* Annotation id names none until the Service is deleted. One of a person would keep what was set on
 * it for a moment. */
static void life_draw_id(struct drawing *drawing, struct life *life)
{
    sim_history_add(drawing->history, life->at_ms, "annotate s%u id=lb-none", life->number);
    drawing_open_window(drawing, life->at_ms);
    life->at_ms += (int64_t)drawing_pick(drawing, 3000);
    drawing->windows[drawing->window_count - 1].until_ms = life->at_ms;
}

static void life_draw_type(struct drawing *drawing, struct life *life)
{
    life->is_balanced = !life->is_balanced;
    sim_history_add(drawing->history, life->at_ms, "spec s%u type=%s%s", life->number,
                    life->is_balanced ? "LoadBalancer" : "ClusterIP",
                    life->is_balanced && life->nlb ? " class=alibabacloud.com/nlb" : "");
}

static void life_draw_change(struct drawing *drawing, struct life *life)
{
    const uint64_t what = drawing_pick(drawing, 21);

    if (what == 20 && !life->reuse && drawing->options->console) {
        sim_history_add(drawing->history, life->at_ms, "console s%u do=drop-listener",
                        life->number);
    } else if (what < 8) {
        life_draw_pods(drawing, life);
    } else if (what < 12) {
        life->ports = (unsigned)drawing_pick(drawing, PORT_SETS);
        sim_history_add(drawing->history, life->at_ms, "spec s%u ports=%s", life->number,
                        port_sets[life->ports]);
        life_draw_pods(drawing, life);
    } else if (what < 15) {
        life_draw_annotation(drawing, life);
    } else if (what < 16) {
        life_draw_bad_value(drawing, life);
    } else if (what < 18 && life->is_balanced) {
        sim_history_add(drawing->history, life->at_ms, "spec s%u policy=%s", life->number,
                        drawing_pick(drawing, 2) == 0 ? "Local" : "Cluster");
    } else if (what < 19) {
        life_draw_type(drawing, life);
    } else {
        sim_history_add(drawing->history, life->at_ms, "noslice s%u", life->number);
        life->at_ms += (int64_t)drawing_pick(drawing, 3000);
        life_draw_pods(drawing, life);
    }
}

/* Another certificate; at times the Secret is missing for a while. */
static void life_draw_secret(struct drawing *drawing, struct life *life)
{
    if (drawing_pick(drawing, 2) == 0) {
        sim_history_add(drawing->history, life->at_ms, "nosecret c%u", life->number);
        drawing_open_window(drawing, life->at_ms);
        life->at_ms += (int64_t)drawing_pick(drawing, 8000);
        drawing->windows[drawing->window_count - 1].until_ms = life->at_ms;
    }
    sim_history_add(drawing->history, life->at_ms, "secret c%u word=w%u", life->number,
                    (unsigned)drawing_pick(drawing, 3));
}

/* A Gateway, a route to a Service behind it, and a ListenerSet now and then. */
static int64_t life_draw_gateway(struct drawing *drawing, unsigned number, int64_t at_ms)
{
    static const char *const listeners[] = { "tcp:80", "tcp:80,more:443", "tcp:8080",
                                             "tcp:80,tls:443/TLS", "tcp:80,tls:443/TLS" };
    struct life life = { .number = number, .nlb = true, .at_ms = at_ms };
    struct sim_history *history = drawing->history;
    const unsigned changes = 3 + (unsigned)drawing_pick(drawing, 6);
    bool has_set = false;

    sim_history_add(history, life.at_ms, "service s%u type=NodePort ports=80/TCP", number);
    life_draw_pods(drawing, &life);
    sim_history_add(history, life.at_ms, "secret c%u word=w0", number);
    sim_history_add(history, life.at_ms, "gateway g%u listeners=tcp:80", number);
    life.at_ms += (int64_t)drawing_pick(drawing, 1000);
    sim_history_add(history, life.at_ms, "route r%u gateway=g%u section=tcp backends=s%u:80:1",
                    number, number, number);
    for (unsigned i = 0; i < changes; i++) {
        const uint64_t what = drawing_pick(drawing, 10);

        life.at_ms += 200 + (int64_t)drawing_pick(drawing, 8000);
        if (what < 4) {
            life_draw_pods(drawing, &life);
        } else if (what < 6) {
            sim_history_add(history, life.at_ms, "gateway g%u listeners=%s secret=c%u", number,
                            listeners[drawing_pick(drawing, COUNT(listeners))], number);
        } else if (what >= 8) {
            life_draw_secret(drawing, &life);
        } else if (what < 7) {
            sim_history_add(history, life.at_ms, "unroute r%u section=tcp", number);
            life.at_ms += (int64_t)drawing_pick(drawing, 5000);
            sim_history_add(history, life.at_ms,
                            "route r%u gateway=g%u section=tcp backends=s%u:80:%u", number, number,
                            number, (unsigned)drawing_pick(drawing, 3));
        } else {
            sim_history_add(history, life.at_ms, "set l%u gateway=g%u listeners=extra:%u", number,
                            number, 9000 + (unsigned)drawing_pick(drawing, 2));
            has_set = true;
        }
    }
    life.at_ms += 200 + (int64_t)drawing_pick(drawing, 5000);
    if (has_set) {
        sim_history_add(history, life.at_ms, "unset l%u", number);
    }
    sim_history_add(history, life.at_ms + (int64_t)drawing_pick(drawing, 3000),
                    "unroute r%u section=tcp", number);
    life.at_ms += (int64_t)drawing_pick(drawing, 3000);
    sim_history_add(history, life.at_ms, "ungateway g%u", number);
    sim_history_add(history, life.at_ms + (int64_t)drawing_pick(drawing, 3000), "nosecret c%u",
                    number);
    life.at_ms += (int64_t)drawing_pick(drawing, 3000);
    sim_history_add(history, life.at_ms, "delete s%u", number);
    sim_history_add(history, life.at_ms, "noslice s%u", number);
    return life.at_ms + (int64_t)drawing_pick(drawing, 4000);
}

/* Returns when the next one of the slot may begin. */
static int64_t life_draw(struct drawing *drawing, unsigned number, unsigned slot, int64_t at_ms)
{
    struct life life = { .number = number, .slot = slot, .at_ms = at_ms };
    const unsigned changes = 3 + (unsigned)drawing_pick(drawing, 8);

    life_draw_begin(drawing, &life);
    for (unsigned i = 0; i < changes; i++) {
        life.at_ms += 200 + (int64_t)drawing_pick(drawing, 5000);
        life_draw_change(drawing, &life);
    }
    life.at_ms += 200 + (int64_t)drawing_pick(drawing, 5000);
    if (!life.reuse && drawing_pick(drawing, 6) == 0) {
        life_draw_id(drawing, &life);
    }
    sim_history_add(drawing->history, life.at_ms, "delete s%u", number);
    sim_history_add(drawing->history, life.at_ms + (int64_t)drawing_pick(drawing, 2000),
                    "noslice s%u", number);
    return life.at_ms + (int64_t)drawing_pick(drawing, 4000);
}

/* --- what happens besides --- */

static void trouble_draw_node(struct drawing *drawing, int64_t at_ms)
{
    static const char *const pairs[][2] = { { "unready", "ready" },
                                            { "cordon", "uncordon" },
                                            { "exclude", "include" },
                                            { "remove", "add" } };
    const size_t pair = drawing_pick(drawing, COUNT(pairs));
    const unsigned node = 1 + (unsigned)drawing_pick(drawing, 6);

    sim_history_add(drawing->history, at_ms, "node node-%u do=%s", node, pairs[pair][0]);
    sim_history_add(drawing->history, at_ms + 1000 + (int64_t)drawing_pick(drawing, 60000),
                    "node node-%u do=%s", node, pairs[pair][1]);
}

static void trouble_draw_instance(struct drawing *drawing, int64_t at_ms)
{
    const unsigned seat = (unsigned)drawing_pick(drawing, drawing->options->seats);

    switch (drawing_pick(drawing, 5)) {
    case 0:
        sim_history_add(drawing->history, at_ms, "crash seat-%u for=%d", seat,
                        200 + (int)drawing_pick(drawing, 20000));
        break;
    case 1:
        sim_history_add(drawing->history, at_ms, "stop seat-%u", seat);
        break;
    case 2:
        sim_history_add(drawing->history, at_ms, "pause seat-%u for=%d", seat,
                        100 + (int)drawing_pick(drawing, 40000));
        break;
    default:
        sim_history_add(drawing->history, at_ms, "cut seat-%u side=%s for=%d", seat,
                        drawing_pick(drawing, 2) == 0 ? "kube" : "cloud",
                        100 + (int)drawing_pick(drawing, 30000));
    }
}

/* A rate of the account, or a quota, is lowered and raised again. */
static void trouble_draw_quota(struct drawing *drawing, int64_t at_ms)
{
    const bool rate = drawing_pick(drawing, 3) != 0;

    sim_history_add(drawing->history, at_ms, "quota cloud %s=%u", rate ? "percent" : "balancers",
                    2 + (unsigned)drawing_pick(drawing, rate ? 30 : 5));
    sim_history_add(drawing->history, at_ms + 1000 + (int64_t)drawing_pick(drawing, 60000),
                    "quota cloud percent=0");
}

/* The leader is killed, and a standby whose caches are old takes over. */
static void trouble_draw_stale(struct drawing *drawing, int64_t at_ms)
{
    const unsigned seats = drawing->options->seats;

    for (unsigned seat = 1; seat < seats; seat++) {
        sim_history_add(drawing->history, at_ms, "stale seat-%u for=%d", seat,
                        10000 + (int)drawing_pick(drawing, 30000));
    }
    sim_history_add(drawing->history, at_ms + (int64_t)drawing_pick(drawing, 8000),
                    "crash seat-0 for=%d", 200 + (int)drawing_pick(drawing, 20000));
}

static void trouble_draw(struct drawing *drawing, int64_t at_ms)
{
    static const char *const orders[] = { "drop",    "end",   "truncate", "garbage",
                                          "silence", "error", "expire",   "compact" };

    switch (drawing_pick(drawing, 9)) {
    case 6:
        trouble_draw_quota(drawing, at_ms);
        break;
    case 7:
        trouble_draw_stale(drawing, at_ms);
        break;
    case 8:
        if (drawing_pick(drawing, 3) == 0) {
            sim_history_add(drawing->history, at_ms, "apiserver all do=%s",
                            drawing_pick(drawing, 2) == 0 ? "behind" : "ahead");
        } else {
            sim_history_add(drawing->history, at_ms, "node node-%u do=%s to=%u",
                            1 + (unsigned)drawing_pick(drawing, 6),
                            drawing_pick(drawing, 2) == 0 ? "move" : "address",
                            7 + (unsigned)drawing_pick(drawing, 12));
        }
        break;
    case 0:
    case 1:
        trouble_draw_node(drawing, at_ms);
        break;
    case 2:
    case 3:
        trouble_draw_instance(drawing, at_ms);
        break;
    case 4:
        sim_history_add(drawing->history, at_ms, "watch all do=%s",
                        orders[drawing_pick(drawing, COUNT(orders))]);
        break;
    default:
        sim_history_add(drawing->history, at_ms, "clock wall by=%d",
                        (int)drawing_pick(drawing, 240000) - 120000);
    }
}

static void drawing_add_rests(struct drawing *drawing, int64_t last_ms)
{
    const unsigned count = drawing->options->lives / REST_EVERY;

    for (unsigned i = 1; i <= count; i++) {
        int64_t at_ms = FIRST_MS + (last_ms - FIRST_MS) * i / (count + 1);

        for (size_t w = 0; w < drawing->window_count; w++) {
            if (at_ms >= drawing->windows[w].from_ms && at_ms <= drawing->windows[w].until_ms) {
                at_ms = drawing->windows[w].until_ms + 1;
                w = (size_t)-1; /* another one may hold that */
            }
        }
        sim_history_add(drawing->history, at_ms, "rest all");
    }
}

int64_t sim_life_draw(struct sim_history *history, const struct sim_life_options *options)
{
    struct drawing drawing = {
        .history = history,
        .options = options,
        .state = sim_mix(options->seed ^ UINT64_C(0x11FE)),
    };
    int64_t slots[16] = { 0 };
    int64_t last_ms = FIRST_MS;

    for (unsigned i = 0; i < options->slots; i++) {
        slots[i] = FIRST_MS + (int64_t)drawing_pick(&drawing, 3000);
    }
    for (unsigned number = 0; number < options->lives; number++) {
        unsigned slot = 0;

        for (unsigned i = 1; i < options->slots; i++) {
            slot = slots[i] < slots[slot] ? i : slot;
        }
        slots[slot] = options->gateway && drawing_pick(&drawing, 8) == 0
                          ? life_draw_gateway(&drawing, number, slots[slot])
                          : life_draw(&drawing, number, slot, slots[slot]);
        last_ms = slots[slot] > last_ms ? slots[slot] : last_ms;
    }
    drawing_add_rests(&drawing, last_ms);
    for (int64_t at_ms = FIRST_MS; options->trouble > 0 && at_ms < last_ms;) {
        at_ms += (int64_t)drawing_pick(&drawing, (uint64_t)TROUBLE_MS * 200 / options->trouble);
        trouble_draw(&drawing, at_ms);
    }
    sim_history_sort(history);
    return history->len == 0 ? 0 : history->items[history->len - 1].at_ms;
}
