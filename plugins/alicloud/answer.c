/* What an answer of the cloud means: success, or an error and the class for the retry. */
#include "alicloud/ali.h"

#include "alicloud/params.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <inttypes.h>

/* A clock this far off is worth a word even where the cloud does not complain about time. */
#define SKEW_TOLD_MS   120000
#define MAX_HINT_MS    60000
#define SECRET_MIN     16 /* bytes of a token, at least */
#define STRING_TO_SIGN "server string to sign"

static const char *header_value(const struct ccm_http_response *response, const char *name)
{
    const size_t len = strlen(name);

    for (size_t i = 0; response->headers != NULL && response->headers[i] != NULL; i++) {
        const char *line = response->headers[i];

        if (strncmp(line, name, len) == 0 && line[len] == ':') {
            return line + len + 1 + strspn(line + len + 1, " \t");
        }
    }
    return NULL;
}

int ali_parse_date(const char *text, int64_t *ret_ms)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char iso[32];
    size_t month = 0;

    if (strlen(text) != 29 || text[3] != ',' || strcmp(text + 25, " GMT") != 0) {
        return -EINVAL;
    }
    while (month < 12 && strncmp(months + 3 * month, text + 8, 3) != 0) {
        month++;
    }
    if (month == 12) {
        return -EINVAL;
    }
    ccm_text_printf(iso, sizeof(iso), "%.4s-%02zu-%.2sT%.8sZ", text + 12, month + 1, text + 5,
                    text + 17);
    return ccm_parse_rfc3339(iso, ret_ms) < 0 ? -EINVAL : 0;
}

/* "...TimeLeft:1500..." in ms, 0 when absent. */
static int64_t time_left(const char *value)
{
    const char *found = value == NULL ? NULL : strstr(value, "TimeLeft:");
    char digits[12];
    int64_t left = 0;

    if (found == NULL) {
        return 0;
    }
    found += strlen("TimeLeft:");

    const size_t len = strspn(found, "0123456789");

    if (len == 0 || len >= sizeof(digits)) {
        return 0;
    }
    memcpy(digits, found, len);
    digits[len] = '\0';
    return ccm_parse_i64(digits, 0, MAX_HINT_MS, &left) < 0 ? MAX_HINT_MS : left;
}

/* When to come back, as the headers say. */
static int64_t retry_hint(const struct ccm_http_response *response)
{
    const char *after = header_value(response, "x-acs-retry-after");
    const int64_t api = time_left(header_value(response, "x-ratelimit-user-api"));
    const int64_t user = time_left(header_value(response, "x-ratelimit-user"));
    int64_t seconds = 0;

    if (after == NULL) {
        after = header_value(response, "retry-after");
    }
    if (after != NULL && ccm_parse_i64(after, 0, INT64_MAX, &seconds) == 0) {
        const int64_t most = MAX_HINT_MS / 1000;

        return (seconds > most ? most : seconds) * 1000;
    }
    return api > user ? api : user;
}

/* Text of a member under its name or, as some gateways write it, with a small first letter. */
static const char *answer_get_text(const cJSON *json, const char *name, const char *small)
{
    const char *text = ccm_json_str(json, name);

    return text != NULL ? text : ccm_json_text(json, small);
}

/* Copy for people and logs: one line, no control characters; `code` allows no blanks either. */
static void clean_copy(char *to, size_t size, const char *from, bool code)
{
    ccm_text_copy(to, size, from);
    for (char *p = to; *p != '\0'; p++) {
        const unsigned char c = (unsigned char)*p;

        if (c < ' ' || c == 127) {
            *p = ' ';
        }
        if (code && (c <= ' ' || c > '~')) {
            *p = '?';
        }
    }
}

/* What the cloud signed, as it tells in refusals: not for people, it may hold the token. */
static void cut_string_to_sign(char *message)
{
    char *found = strstr(message, STRING_TO_SIGN);

    if (found != NULL) {
        while (found > message && strchr(" .,;:", found[-1]) != NULL) {
            found--;
        }
        *found = '\0';
    }
}

