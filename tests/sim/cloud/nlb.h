/*
 * Network load balancers: what they consist of, and what their actions share. With the cloud's lock
 * held. Changes are jobs (job.h): an action checks everything, marks the resource as being changed,
 * and the end of the job makes the change or undoes the mark.
 */
#ifndef CCM_NLB_H
#define CCM_NLB_H

#include "cloud.h"
#include "job.h"
#include "page.h"
#include "tag.h"

#define CCM_NLB_ZONES_MAX        10
#define CCM_NLB_SERVERS_PER_CALL 200

/* Zones of a load balancer. The objects have no id; attributes: ZoneId, VSwitchId,
 * PrivateIPv4Address, AllocationId, PublicIPv4Address, Ipv6Address, EniId, and as comma lists
 * Ipv4LocalAddresses, Ipv6LocalAddresses. */
struct ccm_nlb_zones {
    struct ccm_cloud_obj items[CCM_NLB_ZONES_MAX];
    size_t len;
};

struct ccm_nlb_lb {
    struct ccm_cloud_obj obj; /* LoadBalancerStatus tells whether it may be changed */
    struct ccm_nlb_zones zones;
    struct ccm_sim_params security_groups; /* name = id */
    struct ccm_nlb_listener **listeners;   /* oldest first; owned by ccm_nlb.listeners */
    size_t len;
    size_t cap;
};

struct ccm_nlb_listener {
    struct ccm_cloud_obj obj; /* ListenerStatus tells whether it may be changed */
    struct ccm_nlb_lb *lb;
    struct ccm_nlb_group *group;
    uint32_t first;              /* port, or first port of a range */
    uint32_t last;               /* the same, or last port of a range */
    bool range;                  /* has StartPort and EndPort */
    struct ccm_sim_params certs; /* additional ones: name = id, value = status */
};

struct ccm_nlb_server {
    uint64_t seq;
    char *id;
    char *ip;
    char *type; /* "Ecs", "Eni", "Eci", "Ip" */
    char *description;
    char *zone;
    const char *status; /* static text */
    int64_t gone_ms;    /* on the monotonic clock: until then its connections drain; 0: it stays */
    uint32_t port;
    uint32_t weight;
};

struct ccm_nlb_servers {
    struct ccm_nlb_server *items; /* oldest first */
    size_t len;
    size_t cap;
};

struct ccm_nlb_group {
    struct ccm_cloud_obj obj; /* ServerGroupStatus tells whether it may be changed */
    struct ccm_nlb_servers servers;
    struct ccm_nlb_listener **users; /* listeners that send to it, not owned */
    size_t users_len;
    size_t users_cap;
};

struct ccm_nlb {
    struct ccm_strmap *lbs;       /* id -> ccm_nlb_lb */
    struct ccm_strmap *groups;    /* id -> ccm_nlb_group */
    struct ccm_strmap *listeners; /* id -> ccm_nlb_listener */
    struct ccm_strmap *uses; /* ID/ADDRESS of a server -> uint32_t, how often it is in groups */
    uint64_t page_epoch;     /* tokens of older ones are refused */
    size_t draining;         /* servers that are about to go, at least */
};

/* ---- nlb_store.c ---- */

/* NULL when memory ran out. */
struct ccm_nlb *ccm_nlb_new(void);
void ccm_nlb_free(struct ccm_nlb *nlb);

/* NULL when there is none. */
struct ccm_nlb_lb *ccm_nlb_lb_get(const struct ccm_cloud *cloud, const char *id);
struct ccm_nlb_group *ccm_nlb_group_get(const struct ccm_cloud *cloud, const char *id);
struct ccm_nlb_listener *ccm_nlb_listener_get(const struct ccm_cloud *cloud, const char *id);

/* 0 and the new object, owned by the cloud, or -ENOMEM. */
CCM_NODISCARD int ccm_nlb_lb_new(struct ccm_cloud *cloud, struct ccm_nlb_lb **ret);
CCM_NODISCARD int ccm_nlb_group_new(struct ccm_cloud *cloud, struct ccm_nlb_group **ret);
CCM_NODISCARD int ccm_nlb_listener_new(struct ccm_cloud *cloud, struct ccm_nlb_lb *lb,
                                       struct ccm_nlb_group *group, uint32_t port,
                                       struct ccm_nlb_listener **ret);

/* They go with everything in them; addresses are given back. A group leaves its listeners without
 * one. */
void ccm_nlb_lb_del(struct ccm_cloud *cloud, struct ccm_nlb_lb *lb);
void ccm_nlb_group_del(struct ccm_cloud *cloud, struct ccm_nlb_group *group);
void ccm_nlb_listener_del(struct ccm_cloud *cloud, struct ccm_nlb_listener *listener);

