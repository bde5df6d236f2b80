/* Calls past the caches for objects of resources that have no type of their own. */
#include "support/fake_state.h"

#include "util/cleanup.h"
#include "util/json.h"
#include "util/text.h"

#include <errno.h>

/* An answer that is no object that was put. */
struct fake_made {
    struct ccm_raw raw;
    cJSON *json; /* its texts */
    char *key;
    char *api_version;
    char *body;
    char version[24];
    char uid[24];
};

static bool is_called(const struct fake_raw_call *call, const char *verb)
{
    return strcmp(call->verb, verb) == 0;
}

static char *key_of(const char *namespace_, const char *name)
{
    const char *parent = namespace_ == NULL ? "" : namespace_;
    char *key = ccm_text_format("%s%s%s", parent, parent[0] == '\0' ? "" : "/", name);

    if (key == NULL) {
        abort();
    }
    return key;
}

static char *dup_or_empty(const char *text)
{
    return fake_dup(text == NULL ? "" : text);
}

/* The name that a body has; "" when it has none. */
static char *body_find_name(const char *body)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;

    return ccm_json_parse(body, strlen(body), &json) < 0
               ? fake_dup("")
               : fake_dup(ccm_json_text(ccm_json_get(json, "metadata"), "name"));
}

static struct fake_raw_call *call_new(const char *verb, const struct ccm_raw_call *from)
{
    struct fake_raw_call *call = fake_alloc(sizeof(*call));
    CCM_CLEANUP(ccm_freep)
    char *name = from->name != NULL ? fake_dup(from->name)
                                    : body_find_name(from->body == NULL ? "" : from->body);

    call->verb = verb;
    call->api_version = fake_dup(from->api_version);
    call->resource = fake_dup(from->resource);
    call->key = key_of(from->namespace_, name);
    call->subresource = dup_or_empty(from->subresource);
    call->body = dup_or_empty(from->body);
    call->uid = dup_or_empty(from->uid);
    call->resource_version = dup_or_empty(from->resource_version);
    call->patch = is_called(call, "patch") ? from->patch : 0;
    return call;
}

/* As the server would answer. `held` is lent, or NULL. */
static int call_judge(const struct fake_raw_call *call, const struct ccm_object *held,
                      struct ccm_error *err)
{
    const bool creates = is_called(call, "create") && call->subresource[0] == '\0';

    if (creates) {
        return held == NULL ? 0
                            : ccm_error_set(err, -EEXIST, CCM_ERROR_CONFLICT, "%s exists already",
                                            call->key);
    }
    if (held == NULL) {
        return ccm_error_set(err, -ENOENT, CCM_ERROR_NOT_FOUND, "%s not found", call->key);
    }
    if ((call->uid[0] != '\0' && !ccm_text_equal(call->uid, held->uid)) ||
        (call->resource_version[0] != '\0' &&
         !ccm_text_equal(call->resource_version, held->resource_version))) {
        return ccm_error_set(err, -EBUSY, CCM_ERROR_CONFLICT, "%s is another one by now",
                             call->key);
    }
    return 0;
}

/* What a server makes of a body. NULL: it is no JSON. */
static const struct ccm_object *make_locked(struct fake_host *fake,
                                            const struct fake_raw_call *call)
{
    struct fake_made *made = fake_alloc(sizeof(*made));
    const size_t number = fake->made.len + 1;
    const cJSON *meta;

    if (ccm_json_parse(call->body, strlen(call->body), &made->json) < 0) {
        free(made);
        return NULL;
    }
    fake_list_add(&fake->made, made);
    meta = ccm_json_get(made->json, "metadata");
    made->key = fake_dup(call->key);
    made->api_version = fake_dup(call->api_version);
    made->body = fake_dup(call->body);
    ccm_text_printf(made->version, sizeof(made->version), "%zu", number);
    ccm_text_printf(made->uid, sizeof(made->uid), "uid-%zu", number);
    made->raw = (struct ccm_raw){
        .meta = { .struct_size = sizeof(made->raw),
                  .kind = CCM_KIND_RAW,
                  .key = made->key,
                  .namespace_ = ccm_json_text(meta, "namespace"),
                  .name = ccm_json_text(meta, "name"),
                  .uid = made->uid,
                  .resource_version = made->version },
        .api_version = made->api_version,
        .kind_name = ccm_json_text(made->json, "kind"),
        .json = made->body,
    };
    fake->borrowed++;
    return &made->raw.meta;
}

