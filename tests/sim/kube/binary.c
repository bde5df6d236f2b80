#include "binary.h"

#include "jx.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <errno.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MAGIC_LEN 4

/* Schemas do not refer to themselves, so reading cannot nest deeper than they do. */
struct reader {
    const unsigned char *at;
    const unsigned char *end;
};

/* One field of a message: `number` for varints, `bytes` for everything with a length. */
struct field {
    uint32_t tag;
    uint64_t number;
    struct reader bytes;
    bool has_bytes;
};

static int read_varint(struct reader *in, uint64_t *ret)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64 && in->at < in->end; shift += 7) {
        const unsigned char byte = *in->at++;

        value |= (uint64_t)(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0) {
            *ret = value;
            return 0;
        }
    }
    return -EBADMSG;
}

static int skip(struct reader *in, size_t n)
{
    if ((size_t)(in->end - in->at) < n) {
        return -EBADMSG;
    }
    in->at += n;
    return 0;
}

/* 1 and a field, 0 at the end, or -EBADMSG. */
static int next_field(struct reader *in, struct field *ret)
{
    uint64_t key = 0;

    *ret = (struct field){ 0 };
    if (in->at == in->end) {
        return 0;
    }
    if (read_varint(in, &key) < 0 || (key >> 3) == 0 || (key >> 3) > UINT32_MAX) {
        return -EBADMSG;
    }
    ret->tag = (uint32_t)(key >> 3);
    switch (key & 7) {
    case 0:
        return read_varint(in, &ret->number) < 0 ? -EBADMSG : 1;
    case 1:
        return skip(in, 8) < 0 ? -EBADMSG : 1;
    case 2:
        if (read_varint(in, &ret->number) < 0 || ret->number > (uint64_t)(in->end - in->at)) {
            return -EBADMSG;
        }
        ret->has_bytes = true;
        ret->bytes = (struct reader){ .at = in->at, .end = in->at + ret->number };
        in->at += ret->number;
        return 1;
    case 5:
        return skip(in, 4) < 0 ? -EBADMSG : 1;
    default:
        return -EBADMSG;
    }
}

/* NULL when it holds a NUL byte, or on ENOMEM. */
static cJSON *text_of(const struct reader *bytes)
{
    const size_t len = (size_t)(bytes->end - bytes->at);

    if (len > 0 && memchr(bytes->at, '\0', len) != NULL) {
        return NULL;
    }

    CCM_CLEANUP(ccm_freep) char *text = strndup((const char *)bytes->at, len);

    return text == NULL ? NULL : cJSON_CreateString(text);
}

/* {1: seconds, 2: nanoseconds} */
static cJSON *time_of(struct reader bytes, bool micro)
{
    char text[64];
    struct field field;
    int64_t seconds = 0;
    int64_t nanos = 0;
    struct tm tm;
    int r;

    while ((r = next_field(&bytes, &field)) > 0) {
        if (field.tag == 1) {
            seconds = (int64_t)field.number;
        } else if (field.tag == 2) {
            nanos = (int64_t)field.number;
        }
    }

    const time_t when = (time_t)seconds;

    if (r < 0 || nanos < 0 || nanos > 999999999 || gmtime_r(&when, &tm) == NULL) {
        return NULL;
    }

    const size_t n = strftime(text, sizeof(text) - 16, "%Y-%m-%dT%H:%M:%S", &tm);

    if (micro) {
        ccm_text_printf(text + n, sizeof(text) - n, ".%06dZ", (int)(nanos / 1000));
    } else {
        ccm_text_printf(text + n, sizeof(text) - n, "Z");
    }
    return cJSON_CreateString(text);
}

/* {1: type (1 = text), 2: number, 3: text} */
static cJSON *int_or_string_of(struct reader bytes)
{
    struct reader text = { 0 };
    struct field field;
    uint64_t type = 0;
    uint64_t number = 0;
    int r;

    while ((r = next_field(&bytes, &field)) > 0) {
        if (field.tag == 1) {
            type = field.number;
        } else if (field.tag == 2) {
            number = field.number;
        } else if (field.tag == 3 && field.has_bytes) {
            text = field.bytes;
        }
    }
    if (r < 0) {
        return NULL;
    }
    return type == 1 ? text_of(&text) : cJSON_CreateNumber((double)(int64_t)number);
}