static bool repeats_value(const char *message, const struct ali_params *params)
{
    for (size_t i = 0; params != NULL && i < params->len; i++) {
        const char *value = params->items[i].value;

        if (strlen(value) >= SECRET_MIN && strstr(message, value) != NULL) {
            return true;
        }
    }
    return false;
}

/* Whether a line of a private key that the call carried stands in the message. */
static bool repeats_private_key(const char *message, const struct ali_params *params)
{
    for (size_t i = 0; params != NULL && i < params->len; i++) {
        const char *line = params->items[i].value;

        if (strcmp(params->items[i].name, ALI_PARAM_PRIVATE_KEY) != 0) {
            continue;
        }
        if (strstr(message, "PRIVATE") != NULL) {
            return true;
        }
        while (*line != '\0') {
            const size_t len = strcspn(line, "\r\n");
            char start[SECRET_MIN + 1];
            bool found = false;

            ccm_text_copy(start, sizeof(start), line);
            found = len >= SECRET_MIN && strstr(message, start) != NULL;
            ccm_secret_wipe(start, sizeof(start));
            if (found) {
                return true;
            }
            line += len + strspn(line + len, "\r\n");
        }
    }
    return false;
}

/* Whether the message repeats what a call was made with: key and token that signed it, or, where
 * nothing did, the long values that it carried, one of which is a token. */
static bool repeats_secret(const char *message, const struct ali_call *call,
                           const struct ali_credential *credential)
{
    if (credential != NULL) {
        const char *secret = ccm_secret_text(&credential->secret);
        const char *token = ccm_secret_text(&credential->token);

        return (secret[0] != '\0' && strstr(message, secret) != NULL) ||
               (token[0] != '\0' && strstr(message, token) != NULL);
    }
    return repeats_value(message, call->params) || repeats_value(message, call->query);
}

/* A server that sends our secrets back does not get them into a log. */
static void hide_secrets(char *message, const struct ali_call *call,
                         const struct ali_credential *credential)
{
    if (repeats_secret(message, call, credential) || repeats_private_key(message, call->params)) {
        ccm_text_copy(message, CCM_ERROR_MESSAGE_MAX, "(message withheld: it repeats a secret)");
    }
}

/* Whether the server signed what we signed. It shows the string itself (which in v3 is the hash of
 * the canonical request), or the canonical request. */
static bool signed_the_same(const char *theirs, const char *our_hash)
{
    char hash[CCM_DIGEST_HEX];

    ccm_digest_sha256_hex(theirs, strlen(theirs), hash);
    return strcmp(hash, our_hash) == 0 || strstr(theirs, our_hash) != NULL;
}

/* Which end is wrong when a signature is refused: "" when nothing can be said. */
static const char *signature_note(const char *code, const char *message, const struct ali_try *try_)
{
    const char *theirs = strstr(message, STRING_TO_SIGN);

    if (theirs == NULL || try_->string_hash[0] == '\0' ||
        (strcmp(code, "SignatureDoesNotMatch") != 0 && strcmp(code, "IncompleteSignature") != 0)) {
        return "";
    }
    theirs += strlen(STRING_TO_SIGN);
    theirs += ccm_text_starts(theirs, " is:") ? strlen(" is:") : 0;
    return signed_the_same(theirs, try_->string_hash)
               ? "; both sides signed the same text, so the secret is wrong"
               : "; the two sides signed different texts, so something changed the request";
}

/* As a time with its unit. Seldom another number on the next try: who has told a problem does not
 * tell it again for a date without fractions of a second, or for the time that an answer takes. */
static void rough_time(int64_t off_ms, char *to, size_t size)
{
    if (off_ms < SKEW_TOLD_MS) {
        ccm_text_printf(to, size, "%" PRId64 " s", off_ms / 1000);
    } else {
        ccm_text_printf(to, size, "%" PRId64 " min", (off_ms + 30000) / 60000);
    }
}

