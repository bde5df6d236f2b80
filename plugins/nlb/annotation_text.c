#include "annotation_text.h"

#include "annotations.h"
#include "lbc/model/settings.h"
#include "util/cidr.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define ZONES_MAX    10 /* of one load balancer */
#define SECURITY_MAX 4  /* security groups of one load balancer */
#define INTERVAL_MAX 50 /* of checks that are not of type udp */

bool nlb_is_dual_stack(const struct ccm_service *service)
{
    return lbc_anno_says(&service->meta, "ip-version", "dualstack");
}

/* --- zones --- */

/* One "zone:vsw[:ipv4[:allocation]]", blanks stripped. */
static int text_parse_zone(const char *entry, size_t len, struct nlb_lb *lb)
{
    char text[4][64] = { { 0 } };
    char whole[256];
    const char *cursor = whole;
    const char *piece = NULL;
    size_t piece_len = 0;
    size_t count = 0;
    struct ccm_ip ip;

    if (len >= sizeof(whole)) {
        return -EINVAL;
    }
    ccm_text_printf(whole, sizeof(whole), "%.*s", (int)len, entry);
    while (ccm_parse_piece(&cursor, ':', &piece, &piece_len)) {
        if (count == CCM_ARRAY_LEN(text) || piece_len >= sizeof(text[0])) {
            return -EINVAL;
        }
        ccm_text_printf(text[count++], sizeof(text[0]), "%.*s", (int)piece_len, piece);
    }
    if (text[0][0] == '\0' || text[1][0] == '\0' ||
        (text[2][0] != '\0' && (ccm_ip_parse(text[2], &ip) < 0 || !ccm_ip_is_v4(&ip)))) {
        return -EINVAL;
    }
    return nlb_lb_put_zone(lb, text[0], text[1], text[2][0] == '\0' ? NULL : text[2],
                           text[3][0] == '\0' ? NULL : text[3]);
}

int nlb_zones_of(const struct ccm_service *service, struct nlb_lb *lb, struct ccm_error *err)
{
    const char *value = lbc_anno_get(&service->meta, "zone-maps");
    const char *cursor = value;
    const char *entry = NULL;
    size_t len = 0;

    while (cursor != NULL && cursor[0] != '\0' && ccm_parse_piece(&cursor, ',', &entry, &len)) {
        const size_t before = lb->zone_count;
        const int r = text_parse_zone(entry, len, lb);

        if (r == -ENOMEM) {
            return ccm_error_nomem(err);
        }
        if (r < 0 || lb->zone_count == before) {
            return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                                 "ZoneMapping format error, expect [zone-a:vsw-id-1,zone-b:"
                                 "vsw-id-2], got %.*s%s",
                                 LBC_SHOWN_MAX, value, r < 0 ? "" : ": a zone is named twice");
        }
    }
    return 0;
}

static int check_zones(const struct lbc_checked *it, struct ccm_error *err)
{
    CCM_CLEANUP(nlb_lb_fini) struct nlb_lb lb = { .lbc.id = NULL };
    int r;

    if (it->value[0] == '\0' && !lbc_setting_is_reused(it->service)) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "ParameterMissing, zone mappings are required: set annotation "
                             "%szone-maps to zone:vSwitch of at least two zones of the region, "
                             "separated by commas, such as "
                             "cn-hangzhou-h:vsw-1,cn-hangzhou-i:vsw-2",
                             LBC_ANNO_PREFIX);
    }
    r = nlb_zones_of(it->service, &lb, err);
    if (r == 0 && lb.zone_count > ZONES_MAX) {
        r = lbc_setting_refuse(it->row->suffix, it->value, "a list of at most 10 zones", err);
    }
    return r;
}

/* --- ports --- */

const struct lbc_protocols nlb_protocols = {
    .known = NLB_PROTOCOLS,
    .refusal = { "port protocol format must be either [TCP|UDP|TCPSSL], protocol not supported "
                 "with [",
                 "]" },
};

/* "a-b" of an entry "a-b:port". */
static int parse_range(const char *text, struct lbc_span *ret, struct ccm_error *err)
{
    const char *dash = strchr(text, '-');
    char left[LBC_PAIR_MAX];
    uint32_t start = 0;
    uint32_t end = 0;

    ccm_text_printf(left, sizeof(left), "%.*s", dash == NULL ? 0 : (int)(dash - text), text);
    if (dash == NULL || ccm_parse_u32(left, 1, UINT16_MAX, &start) < 0 ||
        ccm_parse_u32(dash + 1, 1, UINT16_MAX, &end) < 0) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "port range [%s] is invalid", text);
    }
    if (start >= end) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "start port should be smaller than end port for port range [%s]",
                             text);
    }
    *ret = (struct lbc_span){ (uint16_t)start, (uint16_t)end, true };
    return 0;
}

