#define _GNU_SOURCE
#include "run.h"

#include "against.h"
#include "explore.h"
#include "fault.h"
#include "fresh.h"
#include "history.h"
#include "instance.h"
#include "libc.h"
#include "life.h"
#include "look.h"
#include "net.h"
#include "order.h"
#include "report.h"
#include "story.h"
#include "world.h"

#include "cloud.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BEGIN_US   INT64_C(1000000000)
#define LATENCY_US 20000
#define QUIET_US   INT64_C(400000000)  /* without a write: all is at rest; above missing_wait_s */
#define REST_US    INT64_C(9000000000) /* within this time after the last fault */
#define SETTLE_US  INT64_C(60000000)   /* until watches that hang are given up, nearly */
#define FAULTS_US  INT64_C(30000000)   /* a step of a report: so long there are faults */
#define CALM_US    INT64_C(60000000)   /* the same of such a step, in which no watch hangs */
#define STEP_US    INT64_C(60000000)
#define FRESH_US   INT64_C(60000000) /* for a fresh start */
#define POINTS_MAX UINT64_C(200000000)
#define VIRTUAL_US INT64_C(400000000000)
#define TRACE_MAX  ((size_t)256 * 1024 * 1024)
#define SLOTS      4
#define QUOTA_PART 15 /* of the published rates, in some worlds; so these are used up */
#define AUDIT_S    300
#define COPY_CPU_S 60
#define HOUR_S     3600

static uint64_t world_seed;

static void world_fail(const char *text)
{
    const double at_s = (double)(sim_now_us() - BEGIN_US) / 1e6;

    sim_story_add("FINDING: %s", text);
    sim_report_finding(text);
    (void)printf("FINDING in world %" PRIu64 "%s at %.3f s: %s\n", world_seed, sim_explore_where(),
                 at_s, text);
}

/* Writes end, and nothing is left over, within a bound after the last fault. */
static void world_await_rest(int64_t quiet_us)
{
    const int64_t from_us = sim_now_us();
    const bool empty = sim_world_is_empty();
    const char *left = empty ? sim_look_at_rest() : NULL;

    while (left != NULL || sim_now_us() - sim_look_last_write_us() < quiet_us ||
           sim_now_us() - from_us < quiet_us) {
        if (sim_now_us() - from_us > REST_US && left != NULL) {
            sim_fail("after %lld s without a fault: %s", (long long)(REST_US / 1000000), left);
        } else if (sim_now_us() - from_us > REST_US) {
            sim_fail("it does not come to rest: the last write was %.1f s ago",
                     (double)(sim_now_us() - sim_look_last_write_us()) / 1e6);
        }
        sim_sleep_us(10000000);
        left = empty ? sim_look_at_rest() : NULL;
    }
}

/* An instance without a past finds everything as it should be: it writes nothing. */
static void world_check_fresh_start(uint32_t seats)
{
    const uint64_t writes = sim_look_cloud_writes();

    for (uint32_t i = 0; i < seats; i++) {
        sim_seat_crash((int)i, 1000000);
    }
    sim_sleep_us(FRESH_US);
    if (sim_look_cloud_writes() != writes) {
        sim_fail("a fresh start writes %" PRIu64 " times to the cloud",
                 sim_look_cloud_writes() - writes);
    }
}

/*
 * Trouble is over for a while, and everything is as it would be without a past. What failed may
 * wait for up to an hour before it is tried again; a step of the wall clock has it tried at once
 * (see docs/architecture.md, Clocks), so that a rest costs no hour. That failures are retried
 * without it is what the end of each history shows. heals: also the nodes. step: of a report, which
 * two builds are compared by; NULL = there is none.
 */
static void world_rest(bool heals, const char *step)
{
    sim_faults_pause(true);
    sim_net_heal();
    if (heals) {
        sim_world_heal();
        sim_sleep_us(SETTLE_US);
    }
    sim_step_wall(STEP_US);
    world_await_rest(step == NULL ? QUIET_US : CALM_US);
    if (step != NULL) {
        sim_report_step(step);
    } else {
        sim_look_at_status();
        sim_fresh_compare();
    }
    sim_faults_pause(false);
}

/* Verb "rest", and each line when there is a report: what follows it comes so much later. */
static void world_play(const struct sim_history *history, bool in_steps)
{
    int64_t begin_us = sim_now_us();

    for (size_t i = 0; i < history->len; i++) {
        const struct sim_act *act = &history->items[i];
        const int64_t due_us = begin_us + act->at_ms * 1000;
        const bool is_rest = strcmp(act->verb, "rest") == 0;
        char step[256];

        (void)snprintf(step, sizeof(step), "%" PRId64 " %s %s %s", act->at_ms, act->verb, act->name,
                       act->args);
        sim_sleep_us(due_us - sim_now_us());
        if (is_rest) {
            sim_story_add("rest");
        } else {
            sim_world_act(act);
        }
        if (in_steps) {
            sim_sleep_us(FAULTS_US);
        }
        if (in_steps || is_rest) {
            world_rest(is_rest, in_steps ? step : NULL);
            begin_us += sim_now_us() - due_us;
        }
    }
}

