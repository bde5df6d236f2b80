#include "call.h"

#include "catalog.h"
#include "status.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SEGMENTS_MAX 8

struct path {
    char *text; /* cut at each '/' */
    char *items[SEGMENTS_MAX];
    size_t len;
};

/* The path without its first '/', cut into segments. 0, -ENOMEM, -E2BIG. */
static int split(const char *text, struct path *path)
{
    path->text = strdup(text);
    if (path->text == NULL) {
        return -ENOMEM;
    }
    for (char *p = path->text; *p != '\0'; p++) {
        if (*p != '/') {
            continue;
        }
        *p = '\0';
        if (p[1] == '\0') {
            break;
        }
        if (path->len == SEGMENTS_MAX) {
            return -E2BIG;
        }
        path->items[path->len++] = p + 1;
    }
    return 0;
}

static void path_fini(struct path *path)
{
    free(path->text);
}

static bool part_is(const struct path *path, size_t i, const char *text)
{
    return i < path->len && strcmp(path->items[i], text) == 0;
}

static const char *part(const struct path *path, size_t i)
{
    return i < path->len ? path->items[i] : "";
}

bool ccm_ks_call_flag(const struct ccm_sim_request *req, const char *name)
{
    const char *value = ccm_sim_params_get(&req->query, name);

    return value != NULL && strcmp(value, "0") != 0 && !ccm_text_equal_case(value, "false");
}

static enum ccm_ks_verb verb_of(const struct ccm_sim_request *req, bool named, bool old_watch)
{
    const char *method = req->method;

    if (strcmp(method, "GET") == 0) {
        if (old_watch || (!named && ccm_ks_call_flag(req, "watch"))) {
            return CCM_KS_VERB_WATCH;
        }
        return named ? CCM_KS_VERB_GET : CCM_KS_VERB_LIST;
    }
    if (strcmp(method, "POST") == 0) {
        return named ? CCM_KS_VERB_OTHER : CCM_KS_VERB_CREATE;
    }
    if (strcmp(method, "PUT") == 0) {
        return named ? CCM_KS_VERB_UPDATE : CCM_KS_VERB_OTHER;
    }
    if (strcmp(method, "PATCH") == 0) {
        return named ? CCM_KS_VERB_PATCH : CCM_KS_VERB_OTHER;
    }
    if (strcmp(method, "DELETE") == 0) {
        return named ? CCM_KS_VERB_DELETE : CCM_KS_VERB_DELETECOLLECTION;
    }
    return CCM_KS_VERB_OTHER;
}

static bool has_sub(const struct ccm_ks_kind *kind, const char *sub)
{
    if (strcmp(sub, "status") == 0) {
        return (kind->traits & CCM_KS_HAS_STATUS) != 0;
    }
    return strcmp(sub, "finalize") == 0 && kind->bucket == CCM_KS_NAMESPACES;
}

static bool verb_allowed(const struct ccm_ks_call *call)
{
    if (call->verb == CCM_KS_VERB_OTHER) {
        return false;
    }
    if (call->sub[0] != '\0') {
        return call->verb == CCM_KS_VERB_UPDATE ||
               (strcmp(call->sub, "status") == 0 &&
                (call->verb == CCM_KS_VERB_GET || call->verb == CCM_KS_VERB_PATCH));
    }
    if (call->kind->namespaced && call->ns[0] == '\0') {
        return call->verb == CCM_KS_VERB_LIST || call->verb == CCM_KS_VERB_WATCH;
    }
    return call->verb != CCM_KS_VERB_DELETECOLLECTION ||
           (call->kind->traits & CCM_KS_NO_DELETECOLLECTION) == 0;
}

/* Segments from `at` on: [namespaces/NS/]PLURAL[/NAME[/SUB]]. */
static int resolve(const struct path *path, size_t at, const char *group, const char *version,
                   struct ccm_ks_call *call)
{
    if (part_is(path, at, "namespaces") && path->len > at + 2 && !part_is(path, at + 2, "status") &&
        !part_is(path, at + 2, "finalize")) {
        ccm_text_copy(call->ns, sizeof(call->ns), part(path, at + 1));
        at += 2;
    }
    call->kind = ccm_ks_kind_find(group, version, part(path, at));
    ccm_text_copy(call->group, sizeof(call->group), group);
    ccm_text_copy(call->resource, sizeof(call->resource), part(path, at));
    ccm_text_copy(call->name, sizeof(call->name), part(path, at + 1));
    ccm_text_copy(call->sub, sizeof(call->sub), part(path, at + 2));
    if (call->kind == NULL || path->len > at + 3 ||
        (call->ns[0] != '\0' && !call->kind->namespaced) ||
        (call->kind->namespaced && call->ns[0] == '\0' && call->name[0] != '\0') ||
        (call->sub[0] != '\0' && !has_sub(call->kind, call->sub))) {
        return -ESRCH;
    }
    return 0;
}

