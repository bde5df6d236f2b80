#include "lbc/service/readiness.h"
#include "lbc/names.h"

#include "lbc/service/condition.h"
#include "lbc/service/lifecycle.h"
#include "util/array.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GOOD "ServerRegistered"
#define BAD  "ServerInvalidServer"

void lbc_readiness_fini(struct lbc_readiness *readiness)
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

static bool has_gate(const struct ccm_pod *pod, const char *type)
{
    for (uint64_t i = 0; i < pod->readiness_gate_count; i++) {
        if (strcmp(pod->readiness_gates[i], type) == 0) {
            return true;
        }
    }
    return false;
}

static int readiness_accept_pod(struct lbc_readiness *to, const struct ccm_pod *pod,
                                const char *address, const char *gate)
{
    const struct ccm_condition *now =
        lbc_condition_find(pod->conditions, pod->condition_count, gate);

    if (ccm_array_grow(&to->pods, &to->cap, to->len + 1, sizeof(*to->pods)) < 0) {
        return -ENOMEM;
    }
    struct lbc_gated_pod *one = &to->pods[to->len++];

    *one = (struct lbc_gated_pod){
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

/* --- memory --- */

static char *readiness_key(const struct ccm_endpoint *endpoint)
{
    return ccm_text_format("%s/%s", endpoint->pod_name, endpoint->address);
}

/* Of a pod that does not exist, as long as its slice is the same: `version`. */
static char *readiness_gone_key(const struct ccm_endpoint *endpoint, const char *version)
{
    return ccm_text_format("%s/%s %s", endpoint->pod_name, endpoint->address, version);
}

/* The texts live as long as the program. */
static int readiness_record_state(struct ccm_strmap *pod_states, const char *key, const char *what)
{
    return ccm_strmap_set(pod_states, key, (void *)(uintptr_t)what);
}

/* --- before the pass --- */

/* One pod, live; NULL: *ret_gone, it does not exist, or the API server is in trouble. The caller
 * releases it. */
static const struct ccm_pod *
readiness_fetch_pod(struct lbc_readiness *to, const struct ccm_endpoint *endpoint, bool *ret_gone)
{
    const struct ccm_object *object = NULL;
    struct ccm_error err = CCM_ERROR_INIT;

    if (to->host->fetch(to->host, to->req, CCM_KIND_POD, to->service->meta.namespace_,
                        endpoint->pod_name, &object, &err) < 0) {
        *ret_gone = err.kind == CCM_ERROR_NOT_FOUND;
        to->waiting = to->waiting || !*ret_gone;
        return NULL;
    }
    return (const struct ccm_pod *)object;
}

/* *ret_without: it never has to be asked again; *ret_gone: not before its slice changes. */
static int readiness_ask_pod(struct lbc_readiness *to, const struct ccm_endpoint *endpoint,
                             const char *gate, bool *ret_without, bool *ret_gone)
{
    const struct ccm_pod *pod = readiness_fetch_pod(to, endpoint, ret_gone);
    int r = 0;

    if (pod == NULL) {
        return 0;
    }
    const struct ccm_condition *ready =
        lbc_condition_find(pod->conditions, pod->condition_count, "ContainersReady");

    if (!has_gate(pod, gate)) {
        *ret_without = true;
    } else if (ready == NULL || strcmp(ready->status, "True") != 0) {
        to->waiting = true;
    } else {
        r = readiness_accept_pod(to, pod, endpoint->address, gate);
    }
    to->host->release(to->host, &pod->meta);
    return r;
}

/* The first look at a pod that is not ready. */
static int readiness_check_pod(struct lbc_readiness *to, const struct ccm_endpoint *endpoint,
                               const char *gate, const char *key, const char *gone_key)
{
    bool without = false;
    bool gone = false;
    const int r = readiness_ask_pod(to, endpoint, gate, &without, &gone);

    if (r == 0 && (without || gone)) {
        return readiness_record_state(to->pod_states, gone ? gone_key : key, "");
    }
    return r;
}

static int readiness_check_endpoint(struct lbc_readiness *to, const struct ccm_endpoint *endpoint,
                                    const char *version, const char *gate,
                                    const struct ccm_strmap *before)
{
    CCM_CLEANUP(ccm_freep) char *key = NULL;
    CCM_CLEANUP(ccm_freep) char *gone_key = NULL;
    const bool ready = (endpoint->flags & CCM_ENDPOINT_READY) != 0;
    const char *said;

    if ((endpoint->flags & CCM_ENDPOINT_TERMINATING) != 0 || endpoint->pod_name[0] == '\0' ||
        (ready && before == NULL) || ccm_strmap_has(to->accepted, endpoint->address)) {
        return 0;
    }
    key = readiness_key(endpoint);
    gone_key = readiness_gone_key(endpoint, version);
    if (key == NULL || gone_key == NULL) {
        return -ENOMEM;
    }
    if (before != NULL && ccm_strmap_has(before, gone_key)) {
        return readiness_record_state(to->pod_states, gone_key, "");
    }
    said = before == NULL ? NULL : ccm_strmap_get(before, key);
    if (said != NULL && (ready || said[0] == '\0')) {
        return readiness_record_state(to->pod_states, key, said);
    }
    return ready ? 0 : readiness_check_pod(to, endpoint, gate, key, gone_key);
}

int lbc_readiness_collect(struct lbc_readiness *ret, const struct ccm_object *const *slices,
                          size_t count, struct ccm_strmap **pod_states)
{
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *before = CCM_STEAL(*pod_states);
    CCM_CLEANUP(ccm_freep)
    char *gate = ccm_text_format("%s%s", lbc_names.readiness, ret->service->meta.name);
    int r;

    *pod_states = ccm_strmap_new(NULL);
    ret->pod_states = *pod_states;
    ret->slices = slices;
    ret->slice_count = count;
    ret->accepted = ccm_strmap_new(NULL);
    r = ret->accepted == NULL || ret->pod_states == NULL || gate == NULL ? -ENOMEM : 0;
    for (size_t s = 0; r == 0 && s < count; s++) {
        const struct ccm_endpoint_slice *slice = (const struct ccm_endpoint_slice *)slices[s];

        for (uint64_t e = 0; r == 0 && e < slice->endpoint_count; e++) {
            r = readiness_check_endpoint(ret, slice->endpoints[e], slice->meta.resource_version,
                                         gate, before);
        }
    }
    return r;
}

/* --- after the pass --- */

static bool is_listed(const char *list, const char *address)
{
    return ccm_parse_has_piece(list, ',', address, strlen(address));
}

static void write_condition(struct ccm_buf *body, const struct lbc_readiness *readiness,
                            const struct lbc_gated_pod *pod, bool good, const char *gate)
{
    struct ccm_jsonw w = { .buf = body };
    char now[32];

    lbc_condition_open_patch(&w, pod->uid, gate);
    ccm_jsonw_str(&w, "status", good ? "True" : "False");
    ccm_jsonw_str(&w, "reason", good ? GOOD : BAD);
    ccm_jsonw_str(&w, "message",
                  good ? "The backend has been added to the server group"
                       : "The backend failed to add to the server group because of the server is "
                         "invalid");
    ccm_clock_format(readiness->host->wall_ms(readiness->host), now, sizeof(now));
    ccm_jsonw_str(&w, "lastTransitionTime", now);
    ccm_jsonw_close_all(&w, "}]}}");
}

static int readiness_patch_pod(const struct lbc_readiness *readiness,
                               const struct lbc_gated_pod *pod, bool good, const char *gate,
                               struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = LBC_LIFE_PATCH_MAX };

    if (strcmp(pod->said, good ? GOOD : BAD) == 0) {
        return 0;
    }
    if (readiness->plan != NULL) {
        ccm_buf_addf(readiness->plan, "set condition %s of pod %s to %s\n", gate, pod->name,
                     good ? "True" : "False");
        return 0;
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

/* One that the slice calls ready. */
static int readiness_publish_endpoint(struct lbc_readiness *readiness,
                                      const struct ccm_endpoint *endpoint, const char *version,
                                      bool good, const char *gate, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *key = readiness_key(endpoint);
    CCM_CLEANUP(ccm_freep) char *gone_key = readiness_gone_key(endpoint, version);
    const char *want = good ? GOOD : BAD;
    const char *said = key == NULL ? NULL : ccm_strmap_get(readiness->pod_states, key);
    const struct ccm_pod *pod;
    bool gone = false;
    const size_t before = readiness->len;
    int r = 0;

    if (key == NULL || gone_key == NULL) {
        return ccm_error_nomem(err);
    }
    if (ccm_strmap_has(readiness->pod_states, gone_key)) {
        return 0;
    }
    if (said == NULL ? good && readiness->service->publish_not_ready_addresses == 0
                     : said[0] == '\0' || strcmp(said, want) == 0) {
        return 0;
    }
    pod = readiness_fetch_pod(readiness, endpoint, &gone);
    if (pod == NULL) {
        return gone && readiness_record_state(readiness->pod_states, gone_key, "") < 0
                   ? ccm_error_nomem(err)
                   : 0;
    }
    if (!has_gate(pod, gate)) {
        want = "";
    } else if (readiness_accept_pod(readiness, pod, endpoint->address, gate) < 0) {
        r = ccm_error_nomem(err);
    } else {
        r = readiness_patch_pod(readiness, &readiness->pods[before], good, gate, err);
    }
    readiness->host->release(readiness->host, &pod->meta);
    if (r == 0 && readiness_record_state(readiness->pod_states, key, want) < 0) {
        r = ccm_error_nomem(err);
    }
    return r;
}

static int readiness_publish_slice(struct lbc_readiness *readiness,
                                   const struct ccm_endpoint_slice *slice, const char *invalid,
                                   const char *gate, struct ccm_error *err)
{
    int r = 0;

    for (uint64_t i = 0; r == 0 && i < slice->endpoint_count; i++) {
        const struct ccm_endpoint *one = slice->endpoints[i];

        if ((one->flags & (CCM_ENDPOINT_READY | CCM_ENDPOINT_TERMINATING)) == CCM_ENDPOINT_READY &&
            one->pod_name[0] != '\0' && !ccm_strmap_has(readiness->accepted, one->address)) {
            r = readiness_publish_endpoint(readiness, one, slice->meta.resource_version,
                                           !is_listed(invalid, one->address), gate, err);
        }
    }
    return r;
}

int lbc_readiness_publish(struct lbc_readiness *readiness, const char *invalid,
                          struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep)
    char *gate = ccm_text_format("%s%s", lbc_names.readiness, readiness->service->meta.name);
    const size_t count = readiness->len;
    int r = gate == NULL ? ccm_error_nomem(err) : 0;

    for (size_t i = 0; r == 0 && i < count; i++) {
        const struct lbc_gated_pod *pod = &readiness->pods[i];

        r = readiness_patch_pod(readiness, pod, !is_listed(invalid, pod->address), gate, err);
    }
    /* Most Services have nothing to tell to pods that are ready. */
    if (invalid[0] == '\0' && readiness->service->publish_not_ready_addresses == 0 &&
        ccm_strmap_len(readiness->pod_states) == 0) {
        return r;
    }
    for (size_t s = 0; r == 0 && s < readiness->slice_count; s++) {
        r = readiness_publish_slice(
            readiness, (const struct ccm_endpoint_slice *)readiness->slices[s], invalid, gate, err);
    }
    return r;
}
