/* Steps that create, change and delete listeners. */
#include "annotations.h"
#include "lbc/apply/compare.h"
#include "plan_parts.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>

/* --- forwarding of http ports --- */

uint16_t clb_forward_target(const struct lbc_listener *listener)
{
    const char *port = lbc_attrs_get(&listener->attrs, clb_field_find("ForwardPort"));
    const char *on = lbc_attrs_get(&listener->attrs, clb_field_find("ListenerForward"));
    uint32_t number = 0;

    if (port == NULL || !ccm_text_equal(on, "on") ||
        ccm_parse_u32(port, 1, UINT16_MAX, &number) < 0) {
        return 0;
    }
    return (uint16_t)number;
}

static bool listener_forwards(const struct lbc_listener *listener)
{
    return ccm_text_equal(lbc_attrs_get(&listener->attrs, clb_field_find("ListenerForward")), "on");
}

/* The present group that a desired listener is to send to; NULL: there is none so far. */
static struct lbc_group *plan_find_group(const struct lbc_work *work,
                                         const struct lbc_listener *want)
{
    return want->group == NULL ? NULL : lbc_state_group_for(work->have, want->group);
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
static bool goes_early(struct lbc_work *work, const struct lbc_listener *have)
{
    const uint16_t target = clb_forward_target(have);
    const struct lbc_listener *to =
        target == 0 ? NULL : lbc_state_listener_on(work->have, LBC_HTTPS, target, target);
    const struct lbc_listener *want =
        lbc_state_listener_on(work->want, LBC_HTTP, have->port, have->port);

    return to != NULL && want != NULL && have->protocol == LBC_HTTP && !want->broken &&
           !want->lacks && lbc_plan_is_stale(work, to) &&
           lbc_work_owner(work, have->description, true) != LBC_OWNER_OTHER &&
           clb_forward_target(want) != target;
}

bool clb_plan_loses_listener(const struct lbc_work *work, const struct lbc_listener *want,
                             const struct lbc_listener *have)
{
    return work->model->reused && work->in->restores && want->protocol == have->protocol &&
           needs_rebuild(want, have, plan_find_group(work, want));
}

/* --- deletion --- */

int clb_plan_stale_listeners(struct lbc_work *work)
{
    const struct lbc_state *have = work->have;
    int r = 0;

    if (!lbc_model_has_listeners(work->model)) {
        return 0;
    }
    /* What forwards goes before what it forwards to. */
    for (size_t i = 0; r == 0 && i < have->listener_count; i++) {
        struct lbc_listener *one = have->listeners[i];

        if (!listener_forwards(one)) {
            continue;
        }
        if (lbc_plan_is_stale(work, one)) {
            r = lbc_plan_release_listener(work, one);
        } else if (goes_early(work, one)) {
            r = lbc_plan_drop_listener(work, one);
        }
    }
    for (size_t i = 0; r == 0 && i < have->listener_count; i++) {
        struct lbc_listener *one = have->listeners[i];

        if (!listener_forwards(one) && lbc_plan_is_stale(work, one)) {
            r = lbc_plan_release_listener(work, one);
        }
    }
    return r;
}

/* --- creation and change --- */

static int plan_start_listener(struct lbc_work *work, const struct clb_listener *want,
                               struct lbc_listener *have)
{
    struct lbc_step *step =
        lbc_work_listener_step(work, CLB_STEP_START_LISTENER, 0, &want->lbc, have);

    if (step == NULL) {
        return -ENOMEM;
    }
    ((struct clb_listener *)step->to)->ranges = want->ranges;
    return 0;
}

static int plan_domain(struct lbc_work *work, unsigned type, const struct clb_listener *want,
                       const struct clb_domain *domain)
{
    struct lbc_step *step = lbc_work_listener_step(work, type, 0, &want->lbc,
                                                   lbc_state_listener_like(work->have, &want->lbc));

    return step == NULL ? -ENOMEM : lbc_tags_put(&step->tags, domain->name, domain->cert);
}

/* Other certificates first, then new domains, then those that go. have NULL: a new listener. */
static int plan_domains(struct lbc_work *work, const struct clb_listener *want,
                        const struct clb_listener *have)
{
    static const struct clb_domains none = { 0 };
    const struct clb_domains *present = have == NULL ? &none : &have->domains;
    int r = 0;

    if (!want->lbc.certs_known || (have != NULL && !have->lbc.certs_known)) {
        return 0;
    }
    for (size_t i = 0; r == 0 && i < want->domains.len; i++) {
        const struct clb_domain *domain = &want->domains.items[i];
        const struct clb_domain *twin = clb_domains_find(present, domain->name);

        if (twin != NULL && !ccm_text_equal(twin->cert, domain->cert)) {
            r = plan_domain(work, CLB_STEP_SET_DOMAIN, want, domain);
        }
    }
    for (size_t i = 0; r == 0 && i < want->domains.len; i++) {
        const struct clb_domain *domain = &want->domains.items[i];

        if (clb_domains_find(present, domain->name) == NULL) {
            r = plan_domain(work, CLB_STEP_CREATE_DOMAIN, want, domain);
        }
    }
    for (size_t i = 0; r == 0 && i < present->len; i++) {
        const struct clb_domain *domain = &present->items[i];

        if (clb_domains_find(&want->domains, domain->name) == NULL) {
            r = plan_domain(work, CLB_STEP_DELETE_DOMAIN, want, domain);
        }
    }
    return r;
}

/* Where it sends to. */
static void step_set_group(struct lbc_step *step, const struct lbc_listener *want,
                           struct lbc_group *group)
{
    step->want = want->group;
    step->group = group;
}

static int plan_create_listener(struct lbc_work *work, const struct clb_listener *want,
                                struct lbc_group *group)
{
    struct lbc_step *step =
        lbc_work_listener_step(work, LBC_STEP_CREATE_LISTENER, 0, &want->lbc, NULL);

    if (step == NULL || clb_listener_copy((struct clb_listener *)step->to, want) < 0) {
        return -ENOMEM;
    }
    step_set_group(step, &want->lbc, group);
    if (plan_domains(work, want, NULL) < 0) {
        return -ENOMEM;
    }
    return plan_start_listener(work, want, NULL);
}

static bool acl_differs(const struct lbc_work *work, const struct clb_listener *want,
                        const struct clb_listener *have)
{
    const char *id = lbc_attrs_get(&have->lbc.attrs, clb_field_find("AclId"));

    return want->ranges && (clb_work_have(work)->acl.id == NULL ||
                            !ccm_text_equal(clb_work_have(work)->acl.id, id));
}

/* Our own list stays bound although no ranges are asked for any more. */
static bool acl_is_left(const struct lbc_work *work, const struct clb_listener *want,
                        const struct clb_listener *have)
{
    const char *status = lbc_attrs_get(&have->lbc.attrs, clb_field_find("AclStatus"));
    const char *id = lbc_attrs_get(&have->lbc.attrs, clb_field_find("AclId"));

    return !want->ranges && !lbc_attrs_keeps(&want->lbc.attrs, clb_field_find("AclStatus")) &&
           clb_work_have(work)->acl.id != NULL && ccm_text_equal(clb_work_have(work)->acl.id, id) &&
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

static bool listener_differs(const struct lbc_work *work, const struct clb_listener *want,
                             const struct clb_listener *have, const struct lbc_group *group)
{
    if (group == NULL || !ccm_text_equal(group->id, have->lbc.group_id) ||
        !ccm_text_equal(want->lbc.description, have->lbc.description) ||
        acl_differs(work, want, have) || acl_is_left(work, want, have)) {
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
static bool is_repeated(const struct lbc_work *work, const struct lbc_attr *attr,
                        const struct clb_listener *have)
{
    return !work->in->fresh && attr->explicit && (attr->row->cloud & LBC_ATTR_CREATE) == 0 &&
           ccm_text_equal(attr->value, lbc_attrs_get(&have->lbc.attrs, attr->row));
}

/* What is there, as far as it was read just now, overlaid with what is to be different: the cloud
 * sets all of it, and leaves alone what is not named. */
static int listener_overlay(struct clb_listener *to, const struct lbc_work *work,
                            const struct clb_listener *want, const struct clb_listener *have)
{
    int r = work->in->fresh ? clb_listener_copy(to, have) : 0;

    to->lbc.running = have->lbc.running;
    to->ranges = want->ranges;
    if (r == 0) {
        r = lbc_text_set(&to->lbc.description, want->lbc.description);
    }
    for (size_t i = 0; r == 0 && i < want->lbc.attrs.len; i++) {
        const struct lbc_attr *attr = &want->lbc.attrs.items[i];

        if (attr_differs(want, attr, have) || is_repeated(work, attr, have)) {
            r = lbc_attrs_set(&to->lbc.attrs, attr->row, attr->value, true);
        }
    }
    if (r == 0 && acl_is_left(work, want, have)) {
        r = lbc_attrs_set(&to->lbc.attrs, clb_field_find("AclStatus"), "off", true);
    }
    overlay_drop_acl(to);
    return r;
}

static int plan_update_listener(struct lbc_work *work, const struct clb_listener *want,
                                struct clb_listener *have, struct lbc_group *group)
{
    struct lbc_step *step =
        lbc_work_listener_step(work, LBC_STEP_UPDATE_LISTENER, 0, &want->lbc, &have->lbc);

    if (step == NULL) {
        return -ENOMEM;
    }
    step_set_group(step, &want->lbc, group);
    return listener_overlay((struct clb_listener *)step->to, work, want, have);
}

/* --- all of it --- */

static int plan_one(struct lbc_work *work, const struct clb_listener *want)
{
    struct clb_listener *have =
        (struct clb_listener *)lbc_state_listener_like(work->have, &want->lbc);
    struct lbc_group *group = plan_find_group(work, &want->lbc);
    const struct lbc_listener *obstacle = lbc_plan_obstacle(work, &want->lbc);
    const bool rebuilds = have != NULL && needs_rebuild(&want->lbc, &have->lbc, group);
    int r = 0;

    if (obstacle != NULL) {
        lbc_plan_refuse(work, &want->lbc, obstacle);
        return 0;
    }
    if (have == NULL || rebuilds) {
        if (want->lbc.lacks) {
            return 0;
        }
        if (rebuilds && !goes_early(work, &have->lbc)) {
            r = lbc_plan_drop_listener(work, &have->lbc);
        }
        return r < 0 ? r : plan_create_listener(work, want, group);
    }
    if (!listener_forwards(&want->lbc) && listener_differs(work, want, have, group)) {
        r = plan_update_listener(work, want, have, group);
    }
    if (r == 0) {
        r = plan_domains(work, want, have);
    }
    return r == 0 && !have->lbc.running ? plan_start_listener(work, want, &have->lbc) : r;
}

static int plan_listeners_of(struct lbc_work *work, const struct lbc_group *group)
{
    int r = 0;

    if (work->model->keep_backends && lbc_state_group_for(work->have, group) == NULL) {
        return 0; /* it is not made, so nobody can be sent there */
    }
    for (size_t i = 0; r == 0 && i < work->want->listener_count; i++) {
        const struct clb_listener *want = clb_listener_at(&clb_work_model(work)->want, i);

        if (!want->lbc.broken && !listener_forwards(&want->lbc) && want->lbc.group == group) {
            r = plan_one(work, want);
        }
    }
    return r;
}

int clb_plan_groups(struct lbc_work *work)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < work->want->group_count; i++) {
        const struct lbc_group *group = work->want->groups[i];

        if (group->broken) {
            continue;
        }
        r = lbc_plan_group(work, group);
        if (r == 0 && lbc_model_has_listeners(work->model)) {
            r = plan_listeners_of(work, group);
        }
    }
    return r;
}

int clb_plan_forwards(struct lbc_work *work)
{
    const size_t count = lbc_model_has_listeners(work->model) ? work->want->listener_count : 0;
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++) {
        const struct clb_listener *want = clb_listener_at(&clb_work_model(work)->want, i);

        if (!want->lbc.broken && listener_forwards(&want->lbc)) {
            r = plan_one(work, want);
        }
    }
    return r;
}
