#include "annotation_text.h"

#include "annotations.h"
#include "lbc/model/annotation.h"
#include "lbc/model/settings.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

static int text_shown_len(size_t len)
{
    return (int)(len < LBC_SHOWN_MAX ? len : LBC_SHOWN_MAX);
}

/* --- protocol-port --- */

const struct lbc_protocols clb_protocols = {
    .known = CLB_PROTOCOLS,
    .refusal = { "port protocol format must be either [http|https|tcp|udp], protocol not supported "
                 "with [",
                 "]" },
};

/* --- forward-port --- */

int clb_forward_of(const struct ccm_service *service, uint16_t port, uint16_t *ret,
                   struct ccm_error *err)
{
    const char *value = lbc_anno_get(&service->meta, "forward-port");
    const char *cursor = value;
    const char *entry = NULL;
    size_t len = 0;

    *ret = 0;
    while (value[0] != '\0' && ccm_parse_piece(&cursor, ',', &entry, &len)) {
        char text[512];
        const char *left = NULL;
        const char *right = NULL;
        uint32_t from = 0;
        uint32_t to = 0;

        ccm_text_printf(text, sizeof(text), "%.*s", (int)len, entry);
        if (!lbc_setting_split(text, &left, &right)) {
            return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                                 "Annotation ForwardPort error: forward port format error: %.*s, "
                                 "expect 80:443,88:6443 ",
                                 LBC_SHOWN_MAX, value);
        }
        if (ccm_parse_u32(left, 1, UINT16_MAX, &from) < 0 || from != port) {
            continue;
        }
        if (ccm_parse_u32(right, 1, UINT16_MAX, &to) < 0) {
            const char *start = strchr(entry, ':') + 1;

            return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                                 "Annotation ForwardPort error: forward port is not an integer, "
                                 "%.*s",
                                 text_shown_len(len - (size_t)(start - entry)), start);
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

static bool has_port(const struct ccm_service *service, int64_t number)
{
    for (uint64_t i = 0; i < service->port_count; i++) {
        if (service->ports[i]->port == number) {
            return true;
        }
    }
    return false;
}

static int refuse_forward(const struct lbc_checked *it, int64_t number, uint16_t target,
                          struct ccm_error *err)
{
    char remedy[400];

    if (target == number) {
        ccm_text_copy(remedy, sizeof(remedy), "name another port there");
    } else {
        ccm_text_printf(
            remedy, sizeof(remedy), "add https:%u to annotation %sprotocol-port [%.*s]%s", target,
            LBC_ANNO_PREFIX, LBC_SHOWN_MAX, lbc_anno_get(&it->service->meta, "protocol-port"),
            has_port(it->service, target) ? "" : ", and that port to the Service");
    }
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                         "Annotation ForwardPort error: port %lld is to be forwarded to port %u, "
                         "which is no https port of this Service (annotation %sforward-port is "
                         "[%.*s]): %s",
                         (long long)number, target, LBC_ANNO_PREFIX, LBC_SHOWN_MAX, it->value,
                         remedy);
}

static int check_forward(const struct lbc_checked *it, struct ccm_error *err)
{
    for (uint64_t i = 0; i < it->service->port_count; i++) {
        const int64_t number = it->service->ports[i]->port;
        uint16_t target = 0;

        if (number < 1 || number > UINT16_MAX || listener_at(it->service, number) != LBC_HTTP) {
            continue;
        }
        const int r = clb_forward_of(it->service, (uint16_t)number, &target, err);

        if (r < 0) {
            return r;
        }
        if (target != 0 && listener_at(it->service, target) != LBC_HTTPS) {
            return refuse_forward(it, number, target, err);
        }
    }
    return 0;
}

/* --- certificates and domains --- */

static int text_parse_domain(const char *entry, size_t len, struct clb_domains *ret,
                             struct ccm_error *err)
{
    char text[512];
    const char *name = NULL;
    const char *cert = NULL;

    ccm_text_printf(text, sizeof(text), "%.*s", len < sizeof(text) ? (int)len : 0, entry);
    if (!lbc_setting_split(text, &name, &cert) || name[0] == '\0' || cert[0] == '\0') {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "parse DomainExtensions error: invalid domain extension %.*s",
                             text_shown_len(len), entry);
    }
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