static enum ccm_ks_include include_of(const struct ccm_sim_request *req)
{
    const char *text = ccm_sim_params_text(&req->query, "includeObject");

    if (strcmp(text, "None") == 0) {
        return CCM_KS_INCLUDE_NONE;
    }
    return strcmp(text, "Object") == 0 ? CCM_KS_INCLUDE_OBJECT : CCM_KS_INCLUDE_METADATA;
}

static bool group_exists(const char *group)
{
    const struct ccm_ks_kinds *kinds = ccm_ks_catalog_now();

    for (size_t i = 0; i < kinds->len; i++) {
        if (strcmp(kinds->items[i]->group, group) == 0) {
            return true;
        }
    }
    return false;
}

int ccm_ks_call_parse(const struct ccm_sim_request *req, struct ccm_ks_call *call)
{
    CCM_CLEANUP(path_fini) struct path path = { 0 };
    int r = split(req->path, &path);
    const bool core = part_is(&path, 0, "api");
    size_t at = core ? 2 : 3;

    call->req = req;
    call->verb = CCM_KS_VERB_OTHER;
    call->include = include_of(req);
    call->form = ccm_ks_call_form(ccm_sim_request_header(req, "accept"));
    if (r < 0 || (!core && !part_is(&path, 0, "apis")) || path.len <= at) {
        return -ENOENT;
    }

    const char *group = core ? "" : path.items[1];
    const bool old_watch = part_is(&path, at, "watch");

    at += old_watch ? 1 : 0;
    r = resolve(&path, at, group, path.items[core ? 1 : 2], call);
    call->verb = verb_of(req, call->name[0] != '\0' && !old_watch, old_watch);
    if (!group_exists(group)) {
        return -ENOENT;
    }
    if (r < 0) {
        return r;
    }
    return verb_allowed(call) ? 0 : -EPERM;
}

const char *ccm_ks_call_verb_name(const struct ccm_ks_call *call)
{
    static const char *const names[] = { "GET",    "LIST",  "WATCH",  "CREATE",
                                         "UPDATE", "PATCH", "DELETE", "DELETECOLLECTION" };

    return call->verb == CCM_KS_VERB_OTHER ? call->req->method : names[call->verb];
}

void ccm_ks_call_attributes(const struct ccm_ks_call *call, char verb[32],
                            struct ccm_ks_attributes *ret)
{
    const bool own_namespace = call->group[0] == '\0' && strcmp(call->resource, "namespaces") == 0;

    ccm_text_copy(verb, 32,
                  call->resource[0] == '\0' ? call->req->method : ccm_ks_call_verb_name(call));
    for (char *p = verb; *p != '\0'; p++) {
        *p = (char)tolower((unsigned char)*p);
    }
    *ret = (struct ccm_ks_attributes){
        .verb = verb,
        .group = call->group,
        .resource = call->resource,
        .sub = call->sub,
        .ns = own_namespace ? call->name : call->ns,
        .name = call->name,
        .path = call->req->path,
    };
}

/* Whether one of the parameters of a media type ("a=b;c=d") is `text`. */
static bool has_parameter(const char *start, size_t len, const char *text)
{
    const size_t n = strlen(text);

    for (size_t i = 0; i + n <= len; i++) {
        if (start[i] == ';') {
            size_t k = i + 1;

            while (k < len && start[k] == ' ') {
                k++;
            }
            if (k + n <= len && strncmp(start + k, text, n) == 0 &&
                (k + n == len || start[k + n] == ';' || start[k + n] == ' ')) {
                return true;
            }
        }
    }
    return false;
}

/* Whether a media type wants the answer as something ("as=..."). */
static bool names_form(const char *start, size_t len)
{
    for (size_t i = 0; i + 4 <= len; i++) {
        if (strncmp(start + i, ";as=", 4) == 0) {
            return true;
        }
    }
    return false;
}

static enum ccm_ks_form form_of(const char *start, size_t len)
{
    size_t n = 0;

    while (n < len && start[n] != ';' && start[n] != ' ') {
        n++;
    }

    const bool json = (n == 16 && strncmp(start, "application/json", 16) == 0) ||
                      (n == 13 && strncmp(start, "application/*", 13) == 0) ||
                      (n == 3 && strncmp(start, "*/*", 3) == 0);

