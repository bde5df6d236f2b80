#include "sim_run.h"

#include "lbc/tests/check.h"
#include "sim/cloud/fixtures.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/jsonw.h"

#include <string.h>

char *sim_run_quote(const char *from)
{
    char *text = strdup(from);

    assert_non_null(text);
    for (char *p = text; *p != '\0'; p++) {
        *p = *p == '\'' ? '"' : *p;
    }
    return text;
}

void sim_run_load(struct ccm_cloud *cloud, const char *json)
{
    CCM_CLEANUP(ccm_freep) char *text = sim_run_quote(json);
    CCM_CLEANUP(ccm_json_freep) cJSON *parsed = NULL;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf why = { 0 };

    assert_int_equal(ccm_json_parse(text, strlen(text), &parsed), 0);
    if (ccm_cloud_fixtures_load(cloud, parsed, &why) < 0) {
        fail_msg("%s", ccm_buf_str(&why));
    }
}

int sim_run(struct ccm_cloud *cloud, enum ccm_cloud_product product, const char *action,
            const struct ccm_sim_params *params, struct ccm_buf *answer,
            struct ccm_cloud_call *call)
{
    struct ccm_jsonw w = { .buf = answer };
    int r;

    *call = (struct ccm_cloud_call){
        .cloud = cloud,
        .action = ccm_cloud_find_action(cloud, product, action),
        .params = params,
        .key_id = "",
        .out = &w,
    };
    if (call->action == NULL) {
        fail_msg("the cloud has no %s", action);
    }
    ccm_buf_reset(answer);
    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "RequestId", "r-1");
    r = ccm_cloud_run(call);
    ccm_jsonw_close(&w, '}');
    call->out = NULL;
    return r;
}
