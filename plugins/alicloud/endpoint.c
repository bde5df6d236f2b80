#include "alicloud/endpoint.h"

#include "util/parse.h"
#include "util/text.h"

#include <stdlib.h>

static const struct ali_product_row products[ALI_ENDPOINT_PRODUCTS] = {
    [ALI_SLB] = { "slb", "2014-05-15", "SLB_ENDPOINT", NULL, NULL },
    [ALI_NLB] = { "nlb", "2022-04-30", "NLB_ENDPOINT", NULL, NULL },
    [ALI_VPC] = { "vpc", "2016-04-28", "VPC_ENDPOINT", NULL, NULL },
    [ALI_ECS] = { "ecs", "2014-05-26", "ECS_ENDPOINT", NULL, NULL },
    [ALI_STS] = { "sts", "2015-04-01", "STS_ENDPOINT", NULL, NULL },
    [ALI_EFLO] = { "eflo", "2022-12-15", "EFLO_ENDPOINT", "eflo-controller", NULL },
    [ALI_CAS] = { "cas", "2020-06-19", "CAS_ENDPOINT", NULL, "cas.aliyuncs.com" },
};

/* Regions whose public endpoint does not follow the rule; closed ones are left to the options. */
static const struct region_host {
    enum ali_product product;
    const char *host;
    const char *regions; /* separated and enclosed by blanks */
} region_hosts[] = {
    { ALI_SLB, "slb.aliyuncs.com",
      " cn-hangzhou cn-beijing cn-shanghai cn-shenzhen cn-qingdao cn-hongkong ap-southeast-1 "
      "us-west-1 us-east-1 cn-shanghai-finance-1 cn-shenzhen-finance-1 cn-north-2-gov-1 "
      "cn-hangzhou-finance cn-beijing-gov-1 cn-beijing-finance-pop cn-hongkong-finance-pop " },
    { ALI_ECS, "ecs-cn-hangzhou.aliyuncs.com",
      " cn-hangzhou cn-shanghai-finance-1 cn-shenzhen-finance-1 " },
    { ALI_ECS, "ecs.aliyuncs.com",
      " cn-north-2-gov-1 cn-beijing-gov-1 cn-hangzhou-finance cn-beijing-finance-pop "
      "cn-hongkong-finance-pop " },
    { ALI_VPC, "vpc.aliyuncs.com",
      " cn-hangzhou cn-shanghai-finance-1 cn-shenzhen-finance-1 cn-north-2-gov-1 cn-beijing-gov-1 "
      "cn-hangzhou-finance cn-beijing-finance-pop cn-hongkong-finance-pop " },
    { ALI_STS, "sts.aliyuncs.com", " ap-south-1 ap-southeast-2 " },
};

const struct ali_product_row *ali_endpoint_product(enum ali_product product)
{
    return &products[product];
}

bool ali_endpoint_valid_part(const char *text)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    const size_t len = strlen(text);

    return len > 0 && len <= 64 && strspn(text, allowed) == len;
}

/* Name, IPv4 address, or IPv6 address in brackets. */
static bool valid_host(const char *host, size_t len)
{
    static const char name[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";
    static const char ipv6[] = "0123456789abcdefABCDEF:.";

    if (len == 0 || len > 253) {
        return false;
    }
    if (host[0] == '[') {
        return len > 3 && host[len - 1] == ']' && strspn(host + 1, ipv6) == len - 2;
    }
    return strspn(host, name) >= len;
}

static int endpoint_fail_parse(const char *what, const char *text, const char *why,
                               struct ccm_error *err)
{
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                         "%s: \"%.128s\" is no [scheme://]host[:port]: %s", what, text, why);
}

/* host[:port] of `len` bytes into ret->host. */
static int parse_authority(const char *what, const char *text, size_t len, struct ali_endpoint *ret,
                           struct ccm_error *err)
{
    char copy[ALI_ENDPOINT_HOST_MAX];

    if (len >= sizeof(copy)) {
        return endpoint_fail_parse(what, text, "too long", err);
    }
    memcpy(copy, text, len);
    copy[len] = '\0';

    const char *after = copy[0] == '[' ? strchr(copy, ']') : copy;
    const char *colon = after == NULL ? NULL : strchr(after, ':');
    const size_t host_len = colon == NULL ? len : (size_t)(colon - copy);
    uint32_t port = 0;

