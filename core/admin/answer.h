/* The requests that the admin server answers: inside of server.c. */
#ifndef CCM_ADMIN_ANSWER_H
#define CCM_ADMIN_ANSWER_H

#include "admin/server.h"

#include <microhttpd.h>

/* For MHD_start_daemon(); cls: the struct admin_options, constant. */
enum MHD_Result admin_handle(void *cls, struct MHD_Connection *connection, const char *url,
                             const char *method, const char *version, const char *upload,
                             size_t *upload_len, void **state);
/* The same where `metrics_only` is set. */
enum MHD_Result admin_handle_metrics(void *cls, struct MHD_Connection *connection, const char *url,
                                     const char *method, const char *version, const char *upload,
                                     size_t *upload_len, void **state);

/* For MHD_OPTION_NOTIFY_COMPLETED: frees what a request has left in its state. */
void admin_end_request(void *cls, struct MHD_Connection *connection, void **state,
                       enum MHD_RequestTerminationCode how);

#endif
