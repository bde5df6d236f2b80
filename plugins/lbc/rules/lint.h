/*
 * What is wrong with a Service as far as its manifest tells: rows of the annotation table, checks
 * across annotations, listeners per port, fields that nothing acts on. Pure. Every thread.
 */
#ifndef CCM_LBC_LINT_H
#define CCM_LBC_LINT_H

#include "ccm/plugin.h"
#include "lbc/model/annotation.h"
#include "lbc/model/class.h"
#include "lbc/model/settings.h"
#include "lbc/rules/check.h"
#include "lbc/rules/rule.h"

/* What a plugin checks in its own Services. A table that is NULL is empty. */
struct lbc_lint_rules {
    const struct lbc_anno_table *annotations;
    const struct lbc_check *checks; /* ends with a NULL suffix */
    const struct lbc_rule *rows;    /* beside lbc_rules; ends with a NULL key */
    const struct lbc_protocols *protocols;
    /* The address families of backends; NULL = no row is about them. */
    enum lbc_families (*families_of)(const struct ccm_service *service);
    /* Which Services are the plugin's. */
    const char *class_name; /* spec.loadBalancerClass of its Services; NULL = they have none */
    bool (*is_ours)(const struct ccm_service *service); /* NULL = those of class_name */
    /* The same for a product whose classes are options: choose() reads them into zeroed memory,
     * takes() goes by them, in place of `class_name` and is_ours(). NULL = there are no such
     * options. `options` has nothing but option_string() and option_int(). */
    void (*choose)(const struct ccm_lint_sink *options, struct lbc_choice *ret);
    bool (*takes)(const struct ccm_service *service, const struct lbc_choice *choice);
    /* BOOL: no load balancer with a public address is made; and what the refusal says. */
    const char *public_option;
    const char *public_text;
    /* The status shows an address, to which nodes send straight; else a name. */
    bool shows_address;
    /* Listeners of the plugin may listen on ranges of ports: it looks for overlaps itself. */
    bool has_ranges;
    /* What is wrong beyond all that; NULL = nothing. */
    void (*more)(const struct ccm_service *service, const struct ccm_lint_sink *sink);
    /* Whether the annotation does anything, given the others; NULL = each does. What rows and hints
     * tell is asked before. */
    bool (*counts)(const struct ccm_service *service, const struct lbc_anno *row);
    /* A value that may not mean what it says, and so is left alone, in a few words; NULL = it is
     * none. */
    const char *(*unclear)(const struct lbc_anno *row, const char *value);
};

/* For takes() of a plugin. */
bool lbc_lint_takes(const struct lbc_lint_rules *rules, const struct ccm_service *service,
                    const struct ccm_lint_sink *sink);
/* For lint() of a plugin: all findings, when the Service is its own. */
void lbc_lint_service(const struct lbc_lint_rules *rules, const struct ccm_service *service,
                      const struct ccm_lint_sink *sink);

#endif
