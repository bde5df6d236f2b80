#include "lbc/model/settings.h"
#include "lbc/names.h"

#include "lbc/model/annotation.h"
#include "util/cidr.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

bool lbc_setting_is_reused(const struct ccm_service *service)
{
    return lbc_anno_get(&service->meta, "id")[0] != '\0';
}

const char *lbc_setting_reused_id(const struct lbc_anno_table *table,
                                  const struct ccm_service *service)
{
    return lbc_setting_is_reused(service) && lbc_anno_find(table, "id") != NULL
               ? lbc_anno_get(&service->meta, "id")
               : "";
}

bool lbc_setting_preserve(const struct ccm_service *service)
{
    static const char *const no[] = { "", "false", "off", "no", "0" };
    const char *value = lbc_anno_get(&service->meta, "preserve-lb-on-delete");

    for (size_t i = 0; i < CCM_ARRAY_LEN(no); i++) {
        if (ccm_text_equal_case(value, no[i])) {
            return false;
        }
    }
    return true;
}

/* --- tags --- */

bool lbc_setting_is_reserved_tag(const char *key, bool reused)
{
    return key[0] == '\0' ||
           (lbc_names.tag_cloud != NULL && ccm_text_starts(key, lbc_names.tag_cloud)) ||
           strcmp(key, lbc_names.tag_owner) == 0 || strcmp(key, lbc_names.tag_cluster) == 0 ||
           ccm_text_starts(key, lbc_names.tag_tenants) ||
           (reused && strcmp(key, lbc_names.tag_reuse) == 0);
}

/* One "key=value", "key=" or "key"; the value may contain '='. */
static int add_tag(struct lbc_tags *tags, const char *entry, size_t len, bool reused)
{
    CCM_CLEANUP(ccm_freep) char *text = strndup(entry, len);
    CCM_CLEANUP(ccm_freep) char *key = NULL;
    const char *cursor = text;
    const char *start = NULL;
    size_t key_len = 0;

    if (text == NULL || !ccm_parse_piece(&cursor, '=', &start, &key_len)) {
        return text == NULL ? -ENOMEM : 0;
    }
    key = strndup(start, key_len);
    if (key == NULL || lbc_setting_is_reserved_tag(key, reused)) {
        return key == NULL ? -ENOMEM : 0;
    }
    const char *equals = strchr(text, '=');
    const char *value = equals == NULL ? "" : equals + 1;

    return lbc_tags_put(tags, key, value + strspn(value, " \t"));
}

int lbc_setting_tags(const struct ccm_service *service, bool reused, struct lbc_tags *ret)
{
    const char *value = lbc_anno_get(&service->meta, "additional-resource-tags");
    const char *cursor = value;
    const char *entry = NULL;
    size_t len = 0;
    int r = 0;

    /* One too many says it all: reading tens of thousands would take seconds. */
    while (r == 0 && ret->len <= LBC_TAGS_MAX && cursor != NULL && cursor[0] != '\0' &&
           cursor - value <= LBC_TAGS_BYTES && ccm_parse_piece(&cursor, ',', &entry, &len)) {
        r = add_tag(ret, entry, len, reused);
    }
    return r;
}

/* --- weights --- */

struct lbc_weight_rule lbc_setting_weight(const struct ccm_service *service, bool total)
{
    struct lbc_weight_rule rule = { .each = LBC_WEIGHT_DEFAULT };

    if (ccm_parse_u32(lbc_anno_get(&service->meta, "default-weight"), 0, LBC_WEIGHT_MAX,
                      &rule.each) < 0) {
        rule.each = LBC_WEIGHT_DEFAULT;
    }
    rule.has_total = total && ccm_parse_u32(lbc_anno_get(&service->meta, "weight"), 0,
                                            LBC_WEIGHT_MAX, &rule.total) == 0;
    return rule;
}

int lbc_setting_refuse(const char *suffix, const char *value, const char *expected,
                       struct ccm_error *err)
{
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "annotation %s%s must be %s, got [%.*s]",
                         lbc_names.annotations, suffix, expected, LBC_SHOWN_MAX, value);
}

/* --- lists --- */

