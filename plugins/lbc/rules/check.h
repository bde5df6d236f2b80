/*
 * Checks of annotations that go beyond their rows: across annotations, ports, lists. A product
 * lists its own and these, in the order in which they are told about. Pure. Every thread.
 */
#ifndef CCM_LBC_CHECK_H
#define CCM_LBC_CHECK_H

#include "ccm/error.h"
#include "ccm/object.h"
#include "lbc/model/settings.h"
#include "util/attr.h"

struct lbc_lint_rules;

/* What a check looks at. */
struct lbc_checked {
    const struct lbc_check *row;
    const struct ccm_service *service;
    const char *value; /* of the row's annotation; "" = not set */
};

/* 0, -EINVAL with a CCM_ERROR_TERMINAL, or -ENOMEM. */
typedef int lbc_check_fn(const struct lbc_checked *it, struct ccm_error *err);

/* One row; a table ends with a NULL suffix. */
struct lbc_check {
    const char *suffix; /* of the annotation to blame */
    lbc_check_fn *run;
    unsigned on; /* 1U << enum lbc_protocol: only where a listener of ours speaks one; 0 = always */
    const char *words;      /* what the value must be, or as `run` says */
    int64_t gap[2];         /* numbers from the first to the second are refused */
    const char *refusal[2]; /* before and behind a value that is refused; NULL = our own form */
};

/* One row of a product with these rules, which are not looked at for a row that holds always. */
CCM_NODISCARD int lbc_check_run(const struct lbc_check *check, const struct lbc_lint_rules *rules,
                                const struct ccm_service *service, struct ccm_error *err);

/* -EINVAL, a CCM_ERROR_TERMINAL: the refusal of the row around the value or, where it has none, as
 * lbc_setting_refuse() with its words. */
int lbc_check_refuse(const struct lbc_checked *it, const char *value, struct ccm_error *err);

/* Not the default name of another Service, by which that one would be found. */
lbc_check_fn lbc_check_name;
/* additional-resource-tags: as many and as long as the cloud takes. */
lbc_check_fn lbc_check_tags;
/* Labels of nodes. */
lbc_check_fn lbc_check_labels;
/* Of health checks: a path; a host, or the first of `words`, which stands for the backend's own
 * address; a list of classes of answers. */
lbc_check_fn lbc_check_path;
lbc_check_fn lbc_check_host;
lbc_check_fn lbc_check_codes;
/* A name that a status may show: of DNS, in small letters, and no address. */
lbc_check_fn lbc_check_hostname;
/* A number outside of `gap`. What is no number was refused by the annotation's row. */
lbc_check_fn lbc_check_number;
/* Not empty. */
lbc_check_fn lbc_check_is_set;
/* One of `words`, "a|b", in any case; or empty. */
lbc_check_fn lbc_check_word;
/* A list of pairs; with `words`, of anything and a port. */
lbc_check_fn lbc_check_pairs;

#endif