    if (!valid_host(copy, host_len)) {
        return endpoint_fail_parse(what, copy, "the host is not valid", err);
    }
    if (colon != NULL && ccm_parse_u32(colon + 1, 1, 65535, &port) < 0) {
        return endpoint_fail_parse(what, copy, "the port must lie between 1 and 65535", err);
    }
    /* Clients leave a default port out of the Host header, which is signed. */
    if (port == (ret->plain_http ? 80 : 443)) {
        copy[host_len] = '\0';
    }
    ccm_text_copy(ret->host, sizeof(ret->host), copy);
    return 0;
}

int ali_endpoint_parse(const char *what, const char *text, bool drop_path, struct ali_endpoint *ret,
                       struct ccm_error *err)
{
    const char *scheme_end = strstr(text, "://");
    struct ali_endpoint endpoint = { .plain_http = ret->plain_http };
    const char *start = text;

    if (scheme_end != NULL) {
        const size_t len = (size_t)(scheme_end - text);

        if (len == 4 && strncmp(text, "http", 4) == 0) {
            endpoint.plain_http = true;
        } else if (len == 5 && strncmp(text, "https", 5) == 0) {
            endpoint.plain_http = false;
        } else {
            return endpoint_fail_parse(what, text, "the scheme must be http or https", err);
        }
        start = scheme_end + 3;
    }

    const size_t len = strcspn(start, "/?#");
    const char *path = start + len;

    if (!drop_path && strcmp(path, "") != 0 && strcmp(path, "/") != 0) {
        return endpoint_fail_parse(what, text, "a path has no place here", err);
    }

    const int r = parse_authority(what, start, len, &endpoint, err);

    if (r == 0) {
        *ret = endpoint;
    }
    return r;
}

static bool endpoint_find_mapped(enum ali_product product, const char *region,
                                 struct ali_endpoint *ret)
{
    char wanted[80];

    ccm_text_printf(wanted, sizeof(wanted), " %s ", region);
    for (size_t i = 0; i < CCM_ARRAY_LEN(region_hosts); i++) {
        if (region_hosts[i].product == product && strstr(region_hosts[i].regions, wanted) != NULL) {
            ccm_text_copy(ret->host, sizeof(ret->host), region_hosts[i].host);
            return true;
        }
    }
    return false;
}

/* The scheme inside the variable never counted: only host and port are taken. */
static int from_environment(const char *name, const char *value, struct ali_endpoint *ret,
                            struct ccm_error *err)
{
    struct ali_endpoint given = { .plain_http = ret->plain_http };
    const char *host = strncmp(value, "http", 4) == 0 ? strstr(value, "://") : NULL;
    const int r = ali_endpoint_parse(name, host == NULL ? value : host + 3, true, &given, err);

    if (r == 0) {
        *ret = given;
    }
    return r;
}

int ali_endpoint_find(enum ali_product product, const char *region, const char *network,
                      const char *override, struct ali_endpoint *ret, struct ccm_error *err)
{
    const struct ali_product_row *info = &products[product];
    const char *scheme = getenv("ALICLOUD_CLIENT_SCHEME");
    const char *variable = getenv(info->env);
    struct ali_endpoint endpoint = { .plain_http = ccm_text_equal(scheme, "HTTP") };
    int r = 0;

    if (!ccm_text_empty(variable)) {
        r = from_environment(info->env, variable, &endpoint, err);
    } else if (!ccm_text_empty(override)) {
        char what[48];

        ccm_text_printf(what, sizeof(what), "alicloud.endpoints.%s", info->name);
        r = ali_endpoint_parse(what, override, false, &endpoint, err);
    } else if (!ali_endpoint_valid_part(region)) {
        r = ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                          "alicloud.region: \"%.64s\" is no region (letters, digits, - and _)",
                          region);
    } else if (info->fixed != NULL) {
        ccm_text_copy(endpoint.host, sizeof(endpoint.host), info->fixed);
    } else {
        const bool vpc = strcmp(network, "vpc") == 0;

        if (vpc || !endpoint_find_mapped(product, region, &endpoint)) {
            ccm_text_printf(endpoint.host, sizeof(endpoint.host), "%s%s.%s.aliyuncs.com",
                            info->host == NULL ? info->name : info->host, vpc ? "-vpc" : "",
                            region);
        }
    }
    if (r == 0) {
        *ret = endpoint;
    }
    return r;
}
