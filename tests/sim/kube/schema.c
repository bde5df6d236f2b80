#include "schema.h"

#include "jx.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Where decoding stands: struct names and the path differ in messages
 * ("ServicePort.spec.ports.port"). */
struct place {
    const struct place *up;
    const char *name;
    int index; /* in the list `name`, or -1 */
};

static cJSON *decode_object(const struct ccm_ks_schema *schema, const cJSON *in,
                            const struct place *place, struct ccm_ks_decode *decode);

void ccm_ks_decode_fini(struct ccm_ks_decode *decode)
{
    cJSON_Delete(decode->found);
    decode->found = NULL;
    ccm_buf_fini(&decode->error);
}

const struct ccm_ks_field *ccm_ks_schema_field(const struct ccm_ks_schema *schema, const char *name)
{
    if (schema == NULL) {
        return NULL;
    }
    for (const struct ccm_ks_field *f = schema->fields; f->name != NULL; f++) {
        if (strcmp(f->name, name) == 0) {
            return f;
        }
    }
    return NULL;
}

static void print_place(struct ccm_buf *buf, const struct place *place, bool indexes)
{
    if (place == NULL) {
        return;
    }
    print_place(buf, place->up, indexes);
    if (place->up != NULL) {
        ccm_buf_addc(buf, '.');
    }
    ccm_buf_adds(buf, place->name);
    if (indexes && place->index >= 0) {
        ccm_buf_addf(buf, "[%d]", place->index);
    }
}

/* what: "unknown" or "duplicate". */
static void note_field(struct ccm_ks_decode *decode, const char *what, const struct place *place)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf path = { .max = 4096 };

    ccm_buf_addf(&path, "%s field \"", what);
    print_place(&path, place, true);
    ccm_buf_addc(&path, '"');
    if (decode->found == NULL) {
        decode->found = cJSON_CreateArray();
    }
    if (cJSON_GetArraySize(decode->found) < 64) {
        (void)cJSON_AddItemToArray(decode->found, cJSON_CreateString(ccm_buf_str(&path)));
        /* ENOMEM: one warning less */
    }
}

static const char *json_type_name(const cJSON *json)
{
    if (cJSON_IsString(json)) {
        return "string";
    }
    if (cJSON_IsNumber(json)) {
        return "number";
    }
    if (cJSON_IsBool(json)) {
        return "bool";
    }
    return cJSON_IsArray(json) ? "array" : "object";
}

static void note_type(struct ccm_ks_decode *decode, const struct ccm_ks_schema *schema,
                      const struct place *place, const cJSON *in, const char *wanted)
{
    if (decode->error.len > 0) {
        return;
    }
    decode->error.max = 8192;
    ccm_buf_addf(&decode->error, "json: cannot unmarshal %s", json_type_name(in));
    if (cJSON_IsNumber(in)) {
        ccm_buf_addc(&decode->error, ' ');
        ccm_ks_jx_print(&decode->error, in);
    }
    ccm_buf_addf(&decode->error, " into Go struct field %s.", schema->type_name);
    print_place(&decode->error, place, false);
    ccm_buf_addf(&decode->error, " of type %s", wanted);
}

static const char *go_type(const struct ccm_ks_field *f)
{
    switch (f->type) {
    case CCM_KS_INT32:
        return "int32";
    case CCM_KS_INT64:
        return "int64";
    case CCM_KS_BOOL:
        return "bool";
    case CCM_KS_STRINGS:
        return "[]string";
    case CCM_KS_MAP:
        return "map[string]string";
    case CCM_KS_OBJECT:
        return f->sub->type_name;
    case CCM_KS_LIST:
        return "[]v1.Object";
    case CCM_KS_STRING:
    case CCM_KS_TIME:
    case CCM_KS_MICROTIME:
    case CCM_KS_INT_OR_STRING:
    case CCM_KS_QUANTITY:
    case CCM_KS_QUANTITIES:
    case CCM_KS_ANY:
        break;
    }
    return "string";
}

/* Characters of `text` that fit "2006-01-02T15:04:05" (digits where the layout has digits). */
static size_t match_seconds(const char *text)
{
    static const char *const layout = "dddd-dd-ddTdd:dd:dd";
    size_t i = 0;

    for (; layout[i] != '\0'; i++) {
        const bool fits =
            layout[i] == 'd' ? isdigit((unsigned char)text[i]) != 0 : text[i] == layout[i];

        if (!fits) {
            return i;
        }
    }
    return i;
}

