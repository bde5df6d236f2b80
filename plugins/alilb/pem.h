/* PEM texts as a person hands them over: whether they can be what they are given for. Nothing is
 * verified; what the blocks hold is only looked at as far as that it may be DER. Every thread. */
#ifndef CCM_ALILB_PEM_H
#define CCM_ALILB_PEM_H

#include <stdbool.h>

/* One certificate or more, the first of them that of the server. */
bool alilb_pem_is_chain(const char *text);

/* A private key that needs no password. */
bool alilb_pem_is_key(const char *text);

#endif
