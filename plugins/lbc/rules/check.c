#include "lbc/rules/check.h"

#include "lbc/model/annotation.h"
#include "lbc/model/node.h"
#include "lbc/model/owner.h"
#include "lbc/rules/lint.h"
#include "util/cidr.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* What the cloud takes. */
#define TAG_KEY_MAX   64
#define TAG_VALUE_MAX 128
#define TAGS_OURS     2  /* LBC_TAG_OWNER, LBC_TAG_CLUSTER */
#define TEXT_MAX      80 /* of hosts and paths */

int lbc_check_run(const struct lbc_check *check, const struct lbc_lint_rules *rules,
                  const struct ccm_service *service, struct ccm_error *err)
{
    const struct lbc_checked it = { check, service, lbc_anno_get(&service->meta, check->suffix) };

    return check->on == 0 || (lbc_setting_has_listeners(rules->annotations, service) &&
                              lbc_setting_has_protocol(service, rules->protocols, check->on))
               ? check->run(&it, err)
               : 0;
}

int lbc_check_refuse(const struct lbc_checked *it, const char *value, struct ccm_error *err)
{
    const struct lbc_check *row = it->row;

    if (row->refusal[0] == NULL) {
        return lbc_setting_refuse(row->suffix, value, row->words, err);
    }
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "%s%.*s%s", row->refusal[0],
                         LBC_SHOWN_MAX, value, row->refusal[1]);
}

/* --- load balancer --- */

int lbc_check_name(const struct lbc_checked *it, struct ccm_error *err)
{
    char own[LBC_OWNER_LB_NAME];

    lbc_owner_lb_name(&it->service->meta, own);
    return !lbc_owner_is_lb_name(it->value, '\0') || strcmp(it->value, own) == 0
               ? 0
               : lbc_setting_refuse(it->row->suffix, it->value,
                                    "no default name of another Service (a and 31 hexadecimal "
                                    "digits)",
                                    err);
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

int lbc_check_tags(const struct lbc_checked *it, struct ccm_error *err)
{
    const bool reused = lbc_setting_is_reused(it->service);
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };

    if (strnlen(it->value, LBC_TAGS_BYTES + 1) > LBC_TAGS_BYTES) {
        return lbc_setting_refuse(it->row->suffix, it->value, "no more than 32768 bytes", err);
    }
    if (lbc_setting_tags(it->service, reused, &tags) < 0) {
        return ccm_error_nomem(err);
    }
    for (size_t i = 0; i < tags.len; i++) {
        const struct lbc_tag *tag = &tags.items[i];

        if (count_characters(tag->key) > TAG_KEY_MAX ||
            count_characters(tag->value) > TAG_VALUE_MAX) {
            return lbc_setting_refuse(it->row->suffix, tag->key,
                                      "tags with keys of at most 64 and values of at most 128 "
                                      "characters",
                                      err);
        }
    }
    if (tags.len <= (reused ? LBC_TAGS_MAX : LBC_TAGS_MAX - TAGS_OURS)) {
        return 0;
    }
    return lbc_setting_refuse(it->row->suffix, it->value,
                              reused ? "at most 20 tags"
                                     : "at most 18 tags beside the two that mark whose the load "
                                       "balancer is",
                              err);
}

/* --- backends --- */

int lbc_check_labels(const struct lbc_checked *it, struct ccm_error *err)
{
    const char *entry = NULL;
    size_t len = 0;

    if (lbc_node_check_labels(it->value, &entry, &len) == 0) {
        return 0;
    }
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                         "get nodes error: filter nodes by label error: parse backend label: "
                         "%.*s, [k1=v1,k2=v2]",
                         (int)(len < LBC_SHOWN_MAX ? len : LBC_SHOWN_MAX), entry);
}

/* --- health checks --- */

