/*
 * A Service's wish and what a cloud holds for it, both by chance, and the way there: cloudsim gets
 * the state by its actions, and plans are made and carried out from what is read of it. One thread.
 */
#ifndef CCM_NLB_TESTS_CONVERGE_H
#define CCM_NLB_TESTS_CONVERGE_H

#include "alilb/tests/sim_cloud.h"
#include "notation.h"

#define TRIAL_NEVER SIZE_MAX

struct trial {
    struct sim sim;
    struct nlb_model model; /* what is wanted */
    struct nlb_state start; /* what is there at first */
    struct nlb_state have;  /* what is there, as it was read last */
    const struct ccm_service *service;
    uint64_t random;
    uint64_t seed; /* for messages */
    unsigned next_id;
    size_t fail_at; /* so many writes go well, then one fails; TRIAL_NEVER */
    bool executed;  /* it is executed all the same, and its answer is lost */
};

/* A wish and a state from a seed. */
void trial_init(struct trial *trial, uint64_t seed);
void trial_fini(struct trial *trial);
/* A number below `limit`. */
unsigned trial_dice(struct trial *trial, unsigned limit);

/* A cloud that holds the state. */
void trial_begin_cloud(struct trial *trial);
void trial_end_cloud(struct trial *trial);
/* Read what it holds. */
void trial_read(struct trial *trial);
/* What must not change: servers, groups, listeners and joined groups of others, as text. */
void trial_list_foreign(const struct trial *trial, struct ccm_buf *text);
/* Carry a plan out. False when something failed. What the cloud refuses without a failure before,
 * and anything that must never be done, fails the test. */
bool trial_run(struct trial *trial, struct lbc_plan *plan);

#endif
