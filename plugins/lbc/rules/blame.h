/*
 * Which annotations a refusal of the cloud is about: those that its remedy names ("... annotation
 * NAME ..." or "... NAME annotation ..."), or whose parameter its message names. Their keys and
 * values go behind the remedy, since the cloud often repeats neither. Pure. Every thread.
 */
#ifndef CCM_LBC_BLAME_H
#define CCM_LBC_BLAME_H

#include "lbc/model/annotation.h"
#include "util/buf.h"

/* Append remedy and annotations that are set, "REMEDY: annotation KEY is [VALUE], annotation ...".
 * remedy NULL: there is none. table NULL: nothing but the remedy. Nothing is appended where there
 * is nothing. */
void lbc_blame_write(const struct lbc_anno_table *table, const struct ccm_object *meta,
                     const char *remedy, const char *message, struct ccm_buf *text);

#endif
