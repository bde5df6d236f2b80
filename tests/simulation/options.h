/* What the program was asked for. */
#ifndef SIM_OPTIONS_H
#define SIM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_PATH_MAX 512

struct sim_options {
    uint64_t seed;
    uint64_t order; /* of the scheduler; 0 = the seed */
    uint32_t lives;
    uint32_t faults; /* percent of the usual share */
    uint32_t seats;
    uint32_t jobs;
    uint32_t point; /* of an exploration: only this one; 0 = all */
    const char *plugins;
    const char *plugin_dir;
    const char *history; /* file to play; NULL = a random one */
    const char *trace;
    const char *story; /* file for what happened, as numbered lines */
    const char
        *report; /* file for what two builds are compared by; the world rests after each line */
    const char *against; /* folder of another build, which plays the same */
    const char *folder;
    const char *only_file; /* `only` as a file; NULL = all */
    const uint64_t *only;  /* faults that may happen; NULL = all */
    size_t only_count;
    bool explores;
    bool shrinks;
    bool keeps; /* the folder */
};

/* False: the usage was printed. */
bool sim_options_parse(int argc, char **argv, struct sim_options *ret);

#endif
