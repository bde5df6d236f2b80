#include "support/fake_state.h"

#include "util/cleanup.h"
#include "util/secret.h"
#include "util/text.h"

#include <ctype.h>

struct answer {
    struct ccm_http_response response; /* first, so that http_free() finds the rest */
    char *body;
    char **headers;
};

static struct fake_pair *pair_add(struct fake_pair **items, size_t *count)
{
    struct fake_pair *grown = realloc(*items, (*count + 1) * sizeof(*grown));

    if (grown == NULL) {
        abort();
    }
    *items = grown;
    return &grown[(*count)++];
}

static char *dup_part(const char *start, size_t len)
{
    char *copy = fake_alloc(len + 1);

    memcpy(copy, start, len);
    return copy;
}

static int hex_digit(char c)
{
    static const char digits[] = "0123456789ABCDEF";
    const char *found = c == '\0' ? NULL : strchr(digits, toupper((unsigned char)c));

    return found == NULL ? -1 : (int)(found - digits);
}

static char *decode(const char *start, size_t len)
{
    char *out = fake_alloc(len + 1);
    size_t used = 0;

    for (size_t i = 0; i < len; i++) {
        if (start[i] == '%' && i + 2 < len && hex_digit(start[i + 1]) >= 0 &&
            hex_digit(start[i + 2]) >= 0) {
            out[used++] = (char)(hex_digit(start[i + 1]) * 16 + hex_digit(start[i + 2]));
            i += 2;
        } else {
            out[used++] = start[i] == '+' ? ' ' : start[i];
        }
    }
    return out;
}

static void add_params(struct fake_request *request, const char *text)
{
    while (*text != '\0') {
        const size_t len = strcspn(text, "&");
        const size_t name = strcspn(text, "=&");

        if (len > 0) {
            struct fake_pair *pair = pair_add(&request->params, &request->param_count);

            pair->name = decode(text, name);
            pair->value = name < len ? decode(text + name + 1, len - name - 1) : fake_dup("");
        }
        text += len;
        text += *text == '&' ? 1 : 0;
    }
}

static struct fake_request *request_new(const struct ccm_http_request *http, int64_t now)
{
    struct fake_request *request = fake_alloc(sizeof(*request));

    request->method = fake_dup(http->method);
    request->url = fake_dup(http->url);
    request->body = http->body == NULL ? fake_dup("") : dup_part(http->body, http->body_len);
    request->timeout_ms = http->timeout_ms;
    request->max_body_bytes = http->max_body_bytes;
    request->ca_file = fake_dup(http->ca_file);
    request->at_ms = now;
    for (size_t i = 0; http->headers != NULL && http->headers[i] != NULL; i++) {
        const char *line = http->headers[i];
        const size_t len = strcspn(line, ":");
        struct fake_pair *pair = pair_add(&request->headers, &request->header_count);

        pair->name = dup_part(line, len);
        for (char *p = pair->name; *p != '\0'; p++) {
            *p = (char)tolower((unsigned char)*p);
        }
        pair->value =
            fake_dup(line[len] == ':' ? line + len + 1 + strspn(line + len + 1, " ") : "");
    }

    const char *query = strchr(request->url, '?');

    if (query != NULL) {
        add_params(request, query + 1);
    }
    add_params(request, request->body);

    const char *action = fake_request_header(request, "x-acs-action");

    request->action = fake_dup(action != NULL ? action : fake_request_param(request, "Action"));
    return request;
}

static bool matches(const struct fake_reply *reply, const struct fake_request *request)
{
    if (reply->method != NULL && strcmp(reply->method, request->method) != 0) {
        return false;
    }
    if (reply->match == NULL || strcmp(reply->match, request->action) == 0) {
        return true;
    }
    /* An action is matched whole: DescribeVpc is no part of DescribeVpcAttribute. */
    return strstr(request->url, reply->match) != NULL ||
           (reply->match[0] != '\0' && strpbrk(reply->match, "=/&") != NULL &&
            strstr(request->body, reply->match) != NULL);
}

static struct ccm_http_response *answer_new(const struct fake_reply *reply)
{
    struct answer *answer = fake_alloc(sizeof(*answer));
    size_t count = 0;

    answer->headers = fake_alloc((CCM_ARRAY_LEN(reply->headers) + 1) * sizeof(*answer->headers));
    for (size_t i = 0; i < CCM_ARRAY_LEN(reply->headers); i++) {
        if (reply->headers[i] != NULL) {
            answer->headers[count++] = fake_dup(reply->headers[i]);
        }
    }
    answer->body = fake_dup(reply->body);
    answer->response = (struct ccm_http_response){
        .struct_size = sizeof(answer->response),
        .status = reply->status == 0 ? 200 : reply->status,
        .body = answer->body,
        .body_len = strlen(answer->body),
        .headers = (const char *const *)answer->headers,
    };
    return &answer->response;
}

