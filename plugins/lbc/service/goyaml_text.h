/* One text as a YAML scalar; parts of goyaml.c. Pure. */
#ifndef CCM_LBC_YAML_TEXT_H
#define CCM_LBC_YAML_TEXT_H

#include "util/attr.h"
#include "util/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Append the text as plain, quoted or literal scalar. indent: column of its further lines. key: a
 * short key of one line, which is never folded. Returns whether the line has ended with it, as
 * with a literal scalar. */
bool lbc_yaml_text(struct ccm_buf *buf, const char *text, size_t indent, bool key);

/* The text as it is after it was written as JSON and that was read as YAML, into the empty *ret:
 * line breaks that JSON does not escape (U+0085) are folded. 0, -EBADMSG when a reader of YAML
 * refuses it (control characters that JSON does not escape), or the buffer's error. */
CCM_NODISCARD int lbc_yaml_reread(const char *text, struct ccm_buf *ret);
/* Whether that changes anything. */
bool lbc_yaml_needs_reread(const char *text);

/* --- characters: UTF-8, at least one byte is there, the NUL ends all look-ahead --- */

size_t lbc_yaml_char_len(const unsigned char *p);
/* The code point of the character with that many bytes. */
uint32_t lbc_yaml_char_value(const unsigned char *p, size_t len);
/* Line feed, carriage return, U+0085, U+2028, U+2029. */
bool lbc_yaml_is_break(const unsigned char *p);
/* What scalars carry without an escape. */
bool lbc_yaml_is_printable(const unsigned char *p);

/* --- writers, one per style; all but the literal one leave the line open --- */

/* folds: long lines may be broken at blanks. */
void lbc_yaml_write_plain(struct ccm_buf *buf, const char *text, size_t indent, bool folds);
void lbc_yaml_write_single(struct ccm_buf *buf, const char *text, size_t indent, bool folds);
void lbc_yaml_write_double(struct ccm_buf *buf, const char *text, size_t indent, bool folds);
/* Returns whether the line has ended with it. */
bool lbc_yaml_write_literal(struct ccm_buf *buf, const char *text, size_t indent);

#endif
