#include "spec.h"

#include "cloud.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool ccm_cloud_spec_is_common(const char *name)
{
    static const char *const common[] = {
        /* sorted */
        "AccessKeyId",
        "Action",
        "Format",
        "OwnerAccount",
        "OwnerId",
        "RegionId",
        "ResourceOwnerAccount",
        "ResourceOwnerId",
        "SecurityToken",
        "Signature",
        "SignatureMethod",
        "SignatureNonce",
        "SignatureType",
        "SignatureVersion",
        "Timestamp",
        "Version",
    };

    size_t low = 0;
    size_t high = CCM_ARRAY_LEN(common);

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int r = strcmp(common[middle], name);

        if (r == 0) {
            return true;
        }
        if (r < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}

/* The next ".N" of a pattern that stands for a number, not the start of a name. */
static const char *index_find(const char *pattern)
{
    const char *mark = strstr(pattern, ".N");

    while (mark != NULL && mark[2] != '.' && mark[2] != '\0') {
        mark = strstr(mark + 1, ".N");
    }
    return mark;
}

/* Whether `name` is what the row describes; *ret_index is the number that stands for the last N,
 * else 0. */
static bool row_fits(const struct ccm_cloud_param *row, const char *name, uint32_t *ret_index)
{
    const char *pattern = row->name;
    const char *mark = NULL;

    *ret_index = 0;
    while (row->items > 0 && (mark = index_find(pattern)) != NULL) {
        size_t head = (size_t)(mark - pattern) + 1;
        size_t digits = 0;
        char number[12];

        if (strncmp(pattern, name, head) != 0) {
            return false;
        }
        digits = strspn(name + head, "0123456789");
        if (digits == 0 || digits >= sizeof(number) || name[head] == '0') {
            return false;
        }
        ccm_text_copy(number, digits + 1, name + head);
        if (ccm_parse_u32(number, 1, UINT32_MAX, ret_index) < 0) {
            return false;
        }
        name += head + digits;
        pattern = mark + 2;
    }
    return strcmp(pattern, name) == 0;
}

static const struct ccm_cloud_param *row_find(const struct ccm_cloud_param *rows, const char *name,
                                              uint32_t *ret_index)
{
    for (const struct ccm_cloud_param *row = rows; row != NULL && row->name != NULL; row++) {
        if (row_fits(row, name, ret_index)) {
            return row;
        }
    }
    return NULL;
}

/* "Tag.N.Key" -> "TagKey", as the general error codes spell names. */
static void plain_name(const char *name, char *text, size_t size)
{
    size_t used = 0;

    for (const char *p = name; *p != '\0' && used < size - 1; p++) {
        if (p[0] == '.' && p[1] == 'N' && (p[2] == '.' || p[2] == '\0')) {
            p++;
        } else if (*p != '.') {
            text[used++] = *p;
        }
    }
    text[used] = '\0';
}

static int fail_invalid(struct ccm_cloud_call *call, const char *name, const char *code)
{
    const struct ccm_cloud_manner *manner = call->action->manner;
    char plain[128];
    char own[160] = "Invalid";

    if (manner != NULL) {
        return ccm_cloud_fail_with(call, code == NULL ? manner->invalid : code,
                                   manner->invalid_message, name);
    }
    plain_name(name, plain, sizeof(plain));
    ccm_text_copy(own + strlen(own), sizeof(own) - strlen(own), plain);
    return ccm_cloud_fail(call, 400, code == NULL ? own : code,
                          "Specified parameter %s is not valid.", name);
}

static int fail_missing(struct ccm_cloud_call *call, const char *name, const char *code)
{
    const struct ccm_cloud_manner *manner = call->action->manner;
    char plain[128];
    char own[160] = "Missing";

    if (manner != NULL) {
        ccm_text_copy(plain, sizeof(plain), name);
        if (index_find(plain) != NULL) {
            plain[index_find(plain) - plain] = '\0'; /* the whole list is missing */
        }
        ccm_text_copy(own, sizeof(own), manner->missing);
        ccm_text_copy(own + strlen(own), sizeof(own) - strlen(own), plain);
        return ccm_cloud_fail_with(call, code == NULL ? own : code, manner->missing_message, plain);
    }
    plain_name(name, plain, sizeof(plain));
    ccm_text_copy(own + strlen(own), sizeof(own) - strlen(own), plain);
    return ccm_cloud_fail(call, 400, code == NULL ? own : code, "%s is mandatory for this action.",
                          plain);
}

static int fail_too_many(struct ccm_cloud_call *call, const struct ccm_cloud_param *row)
{
    const struct ccm_cloud_manner *manner = call->action->manner;
    char list[64];
    char own[96] = "SizeLimitExceeded.";

    ccm_text_copy(list, sizeof(list), row->name);
    list[strcspn(list, ".")] = '\0';
    if (manner != NULL) {
        ccm_text_copy(own, sizeof(own), manner->too_many);
        ccm_text_copy(own + strlen(own), sizeof(own) - strlen(own), list);
        return ccm_cloud_fail_with(call, row->too_many == NULL ? own : row->too_many,
                                   manner->too_many_message, list);
    }
    ccm_text_copy(own + strlen(own), sizeof(own) - strlen(own), list);
    return ccm_cloud_fail(call, 400, row->too_many == NULL ? own : row->too_many,
                          "The maximum size of %s is exceeded.", list);
}

static bool enum_has(const char *values, const char *value, bool any_case)
{
    const char *cursor = values;
    const char *start = NULL;
    size_t len = 0;

    while (ccm_parse_piece(&cursor, '|', &start, &len)) {
        if (strlen(value) == len && (strncmp(start, value, len) == 0 ||
                                     (any_case && strncasecmp(start, value, len) == 0))) {
            return true;
        }
    }
    return false;
}

/* Characters of UTF-8 text: every byte that does not continue one. */
static int64_t characters(const char *text)
{
    int64_t n = 0;

    for (const char *p = text; *p != '\0'; p++) {
        n += ((unsigned char)*p & 0xC0) != 0x80;
    }
    return n;
}

static bool value_fits(const struct ccm_cloud_param *row, const char *value, bool any_case)
{
    bool ranged = row->min != 0 || row->max != 0;
    bool yes = false;
    int64_t number = 0;

    if (row->fits != NULL && !row->fits(value)) {
        return false;
    }
    switch (row->type) {
    case CCM_CLOUD_INT:
        return ccm_parse_i64(value, ranged ? row->min : INT64_MIN, ranged ? row->max : INT64_MAX,
                             &number) == 0;
    case CCM_CLOUD_BOOL:
        return ccm_parse_bool(value, &yes) == 0;
    case CCM_CLOUD_ENUM:
        return enum_has(row->values, value, any_case);
    case CCM_CLOUD_STR:
        break;
    }
    return !ranged || (characters(value) >= row->min && characters(value) <= row->max);
}

/* Every item of the list has the member that is required: "Servers.N.ServerId". */
static int check_items(struct ccm_cloud_call *call, const struct ccm_cloud_param *row)
{
    const char *mark = strstr(row->name, ".N.");
    size_t head = mark == NULL ? 0 : (size_t)(mark - row->name) + 1;

    for (size_t i = 0; mark != NULL && row->required && i < call->params->len; i++) {
        const char *name = call->params->items[i].name;
        char member[160];

        if (strncmp(name, row->name, head) != 0) {
            continue;
        }
        (void)snprintf(member, sizeof(member), "%.*s%s", /* one that is cut exists nowhere */
                       (int)(head + strspn(name + head, "0123456789")), name, mark + 2);
        if (ccm_text_empty(ccm_sim_params_get(call->params, member))) {
            return fail_missing(call, mark + 3, row->missing);
        }
    }
    return 0;
}

static int check_required(struct ccm_cloud_call *call, const struct ccm_cloud_param *rows)
{
    for (const struct ccm_cloud_param *row = rows; row != NULL && row->name != NULL; row++) {
        bool found = !row->required;

        for (size_t i = 0; i < call->params->len && !found; i++) {
            uint32_t index = 0;

            found = row_fits(row, call->params->items[i].name, &index) &&
                    !ccm_text_empty(call->params->items[i].value);
        }
        if (call->action->manner != NULL && row->items > 0) {
            int r = check_items(call, row);

            if (r < 0) {
                return r;
            }
        }
        if (!found) {
            return fail_missing(call, row->name, row->missing);
        }
    }
    return 0;
}

static int check_region(struct ccm_cloud_call *call)
{
    const char *region = ccm_sim_params_get(call->params, "RegionId");

    if (ccm_text_empty(region)) {
        return call->action->region ? fail_missing(call, "RegionId", NULL) : 0;
    }
    if (!ccm_text_equal(region, call->cloud->region)) {
        return ccm_cloud_fail(call, 404, "InvalidRegionId.NotFound",
                              "The specified RegionId does not exist.");
    }
    return 0;
}

int ccm_cloud_spec_check(struct ccm_cloud_call *call)
{
    const struct ccm_cloud_param *rows = call->action->params;
    const struct ccm_cloud_manner *manner = call->action->manner;
    bool any_case = manner != NULL && manner->any_case;

    for (size_t i = 0; i < call->params->len; i++) {
        const struct ccm_sim_param *param = &call->params->items[i];
        uint32_t index = 0;

        if (ccm_cloud_spec_is_common(param->name)) {
            continue;
        }

        const struct ccm_cloud_param *row = row_find(rows, param->name, &index);

        if (row == NULL) {
            return fail_invalid(call, param->name, NULL);
        }
        if (index > row->items) {
            return fail_too_many(call, row);
        }
        if (param->value[0] != '\0' && !value_fits(row, param->value, any_case)) {
            return fail_invalid(call, row->name, row->invalid);
        }
    }

    int r = check_region(call);

    return r < 0 ? r : check_required(call, rows);
}
