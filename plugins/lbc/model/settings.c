#include "lbc/model/settings.h"

#include "lbc/model/annotation.h"
#include "lbc/model/node.h"
#include "lbc/model/owner.h"
#include "util/cidr.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SHOWN 200 /* most bytes of a value that a message repeats */

#define TAGS "additional-resource-tags"
/* What the cloud takes. */
#define TAG_KEY_MAX   64
#define TAG_VALUE_MAX 128
#define TAGS_MAX      20 /* of one resource */
#define TAGS_OURS     2  /* LBC_TAG_OWNER, LBC_TAG_CLUSTER */

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
    return key[0] == '\0' || ccm_text_starts(key, "acs:") || strcmp(key, LBC_TAG_OWNER) == 0 ||
           strcmp(key, LBC_TAG_CLUSTER) == 0 || ccm_text_starts(key, LBC_TAG_TENANTS) ||
           (reused && strcmp(key, LBC_TAG_REUSE) == 0);
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
    const char *cursor = lbc_anno_get(&service->meta, TAGS);
    const char *entry = NULL;
    size_t len = 0;
    int r = 0;

    /* One too many says it all: reading tens of thousands would take seconds. */
    while (r == 0 && ret->len <= TAGS_MAX && cursor != NULL && cursor[0] != '\0' &&
           ccm_parse_piece(&cursor, ',', &entry, &len)) {
        r = add_tag(ret, entry, len, reused);
    }
    return r;
}

/* Characters of a UTF-8 text: the cloud counts those. */
static size_t count_characters(const char *text)
{
    size_t count = 0;

    for (const char *p = text; *p != '\0'; p++) {
        count += ((unsigned char)*p & 0xC0U) != 0x80U ? 1 : 0;
    }
    return count;
}

int lbc_setting_check_tags(const struct ccm_service *service, struct ccm_error *err)
{
    const bool reused = lbc_anno_get(&service->meta, "id")[0] != '\0';
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };

    if (lbc_setting_tags(service, reused, &tags) < 0) {
        return ccm_error_nomem(err);
    }
    for (size_t i = 0; i < tags.len; i++) {
        const struct lbc_tag *tag = &tags.items[i];

        if (count_characters(tag->key) > TAG_KEY_MAX ||
            count_characters(tag->value) > TAG_VALUE_MAX) {
            return lbc_setting_refuse(TAGS, tag->key,
                                      "tags with keys of at most 64 and values of at most 128 "
                                      "characters",
                                      err);
        }
    }
    if (tags.len <= (reused ? TAGS_MAX : TAGS_MAX - TAGS_OURS)) {
        return 0;
    }
    return lbc_setting_refuse(TAGS, lbc_anno_get(&service->meta, TAGS),
                              reused ? "at most 20 tags"
                                     : "at most 18 tags beside the two that mark whose the load "
                                       "balancer is",
                              err);
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

/* --- checks --- */

int lbc_setting_refuse(const char *suffix, const char *value, const char *expected,
                       struct ccm_error *err)
{
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "annotation %s%s must be %s, got [%.*s]",
                         LBC_ANNO_PREFIX, suffix, expected, SHOWN, value);
}

int lbc_setting_check_name(const struct ccm_service *service, struct ccm_error *err)
{
    const char *value = lbc_anno_get(&service->meta, "name");
    char own[LBC_OWNER_LB_NAME];

    lbc_owner_lb_name(&service->meta, own);
    return !lbc_owner_is_lb_name(value) || strcmp(value, own) == 0
               ? 0
               : lbc_setting_refuse("name", value,
                                    "no default name of another Service (a and 31 hexadecimal "
                                    "digits)",
                                    err);
}

int lbc_setting_check_labels(const struct ccm_service *service, struct ccm_error *err)
{
    const char *entry = NULL;
    size_t len = 0;

    if (lbc_node_check_labels(lbc_anno_get(&service->meta, "backend-label"), &entry, &len) == 0) {
        return 0;
    }
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                         "get nodes error: filter nodes by label error: parse backend label: "
                         "%.*s, [k1=v1,k2=v2]",
                         (int)(len < SHOWN ? len : SHOWN), entry);
}

int lbc_setting_check_health_uri(const struct ccm_service *service, struct ccm_error *err)
{
    const char *value = lbc_anno_get(&service->meta, "health-check-uri");

    if (value[0] == '\0' || (value[0] == '/' && strlen(value) <= 80)) {
        return 0;
    }
    return lbc_setting_refuse("health-check-uri", value,
                              "a path of 1 to 80 characters that starts with /", err);
}

