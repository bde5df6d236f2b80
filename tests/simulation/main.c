/*
 * ccmd-simulate: the whole controller in a world of its own, driven by a seed.
 * See docs/simulation.md.
 */
#define _GNU_SOURCE
#include "fault.h"
#include "options.h"
#include "order.h"
#include "run.h"
#include "shrink.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LIVES_PER_WORLD 40
#define SEED_STEP       UINT64_C(1000000007)

/* libc.c has taken the place of clock_gettime(). */
static double real_s(void)
{
    struct timespec at = { 0 };

    (void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &at); /* cannot fail */
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static void outcome_add(struct sim_outcome *sum, const struct sim_outcome *one)
{
    sum->hash = sim_mix(sum->hash ^ one->hash);
    sum->requests += one->requests;
    sum->faults += one->faults;
    sum->points += one->points;
    sum->instances += one->instances;
    sum->virtual_s += one->virtual_s;
    sum->lives += one->lives;
    sum->findings += one->findings;
}

static bool start_world(struct sim_child *child, const struct sim_options *options, uint32_t number)
{
    const uint32_t left = options->lives - number * LIVES_PER_WORLD;
    char name[32];

    (void)snprintf(name, sizeof(name), "world-%u", number);
    return sim_child_start(child, options, name, options->seed + number * SEED_STEP,
                           left < LIVES_PER_WORLD ? left : LIVES_PER_WORLD);
}

static void print_sum(const struct sim_options *options, const struct sim_outcome *sum,
                      double took_s)
{
    (void)printf("seed %" PRIu64 ": %" PRIu64 " requests, %" PRIu64 " faults, %" PRIu64
                 " instances, %.1f h of virtual time in %.1f s\n",
                 options->seed, sum->requests, sum->faults, sum->instances,
                 (double)sum->virtual_s / 3600, took_s);
    if (options->explores) {
        (void)printf("points %" PRIu64 "\n", sum->points);
    } else if (options->history == NULL) {
        (void)printf("lives %u, %.0f a second\n", sum->lives, sum->lives / took_s);
    }
    (void)printf("findings %u\nhash %016" PRIx64 "\n", sum->findings, sum->hash);
}

static int run_all(const struct sim_options *options)
{
    const uint32_t worlds =
        options->history != NULL ? 1 : (options->lives + LIVES_PER_WORLD - 1) / LIVES_PER_WORLD;
    struct sim_child *children = calloc(worlds, sizeof(*children));
    struct sim_outcome sum = { .hash = 0 };
    const double began_s = real_s();
    uint32_t started = 0;

    if (children == NULL) {
        return 2;
    }
    for (uint32_t done = 0; done < worlds; done++) {
        struct sim_outcome outcome = { 0 };

        for (; started < worlds && started < done + options->jobs; started++) {
            if (!start_world(&children[started], options, started)) {
                return 2;
            }
        }
        if (!sim_child_end(&children[done], options->keeps, &outcome) && options->history == NULL) {
            (void)printf(
                "again: --seed %" PRIu64 " --lives %d --faults %u --seats %u --plugins %s%s%s\n",
                options->seed + done * SEED_STEP, LIVES_PER_WORLD, options->faults, options->seats,
                options->plugins, options->against == NULL ? "" : " --against ",
                options->against == NULL ? "" : options->against);
        }
        outcome_add(&sum, &outcome);
    }
    print_sum(options, &sum, real_s() - began_s);
    free(children);
    return sum.findings > 0 ? 1 : 0;
}

int main(int argc, char **argv)
{
    static uint64_t only[SIM_FAULTS_MAX];
    char folder[] = P_tmpdir "/ccmd-simulate-XXXXXX";
    struct sim_options options = {
        .seed = 1, .lives = 40, .seats = 1, .jobs = 1, .plugins = "clb,nlb,route,node,gateway"
    };
    int r = 0;

    if (!sim_options_parse(argc, argv, &options)) {
        return 2;
    }
    if (options.only_file != NULL) {
        options.only = only;
        options.only_count = sim_faults_read(options.only_file, only);
    }
    if (options.against != NULL && (options.against = realpath(options.against, NULL)) == NULL) {
        perror("ccmd-simulate: --against");
        return 2;
    }
    if (options.folder == NULL) {
        options.folder = mkdtemp(folder);
    } else if (mkdir(options.folder, 0700) < 0 && errno != EEXIST) {
        options.folder = NULL;
    }
    if (options.folder == NULL) {
        perror("ccmd-simulate: its folder");
        return 2;
    }
    r = options.shrinks ? sim_shrink(&options) : run_all(&options);
    if (!options.keeps) {
        (void)rmdir(options.folder); /* what is in it stays */
    }
    return r;
}
