/* Requests to an API server that is played by a script: credentials, errors, patches. */
#include "kube/client/client.h"
#include "kube/client/fetch.h"
#include "kube/client/patch.h"
#include "kube/object/object.h"
#include "support/tcp_server.h"
#include "util/buf.h"
#include "util/text.h"

#include <curl/curl.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/ccm-kube-client-XXXXXX";

struct fixture {
    struct ccm_test_server *server;
    struct net_http *http;
    struct kube_client *client;
    struct ccm_http_response *response;
    struct ccm_error err;
};

static char *write_file(const char *name, const char *text)
{
    char *path = ccm_text_format("%s/%s", folder, name);
    FILE *file = path == NULL ? NULL : fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return path;
}

static void client_open(struct fixture *f, const char *url, const char *user)
{
    char *text = ccm_text_format(
        "{current-context: m, contexts: [{name: m, context: {cluster: c, user: u}}],"
        " clusters: [{name: c, cluster: {server: '%s'}}], users: [{name: u, user: {%s}}]}",
        url, user);
    char *path;

    assert_non_null(text);
    path = write_file("config", text);

    const int r = kube_client_new(f->http, path, &f->client, &f->err);

    assert_string_equal(f->err.message, "");
    assert_int_equal(r, 0);
    free(text);
    free(path);
}

static void fixture_open(struct fixture *f, struct ccm_test_script *script, const char *user)
{
    *f = (struct fixture){ .err = CCM_ERROR_INIT };
    f->server = ccm_test_server_new(ccm_test_play, script);
    assert_non_null(f->server);
    f->http = net_http_new(&f->err);
    assert_non_null(f->http);
    client_open(f, ccm_test_server_url(f->server), user);
}

static void fixture_close(struct fixture *f)
{
    net_http_response_free(f->response);
    kube_client_free(f->client);
    net_http_free(f->http);
    ccm_test_server_free(f->server);
}

static int get(struct fixture *f, const char *path)
{
    const struct kube_call call = { .method = "GET", .path = path };

    net_http_response_free(f->response);
    f->response = NULL;
    ccm_error_clear(&f->err);
    return kube_do(f->client, &call, &f->response, &f->err);
}

static void assert_sent(struct fixture *f, size_t index, const char *method, const char *target,
                        const char *header)
{
    struct ccm_test_request request = { 0 };

    assert_true(ccm_test_server_request(f->server, index, &request));
    assert_string_equal(request.method, method);
    assert_string_equal(request.target, target);
    assert_non_null(strstr(request.head, header));
    assert_non_null(strstr(request.head, "\r\nUser-Agent: ccmd/"));
    ccm_test_request_fini(&request);
}

static void test_get(void **state CCM_UNUSED)
{
    static const struct ccm_test_answer answers[] = { { 200, NULL, "{\"items\":[]}" } };
    struct ccm_test_script script = { answers, 1 };
    struct fixture f;

    fixture_open(&f, &script, "token: abc");
    assert_int_equal(get(&f, "/api/v1/services?limit=500"), 0);
    assert_string_equal(f.response->body, "{\"items\":[]}");
    assert_string_equal(kube_client_server(f.client), ccm_test_server_url(f.server));
    assert_ptr_equal(kube_client_http(f.client), f.http);
    assert_sent(&f, 0, "GET", "/api/v1/services?limit=500", "\r\nAuthorization: Bearer abc\r\n");
    assert_sent(&f, 0, "GET", "/api/v1/services?limit=500", "\r\nAccept: application/json\r\n");
    assert_int_equal(get(&f, "api/v1"), -EINVAL);
    assert_int_equal(f.err.kind, CCM_ERROR_BUG);
    fixture_close(&f);
}

static void test_prefix(void **state CCM_UNUSED)
{
    static const struct ccm_test_answer answers[] = { { 200, NULL, "{}" } };
    struct ccm_test_script script = { answers, 1 };
    struct fixture f;
    char *url;

    fixture_open(&f, &script, "");
    url = ccm_text_format("%s/k8s/c-1/", ccm_test_server_url(f.server));
    assert_non_null(url);
    kube_client_free(f.client);
    client_open(&f, url, "");
    assert_int_equal(get(&f, "/version"), 0);
    assert_sent(&f, 0, "GET", "/k8s/c-1/version", "\r\nHost: ");
    assert_string_equal(kube_client_server(f.client), ccm_test_server_url(f.server));
    free(url);
    fixture_close(&f);
}

