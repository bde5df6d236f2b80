#include "annotations.h"
#include "lbc/apply/compare.h"
#include "plan_parts.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

/* --- forwarding of http ports --- */

static bool listener_forwards(const struct lbc_listener *listener)
{
    return ccm_text_equal(lbc_attrs_get(&listener->attrs, clb_field_find("ListenerForward")), "on");
}

/* The present group that a desired listener is to send to; NULL: there is none so far. */
static struct lbc_group *plan_find_group(const struct lbc_work *work,
                                         const struct lbc_listener *want)
{
    const struct lbc_group *group = lbc_state_group_by_name(work->want, want->group_name);

    return group != NULL ? lbc_state_group_for(work->have, group)
                         : lbc_state_group_by_name(work->have, want->group_name);
}

/* Where a listener forwards to cannot be changed, nor anything else while it forwards. */
static bool needs_rebuild(const struct lbc_listener *want, const struct lbc_listener *have,
                          const struct lbc_group *group)
{
    if (listener_forwards(want) != listener_forwards(have)) {
        return true;
    }
    return listener_forwards(want) &&
           (clb_forward_target(want) != clb_forward_target(have) ||
            (have->group_id != NULL &&
             !ccm_text_equal(have->group_id, group == NULL ? NULL : group->id)));
}

/* Whether the present forward of a wanted listener leads to one that goes: then it has to be gone
 * before that one can. */
static bool goes_early(struct clb_work *work, const struct lbc_listener *have)
{
    const uint16_t target = clb_forward_target(have);
    const struct lbc_listener *to =
        target == 0 ? NULL : lbc_state_listener_on(work->lbc.have, LBC_HTTPS, target, target);
    const struct lbc_listener *want =
        lbc_state_listener_on(work->lbc.want, LBC_HTTP, have->port, have->port);

    return to != NULL && want != NULL && have->protocol == LBC_HTTP && !want->broken &&
           !want->lacks && lbc_plan_is_stale(&work->lbc, to) &&
           lbc_work_owner(&work->lbc, have->description, true) != LBC_OWNER_OTHER &&
           clb_forward_target(want) != target;
}

bool clb_plan_loses_listener(const struct lbc_work *work, const struct lbc_listener *want,
                             const struct lbc_listener *have)
{
    return work->model->reused && ((const struct clb_work *)work)->in->restores &&
           want->protocol == have->protocol &&
           needs_rebuild(want, have, plan_find_group(work, want));
}

/* --- steps --- */

/* A step about the port of `who`; have: the present listener, or NULL. */
static struct clb_step *listener_new_step(struct clb_work *work, unsigned type,
                                          const struct lbc_listener *who, struct lbc_listener *have)
{
    struct clb_step *step = clb_plan_new_step(work, type);

    if (step != NULL) {
        step->lbc.port = who->port;
        step->lbc.protocol = who->protocol;
        step->lbc.listener = have;
    }
    return step;
}

/* --- deletion --- */

static int plan_drop_listener(struct clb_work *work, struct lbc_listener *have)
{
    return listener_new_step(work, LBC_STEP_DELETE_LISTENER, have, have) == NULL ? -ENOMEM : 0;
}

/* One that was taken over is what it was before. *ret_done false: nobody can tell. */
static int plan_restore_listener(struct clb_work *work, struct lbc_listener *have, bool *ret_done)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags was = { 0 };
    struct lbc_group *group = NULL;
    struct clb_step *step = NULL;

    if (lbc_plan_find_taken(&work->lbc, have, &was, &group, ret_done) < 0) {
        return -ENOMEM;
    }
    if (!*ret_done) {
        return 0;
    }
    step = listener_new_step(work, LBC_STEP_RESTORE_LISTENER, have, have);
    if (step == NULL || clb_listener_copy(&step->listener, (const struct clb_listener *)have) < 0) {
        return -ENOMEM;
    }
    step->lbc.to = &step->listener.lbc;
    step->lbc.group = group;
    return lbc_plan_overlay_taken(&work->lbc, &was, &step->listener.lbc);
}