bool lbc_setting_split(char *text, const char **ret_left, const char **ret_right)
{
    char *colon = strchr(text, ':');

    if (colon == NULL || strchr(colon + 1, ':') != NULL) {
        return false;
    }
    *colon = '\0';
    ccm_text_strip(text);
    ccm_text_strip(colon + 1);
    *ret_left = text;
    *ret_right = colon + 1;
    return true;
}

bool lbc_setting_next_pair(const char **cursor, struct lbc_setting_pair *ret)
{
    const char *start = NULL;
    size_t len = 0;

    if (*cursor == NULL || **cursor == '\0' || !ccm_parse_piece(cursor, ',', &start, &len)) {
        return false;
    }
    if (strnlen(start, LBC_PAIRS_MAX + 1) > LBC_PAIRS_MAX) {
        *cursor = NULL;
        *ret = (struct lbc_setting_pair){ .left = "", .right = "" };
        ccm_text_printf(ret->entry, sizeof(ret->entry), "a list of more than %d bytes",
                        LBC_PAIRS_MAX);
        return true;
    }
    /* No byte too many: it is read for each port. */
    const size_t shown = len < LBC_PAIR_MAX ? len : LBC_PAIR_MAX - 1;

    memcpy(ret->entry, start, shown);
    ret->entry[shown] = '\0';
    memcpy(ret->text, ret->entry, shown + 1);
    ret->good = len == shown && lbc_setting_split(ret->text, &ret->left, &ret->right) &&
                ret->left[0] != '\0' && ret->right[0] != '\0';
    if (!ret->good) {
        ret->left = ret->right = "";
    }
    return true;
}

void lbc_setting_for_port(const struct ccm_service *service, const char *suffix, int64_t port,
                          char ret[static LBC_PAIR_MAX])
{
    const char *cursor = lbc_anno_get(&service->meta, suffix);
    struct lbc_setting_pair pair;
    char number[24];

    ret[0] = '\0';
    ccm_text_printf(number, sizeof(number), "%lld", (long long)port);
    while (ret[0] == '\0' && lbc_setting_next_pair(&cursor, &pair)) {
        if (strcmp(pair.right, number) == 0) {
            ccm_text_copy(ret, LBC_PAIR_MAX, pair.left);
        }
    }
}

static int check_protocol(const struct lbc_protocols *protocols, const char *name,
                          struct ccm_error *err)
{
    if (protocols == NULL || lbc_protocol_parse(name, protocols->known) != LBC_OTHER) {
        return 0;
    }
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "%s%s%s", protocols->refusal[0], name,
                         protocols->refusal[1]);
}

int lbc_setting_protocol_word(const struct ccm_service *service,
                              const struct ccm_service_port *port,
                              const struct lbc_protocols *protocols, char ret[static LBC_PAIR_MAX],
                              struct ccm_error *err)
{
    const char *cursor = lbc_anno_get(&service->meta, "protocol-port");
    struct lbc_setting_pair pair;
    char number[24];
    int r = 0;

    ret[0] = '\0';
    ccm_text_printf(number, sizeof(number), "%lld", (long long)port->port);
    while (r == 0 && ret[0] == '\0' && lbc_setting_next_pair(&cursor, &pair)) {
        if (!pair.good) {
            return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                                 "port and protocol format must be like 'https:443' with colon "
                                 "separated. got=[[%s]]",
                                 pair.entry);
        }
        r = check_protocol(protocols, pair.left, err);
        if (r == 0 && strcmp(pair.right, number) == 0) {
            ccm_text_copy(ret, LBC_PAIR_MAX, pair.left);
        }
    }
    return r;
}

int lbc_setting_protocol(const struct ccm_service *service, const struct ccm_service_port *port,
                         const struct lbc_protocols *protocols, enum lbc_protocol *ret,
                         struct ccm_error *err)
{
    char word[LBC_PAIR_MAX];
    const int r = lbc_setting_protocol_word(service, port, protocols, word, err);

    if (r < 0) {
        return r;
    }
    *ret = lbc_protocol_parse(word[0] == '\0' ? port->protocol : word, protocols->known);
    if (word[0] == '\0' && *ret != LBC_TCP && *ret != LBC_UDP) {
        return ccm_error_set(
            err, -EINVAL, CCM_ERROR_TERMINAL,
            "%s protocol is not supported (port %lld of the Service: TCP and UDP are). Move the "
            "port to a Service of type ClusterIP or NodePort: until then no load balancer is made "
            "for this one, and one that is there serves the other ports",
            port->protocol, (long long)port->port);
    }
    return 0;
}

