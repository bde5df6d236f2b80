#include "plan_parts.h"

#include "lbc/apply/compare.h"
#include "lbc/model/owner.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static enum lbc_owner owner_of(const struct clb_plan_input *in, const struct clb_listener *listener)
{
    if (listener->lbc.description == NULL) {
        return LBC_OWNER_NONE;
    }
    return lbc_owner_parse(listener->lbc.description, true, &in->service->meta, in->cluster_id);
}

/* Whether a port of this number could not be worked out: then nothing on it is taken away. */
static bool is_broken_port(const struct clb_model *model, uint16_t port)
{
    for (size_t i = 0; i < model->want.lbc.listener_count; i++) {
        if (clb_listener_at(&model->want, i)->lbc.broken &&
            clb_listener_at(&model->want, i)->lbc.port == port) {
            return true;
        }
    }
    return false;
}

/* Whether a wanted listener cannot be made: what would go might be what it is to take the place of.
 */
static bool is_short(const struct clb_plan_input *in)
{
    for (size_t i = 0; i < in->model->want.lbc.listener_count; i++) {
        const struct clb_listener *want = clb_listener_at(&in->model->want, i);

        if (want->lbc.lacks && !want->lbc.broken &&
            clb_state_listener(in->have, want->lbc.port, want->lbc.protocol) == NULL) {
            return true;
        }
    }
    return false;
}

static bool is_unwanted(const struct clb_plan_input *in, const struct clb_listener *have)
{
    return have->lbc.protocol != LBC_OTHER &&
           clb_state_listener(&in->model->want, have->lbc.port, have->lbc.protocol) == NULL &&
           owner_of(in, have) == LBC_OWNER_OURS && !is_broken_port(in->model, have->lbc.port);
}

static bool listener_is_stale(const struct clb_plan_input *in, const struct clb_listener *have)
{
    return is_unwanted(in, have) && !is_short(in);
}

bool clb_plan_keeps_listener_of(const struct clb_plan_input *in, const struct lbc_group *group)
{
    bool kept = false;

    for (size_t i = 0; !kept && i < in->have->lbc.listener_count; i++) {
        const struct clb_listener *have = clb_listener_at(in->have, i);

        kept = ccm_text_equal(have->lbc.group_id, group->id) && is_unwanted(in, have);
    }
    return kept && is_short(in);
}

/* --- forwarding of http ports --- */

uint16_t clb_forward_target(const struct clb_listener *listener)
{
    const char *port = lbc_attrs_get(&listener->lbc.attrs, clb_field_find("ForwardPort"));
    const char *on = lbc_attrs_get(&listener->lbc.attrs, clb_field_find("ListenerForward"));
    uint32_t number = 0;

    if (port == NULL || !ccm_text_equal(on, "on") ||
        ccm_parse_u32(port, 1, UINT16_MAX, &number) < 0) {
        return 0;
    }
    return (uint16_t)number;
}

static bool listener_forwards(const struct clb_listener *listener)
{
    return ccm_text_equal(lbc_attrs_get(&listener->lbc.attrs, clb_field_find("ListenerForward")),
                          "on");
}

/* Where a listener forwards to cannot be changed, nor anything else while it forwards. */
static bool needs_rebuild(const struct clb_listener *want, const struct clb_listener *have,
                          const struct lbc_group *group)
{
    if (listener_forwards(want) != listener_forwards(have)) {
        return true;
    }
    return listener_forwards(want) &&
           (clb_forward_target(want) != clb_forward_target(have) ||
            (have->lbc.group_id != NULL &&
             !ccm_text_equal(have->lbc.group_id, group == NULL ? NULL : group->id)));
}

/* Whether the present forward of a wanted listener leads to one that goes: then it has to be gone
 * before that one can. */
static bool goes_early(const struct clb_plan_input *in, const struct clb_listener *have)
{
    const uint16_t target = clb_forward_target(have);
    const struct clb_listener *to =
        target == 0 ? NULL : clb_state_listener(in->have, target, LBC_HTTPS);
    const struct clb_listener *want =
        clb_state_listener(&in->model->want, have->lbc.port, LBC_HTTP);

    return to != NULL && want != NULL && have->lbc.protocol == LBC_HTTP && !want->lbc.broken &&
           !want->lbc.lacks && listener_is_stale(in, to) && owner_of(in, have) != LBC_OWNER_OTHER &&
           clb_forward_target(want) != target;
}

/* --- deletion --- */

static int plan_drop_listener(struct clb_plan *plan, const struct clb_listener *have)
{
    return clb_plan_new_step(plan, CLB_STEP_DELETE_LISTENER, have->lbc.port, have->lbc.protocol) ==
                   NULL
               ? -ENOMEM
               : 0;
}

