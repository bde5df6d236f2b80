/*
 * Listener attributes as the cloud names them: one table for create, update, read and compare.
 * Pure. Every thread.
 */
#ifndef CCM_CLB_FIELDS_H
#define CCM_CLB_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

enum clb_protocol { CLB_TCP, CLB_UDP, CLB_HTTP, CLB_HTTPS, CLB_OTHER };

#define CLB_FIELD_TOP    1U /* stands beside, not inside, the protocol's part of an answer */
#define CLB_FIELD_ZERO   2U /* 0 is a value, not "unset" */
#define CLB_FIELD_CREATE 4U /* cannot be changed in place: not part of an update */

struct clb_field {
    const char *name;
    const char *create_name; /* spelled differently when tcp and udp ones are created */
    const char *read_name;   /* spelled differently in answers, some of them; NULL = name */
    unsigned protocols;      /* 1U << enum clb_protocol */
    unsigned flags;          /* CLB_FIELD_* */
};

extern const struct clb_field clb_fields[];
extern const size_t clb_field_count;

/* By its name; NULL when there is none. */
const struct clb_field *clb_field_find(const char *name);
bool clb_field_applies(const struct clb_field *field, enum clb_protocol protocol);
/* How the create action of a protocol spells it. */
const char *clb_field_create_name(const struct clb_field *field, enum clb_protocol protocol);

/* "tcp", "udp", "http", "https"; "other" beyond. */
const char *clb_protocol_name(enum clb_protocol protocol);
/* The same in capital letters, as in names of actions. */
const char *clb_protocol_upper(enum clb_protocol protocol);
/* Whether two listeners of these protocols cannot share a port number. */
bool clb_protocol_clash(enum clb_protocol a, enum clb_protocol b);
/* Any case; CLB_OTHER when it is none of them. */
enum clb_protocol clb_protocol_parse(const char *text);

#endif
