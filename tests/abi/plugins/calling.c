/*
 * Makes HTTP calls of option url: as many at once as annotation "calls" of a Service says (65 at
 * most), and logs what came of them. Annotation "then": "end" (the default), "forget" (begins and
 * returns), "drop" (wants no answer), "twice" (ends each twice).
 */
#include <ccm/plugin.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CALLS_MAX 65

static const struct ccm_host *calling_host;

static const struct ccm_option option_url = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRING,
    .flags = CCM_OPTION_REQUIRED,
    .name = "url",
    .help = "What is called, without the end of its path.",
};

static const struct ccm_option *const options[] = { &option_url, NULL };

static void calling_map_change(void *self, const struct ccm_change *change)
{
    (void)self; /* no state */
    if (change->after != NULL && ccm_object_annotation(change->after, "calls") != NULL) {
        calling_host->enqueue(calling_host, change->after->key, CCM_LANE_SPEC, 0);
    }
}

static const struct ccm_watch watch = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_SERVICE,
    .map = calling_map_change,
};

static const struct ccm_watch *const watches[] = { &watch, NULL };

static int calling_create_plugin(const struct ccm_host *host, void **ret_self,
                                 struct ccm_error *err)
{
    (void)err; /* cannot fail */
    calling_host = host;
    *ret_self = NULL;
    return 0;
}

/* Nothing that the call points to outlives this function. */
static int begin_call(const struct ccm_request *req, size_t i, uint64_t *ret_number,
                      struct ccm_error *err)
{
    const struct ccm_host *host = calling_host;
    char *url = malloc(300);
    char *header = malloc(40);
    char *body = malloc(40);

    if (url == NULL || header == NULL || body == NULL) {
        abort();
    }
    (void)snprintf(url, 300, "%s/%zu", host->option_string(host, NULL, "url"), i);
    (void)snprintf(header, 40, "X-Number: %zu", i);
    (void)snprintf(body, 40, "body %zu", i);

    const char *const headers[] = { header, NULL };
    const struct ccm_http_request http = {
        .struct_size = sizeof(http),
        .method = "POST",
        .url = url,
        .headers = headers,
        .body = body,
        .body_len = strlen(body),
    };
    const int r = host->http_begin(host, req, &http, ret_number, err);

    free(url);
    free(header);
    free(body);
    return r;
}

static void end_call(const char *key, size_t i, uint64_t number, bool wanted)
{
    const struct ccm_host *host = calling_host;
    struct ccm_http_response *answer = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    uint64_t phase = 0;
    const int r = host->http_end(host, number, wanted ? &answer : NULL, &phase, &err);

    if (r < 0) {
        host->log(host, CCM_LEVEL_INFO, key, "call %zu: %d kind %" PRIu64 " phase %" PRIu64 " %s",
                  i, r, (uint64_t)err.kind, phase, err.message);
    } else {
        host->log(host, CCM_LEVEL_INFO, key, "call %zu: %s", i,
                  answer == NULL ? "no answer" : answer->body);
    }
    if (answer != NULL) {
        host->http_free(host, answer);
    }
}

static const char *word_of(const struct ccm_object *service, const char *name, const char *fallback)
{
    const char *word = service == NULL ? NULL : ccm_object_annotation(service, name);

    return word == NULL ? fallback : word;
}

static size_t number_of(const char *text)
{
    size_t number = 0;

    for (; *text >= '0' && *text <= '9' && number < CALLS_MAX; text++) {
        number = number * 10 + (size_t)(*text - '0');
    }
    return number;
}

static int calling_reconcile_keys(void *self, const struct ccm_request *req, struct ccm_result *ret,
                                  struct ccm_error *err)
{
    const struct ccm_host *host = calling_host;
    const struct ccm_object *service = host->get(host, CCM_KIND_SERVICE, req->keys[0]);
    const size_t wanted = number_of(word_of(service, "calls", "0"));
    const char *then = word_of(service, "then", "end");
    uint64_t numbers[CALLS_MAX] = { 0 };
    size_t count = 0;
    int r = 0;

    (void)self; /* no state */
    (void)ret;  /* not again */
    while (r == 0 && count < wanted && count < CALLS_MAX) {
        r = begin_call(req, count, &numbers[count], err);
        count += r == 0 ? 1 : 0;
    }
    host->log(host, CCM_LEVEL_INFO, req->keys[0], "%zu were begun", count);
    for (size_t i = 0; i < count && strcmp(then, "forget") != 0; i++) {
        end_call(req->keys[0], i, numbers[i], strcmp(then, "drop") != 0);
        if (strcmp(then, "twice") == 0) {
            end_call(req->keys[0], i, numbers[i], true);
        }
    }
    if (service != NULL) {
        host->release(host, service);
    }
    return r;
}

static void calling_destroy_plugin(void *self)
{
    (void)self; /* no state */
}

const struct ccm_plugin ccm_plugin = {
    .abi_major = CCM_ABI_MAJOR,
    .struct_size = sizeof(struct ccm_plugin),
    .name = "calling",
    .options = options,
    .watches = watches,
    .create = calling_create_plugin,
    .reconcile = calling_reconcile_keys,
    .destroy = calling_destroy_plugin,
    .version = "1.2.3",
    .summary = "makes several HTTP calls at once, for tests",
};