/* Let the listener send to the group. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_nlb_listener_point(struct ccm_nlb_listener *listener,
                                         struct ccm_nlb_group *group);

/* Servers: copies. `like` names id, address ("" = any) and port. */
void ccm_nlb_servers_fini(struct ccm_nlb_servers *servers);
CCM_NODISCARD int ccm_nlb_servers_add(struct ccm_nlb_servers *servers,
                                      const struct ccm_nlb_server *like);
struct ccm_nlb_server *ccm_nlb_servers_find(const struct ccm_nlb_servers *servers,
                                            const struct ccm_nlb_server *like);
void ccm_nlb_servers_del(struct ccm_nlb_servers *servers, struct ccm_nlb_server *server);

/* Put a copy into a group, or take one out of it, with the count of its uses. */
CCM_NODISCARD int ccm_nlb_group_add(struct ccm_cloud *cloud, struct ccm_nlb_group *group,
                                    const struct ccm_nlb_server *like);
void ccm_nlb_group_drop(struct ccm_cloud *cloud, struct ccm_nlb_group *group,
                        struct ccm_nlb_server *server);
/* How often the server is in groups. 0 also when memory ran out. */
uint32_t ccm_nlb_server_uses(const struct ccm_cloud *cloud, const struct ccm_nlb_server *server);

/* Servers of all groups that a load balancer sends to. */
size_t ccm_nlb_lb_servers(const struct ccm_nlb_lb *lb);

void ccm_nlb_zones_fini(struct ccm_nlb_zones *zones);

/* ---- nlb_common.c ---- */

extern const struct ccm_cloud_manner ccm_nlb_manner;

/* Shared rows of parameter tables. */
#define CCM_NLB_TOKEN_ROW                                                                          \
    {                                                                                              \
        .name = "ClientToken", .min = 1, .max = 64, .fits = ccm_nlb_is_ascii                       \
    }
#define CCM_NLB_DRY_ROW                                                                            \
    {                                                                                              \
        .name = "DryRun", .type = CCM_CLOUD_BOOL                                                   \
    }
#define CCM_NLB_WRITE_ROWS CCM_NLB_TOKEN_ROW, CCM_NLB_DRY_ROW
#define CCM_NLB_TAG_ROWS                                                                           \
    { .name = "Tag.N.Key", .items = CCM_CLOUD_TAGS_MAX, .min = 1, .max = 64 },                     \
    {                                                                                              \
        .name = "Tag.N.Value", .items = CCM_CLOUD_TAGS_MAX, .min = 0, .max = 128                   \
    }
#define CCM_NLB_PAGE_ROWS(most)                                                                    \
    { .name = "MaxResults", .type = CCM_CLOUD_INT, .min = 1, .max = (most) },                      \
    {                                                                                              \
        .name = "NextToken"                                                                        \
    }

/* Rules for values. */
bool ccm_nlb_is_ascii(const char *value);
bool ccm_nlb_is_name(const char *value);        /* a letter, then letters, digits, . _ - */
bool ccm_nlb_is_description(const char *value); /* letters, digits, . , ; / @ _ - */

/* The spelling of the service for a value of an enumeration: "internet" -> "Internet". What is none
 * comes back as it is. */
const char *ccm_nlb_word(const char *text);
/* The same of a parameter. */
const char *ccm_nlb_enum(const struct ccm_cloud_call *call, const char *name, const char *fallback);
bool ccm_nlb_flag(const struct ccm_cloud_call *call, const char *name, bool fallback);

/* Parameter PREFIX.INDEX.MEMBER, "" when it is absent. */
const char *ccm_nlb_member(const struct ccm_cloud_call *call, const char *prefix, uint32_t index,
                           const char *member);
/* Next index after `index` that some parameter PREFIX.INDEX[.MEMBER] has; 0: none. */
uint32_t ccm_nlb_next_index(const struct ccm_cloud_call *call, const char *prefix, uint32_t index);

/* Values of PREFIX.1, PREFIX.2, ... joined by commas. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_nlb_join(struct ccm_cloud_call *call, const char *prefix, char **ret);

/* 404 ResourceNotFound.WHAT. Always -EPROTO, as all ccm_nlb_fail_... */
int ccm_nlb_fail_absent(struct ccm_cloud_call *call, const char *what);
int ccm_nlb_fail_illegal(struct ccm_cloud_call *call, const char *code, const char *param);
int ccm_nlb_fail_missing(struct ccm_cloud_call *call, const char *param);
int ccm_nlb_fail_denied(struct ccm_cloud_call *call, const char *why);
int ccm_nlb_fail_mismatch(struct ccm_cloud_call *call, const char *what, const char *a,
                          const char *b);
int ccm_nlb_fail_quota(struct ccm_cloud_call *call, const char *what, size_t used, uint32_t most);
int ccm_nlb_fail_lock(struct ccm_cloud_call *call, const char *id);

