/*
 * Annotations that do nothing, or not what they seem to, whatever shows it: the hints, the switch
 * that an annotation needs, listeners of other protocols, entries of lists. Findings of lint and
 * the event NoEffect come from here, so that both say the same. Pure. Every thread.
 */
#ifndef CCM_LBC_IDLE_H
#define CCM_LBC_IDLE_H

#include "lbc/model/lint.h"

/* What is asked for; borrowed. */
struct lbc_idle {
    const struct lbc_lint_rules *rules;
    const struct ccm_service *service;
    bool pods_by_default; /* option default_backend_type */
    /* Whether a BOOL option is on, as the plugin is configured. */
    bool (*is_on)(void *arg, const struct ccm_option *option);
    /* Called for each, in a fixed order: CCM_LEVEL_*, its name as the table has it, and what
     * follows the name, "has no effect ...". */
    void (*found)(void *arg, uint64_t level, const char *name, const char *why);
    void *arg;
};

void lbc_idle_find(const struct lbc_idle *it);

/* Whether a listener of the Service has one of the row's protocols; also when it cannot be told. */
bool lbc_idle_has_protocol(const struct lbc_lint_rules *rules, const struct ccm_service *service,
                           const struct lbc_anno *row);

#endif
