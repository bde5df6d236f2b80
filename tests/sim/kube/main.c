#include "access.h"
#include "api.h"
#include "cluster.h"
#include "common/options.h"
#include "common/server.h"
#include "identity.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

enum {
    KEY_TLS = 0x2000,
    KEY_KUBECONFIG,
    KEY_TOKEN,
    KEY_TOKEN_FILE,
    KEY_HISTORY,
    KEY_BOOKMARK,
    KEY_PROGRESS,
    KEY_NO_STREAMING,
    KEY_RULES,
    KEY_EVENT_TTL,
    KEY_CONTROLLERS,
    KEY_DUAL_STACK
};

static const struct argp_option options[] = {
    { "tls", KEY_TLS, "DIR", 0,
      "Serve HTTPS with DIR/tls.crt and DIR/tls.key; DIR/ca.crt checks client certificates. "
      "Without "
      "DIR/tls.crt a CA, a server and a client certificate are made and written there",
      0 },
    { "kubeconfig-out", KEY_KUBECONFIG, "FILE", 0, "Write a kubeconfig when listening", 0 },
    { "token", KEY_TOKEN, "TOKEN", 0, "Bearer token that every request must carry", 0 },
    { "token-file", KEY_TOKEN_FILE, "FILE", 0, "The same, from a file", 0 },
    { "rules", KEY_RULES, "FILE", 0,
      "Users, their tokens and what they may do (YAML); all else is refused with 403", 0 },
    { "history", KEY_HISTORY, "N", 0,
      "Changes kept per resource for resuming watches (default 8192)", 0 },
    { "bookmark-ms", KEY_BOOKMARK, "N", 0, "Time between bookmarks of a watch (default 60000)", 0 },
    { "progress-ms", KEY_PROGRESS, "N", 0,
      "A kind without changes learns the newest version so often, and a watch that knows it "
      "already "
      "gets no bookmark; etcd says 600000, and 5000 in clusters made by kubeadm (default 0: at "
      "once, "
      "and bookmarks in any case)",
      0 },
    { "event-ttl-ms", KEY_EVENT_TTL, "N", 0, "How long an Event is kept (default 3600000)", 0 },
    { "controllers", KEY_CONTROLLERS, NULL, 0,
      "Empty and remove deleted namespaces, end deleted Pods, as a cluster's controllers do", 0 },
    { "dual-stack", KEY_DUAL_STACK, NULL, 0,
      "Services may have IPv6 addresses besides or instead of those of IPv4", 0 },
    { "no-streaming-list", KEY_NO_STREAMING, NULL, 0,
      "Refuse sendInitialEvents, as older servers do", 0 },
    { 0 },
};

struct program {
    struct ccm_sim_options sim;
    struct ccm_ks_options cluster;
    const char *tls_dir;
    const char *kubeconfig;
    const char *token;
    const char *token_file;
    const char *rules;
};