/* What an audit repairs is no finding, so most worlds have none while they rest. A report has none
 * at all: they have times of their own, which are not those of a step. */
static int world_audit_s(const struct sim_options *options, uint64_t seed)
{
    if (options->report != NULL) {
        return 0;
    }
    return sim_mix(seed ^ UINT64_C(0xA0D1)) % 3 == 0 ? AUDIT_S : HOUR_S;
}

static void world_make_history(const struct sim_options *options, uint64_t seed, uint32_t lives,
                               struct sim_history *history)
{
    const struct sim_life_options drawing = {
        .seed = seed,
        .lives = lives,
        .slots = SLOTS,
        .clb = strstr(options->plugins, "clb") != NULL,
        .nlb = strstr(options->plugins, "nlb") != NULL,
        .gateway = strstr(options->plugins, "gateway") != NULL,
        .seats = options->seats,
        .console = world_audit_s(options, seed) == AUDIT_S,
        .trouble = options->faults,
    };

    if (options->history == NULL) {
        (void)sim_life_draw(history, &drawing);
    } else if (!sim_history_read(history, options->history)) {
        _exit(2);
    }
    sim_history_sort(history);
}

/* The daemon logs to standard error. */
static void log_to(const char *folder, char *path)
{
    int fd = -1;

    (void)snprintf(path, SIM_PATH_MAX, "%s/log", folder);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    if (fd < 0 || dup2(fd, STDERR_FILENO) < 0) {
        _exit(2);
    }
    (void)close(fd);
}

/* A cloud that is slow in one or two ways, in most worlds with faults. */
static void world_choose_cloud(uint64_t seed, unsigned share)
{
    struct ccm_cloud_limits *limits = &sim_net.cloud->limits;
    const struct {
        uint32_t *value;
        uint32_t ms;
    } slow[] = {
        { &limits->job_ms, 2000 },   { &limits->slb_busy_ms, 1500 }, { &limits->listener_ms, 3000 },
        { &limits->route_ms, 2000 }, { &limits->tag_lag_ms, 5000 },
    };
    uint64_t state = sim_mix(seed ^ UINT64_C(0xC10D));

    for (size_t i = 0; i < sizeof(slow) / sizeof(slow[0]); i++) {
        if (sim_next(&state) % 3 == 0 && share > 0) {
            *slow[i].value = slow[i].ms;
        }
    }
}

static void world_begin(const struct sim_options *options, uint64_t seed, const char *folder)
{
    const struct sim_limits limits = {
        .points = POINTS_MAX,
        .virtual_us = options->report == NULL ? VIRTUAL_US : 10 * VIRTUAL_US,
    };
    const struct sim_world_options world = {
        .folder = folder,
        .plugin_dir = options->plugin_dir,
        .plugins = options->plugins,
        .elections = options->seats > 1 || options->explores,
        .audit_s = world_audit_s(options, seed),
        .quota_percent =
            sim_mix(seed ^ UINT64_C(0x9074)) % 4 == 0 && options->report == NULL ? QUOTA_PART : 100,
    };
    struct sim_fault_rates rates = { { 0 } };

    sim_on_fail = world_fail;
    sim_begin(seed, options->order == 0 ? seed : options->order, &limits);
    sim_libc_begin();
    if (options->trace != NULL) {
        sim_trace_to(options->trace, TRACE_MAX);
    }
    if (options->story != NULL) {
        sim_story_begin(options->story);
    }
    sim_net.latency_us = LATENCY_US;
    sim_on_killed = sim_net_drop;
    sim_world_begin(&world);
    sim_look_begin(world.quota_percent);
    if (options->report != NULL) {
        sim_report_begin(options->report, options->plugin_dir);
    }
    world_choose_cloud(seed, options->report == NULL ? options->faults : 0);
    sim_faults_choose(seed, options->faults, &rates);
    for (int kind = SIM_FAULT_CRASH; options->report != NULL && kind < SIM_FAULT_KINDS; kind++) {
        rates.per_mille[kind] = 0; /* what comes of these is a matter of the schedule */
    }
    sim_faults_only(options->only, options->only_count);
    sim_faults_begin(seed, &rates);
    if (options->explores) {
        sim_explore_begin(options->point);
    }
    sim_instances_begin(sim_world_config(), (int)options->seats);
}

