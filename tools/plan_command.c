/*
 * `ccmd plan`: what would change, without changing it. daemon_plan() runs the plugins with a book
 * (daemon/plan_book.h) to write their steps into. Nothing is written for three reasons:
 * daemon/runner.c, may_run(), lets only plugins run that heed host->dry_run() (CCM_PLUGIN_PLANS):
 * they print their steps instead of carrying them out; daemon/host.c refuses patches and puts
 * events into the book (host_patch(), host_event()); alicloud/client.c refuses every call that is
 * no read (ali_call()). The one write is the Event that option --event asks for, by write_event()
 * below.
 */
#include "cli/color.h"
#include "daemon/daemon.h"
#include "daemon/plan_book.h"
#include "daemon/setup.h"
#include "kube/client/client.h"
#include "tools/command.h"
#include "tools/progress.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/jsonw.h"
#include "util/log.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DEFAULT_TIMEOUT_S 300
#define EVENT_TIMEOUT_MS  10000
#define EXIT_CHANGES      3 /* something would change, and nothing failed */
/* What the reference writes at the end of its dry run; tools around it look for this name. */
#define EVENT_PATH "/api/v1/namespaces/kube-system/events"
#define EVENT_NAME "CloudControllerManagerPrecheckResult"

static const struct ccm_log plan_log = { .part = "plan" };

struct report {
    struct daemon_plan_book *book;
    bool event;
    bool json;
    int status; /* what to exit with */
    struct tool_progress progress;
};

static void print_event(struct daemon_plan_book *book, struct ccm_buf *body)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf message = { 0 };
    struct ccm_jsonw w = { .buf = body };
    char now[CCM_CLOCK_TEXT];

    daemon_plan_book_print_json(book, &message);
    ccm_clock_format(ccm_clock_wall_ms(), now, sizeof(now));
    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "apiVersion", "v1");
    ccm_jsonw_str(&w, "kind", "Event");
    ccm_jsonw_open(&w, "metadata", '{');
    ccm_jsonw_str(&w, "name", EVENT_NAME);
    ccm_jsonw_str(&w, "namespace", "kube-system");
    ccm_jsonw_close(&w, '}');
    ccm_jsonw_open(&w, "involvedObject", '{');
    ccm_jsonw_str(&w, "kind", "Pod");
    ccm_jsonw_str(&w, "namespace", "kube-system");
    ccm_jsonw_str(&w, "name", "ccm-precheck-pod");
    ccm_jsonw_close(&w, '}');
    ccm_jsonw_str(&w, "type", "Normal");
    ccm_jsonw_str(&w, "reason", "Success");
    ccm_jsonw_str(&w, "message", ccm_buf_str(&message));
    ccm_jsonw_open(&w, "source", '{');
    ccm_jsonw_str(&w, "component", "ccmd");
    ccm_jsonw_close(&w, '}');
    ccm_jsonw_str(&w, "firstTimestamp", now);
    ccm_jsonw_str(&w, "lastTimestamp", now);
    ccm_jsonw_i64(&w, "count", 1);
    ccm_jsonw_close(&w, '}');
    if (ccm_buf_error(&message) < 0) {
        body->error = ccm_buf_error(&message);
    }
}

/* Create it, or replace what an earlier run has left. */
static int write_event(struct daemon_plan_book *book, struct kube_client *kube,
                       struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { 0 };

    print_event(book, &body);
    if (ccm_buf_error(&body) < 0) {
        return ccm_error_nomem(err);
    }

    struct kube_call call = {
        .method = "POST",
        .path = EVENT_PATH,
        .content_type = "application/json",
        .body = ccm_buf_str(&body),
        .deadline_ms = ccm_clock_now_ms() + EVENT_TIMEOUT_MS,
    };
    const int r = kube_do(kube, &call, NULL, err);

    if (r != -EEXIST) {
        return r;
    }
    call.method = "PATCH";
    call.path = EVENT_PATH "/" EVENT_NAME;
    call.content_type = "application/merge-patch+json";
    return kube_do(kube, &call, NULL, err);
}

