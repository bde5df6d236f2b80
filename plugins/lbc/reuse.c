#include "lbc/reuse.h"
#include "lbc/names.h"

#include "lbc/model/annotation.h"
#include "lbc/model/candidate.h"
#include "lbc/model/settings.h"
#include "lbc/rules/lb_attrs.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum lbc_reuse lbc_reuse_parse(const char *text)
{
    if (ccm_text_equal(text, "off")) {
        return LBC_REUSE_OFF;
    }
    return ccm_text_equal(text, "tagged") ? LBC_REUSE_TAGGED : LBC_REUSE_ON;
}

/* "... can not be reused, {reason}": what every refusal here returns. */
static int CCM_PRINTF(3, 4)
    reuse_refuse(const char *lb_id, struct ccm_error *err, const char *format, ...)
{
    char reason[CCM_ERROR_MESSAGE_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(reason, sizeof(reason), format, args); /* cut, as the message would be */
    va_end(args);
    return ccm_error_set(err, -EPERM, CCM_ERROR_TERMINAL,
                         "%sthe loadbalancer %s can not be reused, %s", lbc_names.messages, lb_id,
                         reason);
}

/* --- whom the operator lets in --- */

static bool names_namespace(const char *list, const char *namespace_)
{
    return ccm_parse_has_piece(list, ',', "*", 1) ||
           ccm_parse_has_piece(list, ',', namespace_, strlen(namespace_));
}

static enum lbc_reuse reuse_mode(const struct lbc_pass *pass)
{
    return (enum lbc_reuse)atomic_load(&pass->lbc->reuse);
}

int lbc_reuse_check_option(const struct lbc_pass *pass, struct ccm_error *err)
{
    const char *id = lbc_reused_id(pass->lbc, pass->service);

    if (id[0] == '\0' || reuse_mode(pass) != LBC_REUSE_OFF) {
        return 0;
    }
    return reuse_refuse(id, err,
                        "option reuse of the %s plugin is off: take annotation %sid away and "
                        "recreate the Service for a load balancer of its own, or ask the operator",
                        pass->lbc->ops->model->rules->annotations->kind, lbc_names.annotations);
}

/* Whether an address of the Service's status may be the load balancer's. An entry with a name and
 * no address says nothing about one that has an address. */
static bool reuse_is_shown(const struct lbc_pass *pass)
{
    const bool by_ip = pass->lbc->ops->model->rules->shows_address;
    const char *address = pass->lbc->ops->read->address(pass);
    const struct ccm_service *service = pass->service;
    bool shown = address == NULL && service->ingress_count > 0;

    for (uint64_t i = 0; !shown && i < service->ingress_count; i++) {
        const struct ccm_ingress *one = service->ingress[i];

        shown = (address[0] != '\0' && ccm_text_equal(by_ip ? one->ip : one->hostname, address)) ||
                (by_ip && ccm_text_empty(one->ip) && !ccm_text_empty(one->hostname));
    }
    return shown;
}

/* Where a controller's own load balancer is named: what to do with annotation id. */
static const char *reuse_remedy(const struct lbc_pass *pass, const char **ret_verb)
{
    const struct ccm_service *service = pass->service;

    if (pass->lbc->ops->read->address != NULL && reuse_is_shown(pass)) {
        *ret_verb = "it is this Service's own: take";
        return "away";
    }
    *ret_verb = "set";
    return service->ingress_count == 0
               ? "to one that was made in the console, or take it away for a new one"
               : "to the one that has the address of this Service, or take it away; or delete and "
                 "recreate the Service";
}

int lbc_reuse_check_tags(const struct lbc_pass *pass, struct ccm_error *err)
{
    const char *namespace_ = pass->service->meta.namespace_;
    const char *lb_id = lbc_pass_lb(pass)->id;
    const struct lbc_tags *tags = &lbc_pass_lb(pass)->tags;

    if (lbc_tags_get(tags, lbc_names.tag_owner) != NULL ||
        lbc_tags_get(tags, lbc_names.tag_cluster) != NULL) {
        const char *verb = NULL;
        const char *rest = reuse_remedy(pass, &verb);

        return reuse_refuse(lb_id, err,
                            "can not reuse loadbalancer created by kubernetes. (%s annotation %sid "
                            "%s)",
                            verb, lbc_names.annotations, rest);
    }
    if (reuse_mode(pass) != LBC_REUSE_TAGGED || lbc_reuse_may_use(pass, tags)) {
        return 0;
    }
    return reuse_refuse(lb_id, err,
                        "option reuse of the %s plugin is tagged, and its tag %s does not name "
                        "namespace %s: whoever owns it may set that tag to the namespaces that may "
                        "use it, or to *",
                        pass->lbc->ops->model->rules->annotations->kind, lbc_names.tag_use,
                        namespace_);
}

bool lbc_reuse_may_use(const struct lbc_pass *pass, const struct lbc_tags *tags)
{
    const enum lbc_reuse mode = reuse_mode(pass);

    return mode == LBC_REUSE_ON ||
           (mode == LBC_REUSE_TAGGED &&
            names_namespace(lbc_tags_get(tags, lbc_names.tag_use), pass->service->meta.namespace_));
}

bool lbc_reuse_may_configure(const struct lbc_pass *pass, const struct lbc_tags *tags)
{
    return reuse_mode(pass) == LBC_REUSE_ON ||
           names_namespace(lbc_tags_get(tags, lbc_names.tag_configure),
                           pass->service->meta.namespace_);
}

/* Those that are compared with the load balancer, or choose it, change nothing. */
static bool changes_lb(const struct lbc_anno *row)
{
    static const char *const others[] = { "id", "address-type", "ipv6-address-type", "ip-version" };

    for (size_t i = 0; i < CCM_ARRAY_LEN(others); i++) {
        if (strcmp(row->name, others[i]) == 0) {
            return false;
        }
    }
    return row->group == LBC_ANNO_INSTANCE && row->field != NULL;
}

void lbc_reuse_emit_kept(struct lbc_pass *pass, bool may)
{
    const struct lbc_anno_table *table = pass->lbc->ops->model->rules->annotations;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 900 };

    for (size_t i = 0; !may && i < table->count; i++) {
        const struct lbc_anno *row = &table->rows[i];

        if (changes_lb(row) && lbc_anno_value(&pass->service->meta, row)[0] != '\0') {
            ccm_buf_addf(&text, "%s%s", text.len == 0 ? "annotations left aside: " : ", ",
                         row->name);
        }
    }
    if (text.len > 0) {
        ccm_buf_addf(&text, "; " LBC_REUSE_CONFIGURE_REMEDY, lbc_names.tag_configure);
    }
    lbc_pass_advise(pass, true, "reuse", "NotAllowed", ccm_buf_str(&text));
}