static int plan_release_listener(struct clb_plan *plan, const struct clb_plan_input *in,
                                 const struct clb_listener *have)
{
    bool done = false;
    const int r = listener_is_stale(in, have) ? clb_plan_restore(plan, in, have, &done) : 0;

    return r < 0 || done ? r : plan_drop_listener(plan, have);
}

int clb_plan_stale_listeners(struct clb_plan *plan, const struct clb_plan_input *in)
{
    const size_t count =
        lbc_model_has_listeners(&in->model->lbc) ? in->have->lbc.listener_count : 0;
    int r = 0;

    /* What forwards goes before what it forwards to. */
    for (size_t i = 0; r == 0 && i < count; i++) {
        const struct clb_listener *have = clb_listener_at(in->have, i);

        if (listener_forwards(have) && (listener_is_stale(in, have) || goes_early(in, have))) {
            r = plan_release_listener(plan, in, have);
        }
    }
    for (size_t i = 0; r == 0 && i < count; i++) {
        const struct clb_listener *have = clb_listener_at(in->have, i);

        if (!listener_forwards(have) && listener_is_stale(in, have)) {
            r = plan_release_listener(plan, in, have);
        }
    }
    return r;
}

/* --- creation and change --- */

static int plan_start_listener(struct clb_plan *plan, const struct clb_listener *want)
{
    struct clb_step *step =
        clb_plan_new_step(plan, CLB_STEP_START_LISTENER, want->lbc.port, want->lbc.protocol);

    if (step == NULL) {
        return -ENOMEM;
    }
    step->listener.ranges = want->ranges;
    return 0;
}

static int add_domain(struct clb_plan *plan, enum clb_step_type type,
                      const struct clb_listener *want, const struct clb_domain *domain,
                      const char *id)
{
    struct clb_step *step = clb_plan_new_step(plan, type, want->lbc.port, want->lbc.protocol);

    return step == NULL || lbc_text_set(&step->domain.name, domain->name) < 0 ||
                   lbc_text_set(&step->domain.cert, domain->cert) < 0 ||
                   lbc_text_set(&step->domain.id, id) < 0
               ? -ENOMEM
               : 0;
}

/* Other certificates first, then new domains, then those that go. have NULL: a new listener. */
static int plan_domains(struct clb_plan *plan, const struct clb_listener *want,
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
            r = add_domain(plan, CLB_STEP_SET_DOMAIN, want, domain, twin->id);
        }
    }
    for (size_t i = 0; r == 0 && i < want->domains.len; i++) {
        const struct clb_domain *domain = &want->domains.items[i];

        if (clb_domains_find(present, domain->name) == NULL) {
            r = add_domain(plan, CLB_STEP_CREATE_DOMAIN, want, domain, NULL);
        }
    }
    for (size_t i = 0; r == 0 && i < present->len; i++) {
        const struct clb_domain *domain = &present->items[i];

        if (clb_domains_find(&want->domains, domain->name) == NULL) {
            r = add_domain(plan, CLB_STEP_DELETE_DOMAIN, want, domain, domain->id);
        }
    }
    return r;
}

