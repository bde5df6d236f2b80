#include "attrs.h"

#include "tags.h"
#include "util/array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ccm_attr *find(const struct ccm_attrs *attrs, const struct ccm_field *field)
{
    for (size_t i = 0; i < attrs->len; i++) {
        if (attrs->items[i].field == field) {
            return &attrs->items[i];
        }
    }
    return NULL;
}

int ccm_attrs_set(struct ccm_attrs *attrs, const struct ccm_field *field, const char *value,
                  bool told)
{
    struct ccm_attr *present = find(attrs, field);
    char *copy = strdup(value);

    if (copy == NULL ||
        (present == NULL &&
         ccm_array_grow(&attrs->items, &attrs->cap, attrs->len + 1, sizeof(*attrs->items)) < 0)) {
        free(copy);
        return -ENOMEM;
    }
    if (present == NULL) {
        attrs->items[attrs->len++] = (struct ccm_attr){ field, copy, told };
    } else {
        free(present->value);
        *present = (struct ccm_attr){ field, copy, told };
    }
    return 0;
}

const char *ccm_attrs_get(const struct ccm_attrs *attrs, const struct ccm_field *field)
{
    const struct ccm_attr *present = find(attrs, field);

    return present == NULL ? NULL : present->value;
}

int ccm_attrs_copy(struct ccm_attrs *to, const struct ccm_attrs *from)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < from->len; i++) {
        const struct ccm_attr *attr = &from->items[i];

        r = ccm_attrs_set(to, attr->field, attr->value, attr->told);
    }
    return r;
}

void ccm_attrs_fini(struct ccm_attrs *attrs)
{
    for (size_t i = 0; i < attrs->len; i++) {
        free(attrs->items[i].value);
    }
    free(attrs->items);
    memset(attrs, 0, sizeof(*attrs));
}

void ccm_attrs_trim(struct ccm_attrs *attrs)
{
    ccm_array_trim(&attrs->items, &attrs->cap, attrs->len, sizeof(*attrs->items));
}

const char *ccm_attr_read(const cJSON *parent, const char *name, char space[static CCM_ATTR_NUMBER])
{
    const cJSON *item = ccm_json_get(parent, name);

    if (cJSON_IsNumber(item)) {
        (void)snprintf(space, CCM_ATTR_NUMBER, "%lld",
                       (long long)ccm_json_i64(parent, name, 0)); /* fits */
        return space;
    }
    if (cJSON_IsBool(item)) {
        return cJSON_IsTrue(item) ? "true" : "false";
    }
    return ccm_json_text(parent, name);
}

bool ccm_attr_is_unset(const struct ccm_field *field, const char *value)
{
    return value[0] == '\0' || (strcmp(value, "0") == 0 && (field->flags & CCM_FIELD_ZERO) == 0);
}