static void bad_micro(struct ccm_ks_decode *decode, const char *text, const char *rest,
                      const char *layout)
{
    decode->error.max = 8192;
    ccm_buf_addf(&decode->error,
                 "parsing time \"%s\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"%s\" "
                 "as \"%s\"",
                 text, rest, layout);
}

static cJSON *micro_to_utc(const char *text, int64_t ms)
{
    char utc[40];
    const time_t seconds = (time_t)(ms / 1000);
    struct tm tm;

    if (gmtime_r(&seconds, &tm) == NULL) {
        return cJSON_CreateString(text);
    }

    const size_t n = strftime(utc, sizeof(utc), "%Y-%m-%dT%H:%M:%S", &tm);

    memcpy(utc + n, text + 19, 7);
    memcpy(utc + n + 7, "Z", 2);
    return cJSON_CreateString(utc);
}

/* MicroTime wants exactly six digits and gives UTC back. */
static cJSON *decode_micro(const char *text, struct ccm_ks_decode *decode)
{
    static const char *const parts[] = { "2006", "-01", "-02", "T15", ":04", ":05" };
    const size_t n = match_seconds(text);
    int64_t ms;

    if (n < 19) {
        const size_t part = n < 4 ? 0 : (n - 4) / 3 + 1;
        const size_t from = part == 0 ? 0 : 4 + (part - 1) * 3;

        bad_micro(decode, text, text + from, parts[part > 5 ? 5 : part]);
        return NULL;
    }

    const size_t digits = text[19] == '.' ? strspn(text + 20, "0123456789") : 0;

    if (digits < 6) {
        bad_micro(decode, text, text + 19, ".000000");
        return NULL;
    }
    if (digits > 6 || ccm_parse_rfc3339(text, &ms) < 0) {
        bad_micro(decode, text, text + 26, "Z07:00");
        return NULL;
    }
    return micro_to_utc(text, ms);
}

static cJSON *decode_time(const struct ccm_ks_field *f, const struct ccm_ks_schema *schema,
                          const cJSON *in, const struct place *place, struct ccm_ks_decode *decode)
{
    int64_t ms;

    if (!cJSON_IsString(in)) {
        note_type(decode, schema, place, in, "string");
        return NULL;
    }
    if (f->type == CCM_KS_MICROTIME) {
        return decode_micro(in->valuestring, decode);
    }
    if (ccm_parse_rfc3339(in->valuestring, &ms) < 0) {
        decode->error.max = 8192;
        ccm_buf_addf(&decode->error,
                     "parsing time \"%s\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"%s\" as "
                     "\"2006\"",
                     in->valuestring, in->valuestring);
        return NULL;
    }
    return ccm_ks_jx_dup(in);
}

static int compare_names(const void *a, const void *b)
{
    const cJSON *const *x = a;
    const cJSON *const *y = b;

    return strcmp((*x)->string, (*y)->string);
}

static cJSON *decode_map(const struct ccm_ks_field *f, const struct ccm_ks_schema *schema,
                         const cJSON *in, const struct place *place, struct ccm_ks_decode *decode)
{
    const size_t n = (size_t)cJSON_GetArraySize(in);
    CCM_CLEANUP(ccm_freep) const cJSON **items = calloc(n + 1, sizeof(*items));
    cJSON *out = cJSON_CreateObject();
    const cJSON *item;
    size_t count = 0;

    if (items == NULL) {
        return out;
    }
    cJSON_ArrayForEach(item, in)
    {
        if (!cJSON_IsString(item) && !(cJSON_IsNumber(item) && f->type == CCM_KS_QUANTITIES) &&
            !cJSON_IsNull(item)) {
            note_type(decode, schema, place, item, "string");
        }
        items[count++] = item;
    }
    qsort(items, count, sizeof(*items), compare_names);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && strcmp(items[i]->string, items[i + 1]->string) == 0) {
            const struct place here = { .up = place, .name = items[i]->string, .index = -1 };

            note_field(decode, "duplicate", &here); /* the last one counts */
            continue;
        }
        (void)cJSON_AddItemToObject(out, items[i]->string,
                                    cJSON_IsNull(items[i]) ? cJSON_CreateString("")
                                                           : ccm_ks_jx_dup(items[i]));
        /* ENOMEM: see jx.h */
    }
    return out;
}

