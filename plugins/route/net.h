/* Networks as values: parsed once, host bits cleared, so that text forms of one network are one.
 * Pure. Every thread. */
#ifndef CCM_ROUTE_NET_H
#define CCM_ROUTE_NET_H

#include "util/attr.h"
#include "util/cidr.h"

#include <stdbool.h>
#include <stddef.h>

#define ROUTE_NET_TEXT (CCM_IP_TEXT + 4)

/* How one network lies to another. */
enum route_relation {
    ROUTE_NET_APART, /* also: wider than the other, or of another family */
    ROUTE_NET_EQUAL,
    ROUTE_NET_INSIDE, /* strictly */
};

/* Several networks; zeroed = none. */
struct route_nets {
    struct ccm_cidr *items;
    size_t len;
    size_t cap;
};

/* "address/length". 0 or -EINVAL. */
CCM_NODISCARD int route_net_parse(const char *text, struct ccm_cidr *ret);
/* Canonical text. */
void route_net_format(const struct ccm_cidr *net, char text[ROUTE_NET_TEXT]);
bool route_net_is_v4(const struct ccm_cidr *net);

/* Order: by first address, wider networks before those inside of them. Negative, 0, positive. */
int route_net_compare(const struct ccm_cidr *a, const struct ccm_cidr *b);

/* How inner lies to outer; outer NULL = everything there is. */
enum route_relation route_net_relation(const struct ccm_cidr *outer, const struct ccm_cidr *inner);

/*
 * A comma list such as "10.0.0.0/16, fd00::/48"; blanks and empty elements are dropped. 0, -ENOMEM,
 * or -EINVAL with the element that is wrong (cut) in bad[64].
 */
CCM_NODISCARD int route_nets_parse(const char *text, struct route_nets *ret, char bad[64]);
void route_nets_fini(struct route_nets *nets);

/* Whether the network is equal to or inside of one of them. */
bool route_nets_contain(const struct route_nets *nets, const struct ccm_cidr *net);

#endif
