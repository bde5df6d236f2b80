/* Values of options: from a setting of the file, or from the default of their row. One thread. */
#ifndef CCM_CONFIG_VALUE_H
#define CCM_CONFIG_VALUE_H

#include "config/problems.h"

#include "ccm/option.h"

#include <libconfig.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config_value {
    const struct ccm_option *row; /* borrowed */
    bool present;                 /* stands in the file */
    bool faulty;                  /* a problem was reported; the default stands */
    bool waived;                  /* its pattern is not asked: the option `unless` is on */
    int64_t number;               /* INT, BOOL */
    char *text;                   /* STRING, PATH; else NULL */
    char **texts;                 /* STRINGS, ends with NULL; else NULL */
};

/* NULL is fine; void * because maps of values free with it. */
void config_value_free(void *value);
/* For CCM_CLEANUP. */
void config_value_freep(struct config_value **value);

/*
 * What the row says for a missing option. 0, -ENOMEM, or -EINVAL: the table is at fault (unknown
 * type, a default that its own limits refuse); *ret_why, static text, says how.
 */
CCM_NODISCARD int config_value_default(const struct ccm_option *row, struct config_value **ret,
                                       const char **ret_why);

/*
 * Replace the default in `value` by what the setting says. Faults are added to problems, and
 * the default stays; `label` is the option as people write it. 0 or -ENOMEM.
 */
CCM_NODISCARD int config_value_read(struct config_value *value, const char *label,
                                    const config_setting_t *setting,
                                    struct config_problems *problems);

/* NULL on ENOMEM. */
struct config_value *config_value_copy(const struct config_value *value);

/* The same value; of the same row. */
bool config_value_equal(const struct config_value *a, const struct config_value *b);

/* Whether a required option has something in it. Only for present ones. */
bool config_value_filled(const struct config_value *value);

/* "a text", "a group { }", ...: what a setting is, for messages. */
const char *config_found_type(const config_setting_t *setting);

#endif
