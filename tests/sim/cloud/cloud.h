/*
 * The simulated cloud: what it holds, and the frame in which actions run. One lock guards the whole
 * state; an action runs with it held and never waits, so all functions here that take a ccm_cloud
 * or ccm_cloud_call expect it held, except where said.
 */
#ifndef CCM_CLOUD_H
#define CCM_CLOUD_H

#include "account.h"
#include "common/params.h"
#include "common/request.h"
#include "spec.h"
#include "util/attr.h"
#include "util/jsonw.h"
#include "util/strmap.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ccm_cloud_product {
    CCM_CLOUD_SLB,
    CCM_CLOUD_ECS,
    CCM_CLOUD_VPC,
    CCM_CLOUD_STS,
    CCM_CLOUD_CAS,
    CCM_CLOUD_NLB,
    CCM_CLOUD_EFLO,
    CCM_CLOUD_PRODUCTS
};

/* "slb", "ecs", ... */
extern const char *const ccm_cloud_product_names[CCM_CLOUD_PRODUCTS];

/* Resources that are nothing but attributes and tags; see plain.h. */
enum ccm_cloud_kind {
    CCM_CLOUD_ACL,
    CCM_CLOUD_ACL_ENTRY,
    CCM_CLOUD_SERVER_CERT,
    CCM_CLOUD_CA_CERT,
    CCM_CLOUD_EXTENSION, /* domain extension of an HTTPS listener */
    CCM_CLOUD_ROUTE_TABLE,
    CCM_CLOUD_ROUTE,
    CCM_CLOUD_EIP,
    CCM_CLOUD_SECURITY_GROUP,
    CCM_CLOUD_SECURITY_RULE,
    CCM_CLOUD_CAS_CERT,
    CCM_CLOUD_LINGJUN,
    CCM_CLOUD_ROLE, /* that STS lets one assume */
    CCM_CLOUD_BANDWIDTH_PACKAGE,
    CCM_CLOUD_KINDS
};

/* What of SLB an action changes, for busy.h. */
enum ccm_cloud_change {
    CCM_CLOUD_CHANGE_NONE,
    CCM_CLOUD_CHANGE_LOOK,  /* a read that a busy load balancer may refuse */
    CCM_CLOUD_CHANGE_LB,    /* charge, spec, status, existence */
    CCM_CLOUD_CHANGE_LABEL, /* name and protections: makes nothing busy */
    CCM_CLOUD_CHANGE_LISTENER,
    CCM_CLOUD_CHANGE_GROUP,
    CCM_CLOUD_CHANGE_EXTENSION,
    CCM_CLOUD_CHANGE_ACL
};

struct ccm_cloud_action;

/* The last change of a load balancer. */
struct ccm_cloud_busy {
    int64_t until_ms; /* on the monotonic clock */
    enum ccm_cloud_change change;
    char part[96];                         /* id of listener or group */
    const struct ccm_cloud_action *action; /* with its parameters, */
    uint64_t digest;                       /* to know the same call again */
};

/* What all resources have. Attributes carry the names of the service's answers, numbers as text. */
struct ccm_cloud_obj {
    char *id;
    uint64_t seq; /* order of creation, unique */
    struct ccm_sim_params attrs;
    struct ccm_sim_params tags;
    int64_t made_ms;            /* on the monotonic clock */
    const uint32_t *tag_lag_ms; /* that of the cloud's limits */
    int64_t busy_until_ms;      /* on the monotonic clock; only of access lists */
};

struct ccm_cloud_backend {
    char *server_id;
    char *server_ip; /* "" for ecs */
    char *type;      /* "ecs", "eni", "eci" */
    char *description;
    uint32_t port;
    uint32_t weight;
};

struct ccm_cloud_vgroup {
    struct ccm_cloud_obj obj;
    struct ccm_cloud_lb *lb;
    struct ccm_cloud_backend *backends;
    size_t len;
    size_t cap;
};

