#include "discovery.h"

#include "call.h"
#include "catalog.h"
#include "status.h"
#include "util/clock.h"
#include "util/jsonw.h"
#include "util/text.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#define MINOR        "36"
#define OLDER        "35"
#define OPENAPI_V2   "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
#define AGGREGATED   "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
#define AGGREGATED_1 "v=v2;as=APIGroupDiscoveryList"

static const char *const verbs[] = { "create", "delete", "deletecollection", "get",
                                     "list",   "patch",  "update",           "watch" };

static void write_verbs(struct ccm_jsonw *w, const struct ccm_ks_kind *kind)
{
    ccm_jsonw_open(w, "verbs", '[');
    for (size_t i = 0; i < CCM_ARRAY_LEN(verbs); i++) {
        if ((kind->traits & CCM_KS_NO_DELETECOLLECTION) == 0 ||
            strcmp(verbs[i], "deletecollection") != 0) {
            ccm_jsonw_str(w, NULL, verbs[i]);
        }
    }
    ccm_jsonw_close(w, ']');
}

static void write_texts(struct ccm_jsonw *w, const char *key, const char *const *texts)
{
    if (texts == NULL) {
        return;
    }
    ccm_jsonw_open(w, key, '[');
    for (; *texts != NULL; texts++) {
        ccm_jsonw_str(w, NULL, *texts);
    }
    ccm_jsonw_close(w, ']');
}

static void write_sub_verbs(struct ccm_jsonw *w)
{
    ccm_jsonw_open(w, "verbs", '[');
    ccm_jsonw_str(w, NULL, "get");
    ccm_jsonw_str(w, NULL, "patch");
    ccm_jsonw_str(w, NULL, "update");
    ccm_jsonw_close(w, ']');
}

static void write_response_kind(struct ccm_jsonw *w, const struct ccm_ks_kind *kind)
{
    ccm_jsonw_open(w, "responseKind", '{');
    ccm_jsonw_str(w, "group", kind->bucket < CCM_KS_CUSTOM ? "" : kind->group);
    ccm_jsonw_str(w, "version", kind->bucket < CCM_KS_CUSTOM ? "" : kind->version);
    ccm_jsonw_str(w, "kind", kind->kind);
    ccm_jsonw_close(w, '}');
}

static void write_aggregated_resource(struct ccm_jsonw *w, const struct ccm_ks_kind *kind)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "resource", kind->plural);
    write_response_kind(w, kind);
    ccm_jsonw_str(w, "scope", kind->namespaced ? "Namespaced" : "Cluster");
    ccm_jsonw_str(w, "singularResource", kind->singular);
    write_verbs(w, kind);
    write_texts(w, "shortNames", kind->short_names);
    write_texts(w, "categories", kind->categories);
    if ((kind->traits & CCM_KS_HAS_STATUS) != 0) {
        ccm_jsonw_open(w, "subresources", '[');
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "subresource", "status");
        write_response_kind(w, kind);
        write_sub_verbs(w);
        ccm_jsonw_close(w, '}');
        ccm_jsonw_close(w, ']');
    }
    ccm_jsonw_close(w, '}');
}

static bool is_same_version(const struct ccm_ks_kind *a, const struct ccm_ks_kind *b)
{
    return strcmp(a->group, b->group) == 0 && strcmp(a->version, b->version) == 0;
}

/* Whether this kind is the first of its group and version. */
static bool starts_version(const struct ccm_ks_kinds *kinds, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (is_same_version(kinds->items[k], kinds->items[i])) {
            return false;
        }
    }
    return true;
}

/* Whether this kind is the first of its group, and its group has a name. */
static bool starts_named_group(const struct ccm_ks_kinds *kinds, size_t i)
{
    const char *group = kinds->items[i]->group;

    if (group[0] == '\0') {
        return false;
    }
    for (size_t k = 0; k < i; k++) {
        if (strcmp(kinds->items[k]->group, group) == 0) {
            return false;
        }
    }
    return true;
}

