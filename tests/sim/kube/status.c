#include "status.h"

#include "catalog.h"
#include "jx.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <string.h>

#define MESSAGE_MAX ((size_t)256 * 1024)

cJSON *ccm_ks_status_new(unsigned code, const char *reason, cJSON *details, const char *message)
{
    cJSON *status = cJSON_CreateObject();

    ccm_ks_jx_set_str(status, "kind", "Status");
    ccm_ks_jx_set_str(status, "apiVersion", "v1");
    ccm_ks_jx_set(status, "metadata", cJSON_CreateObject());
    ccm_ks_jx_set_str(status, "status", code < 400 ? "Success" : "Failure");
    if (message[0] != '\0') {
        ccm_ks_jx_set_str(status, "message", message);
    }
    if (reason[0] != '\0') {
        ccm_ks_jx_set_str(status, "reason", reason);
    }
    if (details != NULL) {
        ccm_ks_jx_set(status, "details", details);
    }
    if (code >= 400) {
        ccm_ks_jx_set_int(status, "code", code);
    }
    return status;
}

static void answer(struct ccm_sim_reply *reply, unsigned code, const char *reason, cJSON *details,
                   const char *message)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *status = ccm_ks_status_new(code, reason, details, message);

    ccm_buf_reset(&reply->body);
    reply->status = code;
    reply->content_type = "application/json";
    ccm_text_copy(reply->code, sizeof(reply->code), reason);
    ccm_ks_jx_print(&reply->body, status);
    ccm_buf_addc(&reply->body, '\n');
}

void ccm_ks_status(struct ccm_sim_reply *reply, unsigned code, const char *reason, cJSON *details,
                   const char *format, ...)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf message = { .max = MESSAGE_MAX };
    va_list args;

    va_start(args, format);
    ccm_buf_vaddf(&message, format, args);
    va_end(args);
    answer(reply, code, reason, details, ccm_buf_str(&message));
}

cJSON *ccm_ks_status_details(const char *name, const char *group, const char *kind)
{
    cJSON *details = cJSON_CreateObject();

    if (name != NULL) {
        ccm_ks_jx_set_str(details, "name", name);
    }
    if (group[0] != '\0') {
        ccm_ks_jx_set_str(details, "group", group);
    }
    ccm_ks_jx_set_str(details, "kind", kind);
    return details;
}

static void print_grouped(struct ccm_buf *buf, const char *word, const char *group)
{
    ccm_buf_addf(buf, "%s%s%s", word, group[0] == '\0' ? "" : ".", group);
}

/* Both forms of Events are kept, and spoken of, as those of the core group. */
static const char *group_of(const struct ccm_ks_kind *kind)
{
    return ccm_ks_kind_of(kind->bucket)->group;
}

void ccm_ks_status_plural(struct ccm_buf *buf, const struct ccm_ks_kind *kind)
{
    print_grouped(buf, kind->plural, group_of(kind));
}

void ccm_ks_status_kind(struct ccm_buf *buf, const struct ccm_ks_kind *kind)
{
    print_grouped(buf, kind->kind, group_of(kind));
}

void ccm_ks_status_not_found(struct ccm_sim_reply *reply, const struct ccm_ks_kind *kind,
                             const char *name)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf plural = { .max = 256 };

    ccm_ks_status_plural(&plural, kind);
    ccm_ks_status(reply, 404, "NotFound", ccm_ks_status_details(name, group_of(kind), kind->plural),
                  "%s \"%s\" not found", ccm_buf_str(&plural), name);
}

void ccm_ks_status_no_resource(struct ccm_sim_reply *reply)
{
    ccm_ks_status(reply, 404, "NotFound", cJSON_CreateObject(),
                  "the server could not find the requested resource");
}

void ccm_ks_status_bad_request(struct ccm_sim_reply *reply, const char *format, ...)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf message = { .max = MESSAGE_MAX };
    va_list args;

    va_start(args, format);
    ccm_buf_vaddf(&message, format, args);
    va_end(args);
    answer(reply, 400, "BadRequest", NULL, ccm_buf_str(&message));
}

void ccm_ks_status_conflict(struct ccm_sim_reply *reply, const struct ccm_ks_kind *kind,
                            const char *name, const char *why)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf plural = { .max = 256 };

    ccm_ks_status_plural(&plural, kind);
    ccm_ks_status(reply, 409, "Conflict", ccm_ks_status_details(name, group_of(kind), kind->plural),
                  "Operation cannot be fulfilled on %s \"%s\": %s", ccm_buf_str(&plural), name,
                  why != NULL ? why
                              : "the object has been modified; please apply your changes to the "
                                "latest version and try again");
}

static void add_fault(cJSON *faults, const char *reason, const char *field, const char *message)
{
    cJSON *fault = cJSON_CreateObject();

    ccm_ks_jx_set_str(fault, "reason", reason);
    ccm_ks_jx_set_str(fault, "message", message);
    ccm_ks_jx_set_str(fault, "field", field);
    (void)cJSON_AddItemToArray(faults, fault); /* ENOMEM: see jx.h */
}

static void add_invalid(cJSON *faults, const char *field, const cJSON *value, const char *format,
                        va_list args) CCM_PRINTF(4, 0);

