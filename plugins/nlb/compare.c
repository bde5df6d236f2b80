#include "compare.h"

#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

/* What the cloud takes when nothing is said. */
struct fallback {
    const char *field;
    const char *value;
    bool reset; /* where a forgotten wish goes back to */
};

static const struct fallback listener_fallbacks[] = {
    { "ProxyProtocolEnabled", "false", true },
    { "Ppv2PrivateLinkEpIdEnabled", "false", true },
    { "Ppv2PrivateLinkEpsIdEnabled", "false", true },
    { "Ppv2VpcIdEnabled", "false", true },
    { "IdleTimeout", "900", true }, /* UDP: 20 */
    { "Cps", "0", true },
    { "AlpnEnabled", "false", true },
    { "CaEnabled", "false", false },
    { "SecurityPolicyId", "tls_cipher_policy_1_0", false },
};

static const struct fallback group_fallbacks[] = {
    { "Scheduler", "Wrr", true },
    { "ConnectionDrainEnabled", "false", true },
    { "PreserveClientIpEnabled", "true", true }, /* TCPSSL, addresses: false */
    { "HealthCheckEnabled", "true", true },
    { "HealthCheckType", "TCP", true },
    { "HealthCheckConnectPort", "0", true }, /* groups for all ports have to have one */
    { "HealthyThreshold", "2", true },
    { "UnhealthyThreshold", "2", true },
    { "HealthCheckConnectTimeout", "5", true },
    { "HealthCheckInterval", "5", true },
    { "HttpCheckMethod", "GET", true },
    { "HealthCheckHttpCode", "http_2xx", true },
};

/* One comparison; `group` or `protocol` decide about fallbacks. */
struct pair {
    const struct lbc_field *fields;
    size_t count;
    const struct lbc_attrs *want;
    const struct lbc_attrs *have;
    enum lbc_protocol protocol;
    const struct nlb_group *group; /* the present one; NULL: a listener is compared */
};

static const struct fallback *find_fallback(const struct fallback *list, size_t count,
                                            const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].field, name) == 0) {
            return &list[i];
        }
    }
    return NULL;
}

static const char *group_value(const struct nlb_group *group, const struct fallback *row)
{
    if (strcmp(row->field, "PreserveClientIpEnabled") == 0 &&
        (group->lbc.protocol == LBC_TCPSSL ||
         (group->type != NULL && ccm_text_equal_case(group->type, "Ip")))) {
        return "false";
    }
    if (group->any_port && strcmp(row->field, "HealthCheckConnectPort") == 0) {
        return NULL;
    }
    return row->value;
}

/* What holds when nothing is said; NULL = not known. reset: only where we go back to it. */
static const char *pair_fallback_of(const struct pair *pair, const struct lbc_field *field,
                                    bool reset)
{
    const struct fallback *row =
        pair->group != NULL
            ? find_fallback(group_fallbacks, CCM_ARRAY_LEN(group_fallbacks), field->name)
            : find_fallback(listener_fallbacks, CCM_ARRAY_LEN(listener_fallbacks), field->name);

    if (row == NULL || (reset && !row->reset)) {
        return NULL;
    }
    if (pair->group != NULL) {
        return group_value(pair->group, row);
    }
    return pair->protocol == LBC_UDP && strcmp(field->name, "IdleTimeout") == 0 ? "20" : row->value;
}

static const struct lbc_attr *attr_of(const struct lbc_attrs *attrs, const struct lbc_field *field)
{
    for (size_t i = 0; i < attrs->len; i++) {
        if (attrs->items[i].field == field) {
            return &attrs->items[i];
        }
    }
    return NULL;
}

static bool list_has(const char *list, const char *text, size_t text_len)
{
    const char *cursor = list;
    const char *piece = NULL;
    size_t len = 0;

    while (ccm_parse_piece(&cursor, ',', &piece, &len)) {
        if (len == text_len && memcmp(piece, text, len) == 0) {
            return true;
        }
    }
    return false;
}

static bool list_within(const char *list, const char *other)
{
    const char *cursor = list;
    const char *piece = NULL;
    size_t len = 0;

    while (ccm_parse_piece(&cursor, ',', &piece, &len)) {
        if (!list_has(other, piece, len)) {
            return false;
        }
    }
    return true;
}

static bool attr_is_same(const struct lbc_field *field, const char *a, const char *b)
{
    if (a == NULL || b == NULL) {
        return a == b;
    }
    if ((field->flags & NLB_FIELD_LIST) != 0) {
        return list_within(a, b) && list_within(b, a);
    }
    return (field->flags & NLB_FIELD_CASE) != 0 ? ccm_text_equal_case(a, b) : strcmp(a, b) == 0;
}

static bool is_on(const struct pair *pair, const char *name)
{
    for (size_t i = 0; i < pair->count; i++) {
        if (strcmp(pair->fields[i].name, name) == 0) {
            return ccm_text_equal(lbc_attrs_get(pair->want, &pair->fields[i]), "true");
        }
    }
    return false;
}

/* Whether a wish means something: some do only beside a switch that is on. */
static bool has_meaning(const struct pair *pair, const struct lbc_attr *wish)
{
    const char *name = wish->field->name;

    if (!nlb_field_applies(wish->field, pair->protocol)) {
        return false;
    }
    if (strcmp(name, "AlpnPolicy") == 0) {
        return is_on(pair, "AlpnEnabled");
    }
    if (strcmp(name, "ConnectionDrainTimeout") == 0) {
        return is_on(pair, "ConnectionDrainEnabled");
    }
    return (wish->field->flags & NLB_FIELD_LIST) == 0 || wish->value[0] != '\0';
}

