/*
 * Where each product lives: overrides, region maps, the naming rule. Pure, apart from reading the
 * environment. Every thread.
 */
#ifndef CCM_ALICLOUD_ENDPOINT_H
#define CCM_ALICLOUD_ENDPOINT_H

#include "alicloud/client.h"

#define ALI_ENDPOINT_PRODUCTS 7
#define ALI_ENDPOINT_HOST_MAX 272 /* 253 of a name, a port, a NUL, and some */

struct ali_endpoint {
    bool plain_http;
    char host[ALI_ENDPOINT_HOST_MAX]; /* host[:port], as sent in the Host header; a default port is
                                         left out */
};

/* What a product is called: "slb", its version, and the environment variable that overrides its
 * endpoint. */
struct ali_product_row {
    const char *name;
    const char *version;
    const char *env;
    const char *host;  /* how its host begins; NULL = as it is called */
    const char *fixed; /* its one host for all regions, on the public network; NULL = by region */
};
const struct ali_product_row *ali_endpoint_product(enum ali_product product);

/* Whether text may be part of a host name: [A-Za-z0-9_-]+, at most 64 bytes. */
bool ali_endpoint_valid_part(const char *text);

/*
 * Parse "[scheme://]host[:port][/path]". Without a scheme *plain_http keeps its value. A path other
 * than "/" is refused unless drop_path. -EINVAL and err otherwise; `what` names the setting.
 */
CCM_NODISCARD int ali_endpoint_parse(const char *what, const char *text, bool drop_path,
                                     struct ali_endpoint *ret, struct ccm_error *err);

/*
 * The endpoint of a product. First hit wins: environment variable (its scheme is ignored, as ever),
 * the option (`override`, "" = none), region map (public network only), rule. The scheme is https
 * unless the option says otherwise or ALICLOUD_CLIENT_SCHEME is "HTTP".
 */
CCM_NODISCARD int ali_endpoint_find(enum ali_product product, const char *region,
                                    const char *network, const char *override,
                                    struct ali_endpoint *ret, struct ccm_error *err);

#endif
