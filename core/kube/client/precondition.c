#include "kube/client/precondition.h"

#include "util/cleanup.h"
#include "util/json.h"
#include "util/text.h"

#include <string.h>

#define BLANKS " \t\r\n"

/* The functions below read text that was parsed before: it is known to be JSON. */

static const char *skip_blanks(const char *p)
{
    return p + strspn(p, BLANKS);
}

/* Behind the text that begins at the quote p. */
static const char *skip_text(const char *p)
{
    for (p++; *p != '"'; p++) {
        p += *p == '\\' ? 1 : 0;
    }
    return p + 1;
}

static const char *skip_value(const char *p)
{
    size_t depth = 0;

    do {
        if (*p == '"') {
            p = skip_text(p);
            continue;
        }
        depth += *p == '{' || *p == '[' ? 1 : 0;
        depth -= *p == '}' || *p == ']' ? 1 : 0;
        p++;
    } while (depth > 0);
    return p;
}

/* Whether the name between two quotes is this one; it may be spelt with escapes. */
static bool member_is(const char *quoted, size_t len, const char *name)
{
    if (memchr(quoted, '\\', len) == NULL) {
        return len == strlen(name) + 2 && memcmp(quoted + 1, name, len - 2) == 0;
    }
    CCM_CLEANUP(ccm_json_freep) cJSON *text = cJSON_ParseWithLength(quoted, len);

    return ccm_text_equal(cJSON_GetStringValue(text), name);
}

/* The value of the last member of that name, of two the one that counts; NULL = there is none. */
static const char *find_member(const char *object, const char *name)
{
    const char *found = NULL;
    const char *p = skip_blanks(object + 1);

    while (*p != '}') {
        const char *key = p;

        p = skip_text(p);

        const bool same = member_is(key, (size_t)(p - key), name);

        p = skip_blanks(skip_blanks(p) + 1); /* the colon */
        found = same ? p : found;
        if (*p == '"' || *p == '{' || *p == '[') {
            p = skip_value(p);
        } else {
            p += strcspn(p, ",}" BLANKS);
        }
        p = skip_blanks(p);
        p += *p == ',' ? 1 : 0;
        p = skip_blanks(p);
    }
    return found;
}

/* Whether the member has to be added; -EINVAL: it is there and says something else. */
static int check_member(const cJSON *meta, const char *name, const char *wanted,
                        struct ccm_error *err)
{
    const char *has = ccm_json_str(meta, name);

    if (ccm_text_empty(wanted) || ccm_text_equal(has, wanted)) {
        return 0;
    }
    return ccm_text_empty(has)
               ? 1
               : ccm_error_set(err, -EINVAL, CCM_ERROR_BUG,
                               "metadata.%s of the body is not that of the precondition", name);
}

static void append_member(struct ccm_buf *buf, const char *name, const char *value)
{
    ccm_buf_addf(buf, "%s\"%s\":", buf->len == 0 ? "" : ",", name);
    ccm_json_quote(buf, value);
}

/* body: metadata with these members at the end of it, where they count. */
static void append_spliced(struct ccm_buf *ret, const char *body, const char *meta,
                           const char *members)
{
    const char *start = skip_blanks(body);

    if (meta == NULL || *meta != '{') { /* absent, or null: then the one that comes later counts */
        const char *end = skip_value(start) - 1;
        const bool empty = *skip_blanks(start + 1) == '}';

        ccm_buf_add(ret, start, (size_t)(end - start));
        ccm_buf_addf(ret, "%s\"metadata\":{%s}}", empty ? "" : ",", members);
        return;
    }

    const char *end = skip_value(meta) - 1;
    const bool empty = *skip_blanks(meta + 1) == '}';

    ccm_buf_add(ret, start, (size_t)(end - start));
    ccm_buf_addf(ret, "%s%s%s", empty ? "" : ",", members, end);
}

int kube_precondition_add(const char *body, const char *uid, const char *resource_version,
                          struct ccm_buf *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf members = { .max = 4096 };
    int add_uid;
    int add_version;

    if (ccm_json_parse(body, strlen(body), &json) < 0 || !cJSON_IsObject(json)) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_BUG, "the body is no JSON object");
    }

    const cJSON *meta = ccm_json_get(json, "metadata");

    add_uid = check_member(meta, "uid", uid, err);
    if (add_uid < 0) {
        return add_uid;
    }
    add_version = check_member(meta, "resourceVersion", resource_version, err);
    if (add_version < 0) {
        return add_version;
    }
    if (add_uid > 0) {
        append_member(&members, "uid", uid);
    }
    if (add_version > 0) {
        append_member(&members, "resourceVersion", resource_version);
    }
    if (members.len == 0) {
        ccm_buf_adds(ret, body);
    } else {
        append_spliced(ret, body, find_member(skip_blanks(body), "metadata"),
                       ccm_buf_str(&members));
    }
    return ccm_buf_error(ret) < 0 || ccm_buf_error(&members) < 0 ? ccm_error_nomem(err) : 0;
}
