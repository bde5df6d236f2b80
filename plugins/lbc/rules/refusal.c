#include "lbc/rules/refusal.h"

#include "ccm/object.h"
#include "util/array.h"
#include "util/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void lbc_refusals_fini(struct lbc_refusals *refusals)
{
    lbc_problems_fini(&refusals->problems);
    ccm_buf_fini(&refusals->idle);
    ccm_buf_fini(&refusals->others);
    for (size_t i = 0; i < refusals->len; i++) {
        free(refusals->items[i].text);
    }
    free(refusals->annotations);
    free(refusals->items);
    refusals->annotations = NULL;
    refusals->items = NULL;
    refusals->len = 0;
}

/* --- collecting --- */

static const struct lbc_refusal *refusal_find(const struct lbc_refusals *refusals, const char *name)
{
    for (size_t i = 0; refusals != NULL && i < refusals->len; i++) {
        if (strcmp(refusals->items[i].row->name, name) == 0) {
            return &refusals->items[i];
        }
    }
    return NULL;
}

/* text: of one that fails; else NULL. */
static int refusal_put(struct lbc_refusals *refusals, const struct lbc_anno *row, const char *text)
{
    CCM_CLEANUP(ccm_freep) char *copy = text == NULL ? NULL : strdup(text);

    if ((text != NULL && copy == NULL) ||
        ccm_array_grow(&refusals->items, &refusals->cap, refusals->len + 1,
                       sizeof(*refusals->items)) < 0) {
        return -ENOMEM;
    }
    refusals->items[refusals->len++] = (struct lbc_refusal){ row, text != NULL, CCM_STEAL(copy) };
    refusals->decided |= text != NULL ? 1U << row->decides : 0U;
    return 0;
}

/* A bad value: it fails the Service, unless the annotation does nothing anyway. */
static int refusal_add_bad_value(struct lbc_refusals *refusals, const struct lbc_anno *row,
                                 const struct ccm_error *err)
{
    const bool fails = lbc_rules_count(refusals->rules, refusals->service, row);

    if (fails) {
        lbc_problems_add(&refusals->problems, err, NULL);
    } else {
        ccm_buf_addf(&refusals->idle, "%sannotation %s has no effect here; besides: %s",
                     refusals->idle.len == 0 ? "" : "; ", row->name, err->message);
    }
    return refusal_put(refusals, row, fails ? err->message : NULL);
}

int lbc_refusals_add(struct lbc_refusals *refusals, const char *suffix, const struct ccm_error *err)
{
    const struct lbc_anno *row =
        suffix == NULL ? NULL : lbc_anno_find(refusals->rules->annotations, suffix);

    if (suffix != NULL && (row == NULL || refusal_find(refusals, suffix) != NULL)) {
        return 0;
    }
    lbc_problems_add(&refusals->problems, err, NULL);
    if (row == NULL) {
        ccm_buf_addf(&refusals->others, "%s%s", refusals->others.len == 0 ? "" : "; ",
                     err->message);
    }
    return row == NULL ? 0 : refusal_put(refusals, row, err->message);
}

static int collect_row(struct lbc_refusals *refusals, const struct lbc_anno *row)
{
    const struct lbc_lint_rules *rules = refusals->rules;
    const struct ccm_object *meta = &refusals->service->meta;
    struct ccm_error err = CCM_ERROR_INIT;

    if (rules->unclear != NULL && rules->unclear(row, lbc_anno_value(meta, row)) != NULL) {
        return refusal_put(refusals, row, NULL);
    }
    return lbc_anno_check(row, meta, &err) < 0 ? refusal_add_bad_value(refusals, row, &err) : 0;
}

static int collect_checks(struct lbc_refusals *refusals)
{
    const struct lbc_check *check = refusals->rules->checks;
    int r = 0;

    for (; r == 0 && check != NULL && check->suffix != NULL; check++) {
        const struct lbc_anno *row = lbc_anno_find(refusals->rules->annotations, check->suffix);
        struct ccm_error err = CCM_ERROR_INIT;

        if (row != NULL && refusal_find(refusals, check->suffix) == NULL) {
            r = lbc_check_run(check, refusals->rules, refusals->service, &err);
            if (lbc_anno_explain(row, r, &err) == -EINVAL) {
                r = refusal_add_bad_value(refusals, row, &err);
            }
        }
    }
    return r;
}

/* Ports whose listener cannot be told: the annotation's fault, or that of the port itself, which
 * the model tells then. */
