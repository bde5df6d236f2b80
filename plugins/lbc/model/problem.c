#include "lbc/model/problem.h"

#include "util/text.h"

#include <stdio.h>
#include <string.h>

#define ID_OPEN " (RequestId " /* as messages of the cloud client have it */

void lbc_problems_fini(struct lbc_problems *problems)
{
    ccm_buf_fini(&problems->text);
    ccm_buf_fini(&problems->signature);
}

/* Who decides about the retry: shutdown first, then whatever may soon work, then what needs a
 * person. */
static int problem_rank_kind(uint64_t kind)
{
    switch (kind) {
    case CCM_ERROR_NONE:
        return 0;
    case CCM_ERROR_TERMINAL:
        return 1;
    case CCM_ERROR_AUTH:
        return 2;
    case CCM_ERROR_BUG:
        return 3;
    case CCM_ERROR_CANCELLED:
        return 5;
    default:
        return 4;
    }
}

/* `text` without the request id, which is new on every try. */
static void add_signature(struct ccm_buf *to, const char *text, const char *request_id)
{
    const char *found = request_id[0] == '\0' ? NULL : strstr(text, request_id);

    if (found == NULL) {
        ccm_buf_adds(to, text);
        return;
    }
    const char *rest = found + strlen(request_id);
    size_t before = (size_t)(found - text);

    if (before >= strlen(ID_OPEN) && *rest == ')' &&
        memcmp(found - strlen(ID_OPEN), ID_OPEN, strlen(ID_OPEN)) == 0) {
        before -= strlen(ID_OPEN);
        rest++;
    }
    ccm_buf_add(to, text, before);
    ccm_buf_adds(to, rest);
}

bool lbc_error_is_put_off(const struct ccm_error *err)
{
    return err->kind == CCM_ERROR_THROTTLED && err->code[0] == '\0' && err->http_status == 0 &&
           err->retry_after_ms > 0;
}

bool lbc_problems_only_wait(const struct lbc_problems *problems)
{
    return problems->waits > 0 && problems->waits == problems->count;
}

static void problems_add_waits(struct lbc_problems *problems, size_t count, uint64_t ms)
{
    if (count > 0 && (problems->waits == 0 || ms < problems->wait_ms)) {
        problems->wait_ms = ms;
    }
    problems->waits += count;
}

/* Whether a failure of this kind decides, not those that are there. */
static bool problems_are_less(const struct lbc_problems *problems, uint64_t kind)
{
    return problems->count == problems->waits ||
           problem_rank_kind(kind) > problem_rank_kind(problems->worst.kind);
}

void lbc_problems_add(struct lbc_problems *problems, const struct ccm_error *err,
                      const char *remedy)
{
    const bool put_off = lbc_error_is_put_off(err);
    struct ccm_buf one = { .max = CCM_ERROR_MESSAGE_MAX };

    if (put_off ? problems->count == 0 : problems_are_less(problems, err->kind)) {
        ccm_error_copy(&problems->worst, err);
    }
    problems->count++;
    if (put_off) {
        problems_add_waits(problems, 1, err->retry_after_ms);
        return;
    }
    add_signature(&one, err->message, err->request_id);
    if (strstr(ccm_buf_str(&problems->signature), ccm_buf_str(&one)) == NULL) {
        if (problems->text.len > 0) {
            ccm_buf_adds(&problems->text, "; ");
            ccm_buf_adds(&problems->signature, "; ");
        }
        ccm_buf_adds(&problems->text, err->message);
        ccm_buf_adds(&problems->signature, ccm_buf_str(&one));
        if (remedy != NULL) {
            ccm_buf_addf(&problems->text, " (%s)", remedy);
        }
    }
    ccm_buf_fini(&one);
}

static void problems_append_text(struct ccm_buf *to, const struct ccm_buf *from)
{
    ccm_buf_addf(to, "%s%s", to->len == 0 || from->len == 0 ? "" : "; ", ccm_buf_str(from));
}

void lbc_problems_join(struct lbc_problems *problems, const struct lbc_problems *from)
{
    if (from->count == 0) {
        return;
    }
    if (lbc_problems_only_wait(from) ? problems->count == 0
                                     : problems_are_less(problems, from->worst.kind)) {
        ccm_error_copy(&problems->worst, &from->worst);
    }
    problems->count += from->count;
    problems_add_waits(problems, from->waits, from->wait_ms);
    if (strstr(ccm_buf_str(&problems->signature), ccm_buf_str(&from->signature)) != NULL) {
        return; /* all of it was said */
    }
    problems_append_text(&problems->text, &from->text);
    problems_append_text(&problems->signature, &from->signature);
}

void lbc_problems_sum(const struct lbc_problems *problems, struct ccm_error *ret)
{
    ccm_error_copy(ret, &problems->worst);
    if (problems->text.len > 0) {
        ccm_text_copy(ret->message, sizeof(ret->message), ccm_buf_str(&problems->text));
    }
    if (lbc_problems_only_wait(problems)) {
        ret->retry_after_ms = problems->wait_ms;
    }
}
