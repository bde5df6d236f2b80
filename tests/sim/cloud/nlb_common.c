#include "nlb.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

const struct ccm_cloud_manner ccm_nlb_manner = {
    .name = "nlb",
    .invalid = "IllegalParam",
    .invalid_message = "The param of %s is illegal.",
    .missing = "MissingParam.",
    .missing_message = "The parameter of %s is missing.",
    .too_many = "IllegalParamSize.",
    .too_many_message = "The param size of %s is illegal.",
    .token_code = "IdempotenceSignatureMismatch",
    .token_message = "The idempotence token of request is same with the prev one, but the "
                     "signature is different.",
    .any_case = true,
};

/* ---- values ---- */

bool ccm_nlb_is_ascii(const char *value)
{
    for (const char *p = value; *p != '\0'; p++) {
        if ((unsigned char)*p < 0x20 || (unsigned char)*p > 0x7E) {
            return false;
        }
    }
    return true;
}

/* Letters of other scripts count as letters. */
static bool is_letter(char c)
{
    return isalpha((unsigned char)c) || ((unsigned char)c & 0x80) != 0;
}

static bool made_of(const char *value, const char *others)
{
    for (const char *p = value; *p != '\0'; p++) {
        if (!is_letter(*p) && !isdigit((unsigned char)*p) && strchr(others, *p) == NULL) {
            return false;
        }
    }
    return true;
}

bool ccm_nlb_is_name(const char *value)
{
    return is_letter(value[0]) && made_of(value, "._-");
}

bool ccm_nlb_is_description(const char *value)
{
    return made_of(value, ".,;/@_-");
}

const char *ccm_nlb_word(const char *text)
{
    static const char *const words[] = {
        "Internet",
        "Intranet",
        "ipv4",
        "DualStack",
        "TCP",
        "UDP",
        "TCPSSL",
        "TCP_UDP",
        "HTTP",
        "Instance",
        "Ip",
        "Ecs",
        "Eni",
        "Eci",
        "Wrr",
        "Wlc",
        "rr",
        "sch",
        "tch",
        "qch",
        "GET",
        "HEAD",
        "Ca",
        "Server",
        "HTTP1.0",
        "HTTP1.1",
        "HTTP1Only",
        "HTTP2Only",
        "HTTP2Optional",
        "HTTP2Preferred",
        "NonProtection",
        "ConsoleProtection",
        "NonAffinity",
        "Affinity",
        "loadbalancer",
        "listener",
        "servergroup",
        "securitypolicy",
    };

    for (size_t i = 0; text != NULL && i < CCM_ARRAY_LEN(words); i++) {
        if (ccm_text_equal_case(text, words[i])) {
            return words[i];
        }
    }
    return text;
}

const char *ccm_nlb_enum(const struct ccm_cloud_call *call, const char *name, const char *fallback)
{
    return ccm_nlb_word(ccm_cloud_text(call, name, fallback));
}

bool ccm_nlb_flag(const struct ccm_cloud_call *call, const char *name, bool fallback)
{
    const char *text = ccm_cloud_text(call, name, NULL);

    return text == NULL ? fallback : ccm_text_equal(text, "true");
}

const char *ccm_nlb_member(const struct ccm_cloud_call *call, const char *prefix, uint32_t index,
                           const char *member)
{
    char name[96];

    (void)snprintf(name, sizeof(name), "%s.%u.%s", prefix, index, member); /* always fits */
    return ccm_cloud_text(call, name, "");
}

uint32_t ccm_nlb_next_index(const struct ccm_cloud_call *call, const char *prefix, uint32_t index)
{
    size_t len = strlen(prefix);
    uint32_t best = 0;

    /* Items mostly follow each other without gaps, and then need no search. */
    if (!ccm_text_empty(ccm_nlb_member(call, prefix, index + 1, "ServerId")) ||
        !ccm_text_empty(ccm_nlb_member(call, prefix, index + 1, "ZoneId"))) {
        return index + 1;
    }
    for (size_t i = 0; i < call->params->len; i++) {
        const char *name = call->params->items[i].name;
        char digits[12];
        uint32_t number = 0;

        if (strncmp(name, prefix, len) != 0 || name[len] != '.') {
            continue;
        }
        ccm_text_copy(digits, sizeof(digits), name + len + 1);
        digits[strspn(digits, "0123456789")] = '\0';
        if (ccm_parse_u32(digits, 1, UINT32_MAX, &number) == 0 && number > index &&
            (best == 0 || number < best)) {
            best = number;
        }
    }
    return best;
}