struct ccm_cloud_listener {
    struct ccm_cloud_obj obj; /* id: LOADBALANCER_PROTOCOL_PORT */
    uint32_t port;
    const char *protocol; /* static text: "tcp", "udp" */
};

struct ccm_cloud_lb {
    struct ccm_cloud_obj obj;
    struct ccm_cloud_listener **listeners; /* oldest first */
    size_t listeners_len;
    size_t listeners_cap;
    struct ccm_cloud_vgroup **vgroups; /* oldest first; owned by ccm_cloud.vgroups too */
    size_t vgroups_len;
    size_t vgroups_cap;
    struct ccm_cloud_busy busy;
};

struct ccm_cloud_vpc {
    struct ccm_cloud_obj obj;
    int64_t routing_until_ms; /* on the monotonic clock; until then a route change is running */
};

struct ccm_cloud_vswitch {
    struct ccm_cloud_obj obj;
    uint32_t base; /* IPv4 network, host order */
    uint32_t size; /* addresses in it, all counted */
    uint32_t next; /* where the search for a free address starts */
    uint32_t used;
    int64_t limit; /* most addresses it gives out; -1: as many as there are */
};

struct ccm_cloud_eni;

struct ccm_cloud_instance {
    struct ccm_cloud_obj obj;
    struct ccm_cloud_eni **enis; /* oldest first, not owned; see ccm_cloud_eni_attach */
    size_t enis_len;
    size_t enis_cap;
};

struct ccm_cloud_eni {
    struct ccm_cloud_obj obj;
    struct ccm_cloud_instance *instance; /* whose list it is in, or NULL; not owned */
    struct ccm_sim_params ips; /* name = private IPv4 address, value = "true" for the primary one */
    struct ccm_sim_params ipv6; /* name = address */
};

/* Limits of the services that a command line or fixture may change. */
struct ccm_cloud_limits {
    uint32_t load_balancers;
    uint32_t listeners; /* per load balancer */
    uint32_t backends;  /* per load balancer */
    uint32_t backends_per_call;
    uint32_t vserver_groups; /* per load balancer */
    uint32_t slb_busy_ms;    /* how long a load balancer is busy after a change */
    uint32_t listener_ms;    /* how long a listener of SLB starts, stops, is configured */
    uint32_t busy_reads;     /* 0: no; a busy load balancer refuses reads of one listener too */
    uint32_t acls;
    uint32_t acl_entries;       /* per list */
    uint32_t domain_extensions; /* per listener, beside the default certificate */
    uint32_t routes;            /* custom ones per table */
    uint32_t routes_per_call;
    uint32_t route_tables; /* custom ones per VPC */
    uint32_t route_ms;     /* how long a route change takes */
    uint32_t eips;
    uint32_t nlb_load_balancers;
    uint32_t nlb_listeners; /* per load balancer */
    uint32_t nlb_servers;   /* per group, and of all groups of a load balancer */
    uint32_t nlb_server_groups;
    uint32_t nlb_server_uses; /* how often a server may be in groups */
    uint32_t job_ms;          /* how long a job takes */
    uint32_t tag_lag_ms;      /* how long lists by tags do not show what is new */
    uint32_t security_groups;
    uint32_t security_rules; /* per group */
    uint32_t description;    /* characters of names of groups and of backend descriptions */
    /* What no documentation tells; the defaults are the assumptions that are safest for clients. */
    uint32_t slb_modify_atomic;   /* 0: ModifyVServerGroupBackendServers may stop half way */
    uint32_t slb_set_description; /* 1: SetVServerGroupAttribute changes descriptions too */
    uint32_t slb_add_updates;     /* 1: adding a backend that is there changes it */
    uint32_t acl_off_keeps;       /* 1: AclStatus=off leaves a listener bound to its lists */
    uint32_t token_life_s;        /* of ClientTokens */
    uint32_t nlb_job_ids;         /* that ListAsynJobs takes */
    uint32_t nlb_job_keep_s;      /* how long ended jobs are known */
    uint32_t nlb_drain_percent;   /* of ConnectionDrainTimeout that removed servers stay */
    uint32_t route_page;          /* longest page of DescribeRouteEntryList */
    bool strict;                  /* take nothing beyond what the pages of the API name */
};

