/* Which backends left a load balancer, and why: one event for all of a minute. */
#include "lbc/pass/empty_pass.h"

#include "lbc/freeze_pass.h"
#include "lbc/pass.h"
#include "util/cleanup.h"

#include <stdlib.h>

#define TELL_PAUSE_MS 60000

/* Names live as long as the strings of the freeze, so they are copied; words are constants. */
static void leave_collect_group(struct lbc_freeze *freeze, const struct lbc_freeze_group *group)
{
    struct lbc_pass *pass = freeze->pass;

    for (size_t i = 0; i < group->leaving.len; i++) {
        const struct lbc_backend *one = &group->leaving.items[i];
        const char *name = NULL;

        if (lbc_backends_find(group->want, one) != NULL) {
            continue; /* it stays */
        }
        const char *words = lbc_freeze_explain(freeze, one, &name);

        if (pass->empty.left == NULL) {
            pass->empty.left = ccm_strmap_new(NULL);
        }
        if (pass->empty.left == NULL ||
            ccm_strmap_set(pass->empty.left, name, (void *)(uintptr_t)words) < 0) {
            return;
        }
    }
}

void lbc_leave_collect(struct lbc_freeze *freeze)
{
    for (size_t i = 0; i < freeze->len && !freeze->pass->lbc->dry; i++) {
        leave_collect_group(freeze, &freeze->groups[i]);
    }
}

static void leave_keep(struct lbc_pass *pass)
{
    struct lbc_entry *entry = pass->entry;
    void *cursor = NULL;
    void *value = NULL;
    const char *name = NULL;

    while (pass->empty.left != NULL && ccm_strmap_next(pass->empty.left, &cursor, &name, &value)) {
        if (entry->empty.left == NULL) {
            entry->empty.left = calloc(1, sizeof(*entry->empty.left));
        }
        if (entry->empty.left != NULL) {
            lbc_named_add(entry->empty.left, value, name);
        }
    }
}

void lbc_leave_publish(struct lbc_pass *pass)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 900 };
    const struct ccm_host *host = pass->lbc->host;
    struct lbc_entry *entry = pass->entry;
    const int64_t now = host->now_ms(host);

    if (pass->writes > 0) {
        leave_keep(pass);
    }
    if (entry->empty.left == NULL) {
        return;
    }
    if (entry->empty.left_ms != 0 && now - entry->empty.left_ms < TELL_PAUSE_MS) {
        host->enqueue(host, entry->key, CCM_LANE_BULK,
                      (uint64_t)(entry->empty.left_ms + TELL_PAUSE_MS - now));
        return;
    }
    lbc_named_format(entry->empty.left, "; ", &text);
    lbc_life_event(&pass->life, pass->service, false, "BackendsRemoved",
                   "%zu backend(s) left load balancer [%s]: %s", entry->empty.left->count,
                   lbc_pass_lb_id(pass), ccm_buf_str(&text));
    lbc_named_free(CCM_STEAL(entry->empty.left));
    entry->empty.left_ms = now;
}