/* What `ready` needs besides the cluster. */
struct running {
    struct ccm_ks_cluster cluster; /* first: the kit's `self` points to both */
    struct ccm_ks_identity identity;
    const struct program *program;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct program *p = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &p->sim;
        return 0;
    case KEY_TLS:
        p->tls_dir = arg;
        return 0;
    case KEY_KUBECONFIG:
        p->kubeconfig = arg;
        return 0;
    case KEY_TOKEN:
        p->token = arg;
        return 0;
    case KEY_TOKEN_FILE:
        p->token_file = arg;
        return 0;
    case KEY_HISTORY:
        if (ccm_parse_u32(arg, 1, 10000000, &p->cluster.history) < 0) {
            argp_error(state, "--history: '%s' is not a number from 1 to 10000000", arg);
        }
        return 0;
    case KEY_BOOKMARK:
        if (ccm_parse_u32(arg, 10, 3600000, &p->cluster.bookmark_ms) < 0) {
            argp_error(state, "--bookmark-ms: '%s' is not a number from 10 to 3600000", arg);
        }
        return 0;
    case KEY_PROGRESS:
        if (ccm_parse_u32(arg, 0, 3600000, &p->cluster.progress_ms) < 0) {
            argp_error(state, "--progress-ms: '%s' is not a number from 0 to 3600000", arg);
        }
        return 0;
    case KEY_RULES:
        p->rules = arg;
        return 0;
    case KEY_EVENT_TTL:
        if (ccm_parse_u32(arg, 1, 4000000000U, &p->cluster.event_ttl_ms) < 0) {
            argp_error(state, "--event-ttl-ms: '%s' is not a number from 1 to 4000000000", arg);
        }
        return 0;
    case KEY_CONTROLLERS:
        p->cluster.controllers = true;
        return 0;
    case KEY_DUAL_STACK:
        p->cluster.dual_stack = true;
        return 0;
    case KEY_NO_STREAMING:
        p->cluster.no_streaming_list = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int ready(void *self, struct ccm_sim_server *server)
{
    struct running *running = self;
    const char *listen = running->program->sim.listen;
    CCM_CLEANUP(ccm_freep) char *host = strndup(listen, (size_t)(strrchr(listen, ':') - listen));

    if (running->program->kubeconfig == NULL) {
        return 0;
    }
    return host == NULL
               ? -1
               : ccm_ks_identity_write_kubeconfig(&running->identity, running->program->kubeconfig,
                                                  host, ccm_sim_server_port(server),
                                                  ccm_secret_text(&running->cluster.token));
}

static int load_token(struct running *running)
{
    const struct program *p = running->program;
    CCM_CLEANUP(ccm_freep) char *text = NULL;
    size_t len = 0;

    if (p->token_file != NULL) {
        const int r = ccm_text_read_file(p->token_file, 65536, &text, &len);

        if (r < 0) {
            (void)fprintf(stderr, "kubesim: %s: %s\n", p->token_file, strerror(-r));
            return r;
        }
        text[strcspn(text, "\r\n")] = '\0';
    }
    if (text == NULL && p->token == NULL) {
        return 0;
    }
    return ccm_secret_set(&running->cluster.token, text != NULL ? text : p->token);
}

static int run(struct running *running)
{
    const struct program *p = running->program;

    if (ccm_ks_cluster_init(&running->cluster, &p->cluster) < 0) {
        (void)fprintf(stderr, "kubesim: out of memory\n");
        return 1;
    }
    if (load_token(running) < 0 ||
        (p->tls_dir != NULL && ccm_ks_identity_load(&running->identity, p->tls_dir) < 0) ||
        (p->rules != NULL && ccm_ks_access_load(p->rules, &running->cluster.access) < 0)) {
        return 1;
    }
    running->cluster.client_ca = running->identity.ca != NULL;

    const struct ccm_sim_config config = {
        .listen = p->sim.listen,
        .latency_ms = p->sim.latency_ms,
        .log_max = p->sim.log_max,
        .tls_cert = running->identity.cert,
        .tls_key = running->identity.key,
        .tls_client_ca = running->identity.ca,
        .ops = &ccm_ks_api_ops,
        .self = running,
    };

    return ccm_sim_server_run(&config, ready);
}

int main(int argc, char **argv)
{
    static const struct argp_child children[] = { { &ccm_sim_argp, 0, NULL, 0 }, { 0 } };
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .doc = "Plays the API server of a Kubernetes cluster, for tests.",
        .children = children,
    };
    struct program program = {
        .cluster = { .history = 8192, .bookmark_ms = 60000, .event_ttl_ms = 3600000 }
    };
    struct running running = { .program = &program };

    argp_err_exit_status = CCM_SIM_EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &program) != 0) {
        return CCM_SIM_EXIT_USAGE;
    }

    const int code = run(&running);

    ccm_ks_identity_fini(&running.identity);
    if (running.cluster.store != NULL) {
        ccm_ks_cluster_fini(&running.cluster);
    }
    return code;
}
