#include "state.h"

#include "lbc/apply/token.h"
#include "lbc/model/lb_attrs.h"

#include <stdlib.h>
#include <string.h>

/* --- the load balancer --- */

const char *clb_lb_get(const struct clb_lb *lb, enum clb_lb_field id)
{
    return lbc_lb_get(lbc_lb_row(&clb_annotations, id), lb);
}

int clb_lb_set(struct clb_lb *lb, enum clb_lb_field id, const char *value)
{
    return lbc_lb_set(lbc_lb_row(&clb_annotations, id), lb, value);
}

void clb_lb_fini(struct clb_lb *lb)
{
    lbc_lb_clear(&clb_annotations, lb);
    free(lb->id);
    free(lb->vpc_id);
    free(lb->eips);
    lbc_tags_fini(&lb->tags);
    memset(lb, 0, sizeof(*lb));
}

int clb_lb_copy(struct clb_lb *to, const struct clb_lb *from)
{
    to->protect = from->protect;
    to->untagged = from->untagged;
    to->partial = from->partial;
    if (lbc_lb_copy(&clb_annotations, to, from) < 0 || lbc_text_set(&to->id, from->id) < 0 ||
        lbc_text_set(&to->vpc_id, from->vpc_id) < 0 || lbc_text_set(&to->eips, from->eips) < 0) {
        return -ENOMEM;
    }
    return lbc_tags_copy(&to->tags, &from->tags);
}

uint64_t clb_lb_charge_what(const struct clb_lb *lb, const char *traffic_charge,
                            const char *bandwidth)
{
    struct lbc_token token = LBC_TOKEN_INIT;

    lbc_token_add(&token, lb->id);
    lbc_token_add(&token, traffic_charge);
    lbc_token_add(&token, bandwidth);
    return token.hash == 0 ? 1 : token.hash;
}

static void listener_fini_own(struct lbc_listener *listener)
{
    clb_domains_fini(&((struct clb_listener *)listener)->domains);
}

void clb_listener_fini(struct clb_listener *listener)
{
    listener_fini_own(&listener->lbc);
    lbc_listener_fini(&listener->lbc);
    memset(listener, 0, sizeof(*listener));
}

void clb_acl_fini(struct clb_acl *acl)
{
    free(acl->id);
    free(acl->name);
    lbc_texts_fini(&acl->entries);
    memset(acl, 0, sizeof(*acl));
}

static void state_fini_own(struct lbc_state *base)
{
    struct clb_state *state = (struct clb_state *)base;

    clb_lb_fini(&state->lb);
    clb_acl_fini(&state->acl);
}

static void state_move(struct lbc_state *into, struct lbc_state *out)
{
    struct clb_state *to = (struct clb_state *)into;
    struct clb_state *from = (struct clb_state *)out;

    to->lbc = from->lbc;
    to->lb = from->lb;
    memset(&from->lbc, 0, sizeof(from->lbc));
    memset(&from->lb, 0, sizeof(from->lb));
}

static struct lbc_lb_view state_view_lb(struct lbc_state *state)
{
    struct clb_lb *lb = &((struct clb_state *)state)->lb;

    return (struct lbc_lb_view){ lb->id, lb->name, &lb->tags, &lb->untagged };
}

const struct lbc_state_type clb_state_type = {
    .size = sizeof(struct clb_state),
    .group_size = sizeof(struct lbc_group),
    .listener_size = sizeof(struct clb_listener),
    .fini = state_fini_own,
    .listener_fini = listener_fini_own,
    .move = state_move,
    .lb = state_view_lb,
    .protocol_name = lbc_protocol_lower,
};

int clb_listener_copy(struct clb_listener *to, const struct clb_listener *from)
{
    to->ranges = from->ranges;
    return lbc_listener_copy(&to->lbc, &from->lbc);
}
