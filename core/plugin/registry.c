#include "plugin/registry.h"

#include "util/array.h"
#include "util/cleanup.h"
#include "util/crash.h"
#include "util/log.h"
#include "util/text.h"
#include "util/thread.h"

#include <pthread.h>

struct slot {
    struct plugin_entry entry; /* first: entries handed out are slots */
    char *name;
    struct plugin_loaded_plugin *loaded;
    bool has_self; /* destroy() is owed */
    bool stopped;  /* stop() was called: what still comes from a late start() changes no state */
    enum plugin_state state;
    struct ccm_error error;
};

struct plugin_registry {
    struct slot **items;
    size_t len;
    size_t cap;
    bool quiet;           /* refusals are told by somebody else */
    pthread_mutex_t lock; /* guards stopped, state and error of the slots; innermost */
};

static struct slot *slot_of(const struct plugin_entry *entry)
{
    return (struct slot *)entry;
}

static void slot_free(struct slot *slot)
{
    plugin_free(slot->loaded);
    free(slot->name);
    free(slot);
}

/* error NULL = none. */
static void set_state(struct plugin_registry *registry, struct slot *slot, enum plugin_state state,
                      const struct ccm_error *error)
{
    ccm_lock(&registry->lock);
    if (!slot->stopped) {
        slot->state = state;
    }
    if (error == NULL) {
        ccm_error_clear(&slot->error);
    } else {
        ccm_error_copy(&slot->error, error);
    }
    ccm_unlock(&registry->lock);
}

static enum plugin_state get_state(struct plugin_registry *registry, const struct slot *slot)
{
    return plugin_registry_status(registry, &slot->entry, NULL);
}

struct plugin_registry *plugin_registry_new(void)
{
    struct plugin_registry *registry = calloc(1, sizeof(*registry));

    if (registry != NULL && pthread_mutex_init(&registry->lock, NULL) != 0) {
        free(registry);
        registry = NULL;
    }
    return registry;
}

void plugin_registry_free(struct plugin_registry *registry)
{
    if (registry == NULL) {
        return;
    }
    plugin_registry_destroy(registry);
    for (size_t i = 0; i < registry->len; i++) {
        slot_free(registry->items[i]);
    }
    free(registry->items);
    ccm_lock_fini(&registry->lock);
    free(registry);
}

void plugin_registry_freep(struct plugin_registry **registry)
{
    plugin_registry_free(*registry);
}

/* Whether `other`, which is loaded, lets a plugin in under this name. */
static int registry_check_other(const struct slot *other, const char *name,
                                const struct plugin_loaded_plugin *loaded, struct ccm_error *err)
{
    const char *own = loaded->desc->name;

    if (ccm_text_equal(other->name, name) || (ccm_text_equal(other->loaded->desc->name, own) &&
                                              !ccm_text_equal(other->loaded->path, loaded->path))) {
        return ccm_error_set(err, -EEXIST, CCM_ERROR_TERMINAL,
                             "%s: a plugin named \"%s\" is loaded already, from %s: remove one "
                             "of the two",
                             loaded->path, own, other->loaded->path);
    }
    if (ccm_text_equal(other->loaded->desc->name, own) && loaded->desc->instances == 0) {
        return ccm_error_set(err, -EEXIST, CCM_ERROR_TERMINAL,
                             "%s: \"%s\" is a second instance of plugin \"%s\", which can run only "
                             "once in a process (.instances of its descriptor): list it once, and "
                             "run another ccmd for what has other options",
                             loaded->path, name, own);
    }
    return 0;
}

static int check_name(const struct plugin_registry *registry, const char *name,
                      const struct plugin_loaded_plugin *loaded, struct ccm_error *err)
{
    for (size_t i = 0; i < registry->len; i++) {
        const struct slot *other = registry->items[i];
        const int r = other->loaded == NULL ? 0 : registry_check_other(other, name, loaded, err);

        if (r < 0) {
            return r;
        }
    }
    if (loaded->desc->instances == 0 && !ccm_text_equal(name, loaded->desc->name)) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "%s: the configuration calls it \"%s\", its own name is \"%s\": use "
                             "that. Only a plugin that can run several times takes another name",
                             loaded->path, name, loaded->desc->name);
    }
    return 0;
}

