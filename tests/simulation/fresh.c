#include "fresh.h"

#include "explore.h"
#include "instance.h"
#include "look.h"
#include "net.h"
#include "order.h"
#include "picture.h"
#include "run.h"
#include "story.h"
#include "world.h"

#include "util/cleanup.h"
#include "util/json.h"
#include "util/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET_US INT64_C(60000000)

/* Buckets of the state that are taken along. */
static const char *const taken[] = {
    "nodes",
    "services",
    "endpointslices",
    "secrets",
    "gatewayclasses.gateway.networking.k8s.io",
    "gateways.gateway.networking.k8s.io",
    "listenersets.gateway.networking.k8s.io",
    "tcproutes.gateway.networking.k8s.io",
    "udproutes.gateway.networking.k8s.io",
};

static bool label_is_ours(const char *key)
{
    return strcmp(key, "service.beta.kubernetes.io/hash") == 0 ||
           ccm_text_starts(key, "service.k8s.alibaba/") ||
           ccm_text_starts(key, "ccm.alibabacloud.com/");
}

/* As its owner wrote it. */
static void item_strip(cJSON *item, bool has_status)
{
    cJSON *meta = cJSON_GetObjectItemCaseSensitive(item, "metadata");
    cJSON *labels = cJSON_GetObjectItemCaseSensitive(meta, "labels");
    cJSON *label = cJSON_IsObject(labels) ? labels->child : NULL;

    cJSON_DeleteItemFromObjectCaseSensitive(meta, "finalizers");
    while (label != NULL) {
        cJSON *next = label->next;

        if (label_is_ours(label->string)) {
            cJSON_Delete(cJSON_DetachItemViaPointer(labels, label));
        }
        label = next;
    }
    if (!has_status) {
        cJSON_DeleteItemFromObjectCaseSensitive(item, "status");
    }
}

static cJSON *state_take(void)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = (size_t)256 * 1024 * 1024 };
    cJSON *state = NULL;
    cJSON *kept = cJSON_CreateObject();

    (void)sim_control(SIM_KUBE, "GET", "/_sim/state", NULL, &body);
    if (kept == NULL || ccm_json_parse(ccm_buf_str(&body), body.len, &state) < 0) {
        sim_fail("the state of the cluster cannot be read");
    }
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
        cJSON *list = cJSON_DetachItemFromObjectCaseSensitive(state, taken[i]);

        for (cJSON *item = list == NULL ? NULL : list->child; item != NULL; item = item->next) {
            item_strip(item, strcmp(taken[i], "nodes") == 0);
        }
        if (list != NULL) {
            (void)cJSON_AddItemToObject(kept, taken[i], list); /* its name is new */
        }
    }
    cJSON_Delete(state);
    return kept;
}

/* Ids of load balancers that Services may use stand in annotations. */
static void text_replace(struct ccm_buf *ret, const char *text, const char *const *from,
                         const char *const *to, size_t count)
{
    while (*text != '\0') {
        bool found = false;

        for (size_t i = 0; i < count && !found; i++) {
            if (from[i] != NULL && to[i] != NULL && ccm_text_starts(text, from[i])) {
                ccm_buf_adds(ret, to[i]);
                text += strlen(from[i]);
                found = true;
            }
        }
        if (!found) {
            ccm_buf_addc(ret, *text++);
        }
    }
}

static void fresh_await_rest(void)
{
    const int64_t from_us = sim_now_us();

    while (sim_now_us() - from_us < QUIET_US ||
           sim_now_us() - sim_look_last_write_us() < QUIET_US) {
        sim_sleep_us(1000000);
    }
}

/* Never returns: the picture goes to fd. */
static void fresh_run(int fd)
{
    static const char *const names[REUSABLE] = { "reuse-0", "reuse-1", "reuse-nlb-0",
                                                 "reuse-nlb-1" };
    CCM_CLEANUP(ccm_freep) char *text = NULL;
    struct ccm_buf body = { .max = (size_t)256 * 1024 * 1024 };
    struct ccm_buf picture = { .max = (size_t)64 * 1024 * 1024 };
    const char *before[REUSABLE];
    const char *after[REUSABLE];
    cJSON *state = state_take();

    sim_child_limit();
    sim_net.effect = NULL; /* nothing is explored here */
    sim_net.event = NULL;
    sim_instances_drop();
    for (size_t i = 0; i < REUSABLE; i++) {
        before[i] = strdup(sim_world_handle(names[i]));
    }
    sim_world_renew();
    for (size_t i = 0; i < REUSABLE; i++) {
        after[i] = sim_world_handle(names[i]);
    }
    text = cJSON_PrintUnformatted(state);
    text_replace(&body, text, before, after, REUSABLE);
    if (sim_control(SIM_KUBE, "POST", "/_sim/restore", ccm_buf_str(&body), NULL) != 200) {
        _exit(3);
    }
    sim_seat_add(0);
    fresh_await_rest();
    sim_picture_take(&picture, false);
    for (size_t done = 0; done < picture.len;) {
        const ssize_t some = write(fd, ccm_buf_str(&picture) + done, picture.len - done);

        if (some <= 0) {
            _exit(3);
        }
        done += (size_t)some;
    }
    _exit(0);
}

void sim_fresh_compare(void)
{
    static const char *const sides[] = { "found, not wanted", "wanted, not found" };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf found = { .max = (size_t)64 * 1024 * 1024 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf wanted = { .max = (size_t)64 * 1024 * 1024 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf differs = { .max = 1800 };
    char piece[65536];
    ssize_t some = 0;
    int status = 0;
    int ends[2];
    pid_t child = 0;

    sim_picture_take(&found, false);
    (void)fflush(NULL);
    if (pipe(ends) < 0) {
        sim_fail("no pipe");
    }
    child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        sim_trace_to("/dev/null", 0);
        sim_story_end();
        fresh_run(ends[1]);
    }
    (void)close(ends[1]);
    while ((some = read(ends[0], piece, sizeof(piece))) > 0) {
        ccm_buf_add(&wanted, piece, (size_t)some);
    }
    (void)close(ends[0]);
    (void)waitpid(child, &status, 0);
    if (status != 0) {
        sim_fail("the world without a past ended with status %d", status);
    }
    sim_picture_compare(ccm_buf_str(&found), ccm_buf_str(&wanted), sides, &differs);
    if (differs.len > 0) {
        sim_fail("a world without a past is different:%s", ccm_buf_str(&differs));
    }
}
