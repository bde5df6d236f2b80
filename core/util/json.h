/*
 * Reading and writing JSON on top of cJSON: lenient about types where servers are (numbers as text
 * and the other way round), strict about form. Borrowed results live as long as the tree. Every
 * thread.
 */
#ifndef CCM_UTIL_JSON_H
#define CCM_UTIL_JSON_H

#include "util/attr.h"
#include "util/buf.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parse exactly one value (blanks around it allowed). The caller frees with cJSON_Delete or
 * CCM_CLEANUP (ccm_json_freep). Nesting is limited to 1,000. Returns 0, or -EBADMSG (not JSON, or
 * memory ran out). */
CCM_NODISCARD int ccm_json_parse(const char *text, size_t len, cJSON **ret);
void ccm_json_freep(cJSON **json);
/* The same for what holds secrets: all texts are wiped before. */
void ccm_json_wipep(cJSON **json);

/* Member of an object; NULL when parent is NULL, no object, or lacks it, or when it is JSON null.
 * Case counts. */
const cJSON *ccm_json_get(const cJSON *parent, const char *name);

/* Member of a member of ...; the list of names ends with NULL. */
const cJSON *ccm_json_path(const cJSON *parent, ...) __attribute__((sentinel));

/* Text of a string member, else NULL. */
const char *ccm_json_str(const cJSON *parent, const char *name);
/* The same, but "" instead of NULL. */
const char *ccm_json_text(const cJSON *parent, const char *name);

/* A number, or text that is one; else fallback. Fractions are cut, values saturate at +-2^53. */
int64_t ccm_json_i64(const cJSON *parent, const char *name, int64_t fallback);

/* true/false, or the text "true"/"false"; else fallback. */
bool ccm_json_bool(const cJSON *parent, const char *name, bool fallback);

/* First element of an array member or NULL; walk on with ->next. */
const cJSON *ccm_json_items(const cJSON *parent, const char *name);
/* The same of an array itself, and the first member of an object: what is of another type has none.
 * Only what comes from the second has a name: `string` of elements is NULL. */
const cJSON *ccm_json_elements(const cJSON *array);
const cJSON *ccm_json_members(const cJSON *object);

/* Append text as a JSON string, quotes included. NULL writes null. Invalid UTF-8 is replaced by
 * U+FFFD. */
void ccm_json_quote(struct ccm_buf *buf, const char *text);

/* Compact text of a tree, appended. */
CCM_NODISCARD int ccm_json_print(struct ccm_buf *buf, const cJSON *json);

#endif
