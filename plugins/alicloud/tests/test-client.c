/* Whole calls on a fake host: what is repeated, what is reported. */
#include "alicloud/ali.h"
#include "alicloud/eni.h"
#include "alicloud/params.h"

#include "ccm/version.h"
#include "setup.h"
#include "util/cleanup.h"
#include "util/text.h"

#include "alicloud/instance.h"
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define OK_BODY    "{\"RequestId\":\"req-ok\",\"LoadBalancerId\":\"lb-1\"}"
#define BUSY_BODY  "{\"RequestId\":\"r\",\"Code\":\"SystemBusy\",\"Message\":\"busy\"}"
#define SLOW_BODY  "{\"RequestId\":\"r\",\"Code\":\"Throttling.User\",\"Message\":\"slow\"}"
#define FAULT_BODY "{\"RequestId\":\"r\",\"Code\":\"InternalError\",\"Message\":\"oops\"}"

struct result {
    int r;
    bool uncertain;
    struct ccm_error err;
    char id[64]; /* LoadBalancerId of the answer */
};

static struct result call_with(struct setup *setup, const struct ali_call *call,
                               int64_t deadline_ms)
{
    struct result result = { .err = CCM_ERROR_INIT };
    const struct ccm_request req = setup_request(setup, deadline_ms);
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;

    result.r = ali_call(&(const struct ali_caller){ setup->ali, setup->host, &req }, call, &json,
                        &result.uncertain, &result.err);
    ccm_text_copy(result.id, sizeof(result.id), ccm_json_text(json, "LoadBalancerId"));
    assert_int_equal(result.r == 0, json != NULL);
    setup_no_secret(result.err.message);
    return result;
}

static struct result call(struct setup *setup, enum ali_repeat repeat)
{
    const struct ali_call request = {
        .product = ALI_SLB,
        .action = "CreateLoadBalancer",
        .priority = ALI_PRIO_NEW,
        .repeat = repeat,
        .object = "default/web",
    };

    return call_with(setup, &request, 60000);
}

/* --- what is repeated --- */

enum fault { NOT_SENT, MAYBE_RUN, FAULT_500, HTML_502, GARBLED_200, THROTTLED, BUSY, REFUSED };

static void script(struct setup *setup, enum fault fault, uint32_t times)
{
    struct fake_reply reply = { .match = "CreateLoadBalancer", .times = times };

    switch (fault) {
    case NOT_SENT:
        reply.result = -ECONNREFUSED;
        reply.phase = CCM_HTTP_NOT_SENT;
        break;
    case MAYBE_RUN:
        reply.result = -ETIMEDOUT;
        reply.phase = CCM_HTTP_MAYBE_RUN;
        break;
    case FAULT_500:
        reply.status = 500;
        reply.body = FAULT_BODY;
        break;
    case HTML_502:
        reply.status = 502;
        reply.body = "<html>Bad Gateway</html>";
        break;
    case GARBLED_200:
        reply.body = "{\"RequestId\":\"req-1\",\"LoadBal";
        break;
    case THROTTLED:
        reply.status = 400;
        reply.body = SLOW_BODY;
        break;
    case BUSY:
        reply.status = 449;
        reply.body = BUSY_BODY;
        break;
    case REFUSED:
        reply.status = 400;
        reply.body = "{\"RequestId\":\"r\",\"Code\":\"InvalidParameter\",\"Message\":\"no\"}";
        break;
    }
    fake_host_reply(setup->fake, &reply);
}

static const struct {
    enum fault fault;
    enum ali_repeat repeat;
    bool repeated;
    bool uncertain; /* when it never gets better */
    uint64_t kind;
} faults[] = {
    { NOT_SENT, ALI_READ, true, false, CCM_ERROR_TRANSIENT },
    { NOT_SENT, ALI_IDEMPOTENT, true, false, CCM_ERROR_TRANSIENT },
    { NOT_SENT, ALI_ONCE, true, false, CCM_ERROR_TRANSIENT },
    { MAYBE_RUN, ALI_READ, true, false, CCM_ERROR_TRANSIENT },
    { MAYBE_RUN, ALI_IDEMPOTENT, true, true, CCM_ERROR_TRANSIENT },
    { MAYBE_RUN, ALI_ONCE, false, true, CCM_ERROR_TRANSIENT },
    { FAULT_500, ALI_READ, true, false, CCM_ERROR_TRANSIENT },
    { FAULT_500, ALI_IDEMPOTENT, true, true, CCM_ERROR_TRANSIENT },
    { FAULT_500, ALI_ONCE, false, true, CCM_ERROR_TRANSIENT },
    { HTML_502, ALI_READ, true, false, CCM_ERROR_TRANSIENT },
    { HTML_502, ALI_ONCE, false, true, CCM_ERROR_TRANSIENT },
    { GARBLED_200, ALI_READ, true, false, CCM_ERROR_TRANSIENT },
    { GARBLED_200, ALI_ONCE, false, true, CCM_ERROR_TRANSIENT },
    { THROTTLED, ALI_READ, true, false, CCM_ERROR_THROTTLED },
    { THROTTLED, ALI_IDEMPOTENT, true, false, CCM_ERROR_THROTTLED },
    { THROTTLED, ALI_ONCE, true, false, CCM_ERROR_THROTTLED },
    { BUSY, ALI_READ, true, false, CCM_ERROR_CONFLICT },
    { BUSY, ALI_IDEMPOTENT, true, false, CCM_ERROR_CONFLICT },
    { BUSY, ALI_ONCE, true, false, CCM_ERROR_CONFLICT },
    { REFUSED, ALI_READ, false, false, CCM_ERROR_TERMINAL },
    { REFUSED, ALI_ONCE, false, false, CCM_ERROR_TERMINAL },
};

