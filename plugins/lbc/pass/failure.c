#include "lbc/pass/failure.h"

#include "lbc/instance.h"
#include "lbc/pass.h"
#include "lbc/rules/blame.h"
#include "util/cleanup.h"
#include "util/text.h"

#define TOPIC           "failure"
#define TEXT_MAX        1023 /* bytes of the event; no server takes more */
#define UNSAID_FIRST_MS UINT64_C(2000)
#define UNSAID_TURNS    10 /* so often the wait is doubled: to 34 min */

/* --- how often --- */

void lbc_failure_count(struct lbc_failure_memory *memory, int r, const struct ccm_error *err)
{
    if (r == 0) {
        memory->count = 0;
    } else if (err->kind != CCM_ERROR_CANCELLED && memory->count < UINT32_MAX) {
        memory->count++;
    }
}

/* The next try of what failed may be an hour away; that its condition could not be written is no
 * reason to leave the Service with an older one for so long. */
void lbc_failure_note_unsaid(struct lbc_pass *pass, int w, const struct ccm_error *err)
{
    uint32_t *unsaid = &pass->entry->failure.unsaid;

    if (w == 0 || err->kind == CCM_ERROR_AUTH || err->kind == CCM_ERROR_TERMINAL ||
        err->kind == CCM_ERROR_CANCELLED) {
        *unsaid = 0;
        return;
    }
    pass->entry->failure.unsaid_ms = UNSAID_FIRST_MS << *unsaid;
    *unsaid += *unsaid < UNSAID_TURNS ? 1 : 0;
}

uint64_t lbc_failure_take_unsaid_ms(struct lbc_failure_memory *memory)
{
    const uint64_t ms = memory->unsaid_ms;

    memory->unsaid_ms = 0;
    return ms;
}

/* --- the event --- */

void lbc_pass_end_failure(struct lbc_pass *pass)
{
    lbc_pass_emit_standing(pass, TOPIC, "", "");
    pass->entry->failure.stands = false;
}

void lbc_pass_end_standing(struct lbc_pass *pass)
{
    lbc_pass_emit_standing(pass, CCM_EVENT_ALL_TOPICS, "", "");
    pass->entry->failure.stands = false;
}

/* At most so many bytes, in whole words. */
static void failure_add_cut(struct ccm_buf *text, const char *words, size_t room)
{
    size_t len = ccm_text_utf8_cut(words, room);
    const size_t whole = len;

    while (words[whole] != '\0' && len > 0 && words[len] != ' ') {
        len--;
    }
    ccm_buf_add(text, words, len == 0 ? whole : len);
    ccm_buf_adds(text, words[whole] == '\0' ? "" : " ...");
}

/* The text is cut, not the sentence behind it. */
static void failure_stand(struct lbc_pass *pass, const char *reason, const char *what,
                          const struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = TEXT_MAX };
    char retry[CCM_RETRY_TEXT];
    const struct lbc_problems *problems = &pass->problems;
    const char *id = lbc_pass_lb_id(pass);
    size_t room;

    lbc_pass_format_retry(pass, err, retry);
    ccm_buf_addf(&text, "%s%s%s%s: ", what, id[0] == '\0' ? "" : " [", id,
                 id[0] == '\0' ? "" : "]");
    room = TEXT_MAX - text.len - sizeof(retry) - sizeof(" ... . ");
    failure_add_cut(&text, ccm_buf_str(&problems->text), room);
    ccm_buf_addf(&text, ". %s", retry);

    const struct lbc_life_standing failure = {
        .warning = true,
        .topic = TOPIC,
        .reason = reason,
        .cause = ccm_buf_str(&problems->cause),
        .text = ccm_buf_str(&text),
    };

    pass->entry->failure.stands = true;
    lbc_pass_stand(pass, &failure);
}

void lbc_pass_format_retry(const struct lbc_pass *pass, const struct ccm_error *err,
                           char ret[static CCM_RETRY_TEXT])
{
    const struct ccm_host *host = pass->lbc->host;
    uint64_t most_ms = 0;
    const uint64_t next_ms = host->retry_ms(host, pass->req, 0, err, &most_ms);

    ccm_retry_format(lbc_product_served(pass->lbc->ops->product)->noun, err->kind, next_ms, most_ms,
                     ret);
}

/* Reason and beginning of its event, the same for all controllers; people search for them. */
static const char *failure_reason(const struct lbc_pass *pass)
{
    return pass->releases ? "CleanLoadBalancerFailed" : "SyncLoadBalancerFailed";
}

static const char *failure_what(const struct lbc_pass *pass)
{
    return pass->releases ? "Error deleting load balancer" : "Error syncing load balancer";
}

static int failure_end_as(struct lbc_pass *pass, const char *reason, const char *what,
                          struct ccm_error *err)
{
    lbc_problems_sum(&pass->problems, err);
    if (err->kind != CCM_ERROR_CANCELLED && !lbc_problems_only_wait(&pass->problems)) {
        failure_stand(pass, reason, what, err);
    }
    return -EIO;
}

int lbc_pass_fail_all(struct lbc_pass *pass, struct ccm_error *err)
{
    return failure_end_as(pass, failure_reason(pass), failure_what(pass), err);
}

int lbc_pass_fail_as(struct lbc_pass *pass, const char *reason, const char *what, int r,
                     struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf advice = { .max = TEXT_MAX };

    lbc_blame_write(pass->lbc->ops->model->rules->annotations, &pass->service->meta,
                    lbc_cloud_explain(&pass->lbc->cloud, err).remedy, err->message, &advice);
    lbc_problems_add(&pass->problems, err, advice.len == 0 ? NULL : ccm_buf_str(&advice));
    (void)failure_end_as(pass, reason, what, err); /* r says more */
    return r;
}

int lbc_pass_fail(struct lbc_pass *pass, int r, struct ccm_error *err)
{
    return lbc_pass_fail_as(pass, failure_reason(pass), failure_what(pass), r, err);
}

int lbc_pass_fail_kube(struct lbc_pass *pass, const char *reason, const char *what, int r,
                       struct ccm_error *err)
{
    lbc_problems_add(&pass->problems, err, NULL);
    (void)failure_end_as(pass, reason, what, err); /* r says more */
    return r;
}

void lbc_pass_join_refused(struct lbc_pass *pass)
{
    CCM_CLEANUP(lbc_problems_fini) struct lbc_problems others = pass->problems;

    pass->problems = (struct lbc_problems)LBC_PROBLEMS_INIT;
    lbc_problems_join(&pass->problems, &pass->refused.problems);
    lbc_problems_join(&pass->problems, &others);
}