/* --- errors --- */

#define STATUS(code, reason, message)                                                              \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","           \
    "\"message\":\"" message "\",\"reason\":\"" reason "\",\"code\":" #code "}"

/* As a patch is refused that does not fit the object: two fields to blame. */
#define CAUSES(first, second)                                                                      \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","           \
    "\"message\":\"m\",\"reason\":\"Invalid\",\"details\":{\"name\":\"p\",\"kind\":\"Service\","   \
    "\"causes\":[{\"reason\":\"FieldValueInvalid\",\"message\":\"x\",\"field\":" first             \
    "},{\"reason\":\"FieldValueInvalid\",\"message\":\"x\",\"field\":" second "}]},\"code\":422}"

struct status_case {
    uint32_t status;
    const char *body;
    int result;
    uint64_t kind;
    uint64_t http_status;
    const char *code;
    const char *message;
};

static void assert_status(const struct status_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct ccm_error err = CCM_ERROR_INIT;

        assert_int_equal(
            kube_status_error(cases[i].status, cases[i].body, strlen(cases[i].body), &err),
            cases[i].result);
        assert_string_equal(err.message, cases[i].message);
        assert_string_equal(err.code, cases[i].code);
        assert_int_equal(err.kind, cases[i].kind);
        assert_int_equal(err.http_status, cases[i].http_status);
    }
}

static void test_status_table(void **state CCM_UNUSED)
{
    static const struct status_case cases[] = {
        { 400, STATUS(400, "BadRequest", "m"), -EINVAL, CCM_ERROR_TERMINAL, 400, "BadRequest",
          "m (400 BadRequest)" },
        { 401, STATUS(401, "Unauthorized", "Unauthorized"), -EACCES, CCM_ERROR_AUTH, 401,
          "Unauthorized", "Unauthorized (401 Unauthorized)" },
        { 403, STATUS(403, "Forbidden", "m"), -EACCES, CCM_ERROR_AUTH, 403, "Forbidden",
          "m (403 Forbidden)" },
        { 403,
          STATUS(403, "Forbidden", "u cannot list services: RBAC: clusterrole \\\"r\\\" not found"),
          -EACCES, CCM_ERROR_TRANSIENT, 403, "Forbidden",
          "u cannot list services: RBAC: clusterrole \"r\" not found (403 Forbidden)" },
        { 404, STATUS(404, "NotFound", "services w not found"), -ENOENT, CCM_ERROR_NOT_FOUND, 404,
          "NotFound", "services w not found (404 NotFound)" },
        { 405, STATUS(405, "MethodNotAllowed", "m"), -EINVAL, CCM_ERROR_TERMINAL, 405,
          "MethodNotAllowed", "m (405 MethodNotAllowed)" },
        { 408, "", -ETIMEDOUT, CCM_ERROR_TRANSIENT, 408, "", "HTTP status 408 without a text" },
        { 409, STATUS(409, "Conflict", "m"), -EBUSY, CCM_ERROR_CONFLICT, 409, "Conflict",
          "m (409 Conflict)" },
        { 409, STATUS(409, "AlreadyExists", "m"), -EEXIST, CCM_ERROR_CONFLICT, 409, "AlreadyExists",
          "m (409 AlreadyExists)" },
        { 410, STATUS(410, "Expired", "too old"), -ESTALE, CCM_ERROR_CONFLICT, 410, "Expired",
          "too old (410 Expired)" },
        { 410, STATUS(410, "", "gone"), -ESTALE, CCM_ERROR_CONFLICT, 410, "Gone", "gone (410)" },
        { 413, STATUS(413, "RequestEntityTooLarge", "m"), -EINVAL, CCM_ERROR_TERMINAL, 413,
          "RequestEntityTooLarge", "m (413 RequestEntityTooLarge)" },
        { 422, STATUS(422, "Invalid", "m"), -EINVAL, CCM_ERROR_TERMINAL, 422, "Invalid",
          "m (422 Invalid)" },
        { 422, CAUSES("\"spec.ports\"", "\"metadata.uid\""), -EBUSY, CCM_ERROR_CONFLICT, 422,
          "Invalid", "m (422 Invalid)" },
        { 422, CAUSES("\"spec.ports\"", "\"metadata.uidx\""), -EINVAL, CCM_ERROR_TERMINAL, 422,
          "Invalid", "m (422 Invalid)" },
        { 422, CAUSES("7", "null"), -EINVAL, CCM_ERROR_TERMINAL, 422, "Invalid",
          "m (422 Invalid)" },
        { 400,
          "{\"kind\":\"Status\",\"message\":\"m\",\"details\":{\"causes\":[{\"field\":"
          "\"metadata.uid\"}]},\"code\":400}",
          -EINVAL, CCM_ERROR_TERMINAL, 400, "", "m (400)" },
        { 429, "Too many requests, please try again later.", -EAGAIN, CCM_ERROR_THROTTLED, 429, "",
          "HTTP status 429: Too many requests, please try again later." },
        { 500, STATUS(500, "InternalError", "m"), -EIO, CCM_ERROR_TRANSIENT, 500, "InternalError",
          "m (500 InternalError)" },
        { 503, "<html>", -EIO, CCM_ERROR_TRANSIENT, 503, "", "HTTP status 503: <html>" },
        /* As a server without its store answers: neither kind nor apiVersion. */
        { 504,
          "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"m\",\"reason\":\"Timeout\","
          "\"details\":{},\"code\":504}",
          -EIO, CCM_ERROR_TRANSIENT, 504, "Timeout", "m (504 Timeout)" },
        { 302, "", -EPROTO, CCM_ERROR_TRANSIENT, 302, "", "HTTP status 302 without a text" },
    };

    assert_status(cases, CCM_ARRAY_LEN(cases));
}