int lbc_setting_check_health_domain(const struct ccm_service *service, const char *address,
                                    struct ccm_error *err)
{
    const char *value = lbc_anno_get(&service->meta, "health-check-domain");
    bool good = strlen(value) <= 80;
    char expected[96];

    for (const char *p = value; good && *p != '\0'; p++) {
        good = isalnum((unsigned char)*p) != 0 || *p == '.' || *p == '-';
    }
    if (good || strcmp(value, address) == 0) {
        return 0;
    }
    ccm_text_printf(expected, sizeof(expected), "%s or 1 to 80 letters, digits, dots and hyphens",
                    address);
    return lbc_setting_refuse("health-check-domain", value, expected, err);
}

int lbc_setting_check_health_code(const struct ccm_service *service, struct ccm_error *err)
{
    static const char *const codes[] = { "http_2xx", "http_3xx", "http_4xx", "http_5xx" };
    const char *value = lbc_anno_get(&service->meta, "health-check-httpcode");
    const char *cursor = value;
    const char *piece = NULL;
    size_t len = 0;

    while (value[0] != '\0' && ccm_parse_piece(&cursor, ',', &piece, &len)) {
        bool good = false;

        for (size_t i = 0; i < CCM_ARRAY_LEN(codes); i++) {
            good = good || (strlen(codes[i]) == len && memcmp(piece, codes[i], len) == 0);
        }
        if (!good) {
            return lbc_setting_refuse("health-check-httpcode", value,
                                      "a list of http_2xx, http_3xx, http_4xx, http_5xx", err);
        }
    }
    return 0;
}

/* --- lists --- */

static void setting_copy_piece(char *to, const char *start, size_t len)
{
    memcpy(to, start, len); /* longer ones were turned away */
    to[len] = '\0';
}

bool lbc_setting_next_pair(const char **cursor, struct lbc_setting_pair *ret)
{
    const char *start = NULL;
    const char *left = NULL;
    const char *right = NULL;
    const char *rest = ret->entry;
    size_t len = 0;
    size_t left_len = 0;
    size_t right_len = 0;

    /* An annotation can hold tens of thousands of them, read for each port: no byte too many. */
    ret->entry[0] = ret->left[0] = ret->right[0] = '\0';
    ret->good = false;
    if (*cursor == NULL || **cursor == '\0' || !ccm_parse_piece(cursor, ',', &start, &len)) {
        return false;
    }
    setting_copy_piece(ret->entry, start, len < LBC_PAIR_MAX ? len : LBC_PAIR_MAX - 1);
    if (len < LBC_PAIR_MAX && ccm_parse_piece(&rest, ':', &left, &left_len) && rest != NULL &&
        ccm_parse_piece(&rest, ':', &right, &right_len) && left_len > 0 && right_len > 0 &&
        strchr(right, ':') == NULL) {
        setting_copy_piece(ret->left, left, left_len);
        setting_copy_piece(ret->right, right, right_len);
        ret->good = true;
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
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "%s protocol is not supported",
                             port->protocol);
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

bool lbc_setting_has_listeners(const struct ccm_service *service)
{
    return lbc_anno_get(&service->meta, "id")[0] == '\0' ||
           strcmp(lbc_anno_get(&service->meta, "force-override-listeners"), "true") == 0;
}

int lbc_setting_range(const char *text, char ret[static LBC_RANGE_TEXT], bool *ret_ipv6,
                      struct ccm_error *err)
{
    const char *cursor = text;
    const char *start = NULL;
    struct ccm_cidr block;
    char address[CCM_IP_TEXT];
    char entry[LBC_RANGE_TEXT];
    size_t len = 0;

    /* The API server lets blanks around a block pass. */
    (void)ccm_parse_piece(&cursor, '\n', &start, &len); /* there is always one piece */
    ccm_text_printf(entry, sizeof(entry), "%.*s", len < sizeof(entry) ? (int)len : 0, start);
    if (ccm_cidr_parse(entry, &block) < 0 || (ccm_ip_is_v4(&block.ip) && block.bits < 96)) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "spec.loadBalancerSourceRanges: [%.*s] is no address block", SHOWN,
                             text);
    }
    *ret_ipv6 = !ccm_ip_is_v4(&block.ip);
    ccm_ip_format(&block.ip, address);
    ccm_text_printf(ret, LBC_RANGE_TEXT, "%s/%d", address,
                    *ret_ipv6 ? block.bits : block.bits - 96);
    return 0;
}
