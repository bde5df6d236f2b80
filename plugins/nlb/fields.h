/*
 * Attributes of listeners and server groups as the cloud names them: see lbc/model/attrs.h. Pure.
 * Every thread.
 */
#ifndef CCM_NLB_FIELDS_H
#define CCM_NLB_FIELDS_H

#include "lbc/model/attrs.h"
#include "lbc/model/protocol.h"

#include <stdbool.h>
#include <stddef.h>

/* Those that listeners have, for lbc_protocol_parse(). */
#define NLB_PROTOCOLS (1U << LBC_TCP | 1U << LBC_UDP | 1U << LBC_TCPSSL)

/* How a value goes over the wire; texts are kept in one spelling ("true", "12", "a,b"). */
#define NLB_FIELD_LIST   256U  /* comma list; Name.1, Name.2, ...; compared as a set */
#define NLB_FIELD_CASE   512U  /* case does not matter */
#define NLB_FIELD_PPV2   1024U /* member of the JSON object ProxyProtocolV2Config */
#define NLB_FIELD_HEALTH 2048U /* group: member of HealthCheckConfig; in answers of HealthCheck */

extern const struct lbc_field nlb_listener_fields[];
extern const size_t nlb_listener_field_count;
extern const struct lbc_field nlb_group_fields[];
extern const size_t nlb_group_field_count;

/* By name; NULL when there is none. */
const struct lbc_field *nlb_listener_field(const char *name);
const struct lbc_field *nlb_group_field(const char *name);
bool nlb_field_applies(const struct lbc_field *field, enum lbc_protocol protocol);

#endif
