#include "status.h"

#include "address.h"
#include "lbc/custom/condition.h"
#include "lbc/custom/write.h"
#include "lbc/service/condition.h"
#include "listener_status.h"
#include "memory.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

/* One status in the making. */
struct draft {
    const struct gateway_subject *subject;
    struct lbc_custom_moment moment;
    bool settled;
    const char *address; /* "" = none */
    bool known;          /* the engine has said how it is: */
    bool ready;
    const char *reason;
    const char *message;
};

/* --- what the engine has said --- */

/* What this process knows, else what an earlier one has left. */
static void draft_init(struct draft *draft, const struct lbc_custom_said *said, const cJSON *status)
{
    const cJSON *shown = lbc_custom_condition_find(status, LBC_LIFE_CONDITION);

    draft->address = said->has_address
                         ? said->address
                         : lbc_custom_text(ccm_json_items(status, "addresses"), "value", "");
    draft->known = said->has_state ? said->reason[0] != '\0' : shown != NULL;
    draft->ready =
        said->has_state ? said->ready : ccm_text_equal(ccm_json_text(shown, "status"), "True");
    draft->reason = said->has_state ? said->reason : lbc_custom_text(shown, "reason", "");
    draft->message = said->has_state ? said->message : lbc_custom_text(shown, "message", "");
}

/* That nobody serves a port does not make the load balancer another one. */
static bool draft_is_programmed(const struct draft *draft)
{
    return draft->address[0] != '\0' && draft->known &&
           (draft->ready || strcmp(draft->reason, LBC_CONDITION_NO_BACKEND) == 0 ||
            strcmp(draft->reason, LBC_CONDITION_UNHEALTHY) == 0);
}

/* --- the Gateway --- */

static void draft_fill_accepted(const struct draft *draft, struct lbc_custom_condition *ret)
{
    const struct gateway_subject *subject = draft->subject;

    *ret = (struct lbc_custom_condition){ GATEWAY_ACCEPTED, true, GATEWAY_ACCEPTED,
                                          "the Gateway is served" };
    if (subject->invalid != NULL) {
        *ret = (struct lbc_custom_condition){ GATEWAY_ACCEPTED, false, subject->invalid,
                                              subject->why };
    } else if (subject->own_usable < subject->own) {
        *ret =
            (struct lbc_custom_condition){ GATEWAY_ACCEPTED, subject->usable > 0, GATEWAY_NOT_VALID,
                                           subject->usable > 0
                                               ? "some listeners cannot be served, see their "
                                                 "conditions"
                                               : "no listener can be served, see their "
                                                 "conditions" };
    }
}

static void draft_fill_programmed(const struct draft *draft, struct lbc_custom_condition *ret)
{
    const struct gateway_subject *subject = draft->subject;

    *ret = (struct lbc_custom_condition){ GATEWAY_PROGRAMMED, false, GATEWAY_PENDING,
                                          "the load balancer is being made" };
    if (subject->invalid != NULL || subject->usable == 0) {
        ret->reason = GATEWAY_INVALID;
        ret->message = subject->invalid != NULL && draft_is_programmed(draft)
                           ? "it keeps the settings that it was programmed with before"
                           : "there is nothing that could be served";
    } else if (draft_is_programmed(draft)) {
        *ret = (struct lbc_custom_condition){ GATEWAY_PROGRAMMED, true, GATEWAY_PROGRAMMED,
                                              draft->message };
    } else if (draft->known && !draft->ready) {
        ret->reason = strcmp(draft->reason, "Refused") == 0 ? GATEWAY_INVALID : GATEWAY_PENDING;
        ret->message = draft->message;
    }
}

