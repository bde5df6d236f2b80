#include "annotation_text.h"

#include "annotations.h"
#include "lbc/model/annotation.h"
#include "lbc/model/settings.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SHOWN 200 /* most bytes of a value that a message repeats */

static int text_shown_len(size_t len)
{
    return (int)(len < SHOWN ? len : SHOWN);
}

/* --- protocol-port --- */

const struct lbc_protocols clb_protocols = {
    .known = CLB_PROTOCOLS,
    .refusal = { "port protocol format must be either [http|https|tcp|udp], protocol not supported "
                 "wit [",
                 "]\n" },
};

/* --- forward-port --- */

static int refuse_forward(const char *value, struct ccm_error *err)
{
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                         "Annotation ForwardPort error: forward port format error: %.*s, expect "
                         "80:443,88:6443 ",
                         SHOWN, value);
}

/* A number between blanks, [start, start + len). */
static int parse_port(const char *start, size_t len, uint32_t *ret)
{
    char text[16];

    while (len > 0 && (*start == ' ' || *start == '\t')) {
        start++;
        len--;
    }
    while (len > 0 && (start[len - 1] == ' ' || start[len - 1] == '\t')) {
        len--;
    }
    if (len == 0 || len >= sizeof(text)) {
        return -EINVAL;
    }
    memcpy(text, start, len);
    text[len] = '\0';
    return ccm_parse_u32(text, 1, UINT16_MAX, ret);
}

int clb_forward_of(const struct ccm_service *service, uint16_t port, uint16_t *ret,
                   struct ccm_error *err)
{
    const char *value = lbc_anno_get(&service->meta, "forward-port");
    const char *cursor = value;
    const char *entry = NULL;
    size_t len = 0;

    *ret = 0;
    while (value[0] != '\0' && ccm_parse_piece(&cursor, ',', &entry, &len)) {
        const char *colon = memchr(entry, ':', len);
        const size_t left = colon == NULL ? 0 : (size_t)(colon - entry);
        uint32_t from = 0;
        uint32_t to = 0;

        if (colon == NULL || memchr(colon + 1, ':', len - left - 1) != NULL) {
            return refuse_forward(value, err);
        }
        if (parse_port(entry, left, &from) < 0 || from != port) {
            continue;
        }
        if (parse_port(colon + 1, len - left - 1, &to) < 0) {
            return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                                 "Annotation ForwardPort error: forward port is not an integer, "
                                 "%.*s",
                                 text_shown_len(len - left - 1), colon + 1);
        }
        *ret = (uint16_t)to;
        return 0;
    }
    return 0;
}

/* Protocol of the Service's listener on a port that is no udp one; LBC_OTHER when there is none. */
static enum lbc_protocol listener_at(const struct ccm_service *service, int64_t number)
{
    for (uint64_t i = 0; i < service->port_count; i++) {
        struct ccm_error ignored = CCM_ERROR_INIT;
        enum lbc_protocol protocol = LBC_OTHER;

        if (service->ports[i]->port == number &&
            lbc_setting_protocol(service, service->ports[i], &clb_protocols, &protocol, &ignored) ==
                0 &&
            protocol != LBC_UDP) {
            return protocol;
        }
    }
    return LBC_OTHER;
}

#define L7 (1U << LBC_HTTP | 1U << LBC_HTTPS)

static int check_forward(const struct ccm_service *service, struct ccm_error *err)
{
    for (uint64_t i = 0; i < service->port_count; i++) {
        const int64_t number = service->ports[i]->port;
        uint16_t target = 0;

        if (number < 1 || number > UINT16_MAX || listener_at(service, number) != LBC_HTTP) {
            continue;
        }
        const int r = clb_forward_of(service, (uint16_t)number, &target, err);

        if (r < 0) {
            return r;
        }
        if (target != 0 && listener_at(service, target) != LBC_HTTPS) {
            return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                                 "Annotation ForwardPort error: port %lld is to be forwarded to "
                                 "port %u, which is no https port of this Service (annotation "
                                 "%sprotocol-port)",
                                 (long long)number, target, LBC_ANNO_PREFIX);
        }
    }
    return 0;
}