#define POLICY "services w is forbidden: ValidatingAdmissionPolicy 'p'"

/* What guards the cluster may be mended without a change of the object. */
static void test_status_of_admission(void **state CCM_UNUSED)
{
    static const struct status_case cases[] = {
        { 422, STATUS(422, "Invalid", POLICY " with binding 'b' denied request: no"), -EACCES,
          CCM_ERROR_AUTH, 422, "Invalid",
          POLICY " with binding 'b' denied request: no (422 Invalid)" },
        { 413, STATUS(413, "RequestEntityTooLarge", POLICY " denied request: no"), -EACCES,
          CCM_ERROR_AUTH, 413, "RequestEntityTooLarge",
          POLICY " denied request: no (413 RequestEntityTooLarge)" },
        { 400, STATUS(400, "", "admission webhook \\\"w.x\\\" denied the request: no"), -EACCES,
          CCM_ERROR_AUTH, 400, "", "admission webhook \"w.x\" denied the request: no (400)" },
        { 403, STATUS(403, "Forbidden", "admission webhook \\\"w.x\\\" denied the request: no"),
          -EACCES, CCM_ERROR_AUTH, 403, "Forbidden",
          "admission webhook \"w.x\" denied the request: no (403 Forbidden)" },
        { 404, STATUS(404, "NotFound", "admission webhook \\\"w.x\\\" denied the request: no"),
          -EACCES, CCM_ERROR_AUTH, 404, "NotFound",
          "admission webhook \"w.x\" denied the request: no (404 NotFound)" },
        { 429, STATUS(429, "TooManyRequests", "admission webhook \\\"w\\\" denied the request: no"),
          -EAGAIN, CCM_ERROR_THROTTLED, 429, "TooManyRequests",
          "admission webhook \"w\" denied the request: no (429 TooManyRequests)" },
        { 422, STATUS(422, "Invalid", POLICY " is unknown"), -EINVAL, CCM_ERROR_TERMINAL, 422,
          "Invalid", POLICY " is unknown (422 Invalid)" },
        { 422, STATUS(422, "Invalid", "spec: somebody' denied request"), -EINVAL,
          CCM_ERROR_TERMINAL, 422, "Invalid", "spec: somebody' denied request (422 Invalid)" },
    };

    assert_status(cases, CCM_ARRAY_LEN(cases));
}

