#include "common/options.h"

#include "common/server.h"
#include "util/parse.h"

#include <errno.h>

enum { KEY_LISTEN = 0x1000, KEY_LATENCY, KEY_CALL_LOG };

static const struct argp_option options[] = {
    { "listen", KEY_LISTEN, "ADDRESS:PORT", 0,
      "Loopback address to listen on; port 0: any free one", 0 },
    { "latency-ms", KEY_LATENCY, "N", 0, "Delay of every answer (0-60000)", 0 },
    { "call-log", KEY_CALL_LOG, "N", 0, "Calls that the log keeps (1-100000000)", 0 },
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct ccm_sim_options *out = state->input;

    switch (key) {
    case KEY_LISTEN:
        out->listen = arg;
        return 0;
    case KEY_LATENCY:
        if (ccm_parse_u32(arg, 0, 60000, &out->latency_ms) < 0) {
            argp_error(state, "--latency-ms: '%s' is not a number from 0 to 60000", arg);
        }
        return 0;
    case KEY_CALL_LOG:
        if (ccm_parse_u32(arg, 1, 100000000, &out->log_max) < 0) {
            argp_error(state, "--call-log: '%s' is not a number from 1 to 100000000", arg);
        }
        return 0;
    case ARGP_KEY_END:
        if (out->listen == NULL) {
            argp_error(state, "--listen is missing");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp ccm_sim_argp = { .options = options, .parser = parse };
