#include "names.h"

#include "jx.h"
#include "status.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

#define ANNOTATIONS_MAX 262144

#define QUALIFIED_TEXT                                                                             \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "    \
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "         \
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

static bool is_lower(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
    return isalnum((unsigned char)c) != 0 && (unsigned char)c < 0x80;
}

static bool is_label(const char *text, size_t len)
{
    if (len == 0 || !is_lower(text[0]) || !is_lower(text[len - 1])) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        if (!is_lower(text[i]) && text[i] != '-') {
            return false;
        }
    }
    return true;
}

const char *ccm_ks_names_label(const char *text)
{
    const size_t n = strlen(text);

    if (n > 63) {
        return "must be no more than 63 characters";
    }
    return is_label(text, n)
               ? NULL
               : "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or "
                 "'-', and must start and end with an alphanumeric character (e.g. 'my-name',  or "
                 "'123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
}

const char *ccm_ks_names_subdomain(const char *text)
{
    const char *piece = text;

    if (strlen(text) > 253) {
        return "must be no more than 253 characters";
    }
    for (;;) {
        const size_t n = strcspn(piece, ".");

        if (!is_label(piece, n)) {
            return "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
                   "characters, '-' or '.', and must start and end with an alphanumeric character "
                   "(e.g. 'example.com', regex used for validation is "
                   "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
        }
        if (piece[n] == '\0') {
            return NULL;
        }
        piece += n + 1;
    }
}

/* Letters, digits and - _ . inside, letters and digits at both ends. */
static bool is_name_part(const char *text)
{
    const size_t n = strlen(text);

    if (n == 0 || !is_alnum(text[0]) || !is_alnum(text[n - 1])) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (!is_alnum(text[i]) && strchr("-_.", text[i]) == NULL) {
            return false;
        }
    }
    return true;
}

static const char *check_prefix(const char *text, size_t len)
{
    char prefix[256];

    if (len == 0) {
        return "prefix part must be non-empty";
    }
    if (len >= sizeof(prefix)) {
        return "prefix part must be no more than 253 characters";
    }
    memcpy(prefix, text, len);
    prefix[len] = '\0';
    return ccm_ks_names_subdomain(prefix) == NULL
               ? NULL
               : "prefix part a lowercase RFC 1123 subdomain must consist of lower case "
                 "alphanumeric "
                 "characters, '-' or '.', and must start and end with an alphanumeric character "
                 "(e.g. 'example.com', regex used for validation is "
                 "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
}

const char *ccm_ks_names_qualified(const char *text)
{
    const char *slash = strchr(text, '/');
    const char *name = slash == NULL ? text : slash + 1;

    if (slash != NULL) {
        const char *bad;

        if (strchr(name, '/') != NULL) {
            return "a valid label key " QUALIFIED_TEXT
                   " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
        }
        bad = check_prefix(text, (size_t)(slash - text));
        if (bad != NULL) {
            return bad;
        }
    }
    if (name[0] == '\0') {
        return "name part must be non-empty";
    }
    if (strlen(name) > 63) {
        return "name part must be no more than 63 characters";
    }
    return is_name_part(name) ? NULL : "name part " QUALIFIED_TEXT;
}

const char *ccm_ks_names_label_value(const char *text)
{
    if (strlen(text) > 63) {
        return "must be no more than 63 bytes";
    }
    return text[0] == '\0' || is_name_part(text)
               ? NULL
               : "a valid label must be an empty string or consist of alphanumeric characters, "
                 "'-', "
                 "'_' or '.', and must start and end with an alphanumeric character (e.g. "
                 "'MyValue',  or 'my_value',  or '12345', regex used for validation is "
                 "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
}

const char *ccm_ks_names_port(const char *text)
{
    const size_t n = strlen(text);
    bool letter = false;

    if (n > 15) {
        return "must be no more than 15 characters";
    }
    for (size_t i = 0; i < n; i++) {
        if (!is_lower(text[i]) && text[i] != '-') {
            return "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)";
        }
        letter = letter || (text[i] >= 'a' && text[i] <= 'z');
    }
    if (!letter) {
        return "must contain at least one letter (a-z)";
    }
    if (strstr(text, "--") != NULL) {
        return "must not contain consecutive hyphens";
    }
    return text[0] == '-' || text[n - 1] == '-' ? "must not begin or end with a hyphen" : NULL;
}

bool ccm_ks_names_is_ip(const char *text)
{
    unsigned char address[16];

    return inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1;
}

const char *ccm_ks_names_cidr(const char *text)
{
    static const char *const bad =
        "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
    unsigned char address[16];
    char ip[64];
    uint32_t bits;
    const size_t n = strcspn(text, "/");

    if (text[n] == '\0' || n >= sizeof(ip)) {
        return bad;
    }
    memcpy(ip, text, n);
    ip[n] = '\0';

    const bool v4 = inet_pton(AF_INET, ip, address) == 1;

    if ((!v4 && inet_pton(AF_INET6, ip, address) != 1) ||
        ccm_parse_u32(text + n + 1, 0, v4 ? 32 : 128, &bits) < 0) {
        return bad;
    }
    for (uint32_t i = bits; i < (v4 ? 32U : 128U); i++) {
        if ((address[i / 8] & (0x80U >> (i % 8))) != 0) {
            return "must not have bits set beyond the prefix length";
        }
    }
    return NULL;
}

