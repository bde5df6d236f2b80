/* Small text helpers. NULL-safe where said. Every thread. */
#ifndef CCM_UTIL_TEXT_H
#define CCM_UTIL_TEXT_H

#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Equal; NULL equals only NULL. */
bool ccm_text_equal(const char *a, const char *b);
/* The same without regard to ASCII case. */
bool ccm_text_equal_case(const char *a, const char *b);

/* NULL or "". */
bool ccm_text_empty(const char *text);

bool ccm_text_starts(const char *text, const char *prefix);
bool ccm_text_ends(const char *text, const char *suffix);

/* Whether one of the lines of text is the same as `line`, which may end with a line end. */
bool ccm_text_has_line(const char *text, const char *line);

/* Start of the text of *len bytes without the white space at its ends (blanks, tabs, line ends),
 * and the length of what is left -> *len. */
const char *ccm_text_trim(const char *text, size_t *len);
/* The same in place. */
void ccm_text_strip(char *text);

/* Copy at most size-1 bytes and terminate; cuts silently, for bounded fields of messages only. */
void ccm_text_copy(char *to, size_t size, const char *from);

/* Formatted text in an array of that size; cuts silently as ccm_text_copy() does. */
void ccm_text_printf(char *to, size_t size, const char *format, ...) CCM_PRINTF(3, 4);

/* Length of the valid UTF-8 sequence at p, 0 if there is none. Up to the NUL that ends the text is
 * read. */
size_t ccm_text_utf8_len(const unsigned char *p);

/* Length of the longest start that is UTF-8 without control characters other than tab and line
 * ends: what a text file may hold. */
size_t ccm_text_printable(const char *text, size_t len);

/* Length of the longest start of text that has at most max bytes and does not cut a UTF-8 sequence
 * in two. */
size_t ccm_text_utf8_cut(const char *text, size_t max);

/* Formatted text, heap. The caller frees. NULL on ENOMEM. */
char *ccm_text_format(const char *format, ...) CCM_PRINTF(1, 2);

/* Whole file, NUL-terminated, at most max bytes; the caller frees. 0, -ENOMEM, -EFBIG, or -errno of
 * the file. */
CCM_NODISCARD int ccm_text_read_file(const char *path, size_t max, char **ret_text,
                                     size_t *ret_len);
/* The same of an open file, from where it stands; it stays open. */
CCM_NODISCARD int ccm_text_read_open(int fd, size_t max, char **ret_text, size_t *ret_len);

/* A number that stands for the text: FNV-1a of 64 bits, which spreads and keeps no secret. */
uint64_t ccm_text_hash(const char *text);

#endif
