/*
 * Table tests of annotations, for every kind of load balancer: what holds without one, which values
 * are good and what they become, which are refused and how, what a change and a removal do, the
 * older prefix, and for whom it is not meant. A test file brings rows and a world. One thread.
 */
#ifndef CCM_TESTS_ANNO_TABLE_H
#define CCM_TESTS_ANNO_TABLE_H

#include "ccm/error.h"
#include "ccm/object.h"
#include "lbc/model/annotation.h"

#include <stdbool.h>
#include <stddef.h>

#define OLD_PREFIX "service.beta.kubernetes.io/alicloud-loadbalancer-"

#define ANNO_TEXT 256 /* bytes of any value */

/* Set beside the annotation under test, so that it means something. A name with a slash is a whole
 * key. */
struct anno_beside {
    const char *name;
    const char *value;
};

struct anno_row {
    const char *name;
    const char *field;     /* where it shows; the world's own word */
    unsigned places;       /* 1U << place: where it has an effect */
    const char *fallback;  /* what holds without it; NULL = nothing */
    const char *good;      /* "annotation->parameter" or "value" (both), separated by blanks; in a
                              value, ~ stands for a blank */
    const char *bad;       /* values separated by '|'; NULL = there is none */
    const char *complaint; /* part of what is said about each bad value, beside the value */
    struct anno_beside beside[3];
    const char *change;      /* what a change does; NULL = it sets the new value */
    const char *removed;     /* what a removal does to what is there; NULL = nothing */
    unsigned removed_places; /* where; 0 = in all places */
};

struct anno_world {
    const struct anno_row *rows;
    size_t count;
    const char *const *places; /* names; of a protocol, or of the load balancer itself */
    size_t place_count;
    /* A Service that says nothing about anything under test and has one port of each protocol. */
    struct ccm_service *(*service)(const struct anno_row *row);
    int (*check)(const struct ccm_service *service, struct ccm_error *err);
    /* What creation asks for at a place, "" = nothing; whether a person asked for it. */
    void (*sent)(const struct ccm_service *service, size_t place, const struct anno_row *row,
                 char ret[static ANNO_TEXT], bool *ret_explicit);
    /* What is changed at a place where `before` holds, "" = nothing. */
    void (*update)(const struct ccm_service *before, const struct ccm_service *after, size_t place,
                   const struct anno_row *row, char ret[static ANNO_TEXT]);
};

const struct anno_row *anno_row_of(const struct anno_world *world, const char *name);
/* The world's Service with row->beside and, unless prefix is NULL, the annotation. */
struct ccm_service *anno_service(const struct anno_world *world, const struct anno_row *row,
                                 const char *prefix, const char *value);

/* Each of these goes through all rows of *state, a struct anno_world, and fails with the name of
 * the row. */
void anno_test_default(void **state);
void anno_test_valid(void **state);
void anno_test_hidden(void **state);
void anno_test_invalid(void **state);
void anno_test_change(void **state);
/* All of them, in a list of tests. */
#define ANNO_TEST(test, world)                                                                     \
    cmocka_unit_test_prestate_setup_teardown(test, NULL, obj_end, (void *)(uintptr_t)(world))
#define ANNO_TESTS(world)                                                                          \
    ANNO_TEST(anno_test_default, world), ANNO_TEST(anno_test_valid, world),                        \
        ANNO_TEST(anno_test_hidden, world), ANNO_TEST(anno_test_invalid, world),                   \
        ANNO_TEST(anno_test_change, world)
/* Every row of the table has one here or stands in `elsewhere` (ends with NULL), and the other way
 * round. */
void anno_test_complete(const struct anno_world *world, const struct lbc_anno_table *table,
                        const char *const *elsewhere);

#endif