int ccm_nlb_join(struct ccm_cloud_call *call, const char *prefix, char **ret)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params list = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { 0 };
    int r = ccm_cloud_list(call, prefix, &list);

    if (r < 0) {
        return r;
    }
    for (size_t i = 0; i < list.len; i++) {
        ccm_buf_addf(&buf, "%s%s", i == 0 ? "" : ",", list.items[i].value);
    }
    return ccm_buf_take(&buf, ret);
}

/* ---- refusals ---- */

int ccm_nlb_fail_absent(struct ccm_cloud_call *call, const char *what)
{
    char code[96];

    (void)snprintf(code, sizeof(code), "ResourceNotFound.%s", what); /* cut if need be */
    return ccm_cloud_fail(call, 404, code, "The specified resource of %s is not found.",
                          ccm_text_equal(what, "loadBalancer") ? "loadbalancer" : what);
}

int ccm_nlb_fail_illegal(struct ccm_cloud_call *call, const char *code, const char *param)
{
    return ccm_cloud_fail(call, 400, code, "The param of %s is illegal.", param);
}

int ccm_nlb_fail_missing(struct ccm_cloud_call *call, const char *param)
{
    char code[96];

    (void)snprintf(code, sizeof(code), "MissingParam.%s", param); /* cut if need be */
    return ccm_cloud_fail(call, 400, code, "The parameter of %s is missing.", param);
}

int ccm_nlb_fail_denied(struct ccm_cloud_call *call, const char *why)
{
    char code[96];

    (void)snprintf(code, sizeof(code), "OperationDenied.%s", why); /* cut if need be */
    return ccm_cloud_fail(call, 400, code, "The operation is not allowed because of %s.", why);
}

int ccm_nlb_fail_mismatch(struct ccm_cloud_call *call, const char *what, const char *a,
                          const char *b)
{
    char code[96];

    (void)snprintf(code, sizeof(code), "Mismatch.%s", what); /* cut if need be */
    return ccm_cloud_fail(call, 400, code, "The %s is mismatched for %s and %s.", what, a, b);
}

int ccm_nlb_fail_quota(struct ccm_cloud_call *call, const char *what, size_t used, uint32_t most)
{
    return ccm_cloud_fail(call, 400, "QuotaExceeded.QuotaInsufficient",
                          "The quota of %s is exceeded, usage %zu/%u.", what, used, most);
}

int ccm_nlb_fail_lock(struct ccm_cloud_call *call, const char *id)
{
    return ccm_cloud_fail(call, 400, "Conflict.Lock", "The Lock [%s] is conflict.", id);
}

static int fail_status(struct ccm_cloud_call *call, const char *what, const char *id)
{
    char code[96];

    (void)snprintf(code, sizeof(code), "IncorrectStatus.%s", what); /* cut if need be */
    return ccm_cloud_fail(call, 400, code, "The status of %s [%s] is incorrect.", what, id);
}

/* ---- what a call means ---- */

int ccm_nlb_lb_of(struct ccm_cloud_call *call, struct ccm_nlb_lb **ret)
{
    *ret = ccm_nlb_lb_get(call->cloud, ccm_cloud_text(call, "LoadBalancerId", ""));
    return *ret == NULL ? ccm_nlb_fail_absent(call, "loadBalancer") : 0;
}

int ccm_nlb_lb_for_change(struct ccm_cloud_call *call, struct ccm_nlb_lb **ret)
{
    int r = ccm_nlb_lb_of(call, ret);

    if (r < 0) {
        return r;
    }

    const char *status = ccm_cloud_attr(&(*ret)->obj, "LoadBalancerStatus");

    if (ccm_text_equal(status, "Provisioning")) {
        return ccm_cloud_fail(call, 400, "ResourceInCreating.loadbalancer",
                              "The specified resource of loadbalancer is creating, please try "
                              "again later.");
    }
    if (ccm_text_equal(status, "Configuring")) {
        return ccm_cloud_fail(call, 400, "ResourceInConfiguring.loadbalancer",
                              "The specified resource of loadbalancer is being configured, please "
                              "try again later.");
    }
    return ccm_text_equal(status, "Active") || ccm_text_equal(status, "Inactive")
               ? 0
               : fail_status(call, "loadbalancer", (*ret)->obj.id);
}