static int check_domains(const struct lbc_checked *it, struct ccm_error *err)
{
    CCM_CLEANUP(clb_domains_fini) struct clb_domains ignored = { 0 };
    bool explicit = false;

    return clb_domains_of(it->service, &ignored, &explicit, err);
}

/* --- access control --- */

static int check_acl(const struct lbc_checked *it, struct ccm_error *err)
{
    static const char *const needed[] = { "acl-id", "acl-type" };

    if (strcmp(it->value, "on") != 0) {
        return 0;
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(needed); i++) {
        if (lbc_anno_get(&it->service->meta, needed[i])[0] == '\0') {
            return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                                 "annotation %sacl-status is on, so annotation %s%s is required",
                                 LBC_ANNO_PREFIX, LBC_ANNO_PREFIX, needed[i]);
        }
    }
    return 0;
}

/* --- sessions --- */

/* because: an annotation without its prefix, and its value; remedy: what to set the missing one to.
 */
static int text_require_annotation(const struct ccm_service *service, const char *suffix,
                                   const char *because, const char *remedy, struct ccm_error *err)
{
    if (lbc_anno_get(&service->meta, suffix)[0] != '\0') {
        return 0;
    }
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                         "annotation %s%s is required with annotation %s%s: set it to %s",
                         LBC_ANNO_PREFIX, suffix, LBC_ANNO_PREFIX, because, remedy);
}

static int check_sticky(const struct lbc_checked *it, struct ccm_error *err)
{
    const char *type = lbc_anno_get(&it->service->meta, "sticky-session-type");

    if (strcmp(it->value, "on") != 0) {
        return 0;
    }
    if (strcmp(type, "insert") == 0) {
        return text_require_annotation(it->service, "cookie-timeout", "sticky-session-type insert",
                                       "1 to 86400 (seconds)", err);
    }
    if (strcmp(type, "server") == 0) {
        return text_require_annotation(it->service, "cookie", "sticky-session-type server",
                                       "the name of the cookie that the backends set", err);
    }
    return text_require_annotation(
        it->service, "sticky-session-type", "sticky-session on",
        "insert (the load balancer sets the cookie) or server (the backends do)", err);
}

static int check_cookie(const struct lbc_checked *it, struct ccm_error *err)
{
    if (strlen(it->value) > 200 || strpbrk(it->value, " ,;") != NULL || it->value[0] == '$') {
        return lbc_check_refuse(it, it->value, err);
    }
    return 0;
}

/* --- all of them --- */

/* Without annotation id it means nothing, which is told elsewhere. */
static int check_groups(const struct lbc_checked *it, struct ccm_error *err)
{
    return lbc_setting_is_reused(it->service) ? lbc_check_pairs(it, err) : 0;
}

#define HTTPS (1U << LBC_HTTPS)

const struct lbc_check clb_checks[] = {
    { .suffix = "cert-id",
      .run = lbc_check_is_set,
      .on = HTTPS,
      .refusal = { "annotation " LBC_ANNO_PREFIX "cert-id is required for https ports: give the id "
                   "of a server certificate",
                   "" } },
    { .suffix = "domain-extensions", .run = check_domains, .on = HTTPS },
    { .suffix = "forward-port", .run = check_forward },
    { .suffix = "acl-status", .run = check_acl },
    { .suffix = "sticky-session", .run = check_sticky, .on = 1U << LBC_HTTP | HTTPS },
    { .suffix = "cookie",
      .run = check_cookie,
      .words = "1 to 200 characters without blank, comma and semicolon, not starting with $" },
    { .suffix = "health-check-connect-port",
      .run = lbc_check_number,
      .gap = { -519, -1 },
      .words = "1 to 65535, or -520" },
    { .suffix = "health-check-uri", .run = lbc_check_path },
    { .suffix = "health-check-domain", .run = lbc_check_host, .words = "$_ip" },
    { .suffix = "health-check-httpcode", .run = lbc_check_codes },
    { .suffix = "name", .run = lbc_check_name },
    { .suffix = "hostname", .run = lbc_check_hostname },
    { .suffix = "backend-label", .run = lbc_check_labels },
    { .suffix = "vgroup-port",
      .run = check_groups,
      .words = "group:port",
      .refusal = { "vgroupid and protocol format must be like 'vsp-xxx:443' with colon separated. "
                   "got=[[",
                   "]]" } },
    { .suffix = "additional-resource-tags", .run = lbc_check_tags },
    { 0 },
};
