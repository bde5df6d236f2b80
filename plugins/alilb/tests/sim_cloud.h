/*
 * cloudsim in the test's own process, behind the HTTP of a fake host: the client under test is the
 * real one, and every request is answered before the next one is made. A test arranges what the
 * cloud holds by its actions, lets single calls or jobs fail, and looks at what was sent.
 *
 * The client's VPC is vpc-1 (vSwitches vsw-1 to vsw-4, instance i-11); in vpc-9 there are vsw-a to
 * vsw-c and i-1 to i-3. Elastic addresses eip-1 and eip-7; further things as in sim_cloud.c. Jobs
 * have ended when somebody asks for them. One cloud at a time, one thread.
 */
#ifndef CCM_ALILB_TESTS_SIM_CLOUD_H
#define CCM_ALILB_TESTS_SIM_CLOUD_H

#include "alicloud/tests/setup.h"
#include "alilb/action.h"
#include "sim/cloud/cloud.h"
#include "util/buf.h"

#include <stdbool.h>
#include <stddef.h>

#define SIM_RULES 16

struct sim_rule {
    const char *action;  /* NULL = the write that comes first, skip = 0, and all of that name */
    const char *code;    /* refused with it, and not executed; NULL = not refused */
    const char *job;     /* how its job ends: "Failed", "Processing" (never), "" (nobody knows it);
                            NULL = well */
    const char *message; /* of a refusal; NULL = "refused" */
    unsigned http;       /* of a refusal; 0 = 400 */
    bool lost;           /* the answer does not arrive, however often it is tried, */
    bool executed;       /* but the call is executed */
    size_t skip;         /* so many calls go well before */
    size_t times;        /* 0 = always */
};

struct sim {
    struct setup setup;
    struct alilb_call call;
    struct ccm_cloud *cloud;
    struct sim_rule rules[SIM_RULES];
    size_t rule_count;
    struct ccm_buf log; /* see sim_log() */
    struct ccm_buf body;
    size_t struck;          /* calls that met a rule */
    struct ccm_buf refused; /* what the cloud itself refused before one did, "ACTION CODE " */
    void (*watch)(void *arg, const struct fake_request *request); /* before a call runs; or NULL */
    void *watch_arg;
};

void sim_begin(struct sim *sim);
void sim_end(struct sim *sim);
void sim_rule(struct sim *sim, const struct sim_rule *rule);
/* Names of the actions since the last sim_forget(), each with a blank behind it; polls are "*".
 * Calls that sim_answer() answers are not among them. */
const char *sim_log(struct sim *sim);
/* More of what a fixture file has (sim/cloud/fixtures.c); apostrophes stand for quotes. */
void sim_add(struct sim *sim, const char *json);
/* Drop the log, all rules, and what came of them. */
void sim_forget(struct sim *sim);
/* Parameter of the last call of that action; "" when it was not sent. */
const char *sim_param(struct sim *sim, const char *action, const char *name);
/* An answer for the next call of that action that no cloud gives; apostrophes stand for quotes. */
void sim_answer(struct sim *sim, const char *action, const char *json);

/* What is made next, if its id begins as this one does, is called so. */
void sim_next_id(struct sim *sim, const char *id);
/* Somebody calls an action at the console, and what it begins has ended: pairs of name and value,
 * ended by a NULL. What is made is called `id` (NULL: whatever the cloud calls it). */
#define SIM_DO(sim, product, id, action, ...)                                                      \
    sim_do((sim), (product), (id), (action), (const char *const[]){ __VA_ARGS__, NULL })
void sim_do(struct sim *sim, enum ccm_cloud_product product, const char *id, const char *action,
            const char *const *pairs);

/* Dual-stack network load balancer nlb-1 in VPC vpc-9, zones z-a and z-b, not on the internet. */
void sim_put_nlb(struct sim *sim);
/* For it: listener lsn-{port}@{port} to group sgp-{port}, named g{port}, with server i-1 on port
 * 30000 + {port}. One of TLS has certificate "own". */
void sim_put_nlb_port(struct sim *sim, const char *protocol, uint16_t port);

#endif
