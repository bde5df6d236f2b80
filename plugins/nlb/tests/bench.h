/*
 * A plan on its way into cloudsim: plan, mirror, model, and what came out of the run. Built by
 * hand. One thread.
 */
#ifndef CCM_NLB_TESTS_BENCH_H
#define CCM_NLB_TESTS_BENCH_H

#include "alilb/tests/sim_cloud.h"
#include "nlb/apply.h"

#define BENCH_NAME "a5e4dbfc9c2ae4642b0335607860aef6"

struct bench {
    struct sim sim;
    struct lbc_plan plan;
    struct nlb_state have;
    struct nlb_state want; /* groups that steps are about */
    struct nlb_model model;
    struct lbc_problems problems;
    struct alilb_apply apply;
    struct lbc_cloud cloud;
    uint32_t attempt;
};

void bench_begin(struct bench *bench);
void bench_end(struct bench *bench);
/* Run the plan. deletion: without a model. */
int bench_run(struct bench *bench, bool deletion);
/* Another, still empty plan on the same mirror; the log and the rules of the cloud start anew. */
void bench_again(struct bench *bench);
/* All problems of the run. */
const char *bench_told(const struct bench *bench);
void bench_set(char **text, const char *value);

/* Append a step. */
struct nlb_step *bench_step(struct bench *bench, unsigned type, unsigned stage);
struct nlb_step *bench_group_step(struct bench *bench, unsigned type, unsigned stage, uint16_t port,
                                  const char *name);
/* The desired group of that name, made when it is asked for first. */
struct nlb_group *bench_want(struct bench *bench, const char *name, uint16_t port);
/* The step is about the present group or listener of that id. */
void bench_at(struct bench *bench, struct nlb_step *step, const char *id);
/* With one server, on port 30000 + port. */
struct nlb_step *bench_server_step(struct bench *bench, unsigned type, unsigned stage,
                                   uint16_t port, const char *name, const char *id);
struct nlb_step *bench_listener_step(struct bench *bench, unsigned type, unsigned stage,
                                     uint16_t port, const char *group);
/* In two zones, with a tag. */
struct nlb_step *bench_create_lb(struct bench *bench);
void bench_put_server(struct lbc_backends *to, const char *id, uint16_t port);

/* Into cloud and mirror: load balancer nlb-1 in VPC vpc-9, listener lsn-{port}@{port} to group
 * sgp-{port}, named g{port}, with server i-1. TCP unless it is said; TCPSSL with certificate "own".
 */
void bench_put_present(struct bench *bench, uint16_t port);
void bench_put_present_of(struct bench *bench, enum lbc_protocol protocol, uint16_t port);

#endif
