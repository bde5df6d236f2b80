#include "alilb/class.h"

#include "lbc/keys.h"
#include "lbc/model/object.h"
#include "util/parse.h"
#include "util/text.h"

#include <ctype.h>
#include <string.h>

#define INSTANCE_MAX 20 /* bytes; the finalizer has room for it */
#define CLASS_MAX    317

const struct ccm_option alilb_opt_type = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .group = "alicloud",
    .name = "type_annotation",
    .fallback = "false",
    .help = "Let annotation service.beta.kubernetes.io/alibaba-cloud-loadbalancer-type choose the "
            "kind of load balancer of Services without loadBalancerClass: nlb for plugin nlb, none "
            "for what default_class says, anything else for neither.",
};
const struct ccm_option alilb_opt_clb_class = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRING,
    .group = "alicloud",
    .name = "clb_class",
    .help =
        "Values of spec.loadBalancerClass that ask for a CLB, separated by commas. Empty: there "
        "is none, and a CLB is what Services without a class get.",
};
const struct ccm_option alilb_opt_nlb_class = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRING,
    .group = "alicloud",
    .name = "nlb_class",
    .fallback = ALILB_CLASS_NLB,
    .help =
        "Values of spec.loadBalancerClass that ask for an NLB, separated by commas. Whoever "
        "takes one away that Services have leaves these alone, with an event: list the old name "
        "beside the new one.",
};
const struct ccm_option alilb_opt_other_class = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRING,
    .group = "alicloud",
    .name = "other_class",
    .help = "Values of spec.loadBalancerClass that somebody else serves, such as another ccmd, "
            "separated by commas: they are not taken for misspelt names of clb_class or nlb_class.",
};
const struct ccm_option alilb_opt_standard = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRING,
    .group = "alicloud",
    .name = "default_class",
    .fallback = "clb",
    .values = "clb|nlb|none",
    .help = "What new Services without spec.loadBalancerClass get: a CLB, an NLB, or nothing (only "
            "Services with a class are served). With nlb and none those that have a load balancer "
            "of this ccmd, as their finalizer says, keep it. With clb each of them has a CLB: what "
            "has an NLB goes over.",
};
const struct ccm_option alilb_opt_instance = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRING,
    .group = "alicloud",
    .name = "instance",
    .help =
        "Name of this ccmd where several serve one cluster, each its own classes: lower case "
        "letters, digits and -, at most 20. It stands behind the finalizers of its Services, so "
        "that no other one takes them for its own; one of them has none. Never change it while "
        "Services have load balancers.",
};

/* --- whose it is --- */

bool alilb_class_has_none(const struct ccm_service *service)
{
    return ccm_text_empty(service->load_balancer_class);
}

enum class_kind { CLASS_NEITHER, CLASS_CLB, CLASS_NLB };

/* Options from the view of CLB, whichever plugin asks. */
struct class_view {
    const char *clb;
    const char *nlb;
    const char *clb_finalizer;
    const char *nlb_finalizer;
};

/* Which kind a Service without class has got, as it says itself. One whose finalizer somebody took
 * away still shows id and address. */
static enum class_kind class_find_carried(const struct ccm_service *service,
                                          const struct class_view *view)
{
    const char *id = ccm_object_label(&service->meta, LBC_LIFE_LB_LABEL);

    if (lbc_object_has_finalizer(&service->meta, view->clb_finalizer)) {
        return CLASS_CLB;
    }
    if (lbc_object_has_finalizer(&service->meta, view->nlb_finalizer)) {
        return CLASS_NLB;
    }
    if (id == NULL || service->ingress_count == 0 ||
        lbc_object_has_other_finalizer(&service->meta, LBC_FINALIZER_PREFIX, "")) {
        return CLASS_NEITHER;
    }
    if (ccm_text_starts(id, "lb-")) {
        return CLASS_CLB;
    }
    return ccm_text_starts(id, "nlb-") ? CLASS_NLB : CLASS_NEITHER;
}

