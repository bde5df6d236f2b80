/*
 * Listener attributes as the cloud names them: one table for create, update, read and compare.
 * Pure. Every thread.
 */
#ifndef CCM_CLB_FIELDS_H
#define CCM_CLB_FIELDS_H

#include "lbc/model/attrs.h"

#include <stdbool.h>
#include <stddef.h>

enum clb_protocol { CLB_TCP, CLB_UDP, CLB_HTTP, CLB_HTTPS, CLB_OTHER };

/* `create_name` is how tcp and udp ones spell it; 0 protocols do not occur. */
extern const struct lbc_field clb_fields[];
extern const size_t clb_field_count;

/* By its name; NULL when there is none. */
const struct lbc_field *clb_field_find(const char *name);
bool clb_field_applies(const struct lbc_field *field, enum clb_protocol protocol);
/* How the create action of a protocol spells it. */
const char *clb_field_create_name(const struct lbc_field *field, enum clb_protocol protocol);

/* "tcp", "udp", "http", "https"; "other" beyond. */
const char *clb_protocol_name(enum clb_protocol protocol);
/* The same in capital letters, as in names of actions. */
const char *clb_protocol_upper(enum clb_protocol protocol);
/* Whether two listeners of these protocols cannot share a port number. */
bool clb_protocol_clash(enum clb_protocol a, enum clb_protocol b);
/* Any case; CLB_OTHER when it is none of them. */
enum clb_protocol clb_protocol_parse(const char *text);

#endif