static int plan_release_listener(struct clb_work *work, struct lbc_listener *have)
{
    bool done = false;
    const int r =
        lbc_plan_is_stale(&work->lbc, have) ? plan_restore_listener(work, have, &done) : 0;

    return r < 0 || done ? r : plan_drop_listener(work, have);
}

int clb_plan_stale_listeners(struct clb_work *work)
{
    const struct lbc_state *have = work->lbc.have;
    int r = 0;

    /* What forwards goes before what it forwards to. */
    for (size_t i = 0; r == 0 && i < have->listener_count; i++) {
        struct lbc_listener *one = have->listeners[i];

        if (listener_forwards(one) &&
            (lbc_plan_is_stale(&work->lbc, one) || goes_early(work, one))) {
            r = plan_release_listener(work, one);
        }
    }
    for (size_t i = 0; r == 0 && i < have->listener_count; i++) {
        struct lbc_listener *one = have->listeners[i];

        if (!listener_forwards(one) && lbc_plan_is_stale(&work->lbc, one)) {
            r = plan_release_listener(work, one);
        }
    }
    return r;
}

/* --- creation and change --- */

static int plan_start_listener(struct clb_work *work, const struct clb_listener *want,
                               struct lbc_listener *have)
{
    struct clb_step *step = listener_new_step(work, CLB_STEP_START_LISTENER, &want->lbc, have);

    if (step == NULL) {
        return -ENOMEM;
    }
    step->listener.ranges = want->ranges;
    return 0;
}

static int add_domain(struct clb_work *work, unsigned type, const struct clb_listener *want,
                      const struct clb_domain *domain, const char *id)
{
    struct clb_step *step = listener_new_step(work, type, &want->lbc,
                                              lbc_state_listener_like(work->lbc.have, &want->lbc));

    return step == NULL || lbc_text_set(&step->domain.name, domain->name) < 0 ||
                   lbc_text_set(&step->domain.cert, domain->cert) < 0 ||
                   lbc_text_set(&step->domain.id, id) < 0
               ? -ENOMEM
               : 0;
}

/* Other certificates first, then new domains, then those that go. have NULL: a new listener. */
static int plan_domains(struct clb_work *work, const struct clb_listener *want,
                        const struct clb_listener *have)
{
    static const struct clb_domains none = { 0 };
    const struct clb_domains *present = have == NULL ? &none : &have->domains;
    int r = 0;

    if (!want->domains_known || (have != NULL && !have->domains_known)) {
        return 0;
    }
    for (size_t i = 0; r == 0 && i < want->domains.len; i++) {
        const struct clb_domain *domain = &want->domains.items[i];
        const struct clb_domain *twin = clb_domains_find(present, domain->name);

        if (twin != NULL && !ccm_text_equal(twin->cert, domain->cert)) {
            r = add_domain(work, CLB_STEP_SET_DOMAIN, want, domain, twin->id);
        }
    }
    for (size_t i = 0; r == 0 && i < want->domains.len; i++) {
        const struct clb_domain *domain = &want->domains.items[i];

        if (clb_domains_find(present, domain->name) == NULL) {
            r = add_domain(work, CLB_STEP_CREATE_DOMAIN, want, domain, NULL);
        }
    }
    for (size_t i = 0; r == 0 && i < present->len; i++) {
        const struct clb_domain *domain = &present->items[i];

        if (clb_domains_find(&want->domains, domain->name) == NULL) {
            r = add_domain(work, CLB_STEP_DELETE_DOMAIN, want, domain, domain->id);
        }
    }
    return r;
}

/* Where it sends to. */
static int step_set_group(struct clb_step *step, const struct clb_work *work,
                          const struct lbc_listener *want, struct lbc_group *group)
{
    step->lbc.to = &step->listener.lbc;
    step->lbc.want = lbc_state_group_by_name(work->lbc.want, want->group_name);
    step->lbc.group = group;
    return lbc_text_set(&step->listener.lbc.group_name, want->group_name);
}

static int plan_create_listener(struct clb_work *work, const struct clb_listener *want,
                                struct lbc_group *group)
{
    struct clb_step *step = listener_new_step(work, LBC_STEP_CREATE_LISTENER, &want->lbc, NULL);

