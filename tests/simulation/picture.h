/*
 * A picture of the cloud and of the Services as text, with names in place of ids and addresses: two
 * worlds with the same objects have the same picture, whatever their past.
 *
 * One real thread.
 */
#ifndef SIM_PICTURE_H
#define SIM_PICTURE_H

#include "util/buf.h"

#include <stdbool.h>

/* Sorted lines. whole: with all that Services, Nodes and objects of the Gateway API say, and not
 * just the status of Services. */
void sim_picture_take(struct ccm_buf *ret, bool whole);
/* The lines that one of two sorted texts has and the other has not, each after the name of its
 * side; "" = they are alike. */
void sim_picture_compare(const char *found, const char *wanted, const char *const sides[static 2],
                         struct ccm_buf *ret);

#endif
