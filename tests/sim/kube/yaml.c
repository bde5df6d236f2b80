#include "yaml.h"

#include "util/cleanup.h"

#include <errno.h>
#include <libfyaml.h>
#include <string.h>

static void document_freep(struct fy_document **document)
{
    fy_document_destroy(*document);
}

static void diag_freep(struct fy_diag **diag)
{
    fy_diag_destroy(*diag);
}

/* The library would print to standard error. */
static void discard(struct fy_diag *diag CCM_UNUSED, void *user CCM_UNUSED,
                    const char *text CCM_UNUSED, size_t len CCM_UNUSED)
{
}

int ccm_ks_yaml_parse(const char *text, size_t len, cJSON **ret)
{
    const struct fy_diag_cfg quiet = { .output_fn = discard, .level = FYET_MAX };
    CCM_CLEANUP(diag_freep) struct fy_diag *diag = fy_diag_create(&quiet);
    CCM_CLEANUP(document_freep) struct fy_document *document = NULL;
    CCM_CLEANUP(ccm_freep) char *json = NULL;
    const struct fy_parse_cfg config = {
        .flags = FYPCF_QUIET | FYPCF_SLOPPY_FLOW_INDENTATION,
        .diag = diag,
    };

    if (diag == NULL || len == 0 || memchr(text, '\0', len) != NULL) {
        return -EBADMSG;
    }
    /* JSON goes the direct way: it is what nearly everybody sends. */
    if (ccm_json_parse(text, len, ret) == 0) {
        return 0;
    }
    document = fy_document_build_from_string(&config, text, len);
    if (document == NULL || fy_document_root(document) == NULL) {
        return -EBADMSG;
    }
    json = fy_emit_document_to_string(document, FYECF_MODE_JSON_ONELINE | FYECF_WIDTH_INF);
    return json == NULL ? -EBADMSG : ccm_json_parse(json, strlen(json), ret);
}
