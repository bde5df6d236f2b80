#include "daemon/unserved.h"

#include "daemon/journal.h"
#include "daemon/objects.h"
#include "daemon/plugin_options.h"
#include "kube/cache/store.h"
#include "kube/object/object.h"
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
    struct daemon_objects *objects; /* those that have an event: failing */
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

        if (desc != NULL &&
            (desc->classes != NULL || desc->takes_default != NULL || desc->takes != NULL) &&
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

    if (plugin_load(file, folder, &loaded, &err) < 0) {
        ccm_log_debug(&unserved_log, "not looked at: %s", err.message);
        return 0;
    }
    if ((loaded->desc->classes != NULL || loaded->desc->takes != NULL) &&
        !unserved_is_configured(unserved, loaded->desc->name)) {
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
    unserved->objects = daemon_objects_new();
    if (unserved->objects == NULL || unserved_add_configured(unserved) < 0 ||
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
    daemon_objects_free(unserved->objects);
    free(unserved);
}

/* --- what is said --- */

/* What takes() of a plugin is asked with. */
struct taker_call {
    const struct daemon_unserved *unserved; /* NULL = defaults of all options */
    const struct taker *taker;
    struct ccm_buf *near; /* what it says of a class that is not its own; NULL = nobody asks */
};

/* Options of a group of its own are told by any plugin that shares it: one that is not configured
 * has none there. */
static struct daemon_plugin_options taker_options(const struct taker_call *call, const char *group,
                                                  const char *name)
{
    struct daemon_plugin_options options = { .desc = call->taker->desc };
    struct plugin_registry *registry = NULL;

    if (call->unserved == NULL) {
        return options;
    }
    registry = call->unserved->registry;
    if (call->taker->entry != NULL) {
        options.name = call->taker->entry->name;
        options.config = call->unserved->services->config;
        return options;
    }
    for (size_t i = 0; group != NULL && i < plugin_registry_len(registry); i++) {
        const struct plugin_entry *entry = plugin_registry_at(registry, i);

        if (entry->loaded != NULL &&
            daemon_plugin_option_is_listed(entry->loaded->desc, group, name)) {
            options.name = entry->name;
            options.config = call->unserved->services->config;
            return options;
        }
    }
    return options;
}

static const char *taker_option_string(const struct ccm_lint_sink *sink, const char *group,
                                       const char *name)
{
    const struct daemon_plugin_options options = taker_options(sink->core, group, name);

    return daemon_plugin_option_string(&options, group, name);
}

static int64_t taker_option_int(const struct ccm_lint_sink *sink, const char *group,
                                const char *name)
{
    const struct daemon_plugin_options options = taker_options(sink->core, group, name);

    return daemon_plugin_option_int(&options, group, name);
}

static void taker_finding(const struct ccm_lint_sink *sink, uint64_t level, const char *place,
                          const char *message)
{
    const struct taker_call *call = sink->core;

    (void)level;
    if (call->near != NULL && call->near->len == 0 &&
        ccm_text_equal(place, "spec.loadBalancerClass")) {
        ccm_buf_adds(call->near, message);
    }
}

static bool taker_ask_with(const struct taker_call *call, const struct ccm_service *service)
{
    const struct ccm_lint_sink sink = {
        .struct_size = sizeof(sink),
        .finding = taker_finding,
        .option_string = taker_option_string,
        .option_int = taker_option_int,
        .core = (void *)(uintptr_t)call,
    };

    return call->taker->desc->takes(service, &sink) != 0;
}

static bool taker_ask(const struct daemon_unserved *unserved, const struct taker *taker,
                      const struct ccm_service *service, struct ccm_buf *near)
{
    const struct taker_call call = { unserved, taker, near };

    return taker_ask_with(&call, service);
}

/* A Service without class whose plugin is not configured: by default it may be anybody's, but not
 * one that is the plugin's because of options, or of what it carries. */
static bool taker_is_chosen(const struct daemon_unserved *unserved, const struct taker *taker,
                            const struct ccm_service *service)
{
    const struct taker_call defaults = { NULL, taker, NULL };
    struct ccm_service bare = *service;

    bare.meta.finalizer_count = 0;
    bare.meta.label_count = 0;
    bare.ingress_count = 0;
    return !taker_ask(unserved, taker, &bare, NULL) || !taker_ask_with(&defaults, &bare);
}

static bool taker_takes(const struct daemon_unserved *unserved, const struct taker *taker,
                        const struct ccm_service *service)
{
    const char *name = service->load_balancer_class;

    if (taker->desc->takes != NULL) {
        return taker_ask(unserved, taker, service, NULL) &&
               (taker->entry != NULL || !ccm_text_empty(name) ||
                taker_is_chosen(unserved, taker, service));
    }
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

/* The annotation without which the plugin would not take a Service without a class; NULL = none
 * decides. */
static const struct ccm_pair *taker_find_annotation(const struct daemon_unserved *unserved,
                                                    const struct taker *taker,
                                                    const struct ccm_service *service)
{
    const uint64_t count = service->meta.annotation_count;
    CCM_CLEANUP(ccm_freep)
    const struct ccm_pair **others = calloc(count + 1, sizeof(*others));
    struct ccm_service without = *service;

    if (others == NULL || taker->desc->takes == NULL ||
        !ccm_text_empty(service->load_balancer_class)) {
        return NULL;
    }
    without.meta.finalizer_count = 0;
    without.meta.label_count = 0;
    without.ingress_count = 0;
    for (uint64_t i = 1; i < count; i++) { /* without the first, to begin with */
        others[i - 1] = service->meta.annotations[i];
    }
    without.meta.annotations = others;
    without.meta.annotation_count = count - (count > 0 ? 1 : 0);
    for (uint64_t i = 0; i < count; i++) {
        if (i > 0) {
            others[i - 1] = service->meta.annotations[i - 1];
        }
        if (!taker_ask(unserved, taker, &without, NULL)) {
            return service->meta.annotations[i];
        }
    }
    return NULL;
}

/* What of the Service makes it the plugin's, and (returned) what a person can do without it. */
static const char *taker_name_choice(const struct daemon_unserved *unserved,
                                     const struct taker *taker, const struct ccm_service *service,
                                     struct ccm_buf *what)
{
    const struct ccm_pair *annotation = taker_find_annotation(unserved, taker, service);

    if (annotation != NULL) {
        ccm_buf_addf(what, "annotation %s [%.64s]", annotation->key, annotation->value);
        return "take the annotation away";
    }
    if (ccm_text_empty(service->load_balancer_class)) {
        ccm_buf_adds(what, "Services without a class");
    } else {
        ccm_buf_addf(what, "class %s", service->load_balancer_class);
    }
    return "delete the Service";
}

/* Why a plugin that takes the Service does not; "" = it does. */
static void taker_explain(const struct daemon_unserved *unserved, const struct taker *taker,
                          const struct ccm_service *service, struct ccm_buf *ret)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf choice = { .max = 1024 };
    const char *else_do = taker_name_choice(unserved, taker, service, &choice);
    const char *what = ccm_buf_str(&choice);
    const char *name = taker->entry == NULL ? taker->desc->name : taker->entry->name;
    struct ccm_error err = CCM_ERROR_INIT;
    enum plugin_state state = PLUGIN_STATE_STOPPED;

    if (taker->entry == NULL) {
        ccm_buf_addf(ret,
                     "Nothing is done for %s: plugin %s of ccmd serves it and is not configured. "
                     "Add { name = \"%s\"; } to plugins in ccmd.conf and restart ccmd, or %s",
                     what, name, name, else_do);
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

static void unserved_explain_near(const struct daemon_unserved *unserved,
                                  const struct ccm_service *service, struct ccm_buf *ret)
{
    const char *class_ = service->load_balancer_class;

    for (size_t i = 0; ret->len == 0 && i < unserved->len; i++) {
        const struct taker *taker = &unserved->items[i];
        const char *const *known = taker->desc->takes == NULL ? taker->desc->classes : NULL;

        if (taker->desc->takes != NULL) {
            (void)taker_ask(unserved, taker, service, ret); /* it does not: only words are wanted */
        }
        for (; known != NULL && *known != NULL; known++) {
            char text[CCM_CLASS_NEAR_TEXT];

            if (ret->len == 0 && ccm_class_is_near(class_, *known)) {
                ccm_class_write_near(class_, *known, text);
                ccm_buf_adds(ret, text);
            }
        }
    }
}

/* Reason why no plugin claims the Service; "" if one does or the class is foreign. True: its class
 * is unknown. */
static bool unserved_explain(const struct daemon_unserved *unserved,
                             const struct ccm_service *service, struct ccm_buf *ret)
{
    const char *class_ = service->load_balancer_class;
    bool is_known = ccm_text_empty(class_);

    for (size_t i = 0; i < unserved->len; i++) {
        if (taker_takes(unserved, &unserved->items[i], service)) {
            is_known = true;
            ccm_buf_reset(ret);
            taker_explain(unserved, &unserved->items[i], service, ret);
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
    unserved_explain_near(unserved, service, ret);
    return true;
}

/* text "": it is claimed. Returns whether it was unclaimed before. */
static bool unserved_record(const struct daemon_unserved *unserved, const char *key,
                            const char *text)
{
    return daemon_objects_note(unserved->objects, key, DAEMON_NOTE_FAILING, text[0] == '\0' ? 0 : 1,
                               CCM_ERROR_TERMINAL, text);
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

    if (kube_event_emit(unserved->services->events, &event)) {
        daemon_journal_record_event(unserved->services->journal, &event);
    }
}

void daemon_unserved_look(struct daemon_unserved *unserved, const struct ccm_object *before,
                          const struct ccm_object *after)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 1024 };
    bool unknown = false;

    if (unserved == NULL || !ccm_gate_leads(&unserved->services->gate)) {
        return;
    }
    if (after == NULL) {
        if (before != NULL) {
            (void)unserved_record(unserved, before->key, ""); /* its events go with it */
        }
        return;
    }
    if (unserved_wants(after)) {
        unknown =
            unserved_explain(unserved, (const struct ccm_service *)(const void *)after, &text);
    }

    const bool was_unclaimed = unserved_record(unserved, after->key, ccm_buf_str(&text));

    if (text.len > 0 || was_unclaimed) {
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

struct unclaimed {
    char *key;
    int64_t since_ms;
};

struct unclaimed_list {
    struct unclaimed *items;
    size_t len;
    size_t cap;
};

static void unclaimed_copy(void *arg, const char *key, const struct daemon_note *note)
{
    struct unclaimed_list *list = arg;
    CCM_CLEANUP(ccm_freep) char *copy = strdup(key);

    if (copy != NULL &&
        ccm_array_grow(&list->items, &list->cap, list->len + 1, sizeof(*list->items)) == 0) {
        list->items[list->len++] = (struct unclaimed){ CCM_STEAL(copy), note->since_ms };
    }
}

void daemon_unserved_list(struct daemon_unserved *unserved,
                          void (*fn)(void *arg, const char *key, int64_t since_ms,
                                     const char *reason),
                          void *arg)
{
    struct unclaimed_list list = { 0 };

    if (unserved == NULL) {
        return;
    }
    daemon_objects_list_noted(unserved->objects, DAEMON_NOTE_FAILING, unclaimed_copy, &list);
    for (size_t i = 0; i < list.len; i++) {
        struct kube_store *store = unserved->services->stores[CCM_KIND_SERVICE];
        CCM_CLEANUP(kube_object_unrefp)
        const struct ccm_object *object =
            store == NULL ? NULL : kube_store_get(store, list.items[i].key);
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 1024 };

        /* As it is now: a look at all may have met an older one. */
        if (unserved_wants(object)) {
            (void)unserved_explain(unserved, (const struct ccm_service *)(const void *)object,
                                   &text);
        }
        if (text.len > 0) {
            fn(arg, list.items[i].key, list.items[i].since_ms, ccm_buf_str(&text));
        }
        free(list.items[i].key);
    }
    free(list.items);
}
