#include "support/fake_state.h"

#include "util/cleanup.h"
#include "util/text.h"

static const struct ccm_object *find_locked(const struct fake_list *objects, uint64_t kind,
                                            const char *key)
{
    for (size_t i = 0; i < objects->len; i++) {
        const struct ccm_object *object = objects->items[i];

        if (object->kind == kind && strcmp(object->key, key) == 0) {
            return object;
        }
    }
    return NULL;
}

static const struct ccm_object *object_get(const struct ccm_host *host, uint64_t kind,
                                           const char *key)
{
    struct fake_host *fake = fake_host_of(host);

    fake_lock(fake);

    const struct ccm_object *found = find_locked(&fake->objects, kind, key);

    fake->borrowed += found == NULL ? 0 : 1;
    fake_unlock(fake);
    return found;
}

static int object_fetch(const struct ccm_host *host, const struct ccm_request *req, uint64_t kind,
                        const char *namespace_, const char *name, const struct ccm_object **ret,
                        struct ccm_error *err)
{
    struct fake_host *fake = fake_host_of(host);
    struct fake_fetch *kept = fake_alloc(sizeof(*kept));
    const bool cluster = namespace_ == NULL || namespace_[0] == '\0';

    (void)req; /* the fake answers at once */
    kept->kind = kind;
    kept->key = cluster ? fake_dup(name) : ccm_text_format("%s/%s", namespace_, name);
    fake_lock(fake);
    fake_list_add(&fake->fetches, kept);

    const int result = fake->fetch_result;
    const uint64_t error_kind = fake->fetch_kind;
    const struct ccm_object *found = find_locked(&fake->live, kind, kept->key);

    if (found == NULL) {
        found = find_locked(&fake->objects, kind, kept->key);
    }
    fake->borrowed += result < 0 || found == NULL ? 0 : 1;
    fake_unlock(fake);
    if (result < 0) {
        return ccm_error_set(err, result, error_kind, "fetch refused");
    }
    if (found == NULL) {
        return ccm_error_set(err, -ENOENT, CCM_ERROR_NOT_FOUND, "%s not found", kept->key);
    }
    *ret = found;
    return 0;
}

/* Index "service" of the slices: value is "namespace/service". */
static bool in_service(const struct ccm_object *object, const char *value)
{
    const struct ccm_endpoint_slice *slice =
        (const struct ccm_endpoint_slice *)(const void *)object;
    const size_t len = strlen(object->namespace_);

    return strncmp(value, object->namespace_, len) == 0 && value[len] == '/' &&
           strcmp(value + len + 1, slice->service_name) == 0;
}

/* Index "server" of the nodes: value is the instance of the provider id, or an InternalIP. */
static bool is_server(const struct ccm_object *object, const char *value)
{
    const struct ccm_node *node = (const struct ccm_node *)(const void *)object;
    const char *dot = strrchr(node->provider_id, '.');

    if (dot != NULL && strcmp(dot + 1, value) == 0) {
        return true;
    }
    for (uint64_t i = 0; i < node->address_count; i++) {
        if (strcmp(node->addresses[i]->type, "InternalIP") == 0 &&
            strcmp(node->addresses[i]->address, value) == 0) {
            return true;
        }
    }
    return false;
}

static bool in_index(const struct ccm_object *object, const char *value)
{
    return object->kind == CCM_KIND_NODE ? is_server(object, value) : in_service(object, value);
}

static bool has_index(uint64_t kind, const char *index)
{
    return index == NULL || (kind == CCM_KIND_ENDPOINT_SLICE && strcmp(index, "service") == 0) ||
           (kind == CCM_KIND_NODE && strcmp(index, "server") == 0);
}

static int object_list(const struct ccm_host *host, uint64_t kind, const char *index,
                       const char *value, const struct ccm_object *const **ret_objects,
                       size_t *ret_count)
{
    struct fake_host *fake = fake_host_of(host);
    size_t count = 0;

    if (!has_index(kind, index)) {
        return -ENOTSUP;
    }
    fake_lock(fake);

    const struct ccm_object **found = fake_alloc((fake->objects.len + 1) * sizeof(*found));

    for (size_t i = 0; i < fake->objects.len; i++) {
        const struct ccm_object *object = fake->objects.items[i];

        if (object->kind == kind && (index == NULL || in_index(object, value))) {
            found[count++] = object;
        }
    }
    fake->borrowed += count;
    fake->listed_nodes += index == NULL && kind == CCM_KIND_NODE ? count : 0;
    fake_unlock(fake);
    if (count == 0) {
        ccm_freep(&found);
        found = NULL;
    }
    *ret_objects = found;
    *ret_count = count;
    return 0;
}

