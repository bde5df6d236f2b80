/*
 * The cloud's actions as rows, for the functions of alilb/action.h, and what they take that is no
 * text. Beside each row: its texts. api_lb.c, api_listener.c, api_group.c and api_ranges.c have
 * those of load balancers, listeners, groups and security groups. No decisions.
 * How an action is added: CONTRIBUTING.md.
 */
#ifndef CCM_NLB_API_H
#define CCM_NLB_API_H

#include "alilb/action.h"
#include "state.h"

/* What the rows of all changes have in common. */
#define NLB_API_WRITE .product = ALI_NLB, .repeat = ALI_IDEMPOTENT, .token = true

/* --- load balancers --- */

extern const struct alilb_action nlb_api_lbs; /* a list; key and value of a tag, or NULL twice and
                                                 the name */
extern const struct alilb_action nlb_api_lb;  /* id */

extern const struct alilb_action nlb_api_create_lb; /* VPC, why it is protected, ClientToken; the
                                                       attributes, tags and zones */
/* The id, then the new values. */
extern const struct alilb_action nlb_api_update_zones;        /* and the zones */
extern const struct alilb_action nlb_api_update_address_type; /* type; and the zones */
extern const struct alilb_action nlb_api_delete_lb;
extern const struct alilb_action nlb_api_update_lb;  /* name, cross-zone */
extern const struct alilb_action nlb_api_protect_lb; /* of deletion, of modification, why */
extern const struct alilb_action nlb_api_enable_ipv6;
extern const struct alilb_action nlb_api_disable_ipv6;
extern const struct alilb_action nlb_api_join; /* and a list of security groups */
extern const struct alilb_action nlb_api_leave;
extern const struct alilb_action nlb_api_attach; /* bandwidth package */
extern const struct alilb_action nlb_api_detach;
/* Their zones; addresses: private ones too. */
void nlb_api_add_zones(struct ali_params *params, const struct nlb_lb *lb, bool addresses);

/* --- listeners --- */

extern const struct alilb_action nlb_api_listeners; /* a list; id of the load balancer, NULL: all of
                                                       the region */
extern const struct alilb_action nlb_api_certs;     /* a list; id of the listener */
extern const struct alilb_action nlb_api_health;    /* a list; id of the listener */

extern const struct alilb_action nlb_api_create_listener; /* id of the load balancer, protocol,
                                                             description, id of the group; the ports
                                                             and attributes */
extern const struct alilb_action nlb_api_update_listener; /* id, description, id of the group; the
                                                             attributes */
extern const struct alilb_action nlb_api_delete_listener; /* id */
/* Id of the listener; and at most NLB_CERTS_MAX certificates. */
extern const struct alilb_action nlb_api_add_certs;
extern const struct alilb_action nlb_api_remove_certs;
/* The ports of the step's listener. */
void nlb_api_add_ports(const struct lbc_step *step, struct ali_params *params);

/* --- server groups and servers --- */

extern const struct alilb_action nlb_api_groups;  /* a list; key and value of a tag, or ids */
extern const struct alilb_action nlb_api_servers; /* a list; id of the group, NULL: all of the
                                                     region */

extern const struct alilb_action nlb_api_create_group; /* name, VPC, protocol, type, family, any
                                                          port; the attributes and tags */
extern const struct alilb_action nlb_api_update_group; /* id; the attributes */
extern const struct alilb_action nlb_api_delete_group; /* id, as in all that follow */
extern const struct alilb_action nlb_api_add_servers;
extern const struct alilb_action nlb_api_update_servers;
extern const struct alilb_action nlb_api_remove_servers;
/* The step's backends, which its desired group describes. */
void nlb_api_add_backends(const struct lbc_step *step, struct ali_params *params);

/* --- the security group for source ranges --- */

#define NLB_RULES_MAX 100 /* rules per call */

extern const struct alilb_action nlb_api_security_groups; /* a list; key and value of a tag */
extern const struct alilb_action nlb_api_rules;           /* a list; id, "ingress" */

extern const struct alilb_action nlb_api_create_security_group; /* name, description, type, VPC,
                                                                   resource group, ClientToken; the
                                                                   tags */
extern const struct alilb_action nlb_api_rename_security_group; /* id, name, description */
extern const struct alilb_action nlb_api_delete_security_group; /* id, as in all that follow */
extern const struct alilb_action nlb_api_add_rules;             /* at most NLB_RULES_MAX */
extern const struct alilb_action nlb_api_remove_rules;
extern const struct alilb_action nlb_api_modify_rule; /* and that of the rule */
/* A rule; prefix: "" or "Permissions.<n>.". */
void nlb_api_add_rule(struct ali_params *params, const char *prefix, const struct nlb_rule *rule);

#endif
