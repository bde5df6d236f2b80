/* `ccmd webhook`: the server of admission reviews, from its configuration to its end. */
#include "admin/server.h"
#include "ccm/version.h"
#include "tools/command.h"
#include "tools/plugin_set.h"
#include "tools/review.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/metrics.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#define LARGE_BODY ((size_t)256 * 1024)

static const char group[] = "webhook";
static const struct ccm_log webhook_log = { .part = "webhook" };

struct webhook {
    struct tool_plugin_set set;
    struct tool_review review;
    struct ccm_metrics *metrics;
    struct admin_server *server;
    pthread_mutex_t large; /* one large body at a time is a tree in memory */
};

static void webhook_fini(struct webhook *webhook)
{
    admin_free(webhook->server); /* it uses all the others */
    ccm_metrics_free(webhook->metrics);
    tool_plugin_set_fini(&webhook->set);
}

static bool webhook_is_asked(const struct ccm_plugin *desc)
{
    return desc->lint != NULL;
}

static unsigned webhook_review(void *arg, const char *body, size_t len, struct ccm_buf *answer)
{
    struct webhook *webhook = arg;
    unsigned status = 0;

    if (len <= LARGE_BODY) {
        return tool_review_answer(&webhook->review, body, len, answer);
    }
    ccm_lock(&webhook->large);
    status = tool_review_answer(&webhook->review, body, len, answer);
    ccm_unlock(&webhook->large);
    return status;
}

static void webhook_write_metrics(void *arg, struct ccm_buf *text)
{
    static const char *const labels[] = { "result", NULL };
    static const struct ccm_metric metric = {
        .struct_size = sizeof(metric),
        .type = CCM_METRIC_COUNTER,
        .name = "ccmd_webhook_reviews_total",
        .help = "Requests of API servers that were answered, by what came of them.",
        .labels = labels,
    };
    struct webhook *webhook = arg;

    for (size_t i = 0; i < TOOL_REVIEW_RESULT_COUNT; i++) {
        const char *const values[] = { tool_review_results[i] };

        if (ccm_metrics_set(webhook->metrics, &metric, values,
                            (double)atomic_load(&webhook->review.counts[i])) < 0) {
            ccm_log_warn(&webhook_log, "metrics are not complete: out of memory");
        }
    }
    ccm_metrics_write(webhook->metrics, text);
}

/* 0, or an exit code when it was said why not. */
static int webhook_load_plugins(struct webhook *webhook, const struct cli_command_args *args)
{
    if (tool_plugin_set_load_configured(&webhook->set, args, false) < 0) {
        return 1;
    }
    if (webhook->set.len == 0) {
        (void)fprintf(stderr, "ccmd: none of the plugins checks manifests\n");
        return 1;
    }
    webhook->review.plugins = webhook->set.plugins;
    webhook->review.plugin_count = webhook->set.len;
    webhook->review.watches = webhook->set.watches;
    return 0;
}

static int webhook_listen(struct webhook *webhook)
{
    const struct config_tree *config = webhook->set.setup.config;
    struct ccm_error err = CCM_ERROR_INIT;
    const struct admin_options options = {
        .listen = config_string(config, NULL, group, "listen"),
        .cert_file = config_string(config, NULL, group, "tls_cert_file"),
        .key_file = config_string(config, NULL, group, "tls_key_file"),
        .client_ca_file = config_string(config, NULL, group, "client_ca_file"),
        .token_file = "",
        .control_file = "",
        .metrics = webhook_write_metrics,
        .review = webhook_review,
        .arg = webhook,
    };

    if (options.cert_file[0] == '\0' || options.key_file[0] == '\0') {
        (void)fprintf(stderr, "ccmd: webhook.tls_cert_file and webhook.tls_key_file are required: "
                              "API servers ask over TLS only\n");
        return 1;
    }
    webhook->metrics = ccm_metrics_new();
    if (webhook->metrics == NULL) {
        return -ENOMEM;
    }
    webhook->review.denies = ccm_text_equal(config_string(config, NULL, group, "deny"), "errors");
    if (admin_new(&options, &webhook->server, &err) < 0) {
        (void)fprintf(stderr, "ccmd: %s\n", err.message);
        return 1;
    }
    return 0;
}

/* Before threads start: they inherit that these signals wait. */
static void webhook_block_signals(sigset_t *ret)
{
    (void)sigemptyset(ret); /* cannot fail, nor can the next */
    (void)sigaddset(ret, SIGTERM);
    (void)sigaddset(ret, SIGINT);
    (void)sigprocmask(SIG_BLOCK, ret, NULL); /* a valid set */
}

int tool_command_webhook(const struct cli_command_args *args)
{
    CCM_CLEANUP(webhook_fini)
    struct webhook webhook = { .set = { .has = webhook_is_asked },
                               .large = PTHREAD_MUTEX_INITIALIZER };
    sigset_t signals;
    int number = 0;
    int r = 0;

    webhook_block_signals(&signals);
    r = webhook_load_plugins(&webhook, args);
    if (r == 0) {
        r = webhook_listen(&webhook);
    }
    if (r != 0) {
        return r;
    }
    ccm_log_info(&webhook_log, "ccmd %s answers about Services: %zu plugins, %s", CCM_VERSION,
                 webhook.review.plugin_count,
                 webhook.review.denies ? "errors are refused" : "findings are warnings");
    (void)sigwait(&signals, &number); /* a valid set */
    ccm_log_info(&webhook_log, "ending: signal %d", number);
    return 0;
}
