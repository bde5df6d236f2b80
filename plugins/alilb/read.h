/*
 * From the cloud to plain data, as far as the products agree: the load balancer of a Service, tags,
 * backends. All or nothing: a failed read never looks like an empty answer. What talks to the cloud
 * blocks as alilb_send() does; the rest is pure. One thread per call struct.
 */
#ifndef CCM_ALILB_READ_H
#define CCM_ALILB_READ_H

#include "alilb/action.h"
#include "lbc/apply/state.h"
#include "lbc/lookup.h"
#include "lbc/survey.h"
#include "lbc/vswitch.h"

extern const struct alilb_action alilb_api_vswitch; /* id */

/* How a product is read. */
struct alilb_source {
    /* List those with that ownership tag, or of that name when tag_value is NULL. */
    int (*find)(struct alilb_call *call, const char *tag_value, const char *name, alilb_item_fn fn,
                void *arg, struct ccm_error *err);
    const struct alilb_action *get; /* one, by its id */
    /* Replace what the cloud tells about the load balancer. 0, -ENOMEM, or -EPROTO (malformed). */
    int (*parse)(const cJSON *json, struct lbc_lb *lb);
    bool paced;      /* a load balancer takes one change at a time */
    bool full_texts; /* messages say which Service it is, and what was looked for */
    /* For the inventory: list those with a tag, by its key and value; without both, all. */
    const struct alilb_action *tagged;
    /* Whether one of them, as listed, has that address or hostname. */
    bool (*has_address)(const cJSON *json, const struct ccm_ingress *address);
    const struct lbc_state_type *type;
    const struct alilb_action *listeners; /* of load balancers */
    /* One into an empty listener; results as of parse(). */
    int (*parse_listener)(const cJSON *json, struct lbc_listener *listener);
};

/*
 * The load balancer of a Service: by ownership tag, then, when the Service shows signs of an
 * earlier one (label, status) or how->by_name says so, by its default name, which counts only for
 * one without another owner; with how->by_name also by the name that its annotation asks for. lb
 * stays as it is when there is none. Which one of several it is, and the errors: lbc_lookup_end().
 * how: NULL = as the Service shows. The caller finishes lb and how->several in any case.
 */
CCM_NODISCARD int alilb_read_own_lb(struct alilb_call *call, const struct alilb_source *source,
                                    const struct ccm_service *service, struct lbc_lookup_how *how,
                                    struct lbc_lb *lb, struct ccm_error *err);
/* One that is known by its id; -ENOENT with CCM_ERROR_NOT_FOUND when it does not exist. */
CCM_NODISCARD int alilb_read_lb(struct alilb_call *call, const struct alilb_source *source,
                                const char *id, struct lbc_lb *lb, struct ccm_error *err);

/* Member of struct lbc_read_ops; as the next, with the source of the product, alilb_source_of(). */
CCM_NODISCARD int alilb_read_pass_lb(struct lbc_pass *pass, const char *id, struct lbc_state *state,
                                     struct ccm_error *err);
/* Member of struct lbc_read_ops: one list of all, whose addresses are compared. A filter by address
 * would be one call for each, and compare texts. */
CCM_NODISCARD int alilb_read_shown(struct lbc_pass *pass, struct ccm_error *err);
/* Member of struct lbc_read_ops. */
CCM_NODISCARD int alilb_read_vswitch(struct lbc_pass *pass, const char *id,
                                     struct lbc_vswitch_use *ret, struct ccm_error *err);
/* Member of struct lbc_inventory_ops. */
CCM_NODISCARD int alilb_list_lbs(struct lbc_instance *lbc, const struct ccm_request *req,
                                 struct lbc_survey *items, struct ccm_error *err);

/* The listeners of a load balancer, args being its id, instead of those of `state`: all or none. */
CCM_NODISCARD int alilb_read_listeners(struct alilb_call *call, const struct alilb_source *source,
                                       const struct alilb_args *args, struct lbc_state *state,
                                       struct ccm_error *err);
/* Append one of them. */
CCM_NODISCARD int alilb_add_listener(const struct alilb_source *source, const cJSON *json,
                                     struct lbc_state *state, struct ccm_error *err);

/* Replace the backends of a group by those of the cloud; the group is `unread` after a failure. */
CCM_NODISCARD int alilb_read_backends(struct alilb_call *call, const struct alilb_action *action,
                                      struct lbc_group *group, struct ccm_error *err);
/* Put one of its backends. 0, -ENOMEM, or -EPROTO when it is none. */
CCM_NODISCARD int alilb_parse_backend(const cJSON *json, struct lbc_group *group);

/* The tags of a resource, in whichever of its spellings; *ret is replaced. 0 or -ENOMEM. */
CCM_NODISCARD int alilb_parse_tags(const cJSON *json, struct lbc_tags *ret);
/* A port, or anything else that has 16 bits. False: it is none, and *ret is 0. */
bool alilb_parse_port(const cJSON *json, const char *name, uint16_t *ret);

/* err for a failure of parsing, -ENOMEM or "the cloud's answer has a {what} that is none". Returns
 * r. */
int alilb_refuse(int r, const char *what, struct ccm_error *err);

#endif