/* --- certificates and domains --- */

static int check_certificate(const struct ccm_service *service, struct ccm_error *err)
{
    if (!lbc_setting_has_protocol(service, &clb_protocols, 1U << LBC_HTTPS) ||
        lbc_anno_get(&service->meta, "cert-id")[0] != '\0') {
        return 0;
    }
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                         "annotation %scert-id is required for https ports: give the id of a "
                         "server certificate",
                         LBC_ANNO_PREFIX);
}

static int refuse_domain(const char *entry, size_t len, struct ccm_error *err)
{
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                         "parse DomainExtensions error: invalid domain extension %.*s",
                         text_shown_len(len), entry);
}

static int text_parse_domain(const char *entry, size_t len, struct clb_domains *ret,
                             struct ccm_error *err)
{
    char text[512];
    const char *cursor = text;
    const char *name = NULL;
    const char *cert = NULL;
    size_t name_len = 0;
    size_t cert_len = 0;

    if (len >= sizeof(text)) {
        return refuse_domain(entry, len, err);
    }
    memcpy(text, entry, len);
    text[len] = '\0';
    if (!ccm_parse_piece(&cursor, ':', &name, &name_len) || name_len == 0 ||
        !ccm_parse_piece(&cursor, ':', &cert, &cert_len) || cert_len == 0 ||
        memchr(cert, ':', strlen(cert)) != NULL) {
        return refuse_domain(entry, len, err);
    }
    text[(size_t)(name - text) + name_len] = '\0';
    text[(size_t)(cert - text) + cert_len] = '\0';
    return clb_domains_put(ret, name, cert, NULL) < 0 ? ccm_error_nomem(err) : 0;
}

int clb_domains_of(const struct ccm_service *service, struct clb_domains *ret, bool *ret_told,
                   struct ccm_error *err)
{
    const char *cursor = lbc_anno_get(&service->meta, "domain-extensions");
    const char *entry = NULL;
    size_t len = 0;
    int r = 0;

    *ret_told = lbc_anno_is_set(&service->meta, "domain-extensions");
    if (cursor[0] == '\0') {
        return 0;
    }
    while (r == 0 && ccm_parse_piece(&cursor, ',', &entry, &len)) {
        r = text_parse_domain(entry, len, ret, err);
    }
    return r;
}

static int check_domains(const struct ccm_service *service, struct ccm_error *err)
{
    CCM_CLEANUP(clb_domains_fini) struct clb_domains ignored = { 0 };
    bool explicit = false;

    return lbc_setting_has_protocol(service, &clb_protocols, 1U << LBC_HTTPS)
               ? clb_domains_of(service, &ignored, &explicit, err)
               : 0;
}

/* --- access control --- */

static int check_acl(const struct ccm_service *service, struct ccm_error *err)
{
    static const char *const needed[] = { "acl-id", "acl-type" };

    if (strcmp(lbc_anno_get(&service->meta, "acl-status"), "on") != 0) {
        return 0;
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(needed); i++) {
        if (lbc_anno_get(&service->meta, needed[i])[0] == '\0') {
            return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                                 "annotation %sacl-status is on, so annotation %s%s is required",
                                 LBC_ANNO_PREFIX, LBC_ANNO_PREFIX, needed[i]);
        }
    }
    return 0;
}

static int text_parse_range(const char *text, bool ipv6, struct lbc_texts *ret,
                            struct ccm_error *err)
{
    char entry[LBC_RANGE_TEXT];
    bool six = false;
    int r = lbc_setting_range(text, entry, &six, err);

    if (r == 0 && six == ipv6) {
        return lbc_texts_put(ret, entry) < 0 ? ccm_error_nomem(err) : 0;
    }
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                         "spec.loadBalancerSourceRanges: [%.*s] is no %s block", SHOWN, text,
                         ipv6 ? "IPv6" : "IPv4");
}

