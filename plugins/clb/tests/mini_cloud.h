/*
 * cloudsim in the test's own process, behind ali_call() and its neighbours: a test sees every call
 * between two steps of the plugin, and what the cloud holds then. One VPC, vSwitches vsw-1 to
 * vsw-9, instances i-1 to i-60; a network interface for every pod. One thread; one cloud at a time.
 */
#ifndef CCM_CLB_TESTS_MINI_CLOUD_H
#define CCM_CLB_TESTS_MINI_CLOUD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MINI_CLUSTER "c1"
#define MINI_FIRST   "lb-1" /* the first load balancer that the cloud makes */

void mini_begin(void);
void mini_end(void);

/* Names of the actions since the last reset, separated by blanks. */
const char *mini_log(void);
/* The same without reads; until the next call of it. */
const char *mini_writes(void);
size_t mini_calls(void);
void mini_reset_log(void);

/* Of the only load balancer. */
const char *mini_lb_id(void);
const char *mini_lb_address(void);

/* All that exists, one line per thing, sorted as created. */
const char *mini_dump(void);

/* The nth call from now on (1 = next), or the next call of that action, fails. */
struct mini_fault {
    const char *action; /* NULL: whatever call comes nth */
    size_t nth;         /* 0 counts as 1 */
    size_t times;       /* 0 counts as 1 */
    bool executed;      /* it runs first, then the answer is lost */
    bool uncertain;
    const char *code;
    uint64_t kind; /* CCM_ERROR_* */
    uint64_t http;
    uint64_t put_off_ms;    /* it is not sent: its turn comes after that; 0 = it is refused */
    void (*hit)(void *arg); /* called when it strikes for the first time; may be NULL */
    void *arg;
};
void mini_fail(const struct mini_fault *fault);

/* A listener whose access control is switched off keeps its list bound. */
void mini_acl_off_keeps(void);

/* Most backends per call and per load balancer; 0 = no limit. */
void mini_limits(size_t per_call, size_t per_lb);

/* What others do behind the controller's back. */
void mini_delete_lb(void);
void mini_stop_listener(uint16_t port);
void mini_set_listener_status(uint16_t port, const char *status);
void mini_delete_listener(uint16_t port);
void mini_add_listener(uint16_t port, const char *description);
void mini_add_backend(const char *group_part, const char *server_id);
void mini_set_weight(const char *server_id, int weight);
/* What checks of the servers of each group say, "a,b"; the last word also of those that follow; ""
 * = nothing is unusual. */
void mini_set_health(const char *words);
void mini_untag(void);
void mini_set_cluster(const char *cluster_id);

/* A load balancer that a person made, "lb-hand", with public address 47.9.9.9. */
#define MINI_HAND "lb-hand"
void mini_add_lb(void);
/* A group of a person in it; and everything that is in a group, as mini_dump() shows it. */
void mini_add_group(const char *id, const char *name);
/* Set, or with value NULL remove, a tag of the only load balancer. */
void mini_tag(const char *key, const char *value);
/* Change an attribute of the only load balancer, by the name that the cloud gives it. */
void mini_set_attr(const char *name, const char *value);
/* Let the dump show all attributes and tags. */
void mini_show_all(void);
/* From now on lists by tags do not show what is younger than that; 0 = they show all. */
void mini_lag(uint32_t ms);
/* Midnight, when what was ordered for the next day counts. */
void mini_next_day(void);
/* Elastic addresses bound to the load balancers, "a,b"; "" = none. */
void mini_eips(const char *list);
/* vSwitch without a free address; NULL = none. "" = all of them. */
void mini_full_vswitch(const char *id);
/* Parameter of the last call of that action, "" when it was not sent. */
const char *mini_last(const char *action, const char *name);

/* Addresses without interface (inside the VPC) and outside of it; others get "eni-" + address. */
void mini_eni_missing(const char *address);
void mini_eni_foreign(const char *address);

/* The cloud has this instance no more ("" = it has all); or the look at instances ends so, 0 = it
 * does not fail. */
void mini_instance_gone(const char *id);
void mini_instances_fail(int r);

#endif