int lbc_check_path(const struct lbc_checked *it, struct ccm_error *err)
{
    if (it->value[0] == '\0' || (it->value[0] == '/' && strlen(it->value) <= TEXT_MAX)) {
        return 0;
    }
    return lbc_setting_refuse(it->row->suffix, it->value,
                              "a path of 1 to 80 characters that starts with /", err);
}

int lbc_check_host(const struct lbc_checked *it, struct ccm_error *err)
{
    bool good = strlen(it->value) <= TEXT_MAX;
    char expected[96];

    for (const char *p = it->value; good && *p != '\0'; p++) {
        good = isalnum((unsigned char)*p) != 0 || *p == '.' || *p == '-';
    }
    if (good || strcmp(it->value, it->row->words) == 0) {
        return 0;
    }
    ccm_text_printf(expected, sizeof(expected), "%s or 1 to 80 letters, digits, dots and hyphens",
                    it->row->words);
    return lbc_setting_refuse(it->row->suffix, it->value, expected, err);
}

int lbc_check_hostname(const struct lbc_checked *it, struct ccm_error *err)
{
    const char *value = it->value;
    bool good = strlen(value) <= 253;
    struct ccm_ip ip;

    for (size_t i = 0; good && value[i] != '\0'; i++) {
        const char before = i == 0 ? '.' : value[i - 1];
        const char after = value[i + 1];
        const bool inside = before != '.' && after != '.' && after != '\0';

        good = islower((unsigned char)value[i]) != 0 || isdigit((unsigned char)value[i]) != 0 ||
               (inside && value[i] == '-') || (value[i] == '.' && inside && before != '-');
    }
    return value[0] == '\0' || (good && ccm_ip_parse(value, &ip) < 0)
               ? 0
               : lbc_setting_refuse(it->row->suffix, value,
                                    "a name of DNS: small letters, digits, hyphens and dots, and "
                                    "no address",
                                    err);
}

int lbc_check_codes(const struct lbc_checked *it, struct ccm_error *err)
{
    static const char *const codes[] = { "http_2xx", "http_3xx", "http_4xx", "http_5xx" };
    const char *cursor = it->value;
    const char *piece = NULL;
    size_t len = 0;

    while (it->value[0] != '\0' && ccm_parse_piece(&cursor, ',', &piece, &len)) {
        bool good = false;

        for (size_t i = 0; i < CCM_ARRAY_LEN(codes); i++) {
            good = good || (strlen(codes[i]) == len && memcmp(piece, codes[i], len) == 0);
        }
        if (!good) {
            return lbc_setting_refuse(it->row->suffix, it->value,
                                      "a list of http_2xx, http_3xx, http_4xx, http_5xx", err);
        }
    }
    return 0;
}

/* --- of any annotation --- */

int lbc_check_number(const struct lbc_checked *it, struct ccm_error *err)
{
    int64_t number = 0;

    return ccm_parse_i64(it->value, it->row->gap[0], it->row->gap[1], &number) < 0
               ? 0
               : lbc_check_refuse(it, it->value, err);
}

int lbc_check_is_set(const struct lbc_checked *it, struct ccm_error *err)
{
    return it->value[0] != '\0' ? 0 : lbc_check_refuse(it, it->value, err);
}

int lbc_check_word(const struct lbc_checked *it, struct ccm_error *err)
{
    char word[LBC_SHOWN_MAX];

    lbc_anno_spell(it->row->words, it->value, word, sizeof(word));
    return it->value[0] == '\0' || word[0] != '\0' ? 0 : lbc_check_refuse(it, it->value, err);
}

int lbc_check_pairs(const struct lbc_checked *it, struct ccm_error *err)
{
    const char *cursor = it->value;
    struct lbc_setting_pair pair;
    uint32_t port = 0;

    while (lbc_setting_next_pair(&cursor, &pair)) {
        if (!pair.good ||
            (it->row->words != NULL && ccm_parse_u32(pair.right, 1, UINT16_MAX, &port) < 0)) {
            return lbc_check_refuse(it, pair.entry, err);
        }
    }
    return 0;
}
