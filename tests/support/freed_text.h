/*
 * Looks into each block of memory that a test program gives back: what held a secret has to be
 * wiped before. For programs that are linked with -Wl,--wrap=free,--wrap=realloc and freed_text.c;
 * sees what their own archives free, not what shared libraries do. Every thread.
 */
#ifndef CCM_TESTS_FREED_TEXT_H
#define CCM_TESTS_FREED_TEXT_H

/* Look for `mark` from now on (borrowed), or no more (NULL). Forgets what was found before. */
void freed_text_look_for(const char *mark);

/* The first text with the mark that went back, cut; "" = none. No other thread frees meanwhile. */
const char *freed_text_found(void);

/* free(), as a function that libraries can be told to use. */
void freed_text_free(void *block);

#endif