/* ERROR events of a watch, where the answer was 200 or there was none; bodies of another form. */
static void test_status_of_watches_and_odd_ones(void **state CCM_UNUSED)
{
    static const struct status_case cases[] = {
        { 200, STATUS(410, "Expired", "too old"), -ESTALE, CCM_ERROR_CONFLICT, 410, "Expired",
          "too old (410 Expired)" },
        { 0, STATUS(500, "InternalError", "m"), -EIO, CCM_ERROR_TRANSIENT, 500, "InternalError",
          "m (500 InternalError)" },
        { 0, STATUS(100000, "Odd", "m"), -EPROTO, CCM_ERROR_TRANSIENT, 0, "Odd", "m (0 Odd)" },
        { 500, "{\"kind\":\"Pod\"}", -EIO, CCM_ERROR_TRANSIENT, 500, "",
          "HTTP status 500: {\"kind\":\"Pod\"}" },
        { 500, "[1,", -EIO, CCM_ERROR_TRANSIENT, 500, "", "HTTP status 500: [1," },
        { 404, "{\"kind\":\"Status\",\"reason\":7,\"message\":[]}", -ENOENT, CCM_ERROR_NOT_FOUND,
          404, "", " (404)" },
    };

    assert_status(cases, CCM_ARRAY_LEN(cases));
}

static void test_status_limits(void **state CCM_UNUSED)
{
    struct ccm_error err = CCM_ERROR_INIT;
    const char *waits = "{\"kind\":\"Status\",\"code\":500,\"details\":{\"retryAfterSeconds\":%s}}";
    static const struct {
        const char *seconds;
        uint64_t ms;
    } cases[] = { { "7", 7000 },           { "0", 0 },  { "-5", 0 },
                  { "99999999", 3600000 }, { "{}", 0 }, { "1e300", 3600000 } };
    char body[1024];

    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        const char *split = strstr(waits, "%s");

        (void)snprintf(body, sizeof(body), "%.*s%s%s", (int)(split - waits), waits,
                       cases[i].seconds, split + 2);
        assert_int_equal(kube_status_error(500, body, strlen(body), &err), -EIO);
        assert_int_equal(err.retry_after_ms, cases[i].ms);
    }
    /* 199 bytes of text, then a character of three bytes: it does not fit any more. */
    memset(body, 'x', 199);
    memcpy(body + 199, "\xE2\x82\xAC and more", strlen("\xE2\x82\xAC and more") + 1);
    assert_int_equal(kube_status_error(502, body, strlen(body), &err), -EIO);
    assert_int_equal(strlen(err.message), strlen("HTTP status 502: ") + 199);
}

static void test_errors_name_the_call(void **state CCM_UNUSED)
{
    static const struct ccm_test_answer answers[] = {
        { 404, NULL, STATUS(404, "NotFound", "no such service") },
        { 429, "Retry-After: 3\r\n", "Too many requests" },
        { 403, NULL, STATUS(403, "Forbidden", "services is forbidden: User u") },
        { 401, NULL, STATUS(401, "Unauthorized", "Unauthorized") },
    };
    struct ccm_test_script script = { answers, CCM_ARRAY_LEN(answers) };
    struct fixture f;

    fixture_open(&f, &script, "token: top-secret");
    assert_int_equal(get(&f, "/api/v1/namespaces/a/services/b?x=y"), -ENOENT);
    assert_string_equal(f.err.message, "GET /api/v1/namespaces/a/services/b: no such service "
                                       "(404 NotFound)");
    assert_null(f.response);

    assert_int_equal(get(&f, "/a"), -EAGAIN);
    assert_int_equal(f.err.kind, CCM_ERROR_THROTTLED);
    assert_int_equal(f.err.retry_after_ms, 3000);

    assert_int_equal(get(&f, "/a"), -EACCES);
    assert_non_null(strstr(f.err.message, "access denied"));
    assert_non_null(strstr(f.err.message, "services is forbidden: User u"));

    assert_int_equal(get(&f, "/a"), -EACCES);
    assert_int_equal(f.err.kind, CCM_ERROR_AUTH);
    assert_int_equal(f.err.http_status, 401);
    assert_non_null(strstr(f.err.message, ": token refused (401): check users[u].user.token in "));
    assert_non_null(strstr(f.err.message, folder));
    assert_null(strstr(f.err.message, "top-secret"));
    /* A fixed token is not tried again. */
    assert_int_equal(ccm_test_server_requests(f.server), 4);
    fixture_close(&f);
}

static void test_anonymous_refused(void **state CCM_UNUSED)
{
    static const struct ccm_test_answer answers[] = { { 401, NULL, "" } };
    struct ccm_test_script script = { answers, 1 };
    struct fixture f;

    fixture_open(&f, &script, "");
    assert_int_equal(get(&f, "/a"), -EACCES);
    assert_non_null(strstr(f.err.message, "asks for credentials (401)"));
    fixture_close(&f);
}