static cJSON *decode_list(const struct ccm_ks_field *f, const struct ccm_ks_schema *schema,
                          const cJSON *in, const struct place *place, struct ccm_ks_decode *decode)
{
    cJSON *out = cJSON_CreateArray();
    const cJSON *item;
    int i = 0;

    cJSON_ArrayForEach(item, in)
    {
        const struct place here = { .up = place->up, .name = place->name, .index = i++ };

        if (f->type == CCM_KS_STRINGS) {
            if (!cJSON_IsString(item)) {
                note_type(decode, schema, place, item, "string");
                continue;
            }
            (void)cJSON_AddItemToArray(out, ccm_ks_jx_dup(item)); /* ENOMEM: see jx.h */
            continue;
        }
        if (!cJSON_IsObject(item) && !cJSON_IsNull(item)) {
            note_type(decode, schema, place, item, f->sub->type_name);
            continue;
        }
        (void)cJSON_AddItemToArray(
            out, decode_object(f->sub, item, &here, decode)); /* ENOMEM: see jx.h */
    }
    return out;
}

static bool type_fits(const struct ccm_ks_field *f, const cJSON *in)
{
    switch (f->type) {
    case CCM_KS_STRING:
        return cJSON_IsString(in);
    case CCM_KS_INT32:
        return ccm_ks_jx_is_int(in, INT32_MIN, INT32_MAX);
    case CCM_KS_INT64:
        return ccm_ks_jx_is_int(in, -9007199254740992, 9007199254740992);
    case CCM_KS_BOOL:
        return cJSON_IsBool(in);
    case CCM_KS_INT_OR_STRING:
        return cJSON_IsString(in) || ccm_ks_jx_is_int(in, INT32_MIN, INT32_MAX);
    case CCM_KS_QUANTITY:
        return cJSON_IsString(in) || cJSON_IsNumber(in);
    case CCM_KS_OBJECT:
    case CCM_KS_MAP:
    case CCM_KS_QUANTITIES:
        return cJSON_IsObject(in);
    case CCM_KS_LIST:
    case CCM_KS_STRINGS:
        return cJSON_IsArray(in);
    case CCM_KS_TIME:
    case CCM_KS_MICROTIME:
    case CCM_KS_ANY:
        break;
    }
    return true;
}

static cJSON *decode_value(const struct ccm_ks_field *f, const struct ccm_ks_schema *schema,
                           const cJSON *in, const struct place *place, struct ccm_ks_decode *decode)
{
    if (!type_fits(f, in)) {
        note_type(decode, schema, place, in, go_type(f));
        return NULL;
    }
    switch (f->type) {
    case CCM_KS_TIME:
    case CCM_KS_MICROTIME:
        return decode_time(f, schema, in, place, decode);
    case CCM_KS_OBJECT:
        return decode_object(f->sub, in, place, decode);
    case CCM_KS_LIST:
    case CCM_KS_STRINGS:
        return decode_list(f, schema, in, place, decode);
    case CCM_KS_MAP:
    case CCM_KS_QUANTITIES:
        return decode_map(f, schema, in, place, decode);
    case CCM_KS_STRING:
    case CCM_KS_INT32:
    case CCM_KS_INT64:
    case CCM_KS_BOOL:
    case CCM_KS_INT_OR_STRING:
    case CCM_KS_QUANTITY:
    case CCM_KS_ANY:
        break;
    }
    return ccm_ks_jx_dup(in);
}

static bool is_zero(const cJSON *json)
{
    if (json == NULL || cJSON_IsNull(json) || cJSON_IsFalse(json)) {
        return true;
    }
    if (cJSON_IsString(json)) {
        return json->valuestring[0] == '\0';
    }
    if (cJSON_IsNumber(json)) {
        return !(json->valuedouble < 0) && !(json->valuedouble > 0);
    }
    return (cJSON_IsArray(json) || cJSON_IsObject(json)) && json->child == NULL;
}

