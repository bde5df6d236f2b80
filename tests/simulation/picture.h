/*
 * A picture of the cloud and of the Services as text, with names in place of ids and addresses: two
 * worlds with the same objects have the same picture, whatever their past.
 *
 * One real thread.
 */
#ifndef SIM_PICTURE_H
#define SIM_PICTURE_H

#include "util/buf.h"

/* Sorted lines. */
void sim_picture_take(struct ccm_buf *ret);
/* The first line that one of them has and the other has not, with who has it; "" = they are alike.
 */
void sim_picture_compare(const char *found, const char *wanted, struct ccm_buf *ret);

#endif