static void test_repeats_once_then_fine(void **state)
{
    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(faults); i++) {
        struct setup setup;

        print_message("fault %d, repeat %d\n", (int)faults[i].fault, (int)faults[i].repeat);
        setup_begin(&setup, NULL);
        script(&setup, faults[i].fault, 1);
        fake_host_always(setup.fake, "CreateLoadBalancer", 200, OK_BODY);

        const struct result result = call(&setup, faults[i].repeat);
        const size_t sent = fake_host_action_count(setup.fake, "CreateLoadBalancer");

        assert_int_equal(sent, faults[i].repeated ? 2 : 1);
        assert_int_equal(result.r == 0, faults[i].repeated);
        if (faults[i].repeated) {
            assert_string_equal(result.id, "lb-1");
            assert_false(result.uncertain);
            /* Every try is signed anew, and there was a pause. */
            assert_string_not_equal(
                fake_request_header(fake_host_request(setup.fake, 0), "x-acs-signature-nonce"),
                fake_request_header(fake_host_request(setup.fake, 1), "x-acs-signature-nonce"));
            assert_true(fake_host_waited_ms(setup.fake) >= (faults[i].fault == BUSY ? 1000 : 50));
        } else {
            assert_int_equal(result.uncertain, faults[i].uncertain);
            assert_int_equal(result.err.kind, faults[i].kind);
        }
        setup_end(&setup);
    }
}

static void test_repeats_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(faults); i++) {
        struct setup setup;

        print_message("fault %d, repeat %d\n", (int)faults[i].fault, (int)faults[i].repeat);
        setup_begin(&setup, NULL);
        script(&setup, faults[i].fault, FAKE_ALWAYS);

        const int64_t started = fake_host_now(setup.fake);
        const struct result result = call(&setup, faults[i].repeat);

        assert_true(result.r < 0);
        assert_int_equal(result.err.kind, faults[i].kind);
        assert_int_equal(result.uncertain, faults[i].uncertain);
        assert_true(fake_host_now(setup.fake) - started <= 60000);
        assert_in_range(fake_host_request_count(setup.fake), 1, 10);
        assert_true(ccm_text_starts(result.err.message, "CreateLoadBalancer: "));
        setup_end(&setup);
    }
}

/* What failed in the last pass is asked for once in this one, unless the cloud only has no time. */
static void test_failed_before(void **state)
{
    static const struct {
        enum fault fault;
        uint64_t least;
        uint64_t most;
    } rows[] = { { NOT_SENT, 1, 1 }, { MAYBE_RUN, 1, 1 }, { FAULT_500, 1, 1 }, { HTML_502, 1, 1 },
                 { REFUSED, 1, 1 },  { BUSY, 2, 10 },     { THROTTLED, 1, 10 } };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct setup setup;
        const struct ali_call request = {
            .product = ALI_SLB,
            .action = "CreateLoadBalancer",
            .priority = ALI_PRIO_RETRY,
            .repeat = ALI_IDEMPOTENT,
            .object = "default/web",
            .failed_before = true,
        };

        setup_begin(&setup, NULL);
        script(&setup, rows[i].fault, FAKE_ALWAYS);
        assert_true(call_with(&setup, &request, 60000).r < 0);
        assert_in_range(fake_host_request_count(setup.fake), rows[i].least, rows[i].most);
        setup_end(&setup);
    }
}

static void test_deadline_is_kept(void **state)
{
    struct setup setup;
    const struct ali_call request = { .product = ALI_SLB,
                                      .action = "CreateLoadBalancer",
                                      .repeat = ALI_IDEMPOTENT };

    (void)state;
    setup_begin(&setup, NULL);
    script(&setup, BUSY, FAKE_ALWAYS);

    const int64_t started = fake_host_now(setup.fake);
    const struct result result = call_with(&setup, &request, 3000);

    assert_true(result.r < 0);
    /* What the cloud said, not that the time is over. */
    assert_string_equal(result.err.code, "SystemBusy");
    assert_true(fake_host_now(setup.fake) - started <= 3000);
    setup_end(&setup);
}

static void test_cancelled(void **state)
{
    struct setup setup;

    (void)state;
    setup_begin(&setup, NULL);
    fake_host_cancel(setup.fake, true);

    const struct result result = call(&setup, ALI_READ);

    assert_int_equal(result.err.kind, CCM_ERROR_CANCELLED);
    assert_false(result.uncertain);
    assert_int_equal(fake_host_request_count(setup.fake), 0);
    fake_host_cancel(setup.fake, false);
    setup_end(&setup);
}

/* In a dry run the cloud is asked, never told. */
static void test_dry_run(void **state)
{
    static const enum ali_repeat writes[] = { ALI_IDEMPOTENT, ALI_ONCE };
    struct setup setup;

    (void)state;
    setup_begin(&setup, NULL);
    fake_host_dry_run(setup.fake, true);
    for (size_t i = 0; i < 2; i++) {
        const struct result result = call(&setup, writes[i]);

        assert_int_equal(result.r, -ECANCELED);
        assert_int_equal(result.err.kind, CCM_ERROR_CANCELLED);
        assert_non_null(strstr(result.err.message, "CreateLoadBalancer: not sent"));
        assert_false(result.uncertain);
    }
    assert_int_equal(fake_host_request_count(setup.fake), 0);
    fake_host_answer(setup.fake, "CreateLoadBalancer", 200, "{\"RequestId\":\"r1\"}");
    assert_int_equal(call(&setup, ALI_READ).r, 0);
    setup_end(&setup);
}

