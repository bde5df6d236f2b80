#include "echo.h"

#include "alicloud/tests/check.h"
#include "util/parse.h"
#include "util/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct echo_rule *find_rule(struct echo *echo, const char *action)
{
    for (size_t i = 0; i < echo->rule_count; i++) {
        struct echo_rule *rule = &echo->rules[i];

        if (strcmp(rule->action, action) != 0 || rule->times == SIZE_MAX) {
            continue;
        }
        if (rule->skip > 0) {
            rule->skip--;
            return NULL;
        }
        if (rule->times > 0 && --rule->times == 0) {
            rule->times = SIZE_MAX; /* used up, after this one */
        }
        return rule;
    }
    return NULL;
}

static const char *job_status(const struct echo *echo, const char *id)
{
    uint32_t number = 0;

    if (!ccm_text_starts(id, "job-") || ccm_parse_u32(id + 4, 0, 255, &number) < 0 ||
        number >= echo->job_count) {
        return "";
    }
    return echo->jobs[number];
}

static void list_jobs(struct echo *echo, const struct fake_request *request)
{
    bool comma = false;

    ccm_buf_adds(&echo->body, "{\"RequestId\":\"r-poll\",\"Jobs\":[");
    for (size_t i = 0; i < request->param_count; i++) {
        const char *id = request->params[i].value;
        const char *status = job_status(echo, id);

        if (ccm_text_starts(request->params[i].name, "JobIds.") && status[0] != '\0') {
            ccm_buf_addf(&echo->body, "%s{\"Id\":\"%s\",\"Status\":\"%s\"}", comma ? "," : "", id,
                         status);
            comma = true;
        }
    }
    ccm_buf_adds(&echo->body, "]}");
}

/* ECS has none, nor have these changes of NLB. */
static bool has_job(const char *action)
{
    static const char *const without[] = { "UpdateLoadBalancerProtection", "TagResources",
                                           "UntagResources", "EnableLoadBalancerIpv6Internet",
                                           "DisableLoadBalancerIpv6Internet" };

    for (size_t i = 0; i < CCM_ARRAY_LEN(without); i++) {
        if (strcmp(action, without[i]) == 0) {
            return false;
        }
    }
    return strstr(action, "SecurityGroup") == NULL || ccm_text_starts(action, "LoadBalancer");
}

static void say_yes(struct echo *echo, const char *action, const struct echo_rule *rule)
{
    const bool read = ccm_text_starts(action, "List") || ccm_text_starts(action, "Describe");

    if (strcmp(action, "GetLoadBalancerAttribute") == 0) {
        ccm_buf_addf(&echo->body,
                     "{\"RequestId\":\"r\",\"LoadBalancerId\":\"nlb-1\",\"DNSName\":\"nlb-1.test\","
                     "\"VpcId\":\"vpc-1\",\"LoadBalancerStatus\":\"%s\","
                     "\"AddressType\":\"Internet\"}",
                     echo->lb_status == NULL ? "Active" : echo->lb_status);
        return;
    }
    ccm_buf_addf(&echo->body, "{\"RequestId\":\"r-%zu\"", ++echo->calls);
    if (strcmp(action, "CreateLoadBalancer") == 0) {
        ccm_buf_adds(&echo->body, ",\"LoadbalancerId\":\"nlb-1\"");
    } else if (read) {
        ccm_buf_adds(&echo->body,
                     ",\"LoadBalancers\":[],\"Listeners\":[],\"ServerGroups\":[],\"Servers\":[],"
                     "\"Certificates\":[],\"SecurityGroups\":{\"SecurityGroup\":[]},"
                     "\"Permissions\":{\"Permission\":[]}");
    } else {
        if (ccm_text_starts(action, "Create")) {
            echo->made++;
            ccm_buf_addf(&echo->body,
                         ",\"ServerGroupId\":\"sgp-%zu\",\"ListenerId\":\"lsn-%zu\","
                         "\"SecurityGroupId\":\"sg-%zu\"",
                         echo->made, echo->made, echo->made);
        }
        if (has_job(action)) {
            echo->jobs[echo->job_count] =
                rule == NULL || rule->job == NULL ? "Succeeded" : rule->job;
            ccm_buf_addf(&echo->body, ",\"JobId\":\"job-%zu\"", echo->job_count++);
        }
    }
    ccm_buf_adds(&echo->body, "}");
}

static bool answer(void *arg, const struct fake_request *request, struct fake_reply *ret)
{
    struct echo *echo = arg;
    const struct echo_rule *rule = find_rule(echo, request->action);

    ccm_buf_reset(&echo->body);
    ccm_buf_addf(&echo->log, "%s ",
                 strcmp(request->action, "ListAsynJobs") == 0 ? "*" : request->action);
    if (rule != NULL && rule->lost) {
        ret->result = -EIO;
        ret->phase = CCM_HTTP_MAYBE_RUN;
        return true;
    }
    if (rule != NULL && rule->code != NULL) {
        ret->status = rule->http == 0 ? 400 : rule->http;
        ccm_buf_addf(&echo->body, "{\"RequestId\":\"r-no\",\"Code\":\"%s\",\"Message\":\"%s\"}",
                     rule->code, rule->message == NULL ? "refused" : rule->message);
    } else if (strcmp(request->action, "ListAsynJobs") == 0) {
        list_jobs(echo, request);
    } else {
        say_yes(echo, request->action, rule);
    }
    ret->body = ccm_buf_str(&echo->body);
    return true;
}

void echo_begin(struct echo *echo)
{
    memset(echo, 0, sizeof(*echo));
    setup_begin(&echo->setup, NULL);
    echo->call = (struct alilb_call){
        .ali = echo->setup.ali,
        .host = echo->setup.host,
        .object = "default/web",
        .cluster_id = "c1",
        .priority = LBC_PRIO_SPEC,
    };
    fake_host_on_http(echo->setup.fake, answer, echo);
}

void echo_end(struct echo *echo)
{
    setup_end(&echo->setup);
    ccm_buf_fini(&echo->log);
    ccm_buf_fini(&echo->body);
}

void echo_rule(struct echo *echo, const struct echo_rule *rule)
{
    assert_true(echo->rule_count < ECHO_RULES);
    echo->rules[echo->rule_count++] = *rule;
}

const char *echo_log(struct echo *echo)
{
    return ccm_buf_str(&echo->log);
}

void echo_forget(struct echo *echo)
{
    ccm_buf_reset(&echo->log);
    echo->rule_count = 0;
}

const char *echo_param(struct echo *echo, const char *action, const char *name)
{
    for (size_t i = fake_host_request_count(echo->setup.fake); i > 0; i--) {
        const struct fake_request *request = fake_host_request(echo->setup.fake, i - 1);

        if (strcmp(request->action, action) == 0) {
            const char *value = fake_request_param(request, name);

            return value == NULL ? "" : value;
        }
    }
    fail_msg("%s was not called", action);
    return "";
}

void echo_answer(struct echo *echo, const char *action, const char *json)
{
    char *text = strdup(json);

    assert_non_null(text);
    for (char *p = text; *p != '\0'; p++) {
        *p = *p == '\'' ? '"' : *p;
    }
    fake_host_answer(echo->setup.fake, action, 200, text);
    free(text);
}