/* Find the answer: script, then callback. */
static bool reply_find(struct fake_host *fake, const struct fake_request *request,
                       struct fake_reply *ret)
{
    for (size_t i = 0; i < fake->scripts.len; i++) {
        struct fake_script *script = fake->scripts.items[i];

        if (script->left > 0 && matches(&script->reply, request)) {
            script->left -= script->left == FAKE_ALWAYS ? 0 : 1;
            *ret = script->reply;
            return true;
        }
    }
    return fake->on_http != NULL && fake->on_http(fake->on_http_arg, request, ret);
}

static int http_call(const struct ccm_host *host, const struct ccm_request *req,
                     const struct ccm_http_request *http, struct ccm_http_response **ret,
                     uint64_t *ret_phase, struct ccm_error *err)
{
    struct fake_host *fake = fake_host_of(host);
    struct fake_reply reply = { 0 };
    int r = 0;

    fake_lock(fake);
    if (fake->cancelled || fake_is_late(fake, req, 0)) {
        fake_unlock(fake);
        *ret_phase = CCM_HTTP_NOT_SENT;
        return ccm_error_set(err, -ECANCELED, CCM_ERROR_CANCELLED, "cancelled");
    }

    struct fake_request *request = request_new(http, fake->now_ms);

    fake_list_add(&fake->requests, request);
    if (!reply_find(fake, request, &reply)) {
        fake->unexpected++;
        (void)fprintf(stderr, "fake host: nobody answers %s %s (%s)\n", request->method,
                      request->url, request->action);
        reply = (struct fake_reply){ .result = -EIO, .phase = CCM_HTTP_NOT_SENT };
    }
    fake->now_ms += reply.takes_ms;
    fake->wall_ms += reply.takes_ms;
    if (reply.result < 0) {
        *ret_phase = reply.phase;
        r = ccm_error_set(err, reply.result, reply.kind == 0 ? CCM_ERROR_TRANSIENT : reply.kind,
                          "connection failed");
    } else {
        *ret = answer_new(&reply);
    }
    fake_unlock(fake);
    return r;
}

static void http_free(const struct ccm_host *host, struct ccm_http_response *response)
{
    (void)host; /* the answer knows everything it owns */
    if (response == NULL) {
        return;
    }

    struct answer *answer = (struct answer *)(void *)response;

    for (size_t i = 0; answer->headers[i] != NULL; i++) {
        free(answer->headers[i]);
    }
    free(answer->headers);
    ccm_secret_wipe(answer->body, strlen(answer->body)); /* as the daemon does */
    free(answer->body);
    free(answer);
}

/* Answered at once; the number is the place in the list, from 1. */
static int http_begin_call(const struct ccm_host *host, const struct ccm_request *req,
                           const struct ccm_http_request *http, uint64_t *ret_number,
                           struct ccm_error *err)
{
    struct fake_host *fake = fake_host_of(host);
    struct fake_begun *begun = fake_alloc(sizeof(*begun));

    if (req == NULL) {
        free(begun);
        return ccm_error_set(err, -EINVAL, CCM_ERROR_BUG, "http_begin() without a request");
    }
    ccm_error_clear(&begun->err);
    begun->result = http_call(host, req, http, &begun->response, &begun->phase, &begun->err);
    fake_lock(fake);
    fake_list_add(&fake->begun, begun);
    *ret_number = fake->begun.len;
    fake_unlock(fake);
    return 0;
}

static int http_end_call(const struct ccm_host *host, uint64_t number,
                         struct ccm_http_response **ret, uint64_t *ret_phase, struct ccm_error *err)
{
    struct fake_host *fake = fake_host_of(host);
    struct fake_begun *begun = NULL;

    fake_lock(fake);
    if (number > 0 && number <= fake->begun.len) {
        begun = CCM_STEAL(fake->begun.items[number - 1]);
    }
    fake_unlock(fake);
    if (begun == NULL) {
        return ccm_error_set(err, -ENOENT, CCM_ERROR_BUG, "no exchange of this number");
    }

    const int r = ret == NULL ? 0 : begun->result;

    if (ret == NULL) {
        http_free(host, begun->response);
    } else if (r == 0) {
        *ret = begun->response;
    } else {
        *ret_phase = begun->phase;
        ccm_error_copy(err, &begun->err);
    }
    free(begun);
    return r;
}

