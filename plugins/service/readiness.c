#include "service/readiness.h"

#include "util/array.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/jsonw.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GOOD "ServerRegistered"
#define BAD  "ServerInvalidServer"

void ccm_readiness_fini(struct ccm_readiness *readiness)
{
    for (size_t i = 0; i < readiness->len; i++) {
        free(readiness->pods[i].name);
        free(readiness->pods[i].uid);
        free(readiness->pods[i].address);
        free(readiness->pods[i].said);
    }
    free(readiness->pods);
    ccm_strmap_free(readiness->accepted);
    memset(readiness, 0, sizeof(*readiness));
}

static const struct ccm_condition *condition_of(const struct ccm_pod *pod, const char *type)
{
    for (uint64_t i = 0; i < pod->condition_count; i++) {
        if (strcmp(pod->conditions[i]->type, type) == 0) {
            return pod->conditions[i];
        }
    }
    return NULL;
}

static bool has_gate(const struct ccm_pod *pod, const char *type)
{
    for (uint64_t i = 0; i < pod->readiness_gate_count; i++) {
        if (strcmp(pod->readiness_gates[i], type) == 0) {
            return true;
        }
    }
    return false;
}

static int accept(struct ccm_readiness *to, const struct ccm_pod *pod, const char *address,
                  const char *gate)
{
    const struct ccm_condition *now = condition_of(pod, gate);

    if (ccm_array_grow(&to->pods, &to->cap, to->len + 1, sizeof(*to->pods)) < 0) {
        return -ENOMEM;
    }
    struct ccm_gated_pod *one = &to->pods[to->len++];

    *one = (struct ccm_gated_pod){
        .name = strdup(pod->meta.name),
        .uid = strdup(pod->meta.uid),
        .address = strdup(address),
        .said = strdup(now == NULL ? "" : now->reason),
    };
    if (one->name == NULL || one->uid == NULL || one->address == NULL || one->said == NULL) {
        return -ENOMEM;
    }
    return ccm_strmap_set(to->accepted, address, to);
}

/* Ask for one pod; *ret_gateless tells that it never has to be asked again. */
static int ask(struct ccm_readiness *to, const struct ccm_endpoint *endpoint, const char *gate,
               bool *ret_gateless)
{
    const struct ccm_object *object = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    int r = 0;

    if (to->host->fetch(to->host, to->req, CCM_KIND_POD, to->service->meta.namespace_,
                        endpoint->pod_name, &object, &err) < 0) {
        to->waiting = true; /* not there yet, or the API server is in trouble */
        return 0;
    }
    const struct ccm_pod *pod = (const struct ccm_pod *)object;
    const struct ccm_condition *ready = condition_of(pod, "ContainersReady");

    if (!has_gate(pod, gate)) {
        *ret_gateless = true;
    } else if (ready == NULL || strcmp(ready->status, "True") != 0) {
        to->waiting = true;
    } else {
        r = accept(to, pod, endpoint->address, gate);
    }
    to->host->release(to->host, object);
    return r;
}

static int look_at(struct ccm_readiness *to, const struct ccm_endpoint *endpoint, const char *gate,
                   const struct ccm_strmap *known, struct ccm_strmap *gateless)
{
    CCM_CLEANUP(ccm_freep) char *key = NULL;
    bool without = false;
    int r = 0;

    if ((endpoint->flags & (CCM_ENDPOINT_READY | CCM_ENDPOINT_TERMINATING)) != 0 ||
        endpoint->pod_name[0] == '\0' || ccm_strmap_has(to->accepted, endpoint->address)) {
        return 0;
    }
    key = ccm_text_format("%s/%s", endpoint->pod_name, endpoint->address);
    if (key == NULL) {
        return -ENOMEM;
    }
    without = known != NULL && ccm_strmap_has(known, key);
    if (!without) {
        r = ask(to, endpoint, gate, &without);
    }
    return r == 0 && without ? ccm_strmap_set(gateless, key, NULL) : r;
}

