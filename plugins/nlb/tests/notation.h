/*
 * States and models in a few words, for tests of the plan. A line is one thing, words are separated
 * by blanks:
 *
 *     model reused override preserve keep incomplete
 *     lb nlb-1 type=Internet +cross=false      "-": none. +: told
 *     zone zone-a vsw-1 10.0.0.9 eip-1
 *     sg sg-1 sg-2
 *     tag k=v
 *     group sgp-1 80/TCP type=Ip any addonly +Scheduler=rr
 *     server i-1:80=100                        of the last group; eni-1/10.0.0.1:80=100 for pods,
 *     server i-2:80=100 !hand                  described otherwise: !TEXT; also: leaving
 *     listener lsn-1 TCP 80 sgp-1 +Cps=5       desired: "-", the group's key 80/TCP, chosen=sgp-9
 *     certs a b                                of the last listener
 *     guard sg-own
 *     rule r-1 accept 10.0.0.0/8 1 !other
 */
#ifndef CCM_NLB_TESTS_NOTATION_H
#define CCM_NLB_TESTS_NOTATION_H

#include "nlb/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Fails the test when the text is not of that form. */
void read_state(struct nlb_state *state, const char *text);
void read_model(struct nlb_model *model, const char *text);

/* The plan of lbc_plan_ensure() as text; what went to problems in `problems` (may be NULL). */
struct plan_question {
    const char *name;
    const char *want;
    const char *have;
    const char *plan;
    const char *problem; /* part of the text; NULL = none */
    size_t batch;        /* 0 = 200 */
};
void check_plans(const struct plan_question *questions, size_t count);

/* Stages must not go down, and no two steps of a stage may change the same thing. */
void check_stages(const struct lbc_plan *plan);

/* Models of tests own their state only. */
void model_end(struct nlb_model *model);

#endif