/* What the metadata service knows. */
struct ccm_cloud_metadata {
    char instance[64]; /* the instance it speaks for; "" = none */
    char role[64];     /* RAM role of the instance; "" = none */
    int64_t life_s;    /* of the role's keys */
    bool token_required;
    struct ccm_strmap *tokens; /* session tokens handed out, each with its end */
    uint64_t serial;           /* of the role's present key; 0 = none yet */
    int64_t expires_ms;        /* of that key */
};

struct ccm_cloud {
    pthread_mutex_t lock; /* guards everything below except what is said to have its own */
    struct ccm_cloud_limits limits;
    char region[64];
    struct ccm_cloud_metadata metadata;
    struct ccm_cloud_accounts *accounts;            /* has its own lock */
    struct ccm_strmap *actions[CCM_CLOUD_PRODUCTS]; /* name -> row; constant after start */
    struct ccm_strmap *lbs;                         /* id -> ccm_cloud_lb */
    struct ccm_strmap *vgroups;                     /* id -> ccm_cloud_vgroup, not owned */
    struct ccm_strmap *vpcs;
    struct ccm_strmap *vswitches;
    struct ccm_strmap *instances;
    struct ccm_strmap *enis;
    struct ccm_strmap *plain[CCM_CLOUD_KINDS]; /* id -> ccm_cloud_obj */
    struct ccm_strmap *route_ids; /* table and destination -> id of an entry, maybe gone: route.c */
    struct ccm_cloud_quota *quota; /* rates; NULL: none are enforced */
    struct ccm_strmap *eni_by_ip;  /* address -> ccm_cloud_eni, not owned */
    struct ccm_nlb *nlb;           /* see nlb.h */
    struct ccm_cloud_jobs *jobs;   /* see job.h */
    struct ccm_cloud_moves *moves; /* see listener.h */
    struct ccm_strmap *addresses;  /* taken IPv4 address -> ccm_cloud_vswitch or NULL; not owned */
    struct ccm_strmap *tokens;     /* ClientToken memory, see token.h */
    uint64_t last_seq;
    uint64_t last_request; /* for request ids */
    char next_id[48];      /* what the next new thing of that prefix is called, for unit tests; "" =
                              it gets a fresh id */
    uint32_t last_public;  /* last public address given */
};

struct ccm_cloud_call;

/* One row per action: adding an action is a row and a function. */
struct ccm_cloud_action {
    const char *name;
    const struct ccm_cloud_param
        *params; /* ends with a NULL name; NULL: none but the common ones */
    bool region; /* RegionId is mandatory */
    bool token;  /* honours ClientToken */
    bool open;   /* is not signed */
    const struct ccm_cloud_manner *manner; /* NULL: the general one */
    enum ccm_cloud_change change;          /* of SLB */
    /* Write the members of the answer to call->out. 0, or what ccm_cloud_fail said, or -ENOMEM. */
    int (*run)(struct ccm_cloud_call *call);
};

struct ccm_cloud_call {
    struct ccm_cloud *cloud;
    const struct ccm_cloud_action *action;
    const struct ccm_sim_params *params;
    const char *key_id;    /* access key that signed it, "" = none */
    struct ccm_jsonw *out; /* inside the object of the answer */
    unsigned http;         /* of the error */
    char code[96];         /* "" while nothing failed */
    char busy_lb[64];      /* of busy.c: the load balancer that the call changes, */
    char busy_part[96];    /* and the part of it */
    struct ccm_buf message;
};