static void test_unreachable(void **state CCM_UNUSED)
{
    static const struct ccm_test_answer answers[] = { { 200, NULL, "{}" } };
    struct ccm_test_script script = { answers, 1 };
    struct fixture f;
    char *expected;

    fixture_open(&f, &script, "token: abc");
    expected = ccm_text_format("API server %s: connection refused", ccm_test_server_url(f.server));
    assert_non_null(expected);
    ccm_test_server_free(f.server);
    f.server = NULL;
    assert_int_equal(get(&f, "/a"), -ECONNREFUSED);
    assert_string_equal(f.err.message, expected);
    assert_int_equal(f.err.kind, CCM_ERROR_TRANSIENT);
    free(expected);
    fixture_close(&f);
}

/* --- token files --- */

static void test_token_renewed(void **state CCM_UNUSED)
{
    static const struct ccm_test_answer answers[] = {
        { 200, NULL, "{}" },
        { 401, NULL, STATUS(401, "Unauthorized", "Unauthorized") },
        { 200, NULL, "{\"second\":true}" },
        { 401, NULL, STATUS(401, "Unauthorized", "Unauthorized") },
    };
    struct ccm_test_script script = { answers, CCM_ARRAY_LEN(answers) };
    struct fixture f;

    free(write_file("token", "first\n"));
    fixture_open(&f, &script, "tokenFile: token");
    assert_int_equal(get(&f, "/a"), 0);
    assert_sent(&f, 0, "GET", "/a", "\r\nAuthorization: Bearer first\r\n");

    free(write_file("token", "second\n"));
    assert_int_equal(get(&f, "/b"), 0);
    assert_string_equal(f.response->body, "{\"second\":true}");
    assert_sent(&f, 1, "GET", "/b", "\r\nAuthorization: Bearer first\r\n");
    assert_sent(&f, 2, "GET", "/b", "\r\nAuthorization: Bearer second\r\n");

    /* The same token again: no use in repeating. */
    assert_int_equal(get(&f, "/c"), -EACCES);
    assert_int_equal(ccm_test_server_requests(f.server), 4);

    /* A new one that is refused, too: one repetition, no more. */
    free(write_file("token", "third\n"));
    assert_int_equal(get(&f, "/d"), -EACCES);
    assert_int_equal(ccm_test_server_requests(f.server), 6);
    assert_sent(&f, 5, "GET", "/d", "\r\nAuthorization: Bearer third\r\n");
    fixture_close(&f);
}

/* --- streams --- */

struct heard {
    unsigned heads;
    struct ccm_buf data;
};

static int hear_head(void *arg, uint32_t status)
{
    struct heard *heard = arg;

    heard->heads += status == 200 ? 1 : 100;
    return 0;
}

static int hear_chunk(void *arg, const char *data, size_t len)
{
    struct heard *heard = arg;

    ccm_buf_add(&heard->data, data, len);
    return ccm_buf_error(&heard->data);
}

static void test_stream(void **state CCM_UNUSED)
{
    static const struct ccm_test_answer answers[] = {
        { 200, NULL, "{}" },
        { 401, NULL, STATUS(401, "Unauthorized", "Unauthorized") },
        { 200, NULL, "{\"type\":\"ADDED\"}\n" },
        { 410, NULL, STATUS(410, "Expired", "too old resource version") },
    };
    struct ccm_test_script script = { answers, CCM_ARRAY_LEN(answers) };
    struct fixture f;
    struct heard heard = { .data.max = 1024 };
    const struct kube_call call = {
        .method = "GET",
        .path = "/api/v1/services?watch=1",
        .on_head = hear_head,
        .on_chunk = hear_chunk,
        .arg = &heard,
    };

    free(write_file("token", "old"));
    fixture_open(&f, &script, "tokenFile: token");
    assert_int_equal(get(&f, "/a"), 0); /* takes note of the old token */
    free(write_file("token", "new"));

    /* The receiver hears nothing of the refusal in between. */
    assert_int_equal(kube_do(f.client, &call, NULL, &f.err), 0);
    assert_int_equal(heard.heads, 1);
    assert_string_equal(ccm_buf_str(&heard.data), "{\"type\":\"ADDED\"}\n");

    ccm_buf_reset(&heard.data);
    assert_int_equal(kube_do(f.client, &call, NULL, &f.err), -ESTALE);
    assert_string_equal(f.err.code, "Expired");
    assert_int_equal(heard.heads, 1);
    assert_string_equal(ccm_buf_str(&heard.data), "");
    ccm_buf_fini(&heard.data);
    fixture_close(&f);
}

