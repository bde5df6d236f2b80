#include "util/json.h"

#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int ccm_json_parse(const char *text, size_t len, cJSON **ret)
{
    const char *end = NULL;
    cJSON *json = cJSON_ParseWithLengthOpts(text, len, &end, 0);

    if (json == NULL) {
        return -EBADMSG;
    }
    for (; end < text + len; end++) {
        if (*end != ' ' && *end != '\t' && *end != '\n' && *end != '\r' && *end != '\0') {
            cJSON_Delete(json);
            return -EBADMSG;
        }
    }
    *ret = json;
    return 0;
}

void ccm_json_freep(cJSON **json)
{
    cJSON_Delete(*json);
}

/* Recursive: the parser limits the depth. */
static void json_wipe_texts(cJSON *item)
{
    for (; item != NULL; item = item->next) {
        volatile char *text = item->valuestring;

        while (text != NULL && *text != '\0') {
            *text++ = '\0';
        }
        json_wipe_texts(item->child);
    }
}

void ccm_json_wipep(cJSON **json)
{
    json_wipe_texts(*json);
    cJSON_Delete(*json);
}

const cJSON *ccm_json_get(const cJSON *parent, const char *name)
{
    if (!cJSON_IsObject(parent)) {
        return NULL;
    }

    const cJSON *item = cJSON_GetObjectItemCaseSensitive(parent, name);

    return cJSON_IsNull(item) ? NULL : item;
}

const cJSON *ccm_json_path(const cJSON *parent, ...)
{
    const cJSON *item = parent;
    const char *name;
    va_list names;

    va_start(names, parent);
    while ((name = va_arg(names, const char *)) != NULL) {
        item = ccm_json_get(item, name);
    }
    va_end(names);
    return item;
}

const char *ccm_json_str(const cJSON *parent, const char *name)
{
    return cJSON_GetStringValue(ccm_json_get(parent, name));
}

const char *ccm_json_text(const cJSON *parent, const char *name)
{
    const char *text = ccm_json_str(parent, name);

    return text == NULL ? "" : text;
}

int64_t ccm_json_i64(const cJSON *parent, const char *name, int64_t fallback)
{
    static const int64_t limit = INT64_C(1) << 53; /* every integer below it is an exact double */
    const cJSON *item = ccm_json_get(parent, name);
    int64_t value = 0;

    if (cJSON_IsString(item)) {
        if (ccm_parse_i64(item->valuestring, INT64_MIN, INT64_MAX, &value) < 0) {
            return fallback;
        }
    } else if (!cJSON_IsNumber(item)) {
        return fallback;
    } else if (item->valuedouble >= (double)limit) {
        return limit;
    } else {
        value = item->valuedouble <= -(double)limit ? -limit : (int64_t)item->valuedouble;
    }
    return value > limit ? limit : value < -limit ? -limit : value;
}

bool ccm_json_bool(const cJSON *parent, const char *name, bool fallback)
{
    const cJSON *item = ccm_json_get(parent, name);
    bool value;

    if (cJSON_IsString(item)) {
        return ccm_parse_bool(item->valuestring, &value) == 0 ? value : fallback;
    }
    return cJSON_IsBool(item) ? cJSON_IsTrue(item) : fallback;
}

const cJSON *ccm_json_elements(const cJSON *array)
{
    return cJSON_IsArray(array) ? array->child : NULL;
}

const cJSON *ccm_json_members(const cJSON *object)
{
    return cJSON_IsObject(object) ? object->child : NULL;
}

const cJSON *ccm_json_items(const cJSON *parent, const char *name)
{
    return ccm_json_elements(ccm_json_get(parent, name));
}

static void quote_ascii(struct ccm_buf *buf, unsigned char c)
{
    static const char *const shorts = "\"\"\\\\\bb\ff\nn\rr\tt";

    for (const char *s = shorts; *s != '\0'; s += 2) {
        if ((unsigned char)*s == c) {
            ccm_buf_addc(buf, '\\');
            ccm_buf_addc(buf, s[1]);
            return;
        }
    }
    if (c < 0x20) {
        ccm_buf_addf(buf, "\\u%04x", c);
    } else {
        ccm_buf_addc(buf, (char)c);
    }
}

/* Bytes from here on that stand for themselves. */
static size_t plain_run(const unsigned char *p)
{
    size_t n = 0;

    while (p[n] >= 0x20 && p[n] < 0x80 && p[n] != '"' && p[n] != '\\') {
        n++;
    }
    return n;
}

void ccm_json_quote(struct ccm_buf *buf, const char *text)
{
    if (text == NULL) {
        ccm_buf_adds(buf, "null");
        return;
    }
    ccm_buf_addc(buf, '"');
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0';) {
        const size_t run = plain_run(p);

        if (run > 0) {
            ccm_buf_add(buf, p, run);
            p += run;
            continue;
        }

        const size_t n = ccm_text_utf8_len(p);

        if (n == 1) {
            quote_ascii(buf, *p);
        } else if (n > 1) {
            ccm_buf_add(buf, p, n);
        } else {
            ccm_buf_adds(buf, "\xEF\xBF\xBD");
        }
        p += n == 0 ? 1 : n;
    }
    ccm_buf_addc(buf, '"');
}

int ccm_json_print(struct ccm_buf *buf, const cJSON *json)
{
    char *text = cJSON_PrintUnformatted(json);

    if (text == NULL) {
        return -ENOMEM;
    }
    ccm_buf_adds(buf, text);
    cJSON_free(text);
    return ccm_buf_error(buf);
}