    if (!json) {
        return CCM_KS_FORM_NONE;
    }
    if (has_parameter(start, len, "as=Table")) {
        return has_parameter(start, len, "g=meta.k8s.io") ? CCM_KS_FORM_TABLE : CCM_KS_FORM_NONE;
    }
    if (has_parameter(start, len, "as=PartialObjectMetadata") ||
        has_parameter(start, len, "as=PartialObjectMetadataList")) {
        return CCM_KS_FORM_METADATA;
    }
    return names_form(start, len) ? CCM_KS_FORM_NONE : CCM_KS_FORM_JSON;
}

enum ccm_ks_form ccm_ks_call_form(const char *accept)
{
    const char *cursor = accept;
    const char *start;
    size_t len;

    if (ccm_text_empty(accept)) {
        return CCM_KS_FORM_JSON;
    }
    while (ccm_parse_piece(&cursor, ',', &start, &len)) {
        const enum ccm_ks_form form = form_of(start, len);

        if (form != CCM_KS_FORM_NONE) {
            return form;
        }
    }
    return CCM_KS_FORM_NONE;
}

void ccm_ks_call_key(const struct ccm_ks_call *call, const char *name, char key[CCM_KS_KEY_MAX])
{
    ccm_text_printf(key, CCM_KS_KEY_MAX, "%s%s%s", call->ns, call->ns[0] == '\0' ? "" : "/", name);
}

void ccm_ks_call_prefix(const struct ccm_ks_call *call, char prefix[CCM_KS_KEY_MAX])
{
    ccm_ks_call_key(call, "", prefix);
}

int ccm_ks_call_selectors(struct ccm_ks_call *call, struct ccm_ks_selector **ret_labels,
                          struct ccm_ks_selector **ret_fields)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf message = { .max = 65536 };
    const char *labels = ccm_sim_params_text(&call->req->query, "labelSelector");
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf fields = { .max = 65536 };
    int r;

    ccm_buf_adds(&fields, ccm_sim_params_text(&call->req->query, "fieldSelector"));
    if (call->name[0] != '\0') { /* the old form of a watch of one object */
        ccm_buf_addf(&fields, "%smetadata.name=%s", fields.len > 0 ? "," : "", call->name);
    }
    r = ccm_ks_selector_labels(labels, ret_labels, &message);
    if (r == 0) {
        r = ccm_ks_selector_fields(ccm_buf_str(&fields), call->kind->fields, ret_fields, &message);
    }
    if (r < 0) {
        ccm_ks_status_bad_request(call->reply, "%s", ccm_buf_str(&message));
    }
    return r;
}

int ccm_ks_call_number(struct ccm_ks_call *call, const char *name, int64_t fallback, int64_t *ret)
{
    const char *text = ccm_sim_params_text(&call->req->query, name);

    if (text[0] == '\0') {
        *ret = fallback;
        return 0;
    }

    const int r = ccm_parse_i64(text, INT64_MIN, INT64_MAX, ret);

    if (r < 0) {
        ccm_ks_status_bad_request(call->reply, "strconv.ParseInt: parsing \"%s\": %s", text,
                                  r == -ERANGE ? "value out of range" : "invalid syntax");
    }
    return r;
}

static void answer_table(struct ccm_ks_call *call, const cJSON *object)
{
    struct ccm_buf *body = &call->reply->body;
    const char *version = ccm_json_text(ccm_json_get(object, "metadata"), "resourceVersion");

    ccm_buf_addf(body,
                 "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":"
                 "{\"resourceVersion\":\"%s\"},",
                 version);
    ccm_ks_table_head(body, call->kind, true);
    ccm_buf_addc(body, '[');
    ccm_ks_table_row(body, call->kind, object, call->include);
    ccm_buf_adds(body, "]}\n");
}

void ccm_ks_call_answer(struct ccm_ks_call *call, unsigned status, const cJSON *object)
{
    call->reply->status = status;
    if (call->form == CCM_KS_FORM_TABLE) {
        answer_table(call, object);
    } else if (call->form == CCM_KS_FORM_METADATA) {
        ccm_ks_table_metadata(&call->reply->body, object);
        ccm_buf_addc(&call->reply->body, '\n');
    } else {
        ccm_ks_object_print_json(object, call->kind, true, &call->reply->body);
        ccm_buf_addc(&call->reply->body, '\n');
    }
}

void ccm_ks_call_answer_stored(struct ccm_ks_call *call, unsigned status,
                               struct ccm_ks_object *object)
{
    if (call->form != CCM_KS_FORM_JSON) {
        ccm_ks_call_answer(call, status, object->json);
        return;
    }
    call->reply->status = status;
    ccm_ks_object_print(object, call->kind, true, &call->reply->body);
    ccm_buf_addc(&call->reply->body, '\n');
}