/* --- tags of somebody else --- */

static bool is_own_tag(const struct lbc_entry *entry, const struct lbc_tag *tag,
                       const char *present)
{
    return present == NULL ||
           (entry->applied.known &&
            ccm_text_equal(lbc_tags_get(&entry->applied.tags, tag->key), present));
}

int lbc_reuse_own_tags(struct lbc_pass *pass, struct lbc_tags *wanted,
                       const struct lbc_tags *present)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags own = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 900 };
    int r = 0;

    for (size_t i = 0; r == 0 && i < wanted->len; i++) {
        const struct lbc_tag *tag = &wanted->items[i];
        const char *there = lbc_tags_get(present, tag->key);

        if (is_own_tag(pass->entry, tag, there)) {
            r = lbc_tags_put(&own, tag->key, tag->value);
        } else if (!ccm_text_equal(there, tag->value)) {
            ccm_buf_addf(&text, "%s%s=%s", text.len == 0 ? "" : ", ", tag->key, there);
        }
    }
    if (text.len > 0) {
        ccm_buf_addf(&text,
                     ": tags of load balancer %s that this Service did not set stay as they "
                     "are; take them off by hand for annotation additional-resource-tags "
                     "to set them",
                     lbc_pass_lb_id(pass));
    }
    lbc_pass_advise(pass, true, "own-tags", "NotAllowed", ccm_buf_str(&text));
    return r < 0 ? r : lbc_tags_copy(wanted, &own);
}

