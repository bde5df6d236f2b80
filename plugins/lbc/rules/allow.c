#include "lbc/rules/allow.h"

#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define SHOWN 128

/* Parts of an entry. */
enum allow_part { ALLOW_NAMESPACE, ALLOW_KIND, ALLOW_ID, ALLOW_PARTS };

struct allow_text {
    const char *start;
    size_t len;
};

/* False: it has not three parts that say something. */
static bool entry_split(const char *entry, struct allow_text parts[ALLOW_PARTS])
{
    const char *cursor = entry;
    size_t count = 0;
    struct allow_text one = { NULL, 0 };

    while (ccm_parse_piece(&cursor, ':', &one.start, &one.len)) {
        if (count == ALLOW_PARTS || one.len == 0) {
            return false;
        }
        parts[count++] = one;
    }
    return count == ALLOW_PARTS;
}

static bool part_matches(const struct allow_text *part, const char *text, size_t len)
{
    const bool open = part->start[part->len - 1] == '*';
    const size_t fixed = open ? part->len - 1 : part->len;

    return (open ? len >= fixed : len == fixed) && memcmp(part->start, text, fixed) == 0;
}

static bool is_kind(const struct allow_text *part)
{
    static const char *const kinds[] = { "*",
                                         LBC_ALLOW_CERTIFICATE,
                                         LBC_ALLOW_ACL,
                                         LBC_ALLOW_SECURITY_GROUP,
                                         LBC_ALLOW_PACKAGE,
                                         LBC_ALLOW_EIP,
                                         LBC_ALLOW_GROUP };

    for (size_t i = 0; i < CCM_ARRAY_LEN(kinds); i++) {
        if (strlen(kinds[i]) == part->len && memcmp(kinds[i], part->start, part->len) == 0) {
            return true;
        }
    }
    return false;
}

int lbc_allow_check_entries(const char *const *entries, struct ccm_error *err)
{
    for (; entries != NULL && *entries != NULL; entries++) {
        struct allow_text parts[ALLOW_PARTS];

        if (!entry_split(*entries, parts) || !is_kind(&parts[ALLOW_KIND])) {
            return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                                 "option allowed_ids: [%.*s] is not namespace:kind:id with a kind "
                                 "of certificate, acl, security-group, bandwidth-package, eip, "
                                 "server-group or *",
                                 SHOWN, *entries);
        }
    }
    return 0;
}

static bool entry_allows(const char *entry, const char *namespace_, const char *kind,
                         const struct allow_text *id)
{
    struct allow_text parts[ALLOW_PARTS];

    return entry_split(entry, parts) &&
           part_matches(&parts[ALLOW_NAMESPACE], namespace_, strlen(namespace_)) &&
           part_matches(&parts[ALLOW_KIND], kind, strlen(kind)) &&
           part_matches(&parts[ALLOW_ID], id->start, id->len);
}

int lbc_allow_check_id(const struct lbc_allow *allow, const char *kind, const char *id, size_t len,
                       struct ccm_error *err)
{
    const struct allow_text text = { id, len };
    const char *const *entry = allow->entries;

    if (len == 0 || entry == NULL || *entry == NULL) {
        return 0;
    }
    for (; *entry != NULL; entry++) {
        if (entry_allows(*entry, allow->namespace_, kind, &text)) {
            return 0;
        }
    }
    return ccm_error_set(err, -EPERM, CCM_ERROR_TERMINAL,
                         "namespace %s may not use %s %.*s: option allowed_ids of the %s plugin "
                         "does not name it; ask the operator, or name another one",
                         allow->namespace_, kind, (int)(len < SHOWN ? len : SHOWN), id,
                         allow->plugin);
}

/* The piece of "a:b:c" that is an id; empty when there is none. */
static struct allow_text find_piece(const struct allow_text *entry, unsigned wanted)
{
    const char *end = entry->start + entry->len;
    const char *start = entry->start;

    for (unsigned i = 0; i < wanted; i++) {
        const char *colon = memchr(start, ':', (size_t)(end - start));

        if (colon == NULL) {
            return (struct allow_text){ end, 0 };
        }
        start = colon + 1;
    }
    const char *colon = memchr(start, ':', (size_t)(end - start));

    end = colon == NULL ? end : colon;
    size_t len = (size_t)(end - start);

    start = ccm_text_trim(start, &len);
    return (struct allow_text){ start, len };
}

int lbc_allow_check_row(const struct lbc_allow *allow, const struct lbc_anno *row,
                        const struct ccm_object *object, struct ccm_error *err)
{
    const char *cursor = row->ids == NULL ? NULL : lbc_anno_value(object, row);
    struct allow_text entry = { NULL, 0 };
    int r = 0;

    while (r == 0 && cursor != NULL && ccm_parse_piece(&cursor, ',', &entry.start, &entry.len)) {
        const struct allow_text id = find_piece(&entry, row->piece);

        r = lbc_allow_check_id(allow, row->ids, id.start, id.len, err);
    }
    return r;
}
