/* What a ListenerSet says of itself and its listeners; set.h. */
#include "lbc/custom/condition.h"
#include "lbc/custom/write.h"
#include "listener_status.h"
#include "set.h"
#include "subject.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One status in the making. */
struct look {
    const struct lbc_custom_item *set;
    const struct gateway_subject *subject;
    const struct gateway_set *taken;    /* in the subject; NULL = it is not */
    struct gateway_listener *listeners; /* GATEWAY_LISTENERS_MAX, those of the set alone; */
    size_t count;
    size_t usable;
    struct lbc_custom_condition accepted;
    struct lbc_custom_condition programmed;
    bool settled; /* programmed is known */
};

/* --- listeners --- */

static bool look_is_allowed(const struct look *look)
{
    const struct gateway_subject *subject = look->subject;
    const struct lbc_custom_item *gateway = subject == NULL ? NULL : &subject->gateway;

    return gateway != NULL && gateway_set_is_allowed(look->subject->host, gateway->object,
                                                     ccm_json_get(gateway->json, "spec"),
                                                     look->set->object->namespace_);
}

/* As the Gateway has them; those that it has no room for are refused. */
static int look_read_listeners(const struct gateway *self, struct look *look)
{
    const struct gateway_owner owner = { GATEWAY_SET, look->set->object, look->set->json, false };
    const int r = gateway_listeners_read(self, &owner, look->listeners, &look->count);
    const size_t room = look->taken == NULL ? 0 : look->taken->count;

    for (size_t i = 0; r == 0 && i < look->count; i++) {
        struct gateway_listener *one = &look->listeners[i];

        if (i < room) {
            gateway_listeners_fini(one, 1);
            *one = look->subject->listeners[look->taken->first + i];
            one->uploaded = NULL; /* these are the subject's */
            one->uploads = (struct lbc_texts){ 0 };
            one->certificate_why = NULL;
            look->usable += one->unusable ? 0 : 1;
            continue;
        }
        one->refused = "TooManyListeners";
        one->why = "the Gateway and its ListenerSets have more than 64 listeners";
        one->unusable = true;
    }
    return r;
}

/* --- conditions --- */

static void look_refuse(struct look *look, const char *reason, const char *programmed,
                        const char *why)
{
    look->accepted = (struct lbc_custom_condition){ GATEWAY_ACCEPTED, false, reason, why };
    look->programmed = (struct lbc_custom_condition){ GATEWAY_PROGRAMMED, false, programmed, why };
    look->settled = true;
}

/* What the Gateway's own pass has found, else what an earlier process has left. */
static void look_fill_programmed(const struct gateway *self, struct look *look, const char *key)
{
    const uint64_t mark = lbc_custom_record_marked(self->front.custom.records, key);
    const bool holds = mark == gateway_set_mark(look->subject, look->taken, true);

    look->programmed = (struct lbc_custom_condition){
        GATEWAY_PROGRAMMED, holds, holds ? GATEWAY_PROGRAMMED : GATEWAY_PENDING,
        holds ? "" : "the load balancer does not serve its listeners yet, see the Gateway"
    };
    look->settled =
        holds || mark == gateway_set_mark(look->subject, look->taken, false) ||
        !lbc_custom_condition_holds(ccm_json_get(look->set->json, "status"), GATEWAY_PROGRAMMED);
}

static void look_fill_conditions(const struct gateway *self, struct look *look, const char *key)
{
    const struct gateway_subject *subject = look->subject;

    if (subject == NULL) {
        look_refuse(look, "ParentNotAccepted", "ParentNotProgrammed", "the Gateway is gone");
    } else if (!look_is_allowed(look)) {
        look_refuse(look, "NotAllowed", "NotAllowed",
                    "spec.allowedListeners of the Gateway does not take ListenerSets of this "
                    "namespace");
    } else if (subject->invalid != NULL || subject->gateway.object->deleted_ms != 0) {
        look_refuse(look, "ParentNotAccepted", "ParentNotProgrammed",
                    "the Gateway is not accepted, or is being deleted");
    } else if (look->usable == 0) {
        look_refuse(look, GATEWAY_NOT_VALID, GATEWAY_NOT_VALID,
                    "no listener can be served, see their conditions");
    } else {
        const bool all = look->usable == look->count;

        look->accepted = (struct lbc_custom_condition){
            GATEWAY_ACCEPTED, true, all ? GATEWAY_ACCEPTED : GATEWAY_NOT_VALID,
            all ? "its listeners are those of the Gateway"
                : "some listeners cannot be served, see their conditions"
        };
        look_fill_programmed(self, look, key);
    }
}

/* --- ports that change hands --- */

static void listener_emit_taken(const struct gateway *self, const struct gateway_listener *one,
                                bool taker)
{
    const struct gateway_listener *other = one->rival;
    char port[GATEWAY_PORT_TEXT];
    CCM_CLEANUP(ccm_freep) char *text = NULL;
    struct ccm_event event = { .struct_size = sizeof(event),
                               .object = taker ? other->owner : one->owner,
                               .component = GATEWAY_COMPONENT,
                               .reason = "PortTaken",
                               .warning = 1 };

    gateway_listener_print_port(one, port);
    text = taker ? ccm_text_format("listener %s has taken %s from ListenerSet %s", other->name,
                                   port, one->owner->key)
                 : ccm_text_format("listener %s has lost %s to %s %s, which has precedence",
                                   one->name, port, other->owner_kind, other->owner->key);
    event.message = text == NULL ? port : text;
    self->host->event(self->host, &event);
}

