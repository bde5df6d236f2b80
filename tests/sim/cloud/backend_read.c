/* Lists of backends as requests have them. */
#include "store.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/parse.h"
#include "util/text.h"
#include "vgroup.h"

#include <errno.h>
#include <string.h>

void ccm_cloud_backend_list_fini(struct ccm_cloud_backend_list *list)
{
    for (size_t i = 0; i < list->len; i++) {
        ccm_cloud_backend_fini(&list->items[i]);
    }
    free(list->items);
    *list = (struct ccm_cloud_backend_list){ 0 };
}

/* ---- reading ---- */

static int fail_malformed(struct ccm_cloud_call *call)
{
    return ccm_cloud_fail(call, 400, "BackendServersMalformed",
                          "the specified parameter BackendServers is unavailable.");
}

/* Text or number, as text of its own. */
static int member_text(struct ccm_cloud_call *call, const cJSON *item, char **ret)
{
    char *text = NULL;

    if (cJSON_IsString(item)) {
        text = strdup(item->valuestring);
    } else if (cJSON_IsNumber(item)) {
        text = ccm_text_format("%.0f", item->valuedouble);
    } else {
        return fail_malformed(call);
    }
    if (text == NULL) {
        return -ENOMEM;
    }
    free(*ret);
    *ret = text;
    return 0;
}

static int member_number(struct ccm_cloud_call *call, const cJSON *item, uint32_t min, uint32_t max,
                         const char *code, const char *message, uint32_t *ret)
{
    CCM_CLEANUP(ccm_freep) char *text = NULL;
    int r = member_text(call, item, &text);

    if (r == 0 && ccm_parse_u32(text, min, max, ret) < 0) {
        r = ccm_cloud_fail(call, 400, code, "%s", message);
    }
    return r;
}

static int member_read(struct ccm_cloud_call *call, const cJSON *item,
                       struct ccm_cloud_backend *backend)
{
    if (ccm_text_equal_case(item->string, "ServerId")) {
        return member_text(call, item, &backend->server_id);
    }
    if (ccm_text_equal_case(item->string, "ServerIp")) {
        return member_text(call, item, &backend->server_ip);
    }
    if (ccm_text_equal_case(item->string, "Type")) {
        return member_text(call, item, &backend->type);
    }
    if (ccm_text_equal_case(item->string, "Description")) {
        return member_text(call, item, &backend->description);
    }
    if (ccm_text_equal_case(item->string, "Port")) {
        return member_number(call, item, 1, 65535, "InvalidParameter",
                             "The specified BackendServers is invalid, as the Port value should be "
                             "in [1, 65535].",
                             &backend->port);
    }
    if (ccm_text_equal_case(item->string, "Weight")) {
        return member_number(call, item, 0, 100, "InvalidWeight.Malformed",
                             "A specified weight is not valid.", &backend->weight);
    }
    return 0; /* clients send members of their own, which the service does not look at */
}

static int default_text(char **text, const char *value)
{
    if (*text == NULL) {
        *text = strdup(value);
    }
    return *text == NULL ? -ENOMEM : 0;
}

static int backend_check(struct ccm_cloud_call *call, struct ccm_cloud_backend *backend)
{
    if (ccm_text_empty(backend->server_id)) {
        return fail_malformed(call);
    }
    if (backend->port == 0) {
        return ccm_cloud_fail(call, 400, "InvalidParameter",
                              "The specified BackendServers is invalid, as the Port value should "
                              "be in [1, 65535].");
    }
    if (default_text(&backend->server_ip, "") < 0 || default_text(&backend->type, "ecs") < 0 ||
        default_text(&backend->description, "") < 0) {
        return -ENOMEM;
    }
    if (!ccm_text_equal(backend->type, "ecs") && !ccm_text_equal(backend->type, "eni") &&
        !ccm_text_equal(backend->type, "eci")) {
        return ccm_cloud_fail(call, 400, "BackendServer.InvalidType",
                              "The specified Type is invalid.");
    }
    if (strlen(backend->description) > call->cloud->limits.description) {
        return fail_malformed(call);
    }
    return 0;
}

static int backend_read(struct ccm_cloud_call *call, const cJSON *json,
                        struct ccm_cloud_backend *backend)
{
    backend->weight = 100;
    if (!cJSON_IsObject(json)) {
        return fail_malformed(call);
    }
    for (const cJSON *item = json->child; item != NULL; item = item->next) {
        int r = member_read(call, item, backend);

        if (r < 0) {
            return r;
        }
    }
    return backend_check(call, backend);
}

int ccm_cloud_backends_read(struct ccm_cloud_call *call, const char *name,
                            struct ccm_cloud_backend_list *ret)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    const char *text = ccm_cloud_text(call, name, NULL);
    uint32_t max = call->cloud->limits.backends_per_call;

    if (text == NULL) {
        return 0;
    }
    if (ccm_json_parse(text, strlen(text), &json) < 0 || !cJSON_IsArray(json)) {
        return fail_malformed(call);
    }
    if (cJSON_GetArraySize(json) > (int)max) {
        return ccm_cloud_fail(call, 400, "TooManyBackendServers",
                              "The total number of input real servers exceeds max supported "
                              "number: %u",
                              max);
    }
    for (const cJSON *item = json->child; item != NULL; item = item->next) {
        int r = ccm_array_grow(&ret->items, &ret->cap, ret->len + 1, sizeof(*ret->items));

        if (r < 0) {
            return r;
        }
        ret->items[ret->len++] = (struct ccm_cloud_backend){ 0 };
        r = backend_read(call, item, &ret->items[ret->len - 1]);
        if (r < 0) {
            return r;
        }
    }
    return 0;
}
