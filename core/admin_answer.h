/* The requests that the admin server answers: inside of admin.c. */
#ifndef CCM_ADMIN_ANSWER_H
#define CCM_ADMIN_ANSWER_H

#include "admin.h"

#include <microhttpd.h>

/* For MHD_start_daemon(); cls: the struct ccm_admin_options, constant. */
enum MHD_Result ccm_admin_handle(void *cls, struct MHD_Connection *connection, const char *url,
                                 const char *method, const char *version, const char *upload,
                                 size_t *upload_len, void **state);

#endif