static int load_into(struct plugin_registry *registry, struct slot *slot, const char *file,
                     const char *plugin_dir, struct ccm_error *err)
{
    CCM_CLEANUP(plugin_freep) struct plugin_loaded_plugin *loaded = NULL;
    int r = plugin_load(file, plugin_dir, &loaded, err);

    if (r < 0) {
        return r;
    }
    r = check_name(registry, slot->name, loaded, err);
    if (r < 0) {
        return r;
    }
    slot->loaded = CCM_STEAL(loaded);
    slot->entry.loaded = slot->loaded;
    return 0;
}

static int registry_append_slot(struct plugin_registry *registry, const char *name, bool critical,
                                struct slot **ret)
{
    struct slot *slot;
    int r =
        ccm_array_grow(&registry->items, &registry->cap, registry->len + 1, sizeof(struct slot *));

    if (r < 0) {
        return r;
    }
    slot = calloc(1, sizeof(*slot));
    if (slot == NULL) {
        return -ENOMEM;
    }
    slot->name = strdup(name);
    if (slot->name == NULL) {
        free(slot);
        return -ENOMEM;
    }
    slot->entry.name = slot->name;
    slot->entry.critical = critical;
    ccm_error_clear(&slot->error);
    registry->items[registry->len++] = slot;
    *ret = slot;
    return 0;
}

static void log_failure(const struct slot *slot, const char *what, const struct ccm_error *err)
{
    const struct ccm_log log = { .part = "plugin", .object = slot->name };

    ccm_log_error(&log, "%s: %s", what, err->message);
}

int plugin_registry_load(struct plugin_registry *registry, const char *name, const char *file,
                         const char *plugin_dir, bool critical, struct plugin_entry **ret)
{
    struct ccm_error err = CCM_ERROR_INIT;
    struct slot *slot = NULL;
    int r = registry_append_slot(registry, name, critical, &slot);

    if (ret != NULL) {
        *ret = slot == NULL ? NULL : &slot->entry;
    }
    if (r < 0) {
        return r;
    }
    r = load_into(registry, slot, file == NULL ? name : file, plugin_dir, &err);
    if (r < 0) {
        if (!registry->quiet) {
            log_failure(slot, "refused", &err);
        }
        set_state(registry, slot, PLUGIN_STATE_FAILED, &err);
        return r;
    }
    set_state(registry, slot, PLUGIN_STATE_LOADED, NULL);
    return 0;
}

void plugin_registry_leave_refusals(struct plugin_registry *registry)
{
    registry->quiet = true;
}

size_t plugin_registry_len(const struct plugin_registry *registry)
{
    return registry->len;
}

struct plugin_entry *plugin_registry_at(struct plugin_registry *registry, size_t index)
{
    return &registry->items[index]->entry;
}

/* What a plugin answered, made usable whatever it was: negative and with a message. */
static int failure_of(const struct slot *slot, const char *function, int r, struct ccm_error *err)
{
    err->message[sizeof(err->message) - 1] = '\0';
    if (r > 0) {
        r = ccm_error_set(err, -EPROTO, CCM_ERROR_BUG, "returned %d, which means nothing", r);
    } else if (err->kind == CCM_ERROR_NONE || err->message[0] == '\0') {
        r = ccm_error_set(err, r, CCM_ERROR_TRANSIENT, "failed without a message: %s",
                          strerror(-r));
    }
    return ccm_error_wrap(err, r, "%s: %s", slot->loaded->path, function);
}

int plugin_registry_create(struct plugin_registry *registry, struct plugin_entry *entry,
                           const struct ccm_host *host)
{
    struct ccm_error err = CCM_ERROR_INIT;
    struct slot *slot = slot_of(entry);
    void *self = NULL;
    int r;

    if (get_state(registry, slot) != PLUGIN_STATE_LOADED) {
        return -EINVAL;
    }

    struct ccm_crash_call call = { .plugin = slot->name, .stage = "create" };

    ccm_crash_begin(&call);
    r = slot->loaded->desc->create(host, &self, &err);
    ccm_crash_end(&call);
    if (r != 0) {
        r = failure_of(slot, "create", r, &err);
        log_failure(slot, "left out", &err);
        set_state(registry, slot, PLUGIN_STATE_FAILED, &err);
        return r;
    }
    slot->entry.self = self;
    slot->has_self = true;
    set_state(registry, slot, PLUGIN_STATE_CREATED, NULL);
    return 0;
}

