/*
 * A load balancer with its groups and listeners as plain data: what a Service wants, and what the
 * cloud holds. Texts are owned by the structs; NULL means "not known" or "not set". One thread at a
 * time.
 */
#ifndef CCM_CLB_STATE_H
#define CCM_CLB_STATE_H

#include "fields.h"
#include "service/backend.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clb_attr {
    const struct clb_field *field;
    char *value;
    bool told; /* desired: a person asked for it, so a difference is corrected; else only a default
                  of creation */
};

struct clb_attrs {
    struct clb_attr *items;
    size_t len;
    size_t cap;
};

struct clb_listener {
    uint16_t port;
    enum clb_protocol protocol;
    bool running; /* present */
    bool broken;  /* desired: could not be worked out, so what is there stays as it is */
    char *description;
    char *group_name; /* desired */
    char *group_id;   /* present */
    struct clb_attrs attrs;
};

struct clb_group {
    char *id; /* present */
    char *name;
    uint16_t port; /* desired: the first Service port that uses it */
    enum clb_protocol protocol;
    bool add_only; /* desired: some pod has no interface yet, nothing is removed or re-weighed */
    bool hold;     /* desired: all nodes turned NotReady at once, nothing is removed */
    struct ccm_backends backends;
};

struct clb_lb {
    char *id;
    char *name;
    char *address;
    char *address_type;
    char *vswitch_id;
    bool protect;  /* deletion protection is on (or may be) */
    bool untagged; /* found by its name: the ownership tag is missing */
};

struct clb_state {
    struct clb_lb lb; /* lb.id NULL: there is none */
    struct clb_group *groups;
    size_t group_count;
    size_t group_cap;
    struct clb_listener *listeners;
    size_t listener_count;
    size_t listener_cap;
};

void clb_state_fini(struct clb_state *state);
void clb_lb_fini(struct clb_lb *lb);
void clb_listener_fini(struct clb_listener *listener);

/* Replace a text by a copy; NULL or "" clears it. 0 or -ENOMEM. */
CCM_NODISCARD int clb_text_set(char **text, const char *value);

/* Append an empty element; NULL on ENOMEM. Earlier pointers into the list become invalid. */
struct clb_group *clb_state_new_group(struct clb_state *state);
struct clb_listener *clb_state_new_listener(struct clb_state *state);
void clb_state_drop_group(struct clb_state *state, const char *id);
void clb_state_drop_listener(struct clb_state *state, uint16_t port, enum clb_protocol protocol);

struct clb_listener *clb_state_listener(const struct clb_state *state, uint16_t port,
                                        enum clb_protocol protocol);
struct clb_group *clb_state_group_by_id(const struct clb_state *state, const char *id);
/* Names are not unique in the cloud: a group that a listener uses comes first. */
struct clb_group *clb_state_group_by_name(const struct clb_state *state, const char *name);

/* Set or replace one attribute. 0 or -ENOMEM. */
CCM_NODISCARD int clb_attrs_set(struct clb_attrs *attrs, const struct clb_field *field,
                                const char *value, bool told);
/* The value or NULL. */
const char *clb_attrs_get(const struct clb_attrs *attrs, const struct clb_field *field);

/* Deep copy into an empty listener. 0 or -ENOMEM (the caller finishes `to` in any case). */
CCM_NODISCARD int clb_listener_copy(struct clb_listener *to, const struct clb_listener *from);

#endif