/* The value that shall hold; NULL = whatever there is. */
static const char *pair_target_of(const struct pair *pair, const struct lbc_field *field)
{
    const struct lbc_attr *wish = attr_of(pair->want, field);
    const struct lbc_attr *present = attr_of(pair->have, field);

    if ((field->flags & LBC_FIELD_CREATE) != 0 || !nlb_field_applies(field, pair->protocol)) {
        return NULL;
    }
    if (wish != NULL && wish->kept) {
        return NULL;
    }
    if (wish != NULL && wish->explicit) {
        return has_meaning(pair, wish) ? wish->value : NULL;
    }
    if (present == NULL || !present->explicit) {
        return NULL;
    }
    return wish != NULL ? wish->value : pair_fallback_of(pair, field, true);
}

static bool pair_is_explicit(const struct pair *pair, const struct lbc_field *field)
{
    const struct lbc_attr *wish = attr_of(pair->want, field);

    return wish != NULL && wish->explicit;
}

/* What the field has in the cloud, as far as one can know. */
static const char *present_of(const struct pair *pair, const struct lbc_field *field)
{
    const char *value = lbc_attrs_get(pair->have, field);

    return value != NULL ? value : pair_fallback_of(pair, field, false);
}

/* What an update says again of the present attributes. */
static int copy_present(const struct pair *pair, bool fresh, struct lbc_attrs *ret)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < pair->have->len; i++) {
        const struct lbc_attr *attr = &pair->have->items[i];

        if (fresh || pair_is_explicit(pair, attr->field)) {
            r = lbc_attrs_set(ret, attr->field, attr->value, attr->explicit);
        }
    }
    return r;
}

static int pair_compare_attrs(const struct pair *pair, bool fresh, struct lbc_attrs *ret,
                              struct ccm_buf *change)
{
    int r = copy_present(pair, fresh, ret);

    for (size_t i = 0; r == 0 && i < pair->count; i++) {
        const struct lbc_field *field = &pair->fields[i];
        const char *target = pair_target_of(pair, field);

        if (target != NULL && !attr_is_same(field, target, present_of(pair, field))) {
            nlb_change_add(change, field->name, lbc_attrs_get(pair->have, field), target);
            r = lbc_attrs_set(ret, field, target, pair_is_explicit(pair, field));
        }
    }
    return r < 0 ? r : ccm_buf_error(change);
}

static struct pair listener_pair(const struct nlb_listener *want, const struct nlb_listener *have)
{
    return (struct pair){ .fields = nlb_listener_fields,
                          .count = nlb_listener_field_count,
                          .want = &want->lbc.attrs,
                          .have = &have->lbc.attrs,
                          .protocol = want->lbc.protocol };
}

static struct pair group_pair(const struct nlb_group *want, const struct nlb_group *have)
{
    return (struct pair){ .fields = nlb_group_fields,
                          .count = nlb_group_field_count,
                          .want = &want->lbc.attrs,
                          .have = &have->lbc.attrs,
                          .protocol = want->lbc.protocol,
                          .group = have };
}

int nlb_compare_listener(const struct nlb_listener *want, const struct nlb_listener *have,
                         bool fresh, struct lbc_attrs *ret, struct ccm_buf *change)
{
    const struct pair pair = listener_pair(want, have);

    return pair_compare_attrs(&pair, fresh, ret, change);
}

int nlb_compare_group(const struct nlb_group *want, const struct nlb_group *have, bool fresh,
                      struct lbc_attrs *ret, struct ccm_buf *change)
{
    const struct pair pair = group_pair(want, have);

    return pair_compare_attrs(&pair, fresh, ret, change);
}

int nlb_compare_new_listener(const struct nlb_listener *want, struct lbc_attrs *ret)
{
    const struct pair pair = listener_pair(want, want);
    int r = 0;

    for (size_t i = 0; r == 0 && i < want->lbc.attrs.len; i++) {
        const struct lbc_attr *wish = &want->lbc.attrs.items[i];

        if (!wish->kept && has_meaning(&pair, wish)) {
            r = lbc_attrs_set(ret, wish->field, wish->value, wish->explicit);
        }
    }
    return r;
}

static void pair_record_explicit(const struct pair *pair, struct lbc_attrs *have)
{
    for (size_t i = 0; i < have->len; i++) {
        struct lbc_attr *attr = &have->items[i];

        if (pair_is_explicit(pair, attr->field)) {
            attr->explicit = true;
        } else if (attr->explicit && !lbc_attrs_keeps(pair->want, attr->field) &&
                   attr_is_same(attr->field, attr->value, pair_target_of(pair, attr->field))) {
            attr->explicit = false; /* it has gone back; what happens to it now is not our doing */
        }
    }
}

void nlb_compare_record_listener(const struct nlb_listener *want, struct nlb_listener *have)
{
    const struct pair pair = listener_pair(want, have);

    pair_record_explicit(&pair, &have->lbc.attrs);
}

void nlb_compare_record_group(const struct nlb_group *want, struct nlb_group *have)
{
    const struct pair pair = group_pair(want, have);

    pair_record_explicit(&pair, &have->lbc.attrs);
}

void nlb_change_add(struct ccm_buf *change, const char *what, const char *from, const char *to)
{
    ccm_buf_addf(change, "%s%s", change->len == 0 ? "" : ", ", what);
    if (!ccm_text_empty(from)) {
        ccm_buf_addf(change, " %s", from);
    }
    ccm_buf_addf(change, " -> %s", ccm_text_empty(to) ? "none" : to);
}