/* A code that says "this very request is here already" is no licence to run a call twice. */
static void test_same_request_runs(void **state)
{
    static const char body[] =
        "{\"RequestId\":\"r\",\"Code\":\"ProcessingSameRequest\",\"Message\":\"m\"}";
    struct setup setup;

    (void)state;
    setup_begin(&setup, NULL);
    fake_host_answer(setup.fake, "CreateLoadBalancer", 400, body);

    struct result result = call(&setup, ALI_ONCE);

    assert_int_equal(result.err.kind, CCM_ERROR_CONFLICT);
    assert_true(result.uncertain);
    fake_host_answer(setup.fake, "CreateLoadBalancer", 400, body);
    fake_host_answer(setup.fake, "CreateLoadBalancer", 200, OK_BODY);
    result = call(&setup, ALI_IDEMPOTENT);
    assert_int_equal(result.r, 0);
    setup_end(&setup);
}

/* --- what is reported --- */

static const struct {
    const char *name;
    uint64_t status;
    const char *body;
    const char *message;
    const char *code;
    const char *request_id;
    uint64_t kind;
} answers[] = {
    { "complete", 400,
      "{\"RequestId\":\"id-1\",\"HostId\":\"h\",\"Code\":\"InvalidVSwitchId.NotFound\","
      "\"Message\":\"No such vSwitch.\",\"Recommend\":\"https://x\",\"Extra\":{\"a\":[1]}}",
      "CreateLoadBalancer: InvalidVSwitchId.NotFound: No such vSwitch. (RequestId id-1)",
      "InvalidVSwitchId.NotFound", "id-1", CCM_ERROR_TERMINAL },
    { "small letters", 400,
      "{\"requestId\":\"id-2\",\"code\":\"Forbidden.RAM\",\"message\":\"no\"}",
      "CreateLoadBalancer: Forbidden.RAM: no (RAM action slb:CreateLoadBalancer) (RequestId id-2)",
      "Forbidden.RAM", "id-2", CCM_ERROR_AUTH },
    { "quotes and line feeds", 400,
      "{\"RequestId\":\"id-3\",\"Code\":\"NeverSeen\",\"Message\":\"a \\\"b\\\"\\nerror x: y\\r\"}",
      "CreateLoadBalancer: NeverSeen: a \"b\" error x: y  (RequestId id-3)", "NeverSeen", "id-3",
      CCM_ERROR_TRANSIENT },
    { "forged code", 400,
      "{\"RequestId\":\"i d\\n\",\"Code\":\"Never Seen\\u0007\",\"Message\":\"m\"}",
      "CreateLoadBalancer: Never?Seen?: m (RequestId i?d?)", "Never?Seen?", "i?d?",
      CCM_ERROR_TRANSIENT },
    { "wrong types", 400, "{\"RequestId\":5,\"Code\":[],\"Message\":{}}",
      "CreateLoadBalancer: HTTP 400 without an error code (38 bytes)", "", "",
      CCM_ERROR_TRANSIENT },
    { "no code", 400, "{\"RequestId\":\"id-4\"}",
      "CreateLoadBalancer: HTTP 400 without an error code (20 bytes)", "", "id-4",
      CCM_ERROR_TRANSIENT },
    { "empty", 404, "", "CreateLoadBalancer: HTTP 404 without an error code (0 bytes)", "", "",
      CCM_ERROR_TRANSIENT },
    { "html", 403, "<html>denied</html>",
      "CreateLoadBalancer: HTTP 403 without an error code (19 bytes)", "", "", CCM_ERROR_AUTH },
    { "truncated", 400, "{\"RequestId\":\"id-5\",\"Code\":\"InvalidLoadBal",
      "CreateLoadBalancer: HTTP 400 without an error code (42 bytes)", "", "",
      CCM_ERROR_TRANSIENT },
    { "5xx with JSON", 503,
      "{\"RequestId\":\"id-6\",\"Code\":\"ServiceUnavailable\",\"Message\":\"down\"}",
      "CreateLoadBalancer: ServiceUnavailable: down (RequestId id-6)", "ServiceUnavailable", "id-6",
      CCM_ERROR_TRANSIENT },
    { "redirect", 302, "", "CreateLoadBalancer: HTTP 302 without an error code (0 bytes)", "", "",
      CCM_ERROR_TRANSIENT },
    { "200, no JSON", 200, "<html>welcome</html>",
      "CreateLoadBalancer: HTTP 200, but the answer is no JSON object (20 bytes)", "", "",
      CCM_ERROR_TRANSIENT },
    { "200, no object", 200, "[1]",
      "CreateLoadBalancer: HTTP 200, but the answer is no JSON object (3 bytes)", "", "",
      CCM_ERROR_TRANSIENT },
    { "deleted", 404,
      "{\"RequestId\":\"id-7\",\"Code\":\"InvalidLoadBalancerId.NotFound\",\"Message\":\"gone\"}",
      "CreateLoadBalancer: InvalidLoadBalancerId.NotFound: gone (RequestId id-7)",
      "InvalidLoadBalancerId.NotFound", "id-7", CCM_ERROR_NOT_FOUND },
};

