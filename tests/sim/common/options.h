/*
 * Command line options that all simulators have, as an argp child:
 *
 *     static const struct argp_child children[] = { { &ccm_sim_argp, 0, NULL, 0 }, { 0 } };
 *     ... case ARGP_KEY_INIT: state->child_inputs[0] = &options;
 *     argp_err_exit_status = CCM_SIM_EXIT_USAGE;
 *
 * A bad value ends the process with a message and exit code 2. Texts point into argv.
 */
#ifndef CCM_SIM_OPTIONS_H
#define CCM_SIM_OPTIONS_H

#include <argp.h>
#include <stdint.h>

#define CCM_SIM_EXIT_USAGE 2

/* Zeroed before parsing. */
struct ccm_sim_options {
    const char *listen;  /* --listen, mandatory */
    uint32_t latency_ms; /* --latency-ms */
    uint32_t log_max;    /* --call-log, 0 = default */
};

extern const struct argp ccm_sim_argp;

#endif