static void object_release(const struct ccm_host *host, const struct ccm_object *object)
{
    struct fake_host *fake = fake_host_of(host);

    if (object != NULL) {
        fake_lock(fake);
        fake->borrowed--;
        fake_unlock(fake);
    }
}

static void object_release_list(const struct ccm_host *host,
                                const struct ccm_object *const *objects, size_t count)
{
    struct fake_host *fake = fake_host_of(host);

    fake_lock(fake);
    fake->borrowed -= count;
    fake_unlock(fake);
    ccm_freep(&objects);
}

static bool dry_run(const struct ccm_host *host)
{
    struct fake_host *fake = fake_host_of(host);

    fake_lock(fake);
    const bool on = fake->dry_run;
    fake_unlock(fake);
    return on;
}

static void plan(const struct ccm_host *host, const char *object, const char *steps)
{
    struct fake_host *fake = fake_host_of(host);
    struct fake_plan *kept;

    if (!dry_run(host)) {
        return;
    }
    kept = fake_alloc(sizeof(*kept));
    kept->object = fake_dup(object);
    kept->steps = fake_dup(steps);
    fake_lock(fake);
    fake_list_add(&fake->plans, kept);
    fake_unlock(fake);
}

static void settle(const struct ccm_host *host, const struct ccm_request *req, uint64_t index,
                   uint64_t requeue_after_ms, const struct ccm_error *err)
{
    struct fake_host *fake = fake_host_of(host);
    struct fake_verdict *kept = fake_alloc(sizeof(*kept));

    kept->key = fake_dup(index < req->key_count ? req->keys[index] : "");
    kept->index = index;
    kept->requeue_after_ms = requeue_after_ms;
    ccm_error_clear(&kept->err);
    if (err != NULL) {
        ccm_error_copy(&kept->err, err);
    }
    fake_lock(fake);
    fake_list_add(&fake->verdicts, kept);
    fake_unlock(fake);
}

static int object_patch(const struct ccm_host *host, const struct ccm_request *req,
                        const struct ccm_patch *patch, struct ccm_error *err)
{
    struct fake_host *fake = fake_host_of(host);
    struct fake_patch *kept = fake_alloc(sizeof(*kept));

    (void)req; /* the fake answers at once */
    if (dry_run(host)) {
        free(kept);
        return ccm_error_set(err, -ECANCELED, CCM_ERROR_CANCELLED, "dry run");
    }
    kept->kind = patch->kind;
    kept->type = patch->type;
    kept->key = patch->namespace_ == NULL || patch->namespace_[0] == '\0'
                    ? fake_dup(patch->name)
                    : ccm_text_format("%s/%s", patch->namespace_, patch->name);
    kept->subresource = fake_dup(patch->subresource);
    kept->body = fake_dup(patch->body);
    fake_lock(fake);
    fake_list_add(&fake->patches, kept);
    const int result = fake->patch_result;
    const uint64_t kind = fake->patch_kind;
    fake_unlock(fake);
    return result < 0 ? ccm_error_set(err, result, kind, "patch refused") : 0;
}

static void standing_end(struct fake_host *fake, const struct ccm_event *event, const char *key)
{
    const size_t len = strlen(event->object->key) + 1;
    void *cursor = NULL;
    const char *other = NULL;

    ccm_strmap_del(fake->standing, key);
    while (strcmp(event->topic, CCM_EVENT_ALL_TOPICS) == 0 &&
           ccm_strmap_next(fake->standing, &cursor, &other, NULL)) {
        if (strncmp(other, key, len) == 0) {
            ccm_strmap_del(fake->standing, other);
        }
    }
}

/* Whether it is written, as the core does: what lasts once per cause, and later what has to last
 * for a time first. */
