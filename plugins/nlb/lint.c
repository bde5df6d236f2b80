#include "lint.h"

#include "alilb/class.h"
#include "annotation_text.h"
#include "annotations.h"
#include "ccm/object.h"
#include "lbc/instance.h"
#include "lbc/model/candidate.h"
#include "lbc/model/lint.h"
#include "unserved.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

#define PATH_MAX_BYTES 64

/* --- what the common part asks --- */

static const char *port_protocol(const struct ccm_service *service,
                                 const struct ccm_service_port *port, struct ccm_error *err)
{
    enum lbc_protocol ret = LBC_OTHER;

    if (nlb_protocol_of(service, port, &ret, err) < 0) {
        return NULL;
    }
    return ret == LBC_OTHER ? NULL : lbc_protocol_lower(ret); /* as rows of the table write them */
}

static bool is_protocol(const char *text)
{
    return lbc_protocol_parse(text, NLB_PROTOCOLS) != LBC_OTHER;
}

/* Overlaps are looked for below, with ranges. */
static bool lint_protocols_clash(const char *a, const char *b)
{
    (void)a;
    (void)b;
    return false;
}

const struct ccm_option nlb_opt_loose = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .name = "loose_switches",
    .fallback = "false",
    .help = "Let switches take true for on, and honour delete-protection off and "
            "modification-protection NonProtection. Without it such values are left alone with a "
            "Warning, because the controller that ccmd replaces took no notice of them: what the "
            "cloud has stays as it is.",
};

static const struct lbc_lint_list lists[] = {
    { "protocol-port", false },
    { "vgroup-port", false },
    { "listener-port-range", false },
    { NULL, false },
};

const struct lbc_lint_rules nlb_rules = {
    .annotations = &nlb_annotations,
    .checks = nlb_checks,
    .unserved = nlb_unserved,
    .hints = nlb_hints,
    .protocol_suffix = "protocol-port",
    .lists = lists,
    .protocol = port_protocol,
    .is_protocol = is_protocol,
    .clash = lint_protocols_clash,
    .unclear = nlb_annotation_unclear,
    .loose = &nlb_opt_loose,
};

/* --- what is our own --- */

static void lint_add_finding(const struct ccm_service *service, const struct ccm_lint_sink *sink,
                             uint64_t level, const char *suffix, const char *message)
{
    char key[LBC_ANNO_KEY_MAX];

    sink->finding(sink, level, lbc_anno_suffix_key(&service->meta, suffix, key), message);
}

static void lint_overlaps(const struct ccm_service *service, const struct ccm_lint_sink *sink)
{
    for (uint64_t i = 0; i < service->port_count; i++) {
        struct ccm_error err = CCM_ERROR_INIT;
        char path[PATH_MAX_BYTES];

        if (nlb_check_overlap(service, i, &err) < 0) {
            ccm_text_printf(path, sizeof(path), "spec.ports[%llu].port", (unsigned long long)i);
            sink->finding(sink, CCM_LEVEL_ERROR, path, err.message);
        }
    }
}

static void lint_ranges(const struct ccm_service *service, const struct ccm_lint_sink *sink)
{
    struct ccm_error err = CCM_ERROR_INIT;

    if (nlb_check_source_ranges(service, &err) < 0) {
        sink->finding(sink, CCM_LEVEL_ERROR, "spec.loadBalancerSourceRanges", err.message);
    }
}

static const char *lint_get_annotation(const struct ccm_service *service, const char *suffix)
{
    return lbc_anno_get(&service->meta, suffix);
}

/* The configuration may make pods the backends of all Services; only what a Service says itself is
 * known here. */
static bool is_by_node(const struct ccm_service *service)
{
    return !ccm_text_empty(ccm_object_annotation(&service->meta, LBC_BACKEND_TYPE_KEY)) &&
           lbc_backend_mode(service, true) != LBC_MODE_ENI;
}

static bool has_tls(const struct ccm_service *service)
{
    for (uint64_t i = 0; i < service->port_count; i++) {
        struct ccm_error ignored = CCM_ERROR_INIT;
        enum lbc_protocol one = LBC_OTHER;

        if (nlb_protocol_of(service, service->ports[i], &one, &ignored) == 0 && one == LBC_TCPSSL) {
            return true;
        }
    }
    return false;
}

/* What the cloud or a pass would refuse later. */
static void lint_needs(const struct ccm_service *service, const struct ccm_lint_sink *sink)
{
    const bool listeners =
        lint_get_annotation(service, "id")[0] == '\0' ||
        strcmp(lint_get_annotation(service, "force-override-listeners"), "true") == 0;

    if (listeners && has_tls(service) && lint_get_annotation(service, "cert-id")[0] == '\0') {
        lint_add_finding(service, sink, CCM_LEVEL_ERROR, "cert-id",
                         "annotation " LBC_ANNO_PREFIX
                         "cert-id is required for TCPSSL ports: give the id of "
                         "a server certificate");
    }
    if (lint_get_annotation(service, "listener-port-range")[0] != '\0' && is_by_node(service)) {
        lint_add_finding(service, sink, CCM_LEVEL_ERROR, "listener-port-range",
                         "listener port range can only be used for eni backend type service");
    }
}

/* A public address where the configuration forbids to make one. */
static void lint_public(const struct ccm_service *service, const struct ccm_lint_sink *sink)
{
    const char *type = lint_get_annotation(service, "address-type");
    char key[LBC_ANNO_KEY_MAX];

    if (sink->option_int(sink, NULL, "disable_public_nlb") != 0 &&
        lint_get_annotation(service, "id")[0] == '\0' &&
        (type[0] == '\0' || ccm_text_equal_case(type, "internet"))) {
        sink->finding(sink, CCM_LEVEL_ERROR,
                      type[0] == '\0' ? "spec.type"
                                      : lbc_anno_suffix_key(&service->meta, "address-type", key),
                      "option disable_public_nlb of plugin nlb forbids a public address: set "
                      "annotation address-type to intranet");
    }
}

static bool lint_is_ours(const struct ccm_service *service, const struct ccm_lint_sink *sink)
{
    return sink->option_int(sink, alilb_opt_type.group, alilb_opt_type.name) != 0
               ? alilb_class_is_typed_nlb(service)
               : alilb_class_is_nlb(service);
}

int nlb_lint(const struct ccm_service *service, const struct ccm_lint_sink *sink)
{
    if (lint_is_ours(service, sink)) {
        lint_public(service, sink);
        lbc_lint_service(&nlb_rules, service, sink);
        lint_overlaps(service, sink);
        lint_ranges(service, sink);
        lint_needs(service, sink);
    }
    return 0;
}