int plugin_registry_start(struct plugin_registry *registry, struct plugin_entry *entry)
{
    struct ccm_error err = CCM_ERROR_INIT;
    struct slot *slot = slot_of(entry);
    int r = 0;

    if (get_state(registry, slot) != PLUGIN_STATE_CREATED) {
        return -EINVAL;
    }
    if (slot->loaded->desc->start != NULL) {
        struct ccm_crash_call call = { .plugin = slot->name, .stage = "start" };

        ccm_crash_begin(&call);
        r = slot->loaded->desc->start(slot->entry.self, &err);
        ccm_crash_end(&call);
    }
    if (r != 0) {
        r = failure_of(slot, "start", r, &err);

        const bool final = err.kind == CCM_ERROR_TERMINAL || err.kind == CCM_ERROR_BUG;

        log_failure(slot, final ? "left out" : "starts later", &err);
        set_state(registry, slot, final ? PLUGIN_STATE_FAILED : PLUGIN_STATE_CREATED, &err);
        return r;
    }
    set_state(registry, slot, PLUGIN_STATE_STARTED, NULL);
    return 0;
}

/* Whether stop() is owed, and now taken care of. */
static bool registry_mark_stopped(struct plugin_registry *registry, struct slot *slot)
{
    bool owed;

    ccm_lock(&registry->lock);
    owed = slot->has_self && !slot->stopped;
    if (owed) {
        slot->stopped = true;
        if (slot->state != PLUGIN_STATE_FAILED) {
            slot->state = PLUGIN_STATE_STOPPED;
        }
    }
    ccm_unlock(&registry->lock);
    return owed;
}

void plugin_registry_stop(struct plugin_registry *registry)
{
    for (size_t i = registry->len; i > 0; i--) {
        struct slot *slot = registry->items[i - 1];

        if (registry_mark_stopped(registry, slot) && slot->loaded->desc->stop != NULL) {
            struct ccm_crash_call call = { .plugin = slot->name, .stage = "stop" };

            ccm_crash_begin(&call);
            slot->loaded->desc->stop(slot->entry.self);
            ccm_crash_end(&call);
        }
    }
}

void plugin_registry_destroy(struct plugin_registry *registry)
{
    plugin_registry_stop(registry);
    for (size_t i = registry->len; i > 0; i--) {
        struct slot *slot = registry->items[i - 1];

        if (slot->has_self) {
            struct ccm_crash_call call = { .plugin = slot->name, .stage = "destroy" };

            slot->has_self = false;
            ccm_crash_begin(&call);
            slot->loaded->desc->destroy(slot->entry.self);
            ccm_crash_end(&call);
            slot->entry.self = NULL;
        }
    }
}

enum plugin_state plugin_registry_status(struct plugin_registry *registry,
                                         const struct plugin_entry *entry, struct ccm_error *err)
{
    const struct slot *slot = slot_of(entry);
    enum plugin_state state;

    ccm_lock(&registry->lock);
    state = slot->state;
    if (err != NULL) {
        ccm_error_copy(err, &slot->error);
    }
    ccm_unlock(&registry->lock);
    return state;
}

const char *plugin_registry_state_name(enum plugin_state state)
{
    switch (state) {
    case PLUGIN_STATE_FAILED:
        return "failed";
    case PLUGIN_STATE_LOADED:
        return "loaded";
    case PLUGIN_STATE_CREATED:
        return "created";
    case PLUGIN_STATE_STARTED:
        return "started";
    case PLUGIN_STATE_STOPPED:
        return "stopped";
    }
    return "?";
}

bool plugin_registry_has_use(struct plugin_registry *registry)
{
    for (size_t i = 0; i < registry->len; i++) {
        if (get_state(registry, registry->items[i]) != PLUGIN_STATE_FAILED) {
            return true;
        }
    }
    return false;
}

const struct plugin_entry *plugin_registry_critical_failure(struct plugin_registry *registry)
{
    for (size_t i = 0; i < registry->len; i++) {
        const struct slot *slot = registry->items[i];

        if (slot->entry.critical && get_state(registry, slot) == PLUGIN_STATE_FAILED) {
            return &slot->entry;
        }
    }
    return NULL;
}