int ccm_readiness_look(struct ccm_readiness *ret, const struct ccm_object *const *slices,
                       size_t count, struct ccm_strmap **gateless)
{
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *fresh = ccm_strmap_new(NULL);
    CCM_CLEANUP(ccm_freep)
    char *gate = ccm_text_format("%s%s", CCM_READINESS_PREFIX, ret->service->meta.name);
    int r;

    ret->accepted = ccm_strmap_new(NULL);
    r = ret->accepted == NULL || fresh == NULL || gate == NULL ? -ENOMEM : 0;
    for (size_t s = 0; r == 0 && s < count; s++) {
        const struct ccm_endpoint_slice *slice = (const struct ccm_endpoint_slice *)slices[s];

        for (uint64_t e = 0; r == 0 && e < slice->endpoint_count; e++) {
            r = look_at(ret, slice->endpoints[e], gate, *gateless, fresh);
        }
    }
    if (r == 0) {
        ccm_strmap_free(*gateless);
        *gateless = CCM_STEAL(fresh);
    }
    return r;
}

static bool is_listed(const char *list, const char *address)
{
    const char *cursor = list;
    const char *one = NULL;
    size_t len = 0;

    while (ccm_parse_piece(&cursor, ',', &one, &len)) {
        if (strlen(address) == len && memcmp(address, one, len) == 0) {
            return true;
        }
    }
    return false;
}

static void write_condition(struct ccm_buf *body, const struct ccm_readiness *readiness,
                            const struct ccm_gated_pod *pod, bool good, const char *gate)
{
    struct ccm_jsonw w = { .buf = body };
    char now[32];

    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_open(&w, "metadata", '{');
    ccm_jsonw_str(&w, "uid", pod->uid);
    ccm_jsonw_close(&w, '}');
    ccm_jsonw_open(&w, "status", '{');
    ccm_jsonw_open(&w, "conditions", '[');
    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "type", gate);
    ccm_jsonw_str(&w, "status", good ? "True" : "False");
    ccm_jsonw_str(&w, "reason", good ? GOOD : BAD);
    ccm_jsonw_str(&w, "message",
                  good ? "The backend has been added to the server group"
                       : "The backend failed to add to the server group because of the server is "
                         "invalid");
    ccm_clock_format(readiness->host->wall_ms(readiness->host), now, sizeof(now));
    ccm_jsonw_str(&w, "lastTransitionTime", now);
    ccm_jsonw_close(&w, '}');
    ccm_jsonw_close(&w, ']');
    ccm_jsonw_close(&w, '}');
    ccm_jsonw_close(&w, '}');
}

static int tell(const struct ccm_readiness *readiness, const struct ccm_gated_pod *pod, bool good,
                struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = 4096 };
    CCM_CLEANUP(ccm_freep)
    char *gate = ccm_text_format("%s%s", CCM_READINESS_PREFIX, readiness->service->meta.name);

    if (strcmp(pod->said, good ? GOOD : BAD) == 0) {
        return 0;
    }
    if (gate == NULL) {
        return ccm_error_nomem(err);
    }
    write_condition(&body, readiness, pod, good, gate);
    if (ccm_buf_error(&body) < 0) {
        return ccm_error_nomem(err);
    }
    const struct ccm_patch patch = {
        .struct_size = sizeof(patch),
        .kind = CCM_KIND_POD,
        .type = CCM_PATCH_STRATEGIC,
        .namespace_ = readiness->service->meta.namespace_,
        .name = pod->name,
        .subresource = "status",
        .body = ccm_buf_str(&body),
    };
    const int r = readiness->host->patch(readiness->host, readiness->req, &patch, err);

    /* A conflict means that another pod has the name now. */
    return r < 0 && (err->kind == CCM_ERROR_NOT_FOUND || err->kind == CCM_ERROR_CONFLICT) ? 0 : r;
}

int ccm_readiness_tell(const struct ccm_readiness *readiness, const char *invalid,
                       struct ccm_error *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < readiness->len; i++) {
        const struct ccm_gated_pod *pod = &readiness->pods[i];

        r = tell(readiness, pod, !is_listed(invalid, pod->address), err);
    }
    return r;
}
