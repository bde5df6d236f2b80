/*
 * Where each product lives: overrides, region maps, the naming rule. Pure, apart from reading the
 * environment. Every thread.
 */
#ifndef CCM_ALICLOUD_ENDPOINT_H
#define CCM_ALICLOUD_ENDPOINT_H

#include "alicloud/client.h"

#define CCM_ENDPOINT_PRODUCTS 5
#define CCM_ENDPOINT_HOST_MAX 272 /* 253 of a name, a port, a NUL, and some */

struct ccm_ali_endpoint {
    bool plain_http;
    char host[CCM_ENDPOINT_HOST_MAX]; /* host[:port], as sent in the Host header; a default port is
                                         left out */
};

/* What a product is called: "slb", its version, and the environment variable that overrides its
 * endpoint. */
struct ccm_product {
    const char *name;
    const char *version;
    const char *env;
};
const struct ccm_product *ccm_endpoint_product(enum ccm_ali_product product);

/* Whether text may be part of a host name: [A-Za-z0-9_-]+, at most 64 bytes. */
bool ccm_endpoint_valid_part(const char *text);

/*
 * Parse "[scheme://]host[:port][/path]". Without a scheme *plain_http keeps its value. A path other
 * than "/" is refused unless drop_path. -EINVAL and err otherwise; `what` names the setting.
 */
CCM_NODISCARD int ccm_endpoint_parse(const char *what, const char *text, bool drop_path,
                                     struct ccm_ali_endpoint *ret, struct ccm_error *err);

/*
 * The endpoint of a product. First hit wins: environment variable (its scheme is ignored, as ever),
 * the option (`override`, "" = none), region map (public network only), rule. The scheme is https
 * unless the option says otherwise or ALICLOUD_CLIENT_SCHEME is "HTTP".
 */
CCM_NODISCARD int ccm_endpoint_find(enum ccm_ali_product product, const char *region,
                                    const char *network, const char *override,
                                    struct ccm_ali_endpoint *ret, struct ccm_error *err);

#endif