static bool event_is_said(struct fake_host *fake, const struct ccm_event *event)
{
    char key[1024];
    const char *cause = event->cause == NULL ? event->message : event->cause;

    if (event->topic == NULL) {
        return true;
    }
    (void)snprintf(key, sizeof(key), "%s %s", event->object->key, event->topic);
    if (event->message[0] == '\0') {
        standing_end(fake, event, key);
        return false;
    }

    const char *before = ccm_strmap_get(fake->standing, key);
    const bool same = before != NULL && strcmp(before, cause) == 0;

    if (!same && ccm_strmap_set(fake->standing, key, fake_dup(cause)) < 0) {
        abort();
    }
    return !same && event->after_ms == 0;
}

static void event_add(const struct ccm_host *host, const struct ccm_event *event)
{
    struct fake_host *fake = fake_host_of(host);
    struct fake_event *kept;

    if (dry_run(host)) {
        return;
    }
    fake_lock(fake);

    const bool said = event_is_said(fake, event);

    fake_unlock(fake);
    if (!said) {
        return;
    }
    kept = fake_alloc(sizeof(*kept));
    kept->object = fake_dup(event->object == NULL ? "" : event->object->key);
    kept->reason = fake_dup(event->reason);
    kept->message = fake_dup(event->message);
    kept->warning = event->warning != 0;
    fake_lock(fake);
    fake_list_add(&fake->events, kept);
    fake_unlock(fake);
}

static void enqueue(const struct ccm_host *host, const char *key, uint64_t lane, uint64_t delay_ms)
{
    struct fake_host *fake = fake_host_of(host);
    struct fake_enqueue *kept = fake_alloc(sizeof(*kept));

    kept->key = fake_dup(key);
    kept->lane = lane;
    kept->delay_ms = delay_ms;
    fake_lock(fake);
    fake_list_add(&fake->enqueues, kept);
    fake_unlock(fake);
}

/* As if every failure was the first: 30 s, and 10 min in the long run. */
static uint64_t retry_ms(const struct ccm_host *host CCM_UNUSED,
                         const struct ccm_request *req CCM_UNUSED, uint64_t index CCM_UNUSED,
                         const struct ccm_error *err CCM_UNUSED, uint64_t *ret_most_ms)
{
    *ret_most_ms = 600000;
    return 30000;
}

void fake_cluster_install(struct ccm_host *table)
{
    table->get = object_get;
    table->list = object_list;
    table->release = object_release;
    table->release_list = object_release_list;
    table->patch = object_patch;
    table->event = event_add;
    table->retry_ms = retry_ms;
    table->enqueue = enqueue;
    table->fetch = object_fetch;
    table->settle = settle;
    table->dry_run = dry_run;
    table->plan = plan;
}

void fake_cluster_fini(struct fake_host *fake)
{
    free(fake->objects.items);
    free(fake->live.items);
    for (size_t i = 0; i < fake->fetches.len; i++) {
        struct fake_fetch *fetch = fake->fetches.items[i];

        free(fetch->key);
        free(fetch);
    }
    free(fake->fetches.items);
    for (size_t i = 0; i < fake->events.len; i++) {
        struct fake_event *event = fake->events.items[i];

        free(event->object);
        free(event->reason);
        free(event->message);
        free(event);
    }
    free(fake->events.items);
    ccm_strmap_free(fake->standing);
    for (size_t i = 0; i < fake->patches.len; i++) {
        struct fake_patch *patch = fake->patches.items[i];

        free(patch->key);
        free(patch->subresource);
        free(patch->body);
        free(patch);
    }
    free(fake->patches.items);
    for (size_t i = 0; i < fake->enqueues.len; i++) {
        struct fake_enqueue *item = fake->enqueues.items[i];

        free(item->key);
        free(item);
    }
    free(fake->enqueues.items);
    for (size_t i = 0; i < fake->verdicts.len; i++) {
        struct fake_verdict *verdict = fake->verdicts.items[i];

        free(verdict->key);
        free(verdict);
    }
    free(fake->verdicts.items);
    for (size_t i = 0; i < fake->plans.len; i++) {
        struct fake_plan *item = fake->plans.items[i];

        free(item->object);
        free(item->steps);
        free(item);
    }
    free(fake->plans.items);
}

static void remove_locked(struct fake_list *objects, uint64_t kind, const char *key)
{
    for (size_t i = 0; i < objects->len; i++) {
        const struct ccm_object *object = objects->items[i];

        if (object->kind == kind && strcmp(object->key, key) == 0) {
            memmove(&objects->items[i], &objects->items[i + 1],
                    (objects->len - i - 1) * sizeof(objects->items[0]));
            objects->len--;
            return;
        }
    }
}