static void add_invalid(cJSON *faults, const char *field, const cJSON *value, const char *format,
                        va_list args)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf message = { .max = MESSAGE_MAX };

    ccm_buf_adds(&message, "Invalid value: ");
    if (value == NULL) {
        ccm_buf_adds(&message, "null");
    } else {
        ccm_ks_jx_print(&message, value);
    }
    ccm_buf_adds(&message, ": ");
    ccm_buf_vaddf(&message, format, args);
    add_fault(faults, "FieldValueInvalid", field, ccm_buf_str(&message));
}

void ccm_ks_fault_invalid(cJSON *faults, const char *field, const cJSON *value, const char *format,
                          ...)
{
    va_list args;

    va_start(args, format);
    add_invalid(faults, field, value, format, args);
    va_end(args);
}

void ccm_ks_fault_invalid_str(cJSON *faults, const char *field, const char *value,
                              const char *format, ...)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = cJSON_CreateString(value);
    va_list args;

    va_start(args, format);
    add_invalid(faults, field, json, format, args);
    va_end(args);
}

void ccm_ks_fault_required(cJSON *faults, const char *field, const char *detail)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf message = { .max = 4096 };

    ccm_buf_addf(&message, "Required value%s%s", detail[0] == '\0' ? "" : ": ", detail);
    add_fault(faults, "FieldValueRequired", field, ccm_buf_str(&message));
}

void ccm_ks_fault_forbidden(cJSON *faults, const char *field, const char *format, ...)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf message = { .max = MESSAGE_MAX };
    va_list args;

    ccm_buf_adds(&message, "Forbidden: ");
    va_start(args, format);
    ccm_buf_vaddf(&message, format, args);
    va_end(args);
    add_fault(faults, "FieldValueForbidden", field, ccm_buf_str(&message));
}

void ccm_ks_fault_duplicate(cJSON *faults, const char *field, const char *value)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf message = { .max = MESSAGE_MAX };

    ccm_buf_addf(&message, "Duplicate value: %s", value);
    add_fault(faults, "FieldValueDuplicate", field, ccm_buf_str(&message));
}

void ccm_ks_fault_too_long(cJSON *faults, const char *field, const char *detail)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf message = { .max = 4096 };

    ccm_buf_addf(&message, "Too long: %s", detail);
    add_fault(faults, "FieldValueTooLong", field, ccm_buf_str(&message));
}

void ccm_ks_fault_unsupported(cJSON *faults, const char *field, const char *value,
                              const char *supported)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf message = { .max = MESSAGE_MAX };

    ccm_buf_adds(&message, "Unsupported value: ");
    ccm_json_quote(&message, value);
    ccm_buf_addf(&message, ": supported values: %s", supported);
    add_fault(faults, "FieldValueNotSupported", field, ccm_buf_str(&message));
}

static bool said_before(const cJSON *fault)
{
    for (const cJSON *f = fault->prev; f != NULL && f->next != NULL; f = f->prev) {
        if (ccm_ks_jx_equal(f, fault)) {
            return true;
        }
    }
    return false;
}

/* "field: message" for one, "[a: b, c: d]" for several; the same fault is said once. */
static void print_faults(struct ccm_buf *buf, const cJSON *faults)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = MESSAGE_MAX };
    const cJSON *fault;
    int count = 0;

    cJSON_ArrayForEach(fault, faults)
    {
        if (!said_before(fault)) {
            ccm_buf_addf(&text, "%s%s: %s", count++ == 0 ? "" : ", ", ccm_json_text(fault, "field"),
                         ccm_json_text(fault, "message"));
        }
    }
    ccm_buf_addf(buf, count > 1 ? "[%s]" : "%s", ccm_buf_str(&text));
}

static void answer_invalid(struct ccm_sim_reply *reply, const char *title, const char *name,
                           cJSON *details, const cJSON *faults)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf message = { .max = MESSAGE_MAX };

    ccm_buf_addf(&message, "%s \"%s\" is invalid: ", title, name);
    print_faults(&message, faults);
    ccm_ks_jx_set(details, "causes", ccm_ks_jx_dup(faults));
    answer(reply, 422, "Invalid", details, ccm_buf_str(&message));
}

void ccm_ks_status_invalid(struct ccm_sim_reply *reply, const struct ccm_ks_kind *kind,
                           const char *name, const cJSON *faults)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf title = { .max = 256 };

    ccm_ks_status_kind(&title, kind);
    answer_invalid(reply, ccm_buf_str(&title), name,
                   ccm_ks_status_details(name[0] == '\0' ? NULL : name, group_of(kind), kind->kind),
                   faults);
}

void ccm_ks_status_invalid_plural(struct ccm_sim_reply *reply, const struct ccm_ks_kind *kind,
                                  const char *name, const cJSON *faults)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf title = { .max = 256 };

    ccm_ks_status_plural(&title, kind);
    answer_invalid(reply, ccm_buf_str(&title), name,
                   ccm_ks_status_details(name, group_of(kind), kind->plural), faults);
}

void ccm_ks_status_invalid_options(struct ccm_sim_reply *reply, const char *options,
                                   const cJSON *faults)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf title = { .max = 256 };

    ccm_buf_addf(&title, "%s.meta.k8s.io", options);
    answer_invalid(reply, ccm_buf_str(&title), "",
                   ccm_ks_status_details(NULL, "meta.k8s.io", options), faults);
}
