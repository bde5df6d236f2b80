/*
 * The annotations of NLB Services and the attributes behind them: one table, in annotations.c. What
 * a column means: lbc/model/annotation.h; how a row is added: CONTRIBUTING.md. Pure. Every thread.
 */
#ifndef CCM_NLB_ANNOTATIONS_H
#define CCM_NLB_ANNOTATIONS_H

#include "lbc/model/annotation.h"
#include "lbc/model/protocol.h"

/* Those that listeners have, for lbc_protocol_parse(). */
#define NLB_PROTOCOLS (1U << LBC_TCP | 1U << LBC_UDP | 1U << LBC_TCPSSL)

extern const struct lbc_anno_table nlb_annotations;

/* Attributes by the cloud's name; NULL when there is none. */
const struct lbc_anno *nlb_listener_field(const char *name);
const struct lbc_anno *nlb_group_field(const char *name);

#endif