    if (step == NULL || clb_listener_copy(&step->listener, want) < 0 ||
        step_set_group(step, work, &want->lbc, group) < 0 || plan_domains(work, want, NULL) < 0) {
        return -ENOMEM;
    }
    return plan_start_listener(work, want, NULL);
}

static bool acl_differs(const struct clb_plan_input *in, const struct clb_listener *want,
                        const struct clb_listener *have)
{
    const char *id = lbc_attrs_get(&have->lbc.attrs, clb_field_find("AclId"));

    return want->ranges && (in->have->acl.id == NULL || !ccm_text_equal(in->have->acl.id, id));
}

/* Our own list stays bound although no ranges are asked for any more. */
static bool acl_is_left(const struct clb_plan_input *in, const struct clb_listener *want,
                        const struct clb_listener *have)
{
    const char *status = lbc_attrs_get(&have->lbc.attrs, clb_field_find("AclStatus"));
    const char *id = lbc_attrs_get(&have->lbc.attrs, clb_field_find("AclId"));

    return !want->ranges && !lbc_attrs_keeps(&want->lbc.attrs, clb_field_find("AclStatus")) &&
           in->have->acl.id != NULL && ccm_text_equal(in->have->acl.id, id) &&
           ccm_text_equal(status, "on") &&
           lbc_attrs_get(&want->lbc.attrs, clb_field_find("AclStatus")) == NULL;
}

static bool attr_differs(const struct clb_listener *want, const struct lbc_attr *attr,
                         const struct clb_listener *have)
{
    const struct lbc_compare compare =
        lbc_compare_listeners(&clb_annotations, &want->lbc, &have->lbc);

    return lbc_compare_target(&compare, attr->row) != NULL;
}

static bool listener_differs(const struct clb_plan_input *in, const struct clb_listener *want,
                             const struct clb_listener *have, const struct lbc_group *group)
{
    if (group == NULL || !ccm_text_equal(group->id, have->lbc.group_id) ||
        !ccm_text_equal(want->lbc.description, have->lbc.description) ||
        acl_differs(in, want, have) || acl_is_left(in, want, have)) {
        return true;
    }
    for (size_t i = 0; i < want->lbc.attrs.len; i++) {
        if (attr_differs(want, &want->lbc.attrs.items[i], have)) {
            return true;
        }
    }
    return false;
}

/* A listener that is open goes on telling the list that it had, which may be gone by now: the cloud
 * refuses the whole change that names one. */
static void overlay_drop_acl(struct clb_listener *listener)
{
    if (ccm_text_equal(lbc_attrs_get(&listener->lbc.attrs, clb_field_find("AclStatus")), "off")) {
        lbc_attrs_remove(&listener->lbc.attrs, clb_field_find("AclId"));
    }
}

/* What somebody asks for and is there already is said again, whatever else may be old. */
static bool is_repeated(const struct clb_plan_input *in, const struct lbc_attr *attr,
                        const struct clb_listener *have)
{
    return !in->fresh && attr->explicit && (attr->row->cloud & LBC_ATTR_CREATE) == 0 &&
           ccm_text_equal(attr->value, lbc_attrs_get(&have->lbc.attrs, attr->row));
}

/* What is there, as far as it was read just now, overlaid with what is to be different: the cloud
 * sets all of it, and leaves alone what is not named. */
static int step_overlay_listener(struct clb_step *step, const struct clb_plan_input *in,
                                 const struct clb_listener *want, const struct clb_listener *have)
{
    int r = in->fresh ? clb_listener_copy(&step->listener, have) : 0;

    step->listener.lbc.port = have->lbc.port;
    step->listener.lbc.last_port = step->listener.lbc.port;
    step->listener.lbc.protocol = have->lbc.protocol;
    step->listener.lbc.running = have->lbc.running;
    step->listener.ranges = want->ranges;
    if (r == 0) {
        r = lbc_text_set(&step->listener.lbc.description, want->lbc.description);
    }
    for (size_t i = 0; r == 0 && i < want->lbc.attrs.len; i++) {
        const struct lbc_attr *attr = &want->lbc.attrs.items[i];

        if (attr_differs(want, attr, have) || is_repeated(in, attr, have)) {
            r = lbc_attrs_set(&step->listener.lbc.attrs, attr->row, attr->value, true);
        }
    }
    if (r == 0 && acl_is_left(in, want, have)) {
        r = lbc_attrs_set(&step->listener.lbc.attrs, clb_field_find("AclStatus"), "off", true);
    }
    overlay_drop_acl(&step->listener);
    return r;
}

