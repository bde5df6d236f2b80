#include "options.h"

#include "instance.h"

#include "util/parse.h"

#include <getopt.h>
#include <stdio.h>

static const char usage[] =
    "usage: ccmd-simulate --plugin-dir DIR [OPTION ...]\n"
    "  --seed N        what happens (1)\n"
    "  --lives N       Services that are created, changed and deleted (40)\n"
    "  --faults N      percent of the usual share of faults and crashes (0)\n"
    "  --seats N       instances that run at the same time (1)\n"
    "  --order N       seed of the scheduler alone (the seed)\n"
    "  --plugins LIST  (clb,nlb,route,node,gateway)\n"
    "  --jobs N        worlds at the same time (1)\n"
    "  --history FILE  play this history instead of a random one\n"
    "  --only FILE     of the faults only these, as --shrink writes them\n"
    "  --explore       with a history: every crash, stale restart and missed event\n"
    "  --point N       of these only the N-th\n"
    "  --shrink        reduce a run with a finding to the shortest one, and tell its story\n"
    "  --against BUILD the build of that folder plays the same: the first difference\n"
    "  --report FILE   what two builds are compared by, of each line of the history\n"
    "  --trace FILE    all that happens\n"
    "  --story FILE    what people, the cloud and the cluster see of it\n"
    "  --folder DIR    for the files of the worlds; kept with --keep\n";

enum name {
    SEED,
    LIVES,
    FAULTS,
    SEATS,
    ORDER,
    JOBS,
    POINT,
    PLUGINS,
    PLUGIN_DIR,
    HISTORY,
    ONLY,
    TRACE,
    STORY,
    REPORT,
    AGAINST,
    FOLDER,
    EXPLORE,
    SHRINK,
    KEEP,
    NAMES
};

static const struct option names[] = {
    [SEED] = { "seed", required_argument, NULL, 0 },
    [LIVES] = { "lives", required_argument, NULL, 0 },
    [FAULTS] = { "faults", required_argument, NULL, 0 },
    [SEATS] = { "seats", required_argument, NULL, 0 },
    [ORDER] = { "order", required_argument, NULL, 0 },
    [JOBS] = { "jobs", required_argument, NULL, 0 },
    [POINT] = { "point", required_argument, NULL, 0 },
    [PLUGINS] = { "plugins", required_argument, NULL, 0 },
    [PLUGIN_DIR] = { "plugin-dir", required_argument, NULL, 0 },
    [HISTORY] = { "history", required_argument, NULL, 0 },
    [ONLY] = { "only", required_argument, NULL, 0 },
    [TRACE] = { "trace", required_argument, NULL, 0 },
    [STORY] = { "story", required_argument, NULL, 0 },
    [REPORT] = { "report", required_argument, NULL, 0 },
    [AGAINST] = { "against", required_argument, NULL, 0 },
    [FOLDER] = { "folder", required_argument, NULL, 0 },
    [EXPLORE] = { "explore", no_argument, NULL, 0 },
    [SHRINK] = { "shrink", no_argument, NULL, 0 },
    [KEEP] = { "keep", no_argument, NULL, 0 },
    [NAMES] = { NULL, 0, NULL, 0 },
};

static int option_set_text(struct sim_options *options, int name, const char *text)
{
    const char **const texts[NAMES] = {
        [PLUGINS] = &options->plugins, [PLUGIN_DIR] = &options->plugin_dir,
        [HISTORY] = &options->history, [TRACE] = &options->trace,
        [STORY] = &options->story,     [FOLDER] = &options->folder,
        [ONLY] = &options->only_file,  [REPORT] = &options->report,
        [AGAINST] = &options->against,
    };
    bool *const flags[NAMES] = {
        [EXPLORE] = &options->explores,
        [SHRINK] = &options->shrinks,
        [KEEP] = &options->keeps,
    };

    if (texts[name] != NULL) {
        *texts[name] = text;
    } else {
        *flags[name] = true;
    }
    return 0;
}

static int option_set(struct sim_options *options, int name, const char *text)
{
    int64_t number = 0;

    switch (name) {
    case SEED:
    case ORDER:
        if (ccm_parse_i64(text, 0, INT64_MAX, &number) < 0) {
            return -1;
        }
        *(name == SEED ? &options->seed : &options->order) = (uint64_t)number;
        return 0;
    case LIVES:
        return ccm_parse_u32(text, 1, 100000000, &options->lives);
    case FAULTS:
        return ccm_parse_u32(text, 0, 1000, &options->faults);
    case SEATS:
        return ccm_parse_u32(text, 1, SIM_SEATS, &options->seats);
    case JOBS:
        return ccm_parse_u32(text, 1, 64, &options->jobs);
    case POINT:
        return ccm_parse_u32(text, 1, UINT32_MAX, &options->point);
    default:
        return option_set_text(options, name, text);
    }
}

bool sim_options_parse(int argc, char **argv, struct sim_options *ret)
{
    int index = 0;
    int found = 0;

    while ((found = getopt_long(argc, argv, "", names, &index)) == 0) {
        if (option_set(ret, index, optarg) < 0) {
            (void)fprintf(stderr, "ccmd-simulate: --%s: [%s] is no number that fits\n",
                          names[index].name, optarg);
            return false;
        }
    }
    if (found != -1 || optind != argc || ret->plugin_dir == NULL ||
        (ret->explores && ret->history == NULL)) {
        (void)fputs(usage, stderr);
        return false;
    }
    return true;
}