bool lbc_setting_has_protocol(const struct ccm_service *service,
                              const struct lbc_protocols *protocols, unsigned mask)
{
    for (uint64_t i = 0; i < service->port_count; i++) {
        struct ccm_error ignored = CCM_ERROR_INIT;
        enum lbc_protocol protocol = LBC_OTHER;

        if (lbc_setting_protocol(service, service->ports[i], protocols, &protocol, &ignored) == 0 &&
            (mask >> protocol & 1U) != 0) {
            return true;
        }
    }
    return false;
}

bool lbc_setting_has_listeners(const struct lbc_anno_table *table,
                               const struct ccm_service *service)
{
    return ccm_text_empty(lbc_setting_reused_id(table, service)) ||
           strcmp(lbc_anno_get(&service->meta, "force-override-listeners"), "true") == 0;
}

/* With the bits of its own family; false: it is no block. */
static bool range_parse(const char *text, struct ccm_cidr *ret, bool *ret_ipv6)
{
    size_t len = strlen(text);
    const char *start = ccm_text_trim(text, &len); /* the API server lets them pass */
    char entry[LBC_RANGE_TEXT];

    ccm_text_printf(entry, sizeof(entry), "%.*s", len < sizeof(entry) ? (int)len : 0, start);
    if (ccm_cidr_parse(entry, ret) < 0 || (ccm_ip_is_v4(&ret->ip) && ret->bits < 96)) {
        return false;
    }
    *ret_ipv6 = !ccm_ip_is_v4(&ret->ip);
    ret->bits = *ret_ipv6 ? ret->bits : (uint8_t)(ret->bits - 96);
    return true;
}

bool lbc_setting_limits_sources(const struct ccm_service *service)
{
    unsigned halves[2] = {
        0
    }; /* of the addresses of each family: bits of those that may connect */

    for (uint64_t i = 0; i < service->source_range_count; i++) {
        struct ccm_cidr block;
        bool ipv6 = false;

        if (range_parse(service->source_ranges[i], &block, &ipv6) && block.bits <= 1) {
            const unsigned first = block.ip.bytes[ipv6 ? 0 : 12] >> 7;

            halves[ipv6] |= block.bits == 0 ? 3U : 1U << first;
        }
    }
    return service->source_range_count > 0 && halves[0] != 3 && halves[1] != 3;
}

int lbc_setting_ranges(const struct ccm_service *service, enum lbc_families families,
                       lbc_range_fn *add, void *arg, struct ccm_error *err)
{
    static const char *const kinds[] = { "", "IPv4", "IPv6", "address" };

    for (uint64_t i = 0; i < service->source_range_count; i++) {
        char address[CCM_IP_TEXT];
        char text[LBC_RANGE_TEXT];
        struct ccm_cidr block;
        bool ipv6 = false;

        if (!range_parse(service->source_ranges[i], &block, &ipv6) ||
            ((unsigned)families & (ipv6 ? LBC_IPV6 : LBC_IPV4)) == 0) {
            return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                                 "spec.loadBalancerSourceRanges: [%.*s] is no %s block",
                                 LBC_SHOWN_MAX, service->source_ranges[i], kinds[families]);
        }
        ccm_ip_format(&block.ip, address);
        ccm_text_printf(text, sizeof(text), "%s/%d", address, block.bits);
        if (add != NULL && add(arg, text, ipv6) < 0) {
            return ccm_error_nomem(err);
        }
    }
    return 0;
}

bool lbc_setting_lacks_family(const struct ccm_service *service, enum lbc_families wanted)
{
    unsigned present = 0;

    for (uint64_t i = 0; i < service->ip_family_count; i++) {
        present |= ccm_text_equal(service->ip_families[i], "IPv4")   ? (unsigned)LBC_IPV4
                   : ccm_text_equal(service->ip_families[i], "IPv6") ? (unsigned)LBC_IPV6
                                                                     : 0;
    }
    return present != 0 && (present & (unsigned)wanted) != (unsigned)wanted;
}
