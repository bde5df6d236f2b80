/*
 * A cloud that says yes: every write succeeds, names what it made and starts a job that has ended
 * when it is asked for. A test changes single answers and looks at what was sent. One at a time.
 */
#ifndef CCM_NLB_TESTS_ECHO_H
#define CCM_NLB_TESTS_ECHO_H

#include "alicloud/tests/setup.h"
#include "alilb/action.h"
#include "util/buf.h"

#include <stdbool.h>
#include <stddef.h>

#define ECHO_RULES 16

struct echo_rule {
    const char *action;
    const char *code;    /* refused with it; NULL = not refused */
    const char *job;     /* status of its job, "" = nobody knows it; NULL = Succeeded */
    const char *message; /* of a refusal; NULL = "refused" */
    unsigned http;       /* of a refusal; 0 = 400 */
    bool lost;           /* the answer does not arrive, however often it is tried */
    size_t skip;         /* so many calls go well before */
    size_t times;        /* 0 = always */
};

struct echo {
    struct setup setup;
    struct alilb_call call;
    struct echo_rule rules[ECHO_RULES];
    size_t rule_count;
    struct ccm_buf log; /* see echo_log() */
    struct ccm_buf body;
    const char *lb_status; /* of GetLoadBalancerAttribute; NULL = Active */
    const char *jobs[256]; /* status by number */
    size_t job_count;
    size_t made;
    size_t calls;
};

void echo_begin(struct echo *echo);
void echo_end(struct echo *echo);
void echo_rule(struct echo *echo, const struct echo_rule *rule);
/* Names of the actions since the last echo_forget(), each with a blank behind it; polls are "*".
 * Calls that echo_answer() answers are not among them. */
const char *echo_log(struct echo *echo);
/* Drop the log and all rules. */
void echo_forget(struct echo *echo);
/* Parameter of the last call of that action; "" when it was not sent. */
const char *echo_param(struct echo *echo, const char *action, const char *name);
/* An answer for the next call of that action; apostrophes stand for quotes. */
void echo_answer(struct echo *echo, const char *action, const char *json);

#endif