static void write_aggregated_version(struct ccm_jsonw *w, const struct ccm_ks_kinds *kinds,
                                     const struct ccm_ks_kind *first)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "version", first->version);
    ccm_jsonw_open(w, "resources", '[');
    for (size_t i = 0; i < kinds->len; i++) {
        if (is_same_version(kinds->items[i], first)) {
            write_aggregated_resource(w, kinds->items[i]);
        }
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_str(w, "freshness", "Current");
    ccm_jsonw_close(w, '}');
}

static void write_aggregated_group(struct ccm_jsonw *w, const struct ccm_ks_kinds *kinds,
                                   const char *group)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_open(w, "metadata", '{');
    if (group[0] != '\0') {
        ccm_jsonw_str(w, "name", group);
    }
    ccm_jsonw_close(w, '}');
    ccm_jsonw_open(w, "versions", '[');
    for (size_t i = 0; i < kinds->len; i++) {
        if (strcmp(kinds->items[i]->group, group) == 0 && starts_version(kinds, i)) {
            write_aggregated_version(w, kinds, kinds->items[i]);
        }
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

static void write_aggregated(struct ccm_sim_reply *reply, bool core)
{
    const struct ccm_ks_kinds *kinds = ccm_ks_catalog_now();
    struct ccm_jsonw w = { .buf = &reply->body };

    reply->content_type = AGGREGATED;
    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "kind", "APIGroupDiscoveryList");
    ccm_jsonw_str(&w, "apiVersion", "apidiscovery.k8s.io/v2");
    ccm_jsonw_raw(&w, "metadata", "{}");
    ccm_jsonw_open(&w, "items", '[');
    if (core) {
        write_aggregated_group(&w, kinds, "");
    }
    for (size_t i = 0; !core && i < kinds->len; i++) {
        if (starts_named_group(kinds, i)) {
            write_aggregated_group(&w, kinds, kinds->items[i]->group);
        }
    }
    ccm_jsonw_close(&w, ']');
    ccm_jsonw_close(&w, '}');
}

static void write_group_version(struct ccm_jsonw *w, const char *key,
                                const struct ccm_ks_kind *kind)
{
    struct ccm_buf text = { .max = 256 };

    ccm_ks_kind_api_version(&text, kind);
    ccm_jsonw_open(w, key, '{');
    ccm_jsonw_str(w, "groupVersion", ccm_buf_str(&text));
    ccm_jsonw_str(w, "version", kind->version);
    ccm_jsonw_close(w, '}');
    ccm_buf_fini(&text);
}

/* kind: the first of its group, whose version is preferred. */
static void write_group(struct ccm_jsonw *w, const struct ccm_ks_kinds *kinds,
                        const struct ccm_ks_kind *kind, bool typed)
{
    ccm_jsonw_open(w, NULL, '{');
    if (typed) {
        ccm_jsonw_str(w, "kind", "APIGroup");
        ccm_jsonw_str(w, "apiVersion", "v1");
    }
    ccm_jsonw_str(w, "name", kind->group);
    ccm_jsonw_open(w, "versions", '[');
    for (size_t i = 0; i < kinds->len; i++) {
        if (strcmp(kinds->items[i]->group, kind->group) == 0 && starts_version(kinds, i)) {
            write_group_version(w, NULL, kinds->items[i]);
        }
    }
    ccm_jsonw_close(w, ']');
    write_group_version(w, "preferredVersion", kind);
    ccm_jsonw_close(w, '}');
}

/* The tag names the content; who has it already is told so. */
static void add_etag(const struct ccm_sim_request *req, struct ccm_sim_reply *reply)
{
    const char *known = ccm_sim_request_header(req, "if-none-match");
    unsigned char digest[EVP_MAX_MD_SIZE];
    char tag[2 * EVP_MAX_MD_SIZE + 3] = "\"";
    unsigned len = 0;

    if (EVP_Digest(ccm_buf_str(&reply->body), reply->body.len, digest, &len, EVP_sha512(), NULL) !=
        1) {
        return; /* a tag less: every request is answered in full */
    }
    for (unsigned i = 0; i < len; i++) {
        ccm_text_printf(tag + 1 + 2 * i, 3, "%02X", digest[i]);
    }
    memcpy(tag + 1 + 2 * (size_t)len, "\"", 2);
    if (ccm_sim_params_add(&reply->headers, "ETag", tag) < 0 ||
        ccm_sim_params_add(&reply->headers, "Vary", "Accept") < 0) {
        reply->drop = true; /* no memory even for a header */
    }
    if (known != NULL && strcmp(known, tag) == 0) {
        ccm_buf_reset(&reply->body);
        reply->status = 304;
        reply->content_type = NULL;
    }
}