static void put(struct fake_host *fake, struct fake_list *objects, const struct ccm_object *object)
{
    void *item;

    memcpy(&item, &object, sizeof(item)); /* kept const in fact: nobody writes through it */
    fake_lock(fake);
    remove_locked(objects, object->kind, object->key);
    fake_list_add(objects, item);
    fake_unlock(fake);
}

void fake_host_put(struct fake_host *fake, const struct ccm_object *object)
{
    put(fake, &fake->objects, object);
}

void fake_host_put_live(struct fake_host *fake, const struct ccm_object *object)
{
    put(fake, &fake->live, object);
}

void fake_host_remove(struct fake_host *fake, uint64_t kind, const char *key)
{
    fake_lock(fake);
    remove_locked(&fake->objects, kind, key);
    fake_unlock(fake);
}

size_t fake_host_listed_nodes(struct fake_host *fake)
{
    fake_lock(fake);
    const size_t count = fake->listed_nodes;
    fake_unlock(fake);
    return count;
}

size_t fake_host_borrowed(struct fake_host *fake)
{
    fake_lock(fake);
    const size_t count = fake->borrowed;
    fake_unlock(fake);
    return count;
}

static const void *list_at(struct fake_host *fake, const struct fake_list *list, size_t index)
{
    fake_lock(fake);
    const void *item = index < list->len ? list->items[index] : NULL;
    fake_unlock(fake);
    return item;
}

static size_t list_len(struct fake_host *fake, const struct fake_list *list)
{
    fake_lock(fake);
    const size_t len = list->len;
    fake_unlock(fake);
    return len;
}

size_t fake_host_event_count(struct fake_host *fake)
{
    return list_len(fake, &fake->events);
}

const struct fake_event *fake_host_event(struct fake_host *fake, size_t index)
{
    return list_at(fake, &fake->events, index);
}

size_t fake_host_patch_count(struct fake_host *fake)
{
    return list_len(fake, &fake->patches);
}

const struct fake_patch *fake_host_patch(struct fake_host *fake, size_t index)
{
    return list_at(fake, &fake->patches, index);
}

void fake_host_patch_result(struct fake_host *fake, int result, uint64_t kind)
{
    fake_lock(fake);
    fake->patch_result = result;
    fake->patch_kind = kind;
    fake_unlock(fake);
}

size_t fake_host_enqueue_count(struct fake_host *fake)
{
    return list_len(fake, &fake->enqueues);
}

const struct fake_enqueue *fake_host_enqueued(struct fake_host *fake, size_t index)
{
    return list_at(fake, &fake->enqueues, index);
}

size_t fake_host_fetch_count(struct fake_host *fake)
{
    return list_len(fake, &fake->fetches);
}

const struct fake_fetch *fake_host_fetched(struct fake_host *fake, size_t index)
{
    return list_at(fake, &fake->fetches, index);
}

void fake_host_fetch_result(struct fake_host *fake, int result, uint64_t kind)
{
    fake_lock(fake);
    fake->fetch_result = result;
    fake->fetch_kind = kind;
    fake_unlock(fake);
}

size_t fake_host_verdict_count(struct fake_host *fake)
{
    return list_len(fake, &fake->verdicts);
}

const struct fake_verdict *fake_host_verdict(struct fake_host *fake, size_t index)
{
    return list_at(fake, &fake->verdicts, index);
}

const struct fake_verdict *fake_host_verdict_of(struct fake_host *fake, const char *key)
{
    const struct fake_verdict *last = NULL;

    fake_lock(fake);
    for (size_t i = 0; i < fake->verdicts.len; i++) {
        const struct fake_verdict *verdict = fake->verdicts.items[i];

        last = strcmp(verdict->key, key) == 0 ? verdict : last;
    }
    fake_unlock(fake);
    return last;
}

void fake_host_dry_run(struct fake_host *fake, bool on)
{
    fake_lock(fake);
    fake->dry_run = on;
    fake_unlock(fake);
}

size_t fake_host_plan_count(struct fake_host *fake)
{
    return list_len(fake, &fake->plans);
}

const struct fake_plan *fake_host_plan(struct fake_host *fake, size_t index)
{
    return list_at(fake, &fake->plans, index);
}
