/*
 * Attributes of a listener or a group, desired or actual, as values by their rows (annotation.h).
 * In one spelling: words as the cloud writes them, numbers without leading zeros, lists as "a,b".
 * Pure. One thread at a time per set.
 */
#ifndef CCM_LBC_ATTRS_H
#define CCM_LBC_ATTRS_H

#include "lbc/model/annotation.h"
#include "lbc/model/protocol.h"
#include "lbc/rules/refusal.h"
#include "util/attr.h"
#include "util/json.h"

#include <stdbool.h>
#include <stddef.h>

struct lbc_attr {
    const struct lbc_anno *row;
    char *value;
    bool explicit; /* desired: asked for, so differences are corrected; else a creation's default */
    bool kept;     /* desired: not known what it should be, so it stays; value is NULL then */
};

struct lbc_attrs {
    struct lbc_attr *items;
    size_t len;
    size_t cap;
};

/* Set or replace one. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_attrs_set(struct lbc_attrs *attrs, const struct lbc_anno *row,
                                const char *value, bool explicit);
/* Let it stay as it is, whatever was set. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_attrs_keep(struct lbc_attrs *attrs, const struct lbc_anno *row);
bool lbc_attrs_keeps(const struct lbc_attrs *attrs, const struct lbc_anno *row);
/* Take one out, if it is there. */
void lbc_attrs_remove(struct lbc_attrs *attrs, const struct lbc_anno *row);
/* The one of a row, and its value; NULL when there is none. */
struct lbc_attr *lbc_attrs_find(const struct lbc_attrs *attrs, const struct lbc_anno *row);
const char *lbc_attrs_get(const struct lbc_attrs *attrs, const struct lbc_anno *row);
/* Whether it is a switch that is on, as the cloud writes it. */
bool lbc_attrs_is_on(const struct lbc_attrs *attrs, const struct lbc_anno *row);
/* Append copies of all values of `from` to `to`, replacing equal ones; what is kept is none.
 * 0 or -ENOMEM. */
CCM_NODISCARD int lbc_attrs_copy(struct lbc_attrs *to, const struct lbc_attrs *from);
void lbc_attrs_fini(struct lbc_attrs *attrs);
/* Free spare memory of a set that is kept for long. */
void lbc_attrs_trim(struct lbc_attrs *attrs);

/* --- rows --- */

#define LBC_ATTR_ROWS_MAX 128 /* of a table; further ones have no effect */

struct lbc_attr_rows {
    const struct lbc_anno *items[LBC_ATTR_ROWS_MAX];
    size_t len;
};

/* The attributes of LBC_ANNO_LISTENER or LBC_ANNO_SERVERS in the order of reading and comparing:
 * by their place, of one place as the rows stand, those that no annotation sets last. Reads the
 * whole table, so a caller that goes through them lists them once. */
void lbc_attr_rows_list(const struct lbc_anno_table *table, enum lbc_anno_group group,
                        struct lbc_attr_rows *ret);
/* By the cloud's name; NULL when there is none. */
const struct lbc_anno *lbc_attr_row(const struct lbc_anno_table *table, enum lbc_anno_group group,
                                    const char *field);
/* Whether listeners of the protocol, or groups of theirs, have it. */
bool lbc_attr_applies(const struct lbc_anno *row, enum lbc_protocol protocol);

/* --- values --- */

/* An annotation's value as the cloud writes it -> *ret, heap; NULL: no wish, since it is empty or
 * what these protocols say by leaving it out. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_attr_parse(const struct lbc_anno *row, enum lbc_protocol protocol,
                                 const char *value, char **ret);
/* What holds without a wish, as the cloud writes it; NULL = not known, or nothing. */
const char *lbc_attr_default(const struct lbc_anno *row, enum lbc_protocol protocol);
/* The word of a switch, as the cloud writes it. */
const char *lbc_attr_word(const struct lbc_anno *row, bool on);

/* --- from annotations and answers --- */

/* Where wishes come from; borrowed. */
struct lbc_attr_source {
    const struct lbc_anno_table *table;
    enum lbc_anno_group group;
    enum lbc_protocol protocol;
    const struct ccm_service *service;  /* without annotations that cannot be used */
    const struct lbc_refusals *refused; /* those annotations; NULL = none */
};

/* Defaults that creation asks for, and annotations' values -> attrs; where an annotation cannot be
 * used the attribute is kept. *ret_lacks (may be NULL) becomes true when one of these fails the
 * Service. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_attrs_add_wishes(struct lbc_attrs *attrs,
                                       const struct lbc_attr_source *source, bool *ret_lacks);

/* Where an answer of the cloud has attributes. */
struct lbc_attr_answer {
    const struct lbc_anno_table *table;
    enum lbc_anno_group group;
    enum lbc_protocol protocol;
    const cJSON *json;
    const cJSON *other; /* has those whose row has this bit of `cloud` */
    unsigned other_bit;
};
/* All that are set -> attrs. 0, -ENOMEM, or -EPROTO: a list is too long. */
CCM_NODISCARD int lbc_attrs_add_answer(struct lbc_attrs *attrs,
                                       const struct lbc_attr_answer *answer);
/* A scalar member of an answer as text, whatever its JSON type; "" when it is missing. "a.b" is b
 * inside a. `space` is for numbers; the result lives as long as both. */
#define LBC_ATTR_NUMBER 24
const char *lbc_attr_read(const cJSON *parent, const char *name,
                          char space[static LBC_ATTR_NUMBER]);

#endif
