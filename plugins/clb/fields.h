/*
 * Listener attributes as the cloud names them: one table for create, update, read and compare.
 * Pure. Every thread.
 */
#ifndef CCM_CLB_FIELDS_H
#define CCM_CLB_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

enum clb_protocol { CLB_TCP, CLB_UDP, CLB_HTTP, CLB_HTTPS, CLB_OTHER };

struct clb_field {
    const char *name;
    const char *create_name; /* spelled differently in the create actions; NULL = name */
    unsigned protocols;      /* 1U << enum clb_protocol */
    bool top_level;          /* stands beside, not inside, the protocol's part of an answer */
    bool zero_counts;        /* 0 is a value, not "unset" */
};

extern const struct clb_field clb_fields[];
extern const size_t clb_field_count;

/* By its name; NULL when there is none. */
const struct clb_field *clb_field_find(const char *name);
bool clb_field_applies(const struct clb_field *field, enum clb_protocol protocol);

/* "tcp", "udp", "http", "https"; "other" beyond. */
const char *clb_protocol_name(enum clb_protocol protocol);
/* The same in capital letters, as in names of actions. */
const char *clb_protocol_upper(enum clb_protocol protocol);
/* Any case; CLB_OTHER when it is none of them. */
enum clb_protocol clb_protocol_parse(const char *text);

#endif