/* How far off our clock is, as a sentence; "" when that is of no interest. */
static void skew_note(const struct ccm_http_response *response, const char *code, int64_t wall_ms,
                      char *to, size_t size)
{
    const char *date = header_value(response, "date");
    int64_t theirs = 0;

    to[0] = '\0';
    if (date == NULL || ali_parse_date(date, &theirs) < 0) {
        return;
    }

    const int64_t ahead = wall_ms - theirs;
    const int64_t off = ahead < 0 ? -ahead : ahead;

    if (off >= SKEW_TOLD_MS || (ccm_text_starts(code, "InvalidTimeStamp") && off >= 1000)) {
        char much[32];

        rough_time(off, much, sizeof(much));
        ccm_text_printf(to, size,
                        "; the clock of the machine that ccmd runs on is %s %s the cloud's", much,
                        ahead < 0 ? "behind" : "ahead of");
    }
}

static void answer_describe_failure(const struct ali_try *try_,
                                    const struct ccm_http_response *response, const cJSON *json,
                                    int64_t wall_ms, struct ali_answer *ret, struct ccm_error *err)
{
    const struct ali_call *call = try_->call;
    const char *raw = answer_get_text(json, "Message", "message");
    char code[CCM_ERROR_CODE_MAX];
    char id[CCM_ERROR_CODE_MAX];
    char message[CCM_ERROR_MESSAGE_MAX];
    char note[160] = "";

    clean_copy(code, sizeof(code), answer_get_text(json, "Code", "code"), true);
    clean_copy(id, sizeof(id), answer_get_text(json, "RequestId", "requestId"), true);
    clean_copy(message, sizeof(message), raw, false);
    ret->row = ali_error_find(code, raw, response->status);
    cut_string_to_sign(message);
    hide_secrets(message, call, try_->credential);
    if (ret->row->class_ == ALI_CLASS_CREDENTIAL) {
        skew_note(response, code, wall_ms, note, sizeof(note));
    }
    if (ret->row->class_ == ALI_CLASS_PERMISSION && !ccm_text_empty(ret->row->remedy) &&
        strstr(ret->row->remedy, "Grant the action ") != NULL) {
        ccm_text_printf(note, sizeof(note), " (RAM action %s:%s)",
                        ali_endpoint_product(call->product)->name, call->action);
    }
    if (note[0] == '\0') {
        ccm_text_copy(note, sizeof(note), signature_note(code, raw, try_));
    }
    message[480] = '\0'; /* the request id has to fit behind it */
    if (code[0] == '\0') {
        (void)ccm_error_set(err, 0, CCM_ERROR_TRANSIENT,
                            "%s: HTTP %" PRIu64 " without an error code (%" PRIu64 " bytes)",
                            call->action, response->status, response->body_len); /* not an errno */
    } else {
        (void)ccm_error_set(err, 0, CCM_ERROR_TRANSIENT, "%s: %s: %s%s", call->action, code,
                            message, note);
        ccm_error_add_request_id(err, id);
    }
    err->kind = ali_error_kind(ret->row->class_);
    err->http_status = response->status;
    ccm_text_copy(err->code, sizeof(err->code), code);
    ccm_text_copy(err->request_id, sizeof(err->request_id), id);
}

void ali_answer_read(const struct ali_try *try_, const struct ccm_http_response *response,
                     int64_t wall_ms, struct ali_answer *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    const bool parsed = ccm_json_parse(response->body, response->body_len, &json) == 0;

    *ret = (struct ali_answer){ .hint_ms = retry_hint(response) };
    if (response->status >= 300) {
        answer_describe_failure(try_, response, json, wall_ms, ret, err);
        return;
    }
    if (!parsed || !cJSON_IsObject(json)) {
        ret->row = ali_error_find("", "", response->status);
        (void)ccm_error_set(
            err, 0, CCM_ERROR_TRANSIENT,
            "%s: HTTP %" PRIu64 ", but the answer is no JSON object (%" PRIu64 " bytes)",
            try_->call->action, response->status, response->body_len); /* not an errno */
        err->http_status = response->status;
        return;
    }
    ret->json = CCM_STEAL(json);
}