/* --- patches --- */

static const struct {
    struct ccm_patch patch;
    const char *target; /* NULL = refused */
    const char *type;
} patch_cases[] = {
    { { .kind = CCM_KIND_SERVICE,
        .type = CCM_PATCH_MERGE,
        .namespace_ = "demo",
        .name = "web",
        .subresource = "status",
        .body = "{\"a\":1}" },
      "/api/v1/namespaces/demo/services/web/status",
      "application/merge-patch+json" },
    { { .kind = CCM_KIND_NODE,
        .type = CCM_PATCH_STRATEGIC,
        .namespace_ = "",
        .name = "n1.example",
        .subresource = "",
        .body = "{}" },
      "/api/v1/nodes/n1.example",
      "application/strategic-merge-patch+json" },
    { { .kind = CCM_KIND_POD,
        .type = CCM_PATCH_STRATEGIC,
        .namespace_ = "a/b",
        .name = "p?x",
        .body = "{}" },
      "/api/v1/namespaces/a%2Fb/pods/p%3Fx",
      "application/strategic-merge-patch+json" },
    { { .kind = CCM_KIND_ENDPOINT_SLICE,
        .type = CCM_PATCH_MERGE,
        .namespace_ = "a",
        .name = "b",
        .body = "{}" },
      NULL,
      NULL },
    { { .kind = CCM_KIND_SERVICE, .type = 9, .namespace_ = "a", .name = "b", .body = "{}" },
      NULL,
      NULL },
    { { .kind = CCM_KIND_SERVICE,
        .type = CCM_PATCH_MERGE,
        .namespace_ = "",
        .name = "b",
        .body = "{}" },
      NULL,
      NULL },
    { { .kind = CCM_KIND_SERVICE,
        .type = CCM_PATCH_MERGE,
        .namespace_ = "..",
        .name = "b",
        .body = "{}" },
      NULL,
      NULL },
    { { .kind = CCM_KIND_NODE, .type = CCM_PATCH_MERGE, .name = ".", .body = "{}" }, NULL, NULL },
    { { .kind = CCM_KIND_NODE, .type = CCM_PATCH_MERGE, .name = NULL, .body = "{}" }, NULL, NULL },
    { { .kind = CCM_KIND_NODE, .type = CCM_PATCH_MERGE, .name = "n", .body = NULL }, NULL, NULL },
    { { .kind = CCM_KIND_NODE,
        .type = CCM_PATCH_MERGE,
        .name = "n",
        .subresource = "..",
        .body = "{}" },
      NULL,
      NULL },
};

static void test_patch(void **state CCM_UNUSED)
{
    static const struct ccm_test_answer answers[] = { { 200, NULL, "{}" } };
    struct ccm_test_script script = { answers, 1 };
    struct fixture f;
    size_t sent = 0;

    fixture_open(&f, &script, "token: abc");
    for (size_t i = 0; i < CCM_ARRAY_LEN(patch_cases); i++) {
        struct ccm_test_request request = { 0 };
        const int r = kube_patch(f.client, NULL, 0, &patch_cases[i].patch, NULL, &f.err);

        if (patch_cases[i].target == NULL) {
            assert_int_equal(r, -EINVAL);
            assert_int_equal(f.err.kind, CCM_ERROR_BUG);
            continue;
        }
        assert_int_equal(r, 0);
        assert_sent(&f, sent, "PATCH", patch_cases[i].target, patch_cases[i].type);
        assert_true(ccm_test_server_request(f.server, sent, &request));
        assert_string_equal(request.body, patch_cases[i].patch.body);
        ccm_test_request_fini(&request);
        sent++;
    }
    assert_int_equal(ccm_test_server_requests(f.server), sent);
    fixture_close(&f);
}

/* A patch whose answer is lost goes out once. */
static void test_patch_lost(void **state CCM_UNUSED)
{
    static const struct ccm_test_answer answers[] = { { 200, NULL, "{}" }, { 0, NULL, NULL } };
    struct ccm_test_script script = { answers, 2 };
    struct fixture f;
    const struct ccm_patch patch = {
        .kind = CCM_KIND_NODE, .type = CCM_PATCH_MERGE, .name = "n", .body = "{}"
    };

    fixture_open(&f, &script, "token: abc");
    assert_int_equal(kube_patch(f.client, NULL, 0, &patch, NULL, &f.err), 0);
    assert_int_equal(kube_patch(f.client, NULL, 0, &patch, NULL, &f.err), -ECONNRESET);
    kube_client_free(f.client);
    net_http_free(f.http);
    f.client = NULL;
    f.http = NULL;
    assert_int_equal(ccm_test_server_requests(f.server), 2);
    fixture_close(&f);
}

