/* Manifests for `ccmd lint`: YAML and JSON, many documents, to Services, to objects. */
#include "fuzz.h"

#include "kube/object/decode.h"
#include "tools/lint_yaml.h"
#include "util/cleanup.h"

struct walk {
    struct kube_builder *builder;
    struct tool_lint_report *report;
};

static int check_item(void *arg, const struct tool_lint_item *item)
{
    static const struct kube_decode_kind kind = { .kind = CCM_KIND_SERVICE };
    const struct walk *walk = arg;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf json = { .max = 262144 };
    CCM_CLEANUP(kube_object_unrefp) const struct ccm_object *object = NULL;
    struct ccm_error err = CCM_ERROR_INIT;

    FUZZ_REQUIRE(tool_lint_item_line(item, "spec.ports[1].port") > 0);
    if (tool_lint_item_json(item, &json, walk->report) && ccm_buf_error(&json) == 0 &&
        kube_decode(walk->builder, &kind, ccm_buf_str(&json), json.len, &object, &err) < 0) {
        FUZZ_REQUIRE(err.message[0] != '\0');
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CCM_CLEANUP(kube_builder_freep) struct kube_builder *builder = kube_builder_new();
    CCM_CLEANUP(tool_lint_report_fini) struct tool_lint_report report = { 0 };
    CCM_CLEANUP(ccm_freep) char *text = fuzz_text(data, size);
    struct walk walk = { builder, &report };

    if (text != NULL && builder != NULL) {
        FUZZ_REQUIRE(tool_lint_visit_services(text, size, &report, check_item, &walk) <= 0);
    }
    return 0;
}
