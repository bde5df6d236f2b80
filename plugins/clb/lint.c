#include "lint.h"

#include "annotations.h"
#include "service/class.h"
#include "unserved.h"
#include "util/parse.h"

#include <stdio.h>
#include <string.h>

#define PATH_MAX_BYTES 64

struct hearer {
    const struct ccm_lint_sink *sink;
};

static void say(void *arg, const char *key, bool warning, const char *message)
{
    const struct ccm_lint_sink *sink = ((const struct hearer *)arg)->sink;

    sink->finding(sink, warning ? CCM_LEVEL_WARN : CCM_LEVEL_ERROR, key, message);
}

static void lint_checks(const struct ccm_service *service, const struct ccm_lint_sink *sink)
{
    for (const struct clb_check *check = clb_checks; check->suffix != NULL; check++) {
        struct ccm_error err = CCM_ERROR_INIT;
        char key[CCM_ANNO_KEY_MAX];

        if (check->check(service, &err) < 0) {
            sink->finding(sink, CCM_LEVEL_ERROR,
                          ccm_anno_suffix_key(&service->meta, check->suffix, key), err.message);
        }
    }
}

/* A port that asks for the same listener as an earlier one. */
static bool is_twin(const struct ccm_service *service, uint64_t index, enum clb_protocol protocol)
{
    for (uint64_t i = 0; i < index; i++) {
        struct ccm_error err = CCM_ERROR_INIT;
        enum clb_protocol other = CLB_OTHER;

        if (service->ports[i]->port == service->ports[index]->port &&
            clb_protocol_of(service, service->ports[i], &other, &err) == 0 &&
            clb_protocol_clash(other, protocol)) {
            return true;
        }
    }
    return false;
}

static void lint_port(const struct ccm_service *service, uint64_t index,
                      const struct ccm_lint_sink *sink)
{
    struct ccm_error err = CCM_ERROR_INIT;
    enum clb_protocol protocol = CLB_OTHER;
    const struct ccm_service_port *port = service->ports[index];
    const bool own = clb_protocol_parse(port->protocol) == CLB_OTHER; /* no annotation's fault */
    const int r = clb_protocol_of(service, port, &protocol, &err);
    char key[CCM_ANNO_KEY_MAX];
    char path[PATH_MAX_BYTES];

    (void)snprintf(path, sizeof(path), "spec.ports[%llu].port", (unsigned long long)index);
    if (port->port < 1 || port->port > UINT16_MAX) {
        sink->finding(sink, CCM_LEVEL_ERROR, path, "port out of range");
    }
    if (r < 0) {
        (void)snprintf(path, sizeof(path), "spec.ports[%llu].protocol", (unsigned long long)index);
        sink->finding(sink, CCM_LEVEL_ERROR,
                      own ? path : ccm_anno_suffix_key(&service->meta, "protocol-port", key),
                      err.message);
    } else if (is_twin(service, index, protocol)) {
        sink->finding(sink, CCM_LEVEL_ERROR, path,
                      "two ports of the Service ask for the same listener");
    }
}

static bool has_port(const struct ccm_service *service, int64_t port)
{
    for (uint64_t i = 0; i < service->port_count; i++) {
        if (service->ports[i]->port == port) {
            return true;
        }
    }
    return false;
}

/* Entries of protocol-port for ports that the Service does not have: mostly a slip. */
static void lint_stray_entries(const struct ccm_service *service, const struct ccm_lint_sink *sink)
{
    const char *cursor = ccm_anno_get(&service->meta, "protocol-port");
    const char *entry = NULL;
    size_t len = 0;

    while (cursor != NULL && cursor[0] != '\0' && ccm_parse_piece(&cursor, ',', &entry, &len)) {
        char number[24] = "";
        char key[CCM_ANNO_KEY_MAX];
        const char *colon = memchr(entry, ':', len);
        uint32_t port = 0;

        if (colon != NULL) {
            const size_t rest = len - (size_t)(colon + 1 - entry);
            const size_t blanks = strspn(colon + 1, " \t");

            (void)snprintf(number, sizeof(number), "%.*s", (int)(blanks < rest ? rest - blanks : 0),
                           colon + 1 + blanks);
        }
        if (ccm_parse_u32(number, 0, UINT16_MAX, &port) == 0 && !has_port(service, port)) {
            struct ccm_error text = CCM_ERROR_INIT;

            (void)ccm_error_set(&text, 0, CCM_ERROR_TERMINAL,
                                "entry [%.*s] has no effect: the Service has no port %u",
                                (int)(len < 100 ? len : 100), entry, port); /* the text is wanted */
            sink->finding(sink, CCM_LEVEL_WARN,
                          ccm_anno_suffix_key(&service->meta, "protocol-port", key), text.message);
        }
    }
}

