/*
 * Attributes of a cloud resource as the cloud names them: one table of fields per plugin drives
 * create, update, read and compare. Pure. One thread at a time per set.
 */
#ifndef CCM_LBC_ATTRS_H
#define CCM_LBC_ATTRS_H

#include "util/attr.h"
#include "util/json.h"

#include <stdbool.h>
#include <stddef.h>

#define LBC_FIELD_TOP    1U /* stands beside, not inside, the protocol's part of an answer */
#define LBC_FIELD_ZERO   2U /* 0 is a value, not "unset" */
#define LBC_FIELD_CREATE 4U /* cannot be changed in place: not part of an update */

struct lbc_field {
    const char *name;        /* parameter of create and update */
    const char *create_name; /* spelled differently at creation; NULL = name */
    const char *read_name;   /* spelled differently in answers; NULL = name */
    unsigned protocols;      /* 1U << protocol, as the plugin counts them; 0 = all */
    unsigned flags;          /* CCM_FIELD_*, and bits of the plugin from 256 on */
};

struct lbc_attr {
    const struct lbc_field *field;
    char *value;
    bool explicit; /* desired: a person asked for it, so a difference is corrected; else only a
                  default of creation */
    bool kept; /* desired: what it should be is not known, so it stays as it is; value is NULL then
                */
};

struct lbc_attrs {
    struct lbc_attr *items;
    size_t len;
    size_t cap;
};

/* Set or replace one. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_attrs_set(struct lbc_attrs *attrs, const struct lbc_field *field,
                                const char *value, bool explicit);
/* Let it stay as it is, whatever was set so far. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_attrs_keep(struct lbc_attrs *attrs, const struct lbc_field *field);
bool lbc_attrs_keeps(const struct lbc_attrs *attrs, const struct lbc_field *field);
/* Take one out; that it is not there is fine. */
void lbc_attrs_remove(struct lbc_attrs *attrs, const struct lbc_field *field);
/* The value or NULL. */
const char *lbc_attrs_get(const struct lbc_attrs *attrs, const struct lbc_field *field);
/* Append copies of all of `from` to `to`, replacing equal ones. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_attrs_copy(struct lbc_attrs *to, const struct lbc_attrs *from);
void lbc_attrs_fini(struct lbc_attrs *attrs);
/* Give back what is not needed; for what is kept for long. */
void lbc_attrs_trim(struct lbc_attrs *attrs);

/* A scalar member of an answer as text, whatever its JSON type ("true", "12"); "" when it is not
 * there. `space` is for numbers; the result lives as long as both. */
#define LBC_ATTR_NUMBER 24
const char *lbc_attr_read(const cJSON *parent, const char *name,
                          char space[static LBC_ATTR_NUMBER]);
/* Whether a value in an answer means "not set". */
bool lbc_attr_is_unset(const struct lbc_field *field, const char *value);

#endif
