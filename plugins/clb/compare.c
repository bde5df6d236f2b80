#include "compare.h"

#include "annotation_text.h"
#include "util/text.h"

#include <string.h>

static bool is_on(const struct clb_listener *want, const char *field)
{
    return ccm_text_equal(lbc_attrs_get(&want->lbc.attrs, clb_field_find(field)), "on");
}

bool clb_attr_differs(const struct clb_listener *want, const struct lbc_attr *attr,
                      const struct clb_listener *have)
{
    const char *name = attr->field->name;
    const char *value = lbc_attrs_get(&have->lbc.attrs, attr->field);

    if (!attr->explicit || (attr->field->flags & LBC_FIELD_CREATE) != 0) {
        return false;
    }
    if (strcmp(name, "AclId") == 0) {
        return is_on(want, "AclStatus") && !clb_acl_ids_equal(attr->value, value);
    }
    if (strcmp(name, "AclType") == 0) {
        return is_on(want, "AclStatus") && !ccm_text_equal(attr->value, value);
    }
    if (strcmp(name, "ConnectionDrainTimeout") == 0) {
        return is_on(want, "ConnectionDrain") && !ccm_text_equal(attr->value, value);
    }
    if (strcmp(name, "PersistenceTimeout") == 0) {
        return value != NULL && !ccm_text_equal(attr->value, value);
    }
    if (strcmp(name, "ProxyProtocolV2Enabled") == 0) {
        return !ccm_text_equal(attr->value, value == NULL ? "false" : value);
    }
    return !ccm_text_equal(attr->value, value);
}
