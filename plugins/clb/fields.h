/*
 * Listener attributes as the cloud names them: one table for create, update, read and compare.
 * Pure. Every thread.
 */
#ifndef CCM_CLB_FIELDS_H
#define CCM_CLB_FIELDS_H

#include "lbc/model/attrs.h"
#include "lbc/model/protocol.h"

#include <stdbool.h>
#include <stddef.h>

/* Those that listeners have, for lbc_protocol_parse(). */
#define CLB_PROTOCOLS (1U << LBC_TCP | 1U << LBC_UDP | 1U << LBC_HTTP | 1U << LBC_HTTPS)

/* `create_name` is how tcp and udp ones spell it; 0 protocols do not occur. */
extern const struct lbc_field clb_fields[];
extern const size_t clb_field_count;

/* By its name; NULL when there is none. */
const struct lbc_field *clb_field_find(const char *name);
bool clb_field_applies(const struct lbc_field *field, enum lbc_protocol protocol);
/* How the create action of a protocol spells it. */
const char *clb_field_create_name(const struct lbc_field *field, enum lbc_protocol protocol);

#endif
