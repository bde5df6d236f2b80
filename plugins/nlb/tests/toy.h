/*
 * A small cloud that executes plans as data and has the cloud's rules: a group in use cannot be
 * deleted, ports are taken once, what is made in a stage can be used in the next. And random wishes
 * and states for it. One thread.
 */
#ifndef CCM_NLB_TESTS_TOY_H
#define CCM_NLB_TESTS_TOY_H

#include "notation.h"

#define TOY_NEVER SIZE_MAX

struct toy {
    struct nlb_state cloud;
    struct nlb_model model;
    const struct ccm_service *service;
    uint64_t random;
    uint64_t seed; /* for messages */
    unsigned next_id;
    size_t fail_at; /* index of a step that fails; TOY_NEVER */
    bool executed;  /* it is executed all the same */

    /* one run */
    size_t failures;
    size_t earlier; /* failures before this stage */
    bool insecure;
    struct lbc_texts fresh;   /* groups made in this stage */
    struct lbc_texts dying;   /* listeners deleted in this stage */
    struct lbc_texts lacking; /* groups (by name and type) that an addition to failed */
};

/* A world from a seed: what is wanted, and what is there. */
void toy_init(struct toy *toy, uint64_t seed);
void toy_fini(struct toy *toy);
/* A number below `limit`. */
unsigned toy_dice(struct toy *toy, unsigned limit);

/* Executes. False when something failed. Breaking a rule without a failure before, and anything
 * that must never be done, fails the test. */
bool toy_run(struct toy *toy, const struct lbc_plan *plan);

#endif