/* Every entry is looked at; *ret changes when one is for the port `number` (as text). */
static int find_range(const struct ccm_service *service, const char *number, struct lbc_span *ret,
                      struct ccm_error *err)
{
    const char *cursor = lbc_anno_get(&service->meta, "listener-port-range");
    struct lbc_setting_pair pair;
    int r = 0;

    while (r == 0 && lbc_setting_next_pair(&cursor, &pair)) {
        struct lbc_span span = { 0, 0, false };

        if (!pair.good) {
            return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                                 "listener port range must be like 1000-2000:80 with colon "
                                 "separated. got [%s]",
                                 pair.entry);
        }
        r = parse_range(pair.left, &span, err);
        if (r == 0 && strcmp(pair.right, number) == 0) {
            *ret = span;
        }
    }
    return r;
}

int nlb_span_of(const struct ccm_service *service, const struct ccm_service_port *port,
                struct lbc_span *ret, struct ccm_error *err)
{
    char number[24];

    if (port->port < 1 || port->port > UINT16_MAX) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "port out of range");
    }
    ccm_text_printf(number, sizeof(number), "%lld", (long long)port->port);
    *ret = (struct lbc_span){ (uint16_t)port->port, (uint16_t)port->port, false };
    return find_range(service, number, ret, err);
}

static int check_ranges(const struct lbc_checked *it, struct ccm_error *err)
{
    struct lbc_span ignored = { 0, 0, false };

    return find_range(it->service, "", &ignored, err);
}

static void write_span(const struct lbc_span *span, enum lbc_protocol protocol, char *ret,
                       size_t size)
{
    if (span->range) {
        ccm_text_printf(ret, size, "%u-%u/%s", span->start, span->end, lbc_protocol_name(protocol));
    } else {
        ccm_text_printf(ret, size, "%u/%s", span->start, lbc_protocol_name(protocol));
    }
}

static bool spans_meet(const struct lbc_span *one, const struct lbc_span *other)
{
    return one->start <= other->end && other->start <= one->end;
}

/* False: it cannot be told, which is said elsewhere. */
static bool port_find_span(const struct ccm_service *service, uint64_t index, struct lbc_span *ret)
{
    struct ccm_error ignored = CCM_ERROR_INIT;

    return nlb_span_of(service, service->ports[index], ret, &ignored) == 0;
}

/* LBC_OTHER: it cannot be told either. */
static enum lbc_protocol port_find_protocol(const struct ccm_service *service, uint64_t index)
{
    struct ccm_error ignored = CCM_ERROR_INIT;
    enum lbc_protocol protocol = LBC_OTHER;

    return lbc_setting_protocol(service, service->ports[index], &nlb_protocols, &protocol,
                                &ignored) < 0
               ? LBC_OTHER
               : protocol;
}

int nlb_check_overlap(const struct ccm_service *service, uint64_t index, uint64_t count,
                      struct ccm_error *err)
{
    enum lbc_protocol protocol = LBC_OTHER;
    struct lbc_span span;

    if (!port_find_span(service, index, &span)) {
        return 0;
    }
    protocol = port_find_protocol(service, index);
    for (uint64_t i = 0; protocol != LBC_OTHER && i < count; i++) {
        enum lbc_protocol other = LBC_OTHER;
        struct lbc_span earlier;
        char a[32];
        char b[32];

        if (i == index || !port_find_span(service, i, &earlier) || !spans_meet(&span, &earlier)) {
            continue;
        }
        other = port_find_protocol(service, i);
        if (other == LBC_OTHER || !lbc_protocol_clash(other, protocol)) {
            continue;
        }
        write_span(&span, protocol, a, sizeof(a));
        write_span(&earlier, other, b, sizeof(b));
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "port of listener [%s] overlaps with listener [%s]", a, b);
    }
    return 0;
}

/* --- one value each --- */

static bool is_outside_ascii(char c)
{
    return ((unsigned char)c & 0x80U) != 0;
}

static int check_name(const struct lbc_checked *it, struct ccm_error *err)
{
    bool good = isalpha((unsigned char)it->value[0]) != 0 || is_outside_ascii(it->value[0]);
    size_t count = 0;

    for (const char *p = it->value; good && *p != '\0'; p++) {
        good = isalnum((unsigned char)*p) != 0 || is_outside_ascii(*p) || strchr("._-", *p) != NULL;
        count += ((unsigned char)*p & 0xC0U) != 0x80U ? 1 : 0; /* first bytes of characters */
    }
    if (it->value[0] == '\0' || (good && count >= 2 && count <= 128)) {
        return lbc_check_name(it, err);
    }
    return lbc_check_refuse(it, it->value, err);
}

static int check_security_groups(const struct lbc_checked *it, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts groups = { 0 };
    const bool security_group =
        it->service->source_range_count > 0 && !lbc_setting_is_reused(it->service);

    if (lbc_texts_split(&groups, it->value) < 0) {
        return ccm_error_nomem(err);
    }
    if (groups.len + (security_group ? 1 : 0) <= SECURITY_MAX) {
        return 0;
    }
    return lbc_setting_refuse(it->row->suffix, it->value,
                              security_group ? "a list of at most 3 groups beside "
                                               "spec.loadBalancerSourceRanges"
                                             : "a list of at most 4 groups",
                              err);
}

