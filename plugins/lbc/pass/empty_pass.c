#include "lbc/pass/empty_pass.h"

#include "lbc/names.h"
#include "lbc/pass.h"
#include "lbc/report/figures.h"
#include "lbc/service/condition.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define TOPIC "none" /* of the event */

/* Heap; NULL on ENOMEM. */
static char *empty_explain_rules(const struct lbc_candidates *set)
{
    const char *words = NULL;

    for (size_t i = 0; words == NULL && i < set->ruled_len; i++) {
        words = lbc_own_rule_explain(set->ruled[i].rule);
    }
    return words == NULL
               ? strdup("none of its ready endpoints can be a backend, see event SkipSyncBackends")
               : ccm_text_format("none of its ready endpoints can be a backend (%s)", words);
}

int lbc_empty_explain_unresolved(struct lbc_pass *pass, const struct lbc_resolved_list *resolved)
{
    for (size_t i = 0; i < resolved->count; i++) {
        const struct lbc_resolved *one = &resolved->items[i];
        struct lbc_candidates *set = &pass->model->sets[i];

        if (one->backends.len > 0 || set->why != NULL) {
            continue;
        }
        set->why =
            one->invalid.len > 0
                ? ccm_text_format("no network interface has the address of its pods %s: pods as "
                                  "backends need a network plugin that gives them interfaces, such "
                                  "as Terway; else let nodes be the backends: annotation %s %s",
                                  ccm_buf_str(&one->invalid), lbc_names.backend_type,
                                  lbc_names.nodes)
            : one->foreign.len > 0
                ? ccm_text_format(
                      "the addresses of its pods are outside of the VPC: %s; let nodes be the "
                      "backends: annotation %s %s",
                      ccm_buf_str(&one->foreign), lbc_names.backend_type, lbc_names.nodes)
                : empty_explain_rules(set);
        if (set->why == NULL) {
            return -ENOMEM;
        }
    }
    return 0;
}

/* --- the text --- */

static const char *empty_get_cause(const struct lbc_pass *pass, size_t i,
                                   bool (*frozen)(const struct lbc_pass *,
                                                  const struct lbc_group *))
{
    const struct lbc_group *group = pass->model->want->groups[i];

    const struct lbc_candidates *set = &pass->model->sets[i];

    if (group->present_only && lbc_state_group_for(pass->entry->state, group) == NULL) {
        return NULL; /* there is nothing to be served */
    }
    /* Backends that are kept serve, if there are pods. */
    return frozen(pass, group) || (group->backends.len > 0 && !set->no_ready) ? NULL : set->why;
}

static bool empty_is_said(const struct lbc_pass *pass, size_t before, const char *why,
                          bool (*frozen)(const struct lbc_pass *, const struct lbc_group *))
{
    for (size_t i = 0; i < before; i++) {
        if (ccm_text_equal(empty_get_cause(pass, i, frozen), why)) {
            return true;
        }
    }
    return false;
}

/* Ports of the same cause together. Returns the number of groups. */
static size_t empty_format(struct lbc_pass *pass,
                           bool (*frozen)(const struct lbc_pass *, const struct lbc_group *),
                           struct ccm_buf *text)
{
    const struct lbc_model *model = pass->model;
    size_t count = 0;

    for (size_t i = 0; i < model->want->group_count; i++) {
        const char *why = empty_get_cause(pass, i, frozen);

        if (why == NULL) {
            continue;
        }
        count++;
        if (empty_is_said(pass, i, why, frozen)) {
            continue;
        }
        ccm_buf_adds(text, text->len == 0 ? "" : "; ");
        for (size_t j = i; j < model->want->group_count; j++) {
            const struct lbc_group *group = model->want->groups[j];

            if (ccm_text_equal(empty_get_cause(pass, j, frozen), why)) {
                ccm_buf_addf(text, "%s%u/%s", j == i ? "port " : ", ", group->port,
                             model->type->protocol_name(group->protocol));
            }
        }
        ccm_buf_addf(text, ": %s", why);
    }
    return count;
}

/* --- where it is reported --- */

static void empty_note(const struct lbc_instance *lbc, const char *key, size_t count,
                       const char *text)
{
    const struct ccm_host *host = lbc->host;

    if (host->struct_size > offsetof(struct ccm_host, note_unserved)) {
        host->note_unserved(host, key, count, text);
    }
}

void lbc_empty_record(const struct lbc_pass *pass)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 2000 };
    const struct lbc_health_memory *health = &pass->entry->health;

    ccm_buf_adds(&text, ccm_buf_str(&pass->empty.text));
    if (health->text != NULL) {
        ccm_buf_addf(&text, "%s%s", text.len == 0 ? "" : "; ", health->text);
    }
    empty_note(pass->lbc, pass->entry->key, pass->empty.count + health->count, ccm_buf_str(&text));
}

/* An earlier process has said it, after the time that it waits for. */
static bool empty_was_told(const struct lbc_pass *pass)
{
    const struct ccm_condition *shown = lbc_condition_find_ours(pass->service);

    return lbc_pass_is_returning(pass) && shown != NULL &&
           ccm_text_equal(shown->reason, LBC_CONDITION_NO_BACKEND);
}

/* Pods that start, or are replaced, are no news. */
static bool empty_waits(struct lbc_pass *pass, size_t count)
{
    const struct ccm_host *host = pass->lbc->host;
    const int64_t wait_ms = atomic_load(&pass->lbc->unserved_wait_ms);
    struct lbc_entry *entry = pass->entry;
    const int64_t now = host->now_ms(host);

    if (count == 0 || empty_was_told(pass)) {
        entry->empty.since_ms = count == 0 ? 0 : now - wait_ms;
        return false;
    }
    entry->empty.since_ms = entry->empty.since_ms == 0 ? now : entry->empty.since_ms;
    if (now - entry->empty.since_ms >= wait_ms) {
        return false;
    }
    if (!pass->lbc->dry) {
        host->enqueue(host, entry->key, CCM_LANE_BULK,
                      (uint64_t)(entry->empty.since_ms + wait_ms - now));
    }
    return true;
}

void lbc_empty_publish(struct lbc_pass *pass,
                       bool (*frozen)(const struct lbc_pass *, const struct lbc_group *))
{
    CCM_CLEANUP(ccm_freep) char *text = NULL;
    struct lbc_empty_ports *ports = &pass->empty;

    ccm_buf_reset(&ports->text);
    ports->count = pass->model->add_none ? 0 : empty_format(pass, frozen, &ports->text);
    if (!pass->lbc->dry) {
        lbc_empty_record(pass);
    }
    ports->lasts = !empty_waits(pass, ports->count);
    if (!ports->lasts) {
        return;
    }
    if (ports->count > 0) {
        text = ccm_text_format("%s: %s", pass->lbc->ops->product->no_backends_text,
                               ccm_buf_str(&ports->text));
        if (text == NULL) {
            return; /* without memory it is not over either */
        }
    }
    lbc_pass_emit_standing(pass, TOPIC, "UnAvailableLoadBalancer", text);
}

void lbc_empty_forget(const struct lbc_instance *lbc, const char *key)
{
    empty_note(lbc, key, 0, "");
    lbc_figures_forget(lbc->figures, key);
}
