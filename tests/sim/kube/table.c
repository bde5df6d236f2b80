#include "table.h"

#include "jx.h"
#include "store.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/parse.h"
#include "util/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_COLUMN                                                                                \
    {                                                                                              \
        .name = "Name", .type = "string", .format = "name"                                         \
    }
#define COLUMN(title, level)                                                                       \
    {                                                                                              \
        .name = (title), .type = "string", .format = "", .priority = (level)                       \
    }
#define END                                                                                        \
    {                                                                                              \
        .name = NULL                                                                               \
    }

const struct ccm_ks_column ccm_ks_table_plain[] = { NAME_COLUMN, COLUMN("Age", 0), END };

const struct ccm_ks_column ccm_ks_table_config_map[] = { NAME_COLUMN, COLUMN("Data", 0),
                                                         COLUMN("Age", 0), END };

const struct ccm_ks_column ccm_ks_table_secret[] = { NAME_COLUMN, COLUMN("Type", 0),
                                                     COLUMN("Data", 0), COLUMN("Age", 0), END };

const struct ccm_ks_column ccm_ks_table_ingress[] = {
    NAME_COLUMN,
    COLUMN("Class", 0),
    COLUMN("Hosts", 0),
    COLUMN("Address", 0),
    COLUMN("Ports", 0),
    COLUMN("Age", 0),
    END,
};

const struct ccm_ks_column ccm_ks_table_crd[] = {
    { .name = "Name", .type = "string", .format = "name", .path = "metadata.name" },
    { .name = "Created At", .type = "string", .format = "", .path = "metadata.creationTimestamp" },
    END,
};

const struct ccm_ks_column ccm_ks_table_endpoints[] = { NAME_COLUMN, COLUMN("Endpoints", 0),
                                                        COLUMN("Age", 0), END };

const struct ccm_ks_column ccm_ks_table_event[] = {
    COLUMN("Last Seen", 0),
    COLUMN("Type", 0),
    COLUMN("Reason", 0),
    COLUMN("Object", 0),
    COLUMN("Subobject", 1),
    COLUMN("Source", 1),
    COLUMN("Message", 0),
    COLUMN("First Seen", 1),
    COLUMN("Count", 1),
    { .name = "Name", .type = "string", .format = "name", .priority = 1 },
    END,
};

const struct ccm_ks_column ccm_ks_table_lease[] = { NAME_COLUMN, COLUMN("Holder", 0),
                                                    COLUMN("Age", 0), END };

const struct ccm_ks_column ccm_ks_table_namespace[] = { NAME_COLUMN, COLUMN("Status", 0),
                                                        COLUMN("Age", 0), END };

const struct ccm_ks_column ccm_ks_table_node[] = {
    NAME_COLUMN,
    COLUMN("Status", 0),
    COLUMN("Roles", 0),
    COLUMN("Age", 0),
    COLUMN("Version", 0),
    COLUMN("Internal-IP", 1),
    COLUMN("External-IP", 1),
    COLUMN("OS-Image", 1),
    COLUMN("Kernel-Version", 1),
    COLUMN("Container-Runtime", 1),
    END,
};

const struct ccm_ks_column ccm_ks_table_pod[] = {
    NAME_COLUMN,
    COLUMN("Ready", 0),
    COLUMN("Status", 0),
    COLUMN("Restarts", 0),
    COLUMN("Age", 0),
    COLUMN("IP", 1),
    COLUMN("Node", 1),
    COLUMN("Nominated Node", 1),
    COLUMN("Readiness Gates", 1),
    END,
};

const struct ccm_ks_column ccm_ks_table_service[] = {
    NAME_COLUMN,          COLUMN("Type", 0), COLUMN("Cluster-IP", 0), COLUMN("External-IP", 0),
    COLUMN("Port(s)", 0), COLUMN("Age", 0),  COLUMN("Selector", 1),   END,
};

const struct ccm_ks_column ccm_ks_table_slice[] = {
    NAME_COLUMN,        COLUMN("AddressType", 0),
    COLUMN("Ports", 0), COLUMN("Endpoints", 0),
    COLUMN("Age", 0),   END,
};

static void cell(cJSON *cells, const char *text)
{
    (void)cJSON_AddItemToArray(cells, cJSON_CreateString(text)); /* ENOMEM: see jx.h */
}

