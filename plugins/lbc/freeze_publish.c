/* Who is told about backends that are frozen. */
#include "lbc/freeze_pass.h"

#include "lbc/pass.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <inttypes.h>
#include <string.h>

#define TOPIC     "frozen"
#define NAMES_MAX 8

/* What is frozen for one cause, and of rules for one rule, over all groups. */
struct name_list {
    size_t count;             /* backends */
    size_t names;             /* different ones, of nodes or addresses */
    struct ccm_strmap *known; /* those names */
    struct ccm_buf text;      /* the first of them, "a, b" */
};

static void name_list_fini(struct name_list *name_list)
{
    ccm_strmap_free(name_list->known);
    ccm_buf_fini(&name_list->text);
}

static void add_name(struct name_list *name_list, const char *name)
{
    name_list->count++;
    if (name_list->known == NULL || ccm_strmap_has(name_list->known, name) ||
        ccm_strmap_set(name_list->known, name, NULL) < 0) {
        return; /* without memory one name less */
    }
    if (name_list->names++ < NAMES_MAX) {
        ccm_buf_addf(&name_list->text, "%s%s", name_list->text.len == 0 ? "" : ", ", name);
    }
}

static const char *name_of(const struct lbc_backend *one, const struct lbc_absent *absent)
{
    if (absent->name[0] != '\0') {
        return absent->name;
    }
    return one->type == LBC_BACKEND_INTERFACE ? one->server_ip : one->server_id;
}

static void collect_names(const struct lbc_freeze *freeze, enum lbc_freeze_cause cause,
                          enum lbc_own_rule rule, struct name_list *ret)
{
    ret->known = ccm_strmap_new(NULL);
    ret->text = (struct ccm_buf){ .max = 480 };
    for (size_t g = 0; g < freeze->len; g++) {
        const struct lbc_freeze_group *group = &freeze->groups[g];

        for (size_t i = 0; i < group->count; i++) {
            if (group->cases[i].cause == cause && group->cases[i].rule == rule &&
                !group->decided[i].goes) {
                add_name(ret, name_of(&group->leaving.items[group->items[i]], &group->absents[i]));
            }
        }
    }
}

/* "nodes NotReady: a, b", of many "... and 3 more". Returns the number of backends. */
static size_t add_cause(const struct lbc_freeze *freeze, enum lbc_freeze_cause cause,
                        enum lbc_own_rule rule, const char *what, struct ccm_buf *text)
{
    CCM_CLEANUP(name_list_fini) struct name_list name_list = { 0 };

    collect_names(freeze, cause, rule, &name_list);
    if (name_list.count == 0) {
        return 0;
    }
    ccm_buf_addf(text, "%s%s: %s", text->len == 0 ? "" : "; ", what, ccm_buf_str(&name_list.text));
    if (name_list.names > NAMES_MAX) {
        ccm_buf_addf(text, " and %zu more", name_list.names - NAMES_MAX);
    }
    return name_list.count;
}

static size_t add_rules(const struct lbc_freeze *freeze, struct ccm_buf *text)
{
    size_t count = 0;

    for (int rule = LBC_OWN_RULE_NONE; rule < LBC_OWN_RULE_COUNT; rule++) {
        const char *words = lbc_own_rule_explain((enum lbc_own_rule)rule);

        count += words == NULL
                     ? 0
                     : add_cause(freeze, LBC_FREEZE_RULE, (enum lbc_own_rule)rule, words, text);
    }
    return count;
}

/* only_rules: nothing else keeps them. */
static void add_until(const struct lbc_freeze *freeze, bool only_rules, struct ccm_buf *text)
{
    const struct ccm_host *host = freeze->pass->lbc->host;
    char at[CCM_CLOCK_TEXT];

    if (freeze->again_ms == CCM_REMOVAL_NEVER) {
        ccm_buf_adds(text, only_rules
                               ? "until their endpoints are no longer ready or their nodes are gone"
                               : "until one of them is Ready or there is another backend");
        return;
    }
    ccm_clock_format(host->wall_ms(host) + freeze->again_ms - host->now_ms(host), at, sizeof(at));
    ccm_buf_addf(text, "next look at %s", at);
}

/* The host counts, and knows whom to wake. */
static void freeze_record_count(struct lbc_freeze *freeze, size_t count, const char *why)
{
    struct lbc_instance *lbc = freeze->pass->lbc;
    struct lbc_entry *entry = freeze->pass->entry;

    if (freeze->pass->lbc->dry) {
        return;
    }
    /* Not by the entry: another Service may have taken the place of the one that held. */
    if (lbc_absence_set_frozen(lbc->absence, entry->key, count > 0) || count > 0) {
        ccm_removal_record_held(lbc->host, entry->key, count, why);
    }
    entry->freeze.frozen = count > 0;
}

void lbc_freeze_publish(struct lbc_freeze *freeze)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf why = { .max = 900 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf until = { .max = 120 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 1200 };
    struct lbc_pass *pass = freeze->pass;
    const bool before = pass->entry->freeze.frozen;
    size_t count =
        add_cause(freeze, LBC_FREEZE_NOT_READY, LBC_OWN_RULE_NONE, "nodes NotReady", &why);
    size_t ruled = 0;

    count += add_cause(freeze, LBC_FREEZE_NODE, LBC_OWN_RULE_NONE, "nodes missing", &why);
    count += add_cause(freeze, LBC_FREEZE_SLICE, LBC_OWN_RULE_NONE,
                       "EndpointSlices missing that had told", &why);
    ruled = add_rules(freeze, &why);
    count += ruled;
    freeze_record_count(freeze, count, ccm_buf_str(&why));
    if (count == 0) {
        lbc_pass_emit_standing(pass, TOPIC, "", "");
        if (before) {
            lbc_life_event(&pass->life, pass->service, false, "BackendsReleased",
                           "No backend is kept any more that would not be added");
        }
        return;
    }
    add_until(freeze, ruled == count, &until);
    ccm_buf_addf(&text,
                 "%zu backend(s) are kept as they are (%s); %s; to let them go now: ccmd "
                 "allow-removals %s",
                 count, ccm_buf_str(&why), ccm_buf_str(&until), pass->lbc->ops->product->name);

    const struct lbc_life_standing frozen = {
        .warning = true,
        .topic = TOPIC,
        .reason = "BackendsFrozen",
        .cause = ccm_buf_str(&why),
        .text = ccm_buf_str(&text),
    };

    lbc_pass_stand(pass, &frozen);
}
