#include "lbc/model/attrs.h"

#include "lbc/model/tags.h"
#include "util/array.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct lbc_attr *attrs_find_field(const struct lbc_attrs *attrs,
                                         const struct lbc_field *field)
{
    for (size_t i = 0; i < attrs->len; i++) {
        if (attrs->items[i].field == field) {
            return &attrs->items[i];
        }
    }
    return NULL;
}

/* `value`, of the heap, moves in. */
static int attrs_put(struct lbc_attrs *attrs, const struct lbc_attr *attr)
{
    struct lbc_attr *present = attrs_find_field(attrs, attr->field);

    if (present == NULL &&
        ccm_array_grow(&attrs->items, &attrs->cap, attrs->len + 1, sizeof(*attrs->items)) < 0) {
        free(attr->value);
        return -ENOMEM;
    }
    if (present == NULL) {
        attrs->items[attrs->len++] = *attr;
    } else {
        free(present->value);
        *present = *attr;
    }
    return 0;
}

int lbc_attrs_set(struct lbc_attrs *attrs, const struct lbc_field *field, const char *value,
                  bool explicit)
{
    const struct lbc_attr attr = { .field = field, .value = strdup(value), .explicit = explicit };

    return attr.value == NULL ? -ENOMEM : attrs_put(attrs, &attr);
}

int lbc_attrs_keep(struct lbc_attrs *attrs, const struct lbc_field *field)
{
    const struct lbc_attr attr = { .field = field, .kept = true };

    return attrs_put(attrs, &attr);
}

bool lbc_attrs_keeps(const struct lbc_attrs *attrs, const struct lbc_field *field)
{
    for (size_t i = 0; i < attrs->len; i++) {
        if (attrs->items[i].field == field) {
            return attrs->items[i].kept;
        }
    }
    return false;
}

void lbc_attrs_remove(struct lbc_attrs *attrs, const struct lbc_field *field)
{
    struct lbc_attr *present = attrs_find_field(attrs, field);

    if (present == NULL) {
        return;
    }
    const size_t at = (size_t)(present - attrs->items);

    free(present->value);
    attrs->len--;
    memmove(present, present + 1, (attrs->len - at) * sizeof(*present));
}

const char *lbc_attrs_get(const struct lbc_attrs *attrs, const struct lbc_field *field)
{
    const struct lbc_attr *present = attrs_find_field(attrs, field);

    return present == NULL ? NULL : present->value;
}

int lbc_attrs_copy(struct lbc_attrs *to, const struct lbc_attrs *from)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < from->len; i++) {
        const struct lbc_attr *attr = &from->items[i];

        r = attr->kept ? lbc_attrs_keep(to, attr->field)
                       : lbc_attrs_set(to, attr->field, attr->value, attr->explicit);
    }
    return r;
}

void lbc_attrs_fini(struct lbc_attrs *attrs)
{
    for (size_t i = 0; i < attrs->len; i++) {
        free(attrs->items[i].value);
    }
    free(attrs->items);
    memset(attrs, 0, sizeof(*attrs));
}

void lbc_attrs_trim(struct lbc_attrs *attrs)
{
    ccm_array_trim(&attrs->items, &attrs->cap, attrs->len, sizeof(*attrs->items));
}

const char *lbc_attr_read(const cJSON *parent, const char *name, char space[static LBC_ATTR_NUMBER])
{
    const cJSON *item = ccm_json_get(parent, name);

    if (cJSON_IsNumber(item)) {
        ccm_text_printf(space, LBC_ATTR_NUMBER, "%lld", (long long)ccm_json_i64(parent, name, 0));
        return space;
    }
    if (cJSON_IsBool(item)) {
        return cJSON_IsTrue(item) ? "true" : "false";
    }
    return ccm_json_text(parent, name);
}

bool lbc_attr_is_unset(const struct lbc_field *field, const char *value)
{
    return value[0] == '\0' || (strcmp(value, "0") == 0 && (field->flags & LBC_FIELD_ZERO) == 0);
}