/* Another ccmd of the cluster has put its own finalizer on, and this one has none there. */
static bool class_is_of_other(const struct ccm_service *service, const struct class_view *view)
{
    for (uint64_t i = 0; i < service->meta.finalizer_count; i++) {
        const char *one = service->meta.finalizers[i];

        if (strcmp(one, view->clb_finalizer) == 0 || strcmp(one, view->nlb_finalizer) == 0) {
            return false;
        }
    }
    for (uint64_t i = 0; i < service->meta.finalizer_count; i++) {
        const char *one = service->meta.finalizers[i];

        if (ccm_text_equal(one, ALILB_FINALIZER_CLB) || ccm_text_equal(one, ALILB_FINALIZER_NLB) ||
            ccm_text_starts(one, ALILB_FINALIZER_CLB "-") ||
            ccm_text_starts(one, ALILB_FINALIZER_NLB "-")) {
            return true;
        }
    }
    return false;
}

static enum class_kind class_find_default(const struct ccm_service *service,
                                          const struct lbc_choice *choice,
                                          const struct class_view *view)
{
    const char *type = ccm_object_annotation(&service->meta, ALILB_TYPE_KEY);
    const bool nlb = ccm_text_equal(choice->standard, "nlb");
    enum class_kind carried = CLASS_NEITHER;

    if (lbc_class_is_elsewhere(service) || class_is_of_other(service, view)) {
        return CLASS_NEITHER;
    }
    if (choice->by_type && !ccm_text_empty(type)) {
        return strcmp(type, "nlb") == 0 ? CLASS_NLB : CLASS_NEITHER;
    }
    if (!nlb && !ccm_text_equal(choice->standard, "none")) {
        return CLASS_CLB;
    }
    carried = class_find_carried(service, view);
    return carried == CLASS_NEITHER && nlb ? CLASS_NLB : carried;
}

static enum class_kind class_find(const struct ccm_service *service,
                                  const struct lbc_choice *choice, const struct class_view *view)
{
    if (!ccm_text_equal(service->type, "LoadBalancer")) {
        return CLASS_NEITHER;
    }
    if (ccm_text_empty(service->load_balancer_class)) {
        return class_find_default(service, choice, view);
    }
    if (lbc_class_is_in(service, view->clb)) {
        return CLASS_CLB;
    }
    return lbc_class_is_in(service, view->nlb) ? CLASS_NLB : CLASS_NEITHER;
}

bool alilb_class_takes_clb(const struct ccm_service *service, const struct lbc_choice *choice)
{
    const struct class_view view = { choice->own, choice->sibling, choice->finalizer,
                                     choice->sibling_finalizer };

    return class_find(service, choice, &view) == CLASS_CLB;
}

bool alilb_class_takes_nlb(const struct ccm_service *service, const struct lbc_choice *choice)
{
    const struct class_view view = { choice->sibling, choice->own, choice->sibling_finalizer,
                                     choice->finalizer };

    return class_find(service, choice, &view) == CLASS_NLB;
}

/* --- options --- */

static void class_write_finalizer(const char *name, const char *instance,
                                  char ret[LBC_CHOICE_FINALIZER])
{
    ccm_text_printf(ret, LBC_CHOICE_FINALIZER, "%s%s%s", name, instance[0] == '\0' ? "" : "-",
                    instance);
}

static const char *class_option(const struct ccm_lint_sink *options,
                                const struct ccm_option *option)
{
    const char *found = options->option_string(options, option->group, option->name);

    if (found != NULL) {
        return found;
    }
    return option->fallback == NULL ? "" : option->fallback;
}

static void class_choose(const struct ccm_lint_sink *options, struct lbc_choice *ret)
{
    ret->others = class_option(options, &alilb_opt_other_class);
    ret->standard = class_option(options, &alilb_opt_standard);
    ret->by_type = options->option_int(options, alilb_opt_type.group, alilb_opt_type.name) != 0;
}

