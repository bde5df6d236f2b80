/*
 * Annotations of a Service, as an application owner may write them: lines "key=value", a line
 * "port N PROTOCOL" per port, a line "class NAME". Everything that reads them without a cloud runs
 * over it.
 */
#include "fuzz.h"

#include "clb/lint.h"
#include "kube/object/decode.h"
#include "nlb/lint.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/parse.h"
#include "util/text.h"

static void finding(const struct ccm_lint_sink *sink, uint64_t level, const char *place,
                    const char *message)
{
    (void)sink;
    (void)place;
    FUZZ_REQUIRE(level <= CCM_LEVEL_INFO && message != NULL && message[0] != '\0');
}

static const char *no_string(const struct ccm_lint_sink *sink, const char *group, const char *name)
{
    (void)sink;
    (void)group;
    (void)name;
    return "";
}

static int64_t no_int(const struct ccm_lint_sink *sink, const char *group, const char *name)
{
    (void)sink;
    (void)group;
    (void)name;
    return 0;
}

static void add_port(cJSON *ports, char *line)
{
    char *protocol = strchr(line, ' ');
    cJSON *port = cJSON_CreateObject();
    int64_t number = 0;

    if (protocol != NULL) {
        *protocol++ = '\0';
    }
    if (ccm_parse_i64(line, 0, 65535, &number) < 0) {
        number = 80;
    }
    cJSON_AddNumberToObject(port, "port", (double)number);
    cJSON_AddNumberToObject(port, "nodePort", 30000);
    cJSON_AddStringToObject(port, "protocol", protocol == NULL ? "TCP" : protocol);
    if (!cJSON_AddItemToArray(ports, port)) {
        cJSON_Delete(port);
    }
}

static cJSON *service_of(char *text)
{
    cJSON *service = cJSON_CreateObject();
    cJSON *meta = cJSON_AddObjectToObject(service, "metadata");
    cJSON *spec = cJSON_AddObjectToObject(service, "spec");
    cJSON *annotations = cJSON_AddObjectToObject(meta, "annotations");
    cJSON *ports = cJSON_AddArrayToObject(spec, "ports");

    cJSON_AddStringToObject(meta, "name", "web");
    cJSON_AddStringToObject(meta, "namespace", "default");
    cJSON_AddStringToObject(spec, "type", "LoadBalancer");
    for (char *line = text, *next = NULL; line != NULL; line = next) {
        char *equal = NULL;

        next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        equal = strchr(line, '=');
        if (ccm_text_starts(line, "port ")) {
            add_port(ports, line + strlen("port "));
        } else if (ccm_text_starts(line, "class ")) {
            cJSON_AddStringToObject(spec, "loadBalancerClass", line + strlen("class "));
        } else if (equal != NULL) {
            *equal++ = '\0';
            cJSON_AddStringToObject(annotations, line, equal);
        }
    }
    return service;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct kube_decode_kind kind = { .kind = CCM_KIND_SERVICE };
    static const struct ccm_lint_sink sink = {
        .struct_size = sizeof(sink),
        .finding = finding,
        .option_string = no_string,
        .option_int = no_int,
    };
    CCM_CLEANUP(kube_builder_freep) struct kube_builder *builder = kube_builder_new();
    CCM_CLEANUP(kube_object_unrefp) const struct ccm_object *object = NULL;
    CCM_CLEANUP(ccm_freep) char *text = fuzz_text(data, size);
    CCM_CLEANUP(ccm_json_freep) cJSON *service = text == NULL ? NULL : service_of(text);
    char *json = service == NULL ? NULL : cJSON_PrintUnformatted(service);
    struct ccm_error err = CCM_ERROR_INIT;

    if (builder != NULL && json != NULL &&
        kube_decode(builder, &kind, json, strlen(json), &object, &err) == 0) {
        lbc_lint_service(&clb_rules, (const struct ccm_service *)object, &sink);
        lbc_lint_service(&nlb_rules, (const struct ccm_service *)object, &sink);
    }
    cJSON_free(json);
    return 0;
}