static void answer_api(const struct ccm_sim_request *req, struct ccm_sim_reply *reply, bool core)
{
    const char *accept = ccm_sim_request_header(req, "accept");
    const char *host = ccm_sim_request_header(req, "host");
    const struct ccm_ks_kinds *kinds = ccm_ks_catalog_now();
    struct ccm_jsonw w = { .buf = &reply->body };

    if (accept != NULL && strstr(accept, AGGREGATED_1) != NULL) {
        write_aggregated(reply, core);
        add_etag(req, reply);
        return;
    }
    if (ccm_ks_call_form(accept) == CCM_KS_FORM_NONE) { /* an older aggregated form and no other */
        ccm_ks_status(reply, 406, "NotAcceptable", NULL,
                      "only the following media types are accepted: application/json");
        return;
    }
    ccm_jsonw_open(&w, NULL, '{');
    if (core) {
        ccm_jsonw_str(&w, "kind", "APIVersions");
        ccm_jsonw_raw(&w, "versions", "[\"v1\"]");
        ccm_jsonw_open(&w, "serverAddressByClientCIDRs", '[');
        ccm_jsonw_open(&w, NULL, '{');
        ccm_jsonw_str(&w, "clientCIDR", "0.0.0.0/0");
        ccm_jsonw_str(&w, "serverAddress", host == NULL ? "" : host);
        ccm_jsonw_close(&w, '}');
        ccm_jsonw_close(&w, ']');
    } else {
        ccm_jsonw_str(&w, "kind", "APIGroupList");
        ccm_jsonw_str(&w, "apiVersion", "v1");
        ccm_jsonw_open(&w, "groups", '[');
        for (size_t i = 0; i < kinds->len; i++) {
            if (starts_named_group(kinds, i)) {
                write_group(&w, kinds, kinds->items[i], false);
            }
        }
        ccm_jsonw_close(&w, ']');
    }
    ccm_jsonw_close(&w, '}');
}

static void write_resource(struct ccm_jsonw *w, const struct ccm_ks_kind *kind, bool status)
{
    char name[96];

    ccm_text_copy(name, sizeof(name), kind->plural);
    if (status) {
        ccm_text_copy(name + strlen(name), sizeof(name) - strlen(name), "/status");
    }
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "name", name);
    ccm_jsonw_str(w, "singularName", status ? "" : kind->singular);
    ccm_jsonw_bool(w, "namespaced", kind->namespaced);
    ccm_jsonw_str(w, "kind", kind->kind);
    if (status) {
        write_sub_verbs(w);
    } else {
        write_verbs(w, kind);
        write_texts(w, "shortNames", kind->short_names);
        write_texts(w, "categories", kind->categories);
    }
    ccm_jsonw_close(w, '}');
}

static void answer_resources(struct ccm_sim_reply *reply, const struct ccm_ks_kind *first)
{
    const struct ccm_ks_kinds *kinds = ccm_ks_catalog_now();
    struct ccm_jsonw w = { .buf = &reply->body };
    struct ccm_buf version = { .max = 256 };

    ccm_ks_kind_api_version(&version, first);
    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "kind", "APIResourceList");
    if (first->group[0] != '\0') {
        ccm_jsonw_str(&w, "apiVersion", "v1");
    }
    ccm_jsonw_str(&w, "groupVersion", ccm_buf_str(&version));
    ccm_jsonw_open(&w, "resources", '[');
    for (size_t i = 0; i < kinds->len; i++) {
        if (!is_same_version(kinds->items[i], first)) {
            continue;
        }
        write_resource(&w, kinds->items[i], false);
        if ((kinds->items[i]->traits & CCM_KS_HAS_STATUS) != 0) {
            write_resource(&w, kinds->items[i], true);
        }
    }
    ccm_jsonw_close(&w, ']');
    ccm_jsonw_close(&w, '}');
    ccm_buf_fini(&version);
}

