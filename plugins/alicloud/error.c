#include "alicloud/error.h"

#include "alicloud/error_rows.h"
#include "util/text.h"

/* Answers and failures without a code, and codes nobody listed. */
static const struct ali_error_row no_answer = {
    "", NULL, ALI_CLASS_SERVER, "The cloud's endpoint did not answer.",
    "Check route, DNS, firewall and clock of this machine, alicloud.network and alicloud.endpoints."
};
/* In the words of the host, which no answer has come to. */
static const struct ali_error_row untrusted = {
    "", "the certificate of this host is not trusted", ALI_CLASS_SERVER,
    "The cloud's endpoint did not prove who it is.",
    "Check alicloud.ca_file, CA certificates and clock of this machine, alicloud.endpoints, "
    "proxies."
};
static const struct ali_error_row no_code = {
    "", NULL, ALI_CLASS_SERVER, "The answer is none of the cloud's: something stands in between.",
    "Check proxies and alicloud.endpoints."
};
static const struct ali_error_row no_code_refused = {
    "", NULL, ALI_CLASS_PERMISSION, "The endpoint, or a proxy before it, refuses the call.",
    "Check proxies, alicloud.endpoints and the RAM policy."
};
static const struct ali_error_row too_many = { "", NULL, ALI_CLASS_THROTTLED,
                                               "More calls were made than the cloud allows.",
                                               NULL };
static const struct ali_error_row server_fault = { "*", NULL, ALI_CLASS_SERVER,
                                                   "The service failed.",
                                                   "If it lasts, open a ticket with the "
                                                   "RequestId." };
static const struct ali_error_row forbidden = {
    "*", NULL, ALI_CLASS_PERMISSION, "The account may not do this.",
    "Grant the action to the RAM user or role that ccmd uses."
};
static const struct ali_error_row unknown = { "*", NULL, ALI_CLASS_OTHER,
                                              "The cloud refused the call.",
                                              "ccmd does not know this code: the message says what "
                                              "is refused; if it lasts, look the code up in the "
                                              "cloud's documentation of the call, or open a ticket "
                                              "with the RequestId." };

static bool code_fits(const char *pattern, const char *code)
{
    const size_t len = strlen(pattern);
    const bool front = pattern[0] == '*';
    const bool rest = len > 1 && pattern[len - 1] == '*';

    if (len == 1 && front) {
        return true;
    }
    if (front && rest) {
        char middle[CCM_ERROR_CODE_MAX];

        ccm_text_copy(middle, sizeof(middle), pattern + 1);
        middle[len - 2] = '\0';
        return strstr(code, middle) != NULL;
    }
    if (front) {
        return ccm_text_ends(code, pattern + 1);
    }
    return rest ? strncmp(code, pattern, len - 1) == 0 : strcmp(code, pattern) == 0;
}

static const struct ali_error_row *without_code(const char *message, uint64_t http_status)
{
    if (http_status == 0) {
        return strstr(message, untrusted.text) != NULL ? &untrusted : &no_answer;
    }
    return http_status == 401 || http_status == 403 ? &no_code_refused : &no_code;
}

const struct ali_error_row *ali_error_find(const char *code, const char *message,
                                           uint64_t http_status)
{
    const char *text = message == NULL ? "" : message;

    if (http_status == 429) {
        return &too_many;
    }
    if (ccm_text_empty(code)) {
        return without_code(text, http_status);
    }
    for (size_t i = 0; ali_error_row_at(i) != NULL; i++) {
        const struct ali_error_row *row = ali_error_row_at(i);

        if (code_fits(row->code, code) && (row->text == NULL || strstr(text, row->text) != NULL)) {
            return row;
        }
    }
    if (http_status >= 500) {
        return &server_fault;
    }
    return http_status == 403 ? &forbidden : &unknown;
}

const struct ali_error_row *ali_error_row_at(size_t index)
{
    if (index < ali_error_row_vpc_count) {
        return &ali_error_rows_vpc[index];
    }
    index -= ali_error_row_vpc_count;
    if (index < ali_error_row_nlb_count) {
        return &ali_error_rows_nlb[index];
    }
    index -= ali_error_row_nlb_count;
    return index < ali_error_row_count ? &ali_error_rows[index] : NULL;
}

uint64_t ali_error_kind(enum ali_class class_)
{
    switch (class_) {
    case ALI_CLASS_THROTTLED:
        return CCM_ERROR_THROTTLED;
    case ALI_CLASS_BUSY:
    case ALI_CLASS_STATE:
        return CCM_ERROR_CONFLICT;
    case ALI_CLASS_NOT_FOUND:
        return CCM_ERROR_NOT_FOUND;
    case ALI_CLASS_CREDENTIAL:
    case ALI_CLASS_PERMISSION:
    case ALI_CLASS_QUOTA:
        return CCM_ERROR_AUTH;
    case ALI_CLASS_REQUEST:
        return CCM_ERROR_TERMINAL;
    case ALI_CLASS_SERVER:
    case ALI_CLASS_OTHER:
        break;
    }
    return CCM_ERROR_TRANSIENT;
}

bool ali_error_is_put_off(const struct ccm_error *err)
{
    return err->kind == CCM_ERROR_THROTTLED && err->code[0] == '\0' && err->http_status == 0 &&
           err->retry_after_ms > 0;
}

bool ali_error_is_wait(const struct ccm_error *err)
{
    if (ali_error_is_put_off(err)) {
        return true;
    }
    switch (ali_error_find(err->code, err->message, err->http_status)->class_) {
    case ALI_CLASS_THROTTLED:
    case ALI_CLASS_BUSY:
    case ALI_CLASS_CREDENTIAL:
    case ALI_CLASS_PERMISSION:
    case ALI_CLASS_QUOTA:
        return true;
    default:
        return err->kind == CCM_ERROR_CANCELLED;
    }
}

const char *ali_error_remedy(const struct ccm_error *err)
{
    /* Without an answer and without a broken connection it is not about the cloud. */
    if (err->code[0] == '\0' && err->http_status == 0 && err->kind != CCM_ERROR_TRANSIENT) {
        return NULL;
    }
    return ali_error_find(err->code, err->message, err->http_status)->remedy;
}
