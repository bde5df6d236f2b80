#include "token.h"

#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <errno.h>

struct memory {
    char *params; /* what was asked */
    char *answer; /* members of the JSON object, without braces */
    int64_t born_ms;
};

void ccm_cloud_token_free(void *value)
{
    struct memory *memory = value;

    free(memory->params);
    free(memory->answer);
    free(memory);
}

static void memory_freep(struct memory **memory)
{
    if (*memory != NULL) {
        ccm_cloud_token_free(*memory);
    }
}

/* All parameters that mean something, in order, unambiguously. */
static int fingerprint(const struct ccm_cloud_call *call, char **ret)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { 0 };

    for (size_t i = 0; i < call->params->len; i++) {
        const struct ccm_sim_param *param = &call->params->items[i];

        if (!ccm_cloud_spec_is_common(param->name)) {
            ccm_sim_escape(&buf, param->name);
            ccm_buf_addc(&buf, '=');
            ccm_sim_escape(&buf, param->value);
            ccm_buf_addc(&buf, '&');
        }
    }
    return ccm_buf_take(&buf, ret);
}

static int answer_again(struct ccm_cloud_call *call, const struct memory *memory,
                        const char *params)
{
    const struct ccm_cloud_manner *manner = call->action->manner;

    if (!ccm_text_equal(memory->params, params)) {
        if (manner != NULL) {
            return ccm_cloud_fail(call, 400, manner->token_code, "%s", manner->token_message);
        }
        if (ccm_cloud_find_action(call->cloud, CCM_CLOUD_SLB, call->action->name) !=
            call->action) { /* ECS and VPC have a code of their own */
            return ccm_cloud_fail(call, 400, "IdempotentParameterMismatch",
                                  "The request uses the same client token as a previous, but "
                                  "non-identical request.");
        }
        return ccm_cloud_fail(call, 400, "LX_REQUEST_TOKEN_CONFLICT",
                              "The ClientToken is conflict.");
    }
    ccm_buf_adds(call->out->buf, memory->answer);
    call->out->comma = true;
    return 0;
}

int ccm_cloud_token_run(struct ccm_cloud_call *call)
{
    const struct ccm_cloud_manner *manner = call->action->manner;
    CCM_CLEANUP(ccm_freep)
    char *key = ccm_text_format("%s/%s/%s", manner == NULL ? "" : manner->name, call->action->name,
                                ccm_cloud_text(call, "ClientToken", ""));
    CCM_CLEANUP(memory_freep) struct memory *memory = calloc(1, sizeof(*memory));
    int64_t now = ccm_clock_now_ms();

    if (key == NULL || memory == NULL || fingerprint(call, &memory->params) < 0) {
        return -ENOMEM;
    }

    const struct memory *old = ccm_strmap_get(call->cloud->tokens, key);

    if (old != NULL && now - old->born_ms < (int64_t)call->cloud->limits.token_life_s * 1000) {
        return answer_again(call, old, memory->params);
    }

    size_t start = call->out->buf->len;
    int r = call->action->run(call);

    if (r < 0) {
        return r;
    }
    memory->born_ms = now;
    memory->answer = strdup(ccm_buf_str(call->out->buf) + start);
    if (memory->answer == NULL) {
        return -ENOMEM;
    }
    r = ccm_strmap_set(call->cloud->tokens, key, memory);
    if (r == 0) {
        memory = NULL;
    }
    return r;
}