static void answer_version(struct ccm_sim_reply *reply)
{
    struct ccm_jsonw w = { .buf = &reply->body };

    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "major", "1");
    ccm_jsonw_str(&w, "minor", MINOR);
    ccm_jsonw_str(&w, "emulationMajor", "1");
    ccm_jsonw_str(&w, "emulationMinor", MINOR);
    ccm_jsonw_str(&w, "minCompatibilityMajor", "1");
    ccm_jsonw_str(&w, "minCompatibilityMinor", OLDER);
    ccm_jsonw_str(&w, "gitVersion", "v1." MINOR ".0-kubesim");
    ccm_jsonw_str(&w, "gitCommit", "");
    ccm_jsonw_str(&w, "gitTreeState", "");
    ccm_jsonw_str(&w, "buildDate", "1970-01-01T00:00:00Z");
    ccm_jsonw_str(&w, "goVersion", "");
    ccm_jsonw_str(&w, "compiler", "");
    ccm_jsonw_str(&w, "platform", "linux/amd64");
    ccm_jsonw_close(&w, '}');
}

/* "api/v1" or "apis/coordination.k8s.io/v1". */
static void print_group_path(struct ccm_buf *buf, const struct ccm_ks_kind *kind)
{
    ccm_buf_adds(buf, kind->group[0] == '\0' ? "api/" : "apis/");
    ccm_ks_kind_api_version(buf, kind);
}

static void answer_openapi_index(struct ccm_sim_reply *reply)
{
    const struct ccm_ks_kinds *kinds = ccm_ks_catalog_now();
    struct ccm_jsonw w = { .buf = &reply->body };

    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_open(&w, "paths", '{');
    for (size_t i = 0; i < kinds->len; i++) {
        struct ccm_buf path = { .max = 256 };
        struct ccm_buf url = { .max = 512 };

        if (!starts_version(kinds, i)) {
            continue;
        }
        print_group_path(&path, kinds->items[i]);
        ccm_buf_addf(&url, "/openapi/v3/%s?hash=%zu", ccm_buf_str(&path), kinds->len);
        ccm_jsonw_open(&w, ccm_buf_str(&path), '{');
        ccm_jsonw_str(&w, "serverRelativeURL", ccm_buf_str(&url));
        ccm_jsonw_close(&w, '}');
        ccm_buf_fini(&path);
        ccm_buf_fini(&url);
    }
    ccm_jsonw_close(&w, '}');
    ccm_jsonw_close(&w, '}');
}

static void write_openapi_kind(struct ccm_jsonw *w, const struct ccm_ks_kind *kind)
{
    struct ccm_buf path = { .max = 256 };

    ccm_buf_addc(&path, '/');
    print_group_path(&path, kind);
    ccm_buf_addf(&path, "%s/%s/{name}", kind->namespaced ? "/namespaces/{namespace}" : "",
                 kind->plural);
    ccm_jsonw_open(w, ccm_buf_str(&path), '{');
    ccm_jsonw_open(w, "patch", '{');
    ccm_jsonw_str(w, "x-kubernetes-action", "patch");
    ccm_jsonw_open(w, "x-kubernetes-group-version-kind", '{');
    ccm_jsonw_str(w, "group", kind->group);
    ccm_jsonw_str(w, "version", kind->version);
    ccm_jsonw_str(w, "kind", kind->kind);
    ccm_jsonw_close(w, '}');
    ccm_jsonw_raw(w, "parameters",
                  "[{\"name\":\"dryRun\",\"in\":\"query\",\"schema\":{\"type\":\"string\"}},"
                  "{\"name\":\"fieldValidation\",\"in\":\"query\",\"schema\":{\"type\":"
                  "\"string\"}}]");
    ccm_jsonw_raw(w, "responses", "{}");
    ccm_jsonw_close(w, '}');
    ccm_jsonw_close(w, '}');
    ccm_buf_fini(&path);
}