/* Whether a listener of the Service has one of these protocols; also when it cannot be told. */
static bool has_protocol(const struct ccm_service *service, const char *protocols)
{
    for (uint64_t i = 0; i < service->port_count; i++) {
        struct ccm_error err = CCM_ERROR_INIT;
        enum clb_protocol protocol = CLB_OTHER;
        const char *cursor = protocols;
        const char *piece = NULL;
        size_t len = 0;

        if (clb_protocol_of(service, service->ports[i], &protocol, &err) < 0) {
            return true;
        }
        while (ccm_parse_piece(&cursor, '|', &piece, &len)) {
            const char *name = clb_protocol_name(protocol);

            if (strlen(name) == len && memcmp(name, piece, len) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Annotations for listeners that the Service has none of. */
static void lint_protocols(const struct ccm_service *service, const struct ccm_lint_sink *sink)
{
    for (size_t i = 0; i < clb_annotations.count; i++) {
        const struct ccm_anno *row = &clb_annotations.rows[i];
        struct ccm_error text = CCM_ERROR_INIT;
        char key[CCM_ANNO_KEY_MAX];

        if (row->protocols != NULL && (row->flags & CCM_ANNO_NOT_BUILT) == 0 &&
            ccm_anno_value(&service->meta, row)[0] != '\0' &&
            !has_protocol(service, row->protocols)) {
            (void)ccm_error_set(&text, 0, CCM_ERROR_TERMINAL,
                                "annotation has no effect: it is for %s listeners, and the Service "
                                "has none",
                                row->protocols); /* the text is wanted */
            sink->finding(sink, CCM_LEVEL_WARN, ccm_anno_key(&service->meta, row, key),
                          text.message);
        }
    }
}

/* Fields that nothing acts on, as the plugin is configured. */
static void lint_fields(const struct ccm_service *service, const struct ccm_lint_sink *sink)
{
    for (const struct clb_unserved *field = clb_unserved; field->topic != NULL; field++) {
        const bool served =
            field->option != NULL && sink->option_int(sink, NULL, field->option) != 0;

        if (!served && field->is_set(service)) {
            sink->finding(sink, CCM_LEVEL_WARN, field->path, field->text);
        }
    }
}

/* A public address where the configuration forbids to make one. */
static void lint_public(const struct ccm_service *service, const struct ccm_lint_sink *sink)
{
    const char *type = ccm_anno_get(&service->meta, "address-type");
    char key[CCM_ANNO_KEY_MAX];

    if (sink->option_int(sink, NULL, "disable_public_slb") != 0 &&
        (type[0] == '\0' || strcmp(type, "internet") == 0) &&
        ccm_anno_get(&service->meta, "id")[0] == '\0') {
        sink->finding(sink, CCM_LEVEL_ERROR,
                      type[0] == '\0' ? "spec.type"
                                      : ccm_anno_suffix_key(&service->meta, "address-type", key),
                      "create public address slb is not allowed");
    }
}

int clb_lint(const struct ccm_service *service, const struct ccm_lint_sink *sink)
{
    struct hearer hearer = { .sink = sink };

    if (!ccm_class_is_clb(service)) {
        return 0;
    }
    ccm_anno_lint(&clb_annotations, &service->meta, say, &hearer);
    lint_checks(service, sink);
    lint_protocols(service, sink);
    for (uint64_t i = 0; i < service->port_count; i++) {
        lint_port(service, i, sink);
    }
    lint_stray_entries(service, sink);
    lint_fields(service, sink);
    lint_public(service, sink);
    return 0;
}
