/* Steps that create, change and delete listeners. */
#include "annotations.h"
#include "lbc/apply/compare.h"
#include "plan_parts.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>

/* --- forwarding of http ports --- */

static bool listener_forwards(const struct lbc_listener *listener)
{
    return lbc_attrs_is_on(&listener->attrs, clb_field_find("ListenerForward"));
}

uint16_t clb_forward_target(const struct lbc_listener *listener)
{
    const char *port = lbc_attrs_get(&listener->attrs, clb_field_find("ForwardPort"));
    uint32_t number = 0;

    return listener_forwards(listener) && port != NULL &&
                   ccm_parse_u32(port, 1, UINT16_MAX, &number) == 0
               ? (uint16_t)number
               : 0;
}

/* Where a listener forwards to cannot be changed, nor anything else while it forwards. */
bool clb_plan_needs_rebuild(const struct lbc_work *work, const struct lbc_listener *want,
                            const struct lbc_listener *have)
{
    const struct lbc_group *group = lbc_work_group_of(work, want);

    if (listener_forwards(want) != listener_forwards(have) ||
        clb_plan_check_needs_rebuild(work, want, have)) {
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

/* --- deletion --- */

/* What forwards goes before what it forwards to. */
int clb_plan_stale_listeners(struct lbc_work *work)
{
    const bool managed = lbc_model_has_listeners(work->model);
    int r = 0;

    for (size_t i = 0; r == 0 && i < work->have->listener_count; i++) {
        struct lbc_listener *one = work->have->listeners[i];

        if (listener_forwards(one) && lbc_plan_is_stale(work, one)) {
            r = lbc_plan_release_listener(work, one);
        } else if (managed && listener_forwards(one) && goes_early(work, one)) {
            r = lbc_plan_drop_listener(work, one);
        }
    }
    return r < 0 ? r : lbc_plan_stale_listeners(work);
}

/* --- what a listener has beside its attributes --- */

static int plan_domain(struct lbc_work *work, unsigned type, const struct lbc_listener *want,
                       struct lbc_listener *have, const struct clb_domain *domain)
{
    struct lbc_step *step = lbc_work_listener_step(work, type, 0, want, have);

    return step == NULL ? -ENOMEM : lbc_tags_put(&step->tags, domain->name, domain->cert);
}

/* Other certificates first, then new domains, then those that go. */
static int plan_domains(struct lbc_work *work, const struct clb_listener *want,
                        struct clb_listener *have)
{
    static const struct clb_domains none = { 0 };
    const struct clb_domains *present = have == NULL ? &none : &have->domains;
    struct lbc_listener *whose = have == NULL ? NULL : &have->lbc;
    int r = 0;

    if (!want->lbc.certs_known || (have != NULL && !have->lbc.certs_known)) {
        return 0;
    }
    for (size_t i = 0; r == 0 && i < want->domains.len; i++) {
        const struct clb_domain *domain = &want->domains.items[i];
        const struct clb_domain *twin = clb_domains_find(present, domain->name);

        if (twin != NULL && !ccm_text_equal(twin->cert, domain->cert)) {
            r = plan_domain(work, CLB_STEP_SET_DOMAIN, &want->lbc, whose, domain);
        }
    }
    for (size_t i = 0; r == 0 && i < want->domains.len; i++) {
        if (clb_domains_find(present, want->domains.items[i].name) == NULL) {
            r = plan_domain(work, CLB_STEP_CREATE_DOMAIN, &want->lbc, whose,
                            &want->domains.items[i]);
        }
    }
    for (size_t i = 0; r == 0 && i < present->len; i++) {
        if (clb_domains_find(&want->domains, present->items[i].name) == NULL) {
            r = plan_domain(work, CLB_STEP_DELETE_DOMAIN, &want->lbc, whose, &present->items[i]);
        }
    }
    return r;
}

int clb_plan_more(struct lbc_work *work, const struct lbc_listener *want, struct lbc_listener *have)
{
    const int r =
        plan_domains(work, (const struct clb_listener *)want, (struct clb_listener *)have);

    return r < 0 || (have != NULL && have->running) ||
                   lbc_work_listener_step(work, CLB_STEP_START_LISTENER, 0, want, have) != NULL
               ? r
               : -ENOMEM;
}

/* --- change --- */

static bool acl_differs(const struct lbc_work *work, const struct lbc_listener *want,
                        const struct lbc_listener *have)
{
    const char *id = lbc_attrs_get(&have->attrs, clb_field_find("AclId"));

    return want->ranges && (clb_work_have(work)->acl.id == NULL ||
                            !ccm_text_equal(clb_work_have(work)->acl.id, id));
}

/* Our own list stays bound although no ranges are asked for any more. */
static bool acl_is_left(const struct lbc_work *work, const struct lbc_listener *want,
                        const struct lbc_listener *have)
{
    const struct lbc_anno *status = clb_field_find("AclStatus");
    const char *id = lbc_attrs_get(&have->attrs, clb_field_find("AclId"));

    return !want->ranges && lbc_attrs_find(&want->attrs, status) == NULL &&
           clb_work_have(work)->acl.id != NULL && ccm_text_equal(clb_work_have(work)->acl.id, id) &&
           lbc_attrs_is_on(&have->attrs, status);
}

static bool attr_differs(const struct lbc_listener *want, const struct lbc_attr *attr,
                         const struct lbc_listener *have)
{
    const struct lbc_compare compare = lbc_compare_listeners(&clb_annotations, want, have);

    return lbc_compare_target(&compare, attr->row) != NULL;
}

static bool listener_differs(const struct lbc_work *work, const struct lbc_listener *want,
                             const struct lbc_listener *have, const struct lbc_group *group)
{
    if (group == NULL || !ccm_text_equal(group->id, have->group_id) ||
        !ccm_text_equal(want->description, have->description) || acl_differs(work, want, have) ||
        acl_is_left(work, want, have)) {
        return true;
    }
    for (size_t i = 0; i < want->attrs.len; i++) {
        if (attr_differs(want, &want->attrs.items[i], have)) {
            return true;
        }
    }
    return false;
}

/* What somebody asks for and is there already is said again, whatever else may be old. */
static bool is_repeated(const struct lbc_work *work, const struct lbc_attr *attr,
                        const struct lbc_listener *have)
{
    return !work->in->fresh && attr->explicit && (attr->row->cloud & LBC_ATTR_CREATE) == 0 &&
           ccm_text_equal(attr->value, lbc_attrs_get(&have->attrs, attr->row));
}

/* What is there, as far as it was read just now, overlaid with what is to be different: the cloud
 * sets all of it, and leaves alone what is not named. */
static int listener_overlay(const struct lbc_work *work, const struct lbc_listener *want,
                            const struct lbc_listener *have, struct lbc_attrs *ret)
{
    const struct lbc_anno *status = clb_field_find("AclStatus");
    int r = work->in->fresh ? lbc_attrs_copy(ret, &have->attrs) : 0;

    for (size_t i = 0; r == 0 && i < want->attrs.len; i++) {
        const struct lbc_attr *attr = &want->attrs.items[i];

        if (attr_differs(want, attr, have) || is_repeated(work, attr, have)) {
            r = lbc_attrs_set(ret, attr->row, attr->value, true);
        }
    }
    if (r == 0 && acl_is_left(work, want, have)) {
        r = lbc_attrs_set(ret, status, "off", true);
    }
    /* A listener that is open goes on telling the list that it had, which may be gone by now: the
     * cloud refuses the whole change that names one. */
    if (ccm_text_equal(lbc_attrs_get(ret, status), "off")) {
        lbc_attrs_remove(ret, clb_field_find("AclId"));
    }
    return r;
}

int clb_plan_update_listener(struct lbc_work *work, const struct lbc_listener *want,
                             struct lbc_listener *have, struct lbc_group *group)
{
    CCM_CLEANUP(lbc_attrs_fini) struct lbc_attrs back = { 0 };
    struct lbc_step *step = NULL;

    if (listener_forwards(want)) {
        return 0;
    }
    if (clb_plan_take_back(work, want, have, &back) < 0) {
        return -ENOMEM;
    }
    if (back.len == 0 && !listener_differs(work, want, have, group)) {
        return 0;
    }
    step = lbc_work_listener_step(work, LBC_STEP_UPDATE_LISTENER, 0, want, have);
    return step == NULL || lbc_step_describe_listener(step, want, group) < 0 ||
                   listener_overlay(work, want, have, &step->to->attrs) < 0
               ? -ENOMEM
               : lbc_attrs_copy(&step->to->attrs, &back);
}

/* --- all of it --- */

/* The listeners that forward, or those that send to the group. */
static int plan_listeners_of(struct lbc_work *work, bool forwarding, const struct lbc_group *group)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < work->want->listener_count; i++) {
        const struct lbc_listener *want = work->want->listeners[i];

        if (!want->broken && listener_forwards(want) == forwarding &&
            (forwarding || want->group == group)) {
            r = lbc_plan_listener(work, want);
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
        /* To one that is not made nobody can be sent. */
        if (r == 0 && (!group->present_only || lbc_state_group_for(work->have, group) != NULL)) {
            r = plan_listeners_of(work, false, group);
        }
    }
    return r;
}

int clb_plan_forwards(struct lbc_work *work)
{
    return plan_listeners_of(work, true, NULL);
}
