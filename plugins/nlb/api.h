/*
 * The cloud's actions, one function each (api*.h): parameters in, answer out, no decisions. All
 * block as ali_call() does, return 0 or negative with err, and set call->uncertain when a
 * failed write may have been executed. Every thread.
 */
#ifndef CCM_NLB_API_H
#define CCM_NLB_API_H

#include "alicloud/job.h"
#include "alilb/account.h"
#include "ccm/plugin.h"
#include "state.h"
#include "util/json.h"

/* Who calls, for what; lives for one pass. */
struct nlb_call {
    struct ali_client *ali;
    const struct ccm_host *host;
    const struct ccm_request *req;
    const char *object; /* for log lines */
    enum ali_priority priority;
    bool uncertain; /* out */
};

/* What became of a write. Zeroed = not sent. */
struct nlb_sent {
    struct ali_job job; /* id "": done already */
    char *made_id;      /* of a new resource */
    char request_id[CCM_ERROR_CODE_MAX];
};

void nlb_sent_fini(struct nlb_sent *sent);

/* One item of a list. 0, or negative with err to stop. */
typedef int (*nlb_item_fn)(void *arg, const cJSON *item, struct ccm_error *err);

/* A list of any length: all pages, each item once. */
struct nlb_list {
    enum ali_product product;
    const char *action;
    const char *name; /* of the list in the answer; of ECS: the list in it */
    const char *item; /* name of the list inside `name`; NULL = `name` is the list itself */
    int64_t page;     /* items per page */
};

/* -EBADMSG when an answer has no list or pages have no end. */
CCM_NODISCARD int nlb_api_list(struct nlb_call *call, const struct nlb_list *list,
                               const struct ali_params *params, nlb_item_fn fn, void *arg,
                               struct ccm_error *err);

/* A read with one answer; the caller frees *ret with cJSON_Delete. */
CCM_NODISCARD int nlb_api_read(struct nlb_call *call, enum ali_product product, const char *action,
                               const struct ali_params *params, cJSON **ret, struct ccm_error *err);

/*
 * A write. A token of its own makes it safe to repeat while its fate is not known; params with a
 * ClientToken keep theirs. id_name: member of the answer that names the new resource; without it
 * the answer is an error. NULL = none is made. The caller finishes *ret in any case.
 */
CCM_NODISCARD int nlb_api_write(struct nlb_call *call, enum ali_product product, const char *action,
                                struct ali_params *params, const char *id_name,
                                struct nlb_sent *ret, struct ccm_error *err);

/* A write that is as good done twice, and takes neither a token nor a job. */
CCM_NODISCARD int nlb_api_change(struct nlb_call *call, enum ali_product product,
                                 const char *action, const struct ali_params *params,
                                 struct ccm_error *err);

/* Tag.<first>... */
void nlb_api_add_tags(struct ali_params *params, const struct lbc_tags *tags, size_t first);
/* name.1, name.2, ... */
void nlb_api_add_texts(struct ali_params *params, const char *name, const struct lbc_texts *texts);
/* The attributes that are part of a creation, or of an update. Fields that the protocol has not are
 * left out. */
void nlb_api_add_attrs(struct ali_params *params, const struct lbc_attrs *attrs,
                       enum lbc_protocol protocol, bool create);

#endif
