#include "catalog.h"

#include "jx.h"
#include "schemas.h"
#include "util/array.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A kind with all that it points to. */
struct made {
    struct ccm_ks_kind kind;
    struct ccm_ks_kinds kinds; /* or a catalog, the kind being empty */
    cJSON *definition;
    struct ccm_ks_column *columns;
    struct ccm_ks_selectable *fields;
    const char **short_names;
    const char **categories;
    struct made *next;
};

/* Written by reload() alone. */
static _Atomic(const struct ccm_ks_kinds *) present;
static _Atomic(const struct ccm_ks_kind *) customs[CCM_KS_CUSTOM_MAX];
static struct made *all;

const struct ccm_ks_kinds *ccm_ks_catalog_now(void)
{
    static const struct ccm_ks_kinds none = { 0 };
    const struct ccm_ks_kinds *kinds = atomic_load(&present);

    return kinds == NULL ? &none : kinds;
}

const struct ccm_ks_kind *ccm_ks_kind_find(const char *group, const char *version,
                                           const char *plural)
{
    const struct ccm_ks_kinds *kinds = ccm_ks_catalog_now();

    for (size_t i = 0; i < kinds->len; i++) {
        const struct ccm_ks_kind *kind = kinds->items[i];

        if (strcmp(kind->group, group) == 0 && strcmp(kind->version, version) == 0 &&
            strcmp(kind->plural, plural) == 0) {
            return kind;
        }
    }
    return NULL;
}

const struct ccm_ks_kind *ccm_ks_kind_of(enum ccm_ks_bucket bucket)
{
    if (bucket >= CCM_KS_CUSTOM) {
        return atomic_load(&customs[bucket - CCM_KS_CUSTOM]);
    }
    for (size_t i = 0; i < ccm_ks_kinds_len; i++) {
        if (ccm_ks_kinds[i].bucket == bucket) {
            return &ccm_ks_kinds[i];
        }
    }
    return NULL;
}

void ccm_ks_kind_label(struct ccm_buf *buf, const struct ccm_ks_kind *kind)
{
    ccm_buf_adds(buf, kind->plural);
    if (kind->bucket >= CCM_KS_CUSTOM) {
        ccm_buf_addf(buf, ".%s", kind->group);
    }
}

/* --- one kind --- */

/* NULL: none, or ENOMEM. */
static const char **make_texts(const cJSON *list)
{
    const size_t n = (size_t)cJSON_GetArraySize(list);
    const char **texts = n == 0 ? NULL : calloc(n + 1, sizeof(*texts));
    const cJSON *item;
    size_t i = 0;

    if (texts != NULL) {
        cJSON_ArrayForEach(item, list)
        {
            texts[i++] = cJSON_IsString(item) ? item->valuestring : "";
        }
    }
    return texts;
}

static struct ccm_ks_column *make_columns(const cJSON *list)
{
    const size_t n = (size_t)cJSON_GetArraySize(list);
    struct ccm_ks_column *columns = calloc(n + 3, sizeof(*columns));
    const cJSON *item;
    size_t i = 0;

    if (columns == NULL) {
        return NULL;
    }
    columns[i++] = (struct ccm_ks_column){ "Name", "string", "name", 0, "metadata.name" };
    cJSON_ArrayForEach(item, list)
    {
        const char *path = ccm_json_text(item, "jsonPath");

        columns[i++] = (struct ccm_ks_column){
            .name = ccm_json_text(item, "name"),
            .type = ccm_json_text(item, "type"),
            .format = ccm_json_text(item, "format"),
            .priority = (int)ccm_json_i64(item, "priority", 0),
            .path = path[0] == '.' ? path + 1 : path,
        };
    }
    if (n == 0) {
        columns[i] = (struct ccm_ks_column){ "Age", "date", "", 0, "metadata.creationTimestamp" };
    }
    return columns;
}

static struct ccm_ks_selectable *make_fields(const cJSON *list)
{
    const size_t n = (size_t)cJSON_GetArraySize(list);
    struct ccm_ks_selectable *fields = calloc(n + 3, sizeof(*fields));
    const cJSON *item;
    size_t i = 0;