static void cell_or(cJSON *cells, const char *text, const char *otherwise)
{
    cell(cells, ccm_text_empty(text) ? otherwise : text);
}

static void cell_buf(cJSON *cells, const struct ccm_buf *buf)
{
    cell_or(cells, ccm_buf_str(buf), "<none>");
}

void ccm_ks_table_span(int64_t ms, char *text, size_t size)
{
    const int64_t s = ms / 1000;
    const int64_t m = s / 60;
    const int64_t h = s / 3600;
    const int64_t d = h / 24;
    const char *big = "";
    const char *small = "";
    int64_t a = 0;
    int64_t b = 0;

    if (s < -1) {
        ccm_text_copy(text, size, "<invalid>");
        return;
    }
    if (s < 120) {
        a = s < 0 ? 0 : s;
        big = "s";
    } else if (m < 10) {
        a = m, b = s % 60, big = "m", small = "s";
    } else if (m < 180) {
        a = m, big = "m";
    } else if (h < 8) {
        a = h, b = m % 60, big = "h", small = "m";
    } else if (h < 48) {
        a = h, big = "h";
    } else if (h < 192) {
        a = d, b = h % 24, big = "d", small = "h";
    } else if (d < 730) {
        a = d, big = "d";
    } else {
        a = d / 365, b = d < 2920 ? d % 365 : 0, big = "y", small = "d";
    }
    if (b > 0) {
        ccm_text_printf(text, size, "%" PRId64 "%s%" PRId64 "%s", a, big, b, small);
    } else {
        ccm_text_printf(text, size, "%" PRId64 "%s", a, big);
    }
}

/* How long ago the time was, or "<unknown>". */
static void cell_since(cJSON *cells, const char *time, int64_t now_ms)
{
    char text[32];
    int64_t then;

    if (ccm_text_empty(time) || ccm_parse_rfc3339(time, &then) < 0) {
        cell(cells, "<unknown>");
        return;
    }
    ccm_ks_table_span(now_ms - then, text, sizeof(text));
    cell(cells, text);
}

static void cell_name(cJSON *cells, const cJSON *object)
{
    cell(cells, ccm_json_text(ccm_json_get(object, "metadata"), "name"));
}

static void cell_age(cJSON *cells, const cJSON *object, int64_t now_ms)
{
    cell_since(cells, ccm_json_str(ccm_json_get(object, "metadata"), "creationTimestamp"), now_ms);
}

void ccm_ks_table_plain_row(cJSON *cells, const cJSON *object, int64_t now_ms)
{
    cell_name(cells, object);
    cell_age(cells, object, now_ms);
}

void ccm_ks_table_config_map_row(cJSON *cells, const cJSON *object, int64_t now_ms)
{
    char count[16];

    ccm_text_printf(count, sizeof(count), "%d",
                    cJSON_GetArraySize(ccm_json_get(object, "data")) +
                        cJSON_GetArraySize(ccm_json_get(object, "binaryData")));
    cell_name(cells, object);
    cell(cells, count);
    cell_age(cells, object, now_ms);
}

void ccm_ks_table_secret_row(cJSON *cells, const cJSON *object, int64_t now_ms)
{
    char count[16];

    ccm_text_printf(count, sizeof(count), "%d", cJSON_GetArraySize(ccm_json_get(object, "data")));
    cell_name(cells, object);
    cell(cells, ccm_json_text(object, "type"));
    cell(cells, count);
    cell_age(cells, object, now_ms);
}

void ccm_ks_table_ingress_row(cJSON *cells, const cJSON *object, int64_t now_ms)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf hosts = { .max = 65536 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf addresses = { .max = 65536 };
    const cJSON *spec = ccm_json_get(object, "spec");
    const cJSON *item;

    cJSON_ArrayForEach(item, ccm_json_get(spec, "rules"))
    {
        const char *host = ccm_json_text(item, "host");

        ccm_buf_addf(&hosts, "%s%s", hosts.len > 0 ? "," : "", host[0] == '\0' ? "*" : host);
    }
    cJSON_ArrayForEach(item, ccm_json_path(object, "status", "loadBalancer", "ingress", NULL))
    {
        const char *ip = ccm_json_text(item, "ip");

        ccm_buf_addf(&addresses, "%s%s", addresses.len > 0 ? "," : "",
                     ip[0] == '\0' ? ccm_json_text(item, "hostname") : ip);
    }
    cell_name(cells, object);
    cell_or(cells, ccm_json_str(spec, "ingressClassName"), "<none>");
    cell_or(cells, ccm_buf_str(&hosts), "*");
    cell(cells, ccm_buf_str(&addresses));
    cell(cells, ccm_json_items(spec, "tls") == NULL ? "80" : "80, 443");
    cell_age(cells, object, now_ms);
}

