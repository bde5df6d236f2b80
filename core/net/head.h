/*
 * Headers of one answer as they come in, and the response object made of them. Inner part of the
 * HTTP engine. One thread at a time.
 */
#ifndef CCM_NET_HEAD_H
#define CCM_NET_HEAD_H

#include "ccm/host.h"
#include "util/attr.h"
#include "util/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NET_HTTP_HEAD_MAX ((size_t)64 * 1024)

/* Zeroed with text.max = NET_HTTP_HEAD_MAX is ready for use. */
struct net_http_head {
    struct ccm_buf text; /* "name: value" each, NUL after each */
    size_t count;
    bool complete; /* the blank line came; what follows are trailers, which nobody wants */
};

void net_http_head_fini(struct net_http_head *head);

/*
 * One line as it came from the wire, line end included. A status line starts over: interim answers
 * (1xx) are forgotten. Lines that are no header are skipped. Returns 1 for the blank line that ends
 * a head, else 0, or negative: -EMSGSIZE, -ENOMEM.
 */
CCM_NODISCARD int net_http_head_line(struct net_http_head *head, const char *line, size_t len);

/* Build the response, moving the texts of head and body into it. 0 or -ENOMEM. */
CCM_NODISCARD int net_http_response_build(uint32_t status, struct net_http_head *head,
                                          struct ccm_buf *body, struct ccm_http_response **ret);

#endif
