#include "lint.h"

#include "alilb/class.h"
#include "annotation_text.h"
#include "annotations.h"
#include "clb.h"
#include "unserved.h"
#include "util/text.h"

#include <string.h>

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
    .lists = lists,
    .protocols = &clb_protocols,
    .is_ours = alilb_class_is_clb,
    .is_typed = alilb_class_is_typed_clb,
    .by_type = &alilb_opt_type,
    .public_option = CLB_PUBLIC_OPTION,
    .public_text = "create public address slb is not allowed",
    .counts = lint_row_counts,
};

int clb_lint(const struct ccm_service *service, const struct ccm_lint_sink *sink)
{
    lbc_lint_service(&clb_rules, service, sink);
    return 0;
}
