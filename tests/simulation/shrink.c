#include "shrink.h"

#include "fault.h"
#include "history.h"
#include "run.h"

#include "util/parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUNS_MAX  2000
#define ALIKE_MAX 160 /* bytes of a finding by which it is known again */

/* What may be left out: lines of the history first, then faults. */
struct shrinking {
    const struct sim_options *options;
    struct sim_history history;
    uint64_t faults[SIM_FAULTS_MAX];
    size_t fault_count;
    bool *kept; /* of lines and faults together */
    unsigned runs;
    char finding[ALIKE_MAX];
};

static size_t shrinking_size(const struct shrinking *shrinking)
{
    return shrinking->history.len + shrinking->fault_count;
}

/* The finding without its numbers and names, which a shorter history changes. */
static void read_finding(const char *folder, char ret[static ALIKE_MAX])
{
    char path[SIM_PATH_MAX + 16];
    FILE *file = NULL;
    size_t len = 0;
    int c = 0;

    (void)snprintf(path, sizeof(path), "%s/finding", folder);
    file = fopen(path, "r");
    while (file != NULL && len < ALIKE_MAX - 1 && (c = fgetc(file)) != EOF) {
        const bool is_letter = (c >= 'g' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ' ';

        ret[len] = (char)c;
        len += is_letter ? 1 : 0;
    }
    ret[len] = '\0';
    if (file != NULL) {
        (void)fclose(file);
    }
}

static bool write_faults(const char *path, const uint64_t *ids, size_t count)
{
    FILE *file = fopen(path, "w");
    bool good = file != NULL;

    for (size_t i = 0; good && i < count; i++) {
        good = fprintf(file, "%" PRIu64 "\n", ids[i]) > 0;
    }
    return file != NULL && fclose(file) == 0 && good;
}

/* Play what is kept. True: there is a finding. story: a file for it, or NULL. */
static bool shrinking_play(struct shrinking *shrinking, const char *story)
{
    static uint64_t only[SIM_FAULTS_MAX];
    struct sim_history history = { 0 };
    struct sim_options options = *shrinking->options;
    struct sim_outcome outcome = { 0 };
    struct sim_child child = { 0 };
    char path[SIM_PATH_MAX + 32];
    char only_path[SIM_PATH_MAX + 32];
    char name[32];
    bool good = false;

    for (size_t i = 0; i < shrinking->history.len; i++) {
        const struct sim_act *act = &shrinking->history.items[i];

        if (shrinking->kept[i]) {
            sim_history_add(&history, act->at_ms, "%s %s %s", act->verb, act->name, act->args);
        }
    }
    options.only_count = 0;
    for (size_t i = 0; i < shrinking->fault_count; i++) {
        if (shrinking->kept[shrinking->history.len + i]) {
            only[options.only_count++] = shrinking->faults[i];
        }
    }
    (void)snprintf(path, sizeof(path), "%s/shrunk", options.folder);
    (void)snprintf(name, sizeof(name), "run-%u", ++shrinking->runs);
    (void)snprintf(only_path, sizeof(only_path), "%s/only", options.folder);
    if (!sim_history_write(&history, path) || !write_faults(only_path, only, options.only_count)) {
        perror(path);
        exit(2);
    }
    options.only = only;
    options.only_file = only_path;
    options.history = path;
    options.story = story;
    if (story == NULL && freopen("/dev/null", "w", stdout) == NULL) {
        exit(2); /* the findings on the way are no news */
    }
    if (!sim_child_start(&child, &options, name, options.seed, options.lives)) {
        exit(2);
    }
    good = sim_child_end(&child, true, &outcome);
    if (!good) {
        char finding[ALIKE_MAX];

        read_finding(child.folder, finding);
        good = strcmp(finding, shrinking->finding) != 0; /* another one is none */
    }
    sim_child_remove(&child);
    sim_history_fini(&history);
    return !good;
}

/* Try to leave out parts of that size; true: some were. */
static bool shrinking_leave_out(struct shrinking *shrinking, size_t size)
{
    const size_t all = shrinking_size(shrinking);
    bool any = false;

    for (size_t from = 0; from < all && shrinking->runs < RUNS_MAX; from += size) {
        bool left[SIM_FAULTS_MAX];
        const size_t to = from + size < all ? from + size : all;
        size_t out = 0;

        for (size_t i = from; i < to; i++) {
            left[i - from] = shrinking->kept[i];
            out += shrinking->kept[i] ? 1 : 0;
            shrinking->kept[i] = false;
        }
        if (out > 0 && !shrinking_play(shrinking, NULL)) {
            memcpy(&shrinking->kept[from], left, (to - from) * sizeof(left[0]));
        } else {
            any = any || out > 0;
        }
    }
    return any;
}

static void print_file(int fd, const char *path)
{
    char text[4096];
    FILE *file = fopen(path, "r");
    size_t len = 0;

    while (file != NULL && (len = fread(text, 1, sizeof(text), file)) > 0) {
        (void)!write(fd, text, len); /* it is only shown */
    }
    if (file != NULL) {
        (void)fclose(file);
    }
}

static int shrinking_finish(struct shrinking *shrinking, int out)
{
    const struct sim_options *options = shrinking->options;
    char story[SIM_PATH_MAX + 32];
    size_t lines = 0;
    size_t faults = 0;

    for (size_t i = 0; i < shrinking_size(shrinking); i++) {
        lines += shrinking->kept[i] && i < shrinking->history.len ? 1 : 0;
        faults += shrinking->kept[i] && i >= shrinking->history.len ? 1 : 0;
    }
    (void)snprintf(story, sizeof(story), "%s/story", options->folder);
    (void)shrinking_play(shrinking, story); /* it has a finding */
    (void)dprintf(out, "%zu of %zu lines and %zu of %zu faults are left after %u runs:\n\n", lines,
                  shrinking->history.len, faults, shrinking->fault_count, shrinking->runs);
    print_file(out, story);
    (void)dprintf(out,
                  "\nagain: --seed %" PRIu64 " --faults %u --seats %u --plugins %s --history "
                  "%s/shrunk --only %s/only%s%s\n",
                  options->seed, options->faults, options->seats, options->plugins, options->folder,
                  options->folder, options->against == NULL ? "" : " --against ",
                  options->against == NULL ? "" : options->against);
    return 1;
}

int sim_shrink(const struct sim_options *options)
{
    static struct shrinking shrinking;
    struct sim_child child = { 0 };
    struct sim_outcome outcome = { 0 };
    char path[SIM_PATH_MAX + 16];
    const int out = dup(STDOUT_FILENO);

    shrinking.options = options;
    if (!sim_child_start(&child, options, "first", options->seed, options->lives)) {
        return 2;
    }
    if (sim_child_end(&child, true, &outcome)) {
        (void)printf("seed %" PRIu64 " has no finding\n", options->seed);
        return 0;
    }
    (void)fflush(stdout);
    (void)snprintf(path, sizeof(path), "%s/history", child.folder);
    if (!sim_history_read(&shrinking.history, path)) {
        return 2;
    }
    (void)snprintf(path, sizeof(path), "%s/faults", child.folder);
    shrinking.fault_count = sim_faults_read(path, shrinking.faults);
    read_finding(child.folder, shrinking.finding);
    shrinking.kept = malloc(shrinking_size(&shrinking) * sizeof(*shrinking.kept));
    if (shrinking.kept == NULL) {
        return 2;
    }
    memset(shrinking.kept, 1, shrinking_size(&shrinking) * sizeof(*shrinking.kept));
    for (size_t size = shrinking_size(&shrinking) / 2; size > 0; size = size == 1 ? 0 : size / 2) {
        while (shrinking_leave_out(&shrinking, size) && size == 1) {
        }
    }
    return shrinking_finish(&shrinking, out);
}
