#include "state.h"

#include "lbc/apply/token.h"

#include <stdlib.h>
#include <string.h>

/* --- the load balancer --- */

static void lb_fini_own(struct lbc_lb *lb)
{
    free(((struct clb_lb *)lb)->eips);
}

static int lb_copy_own(struct lbc_lb *base, const struct lbc_lb *like)
{
    struct clb_lb *to = (struct clb_lb *)base;
    const struct clb_lb *from = (const struct clb_lb *)like;

    to->partial = from->partial;
    return lbc_text_set(&to->eips, from->eips);
}

uint64_t clb_lb_charge_what(const struct clb_lb *lb, const char *traffic_charge,
                            const char *bandwidth)
{
    struct lbc_token token = LBC_TOKEN_INIT;

    lbc_token_add(&token, lb->lbc.id);
    lbc_token_add(&token, traffic_charge);
    lbc_token_add(&token, bandwidth);
    return token.hash == 0 ? 1 : token.hash;
}

static void listener_fini_own(struct lbc_listener *listener)
{
    clb_domains_fini(&((struct clb_listener *)listener)->domains);
}

void clb_acl_fini(struct clb_acl *acl)
{
    free(acl->id);
    free(acl->name);
    lbc_texts_fini(&acl->entries);
    memset(acl, 0, sizeof(*acl));
}

static void state_fini_own(struct lbc_state *state)
{
    clb_acl_fini(&((struct clb_state *)state)->acl);
}

LBC_STATE_CHECK(struct clb_state);
_Static_assert(CLB_LB_FIELD_COUNT <= LBC_LB_TEXTS, "each attribute has a text");

const struct lbc_state_type clb_state_type = {
    .size = sizeof(struct clb_state),
    .lb_size = sizeof(struct clb_lb),
    .group_size = sizeof(struct lbc_group),
    .listener_size = sizeof(struct clb_listener),
    .groups_move = true,
    .fini = state_fini_own,
    .lb_fini = lb_fini_own,
    .lb_copy = lb_copy_own,
    .listener_fini = listener_fini_own,
    .protocol_name = lbc_protocol_lower,
};
