#include "daemon/unserved.h"

#include "kube/cache/store.h"
#include "plugin/loader.h"
#include "util/array.h"
#include "util/class_near.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TOPIC "class"

static const struct ccm_log unserved_log = { .part = "plugins" };

/* A plugin that takes classes. */
struct taker {
    const struct ccm_plugin *desc;
    const struct plugin_entry *entry;     /* NULL: it is not configured, */
    struct plugin_loaded_plugin *private; /* and this is what was found of it */
};

struct daemon_unserved {
    struct daemon_host_services *services;
    struct plugin_registry *registry;
    struct taker *items;
    size_t len;
    size_t cap;
};

/* --- who takes classes --- */

static int unserved_add(struct daemon_unserved *unserved, const struct taker *taker)
{
    const int r = ccm_array_grow(&unserved->items, &unserved->cap, unserved->len + 1,
                                 sizeof(*unserved->items));

    if (r == 0) {
        unserved->items[unserved->len++] = *taker;
    }
    return r;
}

static int unserved_add_configured(struct daemon_unserved *unserved)
{
    for (size_t i = 0; i < plugin_registry_len(unserved->registry); i++) {
        const struct plugin_entry *entry = plugin_registry_at(unserved->registry, i);
        const struct ccm_plugin *desc = entry->loaded == NULL ? NULL : entry->loaded->desc;
        const struct taker taker = { .desc = desc, .entry = entry };

        if (desc != NULL && (desc->classes != NULL || desc->takes_default != NULL) &&
            unserved_add(unserved, &taker) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

static bool unserved_is_configured(const struct daemon_unserved *unserved, const char *name)
{
    for (size_t i = 0; i < plugin_registry_len(unserved->registry); i++) {
        const struct plugin_entry *entry = plugin_registry_at(unserved->registry, i);

        if (ccm_text_equal(entry->name, name) ||
            (entry->loaded != NULL && ccm_text_equal(entry->loaded->desc->name, name))) {
            return true;
        }
    }
    return false;
}

/* One that cannot be loaded is nobody's business until it is configured. */
static int unserved_add_file(struct daemon_unserved *unserved, const char *folder, const char *file)
{
    struct plugin_loaded_plugin *loaded = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    int r = 0;

    if (plugin_load(file, folder, 0, &loaded, &err) < 0) {
        ccm_log_debug(&unserved_log, "not looked at: %s", err.message);
        return 0;
    }
    if (loaded->desc->classes != NULL && !unserved_is_configured(unserved, loaded->desc->name)) {
        const struct taker taker = { .desc = loaded->desc, .private = loaded };

        r = unserved_add(unserved, &taker);
        loaded = r == 0 ? NULL : loaded;
    }
    plugin_free(loaded);
    return r;
}

static int unserved_add_folder(struct daemon_unserved *unserved, const char *folder)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, NULL, alphasort);
    int r = 0;

    for (int i = 0; i < count; i++) {
        const char *file = entries[i]->d_name;
        CCM_CLEANUP(ccm_freep)
        char *name = ccm_text_ends(file, ".so") ? strndup(file, strlen(file) - 3) : NULL;

        if (r == 0 && name != NULL && !unserved_is_configured(unserved, name)) {
            r = unserved_add_file(unserved, folder, file);
        }
        free(entries[i]);
    }
    free(entries);
    return r;
}

struct daemon_unserved *daemon_unserved_new(struct daemon_host_services *services,
                                            struct plugin_registry *registry, const char *folder)
{
    CCM_CLEANUP(ccm_freep) char *real = realpath(folder, NULL);
    struct daemon_unserved *unserved = calloc(1, sizeof(*unserved));

    if (unserved == NULL) {
        return NULL;
    }
    unserved->services = services;
    unserved->registry = registry;
    if (unserved_add_configured(unserved) < 0 ||
        (real != NULL && unserved_add_folder(unserved, real) < 0)) {
        daemon_unserved_free(unserved);
        return NULL;
    }
    return unserved;
}

void daemon_unserved_free(struct daemon_unserved *unserved)
{
    if (unserved == NULL) {
        return;
    }
    for (size_t i = 0; i < unserved->len; i++) {
        plugin_free(unserved->items[i].private);
    }
    free(unserved->items);
    free(unserved);
}

/* --- what is said --- */

static bool taker_takes(const struct taker *taker, const struct ccm_service *service)
{
    const char *name = service->load_balancer_class;

    if (ccm_text_empty(name)) { /* who serves these when nobody is configured is not known */
        return taker->entry != NULL && taker->desc->takes_default != NULL &&
               taker->desc->takes_default(service) != 0;
    }
    if (taker->desc->classes == NULL) {
        return false;
    }
    for (const char *const *class_ = taker->desc->classes; *class_ != NULL; class_++) {
        if (ccm_text_equal(*class_, name)) {
            return true;
        }
    }
    return false;
}

static bool unserved_wants(const struct ccm_object *object)
{
    const struct ccm_service *service = (const struct ccm_service *)(const void *)object;

    return object != NULL && object->deleted_ms == 0 &&
           ccm_text_equal(service->type, "LoadBalancer");
}

/* Why a plugin that takes the Service does not; "" = it does. */
static void taker_explain(const struct daemon_unserved *unserved, const struct taker *taker,
                          const char *what, struct ccm_buf *ret)
{
    const char *name = taker->entry == NULL ? taker->desc->name : taker->entry->name;
    struct ccm_error err = CCM_ERROR_INIT;
    enum plugin_state state = PLUGIN_STATE_STOPPED;

    if (taker->entry == NULL) {
        ccm_buf_addf(ret,
                     "Nothing is done for %s: plugin %s of ccmd serves it and is not configured. "
                     "Add { name = \"%s\"; } to plugins in ccmd.conf and restart ccmd, or delete "
                     "the Service",
                     what, name, name);
        return;
    }
    state = plugin_registry_status(unserved->registry, taker->entry, &err);
    if (state == PLUGIN_STATE_FAILED) {
        ccm_buf_addf(ret,
                     "Nothing is done for %s: plugin %s of ccmd serves it and has failed: %s. Mend "
                     "that and restart ccmd",
                     what, name, err.message);
    } else if (state == PLUGIN_STATE_CREATED && err.kind != CCM_ERROR_NONE) {
        ccm_buf_addf(ret,
                     "Nothing is done for %s: plugin %s of ccmd serves it and cannot start yet: "
                     "%s. It tries again by itself, at least every minute",
                     what, name, err.message);
    }
}

/* A plugin that was refused cannot say which classes it takes: one that is called like the class
 * behind its slash will be it. */
static void unserved_explain_refused(const struct daemon_unserved *unserved, const char *class_,
                                     struct ccm_buf *ret)
{
    const char *slash = strrchr(class_, '/');

    for (size_t i = 0; slash != NULL && i < plugin_registry_len(unserved->registry); i++) {
        const struct plugin_entry *entry = plugin_registry_at(unserved->registry, i);
        struct ccm_error err = CCM_ERROR_INIT;

        if (entry->loaded == NULL && ccm_text_equal(entry->name, slash + 1) &&
            plugin_registry_status(unserved->registry, entry, &err) == PLUGIN_STATE_FAILED) {
            ccm_buf_addf(ret,
                         "Nothing is done for class %s: plugin %s of ccmd was not loaded: %s. Mend "
                         "that and restart ccmd",
                         class_, entry->name, err.message);
            return;
        }
    }
}

static void unserved_explain_near(const struct daemon_unserved *unserved, const char *class_,
                                  struct ccm_buf *ret)
{
    for (size_t i = 0; i < unserved->len; i++) {
        const char *const *known = unserved->items[i].desc->classes;

        for (; known != NULL && *known != NULL; known++) {
            char text[CCM_CLASS_NEAR_TEXT];

            if (ret->len == 0 && ccm_class_is_near(class_, *known)) {
                ccm_class_write_near(class_, *known, text);
                ccm_buf_adds(ret, text);
            }
        }
    }
}

/* Why nobody takes the Service, as text; "" = somebody does, or it is none of ours. True: its class
 * is none that is known. */
static bool unserved_explain(const struct daemon_unserved *unserved,
                             const struct ccm_service *service, struct ccm_buf *ret)
{
    const char *class_ = service->load_balancer_class;
    const bool classless = ccm_text_empty(class_);
    bool is_known = classless;
    char what[300];

    ccm_text_printf(what, sizeof(what), "%s%s", classless ? "Services without a class" : "class ",
                    classless ? "" : class_);
    for (size_t i = 0; i < unserved->len; i++) {
        if (taker_takes(&unserved->items[i], service)) {
            is_known = true;
            ccm_buf_reset(ret);
            taker_explain(unserved, &unserved->items[i], what, ret);
            if (ret->len == 0) {
                return false; /* it is served */
            }
        }
    }
    if (!is_known) {
        unserved_explain_refused(unserved, class_, ret);
    }
    if (is_known || ret->len > 0) {
        return false;
    }
    unserved_explain_near(unserved, class_, ret);
    return true;
}

static void unserved_emit(const struct daemon_unserved *unserved, const struct ccm_object *object,
                          bool unknown, const char *text)
{
    const struct ccm_event event = {
        .struct_size = sizeof(event),
        .object = object,
        .component = "ccmd",
        .reason = unknown ? "UnknownClass" : "PluginMissing",
        .message = text,
        .warning = 1,
        .topic = TOPIC,
    };

    kube_event_emit(unserved->services->events, &event);
}

void daemon_unserved_look(struct daemon_unserved *unserved, const struct ccm_object *before,
                          const struct ccm_object *after)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 1024 };
    bool unknown = false;

    if (unserved == NULL || after == NULL || !ccm_gate_leads(&unserved->services->gate)) {
        return;
    }
    if (unserved_wants(after)) {
        unknown =
            unserved_explain(unserved, (const struct ccm_service *)(const void *)after, &text);
    }
    if (text.len > 0 || unserved_wants(before)) {
        unserved_emit(unserved, after, unknown, ccm_buf_str(&text));
    }
}

void daemon_unserved_look_all(struct daemon_unserved *unserved)
{
    const struct ccm_object *const *objects = NULL;
    size_t count = 0;

    if (unserved == NULL) {
        return;
    }

    struct kube_store *store = unserved->services->stores[CCM_KIND_SERVICE];

    if (store == NULL || kube_store_list(store, NULL, NULL, &objects, &count) < 0) {
        return; /* out of memory: said with the next change */
    }
    for (size_t i = 0; i < count; i++) {
        daemon_unserved_look(unserved, objects[i], objects[i]); /* it may be over */
    }
    kube_store_list_free(objects, count);
}