static cJSON *shown_when_absent(const struct ccm_ks_field *f)
{
    switch (f->type) {
    case CCM_KS_STRING:
        return cJSON_CreateString("");
    case CCM_KS_INT32:
    case CCM_KS_INT64:
    case CCM_KS_INT_OR_STRING:
        return cJSON_CreateNumber(0);
    case CCM_KS_OBJECT:
        return ccm_ks_schema_empty(f->sub);
    case CCM_KS_BOOL:
    case CCM_KS_TIME:
    case CCM_KS_MICROTIME:
    case CCM_KS_QUANTITY:
    case CCM_KS_LIST:
    case CCM_KS_STRINGS:
    case CCM_KS_MAP:
    case CCM_KS_QUANTITIES:
    case CCM_KS_ANY:
        break;
    }
    return cJSON_CreateNull();
}

/* Emit the decoded members in the order of the schema. Takes the slots. */
static cJSON *assemble(const struct ccm_ks_schema *schema, cJSON **slots)
{
    cJSON *out = cJSON_CreateObject();

    for (size_t i = 0; schema->fields[i].name != NULL; i++) {
        const struct ccm_ks_field *f = &schema->fields[i];
        cJSON *value = slots[i];

        if (is_zero(value) && (f->flags & CCM_KS_KEEP) == 0) {
            cJSON_Delete(value);
            value = NULL;
        }
        if (value == NULL && (f->flags & CCM_KS_SHOW) != 0) {
            value = shown_when_absent(f);
        }
        if (value != NULL && !cJSON_AddItemToObject(out, f->name, value)) {
            cJSON_Delete(value); /* ENOMEM: see jx.h */
        }
    }
    return out;
}

/* Sorted, as the server writes objects that it has no type for; of two the last one counts. */
static void keep_unknown(const struct ccm_ks_schema *schema, const cJSON *members, cJSON *out)
{
    const size_t n = (size_t)cJSON_GetArraySize(members);
    CCM_CLEANUP(ccm_freep) const cJSON **items = calloc(n + 1, sizeof(*items));
    const cJSON *item;
    size_t count = 0;

    if (items == NULL) {
        return; /* ENOMEM: see jx.h */
    }
    cJSON_ArrayForEach(item, members)
    {
        if (ccm_ks_schema_field(schema, item->string) == NULL) {
            items[count++] = item;
        }
    }
    qsort(items, count, sizeof(*items), compare_names);
    for (size_t i = 0; i < count; i++) {
        ccm_ks_jx_set(out, items[i]->string, ccm_ks_jx_dup(items[i]));
    }
}

static cJSON *decode_object(const struct ccm_ks_schema *schema, const cJSON *in,
                            const struct place *place, struct ccm_ks_decode *decode)
{
    cJSON *slots[CCM_KS_FIELDS_MAX] = { NULL };
    bool seen[CCM_KS_FIELDS_MAX] = { false };
    const cJSON *members = cJSON_IsObject(in) ? in : NULL;
    const cJSON *item;
    cJSON *out;

    cJSON_ArrayForEach(item, members)
    {
        const struct ccm_ks_field *f = ccm_ks_schema_field(schema, item->string);
        const struct place here = { .up = place, .name = item->string, .index = -1 };

        if (f == NULL) {
            if (!schema->open) {
                note_field(decode, "unknown", &here);
            }
            continue;
        }

        const size_t i = (size_t)(f - schema->fields);

        if (i >= CCM_KS_FIELDS_MAX) {
            continue;
        }
        if (seen[i]) { /* the last one counts */
            note_field(decode, "duplicate", &here);
        }
        seen[i] = true;
        cJSON_Delete(slots[i]);
        slots[i] = cJSON_IsNull(item) ? NULL : decode_value(f, schema, item, &here, decode);
    }
    out = assemble(schema, slots);
    if (schema->open) {
        keep_unknown(schema, members, out);
    }
    return out;
}

cJSON *ccm_ks_schema_decode(const struct ccm_ks_schema *schema, const cJSON *in,
                            struct ccm_ks_decode *decode)
{
    cJSON *out = decode_object(schema, in, NULL, decode);

    if (decode->error.len > 0) {
        cJSON_Delete(out);
        return NULL;
    }
    return out;
}

cJSON *ccm_ks_schema_empty(const struct ccm_ks_schema *schema)
{
    cJSON *slots[CCM_KS_FIELDS_MAX] = { NULL };

    return assemble(schema, slots);
}
