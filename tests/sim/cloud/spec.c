#include "spec.h"

#include "cloud.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

bool ccm_cloud_spec_is_common(const char *name)
{
    static const char *const common[] = {
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

    for (size_t i = 0; i < CCM_ARRAY_LEN(common); i++) {
        if (strcmp(common[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether `name` is what the row describes; *ret_index is the number that stands for N, else 0. */
static bool row_fits(const struct ccm_cloud_param *row, const char *name, uint32_t *ret_index)
{
    const char *mark = strstr(row->name, ".N");

    *ret_index = 0;
    if (mark == NULL || row->items == 0) {
        return strcmp(row->name, name) == 0;
    }

    size_t head = (size_t)(mark - row->name) + 1;
    const char *tail = mark + 2;
    size_t digits = 0;
    char number[12];

    if (strncmp(row->name, name, head) != 0) {
        return false;
    }
    digits = strspn(name + head, "0123456789");
    if (digits == 0 || digits >= sizeof(number) || strcmp(name + head + digits, tail) != 0) {
        return false;
    }
    ccm_text_copy(number, digits + 1, name + head);
    return number[0] != '0' && ccm_parse_u32(number, 1, UINT32_MAX, ret_index) == 0;
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
    char plain[128];
    char own[160] = "Invalid";

    plain_name(name, plain, sizeof(plain));
    ccm_text_copy(own + strlen(own), sizeof(own) - strlen(own), plain);
    return ccm_cloud_fail(call, 400, code == NULL ? own : code,
                          "Specified parameter %s is not valid.", name);
}

static int fail_missing(struct ccm_cloud_call *call, const char *name, const char *code)
{
    char plain[128];
    char own[160] = "Missing";

    plain_name(name, plain, sizeof(plain));
    ccm_text_copy(own + strlen(own), sizeof(own) - strlen(own), plain);
    return ccm_cloud_fail(call, 400, code == NULL ? own : code, "%s is mandatory for this action.",
                          plain);
}

static int fail_too_many(struct ccm_cloud_call *call, const struct ccm_cloud_param *row)
{
    char list[64];
    char own[96] = "SizeLimitExceeded.";

    ccm_text_copy(list, sizeof(list), row->name);
    list[strcspn(list, ".")] = '\0';
    ccm_text_copy(own + strlen(own), sizeof(own) - strlen(own), list);
    return ccm_cloud_fail(call, 400, row->too_many == NULL ? own : row->too_many,
                          "The maximum size of %s is exceeded.", list);
}

static bool enum_has(const char *values, const char *value)
{
    const char *cursor = values;
    const char *start = NULL;
    size_t len = 0;

    while (ccm_parse_piece(&cursor, '|', &start, &len)) {
        if (strlen(value) == len && strncmp(start, value, len) == 0) {
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

static bool value_fits(const struct ccm_cloud_param *row, const char *value)
{
    bool ranged = row->min != 0 || row->max != 0;
    bool yes = false;
    int64_t number = 0;

    switch (row->type) {
    case CCM_CLOUD_INT:
        return ccm_parse_i64(value, ranged ? row->min : INT64_MIN, ranged ? row->max : INT64_MAX,
                             &number) == 0;
    case CCM_CLOUD_BOOL:
        return ccm_parse_bool(value, &yes) == 0;
    case CCM_CLOUD_ENUM:
        return enum_has(row->values, value);
    case CCM_CLOUD_STR:
        break;
    }
    return !ranged || (characters(value) >= row->min && characters(value) <= row->max);
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
        if (param->value[0] != '\0' && !value_fits(row, param->value)) {
            return fail_invalid(call, row->name, row->invalid);
        }
    }

    int r = check_region(call);

    return r < 0 ? r : check_required(call, rows);
}