static int draft_put_conditions(const struct draft *draft, cJSON *conditions)
{
    const struct lbc_custom_condition engine = { LBC_LIFE_CONDITION, draft->ready, draft->reason,
                                                 draft->message };
    struct lbc_custom_condition accepted;
    struct lbc_custom_condition programmed;
    int r = 0;

    draft_fill_accepted(draft, &accepted);
    draft_fill_programmed(draft, &programmed);
    r = lbc_custom_condition_put(conditions, &accepted, &draft->moment);
    if (r == 0 && (draft->settled || !programmed.holds)) {
        r = lbc_custom_condition_put(conditions, &programmed, &draft->moment);
    }
    if (!draft->known) {
        lbc_custom_condition_drop(conditions, LBC_LIFE_CONDITION);
        return r;
    }
    return r < 0 ? r : lbc_custom_condition_put(conditions, &engine, &draft->moment);
}

static cJSON *draft_make_addresses(const struct draft *draft)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *addresses = cJSON_CreateArray();
    cJSON *one = draft->address[0] == '\0' ? NULL : cJSON_CreateObject();

    if (one == NULL && draft->address[0] == '\0') {
        return CCM_STEAL(addresses);
    }
    if (addresses == NULL || one == NULL ||
        cJSON_AddStringToObject(one, "type", "Hostname") == NULL ||
        cJSON_AddStringToObject(one, "value", draft->address) == NULL ||
        !cJSON_AddItemToArray(addresses, one)) {
        cJSON_Delete(one);
        return NULL;
    }
    return draft_is_programmed(draft) &&
                   gateway_addresses_show(ccm_json_get(draft->subject->gateway.json, "spec"),
                                          addresses) < 0
               ? NULL
               : CCM_STEAL(addresses);
}

/* --- the whole --- */

/* A server that has no ListenerSets may not have the field either. */
static bool draft_put_sets(const struct draft *draft, const cJSON *shown, cJSON *status)
{
    static const char name[] = "attachedListenerSets";
    const size_t count = gateway_sets_count_accepted(draft->subject);

    return (count == 0 && ccm_json_i64(shown, name, 0) == 0) ||
           cJSON_AddNumberToObject(status, name, (double)count) != NULL;
}

static cJSON *draft_make_status(const struct draft *draft, const cJSON *shown)
{
    const struct gateway_subject *subject = draft->subject;
    CCM_CLEANUP(ccm_json_freep) cJSON *status = cJSON_CreateObject();
    cJSON *conditions = lbc_custom_array_copy(shown, "conditions");
    struct lbc_custom_condition programmed;

    if (status == NULL || conditions == NULL || draft_put_conditions(draft, conditions) < 0) {
        cJSON_Delete(conditions);
        return NULL;
    }
    draft_fill_programmed(draft, &programmed);
    return lbc_custom_put(status, "conditions", conditions) &&
                   lbc_custom_put(status, "addresses", draft_make_addresses(draft)) &&
                   lbc_custom_put(status, "listeners",
                                  gateway_listeners_show(
                                      subject->listeners, subject->own, shown,
                                      draft->settled || !programmed.holds ? &programmed : NULL,
                                      &draft->moment)) &&
                   draft_put_sets(draft, shown, status)
               ? CCM_STEAL(status)
               : NULL;
}

int gateway_status_publish(const struct gateway *self, const struct ccm_request *req,
                           const struct gateway_subject *subject, bool settled,
                           bool *ret_programmed, struct ccm_error *err)
{
    const struct ccm_object *object = subject->gateway.object;
    const cJSON *shown = ccm_json_get(subject->gateway.json, "status");
    const struct lbc_custom_place place = { object->key, GATEWAY_V1, "gateways", object };
    struct gateway_memory *memory = gateway_memory_get(self, object->key, object->uid);
    CCM_CLEANUP(ccm_json_freep) cJSON *status = NULL;
    struct draft draft = {
        .subject = subject,
        .settled = settled,
        .moment = { object->generation, self->host->wall_ms(self->host) },
    };

    *ret_programmed = false;
    if (memory == NULL) {
        return ccm_error_nomem(err);
    }
    draft_init(&draft, &memory->said, shown);
    *ret_programmed = draft_is_programmed(&draft);
    status = draft_make_status(&draft, shown);
    return lbc_custom_write_status(&self->front.custom, req, &place, status, shown, err);
}
