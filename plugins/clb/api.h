/*
 * The cloud's actions as rows, for the functions of alilb/action.h, and what they take or give that
 * is no text. Beside each row: its texts. api_lb.c, api_listener.c, api_group.c and api_ranges.c
 * have those of the load balancer, listeners, groups and access lists. No decisions.
 * How an action is added: CONTRIBUTING.md.
 */
#ifndef CCM_CLB_API_H
#define CCM_CLB_API_H

#include "alilb/action.h"
#include "clb.h"
#include "state.h"

/* --- the load balancer --- */

/* List those with that ownership tag, or of that name when tag_value is NULL. */
CCM_NODISCARD int clb_api_find_lb(struct alilb_call *call, const char *tag_value, const char *name,
                                  alilb_item_fn fn, void *arg, struct ccm_error *err);
extern const struct alilb_action clb_api_tagged_lbs; /* a list; key and value of the tag */
extern const struct alilb_action clb_api_lb;         /* id */
extern const struct alilb_action clb_api_health;  /* LoadBalancerId: what checks say of backends */
extern const struct alilb_action clb_api_eips; /* a list; "SlbInstance", id of the load balancer */

extern const struct alilb_action clb_api_create_lb; /* VPC, protection of deletion, "on" or "off",
                                                       why it is protected, ClientToken; the
                                                       attributes, marks and tags */
/* The id, then the new values. */
extern const struct alilb_action clb_api_rename_lb;
extern const struct alilb_action clb_api_protect_lb;           /* "on" or "off" */
extern const struct alilb_action clb_api_protect_modification; /* "ConsoleProtection" with a reason,
                                                                  or "NonProtection" */
extern const struct alilb_action clb_api_charge_lb;            /* charge type, spec */
extern const struct alilb_action clb_api_spec_lb;
extern const struct alilb_action clb_api_internet_lb; /* charge type, bandwidth */
extern const struct alilb_action clb_api_delete_lb;

/* --- listeners --- */

#define CLB_LISTENERS_BATCH 10

extern const struct alilb_action clb_api_listeners; /* a list; ids of load balancers */

/* Make or change one. group_id NULL: it sends to none. */
CCM_NODISCARD int clb_api_write_listener(struct alilb_call *call, const char *lb_id,
                                         const struct lbc_listener *listener, const char *group_id,
                                         bool create, struct ccm_error *err);
/* Id of the load balancer, port, protocol. */
extern const struct alilb_action clb_api_start_listener;
extern const struct alilb_action clb_api_delete_listener;

extern const struct alilb_action clb_api_domains;       /* a list; id of the load balancer, port */
extern const struct alilb_action clb_api_create_domain; /* the same; name, certificate */
extern const struct alilb_action clb_api_set_domain;    /* id, certificate */
extern const struct alilb_action clb_api_delete_domain; /* id */
extern const struct alilb_action clb_api_certificate;   /* id */

/* --- groups --- */

extern const struct alilb_action clb_api_groups;   /* id of the load balancer */
extern const struct alilb_action clb_api_backends; /* id of the group */

extern const struct alilb_action clb_api_create_group; /* id of the load balancer, name */
extern const struct alilb_action clb_api_delete_group; /* id, as in all that follow */
extern const struct alilb_action clb_api_add;
extern const struct alilb_action clb_api_remove;
extern const struct alilb_action clb_api_weigh;
/* The backends of these; the description is written into each. */
void clb_api_add_backends(struct ali_params *params, const char *description,
                          const struct lbc_backends *set);

/* --- access lists --- */

#define CLB_ENTRIES_MAX 50 /* entries per call */

extern const struct alilb_action clb_api_acls;       /* a list of those whose name holds a text */
extern const struct alilb_action clb_api_entries;    /* a list; id */
extern const struct alilb_action clb_api_create_acl; /* name, family, resource group */
extern const struct alilb_action clb_api_delete_acl; /* id */
/* At most CLB_ENTRIES_MAX. */
CCM_NODISCARD int clb_api_change_acl(struct alilb_call *call, const char *id,
                                     const struct lbc_texts *entries, bool remove,
                                     struct ccm_error *err);

#endif