/* --- what cannot be changed --- */

unsigned lbc_reuse_compared(const struct lbc_fixed_attr *fixed)
{
    unsigned compared = 0;

    for (; fixed != NULL && fixed->what != NULL; fixed++) {
        compared |= 1U << fixed->number;
    }
    return compared;
}

/* Whether they do not agree. NULL or "" = not known, or nobody asks for it. */
static bool reuse_differs(const char *wanted, const char *present)
{
    return !ccm_text_empty(wanted) && !ccm_text_empty(present) &&
           !ccm_text_equal_case(wanted, present);
}

static bool reuse_wants_pods(const struct lbc_pass *pass)
{
    return lbc_backend_mode(lbc_pass_view(pass), pass->lbc->pods_by_default) == LBC_MODE_PODS;
}

/* Refuses for the first that does not hold, with both values. */
static int reuse_check_fixed(const struct lbc_pass *pass, struct ccm_error *err)
{
    const struct lbc_model_ops *ops = pass->lbc->ops->model;
    const struct lbc_lb *want = lbc_state_lb(pass->model->want);
    const struct lbc_lb *lb = lbc_pass_lb(pass);
    const char *vpc_id = lbc_cloud_site(&pass->lbc->cloud).vpc_id;
    const char *unfit = NULL;
    const char *remedy = NULL;

    for (const struct lbc_fixed_attr *attr = ops->fixed; attr != NULL && attr->what != NULL;
         attr++) {
        const char *wanted = want->texts[attr->number];
        const char *present = lb->texts[attr->number];

        if (lbc_model_is_explicit(pass->model, attr->number) && reuse_differs(wanted, present)) {
            return reuse_refuse(lb->id, err,
                                "its %s is %s and the Service needs %s: its address type is never "
                                "changed; name another load balancer, or set annotation %s to what "
                                "it is",
                                attr->what, present, wanted,
                                lbc_lb_row(ops->rules->annotations, attr->number)->name);
        }
    }
    unfit = ops->unfit == NULL ? NULL : ops->unfit(pass->model, lb, reuse_wants_pods(pass));
    if (unfit != NULL) {
        return reuse_refuse(lb->id, err, "%s", unfit);
    }
    remedy = ops->vpc_remedy == NULL ? NULL : ops->vpc_remedy(pass->model, lb);
    return remedy != NULL && reuse_differs(vpc_id, lb->vpc_id)
               ? reuse_refuse(lb->id, err, "its VPC is %s and the Service needs %s: %s", lb->vpc_id,
                              vpc_id, remedy)
               : 0;
}

int lbc_reuse_find_served(const struct lbc_pass *pass, bool *ret)
{
    const struct lbc_state *have = pass->entry->state;
    enum lbc_owner owner = LBC_OWNER_NONE;
    int r = 0;

    for (size_t i = 0; r == 0 && owner != LBC_OWNER_OURS && i < have->group_count; i++) {
        r = lbc_pass_owner_of(pass, have->groups[i]->name, false, &owner);
    }
    for (size_t i = 0; r == 0 && owner != LBC_OWNER_OURS && i < have->listener_count; i++) {
        r = lbc_pass_owner_of(pass, have->listeners[i]->description, true, &owner);
    }
    *ret = owner == LBC_OWNER_OURS;
    return r;
}