/* --- fetches --- */

static const struct {
    uint64_t kind;
    const char *namespace_;
    const char *name;
    const char *target; /* NULL = refused, nothing is sent */
    struct ccm_test_answer answer;
    int result;
    uint64_t error;
    const char *says; /* part of the message; of a success: the key */
} fetch_cases[] = {
    { CCM_KIND_SERVICE,
      "demo",
      "web",
      "/api/v1/namespaces/demo/services/web",
      { 200, NULL, "{\"metadata\":{\"name\":\"web\",\"namespace\":\"demo\"}}" },
      0,
      0,
      "demo/web" },
    { CCM_KIND_NODE,
      "ignored",
      "n1",
      "/api/v1/nodes/n1",
      { 200, NULL, "{\"metadata\":{\"name\":\"n1\"}}" },
      0,
      0,
      "n1" },
    { CCM_KIND_NODE,
      NULL,
      "n1",
      "/api/v1/nodes/n1",
      { 200, NULL, "{\"metadata\":{\"name\":\"n1\"}}" },
      0,
      0,
      "n1" },
    { CCM_KIND_ENDPOINT_SLICE,
      "demo",
      "s",
      "/apis/discovery.k8s.io/v1/namespaces/demo/endpointslices/s",
      { 200, NULL, "{\"metadata\":{\"name\":\"s\",\"namespace\":\"demo\"}}" },
      0,
      0,
      "demo/s" },
    { CCM_KIND_POD,
      "demo",
      "p",
      "/api/v1/namespaces/demo/pods/p",
      { 404, NULL, STATUS(404, "NotFound", "pods p not found") },
      -ENOENT,
      CCM_ERROR_NOT_FOUND,
      "GET /api/v1/namespaces/demo/pods/p: pods p not found" },
    { CCM_KIND_POD,
      "demo",
      "p",
      "/api/v1/namespaces/demo/pods/p",
      { 200, NULL, "{\"metadata\":{\"name\":\"q\",\"namespace\":\"demo\"}}" },
      -EPROTO,
      CCM_ERROR_TRANSIENT,
      "about another object, demo/q" },
    { CCM_KIND_POD,
      "demo",
      "p",
      "/api/v1/namespaces/demo/pods/p",
      { 200, NULL, "{\"metadata\":{\"name\":\"p\",\"namespace\":\"other\"}}" },
      -EPROTO,
      CCM_ERROR_TRANSIENT,
      "about another object, other/p" },
    { CCM_KIND_POD,
      "demo",
      "p",
      "/api/v1/namespaces/demo/pods/p",
      { 200, NULL, "<html>" },
      -EBADMSG,
      CCM_ERROR_TERMINAL,
      "not a JSON object" },
    { CCM_KIND_POD, "", "p", NULL, { 0, NULL, NULL }, -EINVAL, CCM_ERROR_BUG, "no valid name" },
    { CCM_KIND_POD,
      "demo",
      "..",
      NULL,
      { 0, NULL, NULL },
      -EINVAL,
      CCM_ERROR_BUG,
      "no valid name" },
    { CCM_KIND_RAW, "demo", "d", NULL, { 0, NULL, NULL }, -EINVAL, CCM_ERROR_BUG, "no path" },
    { 99, "demo", "d", NULL, { 0, NULL, NULL }, -EINVAL, CCM_ERROR_BUG, "no path" },
};