static void test_reports(void **state)
{
    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(answers); i++) {
        struct setup setup;

        print_message("%s\n", answers[i].name);
        setup_begin(&setup, NULL);
        fake_host_always(setup.fake, "CreateLoadBalancer", answers[i].status, answers[i].body);

        const struct result result = call(&setup, ALI_ONCE);

        assert_int_equal(result.r, -EREMOTEIO);
        assert_string_equal(result.err.message, answers[i].message);
        assert_string_equal(result.err.code, answers[i].code);
        assert_string_equal(result.err.request_id, answers[i].request_id);
        assert_int_equal(strlen(result.err.message) - ccm_error_cause_len(&result.err),
                         strstr(result.err.message, "(RequestId") == NULL
                             ? 0
                             : strlen(" (RequestId )") + strlen(answers[i].request_id));
        assert_int_equal(result.err.http_status, answers[i].status);
        assert_int_equal(result.err.kind, answers[i].kind);
        setup_end(&setup);
    }
}

static void test_long_message_keeps_the_request_id(void **state)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { 0 };
    struct setup setup;

    (void)state;
    ccm_buf_adds(&body, "{\"RequestId\":\"id-last\",\"Code\":\"NeverSeen\",\"Message\":\"");
    for (int i = 0; i < 5000; i++) {
        ccm_buf_addc(&body, 'x');
    }
    ccm_buf_adds(&body, "\"}");
    setup_begin(&setup, NULL);
    fake_host_answer(setup.fake, "CreateLoadBalancer", 400, ccm_buf_str(&body));
    assert_true(ccm_text_ends(call(&setup, ALI_ONCE).err.message, "(RequestId id-last)"));
    setup_end(&setup);
}

static void test_secrets_are_not_repeated(void **state)
{
    static const char *const bodies[] = {
        "{\"RequestId\":\"r\",\"Code\":\"NeverSeen\",\"Message\":\"you sent " TEST_TOKEN "\"}",
        "{\"RequestId\":\"r\",\"Code\":\"NeverSeen\",\"Message\":\"you have " TEST_SECRET "\"}",
        "{\"RequestId\":\"r\",\"Code\":\"SignatureDoesNotMatch\",\"Message\":\"Specified signature "
        "is not matched with our calculation. server string to sign is:POST&%2F&SecurityToken"
        "%3D" TEST_TOKEN "\"}",
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(bodies); i++) {
        struct setup setup;

        setup_begin(&setup, NULL);
        fake_host_always(setup.fake, "CreateLoadBalancer", 400, bodies[i]);
        assert_true(call(&setup, ALI_ONCE).r < 0); /* call() looks at the message */
        setup_end(&setup);
    }
}

/* Refuses the signature, with the canonical request that the sent lines give. */
static bool echo_string_to_sign(void *arg, const struct fake_request *request,
                                struct fake_reply *ret)
{
    static const char *const names[] = { "content-type",         "host",
                                         "x-acs-accesskey-id",   "x-acs-action",
                                         "x-acs-content-sha256", "x-acs-date",
                                         "x-acs-security-token", "x-acs-signature-nonce",
                                         "x-acs-version" };
    static char text[2048];
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf list = { 0 };

    (void)arg; /* needs nothing */
    ccm_buf_adds(&body, "{\"RequestId\":\"r\",\"Code\":\"SignatureDoesNotMatch\",\"Message\":\"Not "
                        "matched. server string to sign is:POST\\n/\\n\\n");
    for (size_t i = 0; i < CCM_ARRAY_LEN(names); i++) {
        const char *value = strcmp(names[i], "host") == 0 ? "slb-vpc.cn-hangzhou.aliyuncs.com"
                                                          : fake_request_header(request, names[i]);

        ccm_buf_addf(&body, "%s:%s\\n", names[i], value);
        ccm_buf_addf(&list, "%s%s", i == 0 ? "" : ";", names[i]);
    }
    ccm_buf_addf(&body, "\\n%s\\n%s\"}", ccm_buf_str(&list),
                 fake_request_header(request, "x-acs-content-sha256"));
    ccm_text_copy(text, sizeof(text), ccm_buf_str(&body));
    *ret = (struct fake_reply){ .status = 400, .body = text };
    return true;
}

/* Which end is wrong, by the text that the server says it signed: the string itself (both styles),
 * or the canonical request behind it. */
