/*
 * Configuration options as data: a plugin (or the core) lists what it understands, and that one
 * table drives parsing, validation, messages and the generated documentation. A key that nobody
 * lists is an error with file and line.
 *
 * Tables are const and live as long as the plugin is loaded.
 */
#ifndef CCM_OPTION_H
#define CCM_OPTION_H

#include <stdint.h>

#define CCM_OPTION_STRING  UINT64_C(1) /* text; `values` may limit it to a list */
#define CCM_OPTION_INT     UINT64_C(2) /* min..max; `unit` in the name (timeout_ms) */
#define CCM_OPTION_BOOL    UINT64_C(3) /* true or false */
#define CCM_OPTION_STRINGS UINT64_C(4) /* list of texts: [ "a", "b" ] */
#define CCM_OPTION_PATH    UINT64_C(5) /* absolute path of a file or folder; "" = none */

#define CCM_OPTION_REQUIRED UINT64_C(1) /* flag: may not be left out or empty */
/*
 * Flag: a changed value counts without a restart. The host answers with the newest value that was
 * taken over, so whoever sets the flag asks the host each time instead of keeping what it said in
 * create(). Two options read one after the other may come from before and after a change. In a
 * shared group an option is live when all that list it say so.
 */
#define CCM_OPTION_LIVE UINT64_C(2)
/*
 * Since ABI 1.1. Flag: there was such an option once. The configuration may still have it, with any
 * value: that is ignored, with a Warning that has `help`, which says what takes its place ("it is
 * 10 s now"). Of such a row only group, name and help count, and the host has no value for it.
 */
#define CCM_OPTION_RETIRED UINT64_C(4)

/*
 * Where an option stands in the file:
 *   group NULL        in the plugin's own entry of `plugins = ( { name = "clb"; HERE } )`
 *   group "alicloud"  in the top-level group of that name, shared by every plugin that lists the
 *                     same option
 * Names are [a-z][a-z0-9_]*; dots nest them: "credentials.access_key_id" is
 * `credentials: { access_key_id = ...; };`. In a plugin's entry the core's own names are taken:
 * `name`, `file`, `workers`, `critical`, `enabled`.
 */
struct ccm_option {
    uint64_t struct_size;
    uint64_t type;  /* CCM_OPTION_STRING ... */
    uint64_t flags; /* CCM_OPTION_REQUIRED, CCM_OPTION_LIVE, CCM_OPTION_RETIRED */
    const char *group;
    const char *name;
    const char *fallback; /* default as text: "16", "true", "a,b" for a list; NULL = "" / 0 / false
                             / empty */
    int64_t min;          /* CCM_OPTION_INT only, both inclusive */
    int64_t max;
    const char *values; /* CCM_OPTION_STRING only: "a|b|c"; NULL = any text */
    const char *help;   /* one sentence for people */
    /* Since ABI 1.1. CCM_OPTION_STRING without `values` only: POSIX extended regular expression
     * that the whole text has to match; "" passes unless the option is
     * required. NULL = any text. */
    const char *pattern;
    /* Since ABI 1.1. With `pattern` only: name of a CCM_OPTION_BOOL of the same group (of the
     * plugin's own, where group is NULL) that stands before this row in the table: while it is
     * true, any text is taken. For values that take an explicit word, such as an endpoint without
     * TLS. */
    const char *unless;
};

/* A row of a retired option: CCM_OPTION_RETIRED. */
#define CCM_OPTION_RETIRED_ROW(group_, name_, help_)                                               \
    {                                                                                              \
        .struct_size = sizeof(struct ccm_option), .type = CCM_OPTION_STRING,                       \
        .flags = CCM_OPTION_RETIRED, .group = (group_), .name = (name_), .help = (help_),          \
    }

#endif
