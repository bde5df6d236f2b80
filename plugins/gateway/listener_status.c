#include "listener_status.h"

#include "util/cleanup.h"
#include "util/text.h"

#include <string.h>

static struct lbc_custom_condition condition_of(const char *type, const char *fault,
                                                const char *fine, const char *why)
{
    return (struct lbc_custom_condition){ type, fault == NULL, fault == NULL ? fine : fault,
                                          fault == NULL ? "" : why };
}

/* Programmed while its certificates are not known: it may serve with those that it has. False: the
 * condition stays. */
static bool listener_fill_open(const struct gateway_listener *listener, const char *why,
                               struct lbc_custom_condition *programmed)
{
    const cJSON *said = lbc_custom_condition_find(listener->said, GATEWAY_PROGRAMMED);

    if (said != NULL &&
        (listener->pending || ccm_text_equal(ccm_json_text(said, "status"), "True"))) {
        return false;
    }
    *programmed =
        (struct lbc_custom_condition){ GATEWAY_PROGRAMMED, false, GATEWAY_PENDING,
                                       why[0] == '\0' ? "its Secrets are read first" : why };
    return true;
}

/* usual: of listeners that can be served; NULL = not known. False: the condition stays. */
static bool listener_fill_programmed(const struct gateway_listener *listener, const char *why,
                                     const struct lbc_custom_condition *usual,
                                     struct lbc_custom_condition *programmed)
{
    if (listener->unread && listener->keeps && listener->why == NULL) {
        return listener_fill_open(listener, why, programmed);
    }
    if (listener->unusable) {
        *programmed = (struct lbc_custom_condition){ GATEWAY_PROGRAMMED, false,
                                                     listener->conflict != NULL ? listener->conflict
                                                                                : GATEWAY_INVALID,
                                                     why };
        return true;
    }
    if (usual == NULL) {
        return false;
    }
    *programmed = *usual;
    if (programmed->holds) {
        programmed->message =
            listener->is_tls && (listener->passes || listener->hostname[0] != '\0')
                ? "by the port alone: names inside of TLS have no effect, and of several routes "
                  "the oldest serves"
                : "";
    }
    return true;
}

/* A first condition waits until the Secrets are read. */
static int listener_put_resolved(const struct gateway_listener *listener, cJSON *conditions,
                                 const char *why, const struct lbc_custom_moment *moment)
{
    const struct lbc_custom_condition resolved =
        condition_of(GATEWAY_RESOLVED_REFS, listener->unresolved, GATEWAY_RESOLVED_REFS, why);

    return listener->pending && listener->unresolved == NULL &&
                   lbc_custom_condition_find(listener->said, GATEWAY_RESOLVED_REFS) == NULL
               ? 0
               : lbc_custom_condition_put(conditions, &resolved, moment);
}

static int listener_put_conditions(const struct gateway_listener *listener, cJSON *conditions,
                                   const struct lbc_custom_condition *usual,
                                   const struct lbc_custom_moment *moment)
{
    const char *unresolved = listener->unresolved_why == NULL ? "" : listener->unresolved_why;
    const char *why = listener->why == NULL ? unresolved : listener->why;
    const char *refused = listener->refused != NULL ? listener->refused : listener->conflict;
    struct lbc_custom_condition programmed = { 0 };
    char port[GATEWAY_PORT_TEXT];
    struct lbc_custom_condition conflicted =
        condition_of(GATEWAY_CONFLICTED, listener->conflict, "NoConflicts", why);
    const struct lbc_custom_condition accepted =
        condition_of(GATEWAY_ACCEPTED, refused, GATEWAY_ACCEPTED, why);
    int r = lbc_custom_condition_put(conditions, &accepted, moment);

    gateway_listener_print_port(listener, port);
    conflicted.message = conflicted.holds ? port : why;
    conflicted.holds = !conflicted.holds;
    r = r < 0 ? r : lbc_custom_condition_put(conditions, &conflicted, moment);
    r = r < 0 ? r : listener_put_resolved(listener, conditions, unresolved, moment);
    return r < 0 || !listener_fill_programmed(listener, why, usual, &programmed)
               ? r
               : lbc_custom_condition_put(conditions, &programmed, moment);
}

static cJSON *listener_make_kinds(const struct gateway_listener *listener)
{
    const unsigned shown = listener->conflict == NULL ? listener->kinds : 0;
    cJSON *kinds = cJSON_CreateArray();

    for (unsigned i = 0; kinds != NULL && i < GATEWAY_ROUTE_KINDS; i++) {
        cJSON *one = (shown & 1U << i) == 0 ? NULL : cJSON_CreateObject();

        if ((shown & 1U << i) == 0) {
            continue;
        }
        if (one == NULL || cJSON_AddStringToObject(one, "group", GATEWAY_GROUP) == NULL ||
            cJSON_AddStringToObject(one, "kind", gateway_route_names[i].kind) == NULL ||
            !cJSON_AddItemToArray(kinds, one)) {
            cJSON_Delete(one);
            cJSON_Delete(kinds);
            return NULL;
        }
    }
    return kinds;
}

static const cJSON *listener_find_shown(const cJSON *status, const char *name)
{
    const cJSON *one = ccm_json_items(status, "listeners");

    while (one != NULL && !ccm_text_equal(ccm_json_text(one, "name"), name)) {
        one = one->next;
    }
    return one;
}

static cJSON *listener_make_status(const struct gateway_listener *listener, const cJSON *status,
                                   const struct lbc_custom_condition *programmed,
                                   const struct lbc_custom_moment *moment)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *made = cJSON_CreateObject();
    cJSON *conditions =
        lbc_custom_array_copy(listener_find_shown(status, listener->name), "conditions");

    if (made == NULL || conditions == NULL ||
        listener_put_conditions(listener, conditions, programmed, moment) < 0) {
        cJSON_Delete(conditions);
        return NULL;
    }
    if (!lbc_custom_put(made, "conditions", conditions) ||
        cJSON_AddStringToObject(made, "name", listener->name) == NULL ||
        cJSON_AddNumberToObject(made, "attachedRoutes", (double)listener->attached) == NULL ||
        !lbc_custom_put(made, "supportedKinds", listener_make_kinds(listener))) {
        return NULL;
    }
    return CCM_STEAL(made);
}

cJSON *gateway_listeners_show(const struct gateway_listener *listeners, size_t count,
                              const cJSON *shown, const struct lbc_custom_condition *programmed,
                              const struct lbc_custom_moment *moment)
{
    cJSON *all = cJSON_CreateArray();

    for (size_t i = 0; all != NULL && i < count; i++) {
        cJSON *one = listener_make_status(&listeners[i], shown, programmed, moment);

        if (one == NULL || !cJSON_AddItemToArray(all, one)) {
            cJSON_Delete(one);
            cJSON_Delete(all);
            return NULL;
        }
    }
    return all;
}