/* NULL when memory ran out. Without resources; see fixtures.h. */
struct ccm_cloud *ccm_cloud_new(void);
void ccm_cloud_free(struct ccm_cloud *cloud);
void ccm_cloud_freep(struct ccm_cloud **cloud);

/* Take and leave the lock. */
void ccm_cloud_lock(struct ccm_cloud *cloud);
void ccm_cloud_unlock(struct ccm_cloud *cloud);

/* Row of an action, or NULL. Every thread, without the lock. */
const struct ccm_cloud_action *ccm_cloud_find_action(const struct ccm_cloud *cloud,
                                                     enum ccm_cloud_product product,
                                                     const char *name);

/* Let happen what is due: jobs of NLB, servers that drain, listeners of SLB on their way. Whoever
 * looks at the cloud calls it first. Routes have their own, ccm_cloud_routes_advance. */
void ccm_cloud_advance(struct ccm_cloud *cloud);

/* Validate the parameters and run; members of the answer are appended to call->out.
 * 0, or -EPROTO with http, code and message set. */
CCM_NODISCARD int ccm_cloud_run(struct ccm_cloud_call *call);

/* Set the error of a call. Always -EPROTO, to be returned. */
int ccm_cloud_fail(struct ccm_cloud_call *call, unsigned http, const char *code, const char *format,
                   ...) CCM_PRINTF(4, 5);

/* The same with a format of a manner, whose only %s is `name`. */
int ccm_cloud_fail_with(struct ccm_cloud_call *call, const char *code, const char *format,
                        const char *name);

void ccm_cloud_call_fini(struct ccm_cloud_call *call);

/* Parameters of a call that passed validation. Absent and empty text is the fallback. */
const char *ccm_cloud_text(const struct ccm_cloud_call *call, const char *name,
                           const char *fallback);
int64_t ccm_cloud_int(const struct ccm_cloud_call *call, const char *name, int64_t fallback);
bool ccm_cloud_has(const struct ccm_cloud_call *call, const char *name);

/* Values of NAME.1, NAME.2, ... in this order, gaps skipped; the name of each pair is its index,
 * unsorted. */
CCM_NODISCARD int ccm_cloud_list(struct ccm_cloud_call *call, const char *name,
                                 struct ccm_sim_params *ret);

/* Attributes. `text` is "" when there is none. */
const char *ccm_cloud_attr(const struct ccm_cloud_obj *obj, const char *name);

struct ccm_cloud_pair {
    const char *name;
    const char *value; /* NULL: leave it out */
};

/* Set several attributes at once. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_cloud_attrs_set(struct ccm_cloud_obj *obj, const struct ccm_cloud_pair *pairs,
                                      size_t len);

/* Give it an id and a sequence number. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_cloud_obj_init(struct ccm_cloud *cloud, struct ccm_cloud_obj *obj,
                                     const char *id);
void ccm_cloud_obj_fini(struct ccm_cloud_obj *obj);

/* Fresh id "PREFIX-xxxxxxxx"; never one that was given before. size >= 48. */
void ccm_cloud_new_id(struct ccm_cloud *cloud, const char *prefix, char *text, size_t size);

/* How an attribute shows in an answer. A row list ends with a NULL name. */
struct ccm_cloud_field {
    const char *name;     /* member of the answer */
    char kind;            /* 's' text, 'n' number, 'b' true/false */
    const char *attr;     /* NULL = same as name */
    const char *fallback; /* when the attribute is not set; NULL: leave the member out */
};

void ccm_cloud_write_fields(struct ccm_jsonw *w, const struct ccm_cloud_obj *obj,
                            const struct ccm_cloud_field *fields);

/* Time as the services write it: "2026-01-02T03:04Z" (minutes) or with seconds. */
void ccm_cloud_format_time(int64_t wall_ms, bool seconds, char *text, size_t size);

#endif