/* A list of at most three, then "+ N more...". */
struct some {
    struct ccm_buf text;
    int count;
};

static void some_add(struct some *some, const char *item, const char *suffix)
{
    if (some->count++ < 3) {
        ccm_buf_addf(&some->text, "%s%s%s", some->count > 1 ? "," : "", item, suffix);
    }
}

static void some_cell(cJSON *cells, struct some *some, const char *otherwise)
{
    if (some->count > 3) {
        ccm_buf_addf(&some->text, " + %d more...", some->count - 3);
    }
    cell_or(cells, ccm_buf_str(&some->text), otherwise);
    ccm_buf_fini(&some->text);
}

static void some_subset(struct some *some, const cJSON *subset)
{
    const cJSON *ports = ccm_json_get(subset, "ports");
    const cJSON *address;
    const cJSON *port;

    cJSON_ArrayForEach(address, ccm_json_get(subset, "addresses"))
    {
        if (ports == NULL) {
            some_add(some, ccm_json_text(address, "ip"), "");
        }
        cJSON_ArrayForEach(port, ports)
        {
            char suffix[16];

            (void)snprintf(suffix, sizeof(suffix), ":%d", (int)ccm_json_i64(port, "port", 0));
            some_add(some, ccm_json_text(address, "ip"), suffix); /* snprintf: fits */
        }
    }
}

void ccm_ks_table_endpoints_row(cJSON *cells, const cJSON *object, int64_t now_ms)
{
    struct some some = { .text = { .max = 4096 } };
    const cJSON *subset;

    cJSON_ArrayForEach(subset, ccm_json_get(object, "subsets"))
    {
        some_subset(&some, subset);
    }
    cell_name(cells, object);
    some_cell(cells, &some, "<none>");
    cell_age(cells, object, now_ms);
}

void ccm_ks_table_slice_row(cJSON *cells, const cJSON *object, int64_t now_ms)
{
    struct some ports = { .text = { .max = 4096 } };
    struct some endpoints = { .text = { .max = 4096 } };
    const cJSON *item;
    const cJSON *address;

    cJSON_ArrayForEach(item, ccm_json_get(object, "ports"))
    {
        char number[16] = "*";

        if (ccm_json_get(item, "port") != NULL) {
            (void)snprintf(number, sizeof(number), "%d", (int)ccm_json_i64(item, "port", 0));
            some_add(&ports, number, ""); /* snprintf: fits */
        } else {
            some_add(&ports,
                     ccm_text_empty(ccm_json_str(item, "name")) ? "*" : ccm_json_text(item, "name"),
                     "");
        }
    }
    cJSON_ArrayForEach(item, ccm_json_get(object, "endpoints"))
    {
        cJSON_ArrayForEach(address, ccm_json_get(item, "addresses"))
        {
            some_add(&endpoints, address->valuestring, "");
        }
    }
    cell_name(cells, object);
    cell(cells, ccm_json_text(object, "addressType"));
    some_cell(cells, &ports, "<unset>");
    some_cell(cells, &endpoints, "<unset>");
    cell_age(cells, object, now_ms);
}

static void event_object(cJSON *cells, const cJSON *involved)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 4096 };

    for (const char *p = ccm_json_text(involved, "kind"); *p != '\0'; p++) {
        ccm_buf_addc(&text, (char)tolower((unsigned char)*p));
    }
    if (ccm_json_text(involved, "name")[0] != '\0') {
        ccm_buf_addf(&text, "/%s", ccm_json_text(involved, "name"));
    }
    cell(cells, ccm_buf_str(&text));
}

