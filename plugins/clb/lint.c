#include "lint.h"

#include "alilb/class.h"
#include "annotation_text.h"
#include "annotations.h"
#include "lbc/instance.h"
#include "lbc/model/lint.h"
#include "unserved.h"
#include "util/text.h"

#include <string.h>

/* --- what the common part asks --- */

static const char *port_protocol(const struct ccm_service *service,
                                 const struct ccm_service_port *port, struct ccm_error *err)
{
    enum lbc_protocol ret = LBC_OTHER;

    return clb_protocol_of(service, port, &ret, err) < 0 ? NULL : lbc_protocol_lower(ret);
}

static bool is_protocol(const char *text)
{
    return lbc_protocol_parse(text, CLB_PROTOCOLS) != LBC_OTHER;
}

static bool lint_protocols_clash(const char *a, const char *b)
{
    return lbc_protocol_clash(lbc_protocol_parse(a, CLB_PROTOCOLS),
                              lbc_protocol_parse(b, CLB_PROTOCOLS));
}

/* Backends of another family than the load balancer's are never asked for. */
static bool lint_row_counts(const struct ccm_service *service, const struct lbc_anno *row)
{
    return strcmp(row->name, "backend-ip-version") != 0 ||
           ccm_text_equal_case(lbc_anno_get(&service->meta, "ip-version"), "ipv6");
}

static const struct lbc_lint_list lists[] = {
    { "protocol-port", false },
    { "vgroup-port", false },
    { "forward-port", true },
    { NULL, false },
};

const struct lbc_lint_rules clb_rules = {
    .annotations = &clb_annotations,
    .checks = clb_checks,
    .unserved = clb_unserved,
    .hints = clb_hints,
    .protocol_suffix = "protocol-port",
    .lists = lists,
    .protocol = port_protocol,
    .is_protocol = is_protocol,
    .clash = lint_protocols_clash,
    .counts = lint_row_counts,
};

/* A public address where the configuration forbids to make one. */
static void lint_public(const struct ccm_service *service, const struct ccm_lint_sink *sink)
{
    const char *type = lbc_anno_get(&service->meta, "address-type");
    char key[LBC_ANNO_KEY_MAX];

    if (sink->option_int(sink, NULL, "disable_public_slb") != 0 &&
        (type[0] == '\0' || strcmp(type, "internet") == 0) &&
        lbc_anno_get(&service->meta, "id")[0] == '\0') {
        sink->finding(sink, CCM_LEVEL_ERROR,
                      type[0] == '\0' ? "spec.type"
                                      : lbc_anno_suffix_key(&service->meta, "address-type", key),
                      "create public address slb is not allowed");
    }
}

static bool lint_is_ours(const struct ccm_service *service, const struct ccm_lint_sink *sink)
{
    return sink->option_int(sink, alilb_opt_type.group, alilb_opt_type.name) != 0
               ? alilb_class_is_typed_clb(service)
               : alilb_class_is_clb(service);
}

int clb_lint(const struct ccm_service *service, const struct ccm_lint_sink *sink)
{
    if (lint_is_ours(service, sink)) {
        lbc_lint_service(&clb_rules, service, sink);
        lint_public(service, sink);
    }
    return 0;
}
