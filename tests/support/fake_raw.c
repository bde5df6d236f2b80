/* Objects of resources that have no type of their own. */
#include "support/fake_state.h"

#include "util/cleanup.h"
#include "util/raw_values.h"
#include "util/text.h"

#include <errno.h>

/* One resource that is watched. */
struct fake_raw {
    char *api_version;
    char *resource;
    struct fake_list objects; /* const struct ccm_object, borrowed */
    struct fake_list indexes; /* const struct ccm_index, borrowed */
};

static struct fake_raw *find_locked(struct fake_host *fake, const char *api_version,
                                    const char *resource)
{
    for (size_t i = 0; i < fake->raw.len; i++) {
        struct fake_raw *raw = fake->raw.items[i];

        if (ccm_text_equal(raw->api_version, api_version) &&
            ccm_text_equal(raw->resource, resource)) {
            return raw;
        }
    }
    return NULL;
}

static struct fake_raw *obtain_locked(struct fake_host *fake, const char *api_version,
                                      const char *resource)
{
    struct fake_raw *raw = find_locked(fake, api_version, resource);

    if (raw == NULL) {
        raw = fake_alloc(sizeof(*raw));
        raw->api_version = fake_dup(api_version);
        raw->resource = fake_dup(resource);
        fake_list_add(&fake->raw, raw);
    }
    return raw;
}

/* Its place in the list, or the length of the list. */
static size_t index_of(const struct fake_raw *raw, const char *key)
{
    size_t i = 0;

    while (i < raw->objects.len &&
           strcmp(((const struct ccm_object *)raw->objects.items[i])->key, key) != 0) {
        i++;
    }
    return i;
}

const struct ccm_object *fake_raw_lend_locked(struct fake_host *fake, const char *api_version,
                                              const char *resource, const char *key)
{
    const struct fake_raw *raw = find_locked(fake, api_version, resource);
    const size_t at = raw == NULL ? 0 : index_of(raw, key);

    if (raw == NULL || at == raw->objects.len) {
        return NULL;
    }
    fake->borrowed++;
    return raw->objects.items[at];
}

static const struct ccm_object *get_raw(const struct ccm_host *host, const char *api_version,
                                        const char *resource, const char *key)
{
    struct fake_host *fake = fake_host_of(host);

    fake_lock(fake);
    const struct ccm_object *found = fake_raw_lend_locked(fake, api_version, resource, key);
    fake_unlock(fake);
    return found;
}

static int list_raw(const struct ccm_host *host, const char *api_version, const char *resource,
                    const struct ccm_object *const **ret_objects, size_t *ret_count)
{
    struct fake_host *fake = fake_host_of(host);
    const struct ccm_object **found = NULL;

    fake_lock(fake);

    const struct fake_raw *raw = find_locked(fake, api_version, resource);
    const size_t count = raw == NULL ? 0 : raw->objects.len;

    if (count > 0) {
        found = fake_alloc(count * sizeof(*found));
        memcpy(found, raw->objects.items, count * sizeof(*found));
        fake->borrowed += count;
    }
    fake_unlock(fake);
    if (raw == NULL) {
        return -ENOTSUP;
    }
    *ret_objects = found;
    *ret_count = count;
    return 0;
}

static bool raw_has_value(const struct ccm_index *index, const struct ccm_object *object,
                          const char *value)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf values = { 0 };
    const char *one = NULL;

    ccm_raw_values(index, object, &values);
    for (size_t at = 0; at < values.len; at += strlen(one) + 1) {
        one = ccm_buf_str(&values) + at;
        if (strcmp(one, value) == 0) {
            return true;
        }
    }
    return false;
}

static const struct ccm_index *raw_find_index(const struct fake_raw *raw, const char *name)
{
    for (size_t i = 0; raw != NULL && i < raw->indexes.len; i++) {
        const struct ccm_index *index = raw->indexes.items[i];

        if (ccm_text_equal(index->name, name)) {
            return index;
        }
    }
    return NULL;
}

static int list_raw_by(const struct ccm_host *host, const char *api_version, const char *resource,
                       const char *name, const char *value,
                       const struct ccm_object *const **ret_objects, size_t *ret_count)
{
    struct fake_host *fake = fake_host_of(host);
    const struct ccm_object **found = NULL;
    size_t count = 0;

    fake_lock(fake);

    const struct fake_raw *raw = find_locked(fake, api_version, resource);
    const struct ccm_index *index = raw_find_index(raw, name);

    for (size_t i = 0; index != NULL && i < raw->objects.len; i++) {
        if (raw_has_value(index, raw->objects.items[i], value)) {
            found = found == NULL ? fake_alloc(raw->objects.len * sizeof(*found)) : found;
            found[count++] = raw->objects.items[i];
        }
    }
    fake->borrowed += count;
    fake_unlock(fake);
    if (index == NULL) {
        return -ENOTSUP;
    }
    *ret_objects = found;
    *ret_count = count;
    return 0;
}

void fake_raw_install(struct ccm_host *table)
{
    table->list_raw_by = list_raw_by;
    table->get_raw = get_raw;
    table->list_raw = list_raw;
}

void fake_raw_fini(struct fake_host *fake)
{
    for (size_t i = 0; i < fake->raw.len; i++) {
        struct fake_raw *raw = fake->raw.items[i];

        free(raw->api_version);
        free(raw->resource);
        free(raw->objects.items);
        free(raw->indexes.items);
        free(raw);
    }
    free(fake->raw.items);
}

void fake_host_watch_raw(struct fake_host *fake, const char *api_version, const char *resource)
{
    fake_lock(fake);
    (void)obtain_locked(fake, api_version, resource); /* being there is all */
    fake_unlock(fake);
}

void fake_host_index_raw(struct fake_host *fake, const char *api_version, const char *resource,
                         const struct ccm_index *index)
{
    void *item;

    memcpy(&item, &index, sizeof(item)); /* kept const in fact: nobody writes through it */
    fake_lock(fake);
    fake_list_add(&obtain_locked(fake, api_version, resource)->indexes, item);
    fake_unlock(fake);
}

static void drop(struct fake_raw *raw, const char *key)
{
    const size_t at = index_of(raw, key);

    if (at < raw->objects.len) {
        memmove(&raw->objects.items[at], &raw->objects.items[at + 1],
                (raw->objects.len - at - 1) * sizeof(raw->objects.items[0]));
        raw->objects.len--;
    }
}

void fake_host_put_raw(struct fake_host *fake, const char *api_version, const char *resource,
                       const struct ccm_raw *object)
{
    void *item;

    memcpy(&item, &object, sizeof(item)); /* kept const in fact: nobody writes through it */
    fake_lock(fake);

    struct fake_raw *raw = obtain_locked(fake, api_version, resource);

    drop(raw, object->meta.key);
    fake_list_add(&raw->objects, item);
    fake_unlock(fake);
}

void fake_host_remove_raw(struct fake_host *fake, const char *api_version, const char *resource,
                          const char *key)
{
    fake_lock(fake);

    struct fake_raw *raw = find_locked(fake, api_version, resource);

    if (raw != NULL) {
        drop(raw, key);
    }
    fake_unlock(fake);
}
