/* What the status pages have in common: head, links between them, and the pages themselves. */
#ifndef CCM_DAEMON_STATUS_FRAME_H
#define CCM_DAEMON_STATUS_FRAME_H

#include "daemon/collect.h"

/* Value of an argument, "" = it is not given. */
const char *status_get(const struct admin_status_request *request, const char *name);

/* A page with its navigation; `title` is also its first heading. */
void status_frame_begin(struct admin_page *page, const struct admin_status_request *request,
                        const char *title, struct ccm_buf *text);

/* A link to a status page ("/objects") with the arguments of this one, but for `name`, which is
 * `value` there, "" = not given. Another choice begins with its first page. */
void status_link(const struct admin_status_request *request, const char *path, const char *name,
                 const char *value, struct ccm_buf *url);
/* To the page of an object. */
void status_link_object(const char *plugin, const char *key, struct ccm_buf *url);

/* The pages. As daemon_observe_status(). */
void status_page_write(const struct daemon_observed *seen,
                       const struct admin_status_request *request, struct ccm_buf *text);
int status_list_write(const struct daemon_observed *seen,
                      const struct admin_status_request *request, struct ccm_buf *text);
int status_object_write(const struct daemon_observed *seen,
                        const struct admin_status_request *request, struct ccm_buf *text);
void status_quotas_write(const struct daemon_observed *seen,
                         const struct admin_status_request *request, struct ccm_buf *text);

#endif