/* --- health checks; they count only when health-check-flag is on --- */

static bool has_checks(const struct ccm_service *service)
{
    return lbc_anno_is_on(lbc_anno_get(&service->meta, "health-check-flag"));
}

/* Whether every port that can be told is a UDP one. */
static bool is_all_udp(const struct ccm_service *service)
{
    return !lbc_setting_has_protocol(service, &nlb_protocols, ~(1U << LBC_UDP));
}

static int check_health_interval(const struct lbc_checked *it, struct ccm_error *err)
{
    const char *type = lbc_anno_get(&it->service->meta, "health-check-type");
    const bool udp = type[0] == '\0' ? is_all_udp(it->service) : ccm_text_equal_case(type, "udp");
    uint32_t interval = 0;
    uint32_t timeout = 0;

    if (!has_checks(it->service) || ccm_parse_u32(it->value, 1, UINT32_MAX, &interval) < 0) {
        return 0;
    }
    if (!udp && interval > INTERVAL_MAX) {
        return lbc_setting_refuse(it->row->suffix, it->value,
                                  "at most 50 unless health-check-type is udp", err);
    }
    if (udp &&
        ccm_parse_u32(lbc_anno_get(&it->service->meta, "health-check-connect-timeout"), 1,
                      UINT32_MAX, &timeout) == 0 &&
        interval < timeout) {
        return lbc_setting_refuse(it->row->suffix, it->value,
                                  "not less than health-check-connect-timeout where the type is "
                                  "udp",
                                  err);
    }
    return 0;
}

/* --- spec.loadBalancerSourceRanges --- */

int nlb_check_source_ranges(const struct ccm_service *service, struct ccm_error *err)
{
    return lbc_setting_is_reused(service)
               ? 0
               : lbc_setting_ranges(service, LBC_DUAL_STACK, NULL, NULL, err);
}

const struct lbc_check nlb_checks[] = {
    { .suffix = "zone-maps", .run = check_zones },
    { .suffix = "cert-id",
      .run = lbc_check_is_set,
      .on = 1U << LBC_TCPSSL,
      .refusal = { "annotation " LBC_ANNO_PREFIX
                   "cert-id is required for TCPSSL ports: give the id "
                   "of a server certificate",
                   "" } },
    { .suffix = "ipv6-address-type",
      .run = lbc_check_word,
      .words = "internet|intranet",
      .refusal = { "invalid ipv6 address type ", "" } },
    { .suffix = "name",
      .run = check_name,
      .words = "2 to 128 letters, digits, dots, underscores and hyphens, a letter first" },
    { .suffix = "security-group-ids", .run = check_security_groups },
    { .suffix = "listener-port-range", .run = check_ranges },
    { .suffix = "idle-timeout",
      .run = lbc_check_number,
      .on = 1U << LBC_UDP,
      .gap = { 91, UINT32_MAX },
      .words = "at most 90 where a port is UDP" },
    { .suffix = "server-group-type",
      .run = lbc_check_word,
      .words = "Instance|Ip",
      .refusal = { "unsupport server ServerGroupType [",
                   "]: annotation " LBC_ANNO_PREFIX "server-group-type must be Instance or Ip" } },
    { .suffix = "health-check-interval", .run = check_health_interval },
    { .suffix = "health-check-domain", .run = lbc_check_host, .words = "$SERVER_IP" },
    { .suffix = "health-check-uri", .run = lbc_check_path },
    { .suffix = "health-check-httpcode", .run = lbc_check_codes },
    { .suffix = "vgroup-port",
      .run = lbc_check_pairs,
      .refusal = { "server group id and protocol format must be like'sgp-xxx:443' with colon "
                   "separated. got=[[",
                   "]]" } },
    { .suffix = "backend-label", .run = lbc_check_labels },
    { .suffix = "additional-resource-tags", .run = lbc_check_tags },
    { 0 },
};

const char *nlb_annotation_unclear(const struct lbc_anno *row, const char *value)
{
    if (strcmp(row->name, "delete-protection") == 0) {
        return ccm_text_equal_case(value, "off") || ccm_text_equal_case(value, "false") ? "off"
                                                                                        : NULL;
    }
    if (strcmp(row->name, "modification-protection") == 0) {
        return strcmp(value, "NonProtection") == 0 ? "NonProtection" : NULL;
    }
    if (strcmp(row->name, "remove-unscheduled-backend") == 0 && strcmp(value, "on") != 0 &&
        ccm_text_equal_case(value, "on")) {
        return "on in capital letters";
    }
    return row->type == LBC_ANNO_BOOL && ccm_text_equal_case(value, "true") ? "true instead of on"
                                                                            : NULL;
}
