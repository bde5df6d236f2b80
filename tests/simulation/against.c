#define _GNU_SOURCE
#include "against.h"

#include "picture.h"

#include "util/buf.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_SIZE (SIM_PATH_MAX + 32)

static const char *const sides[] = { "this build alone", "the other alone " };

/* In a process of its own, so what is allocated need not be given back. */
__attribute__((noreturn)) static void exec_other(const struct sim_options *options, uint64_t seed,
                                                 const char *folder)
{
    const uint64_t order = options->order == 0 ? seed : options->order;
    const char *args[] = {
        ccm_text_format("%s/bin/ccmd-simulate", options->against),
        "--plugin-dir",
        ccm_text_format("%s/plugins", options->against),
        "--history",
        ccm_text_format("%s/history", folder),
        "--report",
        ccm_text_format("%s/theirs", folder),
        "--seed",
        ccm_text_format("%" PRIu64, seed),
        "--order",
        ccm_text_format("%" PRIu64, order + 1),
        "--faults",
        ccm_text_format("%u", options->faults),
        "--seats",
        ccm_text_format("%u", options->seats),
        "--plugins",
        options->plugins,
        options->only_file == NULL ? NULL : "--only",
        options->only_file,
        NULL,
    };

    (void)dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO); /* what it finds is in its report */
    (void)execv(args[0], (char **)args);
    perror(args[0]);
    _exit(2);
}

/* Exit code of the other build: 0, or 1 with a finding, which is in its report. */
static int play_other(const struct sim_options *options, uint64_t seed, const char *folder)
{
    int status = 0;
    pid_t child = 0;

    (void)fflush(NULL);
    child = fork();
    if (child == 0) {
        exec_other(options, seed, folder);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : 2;
}

static void read_report(const char *folder, const char *name, struct ccm_buf *ret)
{
    char path[PATH_SIZE];
    char piece[65536];
    FILE *file = NULL;
    size_t len = 0;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "r");
    while (file != NULL && (len = fread(piece, 1, sizeof(piece), file)) > 0) {
        ccm_buf_add(ret, piece, len);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    (void)unlink(path);
}

/* One step of a report: its title without what ends it, and its lines of one kind. *at: moved on.
 */
static const char *step_take(const char **at, const char *kind, struct ccm_buf *ret)
{
    const char *title = *at;

    ccm_buf_reset(ret);
    *at += strcspn(*at, "\n") + (**at == '\0' ? 0 : 1);
    while (**at != '\0' && !ccm_text_starts(*at, "step ")) {
        const size_t len = strcspn(*at, "\n") + 1;

        if (ccm_text_starts(*at, kind)) {
            ccm_buf_add(ret, *at, len);
        }
        *at += len;
    }
    return title;
}

/* The first step in which lines of that kind differ. */
static void compare_kind(const char *mine, const char *theirs, const char *kind,
                         struct ccm_buf *ret)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf a = { .max = (size_t)64 * 1024 * 1024 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf b = { .max = (size_t)64 * 1024 * 1024 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf differs = { .max = 4000 };

    while (differs.len == 0 && (*mine != '\0' || *theirs != '\0')) {
        const char *title = step_take(&mine, kind, &a);
        const char *other = step_take(&theirs, kind, &b);

        sim_picture_compare(ccm_buf_str(&a), ccm_buf_str(&b), sides, &differs);
        if (differs.len > 0) {
            title = *title == '\0' ? other : title;
            ccm_buf_addf(ret, "%.*s%s\n", (int)strcspn(title, "\n"), title, ccm_buf_str(&differs));
        }
    }
}

/* Which of the calls that run side by side a fault hits is a matter of the schedule, and so are the
 * retries after it: with faults only the end is compared. */
static void compare_reports(const char *folder, bool has_faults, struct ccm_buf *ret)
{
    static const char *const kinds[] = { "finding ", "state ", "event ", "write ", "read " };
    const size_t count = has_faults ? 2 : sizeof(kinds) / sizeof(kinds[0]);
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf mine = { .max = (size_t)1024 * 1024 * 1024 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf theirs = { .max = (size_t)1024 * 1024 * 1024 };

    read_report(folder, "mine", &mine);
    read_report(folder, "theirs", &theirs);
    for (size_t i = 0; i < count; i++) {
        compare_kind(ccm_buf_str(&mine), ccm_buf_str(&theirs), kinds[i], ret);
    }
}

/* Files of the world that shrink.c reads. */
static void move_files(const char *from, const char *to)
{
    static const char *const names[] = { "history", "faults" };
    char paths[2][PATH_SIZE];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(paths[0], PATH_SIZE, "%s/%s", from, names[i]);
        (void)snprintf(paths[1], PATH_SIZE, "%s/%s", to, names[i]);
        (void)rename(paths[0], paths[1]); /* without a history the other build complains */
    }
}

static void append_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "a");

    if (file != NULL) {
        (void)fprintf(file, "\nDIFFERENCE:\n%s", text);
        (void)fclose(file);
    }
}

void sim_against_play(const struct sim_options *options, uint64_t seed, uint32_t lives,
                      const char *folder, struct sim_outcome *ret)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf differs = { 0 };
    struct sim_options mine = *options;
    struct sim_child child = { 0 };
    char report[PATH_SIZE];

    (void)snprintf(report, sizeof(report), "%s/mine", folder);
    mine.against = NULL;
    mine.report = report;
    mine.folder = folder;
    if (!sim_child_start(&child, &mine, "world", seed, lives)) {
        _exit(2);
    }
    (void)sim_child_end(&child, true, ret); /* a finding is in the report */
    move_files(child.folder, folder);
    sim_child_remove(&child);
    if (play_other(options, seed, folder) > 1) {
        ccm_buf_addf(&differs, "finding %s cannot play it\n", options->against);
    } else {
        compare_reports(folder, options->faults > 0, &differs);
    }
    if (differs.len > 0) {
        if (options->story != NULL) {
            append_text(options->story, ccm_buf_str(&differs));
        }
        ret->findings++;
        sim_child_note(folder, ccm_buf_str(&differs));
        (void)printf("DIFFERENCE in world %" PRIu64 ":\n%s", seed, ccm_buf_str(&differs));
        (void)fflush(stdout);
    }
}
