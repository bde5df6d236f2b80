/*
 * Access to the address of a load balancer from inside of the cluster: unless told otherwise (a
 * name in place of the address, or ipMode Proxy beside it) nodes send it straight to the pods, past
 * the load balancer and all that it does. And https listeners in front of ports that speak TLS
 * themselves. Pure. Every thread.
 */
#ifndef CCM_LBC_INSIDE_H
#define CCM_LBC_INSIDE_H

#include "ccm/object.h"
#include "lbc/rules/lint.h"
#include "util/buf.h"

#include <stdbool.h>

/* The option that says which ipMode is written, and its values; empty as off. */
#define LBC_IP_MODE_OFF    "off"
#define LBC_IP_MODE_VIP    "VIP"
#define LBC_IP_MODE_PROXY  "Proxy"
#define LBC_IP_MODE_AUTO   "auto"
#define LBC_IP_MODE_OPTION "status_ip_mode"

/* Whether the load balancer does something that pods rely on: it speaks HTTP or HTTPS, or tells the
 * proxy protocol. */
bool lbc_inside_needs_lb(const struct lbc_lint_rules *rules, const struct ccm_service *service);

/* The ipMode to write for the Service, by the option; NULL: none. A server that knows the field
 * shows it beside each address; before there is one it is not known, and an older one forgets it.
 */
const char *lbc_inside_ip_mode(const struct lbc_lint_rules *rules,
                               const struct ccm_service *service, const char *option);

/* What does not work from inside, with the remedy, as one text; nothing when all does. mode: what
 * lbc_inside_ip_mode() says. */
void lbc_inside_describe(const struct lbc_lint_rules *rules, const struct ccm_service *service,
                         const char *mode, struct ccm_buf *text);

/* The first port whose listener is HTTPS and which looks as if it speaks TLS itself, in words; ""
 * = there is none. */
void lbc_inside_find_tls(const struct lbc_lint_rules *rules, const struct ccm_service *service,
                         struct ccm_buf *text);

#endif