/* What the id parameter names. The `_for_...` ones refuse what is being changed, with the code that
 * changes of that kind get. 0 or -EPROTO. */
CCM_NODISCARD int ccm_nlb_lb_of(struct ccm_cloud_call *call, struct ccm_nlb_lb **ret);
CCM_NODISCARD int ccm_nlb_lb_for_change(struct ccm_cloud_call *call, struct ccm_nlb_lb **ret);
CCM_NODISCARD int ccm_nlb_group_of(struct ccm_cloud_call *call, struct ccm_nlb_group **ret);
CCM_NODISCARD int ccm_nlb_group_for_change(struct ccm_cloud_call *call, struct ccm_nlb_group **ret);
CCM_NODISCARD int ccm_nlb_listener_of(struct ccm_cloud_call *call, struct ccm_nlb_listener **ret);
/* It must run or be stopped, and its load balancer must not be in a change. */
CCM_NODISCARD int ccm_nlb_listener_for_change(struct ccm_cloud_call *call,
                                              struct ccm_nlb_listener **ret);
/* Whether a listener of it is being changed. */
bool ccm_nlb_lb_has_busy_listener(const struct ccm_nlb_lb *lb);
/* 0, or IncorrectStatus.loadbalancer. */
CCM_NODISCARD int ccm_nlb_lb_check_idle(struct ccm_cloud_call *call, const struct ccm_nlb_lb *lb);

/* -EPROTO with DryRunOperation when the call is a dry run, else 0. Last of the checks. */
CCM_NODISCARD int ccm_nlb_dry_run(struct ccm_cloud_call *call);

/* Start a job, set the status attribute of the object (job->set and job->data are still empty) and
 * answer JobId. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_nlb_job(struct ccm_cloud_call *call, struct ccm_cloud_obj *obj,
                              const char *attr, const char *status,
                              int (*end)(struct ccm_cloud *cloud, struct ccm_cloud_job *job,
                                         bool ok),
                              struct ccm_cloud_job **ret);

/* Set a status that was set before, so no memory is needed. */
void ccm_nlb_status_set(struct ccm_cloud_obj *obj, const char *attr, const char *status);

/* Attributes job->set -> obj. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_nlb_job_apply(const struct ccm_cloud_job *job, struct ccm_cloud_obj *obj);

/* ---- lists, nlb_page.c ---- */

/* A page: objects come ordered by two numbers (the second is 0 where one is enough). */
struct ccm_nlb_page {
    int64_t size;
    uint64_t after[2];
    uint64_t last[2];
    int64_t total;
    int64_t written;
    bool more;
};

/* Read MaxResults and NextToken. 0 or -EPROTO. */
CCM_NODISCARD int ccm_nlb_page_read(struct ccm_cloud_call *call, int64_t usual,
                                    struct ccm_nlb_page *ret);
/* Whether the next object, which fits the filters, is on the page. */
bool ccm_nlb_page_takes(struct ccm_nlb_page *page, uint64_t a, uint64_t b);
/* MaxResults, TotalCount, and NextToken when there is more. */
void ccm_nlb_page_write(struct ccm_cloud_call *call, const struct ccm_nlb_page *page);

/* Whether the list is empty or has the value; the values are those of ccm_cloud_list. */
bool ccm_nlb_list_has(const struct ccm_sim_params *list, const char *value);
/* A parameter that is given equals the attribute, in any case of letters. */
bool ccm_nlb_attr_fits(const struct ccm_cloud_call *call, const struct ccm_cloud_obj *obj,
                       const char *name);
/* "Tags":[{Key, Value}], or TagKey and TagValue. */
void ccm_nlb_tags_write(struct ccm_jsonw *w, const struct ccm_cloud_obj *obj, bool long_names);
/* Tags of the request -> a new object. 0, -EPROTO, -ENOMEM. */
CCM_NODISCARD int ccm_nlb_tags_put(struct ccm_cloud_call *call, struct ccm_cloud_obj *obj,
                                   const struct ccm_sim_params *tags);
/* "name":["a","b"] of a comma list. */
void ccm_nlb_list_write(struct ccm_jsonw *w, const char *name, const char *list);

/* ---- nlb_address.c ---- */

/* What zones are for. */
struct ccm_nlb_place {
    const char *lb; /* id; NULL while it does not exist: only the checks are made */
    const char *vpc;
    bool internet;
    bool dual;
    const struct ccm_nlb_zones *now; /* NULL, or what the load balancer has: zones that stay keep
                                        their addresses */
};

/* ZoneMappings of a request -> zones with addresses taken. 0, -EPROTO, -ENOMEM; nothing is taken
 * when it fails. */
