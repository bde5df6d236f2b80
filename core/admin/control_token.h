/* The token that lets an operator act through the admin server: read from a file that nobody else
 * may read. No state; every thread. */
#ifndef CCM_CONTROL_TOKEN_H
#define CCM_CONTROL_TOKEN_H

#include "ccm/error.h"
#include "util/attr.h"
#include "util/secret.h"

/*
 * Read the token, without blanks around it. Refused: what is no regular file, belongs to neither
 * root nor this user, may be read or written by others or written by its group, or holds fewer than
 * 16 bytes. Blocks for the file. 0, or negative with err (CCM_ERROR_TERMINAL).
 */
CCM_NODISCARD int admin_control_token_read(const char *path, struct ccm_secret *ret,
                                           struct ccm_error *err);

#endif