static int plan_update_listener(struct clb_work *work, const struct clb_listener *want,
                                struct clb_listener *have, struct lbc_group *group)
{
    struct clb_step *step =
        listener_new_step(work, LBC_STEP_UPDATE_LISTENER, &want->lbc, &have->lbc);
    int r = step == NULL ? -ENOMEM : step_overlay_listener(step, work->in, want, have);

    return r < 0 ? r : step_set_group(step, work, &want->lbc, group);
}

/* --- whose port it is --- */

static void plan_refuse_listener(struct clb_work *work, const struct lbc_listener *want,
                                 const struct lbc_listener *have)
{
    const enum lbc_owner owner = lbc_work_owner(&work->lbc, have->description, true);
    const bool is_same = want->protocol == have->protocol;
    struct ccm_error err = CCM_ERROR_INIT;

    (void)ccm_error_set(&err, 0, work->lbc.fresh ? CCM_ERROR_TERMINAL : CCM_ERROR_CONFLICT,
                        "port %u/%s: the %s%slistener belongs to %s (%s); choose another port",
                        want->port, lbc_protocol_lower(want->protocol),
                        is_same ? "" : lbc_protocol_lower(have->protocol), is_same ? "" : " ",
                        owner == LBC_OWNER_OTHER  ? "another Service"
                        : owner == LBC_OWNER_OURS ? "another port of this Service"
                        : clb_plan_loses_listener(&work->lbc, want, have)
                            ? "somebody else, and could not be put back"
                            : "somebody else",
                        have->description == NULL ? "no description" : have->description);
    lbc_problems_add(work->lbc.problems, &err, NULL);
}

static int plan_one(struct clb_work *work, const struct clb_listener *want)
{
    struct clb_listener *have =
        (struct clb_listener *)lbc_state_listener_like(work->lbc.have, &want->lbc);
    struct lbc_group *group = plan_find_group(&work->lbc, &want->lbc);
    const struct lbc_listener *obstacle = lbc_plan_obstacle(&work->lbc, &want->lbc);
    const bool rebuilds = have != NULL && needs_rebuild(&want->lbc, &have->lbc, group);
    int r = 0;

    if (obstacle != NULL) {
        plan_refuse_listener(work, &want->lbc, obstacle);
        return 0;
    }
    if (have == NULL || rebuilds) {
        if (want->lbc.lacks) {
            return 0;
        }
        if (rebuilds && !goes_early(work, &have->lbc)) {
            r = plan_drop_listener(work, &have->lbc);
        }
        return r < 0 ? r : plan_create_listener(work, want, group);
    }
    if (!listener_forwards(&want->lbc) && listener_differs(work->in, want, have, group)) {
        r = plan_update_listener(work, want, have, group);
    }
    if (r == 0) {
        r = plan_domains(work, want, have);
    }
    return r == 0 && !have->lbc.running ? plan_start_listener(work, want, &have->lbc) : r;
}

int clb_plan_listeners_of(struct clb_work *work, const struct lbc_group *group)
{
    int r = 0;

    if (work->lbc.model->keep_backends && lbc_state_group_for(work->lbc.have, group) == NULL) {
        return 0; /* it is not made, so nobody can be sent there */
    }
    for (size_t i = 0; r == 0 && i < work->lbc.want->listener_count; i++) {
        const struct clb_listener *want = clb_listener_at(&work->in->model->want, i);

        if (!want->lbc.broken && !listener_forwards(&want->lbc) &&
            ccm_text_equal(want->lbc.group_name, group->name)) {
            r = plan_one(work, want);
        }
    }
    return r;
}

int clb_plan_forwards(struct clb_work *work)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < work->lbc.want->listener_count; i++) {
        const struct clb_listener *want = clb_listener_at(&work->in->model->want, i);

        if (!want->lbc.broken && listener_forwards(&want->lbc)) {
            r = plan_one(work, want);
        }
    }
    return r;
}
