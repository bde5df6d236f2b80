#include "config/merge.h"

#include "util/text.h"

#include <errno.h>

static int merge_add(config_setting_t *parent, const config_setting_t *from, unsigned first);

static int merge_members(config_setting_t *into, const config_setting_t *from, unsigned first)
{
    const int count = config_setting_length(from);
    int r = 0;

    for (int i = 0; i < count && r == 0; i++) {
        r = merge_add(into, config_setting_get_elem(from, (unsigned)i), first);
    }
    return r;
}

/* False: there is no memory left. */
static bool merge_set_scalar(config_setting_t *into, const config_setting_t *from)
{
    switch (config_setting_type(from)) {
    case CONFIG_TYPE_INT:
        return config_setting_set_int(into, config_setting_get_int(from)) == CONFIG_TRUE;
    case CONFIG_TYPE_INT64:
        return config_setting_set_int64(into, config_setting_get_int64(from)) == CONFIG_TRUE;
    case CONFIG_TYPE_FLOAT:
        return config_setting_set_float(into, config_setting_get_float(from)) == CONFIG_TRUE;
    case CONFIG_TYPE_BOOL:
        return config_setting_set_bool(into, config_setting_get_bool(from)) == CONFIG_TRUE;
    default:
        return config_setting_set_string(into, config_setting_get_string(from)) == CONFIG_TRUE;
    }
}

/* A copy at the end of `parent`, which has none of that name. */
static int merge_add(config_setting_t *parent, const config_setting_t *from, unsigned first)
{
    config_setting_t *copy =
        config_setting_add(parent, config_setting_name(from), config_setting_type(from));

    if (copy == NULL) {
        return -ENOMEM;
    }
    copy->line = from->line + first;
    if (config_setting_is_aggregate(from)) {
        return merge_members(copy, from, first);
    }
    return merge_set_scalar(copy, from) ? 0 : -ENOMEM;
}

static const char *merge_entry_name(const config_setting_t *entry)
{
    const char *name = NULL;

    return config_setting_is_group(entry) && config_setting_lookup_string(entry, "name", &name)
               ? name
               : NULL;
}

static config_setting_t *merge_find_entry(const config_setting_t *plugins, int count,
                                          const char *name)
{
    for (int i = 0; i < count; i++) {
        config_setting_t *entry = config_setting_get_elem(plugins, (unsigned)i);

        if (name != NULL && ccm_text_equal(merge_entry_name(entry), name)) {
            return entry;
        }
    }
    return NULL;
}

static int merge_group(config_setting_t *into, const config_setting_t *from, unsigned first);

static int merge_plugins(config_setting_t *into, const config_setting_t *from, unsigned first)
{
    const int before = config_setting_length(into);
    const int count = config_setting_length(from);
    int r = 0;

    for (int i = 0; i < count && r == 0; i++) {
        const config_setting_t *entry = config_setting_get_elem(from, (unsigned)i);
        config_setting_t *known = merge_find_entry(into, before, merge_entry_name(entry));

        r = known == NULL ? merge_add(into, entry, first) : merge_group(known, entry, first);
    }
    return r;
}

static int merge_member(config_setting_t *into, const config_setting_t *from, unsigned first)
{
    const char *name = config_setting_name(from);
    config_setting_t *known = config_setting_get_member(into, name);

    if (known != NULL && config_setting_is_group(known) && config_setting_is_group(from)) {
        return merge_group(known, from, first);
    }
    if (known != NULL && config_setting_is_root(into) && ccm_text_equal(name, "plugins") &&
        config_setting_is_list(known) && config_setting_is_list(from)) {
        return merge_plugins(known, from, first);
    }
    if (known != NULL && config_setting_remove(into, name) != CONFIG_TRUE) {
        return -ENOMEM;
    }
    return merge_add(into, from, first);
}

static int merge_group(config_setting_t *into, const config_setting_t *from, unsigned first)
{
    const int count = config_setting_length(from);
    int r = 0;

    for (int i = 0; i < count && r == 0; i++) {
        r = merge_member(into, config_setting_get_elem(from, (unsigned)i), first);
    }
    return r;
}

int config_merge(config_t *into, const config_t *from, unsigned first)
{
    return merge_group(config_root_setting(into), config_root_setting(from), first);
}
