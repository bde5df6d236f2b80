/*
 * Strict number and list parsing: the whole text must match, nothing is skipped or guessed.
 * All return 0, -EINVAL (not of that form) or -ERANGE (outside min..max); outputs change only on
 * success. Every thread.
 */
#ifndef CCM_UTIL_PARSE_H
#define CCM_UTIL_PARSE_H

#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decimal digits, optional leading '-'. */
CCM_NODISCARD int ccm_parse_i64(const char *text, int64_t min, int64_t max, int64_t *ret);
CCM_NODISCARD int ccm_parse_u32(const char *text, uint32_t min, uint32_t max, uint32_t *ret);

/* Exactly "true" or "false". */
CCM_NODISCARD int ccm_parse_bool(const char *text, bool *ret);

/* RFC 3339 time in any offset, fraction ignored -> milliseconds since the epoch (UTC). */
CCM_NODISCARD int ccm_parse_rfc3339(const char *text, int64_t *ret_ms);

/*
 * Next piece of a separated list. Start with *cursor = text. Returns false at the end. The piece is
 * [*ret_start, *ret_start + *ret_len), white space around it stripped; it may be empty. "" has one
 * empty piece.
 */
bool ccm_parse_piece(const char **cursor, char separator, const char **ret_start, size_t *ret_len);
/* Whether one of the pieces is the `len` bytes of text; a list of NULL has none. */
bool ccm_parse_has_piece(const char *list, char separator, const char *text, size_t len);

/* Whether the whole text matches a POSIX extended regular expression: 1 or 0; -EINVAL when that is
 * none. */
CCM_NODISCARD int ccm_parse_matches(const char *text, const char *pattern);

#endif
