/*
 * The annotations of CLB Services and the attributes behind them: one table, in annotations.c. What
 * a column means: lbc/model/annotation.h; how a row is added: CONTRIBUTING.md. Pure. Every thread.
 */
#ifndef CCM_CLB_ANNOTATIONS_H
#define CCM_CLB_ANNOTATIONS_H

#include "lbc/model/annotation.h"
#include "lbc/model/protocol.h"

/* Those that listeners have, for lbc_protocol_parse(). */
#define CLB_PROTOCOLS (1U << LBC_TCP | 1U << LBC_UDP | 1U << LBC_HTTP | 1U << LBC_HTTPS)

extern const struct lbc_anno_table clb_annotations;

/* The attribute of listeners by the cloud's name; NULL when there is none. */
const struct lbc_anno *clb_field_find(const char *name);

#endif