    if (fields == NULL) {
        return NULL;
    }
    fields[i++] = (struct ccm_ks_selectable){ .label = "metadata.name", .path = "metadata.name" };
    fields[i++] =
        (struct ccm_ks_selectable){ .label = "metadata.namespace", .path = "metadata.namespace" };
    cJSON_ArrayForEach(item, list)
    {
        const char *path = ccm_json_text(item, "jsonPath");

        path += path[0] == '.' ? 1 : 0;
        fields[i++] = (struct ccm_ks_selectable){ .label = path, .path = path };
    }
    return fields;
}

static struct made *make_new(void)
{
    struct made *made = calloc(1, sizeof(*made));

    if (made != NULL) {
        made->next = all;
        all = made;
    }
    return made;
}

/* The kind of one version of a definition; it goes with the catalog. NULL on ENOMEM. */
static const struct ccm_ks_kind *make_kind(const cJSON *definition, int index,
                                           enum ccm_ks_bucket bucket)
{
    struct made *made = make_new();

    if (made == NULL || (made->definition = ccm_ks_jx_dup(definition)) == NULL) {
        return NULL;
    }

    const cJSON *spec = ccm_json_get(made->definition, "spec");
    const cJSON *names = ccm_json_get(spec, "names");
    const cJSON *version = cJSON_GetArrayItem(ccm_json_get(spec, "versions"), index);
    const bool has_status = ccm_json_path(version, "subresources", "status", NULL) != NULL;

    made->columns = make_columns(ccm_json_get(version, "additionalPrinterColumns"));
    made->fields = make_fields(ccm_json_get(version, "selectableFields"));
    made->short_names = make_texts(ccm_json_get(names, "shortNames"));
    made->categories = make_texts(ccm_json_get(names, "categories"));
    if (made->columns == NULL || made->fields == NULL) {
        return NULL;
    }
    made->kind = (struct ccm_ks_kind){
        .group = ccm_json_text(spec, "group"),
        .version = ccm_json_text(version, "name"),
        .kind = ccm_json_text(names, "kind"),
        .plural = ccm_json_text(names, "plural"),
        .singular = ccm_json_text(names, "singular"),
        .short_names = made->short_names,
        .categories = made->categories,
        .namespaced = strcmp(ccm_json_text(spec, "scope"), "Namespaced") == 0,
        .closing = ccm_json_path(made->definition, "metadata", "deletionTimestamp", NULL) != NULL,
        .traits = CCM_KS_HAS_GENERATION | CCM_KS_PUT_NEEDS_VERSION |
                  (has_status ? (unsigned)CCM_KS_HAS_STATUS : 0),
        .bucket = bucket,
        .schema = &ccm_ks_schema_custom,
        .fields = made->fields,
        .columns = made->columns,
    };
    return &made->kind;
}

/* --- all kinds --- */

/* The bucket of a definition: its own since its first day, or the next free one. */
static bool find_bucket(const cJSON *spec, enum ccm_ks_bucket *ret)
{
    const char *group = ccm_json_text(spec, "group");
    const char *plural = ccm_json_text(ccm_json_get(spec, "names"), "plural");

    for (size_t i = 0; i < CCM_KS_CUSTOM_MAX; i++) {
        const struct ccm_ks_kind *kind = atomic_load(&customs[i]);

        if (kind == NULL ||
            (strcmp(kind->group, group) == 0 && strcmp(kind->plural, plural) == 0)) {
            *ret = (enum ccm_ks_bucket)(CCM_KS_CUSTOM + i);
            return true;
        }
    }
    return false;
}

static int append_kind(struct ccm_ks_kinds *kinds, const struct ccm_ks_kind *kind)
{
    const struct ccm_ks_kind **items =
        realloc(kinds->items, (kinds->len + 1) * sizeof(*kinds->items));

    if (items == NULL || kind == NULL) {
        kinds->items = items == NULL ? kinds->items : items;
        return -ENOMEM;
    }
    kinds->items = items;
    kinds->items[kinds->len++] = kind;
    return 0;
}