static cJSON *base64_of(const struct reader *bytes)
{
    const size_t len = (size_t)(bytes->end - bytes->at);
    CCM_CLEANUP(ccm_freep) char *text = calloc(len / 3 + 1, 5);

    if (text == NULL || len > INT_MAX) {
        return NULL;
    }
    (void)EVP_EncodeBlock((unsigned char *)text, bytes->at, (int)len); /* cannot fail */
    return cJSON_CreateString(text);
}

/* {1: key, 2: value}; a key twice: the last one counts. */
static bool add_entry(cJSON *map, struct reader bytes, bool bare)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *key = NULL;
    CCM_CLEANUP(ccm_json_freep) cJSON *value = NULL;
    struct field field;
    int r;

    while ((r = next_field(&bytes, &field)) > 0) {
        cJSON **slot = field.tag == 1 ? &key : field.tag == 2 ? &value : NULL;

        if (slot != NULL && field.has_bytes) {
            cJSON_Delete(*slot);
            *slot = bare && field.tag == 2 ? base64_of(&field.bytes) : text_of(&field.bytes);
        }
    }
    if (r < 0 || key == NULL) {
        return false;
    }
    ccm_ks_jx_set(map, key->valuestring, value == NULL ? cJSON_CreateString("") : CCM_STEAL(value));
    return true;
}

static cJSON *message_of(const struct ccm_ks_schema *schema, struct reader bytes);

/* A value that stands for itself; NULL when it is not of the wanted form. */
static cJSON *value_of(const struct ccm_ks_field *f, const struct field *field)
{
    switch (f->type) {
    case CCM_KS_INT32:
    case CCM_KS_INT64:
        return field->has_bytes ? NULL : cJSON_CreateNumber((double)(int64_t)field->number);
    case CCM_KS_BOOL:
        return field->has_bytes ? NULL : cJSON_CreateBool(field->number != 0);
    case CCM_KS_STRING:
    case CCM_KS_STRINGS:
        return field->has_bytes ? text_of(&field->bytes) : NULL;
    case CCM_KS_TIME:
    case CCM_KS_MICROTIME:
        return field->has_bytes ? time_of(field->bytes, f->type == CCM_KS_MICROTIME) : NULL;
    case CCM_KS_INT_OR_STRING:
        return field->has_bytes ? int_or_string_of(field->bytes) : NULL;
    case CCM_KS_OBJECT:
    case CCM_KS_LIST:
        return field->has_bytes ? message_of(f->sub, field->bytes) : NULL;
    case CCM_KS_MAP:
    case CCM_KS_QUANTITY:
    case CCM_KS_QUANTITIES:
    case CCM_KS_ANY:
        break;
    }
    return NULL;
}

/* An unset time is sent as an empty message; in JSON it is absent. */
static bool is_unset_time(const struct ccm_ks_field *f, const struct field *field)
{
    return (f->type == CCM_KS_TIME || f->type == CCM_KS_MICROTIME) && field->has_bytes &&
           field->bytes.at == field->bytes.end;
}

/* The field of that number in the message; the last one counts. 1, 0 (there is none), -EBADMSG. */
static int field_unwrap(struct reader bytes, uint32_t tag, struct field *ret)
{
    struct field field;
    int found = 0;
    int r;

    while ((r = next_field(&bytes, &field)) > 0) {
        if (field.tag == tag) {
            *ret = field;
            found = 1;
        }
    }
    return r < 0 ? r : found;
}

static bool add_field(cJSON *out, const struct ccm_ks_field *f, const struct field *field);