static void write_faults(const char *folder)
{
    char path[SIM_PATH_MAX + 16];
    FILE *file = NULL;

    (void)snprintf(path, sizeof(path), "%s/faults", folder);
    file = fopen(path, "w");
    for (size_t i = 0; file != NULL && i < sim_faults_count(); i++) {
        (void)fprintf(file, "%" PRIu64 "\n", sim_faults_id(i));
    }
    if (file != NULL) {
        (void)fclose(file);
    }
}

static const char *world_folder;

void sim_child_note(const char *folder, const char *text)
{
    char path[SIM_PATH_MAX + 16];
    FILE *file = NULL;

    (void)snprintf(path, sizeof(path), "%s/finding", folder);
    file = fopen(path, "w");
    if (file != NULL) {
        (void)fputs(text, file);
        (void)fclose(file);
    }
}

/* With files for shrink.c. */
static void world_fail_with_files(const char *text)
{
    write_faults(world_folder);
    sim_child_note(world_folder, text);
    world_fail(text);
}

static void world_run(const struct sim_options *options, uint64_t seed, uint32_t lives,
                      const char *folder, struct sim_outcome *ret)
{
    struct sim_history history = { 0 };
    char log[SIM_PATH_MAX];
    char path[SIM_PATH_MAX + 16];

    world_seed = seed;
    world_folder = folder;
    world_make_history(options, seed, lives, &history);
    (void)snprintf(path, sizeof(path), "%s/history", folder);
    (void)sim_history_write(&history, path); /* to look into a finding */
    log_to(folder, log);
    world_begin(options, seed, folder);
    sim_on_fail = world_fail_with_files;
    world_play(&history, options->report != NULL);
    sim_faults_end();
    world_await_rest(QUIET_US);
    world_check_fresh_start(options->seats);
    sim_report_step("another start");
    sim_look_at_log(log);
    if (options->report != NULL) {
        write_faults(folder); /* that a difference may need */
    }
    if (sim_explore_is_child()) {
        _exit(0);
    }
    *ret = (struct sim_outcome){
        .hash = sim_hash(),
        .requests = sim_net.requests,
        .faults = sim_faults_count(),
        .points = sim_explore_points(),
        .instances = (uint64_t)sim_instances_count(),
        .virtual_s = (sim_now_us() - BEGIN_US) / 1000000,
        .lives = lives,
        .findings = sim_explore_findings(),
    };
}

/* --- as a process --- */

bool sim_child_start(struct sim_child *child, const struct sim_options *options, const char *name,
                     uint64_t seed, uint32_t lives)
{
    int ends[2];

    (void)snprintf(child->folder, sizeof(child->folder), "%s/%s", options->folder, name);
    if (mkdir(child->folder, 0700) < 0 || pipe(ends) < 0) {
        perror(child->folder);
        return false;
    }
    (void)fflush(NULL);
    child->pid = fork();
    if (child->pid == 0) {
        struct sim_outcome outcome;

        (void)close(ends[0]);
        if (options->against != NULL) {
            sim_against_play(options, seed, lives, child->folder, &outcome);
        } else {
            world_run(options, seed, lives, child->folder, &outcome);
        }
        _exit(write(ends[1], &outcome, sizeof(outcome)) == (ssize_t)sizeof(outcome) ? 0 : 2);
    }
    (void)close(ends[1]);
    child->fd = ends[0];
    return child->pid > 0;
}

static void folder_remove(const char *folder)
{
    static const char *const names[] = { "log",        "history", "ccmd.conf",
                                         "kubeconfig", "faults",  "finding" };
    char path[SIM_PATH_MAX + 16];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(folder);
}

void sim_child_limit(void)
{
    const struct rlimit limit = { .rlim_cur = COPY_CPU_S, .rlim_max = COPY_CPU_S };

    (void)setrlimit(RLIMIT_CPU, &limit); /* a lower one can always be set */
}

void sim_child_remove(const struct sim_child *child)
{
    folder_remove(child->folder);
}

bool sim_child_end(struct sim_child *child, bool keeps, struct sim_outcome *ret)
{
    int status = 0;
    const bool has_outcome = read(child->fd, ret, sizeof(*ret)) == (ssize_t)sizeof(*ret);
    bool good = false;

    (void)waitpid(child->pid, &status, 0);
    (void)close(child->fd);
    good = has_outcome && status == 0 && ret->findings == 0;
    if (!has_outcome || status != 0) {
        *ret = (struct sim_outcome){ .hash = 1, .findings = 1 };
    }
    if (WIFSIGNALED(status)) {
        (void)printf("a world ended with signal %d: %s\n", WTERMSIG(status), child->folder);
    }
    if (!keeps) {
        folder_remove(child->folder);
    }
    return good;
}
