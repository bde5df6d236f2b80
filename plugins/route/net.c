#include "net.h"

#include "util/array.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define V4_OFFSET 96U /* bits in front of an IPv4 address in its mapped form */

static void net_clear_host_bits(struct ccm_cidr *net)
{
    const size_t whole = net->bits / 8;

    if (whole < sizeof(net->ip.bytes)) {
        net->ip.bytes[whole] &= (uint8_t)(0xffU << (8U - net->bits % 8U));
        memset(net->ip.bytes + whole + 1, 0, sizeof(net->ip.bytes) - whole - 1);
    }
}

int route_net_parse(const char *text, struct ccm_cidr *ret)
{
    struct ccm_cidr net;

    /* An address alone is no network: nobody knows how long its prefix was meant to be. */
    if (strchr(text, '/') == NULL || ccm_cidr_parse(text, &net) < 0) {
        return -EINVAL;
    }
    net_clear_host_bits(&net);
    *ret = net;
    return 0;
}

bool route_net_is_v4(const struct ccm_cidr *net)
{
    return net->bits >= V4_OFFSET && ccm_ip_is_v4(&net->ip);
}

void route_net_format(const struct ccm_cidr *net, char text[ROUTE_NET_TEXT])
{
    char ip[CCM_IP_TEXT];

    ccm_ip_format(&net->ip, ip);
    ccm_text_printf(text, ROUTE_NET_TEXT, "%s/%u", ip,
                    route_net_is_v4(net) ? net->bits - V4_OFFSET : net->bits);
}

int route_net_compare(const struct ccm_cidr *a, const struct ccm_cidr *b)
{
    const int order = memcmp(a->ip.bytes, b->ip.bytes, sizeof(a->ip.bytes));

    return order != 0 ? order : (int)a->bits - (int)b->bits;
}

enum route_relation route_net_relation(const struct ccm_cidr *outer, const struct ccm_cidr *inner)
{
    struct ccm_cidr cut = *inner;

    if (outer == NULL) {
        return ROUTE_NET_INSIDE;
    }
    if (outer->bits > inner->bits || route_net_is_v4(outer) != route_net_is_v4(inner)) {
        return ROUTE_NET_APART;
    }
    if (outer->bits == inner->bits) {
        return route_net_compare(outer, inner) == 0 ? ROUTE_NET_EQUAL : ROUTE_NET_APART;
    }
    cut.bits = outer->bits;
    net_clear_host_bits(&cut);
    return route_net_compare(outer, &cut) == 0 ? ROUTE_NET_INSIDE : ROUTE_NET_APART;
}

static int nets_add_one(struct route_nets *nets, const struct ccm_cidr *net)
{
    if (ccm_array_grow(&nets->items, &nets->cap, nets->len + 1, sizeof(*nets->items)) < 0) {
        return -ENOMEM;
    }
    nets->items[nets->len++] = *net;
    return 0;
}

int route_nets_parse(const char *text, struct route_nets *ret, char bad[64])
{
    struct route_nets nets = { 0 };
    const char *cursor = text;
    const char *piece = NULL;
    size_t len = 0;

    while (text[0] != '\0' && ccm_parse_piece(&cursor, ',', &piece, &len)) {
        struct ccm_cidr net;
        int r;

        if (len == 0) {
            continue;
        }
        ccm_text_copy(bad, len < 64 ? len + 1 : 64, piece);
        r = route_net_parse(bad, &net);
        if (r == 0) {
            r = nets_add_one(&nets, &net);
        }
        if (r < 0) {
            route_nets_fini(&nets);
            return r;
        }
    }
    *ret = nets;
    return 0;
}

void route_nets_fini(struct route_nets *nets)
{
    free(nets->items);
    memset(nets, 0, sizeof(*nets));
}

bool route_nets_contain(const struct route_nets *nets, const struct ccm_cidr *net)
{
    for (size_t i = 0; i < nets->len; i++) {
        if (route_net_relation(&nets->items[i], net) != ROUTE_NET_APART) {
            return true;
        }
    }
    return false;
}
