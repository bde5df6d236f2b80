/* What takes long without failing: an event that lasts, once it has taken some seconds. */
#include "lbc/pass.h"

#include "util/cleanup.h"
#include "util/text.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define TOPIC    "progress"
#define BEGIN_MS 3000 /* a load balancer is made in less, as a rule */
#define WAIT_MS  5000 /* a turn of a second or two is not worth an event */

void lbc_progress_begin(struct lbc_pass *pass)
{
    static const struct lbc_life_standing begin = {
        .topic = TOPIC,
        .reason = "EnsuringLoadBalancer",
        .text = "Ensuring load balancer: it takes longer than 3 s; an event tells when it is done, "
                "or what failed",
        .after_ms = BEGIN_MS,
    };

    /* As long as it waits for its turn, the event about that stays. */
    if (!pass->lbc->dry && !pass->releases && pass->service->ingress_count == 0 &&
        !lbc_entry_comes_back(pass->entry)) {
        lbc_pass_stand(pass, &begin);
    }
}

void lbc_progress_wait(struct lbc_pass *pass, const struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *text = ccm_text_format("Nothing has failed yet: %s", err->message);
    CCM_CLEANUP(ccm_freep) char *cause = strndup(err->message, ccm_error_cause_len(err));
    const struct lbc_life_standing wait = {
        .topic = TOPIC,
        .reason = "WaitingForQuota",
        .text = text == NULL ? err->message : text,
        .cause = cause,
        .after_ms = WAIT_MS,
    };

    if (!pass->lbc->dry && !pass->audit) {
        lbc_pass_stand(pass, &wait);
    }
}

/* For the status page: what it waits for has no end in its own words there. */
static void progress_note(const struct lbc_instance *lbc, const char *key, uint64_t ms,
                          const char *what)
{
    const struct ccm_host *host = lbc->host;

    if (host->struct_size > offsetof(struct ccm_host, note_waiting) && host->note_waiting != NULL) {
        host->note_waiting(host, key, ms, what);
    }
}

void lbc_progress_rest(const struct lbc_instance *lbc, const char *key, uint64_t ms)
{
    progress_note(lbc, key, ms, "it changes all the time: at most one pass in 3 s");
}

void lbc_progress_publish(const struct lbc_pass *pass, const struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep)
    char *text = err == NULL ? NULL : strndup(err->message, ccm_error_cause_len(err));

    if (pass->lbc->dry || !pass->unfinished || pass->again.ms == 0) {
        progress_note(pass->lbc, pass->service->meta.key, 0, "");
    } else {
        progress_note(pass->lbc, pass->service->meta.key, pass->again.ms,
                      text != NULL              ? text
                      : pass->again.why != NULL ? pass->again.why
                                                : "the cloud still works on it");
    }
}

void lbc_progress_end(struct lbc_pass *pass)
{
    const struct lbc_life_standing over = { .topic = TOPIC, .reason = "", .text = "" };

    lbc_pass_stand(pass, &over);
}

void lbc_progress_forget(const struct lbc_instance *lbc, const char *key)
{
    progress_note(lbc, key, 0, "");
}