/* What kubectl needs to know: that the server validates fields itself. */
static void answer_openapi_group(struct ccm_sim_reply *reply, const struct ccm_ks_kind *first)
{
    const struct ccm_ks_kinds *kinds = ccm_ks_catalog_now();
    struct ccm_jsonw w = { .buf = &reply->body };

    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "openapi", "3.0.0");
    ccm_jsonw_raw(&w, "info", "{\"title\":\"Kubernetes\",\"version\":\"1." MINOR "\"}");
    ccm_jsonw_open(&w, "paths", '{');
    for (size_t i = 0; i < kinds->len; i++) {
        if (is_same_version(kinds->items[i], first)) {
            write_openapi_kind(&w, kinds->items[i]);
        }
    }
    ccm_jsonw_close(&w, '}');
    ccm_jsonw_close(&w, '}');
}

/*
 * Version 2 in its binary form: an empty document, which names no model. A client that validates by
 * it finds no model for what it sends and leaves the validation to the server.
 */
static void answer_openapi_v2(const struct ccm_sim_request *req, struct ccm_sim_reply *reply)
{
    const char *accept = ccm_sim_request_header(req, "accept");

    if (accept != NULL && strstr(accept, "protobuf") != NULL) {
        reply->content_type = OPENAPI_V2;
        return;
    }
    ccm_buf_adds(&reply->body, "{\"swagger\":\"2.0\",\"info\":{\"title\":\"Kubernetes\","
                               "\"version\":\"1." MINOR "\"},\"paths\":{},\"definitions\":{}}");
}

/* The first kind of the group that a path names after its prefix ("api/v1", "apis/GROUP/v1"), or
 * NULL. */
static const struct ccm_ks_kind *group_of_path(const char *path, bool whole_version)
{
    const struct ccm_ks_kinds *kinds = ccm_ks_catalog_now();

    for (size_t i = 0; i < kinds->len; i++) {
        struct ccm_buf own = { .max = 256 };
        bool same;

        print_group_path(&own, kinds->items[i]);
        if (!whole_version && kinds->items[i]->group[0] != '\0') {
            ccm_buf_reset(&own);
            ccm_buf_addf(&own, "apis/%s", kinds->items[i]->group);
        }
        same = strcmp(ccm_buf_str(&own), path) == 0;
        ccm_buf_fini(&own);
        if (same) {
            return kinds->items[i];
        }
    }
    return NULL;
}

static bool is_health(const char *path)
{
    return strcmp(path, "/healthz") == 0 || strcmp(path, "/livez") == 0 ||
           strcmp(path, "/readyz") == 0;
}

int ccm_ks_discovery(const struct ccm_sim_request *req, struct ccm_sim_reply *reply)
{
    const char *path = req->path;
    const char *inner = path + (path[0] == '/' ? 1 : 0);
    const struct ccm_ks_kind *kind;

    if (is_health(path)) {
        reply->content_type = "text/plain; charset=utf-8";
        ccm_buf_adds(&reply->body, "ok");
    } else if (strcmp(path, "/version") == 0) {
        answer_version(reply);
    } else if (strcmp(path, "/api") == 0 || strcmp(path, "/apis") == 0) {
        answer_api(req, reply, path[4] == '\0');
    } else if (strcmp(path, "/openapi/v2") == 0) {
        answer_openapi_v2(req, reply);
    } else if (strcmp(path, "/openapi/v3") == 0) {
        answer_openapi_index(reply);
    } else if (ccm_text_starts(path, "/openapi/v3/")) {
        kind = group_of_path(path + strlen("/openapi/v3/"), true);
        if (kind == NULL) {
            return -ENOENT;
        }
        answer_openapi_group(reply, kind);
    } else if ((kind = group_of_path(inner, true)) != NULL) {
        answer_resources(reply, kind);
    } else if ((kind = group_of_path(inner, false)) != NULL && kind->group[0] != '\0') {
        struct ccm_jsonw w = { .buf = &reply->body };

        write_group(&w, ccm_ks_catalog_now(), kind, true);
    } else {
        return -ENOENT;
    }
    return 0;
}