void alilb_class_choose_clb(const struct ccm_lint_sink *options, struct lbc_choice *ret)
{
    const char *instance = class_option(options, &alilb_opt_instance);

    class_choose(options, ret);
    ret->own = class_option(options, &alilb_opt_clb_class);
    ret->sibling = class_option(options, &alilb_opt_nlb_class);
    class_write_finalizer(ALILB_FINALIZER_CLB, instance, ret->finalizer);
    class_write_finalizer(ALILB_FINALIZER_NLB, instance, ret->sibling_finalizer);
}

void alilb_class_choose_nlb(const struct ccm_lint_sink *options, struct lbc_choice *ret)
{
    const char *instance = class_option(options, &alilb_opt_instance);

    class_choose(options, ret);
    ret->own = class_option(options, &alilb_opt_nlb_class);
    ret->sibling = class_option(options, &alilb_opt_clb_class);
    class_write_finalizer(ALILB_FINALIZER_NLB, instance, ret->finalizer);
    class_write_finalizer(ALILB_FINALIZER_CLB, instance, ret->sibling_finalizer);
}

/* --- what cannot be --- */

/* Letters, digits, "-", "_", "." and one "/", as the API server lets a class be. */
static bool class_is_name(const char *text, size_t len)
{
    size_t slashes = 0;

    for (size_t i = 0; i < len; i++) {
        const char c = text[i];

        slashes += c == '/' ? 1 : 0;
        if (!isalnum((unsigned char)c) && c != '-' && c != '_' && c != '.' && c != '/') {
            return false;
        }
    }
    return len > 0 && len <= CLASS_MAX && slashes <= 1 && isalnum((unsigned char)text[0]) &&
           isalnum((unsigned char)text[len - 1]);
}

static bool class_is_instance(const char *text)
{
    const size_t len = strlen(text);

    for (size_t i = 0; i < len; i++) {
        if (!islower((unsigned char)text[i]) && !isdigit((unsigned char)text[i]) &&
            text[i] != '-') {
            return false;
        }
    }
    return len <= INSTANCE_MAX && (len == 0 || (text[0] != '-' && text[len - 1] != '-'));
}

/* A name of `option` that is none, or stands in `other` too. */
static bool class_check_list(const struct ccm_host *host, const struct ccm_option *option,
                             const struct ccm_option *other, char ret[ALILB_CLASS_TEXT])
{
    const char *list = host->option_string(host, option->group, option->name);
    const char *taken = host->option_string(host, other->group, other->name);
    const char *piece = NULL;
    size_t len = 0;

    if (list[0] == '\0') {
        return true;
    }
    while (ccm_parse_piece(&list, ',', &piece, &len)) {
        if (!class_is_name(piece, len)) {
            ccm_text_printf(ret, ALILB_CLASS_TEXT,
                            "option %s of group alicloud: [%.*s] is no name of a class, such as "
                            "example.com/lb",
                            option->name, (int)(len > 100 ? 100 : len), piece);
            return false;
        }
        if (ccm_parse_has_piece(taken, ',', piece, len)) {
            ccm_text_printf(ret, ALILB_CLASS_TEXT,
                            "options %s and %s of group alicloud both have class %.*s: a Service "
                            "with it would have two controllers",
                            option->name, other->name, (int)(len > 100 ? 100 : len), piece);
            return false;
        }
    }
    return true;
}

const char *alilb_class_check(const struct ccm_host *host, char ret[ALILB_CLASS_TEXT])
{
    const char *instance =
        host->option_string(host, alilb_opt_instance.group, alilb_opt_instance.name);

    if (!class_is_instance(instance)) {
        ccm_text_printf(ret, ALILB_CLASS_TEXT,
                        "option instance of group alicloud: [%.100s] is not [a-z0-9-]{1,20}",
                        instance);
        return ret;
    }
    return class_check_list(host, &alilb_opt_clb_class, &alilb_opt_nlb_class, ret) &&
                   class_check_list(host, &alilb_opt_nlb_class, &alilb_opt_other_class, ret) &&
                   class_check_list(host, &alilb_opt_other_class, &alilb_opt_clb_class, ret)
               ? NULL
               : ret;
}