CCM_NODISCARD int ccm_nlb_zones_read(struct ccm_cloud_call *call, const struct ccm_nlb_place *place,
                                     struct ccm_nlb_zones *ret);

/* Addresses and elastic IPs of the zones are free again, save those that `keep` (NULL: none) has
 * too. */
void ccm_nlb_zones_release(struct ccm_cloud *cloud, const struct ccm_nlb_zones *zones,
                           const struct ccm_nlb_zones *keep);

/* A public address for the zone: of the elastic IP that is named ("" = a new one). 0, -EPROTO,
 * -ENOMEM. */
CCM_NODISCARD int ccm_nlb_public_take(struct ccm_cloud_call *call, const char *lb,
                                      const char *allocation, struct ccm_cloud_obj *zone);

/* Whether the elastic IP can be used by a load balancer in this place; `before`: zones of the same
 * request. 0 or -EPROTO. */
CCM_NODISCARD int ccm_nlb_allocation_check(struct ccm_cloud_call *call,
                                           const struct ccm_nlb_place *place, const char *id,
                                           const struct ccm_nlb_zones *before);

/* Attributes of one object -> another. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_nlb_attrs_copy(const struct ccm_cloud_obj *from, struct ccm_cloud_obj *to);

/* Names of the region's zones, which are those of its vSwitches; returns how many there are. */
size_t ccm_nlb_region_zones(const struct ccm_cloud *cloud, struct ccm_sim_params *ret);

/* ---- nlb_join.c ---- */

/* 0, or -EPROTO when there is no such bandwidth package. */
CCM_NODISCARD int ccm_nlb_package_check(struct ccm_cloud_call *call, const char *id);

/* ---- nlb_cert.c ---- */

/* 0, or -EPROTO: no such certificate. */
CCM_NODISCARD int ccm_nlb_cert_check(struct ccm_cloud_call *call, const char *id, bool ca);

/* ---- nlb_rule.c: checks of a listener; 0 or -EPROTO ---- */

bool ccm_nlb_is_tls(const char *protocol);

/* Ports of the request: ListenerPort, or with 0 StartPort and EndPort. */
CCM_NODISCARD int ccm_nlb_ports_read(struct ccm_cloud_call *call, uint32_t *ret_first,
                                     uint32_t *ret_last);
/* They are free, and one more listener fits. */
CCM_NODISCARD int ccm_nlb_port_check(struct ccm_cloud_call *call, const struct ccm_nlb_lb *lb,
                                     const char *protocol, uint32_t first, uint32_t last);
/* The group can serve such a listener (`range`: of many ports). */
CCM_NODISCARD int ccm_nlb_target_check(struct ccm_cloud_call *call, const struct ccm_nlb_lb *lb,
                                       const char *protocol, bool range,
                                       const struct ccm_nlb_group *group);
/* The load balancer has room for the servers of the group. */
CCM_NODISCARD int ccm_nlb_target_servers_check(struct ccm_cloud_call *call,
                                               const struct ccm_nlb_lb *lb,
                                               const struct ccm_nlb_group *group);
/* IdleTimeout has a range of its own with UDP; `now`: what the listener has, "" for a new one. */
CCM_NODISCARD int ccm_nlb_idle_check(struct ccm_cloud_call *call, const char *protocol,
                                     const char *now);
/* What only TCPSSL has; `listener` NULL: a new one. */
CCM_NODISCARD int ccm_nlb_tls_check(struct ccm_cloud_call *call, const char *protocol,
                                    const struct ccm_nlb_listener *listener);

/* ---- nlb_server.c ---- */

/* Servers whose connections have had time to drain go. */
void ccm_nlb_drains_advance(struct ccm_cloud *cloud);

/* ---- nlb_server_find.c ---- */

/* What a server is found to be; texts borrowed. */
struct ccm_nlb_finding {
    const char *ip;
    const char *vpc;
    const char *zone;
};

/* The instance, interface or address that may become a server of the group. 0 or -EPROTO. */
CCM_NODISCARD int ccm_nlb_server_find(struct ccm_cloud_call *call,
                                      const struct ccm_nlb_group *group,
                                      const struct ccm_nlb_server *server,
                                      struct ccm_nlb_finding *ret);

/* ---- nlb_state.c ---- */

/* "nlbLoadBalancers", "nlbServerGroups", "jobs" of /_sim/state. */
void ccm_nlb_state(struct ccm_jsonw *w, const struct ccm_cloud *cloud);

/* Object that /_sim/edit means by type "nlb", "nlblistener", "servergroup" and "id"; NULL: none.
 * Deleting removes it at once, without a job and against all rules. */
struct ccm_cloud_obj *ccm_nlb_edit_target(const struct ccm_cloud *cloud, const char *type,
                                          const char *id);
bool ccm_nlb_edit_delete(struct ccm_cloud *cloud, const char *type, const char *id);

#endif
