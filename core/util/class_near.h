/*
 * A load-balancer class that is none of ours, and looks as if it was to be one: nobody makes a load
 * balancer for it, and nobody but us can know. Pure. Every thread.
 */
#ifndef CCM_UTIL_CLASS_NEAR_H
#define CCM_UTIL_CLASS_NEAR_H

#include <stdbool.h>

#define CCM_CLASS_NEAR_TEXT 400 /* bytes, with the end */

/* Whether the class was meant to be `known`: the same but for letter case or a few letters, or of
 * the same domain (what stands before the slash). Not when both are equal; empty ones are near
 * nothing. */
bool ccm_class_is_near(const char *name, const char *known);

/* What an event and a finding say about it. */
void ccm_class_write_near(const char *name, const char *known, char ret[CCM_CLASS_NEAR_TEXT]);

#endif