void ccm_ks_table_event_row(cJSON *cells, const cJSON *object, int64_t now_ms)
{
    const cJSON *series = ccm_json_get(object, "series");
    const cJSON *source = ccm_json_get(object, "source");
    const char *first = ccm_json_str(object, "firstTimestamp");
    const char *last = ccm_json_str(object, "lastTimestamp");
    int64_t count = ccm_json_i64(object, "count", 0);
    const char *component = ccm_json_text(source, "component");

    first = first == NULL ? ccm_json_str(object, "eventTime") : first;
    last = last == NULL ? first : last;
    if (series != NULL) {
        last = ccm_json_str(series, "lastObservedTime");
        count = ccm_json_i64(series, "count", 0);
    }
    cell_since(cells, last, now_ms);
    cell(cells, ccm_json_text(object, "type"));
    cell(cells, ccm_json_text(object, "reason"));
    event_object(cells, ccm_json_get(object, "involvedObject"));
    cell(cells, ccm_json_text(ccm_json_get(object, "involvedObject"), "fieldPath"));
    cell(cells, component[0] == '\0' ? ccm_json_text(object, "reportingComponent") : component);
    cell(cells, ccm_json_text(object, "message"));
    cell_since(cells, first, now_ms);
    (void)cJSON_AddItemToArray(cells, cJSON_CreateNumber(count == 0 ? 1 : (double)count));
    /* ENOMEM: see jx.h */
    cell_name(cells, object);
}

void ccm_ks_table_lease_row(cJSON *cells, const cJSON *object, int64_t now_ms)
{
    cell_name(cells, object);
    cell(cells, ccm_json_text(ccm_json_get(object, "spec"), "holderIdentity"));
    cell_age(cells, object, now_ms);
}

void ccm_ks_table_namespace_row(cJSON *cells, const cJSON *object, int64_t now_ms)
{
    cell_name(cells, object);
    cell(cells, ccm_json_text(ccm_json_get(object, "status"), "phase"));
    cell_age(cells, object, now_ms);
}

static void node_status(cJSON *cells, const cJSON *object)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 256 };
    const cJSON *condition;

    cJSON_ArrayForEach(condition, ccm_json_path(object, "status", "conditions", NULL))
    {
        if (strcmp(ccm_json_text(condition, "type"), "Ready") == 0) {
            ccm_buf_adds(&text, strcmp(ccm_json_text(condition, "status"), "True") == 0
                                    ? "Ready"
                                    : "NotReady");
        }
    }
    if (text.len == 0) {
        ccm_buf_adds(&text, "Unknown");
    }
    if (ccm_json_bool(ccm_json_get(object, "spec"), "unschedulable", false)) {
        ccm_buf_adds(&text, ",SchedulingDisabled");
    }
    cell_buf(cells, &text);
}

static void node_roles(cJSON *cells, const cJSON *object)
{
    static const char *const prefix = "node-role.kubernetes.io/";
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 4096 };
    const cJSON *label;

    cJSON_ArrayForEach(label, ccm_json_path(object, "metadata", "labels", NULL))
    {
        const char *role = "";

        if (ccm_text_starts(label->string, prefix)) {
            role = label->string + strlen(prefix);
        } else if (strcmp(label->string, "kubernetes.io/role") == 0) {
            role = label->valuestring;
        }
        if (role[0] != '\0') {
            ccm_buf_addf(&text, "%s%s", text.len > 0 ? "," : "", role);
        }
    }
    cell_buf(cells, &text);
}

static void node_address(cJSON *cells, const cJSON *object, const char *type)
{
    const cJSON *address;

    cJSON_ArrayForEach(address, ccm_json_path(object, "status", "addresses", NULL))
    {
        if (strcmp(ccm_json_text(address, "type"), type) == 0) {
            cell(cells, ccm_json_text(address, "address"));
            return;
        }
    }
    cell(cells, "<none>");
}

void ccm_ks_table_node_row(cJSON *cells, const cJSON *object, int64_t now_ms)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf kernel = { .max = 1024 };
    const cJSON *info = ccm_json_path(object, "status", "nodeInfo", NULL);

    cell_name(cells, object);
    node_status(cells, object);
    node_roles(cells, object);
    cell_age(cells, object, now_ms);
    cell(cells, ccm_json_text(info, "kubeletVersion"));
    node_address(cells, object, "InternalIP");
    node_address(cells, object, "ExternalIP");
    cell_or(cells, ccm_json_str(info, "osImage"), "<unknown>");
    ccm_buf_adds(&kernel, ccm_json_text(info, "kernelVersion"));
    if (kernel.len > 0 && ccm_json_text(info, "architecture")[0] != '\0') {
        ccm_buf_addf(&kernel, " (%s)", ccm_json_text(info, "architecture"));
    }
    cell_or(cells, ccm_buf_str(&kernel), "<unknown>");
    cell_or(cells, ccm_json_str(info, "containerRuntimeVersion"), "<unknown>");
}