/* A page in place of the object: the write has perhaps not reached the API server. */
static void test_patch_answered_by_a_page(void **state CCM_UNUSED)
{
    static const struct ccm_test_answer answers[] = { { 200, NULL, "<html>welcome</html>" },
                                                      { 200, NULL, "" },
                                                      { 200, NULL, " \n{\"kind\":\"Service\"}" } };
    struct ccm_test_script script = { answers, 3 };
    const struct ccm_patch patch = { .struct_size = sizeof(patch),
                                     .kind = CCM_KIND_SERVICE,
                                     .namespace_ = "default",
                                     .name = "web",
                                     .body = "{}",
                                     .type = CCM_PATCH_MERGE };
    struct fixture f;

    fixture_open(&f, &script, "");
    for (int i = 0; i < 2; i++) {
        ccm_error_clear(&f.err);
        assert_int_equal(kube_patch(f.client, NULL, 0, &patch, NULL, &f.err), -EBADMSG);
        assert_int_equal(f.err.kind, CCM_ERROR_TRANSIENT);
        assert_non_null(strstr(f.err.message, "is not a JSON object"));
    }
    ccm_error_clear(&f.err);
    assert_int_equal(kube_patch(f.client, NULL, 0, &patch, NULL, &f.err), 0);
    fixture_close(&f);
}

static void test_fetch(void **state CCM_UNUSED)
{
    for (size_t i = 0; i < CCM_ARRAY_LEN(fetch_cases); i++) {
        CCM_CLEANUP(kube_object_unrefp) const struct ccm_object *object = NULL;
        struct ccm_test_script script = { &fetch_cases[i].answer, 1 };
        struct fixture f;

        fixture_open(&f, &script, "token: abc");

        const struct kube_fetch_name what = { fetch_cases[i].kind, fetch_cases[i].namespace_,
                                              fetch_cases[i].name, NULL };
        const int r = kube_fetch(f.client, NULL, 0, &what, &object, &f.err);

        assert_int_equal(r, fetch_cases[i].result);
        if (fetch_cases[i].target == NULL) {
            assert_int_equal(ccm_test_server_requests(f.server), 0);
        } else {
            assert_sent(&f, 0, "GET", fetch_cases[i].target, "\r\nAuthorization: Bearer abc\r\n");
        }
        if (r == 0) {
            assert_string_equal(object->key, fetch_cases[i].says);
            assert_int_equal(object->kind, fetch_cases[i].kind);
        } else {
            assert_null(object);
            assert_int_equal(f.err.kind, fetch_cases[i].error);
            assert_non_null(strstr(f.err.message, fetch_cases[i].says));
        }
        fixture_close(&f);
    }
}

static int group_setup(void **state CCM_UNUSED)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        return -1;
    }
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int group_teardown(void **state CCM_UNUSED)
{
    static const char *const names[] = { "config", "token" };

    for (size_t i = 0; i < CCM_ARRAY_LEN(names); i++) {
        char *path = ccm_text_format("%s/%s", folder, names[i]);

        assert_non_null(path);
        assert_int_equal(unlink(path), 0);
        free(path);
    }
    curl_global_cleanup();
    return rmdir(folder);
}

/* Credentials in clear text stay on this machine. */
static void test_plain(void **state)
{
    static const struct {
        const char *server;
        const char *user;
        bool ok;
    } rows[] = {
        { "http://10.0.0.1:8080", "token: t", false },
        { "http://127.example:8080", "token: t", false },
        { "http://localhost.example", "token: t", false },
        { "http://10.0.0.1:8080", "", true },
        { "http://127.0.0.1:8080", "token: t", true },
        { "http://127.8.0.1", "token: t", true },
        { "http://localhost:8080", "token: t", true },
        { "http://[::1]:8080", "token: t", true },
        { "https://10.0.0.1", "token: t", true },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct fixture f = { .err = CCM_ERROR_INIT };

        f.http = net_http_new(&f.err);
        assert_non_null(f.http);
        client_open(&f, rows[i].server, rows[i].user);
        assert_int_equal(kube_client_check_plain(f.client, &f.err), rows[i].ok ? 0 : -EINVAL);
        if (!rows[i].ok) {
            assert_non_null(strstr(f.err.message, rows[i].server));
            assert_non_null(strstr(f.err.message, "users[u].user.token in "));
            assert_non_null(strstr(f.err.message, "'plain_http = true' in kubernetes"));
        }
        fixture_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_get),
        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_status_table),
        cmocka_unit_test(test_status_of_admission),
        cmocka_unit_test(test_status_of_watches_and_odd_ones),
        cmocka_unit_test(test_status_limits),
        cmocka_unit_test(test_errors_name_the_call),
        cmocka_unit_test(test_anonymous_refused),
        cmocka_unit_test(test_unreachable),
        cmocka_unit_test(test_token_renewed),
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_patch),
        cmocka_unit_test(test_patch_lost),
        cmocka_unit_test(test_patch_answered_by_a_page),
        cmocka_unit_test(test_fetch),
    };

    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
