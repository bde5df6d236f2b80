/*
 * Changing JSON trees, on top of util/json.h (which reads them).
 *
 * The setters promise nothing when memory runs out but not to crash: the member is then missing. A
 * simulator has no caller who could do better. One thread at a time per tree.
 */
#ifndef CCM_KS_JX_H
#define CCM_KS_JX_H

#include "util/json.h"

#include <stdbool.h>
#include <stdint.h>

/* Member that may be changed; NULL when parent is NULL, no object, or lacks it. JSON null is
 * returned as it is. */
cJSON *ccm_ks_jx_get(cJSON *parent, const char *name);

/* Member of that name as an object; made (replacing anything else) when it is none. NULL only on
 * ENOMEM. */
cJSON *ccm_ks_jx_object(cJSON *parent, const char *name);

/* Set or replace; the position of a replaced member stays. The value's ownership moves in. NULL
 * value = delete. */
void ccm_ks_jx_set(cJSON *parent, const char *name, cJSON *value);
void ccm_ks_jx_set_str(cJSON *parent, const char *name, const char *value);
void ccm_ks_jx_set_int(cJSON *parent, const char *name, int64_t value);
void ccm_ks_jx_set_bool(cJSON *parent, const char *name, bool value);

/* Set only when the member is absent, null, or "" (0). */
void ccm_ks_jx_default_str(cJSON *parent, const char *name, const char *value);

void ccm_ks_jx_del(cJSON *parent, const char *name);

/* Copy the member of `from` to `to`: present there = set here, absent there = deleted here. */
void ccm_ks_jx_carry(cJSON *to, const cJSON *from, const char *name);

/* A deep copy; NULL gives NULL. */
cJSON *ccm_ks_jx_dup(const cJSON *json);

/* Same value. The order of members does not count, the order of items does. NULL equals only NULL.
 */
bool ccm_ks_jx_equal(const cJSON *a, const cJSON *b);

/* Whether the list of strings holds the text. */
bool ccm_ks_jx_has_text(const cJSON *list, const char *text);

/* The value in the notation the API server uses inside some messages: map[a:1 b:[x y]], keys
 * sorted. */
void ccm_ks_jx_go(struct ccm_buf *buf, const cJSON *json);

/* Append the compact text of a tree; a failure sticks in the buffer. */
void ccm_ks_jx_print(struct ccm_buf *buf, const cJSON *json);

/* Whether no value lies deeper than `depth` levels. */
bool ccm_ks_jx_is_flat(const cJSON *json, int depth);

/* Whether an integer without fraction, within min..max. */
bool ccm_ks_jx_is_int(const cJSON *json, int64_t min, int64_t max);

#endif