int clb_ranges_of(const struct ccm_service *service, bool ipv6, struct lbc_texts *ret,
                  struct ccm_error *err)
{
    int r = 0;

    for (uint64_t i = 0; r == 0 && i < service->source_range_count; i++) {
        r = text_parse_range(service->source_ranges[i], ipv6, ret, err);
    }
    return r;
}

/* --- sessions --- */

static int text_require_annotation(const struct ccm_service *service, const char *suffix,
                                   const char *because, struct ccm_error *err)
{
    if (lbc_anno_get(&service->meta, suffix)[0] != '\0') {
        return 0;
    }
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "annotation %s%s is required with %s",
                         LBC_ANNO_PREFIX, suffix, because);
}

static int check_sticky(const struct ccm_service *service, struct ccm_error *err)
{
    const char *type = lbc_anno_get(&service->meta, "sticky-session-type");

    if (strcmp(lbc_anno_get(&service->meta, "sticky-session"), "on") != 0 ||
        !lbc_setting_has_protocol(service, &clb_protocols, L7)) {
        return 0;
    }
    if (strcmp(type, "insert") == 0) {
        return text_require_annotation(service, "cookie-timeout", "sticky-session-type insert",
                                       err);
    }
    if (strcmp(type, "server") == 0) {
        return text_require_annotation(service, "cookie", "sticky-session-type server", err);
    }
    return text_require_annotation(service, "sticky-session-type", "sticky-session on", err);
}

static int check_cookie(const struct ccm_service *service, struct ccm_error *err)
{
    const char *value = lbc_anno_get(&service->meta, "cookie");

    if (strlen(value) > 200 || strpbrk(value, " ,;") != NULL || value[0] == '$') {
        return lbc_setting_refuse(
            "cookie", value,
            "1 to 200 characters without blank, comma and semicolon, not starting "
            "with $",
            err);
    }
    return 0;
}

/* --- health checks --- */

static int check_health_port(const struct ccm_service *service, struct ccm_error *err)
{
    const char *value = lbc_anno_get(&service->meta, "health-check-connect-port");
    int64_t port = 0;

    if (value[0] == '\0' || ccm_parse_i64(value, -520, UINT16_MAX, &port) < 0 || port >= 0 ||
        port == -520) {
        return 0; /* what is no number at all was refused by its row */
    }
    return lbc_setting_refuse("health-check-connect-port", value, "1 to 65535, or -520", err);
}

static int check_health_domain(const struct ccm_service *service, struct ccm_error *err)
{
    return lbc_setting_check_health_domain(service, "$_ip", err);
}

/* --- groups that a person chose --- */

/* Without annotation id it means nothing, which is told elsewhere. */
static int check_groups(const struct ccm_service *service, struct ccm_error *err)
{
    const bool reused = lbc_anno_get(&service->meta, "id")[0] != '\0';
    const char *cursor = reused ? lbc_anno_get(&service->meta, "vgroup-port") : "";
    struct lbc_setting_pair pair;
    uint32_t port = 0;

    while (lbc_setting_next_pair(&cursor, &pair)) {
        if (!pair.good || ccm_parse_u32(pair.right, 1, UINT16_MAX, &port) < 0) {
            return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                                 "vgroupid and protocol format must be like 'vsp-xxx:443' with "
                                 "colon separated. got=[[%s]]",
                                 pair.entry);
        }
    }
    return 0;
}

const struct lbc_lint_check clb_checks[] = {
    { "cert-id", check_certificate },
    { "domain-extensions", check_domains },
    { "forward-port", check_forward },
    { "acl-status", check_acl },
    { "sticky-session", check_sticky },
    { "cookie", check_cookie },
    { "health-check-connect-port", check_health_port },
    { "health-check-uri", lbc_setting_check_health_uri },
    { "health-check-domain", check_health_domain },
    { "health-check-httpcode", lbc_setting_check_health_code },
    { "name", lbc_setting_check_name },
    { "backend-label", lbc_setting_check_labels },
    { "vgroup-port", check_groups },
    { "additional-resource-tags", lbc_setting_check_tags },
    { NULL, NULL },
};