static void test_refused_signature(void **state)
{
    static const struct {
        const char *signature;
        const char *text; /* NULL: what was really signed */
        const char *note;
    } rows[] = {
        { "v3", NULL, "so the secret is wrong" },
        { "v3", "ACS3-HMAC-SHA256\\n0000", "so something changed the request" },
        { "v1", "POST&%2F&Action%3DOther", "so something changed the request" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const char *const options[] = { "signature", rows[i].signature, NULL };
        CCM_CLEANUP(ccm_freep)
        char *body = ccm_text_format(
            "{\"RequestId\":\"r\",\"Code\":\"SignatureDoesNotMatch\",\"Message\":\"Not matched. "
            "server string to sign is:%s\"}",
            rows[i].text == NULL ? "ECHO" : rows[i].text);
        struct setup setup;

        setup_begin(&setup, options);
        if (rows[i].text == NULL) {
            fake_host_on_http(setup.fake, echo_string_to_sign, NULL);
        } else {
            fake_host_always(setup.fake, "CreateLoadBalancer", 400, body);
        }

        const struct result result = call(&setup, ALI_ONCE);

        assert_non_null(strstr(result.err.message, rows[i].note));
        assert_null(strstr(result.err.message, "POST"));
        assert_null(strstr(result.err.message, "string to sign"));
        setup_end(&setup);
    }
}

/* --- credentials and clocks --- */

static void test_skewed_clock_is_told(void **state)
{
    static const struct {
        int64_t shift;
        const char *code;
        const char *note; /* NULL = none */
    } rows[] = {
        { 1800000, "InvalidTimeStamp.Expired", "is 30 min ahead of the cloud's" },
        { -1800000, "InvalidTimeStamp.Expired", "is 30 min behind the cloud's" },
        { 1829900, "InvalidTimeStamp.Expired", "is 30 min ahead of the cloud's" },
        { -1771000, "InvalidTimeStamp.Expired", "is 30 min behind the cloud's" },
        { 61900, "InvalidTimeStamp.Expired", "is 61 s ahead of the cloud's" },
        { 1800000, "SignatureDoesNotMatch", "is 30 min ahead of the cloud's" },
        { 0, "SignatureDoesNotMatch", NULL },
        { 1800000, "InvalidParameter", NULL },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        CCM_CLEANUP(ccm_freep)
        char *body = ccm_text_format("{\"RequestId\":\"r\",\"Code\":\"%s\",\"Message\":\"no.\"}",
                                     rows[i].code);
        const struct fake_reply reply = {
            .match = "CreateLoadBalancer",
            .status = 400,
            .body = body,
            .headers = { "server: x", "date: Fri, 02 Jan 2026 03:04:05 GMT" },
        };
        struct setup setup;

        setup_begin(&setup, NULL);
        fake_host_shift_wall(setup.fake, rows[i].shift);
        fake_host_reply(setup.fake, &reply);
        if (ccm_text_starts(rows[i].code, "InvalidTimeStamp")) {
            /* Another credential is there, but it would not help. */
            assert_int_equal(setenv("SECURITY_TOKEN", "another", 1), 0);
        }

        const struct result result = call(&setup, ALI_READ);

        if (rows[i].note == NULL) {
            assert_null(strstr(result.err.message, "clock"));
        } else {
            assert_non_null(strstr(result.err.message, rows[i].note));
            assert_int_equal(result.err.kind, CCM_ERROR_AUTH);
        }
        assert_int_equal(fake_host_request_count(setup.fake), 1);
        setup_end(&setup);
    }
}

static void test_date(void **state)
{
    int64_t ms = 0;

    (void)state;
    assert_int_equal(ali_parse_date("Fri, 02 Jan 2026 03:04:05 GMT", &ms), 0);
    assert_int_equal(ms, FAKE_HOST_WALL_MS);
    assert_int_equal(ali_parse_date("Fri, 02 Jan 2026 03:04:05 CET", &ms), -EINVAL);
    assert_int_equal(ali_parse_date("Fri, 02 Foo 2026 03:04:05 GMT", &ms), -EINVAL);
    assert_int_equal(ali_parse_date("Fri, 0x Jan 2026 03:04:05 GMT", &ms), -EINVAL);
    assert_int_equal(ali_parse_date("", &ms), -EINVAL);
    assert_int_equal(ali_parse_date("Friday, 02-Jan-26 03:04:05 GMT", &ms), -EINVAL);
}

static void test_used_nonce(void **state)
{
    static const char body[] =
        "{\"RequestId\":\"r\",\"Code\":\"SignatureNonceUsed\",\"Message\":\"m\"}";
    struct setup setup;

    (void)state;
    setup_begin(&setup, NULL);
    fake_host_answer(setup.fake, "CreateLoadBalancer", 400, body);
    fake_host_answer(setup.fake, "CreateLoadBalancer", 200, OK_BODY);
    assert_int_equal(call(&setup, ALI_IDEMPOTENT).r, 0);
    /* The first copy of the request may have been executed. */
    fake_host_always(setup.fake, "CreateLoadBalancer", 400, body);

    struct result result = call(&setup, ALI_IDEMPOTENT);

    assert_int_equal(fake_host_request_count(setup.fake), 2 + 2);
    assert_int_equal(result.err.kind, CCM_ERROR_AUTH);
    result = call(&setup, ALI_ONCE);
    assert_int_equal(fake_host_request_count(setup.fake), 2 + 2 + 1);

    assert_int_equal(result.err.kind, CCM_ERROR_AUTH);
    assert_true(result.uncertain);
    setup_end(&setup);
}

/* A refused credential is fetched again once; the environment holds the same, so that is all. */
static void test_refused_credential(void **state)
{
    static const char body[] =
        "{\"RequestId\":\"r\",\"Code\":\"InvalidSecurityToken.Expired\",\"Message\":\"old\"}";
    struct setup setup;

    (void)state;
    setup_begin(&setup, NULL);
    fake_host_always(setup.fake, "CreateLoadBalancer", 400, body);

    struct result result = call(&setup, ALI_IDEMPOTENT);

    assert_int_equal(result.err.kind, CCM_ERROR_AUTH);
    assert_int_equal(fake_host_request_count(setup.fake), 1);

    /* Once there is another one, the call that is refused gets it. */
    fake_host_clear_replies(setup.fake);
    fake_host_advance(setup.fake, 60000);
    assert_int_equal(setenv("SECURITY_TOKEN", "another", 1), 0);
    fake_host_answer(setup.fake, "CreateLoadBalancer", 400, body);
    fake_host_answer(setup.fake, "CreateLoadBalancer", 200, OK_BODY);
    result = call(&setup, ALI_ONCE);
    assert_int_equal(result.r, 0);
    assert_string_equal(
        fake_request_header(fake_host_request(setup.fake, 2), "x-acs-security-token"), "another");
    setup_end(&setup);
}

/* --- throttling --- */

static void test_hints(void **state)
{
    static const struct {
        const char *header;
        uint64_t least;
    } rows[] = {
        { "x-acs-retry-after: 7", 7000 },
        { "retry-after: 5", 5000 },
        { "x-ratelimit-user-api: Limit:90,Remain:0,TimeLeft:4000,Reset:1", 4000 },
        { "x-ratelimit-user: TimeLeft:3000", 3000 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const struct fake_reply reply = { .match = "CreateLoadBalancer",
                                          .status = 400,
                                          .body = SLOW_BODY,
                                          .headers = { rows[i].header } };
        struct setup setup;

        setup_begin(&setup, NULL);
        fake_host_reply(setup.fake, &reply);
        fake_host_answer(setup.fake, "CreateLoadBalancer", 200, OK_BODY);
        assert_int_equal(call(&setup, ALI_ONCE).r, 0);
        assert_in_range(fake_host_waited_ms(setup.fake), rows[i].least, rows[i].least + 3000);
        setup_end(&setup);
    }
}

/* A call with patience does not wait out what the cloud asks for: it comes again. */
static void test_put_off(void **state)
{
    static const struct {
        const char *header;
        enum ali_priority priority;
        int64_t patience_ms;
        uint64_t retry_ms; /* 0: it waited, and got through */
        bool faulty;       /* no throttling: then it has failed */
    } rows[] = {
        { "x-acs-retry-after: 7", ALI_PRIO_NEW, 0, 0, false },
        { "x-acs-retry-after: 7", ALI_PRIO_NEW, 1000, 7000, false },
        { "x-acs-retry-after: 1", ALI_PRIO_NEW, 1000, 0, false },
        { NULL, ALI_PRIO_NEW, 1000, 0, false },   /* a pause of 937 ms, */
        { NULL, ALI_PRIO_NEW, 900, 1000, false }, /* and never put off by pieces */
        { "x-acs-retry-after: 7", ALI_PRIO_REMOVE, 1000, 0, false },
        { "x-acs-retry-after: 30", ALI_PRIO_NEW, 1000, 30000, true },
        { NULL, ALI_PRIO_NEW, 1000, 0, true },
        { "x-acs-retry-after: 30", ALI_PRIO_NEW, 0, 0, true },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const struct fake_reply reply = { .match = "CreateLoadBalancer",
                                          .status = rows[i].faulty ? 503 : 400,
                                          .body = rows[i].faulty ? "{}" : SLOW_BODY,
                                          .headers = { rows[i].header } };
        struct ali_call request = { .product = ALI_SLB,
                                    .action = "CreateLoadBalancer",
                                    .repeat = rows[i].faulty ? ALI_READ : ALI_ONCE,
                                    .object = "default/web",
                                    .priority = rows[i].priority,
                                    .patience_ms = rows[i].patience_ms };
        struct ccm_error err = CCM_ERROR_INIT;
        bool uncertain = true;
        struct setup setup;
        int r;

        setup_begin(&setup, NULL);
        fake_host_reply(setup.fake, &reply);
        fake_host_answer(setup.fake, "CreateLoadBalancer", 200, OK_BODY);
        r = ali_call(&(const struct ali_caller){ setup.ali, setup.host, NULL }, &request, NULL,
                     &uncertain, &err);
        assert_int_equal(r<0, rows[i].retry_ms> 0);
        assert_false(uncertain);
        if (r < 0) {
            assert_int_equal(ali_error_is_put_off(&err), !rows[i].faulty);
            assert_int_equal(err.retry_after_ms, rows[i].retry_ms);
            assert_int_equal(fake_host_waited_ms(setup.fake), 0);
        }
        setup_end(&setup);
    }
}

/* Nor does it wait out that something is busy; its pauses grow on when it comes again, and end. */
static void test_busy_is_put_off(void **state)
{
    static const char *const paced[] = { NULL, "lb-1" };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(paced); i++) {
        const struct ali_call request = { .product = ALI_SLB,
                                          .action = "SetVServerGroupAttribute",
                                          .repeat = ALI_IDEMPOTENT,
                                          .object = "default/web",
                                          .paced = paced[i],
                                          .patience_ms = ALI_PATIENCE_MS };
        struct ccm_error err = CCM_ERROR_INIT;
        struct setup setup;
        uint64_t longest = 0;

        setup_begin(&setup, NULL);
        fake_host_always(setup.fake, "SetVServerGroupAttribute", 400,
                         "{\"Code\":\"BackendServer.configuring\",\"Message\":\"m\","
                         "\"RequestId\":\"r\"}");
        while (ali_call(&(const struct ali_caller){ setup.ali, setup.host, NULL }, &request, NULL,
                        NULL, &err) == -EAGAIN) {
            assert_true(ali_error_is_put_off(&err));
            assert_in_range(err.retry_after_ms, ALI_PATIENCE_MS, 8000);
            longest = err.retry_after_ms > longest ? err.retry_after_ms : longest;
            fake_host_advance(setup.fake, (int64_t)err.retry_after_ms);
            ccm_error_clear(&err);
        }
        assert_string_equal(err.code, "BackendServer.configuring");
        assert_int_equal(fake_host_action_count(setup.fake, "SetVServerGroupAttribute"), 10);
        assert_true(fake_host_waited_ms(setup.fake) <= ALI_PATIENCE_MS);
        assert_true(longest >= 4000);
        setup_end(&setup);
    }
}

static void test_backoff(void **state)
{
    (void)state;
    for (unsigned int tries = 0; tries < 40; tries++) {
        for (uint64_t random = 0; random < 50; random++) {
            const uint64_t bits = random * UINT64_C(0x9E3779B97F4A7C15);
            const int64_t server = ali_backoff(ALI_CLASS_SERVER, tries, 0, bits);
            const int64_t busy = ali_backoff(ALI_CLASS_BUSY, tries, 0, bits);
            const int64_t slow = ali_backoff(ALI_CLASS_THROTTLED, tries, 9000, bits);

            assert_in_range(server, 50, 5050);
            assert_in_range(busy, tries == 0 ? 1000 : tries == 1 ? 2000 : 4000, 8000);
            assert_in_range(slow, 9000, 11000);
        }
    }
    /* The span grows, the whole of it is used. */
    assert_int_equal(ali_backoff(ALI_CLASS_SERVER, 0, 0, 200), 250);
    assert_int_equal(ali_backoff(ALI_CLASS_SERVER, 1, 0, 400), 450);
    assert_int_equal(ali_backoff(ALI_CLASS_SERVER, 2, 0, 801), 50);
}

/* --- the instance --- */

static void test_configuration_errors(void **state)
{
    static const struct {
        const char *name;
        const char *value;
    } rows[] = {
        { "region", "no such region" },
        { "region", "a/b" },
        { "network", "intranet" },
        { "cluster_id", "c1\r\nx: y" },
        { "endpoints.slb", "http://host/path" },
        { "endpoints.metadata", "gopher://host" },
        { "credentials.source", "file" },
        { "vswitch_ids", "cn-hangzhou-h:" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct fake_host *fake = fake_host_new();
        struct ccm_error err = CCM_ERROR_INIT;
        struct ali_client *ali = NULL;

        fake_host_option(fake, "alicloud", "region", "cn-hangzhou");
        fake_host_option(fake, "alicloud", rows[i].name, rows[i].value);
        print_message("%s\n", rows[i].name);
        assert_true(ali_acquire(fake_host_table(fake), &ali, &err) < 0);
        assert_int_equal(err.kind, CCM_ERROR_TERMINAL);
        assert_non_null(strstr(err.message, "alicloud."));
        assert_null(ali);
        fake_host_free(fake);
    }
}

static void test_one_instance(void **state)
{
    struct fake_host *fake = fake_host_new();
    const struct ccm_host *host = fake_host_table(fake);
    struct ccm_error err = CCM_ERROR_INIT;
    struct ali_client *first = NULL;
    struct ali_client *second = NULL;

    (void)state;
    fake_host_option(fake, "alicloud", "region", "cn-hangzhou");
    fake_host_option(fake, "alicloud", "vpc_id", "vpc-1");
    fake_host_option(fake, "alicloud", "vswitch_ids", "cn-hangzhou-h:vsw-1,:vsw-2,vsw-3");
    assert_int_equal(ali_acquire(host, &first, &err), 0);
    assert_int_equal(ali_acquire(host, &second, &err), 0);
    assert_ptr_equal(first, second);

    const struct ali_call request = { .product = ALI_SLB, .action = "DescribeRegions" };

    assert_true(
        ali_call(&(const struct ali_caller){ first, host, NULL }, &request, NULL, NULL, &err) < 0);
    assert_int_equal(err.kind, CCM_ERROR_TRANSIENT);
    assert_string_equal(ali_region(first), "");
    assert_null(ali_vswitch_ids(first)[0]);
    assert_int_equal(ali_start(first, host, &err), 0);
    ali_release(first);
    assert_string_equal(ali_region(second), "cn-hangzhou");
    assert_string_equal(ali_vswitch_ids(second)[0], "vsw-1");
    assert_string_equal(ali_vswitch_ids(second)[1], "vsw-2");
    assert_string_equal(ali_vswitch_ids(second)[2], "vsw-3");
    assert_null(ali_vswitch_ids(second)[3]);
    /* Without a request there is a deadline as well. */
    const struct fake_reply dead = {
        .match = "DescribeRegions", .times = FAKE_ALWAYS, .status = 400, .body = SLOW_BODY
    };

    fake_host_reply(fake, &dead);

    const int64_t started = fake_host_now(fake);

    assert_true(
        ali_call(&(const struct ali_caller){ second, host, NULL }, &request, NULL, NULL, &err) < 0);
    assert_true(fake_host_now(fake) - started <= 60000);
    ali_release(second);
    ali_release(NULL);
    fake_host_free(fake);
}

static void test_start_asks_metadata(void **state)
{
    struct fake_host *fake = fake_host_new();
    const struct ccm_host *host = fake_host_table(fake);
    struct ccm_error err = CCM_ERROR_INIT;
    struct ali_client *ali = NULL;

    (void)state;
    fake_host_option(fake, "alicloud", "plain_http", "true");
    fake_host_option(fake, "alicloud", "endpoints.metadata", "http://127.0.0.1:9");
    assert_int_equal(ali_acquire(host, &ali, &err), 0);
    /* Not reachable: try again later. */
    const struct fake_reply dead = { .match = "http://127.0.0.1:9/",
                                     .result = -ECONNREFUSED,
                                     .phase = CCM_HTTP_NOT_SENT,
                                     .times = FAKE_ALWAYS };

    fake_host_reply(fake, &dead);
    assert_true(ali_start(ali, host, &err) < 0);
    assert_int_equal(err.kind, CCM_ERROR_TRANSIENT);
    fake_host_clear_replies(fake);

    fake_host_always(fake, "/latest/api/token", 200, "imds-token");
    fake_host_always(fake, "/meta-data/region-id", 200, "cn-hangzhou\n");
    fake_host_always(fake, "/meta-data/vpc-id", 200, "vpc-9");
    fake_host_always(fake, "/meta-data/vswitch-id", 200, "vsw-9");
    assert_int_equal(ali_start(ali, host, &err), 0);
    assert_string_equal(ali_region(ali), "cn-hangzhou");
    assert_string_equal(ali_vpc_id(ali), "vpc-9");
    assert_string_equal(ali_vswitch_ids(ali)[0], "vsw-9");

    const size_t asked = fake_host_request_count(fake);

    assert_int_equal(ali_start(ali, host, &err), 0);
    assert_int_equal(fake_host_request_count(fake), asked);
    ali_release(ali);
    fake_host_free(fake);
}

/* --- threads --- */

#define THREADS 8
#define ROUNDS  100

static void *worker(void *arg)
{
    struct setup *setup = arg;
    const struct ali_call request = { .product = ALI_SLB,
                                      .action = "DescribeLoadBalancers",
                                      .repeat = ALI_READ };
    static const char *const addresses[] = { "10.0.0.5" };
    /* The threads push one clock: a real deadline could pass while one of them gets no time. */
    const struct ccm_request req = { .struct_size = sizeof(req), .deadline_ms = INT64_MAX / 2 };
    size_t failed = 0;

    for (int i = 0; i < ROUNDS; i++) {
        struct ccm_error err = CCM_ERROR_INIT;
        struct ali_eni eni = { .state = ALI_ENI_MISSING };

        failed += ali_start(setup->ali, setup->host, &err) < 0 ? 1 : 0;
        failed += ali_call(&(const struct ali_caller){ setup->ali, setup->host, &req }, &request,
                           NULL, NULL, &err) < 0
                      ? 1
                      : 0;
        failed +=
            ali_eni_resolve(&(const struct ali_caller){ setup->ali, setup->host, &req },
                            &(const struct ali_eni_addresses){ .items = addresses, .count = 1 },
                            &eni, &err) < 0
                ? 1
                : 0;
        failed += eni.state != ALI_ENI_FOUND ? 1 : 0;
        ali_eni_forget(setup->ali, addresses[0]);
        fake_host_advance(setup->fake, 1000000); /* credentials come due on the way */
    }
    return (void *)(uintptr_t)failed;
}

/* Everything at once: refreshes by the way, throttling now and then. */
static void test_threads(void **state)
{
    struct setup setup = { .fake = fake_host_new() };
    struct ccm_error err = CCM_ERROR_INIT;
    const struct fake_reply slow = {
        .match = "DescribeLoadBalancers", .status = 400, .body = SLOW_BODY, .times = 5
    };
    pthread_t threads[THREADS];

    (void)state;
    setup.host = fake_host_table(setup.fake);
    fake_host_option(setup.fake, "alicloud", "credentials.source", "ram-role");
    fake_host_always(setup.fake, "/latest/api/token", 200, "imds-token");
    fake_host_always(setup.fake, "/meta-data/region-id", 200, "cn-hangzhou");
    fake_host_always(setup.fake, "/meta-data/vpc-id", 200, "vpc-9");
    fake_host_always(setup.fake, "/meta-data/vswitch-id", 200, "vsw-9");
    fake_host_always(setup.fake, "/ram/security-credentials/r", 200,
                     "{\"AccessKeyId\":\"k\",\"AccessKeySecret\":\"" TEST_SECRET
                     "\",\"SecurityToken\":\"" TEST_TOKEN
                     "\",\"Expiration\":\"2026-01-12T03:04:05Z\"}");
    fake_host_always(setup.fake, "/ram/security-credentials/", 200, "r");
    fake_host_reply(setup.fake, &slow);
    fake_host_always(setup.fake, "DescribeLoadBalancers", 200, OK_BODY);
    fake_host_always(setup.fake, "DescribeNetworkInterfaces", 200,
                     "{\"RequestId\":\"r\",\"NetworkInterfaceSets\":{\"NetworkInterfaceSet\":[{"
                     "\"NetworkInterfaceId\":\"eni-1\",\"PrivateIpSets\":{\"PrivateIpSet\":[{"
                     "\"PrivateIpAddress\":\"10.0.0.5\"}]}}]}}");
    assert_int_equal(ali_acquire(setup.host, &setup.ali, &err), 0);
    assert_int_equal(ali_start(setup.ali, setup.host, &err), 0);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, worker, &setup), 0);
    }

    uintptr_t failures = 0;

    for (size_t i = 0; i < THREADS; i++) {
        void *failed = NULL;

        assert_int_equal(pthread_join(threads[i], &failed), 0);
        failures += (uintptr_t)failed;
    }
    assert_int_equal(failures, 0);
    assert_int_equal(fake_host_action_count(setup.fake, "DescribeLoadBalancers"),
                     THREADS * ROUNDS + 5);
    setup_end(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repeats_once_then_fine),
        cmocka_unit_test(test_repeats_end),
        cmocka_unit_test(test_failed_before),
        cmocka_unit_test(test_deadline_is_kept),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_dry_run),
        cmocka_unit_test(test_same_request_runs),
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_long_message_keeps_the_request_id),
        cmocka_unit_test(test_secrets_are_not_repeated),
        cmocka_unit_test(test_refused_signature),
        cmocka_unit_test(test_skewed_clock_is_told),
        cmocka_unit_test(test_date),
        cmocka_unit_test(test_used_nonce),
        cmocka_unit_test(test_refused_credential),
        cmocka_unit_test(test_hints),
        cmocka_unit_test(test_put_off),
        cmocka_unit_test(test_busy_is_put_off),
        cmocka_unit_test(test_backoff),
        cmocka_unit_test(test_configuration_errors),
        cmocka_unit_test(test_one_instance),
        cmocka_unit_test(test_start_asks_metadata),
        cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
