/*
 * What a dry run says beside the steps of a plan: which backends lose traffic that they take now,
 * and which nodes get traffic because the label of the control plane excludes no node any more.
 */
#include "lbc/freeze_pass.h"
#include "lbc/pass.h"

#include "lbc/model/named.h"
#include "lbc/names.h"
#include "util/cleanup.h"
#include "util/text.h"

#define CONTROL_PLANE "node-role.kubernetes.io/control-plane"

/* "what: names. advice" */
static void rehearse_emit(struct lbc_pass *pass, const char *reason, const char *what,
                          const struct lbc_named *named, const char *advice)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf names = { .max = 700 };

    if (named->count > 0) {
        lbc_named_format(named, "; ", &names);
        lbc_life_event(&pass->life, pass->service, true, reason, "%zu %s: %s%s", named->count, what,
                       ccm_buf_str(&names), advice);
    }
}

/* The server stays a backend of the group, at another port; or its address does, by another network
 * interface. */
static bool rehearse_stays(const struct lbc_step *step, const struct lbc_backend *one)
{
    const struct lbc_backends *want = step->want == NULL ? NULL : &step->want->backends;

    for (size_t i = 0; want != NULL && i < want->len; i++) {
        if (ccm_text_equal(want->items[i].server_ip, one->server_ip) &&
            (!ccm_text_empty(one->server_ip) ||
             ccm_text_equal(want->items[i].server_id, one->server_id))) {
            return true;
        }
    }
    return false;
}

static void rehearse_removal(struct lbc_freeze *freeze, const struct lbc_step *step,
                             struct lbc_named *named)
{
    for (size_t i = 0; i < step->backends.len; i++) {
        const struct lbc_backend *one = &step->backends.items[i];
        const char *name = NULL;

        if (!rehearse_stays(step, one) && lbc_freeze_serves(freeze, one)) {
            const char *words = lbc_freeze_explain(freeze, one, &name);

            lbc_named_add(named, words, name);
        }
    }
}

static void rehearse_addition(struct lbc_freeze *freeze, const struct lbc_step *step,
                              struct lbc_named *named)
{
    for (size_t i = 0; step->group != NULL && i < step->backends.len; i++) {
        const struct ccm_node *node = lbc_freeze_find_node(freeze, &step->backends.items[i]);

        if (node != NULL && ccm_object_label(&node->meta, CONTROL_PLANE) != NULL) {
            lbc_named_add(named, "nodes with label " CONTROL_PLANE ":", node->meta.name);
        }
    }
}

void lbc_pass_rehearse(struct lbc_pass *pass, const struct lbc_plan *plan)
{
    CCM_CLEANUP(lbc_freeze_fini) struct lbc_freeze freeze = { 0 };
    CCM_CLEANUP(lbc_named_fini) struct lbc_named gone = { 0 };
    CCM_CLEANUP(lbc_named_fini) struct lbc_named added = { 0 };

    if (pass->releases) {
        return; /* the Service itself is deleted */
    }
    lbc_freeze_begin(&freeze, pass, &pass->model->nodes);
    for (size_t i = 0; i < plan->len; i++) {
        if (plan->steps[i]->type == LBC_STEP_REMOVE) {
            rehearse_removal(&freeze, plan->steps[i], &gone);
        } else if (plan->steps[i]->type == LBC_STEP_ADD) {
            rehearse_addition(&freeze, plan->steps[i], &added);
        }
    }
    rehearse_emit(pass, "ServingBackendsRemoved", "backend(s) that are ready lose their traffic",
                  &gone, "");
    rehearse_emit(pass, "ControlPlaneBackends", "node(s) become backends", &added,
                  "; label node.kubernetes.io/exclude-from-external-load-balancers keeps traffic "
                  "from a node");
}