static void begun_fini(struct fake_host *fake)
{
    for (size_t i = 0; i < fake->begun.len; i++) {
        struct fake_begun *begun = fake->begun.items[i];

        if (begun != NULL) {
            http_free(&fake->table, begun->response);
        }
        free(begun);
    }
    free(fake->begun.items);
}

void fake_http_install(struct ccm_host *table)
{
    table->http_begin = http_begin_call;
    table->http_end = http_end_call;
    table->http = http_call;
    table->http_free = http_free;
}

static void script_free(struct fake_script *script)
{
    ccm_freep(&script->reply.match);
    ccm_freep(&script->reply.method);
    ccm_freep(&script->reply.body);
    for (size_t i = 0; i < CCM_ARRAY_LEN(script->reply.headers); i++) {
        ccm_freep(&script->reply.headers[i]);
    }
    free(script);
}

static void pairs_free(struct fake_pair *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(items[i].name);
        free(items[i].value);
    }
    free(items);
}

void fake_http_fini(struct fake_host *fake)
{
    begun_fini(fake);
    fake_host_clear_replies(fake);
    free(fake->scripts.items);
    for (size_t i = 0; i < fake->requests.len; i++) {
        struct fake_request *request = fake->requests.items[i];

        pairs_free(request->headers, request->header_count);
        pairs_free(request->params, request->param_count);
        free(request->method);
        free(request->url);
        free(request->body);
        free(request->action);
        free(request->ca_file);
        free(request);
    }
    free(fake->requests.items);
}

void fake_host_reply(struct fake_host *fake, const struct fake_reply *reply)
{
    struct fake_script *script = fake_alloc(sizeof(*script));

    script->reply = *reply;
    script->left = reply->times == 0 ? 1 : reply->times;
    script->reply.match = reply->match == NULL ? NULL : fake_dup(reply->match);
    script->reply.method = reply->method == NULL ? NULL : fake_dup(reply->method);
    script->reply.body = fake_dup(reply->body);
    for (size_t i = 0; i < CCM_ARRAY_LEN(reply->headers); i++) {
        script->reply.headers[i] = reply->headers[i] == NULL ? NULL : fake_dup(reply->headers[i]);
    }
    fake_lock(fake);
    fake_list_add(&fake->scripts, script);
    fake_unlock(fake);
}

void fake_host_answer(struct fake_host *fake, const char *match, uint64_t status, const char *body)
{
    const struct fake_reply reply = { .match = match, .status = status, .body = body };

    fake_host_reply(fake, &reply);
}

void fake_host_always(struct fake_host *fake, const char *match, uint64_t status, const char *body)
{
    const struct fake_reply reply = {
        .match = match, .status = status, .body = body, .times = FAKE_ALWAYS
    };

    fake_host_reply(fake, &reply);
}

void fake_host_clear_replies(struct fake_host *fake)
{
    fake_lock(fake);
    for (size_t i = 0; i < fake->scripts.len; i++) {
        script_free(fake->scripts.items[i]);
    }
    fake->scripts.len = 0;
    fake_unlock(fake);
}

void fake_host_on_http(struct fake_host *fake, fake_http_fn fn, void *arg)
{
    fake_lock(fake);
    fake->on_http = fn;
    fake->on_http_arg = arg;
    fake_unlock(fake);
}

size_t fake_host_unexpected(struct fake_host *fake)
{
    fake_lock(fake);
    const size_t count = fake->unexpected;
    fake_unlock(fake);
    return count;
}

size_t fake_host_request_count(struct fake_host *fake)
{
    fake_lock(fake);
    const size_t count = fake->requests.len;
    fake_unlock(fake);
    return count;
}

const struct fake_request *fake_host_request(struct fake_host *fake, size_t index)
{
    fake_lock(fake);
    const struct fake_request *request =
        index < fake->requests.len ? fake->requests.items[index] : NULL;
    fake_unlock(fake);
    return request;
}

size_t fake_host_action_count(struct fake_host *fake, const char *action)
{
    size_t count = 0;

    fake_lock(fake);
    for (size_t i = 0; i < fake->requests.len; i++) {
        const struct fake_request *request = fake->requests.items[i];

        count += strcmp(request->action, action) == 0 ? 1 : 0;
    }
    fake_unlock(fake);
    return count;
}

static const char *pair_find(const struct fake_pair *items, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(items[i].name, name) == 0) {
            return items[i].value;
        }
    }
    return NULL;
}

const char *fake_request_param(const struct fake_request *request, const char *name)
{
    return pair_find(request->params, request->param_count, name);
}

const char *fake_request_header(const struct fake_request *request, const char *name)
{
    return pair_find(request->headers, request->header_count, name);
}
