#include "lbc/model/problem.h"

#include "util/text.h"

#include <stdio.h>
#include <string.h>

void lbc_problems_fini(struct lbc_problems *problems)
{
    ccm_buf_fini(&problems->text);
    ccm_buf_fini(&problems->cause);
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

/* Behind those that are there. */
static void buf_add_problem(struct ccm_buf *to, const char *message, const char *remedy)
{
    ccm_buf_addf(to, "%s%s", to->len > 0 ? "; " : "", message);
    if (remedy != NULL) {
        ccm_buf_addf(to, " (%s)", remedy);
    }
}

void lbc_problems_add(struct lbc_problems *problems, const struct ccm_error *err,
                      const char *remedy)
{
    const bool put_off = lbc_error_is_put_off(err);
    char cause[CCM_ERROR_MESSAGE_MAX];

    if (put_off ? problems->count == 0 : problems_are_less(problems, err->kind)) {
        ccm_error_copy(&problems->worst, err);
    }
    problems->count++;
    if (put_off) {
        problems_add_waits(problems, 1, err->retry_after_ms);
        return;
    }
    ccm_text_copy(cause, sizeof(cause), err->message);
    cause[ccm_error_cause_len(err)] = '\0';
    if (strstr(ccm_buf_str(&problems->cause), cause) == NULL) {
        buf_add_problem(&problems->text, err->message, remedy);
        buf_add_problem(&problems->cause, cause, remedy);
    }
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
    if (strstr(ccm_buf_str(&problems->cause), ccm_buf_str(&from->cause)) != NULL) {
        return; /* all of it was said */
    }
    problems_append_text(&problems->text, &from->text);
    problems_append_text(&problems->cause, &from->cause);
}

void lbc_problems_sum(const struct lbc_problems *problems, struct ccm_error *ret)
{
    ccm_error_copy(ret, &problems->worst);
    if (problems->text.len > 0) {
        ccm_text_copy(ret->message, sizeof(ret->message), ccm_buf_str(&problems->text));
        ret->detail_len = 0; /* the text has them in its middle */
    }
    if (lbc_problems_only_wait(problems)) {
        ret->retry_after_ms = problems->wait_ms;
    }
}
