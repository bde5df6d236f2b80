/*
 * One look at the text before libconfig gets it, for what libconfig cannot be asked about later.
 *
 * Refused, with the line: NUL bytes, texts and comments without an end, @include (it would open
 * other files), decimal numbers beyond 64 bits, "\x00" in texts (it would vanish). Rewritten: a
 * decimal number beyond 32 bits gets the suffix that makes libconfig read it whole. Everything else
 * is copied as it is, faults included: those are libconfig's to name.
 */
#ifndef CCM_CONFIG_SCAN_H
#define CCM_CONFIG_SCAN_H

#include "config/problems.h"

/* Append the text to parse to `out`. Look at problems->count and at out's own failure. */
void config_scan(const char *text, size_t len, struct ccm_buf *out,
                 struct config_problems *problems);

#endif
