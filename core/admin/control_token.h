/* The token that lets an operator act through the admin server: read from a file that nobody else
 * may read. No state; every thread. */
#ifndef CCM_CONTROL_TOKEN_H
#define CCM_CONTROL_TOKEN_H

#include "ccm/error.h"
#include "util/attr.h"
#include "util/secret.h"

/* Make the file, with a random token that only this user may read (mode 0600), unless it is there.
 * Blocks for the file. 0, or negative with err (CCM_ERROR_TERMINAL). */
CCM_NODISCARD int admin_control_token_make(const char *path, struct ccm_error *err);

/*
 * Read the token, without blanks around it. Refused: what is no regular file, belongs to neither
 * root nor this user, may be read or written by others or written by its group, or holds fewer than
 * 16 bytes. Blocks for the file. 0, or negative with err (CCM_ERROR_TERMINAL).
 */
CCM_NODISCARD int admin_control_token_read(const char *path, struct ccm_secret *ret,
                                           struct ccm_error *err);

#endif