static int plan_create_listener(struct clb_plan *plan, const struct clb_listener *want)
{
    struct clb_step *step =
        clb_plan_new_step(plan, CLB_STEP_CREATE_LISTENER, want->lbc.port, want->lbc.protocol);

    if (step == NULL || lbc_text_set(&step->group_name, want->lbc.group_name) < 0 ||
        clb_listener_copy(&step->listener, want) < 0 || plan_domains(plan, want, NULL) < 0) {
        return -ENOMEM;
    }
    return plan_start_listener(plan, want);
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

static int plan_update_listener(struct clb_plan *plan, const struct clb_plan_input *in,
                                const struct clb_listener *want, const struct clb_listener *have,
                                const struct lbc_group *group)
{
    struct clb_step *step =
        clb_plan_new_step(plan, CLB_STEP_UPDATE_LISTENER, want->lbc.port, want->lbc.protocol);
    int r = step == NULL ? -ENOMEM : step_overlay_listener(step, in, want, have);

    if (r == 0) {
        r = lbc_text_set(&step->group_name, want->lbc.group_name);
    }
    if (r == 0 && group != NULL) {
        r = lbc_text_set(&step->group_id, group->id);
    }
    return r;
}

/* --- whose port it is --- */

static void plan_refuse_listener(const struct clb_plan_input *in, const struct clb_listener *want,
                                 const struct clb_listener *have, const char *whose,
                                 struct lbc_problems *problems)
{
    struct ccm_error err = CCM_ERROR_INIT;

    (void)ccm_error_set(&err, 0, in->fresh ? CCM_ERROR_TERMINAL : CCM_ERROR_CONFLICT,
                        "port %u/%s: the %slistener belongs to %s (%s); choose another port",
                        want->lbc.port, lbc_protocol_lower(want->lbc.protocol),
                        want->lbc.protocol == have->lbc.protocol ? ""
                        : have->lbc.protocol == LBC_TCP          ? "tcp "
                        : have->lbc.protocol == LBC_UDP          ? "udp "
                        : have->lbc.protocol == LBC_HTTP         ? "http "
                        : have->lbc.protocol == LBC_HTTPS        ? "https "
                                                                 : "",
                        whose,
                        have->lbc.description == NULL
                            ? "no description"
                            : have->lbc.description); /* the text is what counts */
    lbc_problems_add(problems, &err, NULL);
}

/* A listener of another protocol that keeps the port number; ours go before. */
static const struct clb_listener *plan_find_occupant(const struct clb_plan_input *in,
                                                     const struct clb_listener *want)
{
    for (size_t i = 0; i < in->have->lbc.listener_count; i++) {
        const struct clb_listener *have = clb_listener_at(in->have, i);

        if (have->lbc.port == want->lbc.port && have->lbc.protocol != want->lbc.protocol &&
            have->lbc.protocol != LBC_OTHER &&
            lbc_protocol_clash(have->lbc.protocol, want->lbc.protocol) &&
            owner_of(in, have) != LBC_OWNER_OURS) {
            return have;
        }
    }
    return NULL;
}

/* A person's listener that would have to be made anew, and could not be put back. */
static bool loses_listener(const struct clb_plan_input *in, const struct clb_listener *want,
                           const struct clb_listener *have)
{
    return in->model->lbc.reused && in->restores && want->lbc.protocol == have->lbc.protocol &&
           owner_of(in, have) == LBC_OWNER_NONE &&
           needs_rebuild(want, have, clb_plan_have_group(in, want->lbc.group_name));
}

/* The listener that has the port and is not ours to change; NULL: there is none. */
static const struct clb_listener *obstacle_of(const struct clb_plan_input *in,
                                              const struct clb_listener *want)
{
    const struct clb_listener *have =
        clb_state_listener(in->have, want->lbc.port, want->lbc.protocol);

    if (have == NULL) {
        return plan_find_occupant(in, want);
    }
    const enum lbc_owner owner = owner_of(in, have);

    /* Where only what is ours is to be changed, a person's is not ours to take over. */
    return owner == LBC_OWNER_OTHER || (in->model->lbc.as_it_is && owner == LBC_OWNER_NONE) ||
                   loses_listener(in, want, have)
               ? have
               : NULL;
}

bool clb_plan_is_refused(const struct clb_plan_input *in, const struct clb_listener *want)
{
    return lbc_model_has_listeners(&in->model->lbc) && !want->lbc.broken &&
           obstacle_of(in, want) != NULL;
}

static int plan_one(struct clb_plan *plan, const struct clb_plan_input *in,
                    const struct clb_listener *want, struct lbc_problems *problems)
{
    const struct clb_listener *have =
        clb_state_listener(in->have, want->lbc.port, want->lbc.protocol);
    const struct lbc_group *group = clb_plan_have_group(in, want->lbc.group_name);
    const struct clb_listener *obstacle = obstacle_of(in, want);
    int r = 0;

    if (obstacle != NULL) {
        plan_refuse_listener(in, want, obstacle,
                             owner_of(in, obstacle) == LBC_OWNER_OTHER ? "another Service"
                             : loses_listener(in, want, obstacle)
                                 ? "somebody else, and could not be put back"
                                 : "somebody else",
                             problems);
        return 0;
    }
    if (want->lbc.lacks && (have == NULL || needs_rebuild(want, have, group))) {
        return 0;
    }
    if (have == NULL) {
        return plan_create_listener(plan, want);
    }
    if (needs_rebuild(want, have, group)) {
        r = goes_early(in, have) ? 0 : plan_drop_listener(plan, have);
        return r < 0 ? r : plan_create_listener(plan, want);
    }
    if (!listener_forwards(want) && listener_differs(in, want, have, group)) {
        r = plan_update_listener(plan, in, want, have, group);
    }
    if (r == 0) {
        r = plan_domains(plan, want, have);
    }
    return r == 0 && !have->lbc.running ? plan_start_listener(plan, want) : r;
}

int clb_plan_listener(struct clb_plan *plan, const struct clb_plan_input *in,
                      const struct clb_listener *want, struct lbc_problems *problems)
{
    if (!lbc_model_has_listeners(&in->model->lbc) || want->lbc.broken || listener_forwards(want)) {
        return 0;
    }
    return plan_one(plan, in, want, problems);
}

int clb_plan_forwards(struct clb_plan *plan, const struct clb_plan_input *in,
                      struct lbc_problems *problems)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < in->model->want.lbc.listener_count; i++) {
        const struct clb_listener *want = clb_listener_at(&in->model->want, i);

        if (lbc_model_has_listeners(&in->model->lbc) && !want->lbc.broken &&
            listener_forwards(want)) {
            r = plan_one(plan, in, want, problems);
        }
    }
    return r;
}
