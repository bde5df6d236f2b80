/* What the parts of the mini cloud share: mini_cloud.c, mini_lb.c, mini_acl.c. */
#ifndef CCM_CLB_TESTS_MINI_PARTS_H
#define CCM_CLB_TESTS_MINI_PARTS_H

#include "alicloud/client.h"
#include "clb/clb.h"
#include "clb/state.h"
#include "util/buf.h"
#include "util/jsonw.h"

#define MINI_LBS 4

struct mini_lb {
    struct clb_state state;
    char *token;
    bool used;
};

void mini_must(int r);
/* The answer of the present call becomes an error. */
void mini_refuse(const char *code, uint64_t http);
const char *mini_param(const struct ali_call *call, const char *name);

struct mini_lb *mini_lb_at(size_t i);
/* NULL, and refused, when there is none. */
struct mini_lb *mini_find_lb(const char *id);
void mini_lb_fini(struct mini_lb *lb);
size_t mini_next_id(void);

/* Execute the call if it is about load balancers, vSwitches or elastic addresses. */
void mini_lb_run(const struct ali_call *call, struct ccm_jsonw *w);
void mini_lb_dump(const struct mini_lb *lb, struct ccm_buf *text);
/* Execute the call if it is about access lists. */
void mini_acl_run(const struct ali_call *call, struct ccm_jsonw *w);
void mini_acl_dump(struct ccm_buf *text);
void mini_acl_end(void);
/* "" does. */
bool mini_acl_exists(const char *id);
/* Forget switches and the last parameters. */
void mini_lb_end(void);
/* Remember the parameters of a call. */
void mini_lb_note(const struct ali_call *call);

#endif