int ccm_nlb_lb_check_idle(struct ccm_cloud_call *call, const struct ccm_nlb_lb *lb)
{
    const char *status = ccm_cloud_attr(&lb->obj, "LoadBalancerStatus");

    return ccm_text_equal(status, "Active") || ccm_text_equal(status, "Inactive")
               ? 0
               : fail_status(call, "loadbalancer", lb->obj.id);
}

int ccm_nlb_group_of(struct ccm_cloud_call *call, struct ccm_nlb_group **ret)
{
    *ret = ccm_nlb_group_get(call->cloud, ccm_cloud_text(call, "ServerGroupId", ""));
    return *ret == NULL ? ccm_nlb_fail_absent(call, "serverGroup") : 0;
}

int ccm_nlb_group_for_change(struct ccm_cloud_call *call, struct ccm_nlb_group **ret)
{
    int r = ccm_nlb_group_of(call, ret);

    if (r < 0 || ccm_text_equal(ccm_cloud_attr(&(*ret)->obj, "ServerGroupStatus"), "Available")) {
        return r;
    }
    return ccm_cloud_fail(call, 400, "IncorrectStatus.serverGroup",
                          "The status of servergroup [%s] is incorrect.", (*ret)->obj.id);
}

int ccm_nlb_listener_of(struct ccm_cloud_call *call, struct ccm_nlb_listener **ret)
{
    *ret = ccm_nlb_listener_get(call->cloud, ccm_cloud_text(call, "ListenerId", ""));
    return *ret == NULL ? ccm_nlb_fail_absent(call, "listener") : 0;
}

static bool is_settled(const struct ccm_nlb_listener *listener)
{
    const char *status = ccm_cloud_attr(&listener->obj, "ListenerStatus");

    return ccm_text_equal(status, "Running") || ccm_text_equal(status, "Stopped");
}

int ccm_nlb_listener_for_change(struct ccm_cloud_call *call, struct ccm_nlb_listener **ret)
{
    int r = ccm_nlb_listener_of(call, ret);

    r = r < 0 ? r : ccm_nlb_lb_check_idle(call, (*ret)->lb);
    if (r == 0 && !is_settled(*ret)) {
        r = fail_status(call, "listener", (*ret)->obj.id);
    }
    return r;
}

bool ccm_nlb_lb_has_busy_listener(const struct ccm_nlb_lb *lb)
{
    for (size_t i = 0; i < lb->len; i++) {
        if (!is_settled(lb->listeners[i])) {
            return true;
        }
    }
    return false;
}

int ccm_nlb_dry_run(struct ccm_cloud_call *call)
{
    return ccm_nlb_flag(call, "DryRun", false)
               ? ccm_cloud_fail(call, 400, "DryRunOperation",
                                "Request validation has been passed with DryRun flag set.")
               : 0;
}

/* ---- changes ---- */

void ccm_nlb_status_set(struct ccm_cloud_obj *obj, const char *attr, const char *status)
{
    /* Without memory the old status stays; the simulator is about to die of it anyway. */
    if (ccm_sim_params_set(&obj->attrs, attr, status) < 0) {
        return;
    }
}

int ccm_nlb_job(struct ccm_cloud_call *call, struct ccm_cloud_obj *obj, const char *attr,
                const char *status,
                int (*end)(struct ccm_cloud *cloud, struct ccm_cloud_job *job, bool ok),
                struct ccm_cloud_job **ret)
{
    const struct ccm_cloud_pair before = { "Before", ccm_cloud_attr(obj, attr) };
    int r = ccm_cloud_job_start(call, obj->id, end, ret);

    r = r < 0 ? r : ccm_cloud_attrs_set(&(*ret)->obj, &before, 1);
    r = r < 0 ? r : ccm_sim_params_set(&obj->attrs, attr, status);
    if (r == 0) {
        ccm_jsonw_str(call->out, "JobId", (*ret)->obj.id);
    }
    return r;
}

int ccm_nlb_job_apply(const struct ccm_cloud_job *job, struct ccm_cloud_obj *obj)
{
    int r = 0;

    for (size_t i = 0; i < job->set.len && r == 0; i++) {
        r = ccm_sim_params_set(&obj->attrs, job->set.items[i].name, job->set.items[i].value);
    }
    return r;
}