int lbc_reuse_check_asked(struct lbc_pass *pass, const char *id, struct ccm_error *err)
{
    const struct lbc_ops *ops = pass->lbc->ops;
    struct lbc_entry *entry = pass->entry;
    struct lbc_state *mirror = entry->state;
    struct lbc_state *asked = calloc(1, ops->mirror->size);
    int r = asked == NULL ? ccm_error_nomem(err) : ops->read->lb(pass, id, asked, err);

    if (r == 0) {
        entry->state = asked;
        r = lbc_reuse_check_tags(pass, err);
        r = r == 0 && pass->releases ? reuse_check_fixed(pass, err) : r;
        entry->state = mirror;
    } else if (err->kind == CCM_ERROR_NOT_FOUND) {
        err->kind = CCM_ERROR_TERMINAL;
    }
    if (asked != NULL) {
        lbc_state_fini(asked, ops->mirror);
    }
    free(asked);
    return r;
}

int lbc_reuse_check_match(struct lbc_pass *pass, struct ccm_error *err)
{
    int r = reuse_check_fixed(pass, err);
    bool served = false;

    if (r == -EPERM && lbc_reuse_find_served(pass, &served) < 0) {
        return ccm_error_nomem(err);
    }
    if (served) {
        lbc_problems_add(&pass->problems, err, NULL);
        ccm_error_clear(err);
        pass->model->mismatch = true;
        r = 0;
    }
    return r;
}

/* --- ports that nobody serves --- */

/* Rules of listeners are not read, and may lead to any group. */
static bool reuse_may_have_rules(const struct lbc_state *have)
{
    for (size_t i = 0; i < have->listener_count; i++) {
        const enum lbc_protocol protocol = have->listeners[i]->protocol;

        if (protocol == LBC_HTTP || protocol == LBC_HTTPS) {
            return true;
        }
    }
    return false;
}

/* Its listener is made by hand, as somebody says: for the Service, or by choosing a group. */
static bool reuse_is_by_hand(const struct lbc_pass *pass, const struct lbc_listener *want)
{
    return lbc_anno_says(&pass->service->meta, "force-override-listeners", "false") ||
           (want->group != NULL && want->group->id != NULL);
}

/* A person may have made any listener that sends to the group. */
static bool reuse_is_served(const struct lbc_pass *pass, const struct lbc_listener *want)
{
    const struct lbc_state *have = pass->entry->state;
    const struct lbc_group *group =
        want->group == NULL ? NULL : lbc_state_group_for(have, want->group);

    return want->protocol == LBC_OTHER || want->broken ||
           (group != NULL && lbc_state_uses_group(have, group)) ||
           (reuse_is_by_hand(pass, want) && reuse_may_have_rules(have));
}

/* What has the port instead; NULL: nothing. */
static const struct lbc_listener *reuse_find_other(const struct lbc_state *have,
                                                   const struct lbc_listener *want)
{
    for (size_t i = 0; i < have->listener_count; i++) {
        if (lbc_listener_clash(want, have->listeners[i])) {
            return have->listeners[i];
        }
    }
    return NULL;
}

/* "80/tcp (the one that is there sends to server group [x])" for each port. *ret_wished: somebody
 * says that the listeners of all of them are made by hand. */
static void reuse_list_unserved(const struct lbc_pass *pass, struct ccm_buf *ports,
                                bool *ret_wished)
{
    const struct lbc_state *want = pass->model->want;

    *ret_wished = true;
    for (size_t i = 0; i < want->listener_count; i++) {
        const struct lbc_listener *one = want->listeners[i];
        const struct lbc_listener *other = reuse_find_other(pass->entry->state, one);

        if (reuse_is_served(pass, one)) {
            continue;
        }
        *ret_wished = *ret_wished && reuse_is_by_hand(pass, one);
        ccm_buf_addf(ports, "%s%u/%s", ports->len == 0 ? "" : ", ", one->port,
                     pass->lbc->ops->mirror->protocol_name(one->protocol));
        if (other != NULL) {
            ccm_buf_addf(ports, " (the one that is there sends to server group [%s])",
                         other->group_id == NULL ? "none" : other->group_id);
        }
    }
}

