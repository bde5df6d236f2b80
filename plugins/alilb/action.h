/*
 * Actions of the cloud as data, and the one way to call them: a call with one answer, a list of any
 * length, a write that makes something or starts a job. The rows stand in the api_*.c of a plugin,
 * beside functions for what actions take that struct alilb_args does not know. Whatever talks to
 * the cloud blocks as ali_call() does, returns 0 or negative with err, and sets call->uncertain
 * when a failed write may have been executed. How an action is added (row, rights, simulator,
 * tests): CONTRIBUTING.md. One thread per call struct.
 */
#ifndef CCM_ALILB_ACTION_H
#define CCM_ALILB_ACTION_H

#include "alicloud/client.h"
#include "ccm/plugin.h"
#include "lbc/apply/step.h"
#include "lbc/model/cloud.h"
#include "lbc/model/tags.h"
#include "lbc/rules/attrs.h"
#include "util/json.h"

#include <stdbool.h>

#define ALILB_TEXTS_MAX 6

/* Who calls, for what; lives for one pass. */
struct alilb_call {
    struct ali_client *ali;
    const struct ccm_host *host;
    const struct ccm_request *req;
    const char *object;     /* for log lines */
    const char *cluster_id; /* what is ours carries it */
    const char *mark; /* certificates of Secrets carry this: the cluster's id, which a controller
                         with a name of its own adds that name to */
    enum lbc_priority priority;
    /* Id of the load balancer, when it takes one change at a time; NULL = it does not. */
    char *const *paced;
    bool waits;         /* for each turn, however long; else a call that comes late is put off */
    bool failed_before; /* the last pass over the object failed */
    bool uncertain;     /* out */
};

struct lbc_instance;
struct lbc_pass;

/* For a pass, with its priority; and for what is done for all Services at once. */
struct alilb_call alilb_call_for(const struct lbc_pass *pass, enum lbc_priority priority);
struct alilb_call alilb_call_for_all(const struct lbc_instance *lbc, const struct ccm_request *req);

enum alilb_paging {
    ALILB_PAGES_NONE,   /* one answer has all */
    ALILB_PAGES_TOKEN,  /* MaxResults, NextToken */
    ALILB_PAGES_NUMBER, /* PageSize, PageNumber; TotalCount where the answer tells it */
};

/* Parameters that an action takes in the query string; the others go into the body. */
enum alilb_query { ALILB_QUERY_NONE, ALILB_QUERY_TAGS, ALILB_QUERY_ALL };

/* One row. What a kind of action has no use for stays zero; all zero is a read of SLB. */
struct alilb_action {
    const char *name;
    enum ali_product product;
    enum ali_repeat repeat;
    enum alilb_query query;
    const char *texts[ALILB_TEXTS_MAX]; /* parameters, in the order of ALILB_TEXTS() */
    const char *repeated;               /* parameter that comes as often as needed: "{name}.{n}" */
    size_t batch;  /* most of these that a list takes at a time; 0 = it is no list, or takes all */
    bool token;    /* takes a ClientToken: one is made for each call that has none, so that it can
                      be repeated while its fate is not known */
    bool aside;    /* needs no turn among the changes of a load balancer, see `paced` */
    bool may_lack; /* an answer without the list, or without the id, is good */
    bool creates;  /* attributes go by what creation takes, and calls them */
    const char *made; /* member of the answer with the id of what was made; NULL = nothing is */
    const char *list; /* member of the answer with the list */
    const char *item; /* member of `list` that is the list itself; NULL = `list` is it */
    enum alilb_paging paging;
    int page;                /* items per page */
    const char *page_number; /* NULL = "PageNumber" */
    const char *page_size;   /* NULL = "PageSize" */
};

/* `cloud` of rows of NLB: where the attribute stands in parameters and answers. */
#define ALILB_ATTR_PPV2   4096U /* in the JSON object ProxyProtocolV2Config */
#define ALILB_ATTR_HEALTH 8192U /* in HealthCheckConfig; in answers in HealthCheck */

/* What an action is called with. Texts that are NULL or "" are left out. */
struct alilb_args {
    const char *texts[ALILB_TEXTS_MAX];
    const struct lbc_texts *repeated;
    const struct lbc_attrs
        *attrs; /* of a listener or group; what its protocol has not is left out */
    enum lbc_protocol protocol;
    const char *owner;               /* of what is made: our two marks go before `tags` */
    const struct lbc_tags *tags;     /* "Tag.<n>.Key" and ".Value" */
    const struct ali_params *params; /* all others */
};
#define ALILB_TEXTS(...)      (&(const struct alilb_args){ .texts = { __VA_ARGS__ } })
#define ALILB_LIST(list, ...) (&(const struct alilb_args){ { __VA_ARGS__ }, .repeated = (list) })
#define ALILB_PARAMS(list)    (&(const struct alilb_args){ .params = (list) })

/* A number as text, for ALILB_TEXTS(); it lives as long as the block around it. */
#define ALILB_NUMBER(number) alilb_number((char[24]){ 0 }, (number))
const char *alilb_number(char space[static 24], int64_t number);

/* One answer, which the caller frees with cJSON_Delete; ret NULL = it is not wanted. */
CCM_NODISCARD int alilb_send(struct alilb_call *call, const struct alilb_action *action,
                             const struct alilb_args *args, cJSON **ret, struct ccm_error *err);

/* One item of a list: 0; 1 = the rest is not needed; or negative with err. */
typedef int (*alilb_item_fn)(void *arg, const cJSON *item, struct ccm_error *err);

/* All pages, each item once; `repeated` in portions of a batch, and no call for none. -EBADMSG when
 * an answer has no list or pages have no end. */
CCM_NODISCARD int alilb_list(struct alilb_call *call, const struct alilb_action *action,
                             const struct alilb_args *args, alilb_item_fn fn, void *arg,
                             struct ccm_error *err);

/* A write. sent NULL: nobody wants to know. The caller finishes *sent in any case. */
CCM_NODISCARD int alilb_write(struct alilb_call *call, const struct alilb_action *action,
                              const struct alilb_args *args, struct lbc_sent *sent,
                              struct ccm_error *err);

/* The reason that goes with the modification protection; NULL: with this value goes none. */
const char *alilb_protect_why(const char *modification);

/* Attributes of a load balancer (lb_attrs.h) that creation takes. */
void alilb_param_lb(struct ali_params *params, const struct lbc_anno_table *table,
                    char *const *texts);

/* The thing that tags are put on or, by their keys, taken off. There must be a tag: none would mean
 * all of them. */
struct alilb_tagging {
    const char *type; /* as TagResources calls it */
    const char *id;
    const struct lbc_tags *tags;
    bool remove;
};
CCM_NODISCARD int alilb_change_tags(struct alilb_call *call, enum ali_product product,
                                    const struct alilb_tagging *tagging, struct lbc_sent *sent,
                                    struct ccm_error *err);

#endif