static void pod_gates(cJSON *cells, const cJSON *object)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 64 };
    const cJSON *conditions = ccm_json_path(object, "status", "conditions", NULL);
    const cJSON *gate;
    const cJSON *condition;
    int total = 0;
    int good = 0;

    cJSON_ArrayForEach(gate, ccm_json_path(object, "spec", "readinessGates", NULL))
    {
        total++;
        cJSON_ArrayForEach(condition, conditions)
        {
            if (ccm_text_equal(ccm_json_str(condition, "type"),
                               ccm_json_str(gate, "conditionType")) &&
                strcmp(ccm_json_text(condition, "status"), "True") == 0) {
                good++;
            }
        }
    }
    if (total > 0) {
        ccm_buf_addf(&text, "%d/%d", good, total);
    }
    cell_buf(cells, &text);
}

void ccm_ks_table_pod_row(cJSON *cells, const cJSON *object, int64_t now_ms)
{
    const cJSON *meta = ccm_json_get(object, "metadata");
    const cJSON *status = ccm_json_get(object, "status");
    const cJSON *item;
    const char *reason = ccm_json_str(status, "reason");
    int64_t restarts = 0;
    int ready = 0;
    char text[48];

    cJSON_ArrayForEach(item, ccm_json_get(status, "containerStatuses"))
    {
        ready += ccm_json_bool(item, "ready", false) ? 1 : 0;
        restarts += ccm_json_i64(item, "restartCount", 0);
    }
    cell_name(cells, object);
    (void)snprintf(text, sizeof(text), "%d/%d", ready,
                   cJSON_GetArraySize(ccm_json_path(object, "spec", "containers", NULL)));
    cell(cells, text); /* snprintf: fits */
    if (ccm_json_get(meta, "deletionTimestamp") != NULL) {
        cell(cells, "Terminating");
    } else {
        cell(cells, reason != NULL ? reason : ccm_json_text(status, "phase"));
    }
    ccm_text_printf(text, sizeof(text), "%" PRId64, restarts);
    cell(cells, text);
    cell_age(cells, object, now_ms);
    cell_or(cells, ccm_json_str(status, "podIP"), "<none>");
    cell_or(cells, ccm_json_str(ccm_json_get(object, "spec"), "nodeName"), "<none>");
    cell_or(cells, ccm_json_str(status, "nominatedNodeName"), "<none>");
    pod_gates(cells, object);
}

static void join(struct ccm_buf *buf, const char *text)
{
    if (!ccm_text_empty(text)) {
        ccm_buf_addf(buf, "%s%s", buf->len > 0 ? "," : "", text);
    }
}

static void service_external(cJSON *cells, const cJSON *object)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 65536 };
    const cJSON *spec = ccm_json_get(object, "spec");
    const char *type = ccm_json_text(spec, "type");
    const cJSON *item;

    if (strcmp(type, "ExternalName") == 0) {
        cell(cells, ccm_json_text(spec, "externalName"));
        return;
    }
    if (strcmp(type, "LoadBalancer") == 0) {
        cJSON_ArrayForEach(item, ccm_json_path(object, "status", "loadBalancer", "ingress", NULL))
        {
            const char *ip = ccm_json_text(item, "ip");

            join(&text, ip[0] != '\0' ? ip : ccm_json_text(item, "hostname"));
        }
    }
    cJSON_ArrayForEach(item, ccm_json_get(spec, "externalIPs"))
    {
        join(&text, item->valuestring);
    }
    cell_or(cells, ccm_buf_str(&text), strcmp(type, "LoadBalancer") == 0 ? "<pending>" : "<none>");
}

static void service_ports(cJSON *cells, const cJSON *spec)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 65536 };
    const cJSON *port;

    cJSON_ArrayForEach(port, ccm_json_get(spec, "ports"))
    {
        ccm_buf_addf(&text, "%s%d", text.len > 0 ? "," : "", (int)ccm_json_i64(port, "port", 0));
        if (ccm_json_i64(port, "nodePort", 0) != 0) {
            ccm_buf_addf(&text, ":%d", (int)ccm_json_i64(port, "nodePort", 0));
        }
        ccm_buf_addf(&text, "/%s", ccm_json_text(port, "protocol"));
    }
    cell_buf(cells, &text);
}