static int call_answer_locked(struct fake_host *fake, const struct fake_raw_call *call,
                              const struct ccm_object **ret, struct ccm_error *err)
{
    const struct ccm_object *held =
        fake_raw_lend_locked(fake, call->api_version, call->resource, call->key);
    const bool makes =
        (is_called(call, "create") || is_called(call, "update")) && call->subresource[0] == '\0';
    int r = call_judge(call, held, err);

    if (r == 0 && makes && ret != NULL) {
        *ret = make_locked(fake, call);
        r = *ret != NULL ? 0
                         : ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "the body is no JSON");
    } else if (r == 0 && ret != NULL) {
        *ret = held;
        return 0;
    }
    fake->borrowed -= held == NULL ? 0 : 1;
    return r;
}

static int call_run(const struct ccm_host *host, const char *verb, const struct ccm_raw_call *from,
                    const struct ccm_object **ret, struct ccm_error *err)
{
    struct fake_host *fake = fake_host_of(host);
    struct fake_raw_call *call = NULL;
    int r = 0;

    if (strcmp(verb, "get") != 0 && host->dry_run(host)) {
        return ccm_error_set(err, -ECANCELED, CCM_ERROR_CANCELLED, "dry run");
    }
    if (from->api_version == NULL || from->resource == NULL ||
        (from->name == NULL && strcmp(verb, "create") != 0)) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_BUG, "%s of what?", verb);
    }
    call = call_new(verb, from);
    fake_lock(fake);
    fake_list_add(&fake->raw_calls, call);
    r = fake->raw_result < 0
            ? ccm_error_set(err, fake->raw_result, fake->raw_kind, "%s refused", verb)
            : call_answer_locked(fake, call, ret, err);
    fake_unlock(fake);
    return r;
}

static int fetch_raw(const struct ccm_host *host, const struct ccm_request *req,
                     const struct ccm_raw_call *call, const struct ccm_object **ret,
                     struct ccm_error *err)
{
    (void)req; /* the fake answers at once */
    return call_run(host, "get", call, ret, err);
}

static int create_raw(const struct ccm_host *host, const struct ccm_request *req,
                      const struct ccm_raw_call *call, const struct ccm_object **ret,
                      struct ccm_error *err)
{
    (void)req;
    return call_run(host, "create", call, ret, err);
}

static int update_raw(const struct ccm_host *host, const struct ccm_request *req,
                      const struct ccm_raw_call *call, const struct ccm_object **ret,
                      struct ccm_error *err)
{
    (void)req;
    return call_run(host, "update", call, ret, err);
}

static int patch_raw(const struct ccm_host *host, const struct ccm_request *req,
                     const struct ccm_raw_call *call, const struct ccm_object **ret,
                     struct ccm_error *err)
{
    (void)req;
    return call_run(host, "patch", call, ret, err);
}

static int delete_raw(const struct ccm_host *host, const struct ccm_request *req,
                      const struct ccm_raw_call *call, struct ccm_error *err)
{
    (void)req;
    return call_run(host, "delete", call, NULL, err);
}

void fake_write_install(struct ccm_host *table)
{
    table->fetch_raw = fetch_raw;
    table->create_raw = create_raw;
    table->update_raw = update_raw;
    table->patch_raw = patch_raw;
    table->delete_raw = delete_raw;
}

void fake_write_fini(struct fake_host *fake)
{
    for (size_t i = 0; i < fake->raw_calls.len; i++) {
        struct fake_raw_call *call = fake->raw_calls.items[i];
        char *const texts[] = { call->api_version,     call->resource, call->key,
                                call->subresource,     call->body,     call->uid,
                                call->resource_version };

        for (size_t k = 0; k < CCM_ARRAY_LEN(texts); k++) {
            free(texts[k]);
        }
        free(call);
    }
    free(fake->raw_calls.items);
    for (size_t i = 0; i < fake->made.len; i++) {
        struct fake_made *made = fake->made.items[i];

        cJSON_Delete(made->json);
        free(made->key);
        free(made->api_version);
        free(made->body);
        free(made);
    }
    free(fake->made.items);
}

size_t fake_host_raw_call_count(struct fake_host *fake)
{
    fake_lock(fake);
    const size_t count = fake->raw_calls.len;
    fake_unlock(fake);
    return count;
}

const struct fake_raw_call *fake_host_raw_call(struct fake_host *fake, size_t index)
{
    fake_lock(fake);
    const struct fake_raw_call *call =
        index < fake->raw_calls.len ? fake->raw_calls.items[index] : NULL;
    fake_unlock(fake);
    return call;
}

void fake_host_raw_result(struct fake_host *fake, int result, uint64_t kind)
{
    fake_lock(fake);
    fake->raw_result = result;
    fake->raw_kind = kind;
    fake_unlock(fake);
}