void lbc_reuse_emit_unserved(struct lbc_pass *pass)
{
    const bool by_hand = pass->model->reused && !pass->model->override;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf ports = { .max = 400 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 1000 };
    bool wished = true;

    if (by_hand && !pass->entry->state->listeners_known) {
        return;
    }
    if (by_hand) {
        reuse_list_unserved(pass, &ports, &wished);
    }
    if (ports.len > 0) {
        ccm_buf_addf(&text,
                     "no listener on %s of load balancer [%s] sends to this Service, because "
                     "annotation %sforce-override-listeners is not \"true\"%s",
                     ccm_buf_str(&ports), lbc_pass_lb_id(pass), lbc_names.annotations,
                     wished ? ": a person has to make one"
                            : ", and so listeners of a load balancer that a person made are that "
                              "person's. Set it to \"true\" (listeners that are on these ports are "
                              "taken over then), or to \"false\" and make the listeners by hand");
    }
    if (wished) {
        lbc_pass_advise(pass, false, "no-listener", "NoListener", ccm_buf_str(&text));
    } else {
        lbc_pass_emit_standing(pass, "no-listener", "NoListener", ccm_buf_str(&text));
    }
}

/* --- in exchange for another one --- */

/* The label says which load balancer the Service has. Clearing the status is how a person gives it
 * up, but one that we made would then be forgotten while it goes on costing money: it is looked
 * for. */
static int reuse_check_label(struct lbc_pass *pass, const char *lb_id, struct ccm_error *err)
{
    const char *label = ccm_object_label(&pass->service->meta, lbc_names.lb_label);
    CCM_CLEANUP(ccm_freep) char *own = NULL;

    if (ccm_text_empty(label) || ccm_text_equal(label, lb_id)) {
        return 0;
    }
    if (pass->service->ingress_count == 0) {
        const int r = lbc_pass_find_own_id(pass, &own, err);

        if (r < 0 || own == NULL) {
            return r;
        }
    }
    return lbc_reuse_refuse_label(lb_id, own == NULL ? label : own, "", err);
}

int lbc_reuse_refuse_label(const char *lb_id, const char *label, const char *remedy,
                           struct ccm_error *err)
{
    return reuse_refuse(lb_id, err,
                        "service has been associated with loadbalancer [%s], cannot be bound to "
                        "another one: %sdelete and recreate the service",
                        label, remedy);
}

/* Whether the status of the Service speaks against somebody else's load balancer. */
static int reuse_check_address(const struct lbc_pass *pass, struct ccm_error *err)
{
    const struct lbc_read_ops *read = pass->lbc->ops->read;
    const bool by_ip = pass->lbc->ops->model->rules->shows_address;
    const char *what = by_ip ? "ip" : "dnsname";
    const struct ccm_ingress *first = NULL;

    if (read->address == NULL || pass->service->ingress_count == 0 || reuse_is_shown(pass)) {
        return 0;
    }
    first = pass->service->ingress[0];
    return reuse_refuse(lbc_pass_lb(pass)->id, err,
                        "service has been associated with %s [%s], cannot be bound to %s [%s]: "
                        "delete and recreate the service, or take annotation %sid back",
                        what, by_ip ? first->ip : first->hostname, what, read->address(pass),
                        lbc_names.annotations);
}

int lbc_reuse_check(struct lbc_pass *pass, struct ccm_error *err)
{
    int r = lbc_reuse_check_tags(pass, err);

    if (r == 0) {
        r = reuse_check_address(pass, err);
    }
    return r < 0 ? r : reuse_check_label(pass, lbc_pass_lb(pass)->id, err);
}
