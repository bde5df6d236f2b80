/*
 * Rules of option tables and of the values that options take. The loader checks the tables of
 * plugins with it, the configuration the values of files: one set of rules. No state; every thread.
 */
#ifndef CCM_PLUGIN_OPTION_H
#define CCM_PLUGIN_OPTION_H

#include "ccm/error.h"
#include "ccm/option.h"
#include "util/attr.h"

/* "text", "number", "true or false", "list of texts", "path"; "?" for a type that is unknown. */
const char *plugin_option_type_name(uint64_t type);

/*
 * Whether `text` is a value of the option: in its range or list, written as `fallback` is ("a,b"
 * for lists). The option is well-formed. 0, or -EINVAL with err set to what is wrong ("17 is not in
 * 1..16"), without the option's name.
 */
CCM_NODISCARD int plugin_option_check_value(const struct ccm_option *option, const char *text,
                                            struct ccm_error *err);

/*
 * Whether the entry of a plugin's table is well-formed: known type and flags, valid names, a
 * help text, a range that fits the type, a default that obeys the option's own rules. 0, or
 * -EINVAL with err set, beginning with "option NAME: ". Whether a name clashes with the core's own
 * is the configuration's business.
 */
CCM_NODISCARD int plugin_option_check(const struct ccm_option *option, struct ccm_error *err);

#endif