static int append_definition(struct ccm_ks_kinds *kinds, const cJSON *definition)
{
    const cJSON *spec = ccm_json_get(definition, "spec");
    const cJSON *version;
    enum ccm_ks_bucket bucket;
    int index = 0;

    if (!find_bucket(spec, &bucket)) {
        return 0;
    }
    cJSON_ArrayForEach(version, ccm_json_get(spec, "versions"))
    {
        const struct ccm_ks_kind *kind = make_kind(definition, index++, bucket);

        if (kind == NULL) {
            return -ENOMEM;
        }
        if (cJSON_IsTrue(ccm_json_get(version, "storage"))) {
            atomic_store(&customs[bucket - CCM_KS_CUSTOM], kind);
        }
        if (cJSON_IsTrue(ccm_json_get(version, "served")) && append_kind(kinds, kind) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

/* "v2" before "v1" before "v1beta2" before "v1alpha1" before everything else. */
static int version_rank(const char *version, uint32_t *ret_major, uint32_t *ret_minor)
{
    static const char *const stages[] = { "alpha", "beta", "" };
    char digits[12] = "";
    const size_t n = version[0] == 'v' ? strspn(version + 1, "0123456789") : 0;

    *ret_major = 0;
    *ret_minor = 0;
    if (n == 0 || n >= sizeof(digits)) {
        return -1;
    }
    memcpy(digits, version + 1, n);
    if (ccm_parse_u32(digits, 0, UINT32_MAX, ret_major) < 0) {
        return -1;
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(stages); i++) {
        const char *rest = version + 1 + n;

        if (ccm_text_starts(rest, stages[i])) {
            rest += strlen(stages[i]);
            return *rest == '\0' || ccm_parse_u32(rest, 0, UINT32_MAX, ret_minor) == 0 ? (int)i
                                                                                       : -1;
        }
    }
    return -1;
}

static int compare_versions(const char *a, const char *b)
{
    uint32_t major_a;
    uint32_t major_b;
    uint32_t minor_a;
    uint32_t minor_b;
    const int rank_a = version_rank(a, &major_a, &minor_a);
    const int rank_b = version_rank(b, &major_b, &minor_b);

    if (rank_a != rank_b) {
        return rank_b - rank_a;
    }
    if (rank_a < 0) {
        return strcmp(a, b);
    }
    if (major_a != major_b) {
        return major_a > major_b ? -1 : 1;
    }
    return minor_a == minor_b ? 0 : minor_a > minor_b ? -1 : 1;
}

static int compare_kinds(const void *a, const void *b)
{
    const struct ccm_ks_kind *const *x = a;
    const struct ccm_ks_kind *const *y = b;
    int order = strcmp((*x)->group, (*y)->group);

    if (order == 0) {
        order = compare_versions((*x)->version, (*y)->version);
    }
    return order == 0 ? strcmp((*x)->plural, (*y)->plural) : order;
}

int ccm_ks_catalog_reload(const struct ccm_ks_store *store)
{
    CCM_CLEANUP(ccm_ks_objects_fini) struct ccm_ks_objects definitions = { 0 };
    struct made *made = make_new();
    int r = made == NULL ? -ENOMEM : ccm_ks_store_list(store, CCM_KS_CRDS, "", &definitions);

    for (size_t i = 0; r == 0 && i < ccm_ks_kinds_len; i++) {
        r = append_kind(&made->kinds, &ccm_ks_kinds[i]);
    }
    for (size_t i = 0; r == 0 && i < definitions.len; i++) {
        r = append_definition(&made->kinds, definitions.items[i]->json);
    }
    if (r < 0) {
        return r;
    }
    qsort(made->kinds.items + ccm_ks_kinds_len, made->kinds.len - ccm_ks_kinds_len,
          sizeof(*made->kinds.items), compare_kinds);
    atomic_store(&present, &made->kinds);
    return 0;
}

void ccm_ks_catalog_fini(void)
{
    atomic_store(&present, NULL);
    for (size_t i = 0; i < CCM_KS_CUSTOM_MAX; i++) {
        atomic_store(&customs[i], NULL);
    }
    while (all != NULL) {
        struct made *made = all;

        all = made->next;
        cJSON_Delete(made->definition);
        free(made->kinds.items);
        free(made->columns);
        free(made->fields);
        free(made->short_names);
        free(made->categories);
        free(made);
    }
}