static const char *bad_name(const struct ccm_ks_kind *kind, const char *name)
{
    if ((kind->traits & CCM_KS_ANY_NAME) != 0) {
        return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ? "may not be '.' or '..'"
               : strpbrk(name, "/%") != NULL                     ? "may not contain '/' or '%'"
                                                                 : NULL;
    }
    return (kind->traits & CCM_KS_DNS_LABEL_NAME) != 0 ? ccm_ks_names_label(name)
                                                       : ccm_ks_names_subdomain(name);
}

static void check_name(const struct ccm_ks_kind *kind, const cJSON *meta, cJSON *faults)
{
    const char *name = ccm_json_text(meta, "name");
    const char *bad;

    if (name[0] == '\0') {
        ccm_ks_fault_required(faults, "metadata.name", "name or generateName is required");
        return;
    }
    bad = bad_name(kind, name);
    if (bad != NULL) {
        ccm_ks_fault_invalid_str(faults, "metadata.name", name, "%s", bad);
    }
}

static void check_labels(const cJSON *meta, cJSON *faults)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, ccm_json_get(meta, "labels"))
    {
        const char *bad = ccm_ks_names_qualified(item->string);

        if (bad != NULL) {
            ccm_ks_fault_invalid_str(faults, "metadata.labels", item->string, "%s", bad);
        }
        bad = ccm_ks_names_label_value(item->valuestring);
        if (bad != NULL) {
            ccm_ks_fault_invalid_str(faults, "metadata.labels", item->valuestring, "%s", bad);
        }
    }
}

static void check_annotations(const cJSON *meta, cJSON *faults)
{
    const cJSON *item;
    size_t total = 0;

    cJSON_ArrayForEach(item, ccm_json_get(meta, "annotations"))
    {
        const char *bad = ccm_ks_names_qualified(item->string);

        if (bad != NULL) {
            ccm_ks_fault_invalid_str(faults, "metadata.annotations", item->string, "%s", bad);
        }
        total += strlen(item->string) + strlen(item->valuestring);
    }
    if (total > ANNOTATIONS_MAX) {
        ccm_ks_fault_too_long(faults, "metadata.annotations", "may not be more than 262144 bytes");
    }
}

static bool is_standard_finalizer(const char *name)
{
    return strcmp(name, "kubernetes") == 0 || strcmp(name, "orphan") == 0 ||
           strcmp(name, "foregroundDeletion") == 0;
}

/* Those of kinds of the server itself are told apart from each other by a group. */
static void check_finalizers(const struct ccm_ks_kind *kind, const cJSON *meta, cJSON *faults)
{
    const cJSON *item;
    int i = 0;

    cJSON_ArrayForEach(item, ccm_json_get(meta, "finalizers"))
    {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf field = { .max = 64 };
        const char *bad = ccm_ks_names_qualified(item->valuestring);

        ccm_buf_addf(&field, "metadata.finalizers[%d]", i++);
        if (bad != NULL) {
            ccm_ks_fault_invalid_str(faults, "metadata.finalizers", item->valuestring, "%s", bad);
        } else if (kind->bucket < CCM_KS_CUSTOM && strchr(item->valuestring, '/') == NULL &&
                   !is_standard_finalizer(item->valuestring)) {
            ccm_ks_fault_invalid_str(
                faults, ccm_buf_str(&field), item->valuestring,
                "name is neither a standard finalizer name nor is it fully qualified");
        }
    }
}

/* An object that goes cannot be held back by somebody new. */
static void check_new_finalizers(const cJSON *meta, const cJSON *old, cJSON *faults)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf added = { .max = 65536 };
    const cJSON *item;
    int count = 0;

    if (ccm_json_get(old, "deletionTimestamp") == NULL) {
        return;
    }
    cJSON_ArrayForEach(item, ccm_json_get(meta, "finalizers"))
    {
        if (!ccm_ks_jx_has_text(ccm_json_get(old, "finalizers"), item->valuestring)) {
            ccm_buf_adds(&added, count++ == 0 ? "" : ", ");
            ccm_json_quote(&added, item->valuestring);
        }
    }
    if (count > 0) {
        ccm_ks_fault_forbidden(faults, "metadata.finalizers",
                               "no new finalizers can be added if the object is being deleted, "
                               "found new finalizers []string{%s}",
                               ccm_buf_str(&added));
    }
}

void ccm_ks_names_validate_meta(const struct ccm_ks_kind *kind, const cJSON *object,
                                const cJSON *old, cJSON *faults)
{
    const cJSON *meta = ccm_json_get(object, "metadata");

    if (old == NULL) {
        check_name(kind, meta, faults);
    } else {
        check_new_finalizers(meta, ccm_json_get(old, "metadata"), faults);
    }
    check_labels(meta, faults);
    check_annotations(meta, faults);
    check_finalizers(kind, meta, faults);
}