/* The status that was just written says for the first time that they lost their ports. */
static void look_emit_taken(const struct gateway *self, const struct look *look)
{
    for (size_t i = 0; i < look->count; i++) {
        const struct gateway_listener *one = &look->listeners[i];

        if (one->held && one->rival != NULL && one->rival->owner != one->owner) {
            listener_emit_taken(self, one, false);
            listener_emit_taken(self, one, true);
        }
    }
}

/* --- all of it --- */

static cJSON *look_make_status(const struct look *look, const cJSON *shown, int64_t wall_ms)
{
    const struct lbc_custom_moment moment = { look->set->object->generation, wall_ms };
    const struct lbc_custom_condition *programmed = look->settled ? &look->programmed : NULL;
    CCM_CLEANUP(ccm_json_freep) cJSON *status = cJSON_CreateObject();
    cJSON *conditions = lbc_custom_array_copy(shown, "conditions");

    if (status == NULL || conditions == NULL ||
        lbc_custom_condition_put(conditions, &look->accepted, &moment) < 0 ||
        (programmed != NULL && lbc_custom_condition_put(conditions, programmed, &moment) < 0)) {
        cJSON_Delete(conditions);
        return NULL;
    }
    return lbc_custom_put(status, "conditions", conditions) &&
                   lbc_custom_put(status, "listeners",
                                  gateway_listeners_show(look->listeners, look->count, shown,
                                                         programmed, &moment))
               ? CCM_STEAL(status)
               : NULL;
}

static int look_publish(const struct gateway *self, const struct ccm_request *req,
                        struct look *look, struct ccm_error *err)
{
    const struct lbc_custom_place place = { req->keys[0], GATEWAY_V1, GATEWAY_SETS,
                                            look->set->object };
    const cJSON *shown = ccm_json_get(look->set->json, "status");
    CCM_CLEANUP(ccm_json_freep) cJSON *status = NULL;
    int r = 0;

    if (look_is_allowed(look) && look_read_listeners(self, look) < 0) {
        return ccm_error_nomem(err);
    }
    look_fill_conditions(self, look, req->keys[0]);
    status = look_make_status(look, shown, self->host->wall_ms(self->host));
    r = lbc_custom_write_status(&self->front.custom, req, &place, status, shown, err);
    if (r == 0) {
        look_emit_taken(self, look);
    }
    return r;
}

static int set_publish(const struct gateway *self, const struct ccm_request *req,
                       const struct lbc_custom_item *set, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *key = NULL;
    CCM_CLEANUP(gateway_subject_freep) struct gateway_subject *subject = NULL;
    struct look look = { .set = set };
    int r = gateway_set_find_gateway(set->json, set->object->namespace_, &key);

    if (r == 0 && key != NULL) {
        r = gateway_subject_new(self, key, false, &subject);
    }
    look.subject = subject;
    /* Those that may not be part of it are told so without a look at routes: there may be many. */
    if (r == 0 && subject != NULL && subject->claim == GATEWAY_OURS && look_is_allowed(&look)) {
        gateway_subject_freep(&subject);
        r = gateway_subject_new(self, key, true, &subject);
        look.subject = subject;
    }
    if (r < 0) {
        return ccm_error_nomem(err);
    }
    /* Of a Gateway that is gone this process knows whether it was ours. */
    if (subject == NULL ? lbc_custom_record_marked(self->front.custom.records, req->keys[0]) == 0
                        : subject->claim != GATEWAY_OURS) {
        return 0;
    }
    look.taken = subject == NULL ? NULL : gateway_set_find(&subject->sets, set->object->key);
    look.listeners = calloc(GATEWAY_LISTENERS_MAX, sizeof(*look.listeners));
    r = look.listeners == NULL ? ccm_error_nomem(err) : look_publish(self, req, &look, err);
    if (r == 0 && !look_is_allowed(&look)) { /* what was known of it is over */
        (void)lbc_custom_record_mark(self->front.custom.records, req->keys[0], 0);
    }
    gateway_listeners_fini(look.listeners, look.count);
    free(look.listeners);
    return r;
}

int gateway_set_reconcile(const struct gateway *self, const struct ccm_request *req,
                          struct ccm_error *err)
{
    struct lbc_custom_item set = { 0 };
    int r = lbc_custom_item_get(self->host, GATEWAY_V1, GATEWAY_SETS,
                                req->keys[0] + strlen(GATEWAY_SET_KEY), &set);

    if (r < 0) {
        r = ccm_error_nomem(err);
    } else if (set.object == NULL) {
        lbc_custom_record_forget(self->front.custom.records, req->keys[0]);
    } else {
        r = set_publish(self, req, &set, err);
    }
    lbc_custom_item_fini(self->host, &set);
    return r;
}