static bool add_inner_field(cJSON *out, const struct ccm_ks_field *f, const struct field *field)
{
    struct ccm_ks_field bare = *f;
    struct field inner = { 0 };
    const int r = field->has_bytes ? field_unwrap(field->bytes, f->inner, &inner) : -EBADMSG;

    bare.inner = 0;
    return r == 0 || (r > 0 && add_field(out, &bare, &inner));
}

static bool add_field(cJSON *out, const struct ccm_ks_field *f, const struct field *field)
{
    const bool many = f->type == CCM_KS_LIST || f->type == CCM_KS_STRINGS;
    cJSON *value;

    if (f->inner != 0) {
        return add_inner_field(out, f, field);
    }
    if (is_unset_time(f, field)) {
        return true;
    }
    if (f->type == CCM_KS_MAP) {
        return field->has_bytes && add_entry(ccm_ks_jx_object(out, f->name), field->bytes,
                                             (f->flags & CCM_KS_BYTES) != 0);
    }
    value = value_of(f, field);
    if (value == NULL) {
        return false;
    }
    if (!many) {
        ccm_ks_jx_set(out, f->name, value);
        return true;
    }
    if (ccm_ks_jx_get(out, f->name) == NULL) {
        ccm_ks_jx_set(out, f->name, cJSON_CreateArray());
    }
    (void)cJSON_AddItemToArray(ccm_ks_jx_get(out, f->name), value); /* ENOMEM: see jx.h */
    return true;
}

static cJSON *message_of(const struct ccm_ks_schema *schema, struct reader bytes)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *out = cJSON_CreateObject();
    struct field field;
    int r;

    while ((r = next_field(&bytes, &field)) > 0) {
        for (const struct ccm_ks_field *f = schema->fields; f->name != NULL; f++) {
            if (f->tag == field.tag && !add_field(out, f, &field)) {
                return NULL;
            }
        }
    }
    return r < 0 ? NULL : CCM_STEAL(out);
}

/* {1: apiVersion, 2: kind} */
static int set_type(cJSON *object, struct reader bytes)
{
    static const struct ccm_ks_field fields[] = {
        { .name = "apiVersion", .tag = 1, .type = CCM_KS_STRING },
        { .name = "kind", .tag = 2, .type = CCM_KS_STRING },
        { .name = NULL },
    };
    static const struct ccm_ks_schema schema = { .type_name = "TypeMeta", .fields = fields };
    CCM_CLEANUP(ccm_json_freep) cJSON *type = message_of(&schema, bytes);

    if (type == NULL) {
        return -EBADMSG;
    }
    ccm_ks_jx_set_str(object, "apiVersion", ccm_json_text(type, "apiVersion"));
    ccm_ks_jx_set_str(object, "kind", ccm_json_text(type, "kind"));
    return 0;
}

bool ccm_ks_binary_can(const struct ccm_ks_schema *schema)
{
    const struct ccm_ks_field *meta = ccm_ks_schema_field(schema, "metadata");

    return meta != NULL && meta->tag != 0;
}

int ccm_ks_binary_parse(const struct ccm_ks_schema *schema, const char *body, size_t len,
                        cJSON **ret)
{
    static const unsigned char magic[MAGIC_LEN] = { 'k', '8', 's', 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *object = NULL;
    struct reader in = { .at = (const unsigned char *)body,
                         .end = (const unsigned char *)body + len };
    struct reader type = { 0 };
    struct reader raw = { 0 };
    struct field field;
    int r;

    if (len < MAGIC_LEN || memcmp(body, magic, MAGIC_LEN) != 0) {
        return -EBADMSG;
    }
    in.at += MAGIC_LEN;
    while ((r = next_field(&in, &field)) > 0) {
        if (field.tag == 1 && field.has_bytes) {
            type = field.bytes;
        } else if (field.tag == 2 && field.has_bytes) {
            raw = field.bytes;
        }
    }
    object = r < 0 ? NULL : message_of(schema, raw);
    if (object == NULL || set_type(object, type) < 0) {
        return -EBADMSG;
    }
    *ret = CCM_STEAL(object);
    return 0;
}
