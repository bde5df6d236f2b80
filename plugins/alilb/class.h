/* Whose Service is it: of the plugin for CLB, or of that for NLB? Both answer by the same options
 * of group alicloud, so never both say yes, also when one of them is not there. Pure. Every thread.
 */
#ifndef CCM_ALILB_CLASS_H
#define CCM_ALILB_CLASS_H

#include "ccm/host.h"
#include "ccm/object.h"
#include "ccm/option.h"
#include "ccm/plugin.h"
#include "lbc/model/class.h"

#include <stdbool.h>

#define ALILB_CLASS_NLB     "alibabacloud.com/nlb"
#define ALILB_TYPE_KEY      "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-type"
#define ALILB_FINALIZER_CLB "service.k8s.alibaba/resources"
#define ALILB_FINALIZER_NLB "service.k8s.alibaba/nlb"

/* Group alicloud. type_annotation: whether annotation loadbalancer-type counts. */
extern const struct ccm_option alilb_opt_type;
extern const struct ccm_option alilb_opt_clb_class;
extern const struct ccm_option alilb_opt_nlb_class;
extern const struct ccm_option alilb_opt_other_class;
extern const struct ccm_option alilb_opt_standard;
extern const struct ccm_option alilb_opt_instance;
#define ALILB_CLASS_OPTIONS                                                                        \
    &alilb_opt_type, &alilb_opt_clb_class, &alilb_opt_nlb_class, &alilb_opt_other_class,           \
        &alilb_opt_standard, &alilb_opt_instance

/* choose() and takes() of the rules of both plugins (lbc/rules/lint.h). */
void alilb_class_choose_clb(const struct ccm_lint_sink *options, struct lbc_choice *ret);
void alilb_class_choose_nlb(const struct ccm_lint_sink *options, struct lbc_choice *ret);
bool alilb_class_takes_clb(const struct ccm_service *service, const struct lbc_choice *choice);
bool alilb_class_takes_nlb(const struct ccm_service *service, const struct lbc_choice *choice);

/* What is wrong with the options above; NULL = nothing. Else a sentence in `ret`. */
#define ALILB_CLASS_TEXT 400
const char *alilb_class_check(const struct ccm_host *host, char ret[ALILB_CLASS_TEXT]);

/* The annotation does nothing where the option is off: first row of the plugins' hints. */
bool alilb_class_has_none(const struct ccm_service *service);
#define ALILB_TYPE_HINT                                                                            \
    {                                                                                              \
        .key = ALILB_TYPE_KEY, .applies = alilb_class_has_none,                                    \
        .text =                                                                                    \
            "has no effect without option type_annotation of group alicloud: an NLB is asked for " \
            "by spec.loadBalancerClass " ALILB_CLASS_NLB,                                          \
        .unless = &alilb_opt_type                                                                  \
    }
/* Its row among the annotations; see lbc/model/annotation.h. */
#define ALILB_TYPE_ROW                                                                             \
    {                                                                                              \
        .name = ALILB_TYPE_KEY, .group = LBC_ANNO_CLASS, .flags = LBC_ANNO_FIXED,                  \
        .example = "nlb",                                                                          \
        .help = "Kind of load balancer of a Service without class: nlb, or empty for what option " \
                "default_class says. Counts only with option type_annotation."                     \
    }

#endif