void ccm_ks_table_service_row(cJSON *cells, const cJSON *object, int64_t now_ms)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf selector = { .max = 65536 };
    const cJSON *spec = ccm_json_get(object, "spec");
    const cJSON *item;

    cell_name(cells, object);
    cell(cells, ccm_json_text(spec, "type"));
    cell_or(cells, ccm_json_str(spec, "clusterIP"), "<none>");
    service_external(cells, object);
    service_ports(cells, spec);
    cell_age(cells, object, now_ms);
    cJSON_ArrayForEach(item, ccm_json_get(spec, "selector"))
    {
        ccm_buf_addf(&selector, "%s%s=%s", selector.len > 0 ? "," : "", item->string,
                     item->valuestring);
    }
    cell_buf(cells, &selector);
}

/* "spec.a.b"; NULL = not there, or a path of another form. */
static const cJSON *find_path(const cJSON *object, const char *path)
{
    while (object != NULL && *path != '\0') {
        const size_t n = strcspn(path, ".");
        CCM_CLEANUP(ccm_freep) char *name = strndup(path, n);

        object = name == NULL ? NULL : ccm_json_get(object, name);
        path += path[n] == '.' ? n + 1 : n;
    }
    return object;
}

static void row_by_paths(cJSON *cells, const struct ccm_ks_column *columns, const cJSON *object)
{
    for (const struct ccm_ks_column *c = columns; c->name != NULL; c++) {
        const cJSON *value = find_path(object, c->path);
        int64_t then;

        if (strcmp(c->type, "date") == 0 && cJSON_IsString(value) &&
            ccm_parse_rfc3339(value->valuestring, &then) == 0) {
            char text[32];

            ccm_ks_table_span(ccm_clock_wall_ms() - then, text, sizeof(text));
            cell(cells, text);
        } else {
            (void)cJSON_AddItemToArray(cells,
                                       value == NULL ? cJSON_CreateNull() : ccm_ks_jx_dup(value));
            /* ENOMEM: see jx.h */
        }
    }
}

void ccm_ks_table_head(struct ccm_buf *buf, const struct ccm_ks_kind *kind, bool columns)
{
    ccm_buf_adds(buf, "\"columnDefinitions\":");
    if (!columns) {
        ccm_buf_adds(buf, "null,\"rows\":");
        return;
    }
    ccm_buf_addc(buf, '[');
    for (const struct ccm_ks_column *c = kind->columns; c->name != NULL; c++) {
        ccm_buf_addf(buf,
                     "%s{\"name\":\"%s\",\"type\":\"%s\",\"format\":\"%s\",\"description\":\"%s\","
                     "\"priority\":%d}",
                     c == kind->columns ? "" : ",", c->name, c->type, c->format, c->name,
                     c->priority);
    }
    ccm_buf_adds(buf, "],\"rows\":");
}

void ccm_ks_table_metadata(struct ccm_buf *buf, const cJSON *object)
{
    ccm_buf_adds(buf, "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\","
                      "\"metadata\":");
    ccm_ks_jx_print(buf, ccm_json_get(object, "metadata"));
    ccm_buf_addc(buf, '}');
}

void ccm_ks_table_row(struct ccm_buf *buf, const struct ccm_ks_kind *kind, const cJSON *object,
                      enum ccm_ks_include include)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *cells = cJSON_CreateArray();

    if (kind->row != NULL) {
        kind->row(cells, object, ccm_clock_wall_ms());
    } else {
        row_by_paths(cells, kind->columns, object);
    }
    ccm_buf_adds(buf, "{\"cells\":");
    ccm_ks_jx_print(buf, cells);
    ccm_buf_adds(buf, ",\"object\":");
    if (include == CCM_KS_INCLUDE_NONE) {
        ccm_buf_adds(buf, "null");
    } else if (include == CCM_KS_INCLUDE_OBJECT) {
        ccm_ks_object_print_json(object, kind, true, buf);
    } else {
        ccm_ks_table_metadata(buf, object);
    }
    ccm_buf_addc(buf, '}');
}