static int plan_print_book(const struct report *report, struct daemon_plan_counts *counts)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf json = { 0 };

    if (!report->json) {
        const bool color = cli_color_is_wanted(stdout);
        const struct daemon_plan_paint paint = {
            .object = cli_color_text(color, CLI_COLOR_BOLD),
            .warning = cli_color_text(color, CLI_COLOR_YELLOW),
            .failure = cli_color_text(color, CLI_COLOR_RED),
            .plain = cli_color_text(color, CLI_COLOR_PLAIN),
        };

        daemon_plan_book_print(report->book, &paint, stdout, counts);
        return 0;
    }
    daemon_plan_book_print_objects(report->book, &json, counts);
    (void)printf("%s\n", ccm_buf_str(&json)); /* sticks in the stream, which is looked at */
    return ccm_buf_error(&json);
}

static void plan_show_progress(void *arg, const char *text)
{
    struct report *report = arg;

    tool_progress_show(&report->progress, text);
}

/* While the daemon still stands. */
static int plan_report_book(void *arg, struct kube_client *kube)
{
    struct report *report = arg;
    struct ccm_error err = CCM_ERROR_INIT;
    struct daemon_plan_counts counts;

    tool_progress_end(&report->progress);
    if (plan_print_book(report, &counts) < 0) {
        ccm_log_error(&plan_log, "out of memory");
        return -ENOMEM;
    }
    report->status = counts.failed > 0 ? 1 : counts.changing > 0 ? EXIT_CHANGES : 0;
    if (fflush(stdout) != 0) {
        ccm_log_error(&plan_log, "the plan cannot be written");
        return -EIO;
    }

    const int r = report->event ? write_event(report->book, kube, &err) : 0;

    if (r < 0) {
        ccm_log_error(&plan_log, "event " EVENT_NAME ": %s", err.message);
    }
    return r;
}

/* Which API server a person means, as kubectl would, though what the configuration says comes
 * before the environment. kubeconfig NULL: the configuration, or the pod. */
static struct kube_place plan_find_place(const struct cli_command_args *args,
                                         const struct config_tree *config, char **ret_home)
{
    const char *configured = config_string(config, NULL, "kubernetes", "kubeconfig");
    const char *variable = getenv("KUBECONFIG");
    const char *home = getenv("HOME");
    struct kube_place place = { .kubeconfig = args->kubeconfig, .context = args->context };

    if (place.kubeconfig != NULL) {
        return place;
    }
    if (configured[0] != '\0') {
        place.kubeconfig = configured;
    } else if (!ccm_text_empty(variable)) {
        place.kubeconfig = variable;
        place.is_list = true;
    } else if (ccm_text_empty(getenv("KUBERNETES_SERVICE_HOST")) && !ccm_text_empty(home)) {
        *ret_home = ccm_text_format("%s/.kube/config", home);
        place.kubeconfig = *ret_home != NULL && access(*ret_home, F_OK) == 0 ? *ret_home : NULL;
    }
    return place;
}

static int plan_run_daemon(const struct cli_command_args *args, struct daemon_setup *setup)
{
    CCM_CLEANUP(daemon_plan_book_freep) struct daemon_plan_book *book = daemon_plan_book_new();
    const int64_t timeout_s = args->timeout_s == 0 ? DEFAULT_TIMEOUT_S : args->timeout_s;
    CCM_CLEANUP(ccm_freep) char *home = NULL;
    const struct kube_place place = plan_find_place(args, setup->config, &home);
    struct report report = {
        .book = book,
        .event = args->event,
        .json = args->output == CLI_OUTPUT_JSON,
    };

    if (book == NULL) {
        ccm_log_error(&plan_log, "out of memory");
        return -ENOMEM;
    }

    const struct daemon_plan_setup plan = {
        .book = book,
        .place = place.kubeconfig == NULL ? NULL : &place,
        .deadline_ms = ccm_clock_now_ms() + timeout_s * 1000,
        .report = plan_report_book,
        .progress = plan_show_progress,
        .arg = &report,
    };

    tool_progress_begin(&report.progress);

    const int r = daemon_plan(setup->config, setup->registry, &plan);

    tool_progress_end(&report.progress);
    if (r == -ETIMEDOUT) {
        book = NULL; /* a plugin hangs in a call, and may still add to it */
    }
    return r < 0 ? r : report.status;
}

int tool_command_plan(const struct cli_command_args *args)
{
    CCM_CLEANUP(daemon_setup_fini) struct daemon_setup setup = { 0 };
    int r = daemon_setup_load(args->config, &setup);

    if (r < 0) {
        return r;
    }
    r = plan_run_daemon(args, &setup);
    if (r == -ETIMEDOUT) {
        setup = (struct daemon_setup){ 0 }; /* as in `ccmd run`: what hangs may use it */
    }
    return r;
}