static int collect_ports(struct lbc_refusals *refusals)
{
    const struct lbc_lint_rules *rules = refusals->rules;
    const struct lbc_anno *row = lbc_anno_find(rules->annotations, "protocol-port");

    for (uint64_t i = 0; row != NULL && i < refusals->service->port_count; i++) {
        const struct ccm_service_port *port = refusals->service->ports[i];
        struct ccm_error err = CCM_ERROR_INIT;
        enum lbc_protocol ignored = LBC_OTHER;

        const int r =
            lbc_setting_protocol(refusals->service, port, rules->protocols, &ignored, &err);

        if (r < 0) {
            if (lbc_protocol_parse(port->protocol, rules->protocols->known) != LBC_OTHER) {
                (void)lbc_anno_explain(row, r, &err); /* it stays what it is */
            }
            return refusal_add_bad_value(refusals, row, &err);
        }
    }
    return 0;
}

int lbc_refusals_collect(struct lbc_refusals *refusals, const struct lbc_lint_rules *rules,
                         const struct ccm_service *service)
{
    int r = 0;

    refusals->rules = rules;
    refusals->service = service;
    for (size_t i = 0; r == 0 && i < rules->annotations->count; i++) {
        r = collect_row(refusals, &rules->annotations->rows[i]);
    }
    if (r == 0) {
        r = collect_ports(refusals);
    }
    return r < 0 ? r : collect_checks(refusals);
}

/* --- asking --- */

bool lbc_refusals_has(const struct lbc_refusals *refusals, const char *suffix)
{
    return refusal_find(refusals, suffix) != NULL;
}

bool lbc_refusals_decide(const struct lbc_refusals *refusals, enum lbc_anno_decides what)
{
    return refusals != NULL && (refusals->decided >> what & 1U) != 0;
}

bool lbc_refusals_keeps(const struct lbc_refusals *refusals, const struct lbc_anno *row)
{
    return refusal_find(refusals, row->name) != NULL;
}

bool lbc_refusals_fails(const struct lbc_refusals *refusals, const struct lbc_anno *row)
{
    const struct lbc_refusal *found = refusal_find(refusals, row->name);

    return found != NULL && found->fails;
}

bool lbc_refusals_freeze(const struct lbc_refusals *refusals, bool pods)
{
    for (size_t i = 0; refusals != NULL && i < refusals->len; i++) {
        const struct lbc_refusal *one = &refusals->items[i];

        if (one->fails && one->row->decides == LBC_DECIDES_BACKENDS &&
            !(pods && strcmp(one->row->name, "backend-label") == 0)) {
            return true;
        }
    }
    /* It decides about the family of backends only where their own annotation asks for another. */
    return lbc_refusals_has(refusals, "ip-version") &&
           lbc_anno_get(&refusals->service->meta, "backend-ip-version")[0] != '\0';
}

int lbc_refusals_sum(const struct lbc_refusals *refusals, struct ccm_error *err)
{
    if (refusals->problems.count == 0) {
        return 0;
    }
    lbc_problems_sum(&refusals->problems, err);
    return -EINVAL;
}

/* --- the Service without them --- */

static bool refusal_leaves_out(const struct lbc_refusals *refusals, const char *key)
{
    const char *suffix = lbc_anno_suffix(key);
    const struct lbc_refusal *found = refusal_find(refusals, key);

    if (found == NULL && suffix != NULL) {
        found = refusal_find(refusals, suffix);
    }
    return found != NULL && found->row->decides != LBC_DECIDES_PORTS;
}

const struct ccm_service *lbc_refusals_view(struct lbc_refusals *refusals)
{
    const struct ccm_object *meta = &refusals->service->meta;
    uint64_t count = 0;

    if (refusals->len == 0) {
        return refusals->service;
    }
    free(refusals->annotations);
    refusals->annotations = calloc(meta->annotation_count + 1, sizeof(const struct ccm_pair *));
    if (refusals->annotations == NULL) {
        return NULL;
    }
    for (uint64_t i = 0; i < meta->annotation_count; i++) {
        if (!refusal_leaves_out(refusals, meta->annotations[i]->key)) {
            refusals->annotations[count++] = meta->annotations[i];
        }
    }
    memset(&refusals->view, 0, sizeof(refusals->view));
    memcpy(&refusals->view, refusals->service,
           meta->struct_size < sizeof(refusals->view) ? meta->struct_size : sizeof(refusals->view));
    refusals->view.meta.annotations = refusals->annotations;
    refusals->view.meta.annotation_count = count;
    return &refusals->view;
}
