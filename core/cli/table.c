#include "cli/table.h"

#include <stdint.h>
#include <string.h>

#define DEFAULT_CONFIG "/etc/ccmd/ccmd.conf"

/* --- options -------------------------------------------------------------------------------- */

static const struct cli_option config = {
    CLI_OPTION_CONFIG,
    "config",
    'c',
    "FILE",
    NULL,
    CLI_COMPLETE_FILE,
    "configuration file, or folder of *.conf files (default " DEFAULT_CONFIG ")",
};
static const struct cli_option output = {
    CLI_OPTION_OUTPUT,
    "output",
    'o',
    "FORMAT",
    "text|json",
    CLI_COMPLETE_CHOICE,
    "how to print what was found: text (default) or json",
};
static const struct cli_option output_names = {
    CLI_OPTION_OUTPUT,
    "output",
    'o',
    "FORMAT",
    "text|json|name",
    CLI_COMPLETE_CHOICE,
    "how to print them: text (default), json, or their names alone",
};
static const struct cli_option output_findings = {
    CLI_OPTION_OUTPUT,
    "output",
    'o',
    "FORMAT",
    "text|json|sarif|github",
    CLI_COMPLETE_CHOICE,
    "how to print findings: text (default), json, sarif (for code scanning), or github "
    "(annotations "
    "of a workflow)",
};
static const struct cli_option kubeconfig = {
    CLI_OPTION_KUBECONFIG,
    "kubeconfig",
    '\0',
    "FILE",
    NULL,
    CLI_COMPLETE_FILE,
    "kubeconfig to use instead of that of the configuration",
};
static const struct cli_option context = {
    CLI_OPTION_CONTEXT,
    "context",
    '\0',
    "NAME",
    NULL,
    CLI_COMPLETE_NOTHING,
    "context of the kubeconfig to use instead of its current one",
};
static const struct cli_option event = {
    CLI_OPTION_EVENT,
    "event",
    '\0',
    NULL,
    NULL,
    CLI_COMPLETE_NOTHING,
    "leave the result in the Event kube-system/CloudControllerManagerPrecheckResult too",
};
static const struct cli_option timeout = {
    CLI_OPTION_TIMEOUT,
    "timeout",
    '\0',
    "SECONDS",
    NULL,
    CLI_COMPLETE_NOTHING,
    "give up after so long (default 300)",
};
static const struct cli_option plugin = {
    CLI_OPTION_PLUGIN,
    "plugin",
    '\0',
    "FILE",
    NULL,
    CLI_COMPLETE_FILE,
    "ask this plugin instead of those of the configuration; may be repeated",
};
static const struct cli_option plugin_dir = {
    CLI_OPTION_PLUGIN_DIR,
    "plugin-dir",
    '\0',
    "DIR",
    NULL,
    CLI_COMPLETE_FOLDER,
    "where plugins are that are given by name; alone: ask all that are there",
};
static const struct cli_option rbac = {
    CLI_OPTION_RBAC,
    "rbac",
    '\0',
    NULL,
    NULL,
    CLI_COMPLETE_NOTHING,
    "print roles with the rights that they need, as YAML for kubectl",
};
static const struct cli_option all = {
    CLI_OPTION_ALL, "all", '\0', NULL, NULL, CLI_COMPLETE_NOTHING, "all Services",
};
static const struct cli_option all_objects = {
    CLI_OPTION_ALL, "all", '\0', NULL, NULL, CLI_COMPLETE_NOTHING, "list all objects",
};
static const struct cli_option quotas = {
    CLI_OPTION_QUOTAS,
    "quotas",
    '\0',
    NULL,
    NULL,
    CLI_COMPLETE_NOTHING,
    "what is used and allowed of each quota and each action of the cloud, and what waits",
};
static const struct cli_option watch = {
    CLI_OPTION_WATCH, "watch", '\0', NULL, NULL, CLI_COMPLETE_NOTHING, "print it every 2 s",
};
static const struct cli_option help = {
    CLI_OPTION_HELP, "help", 'h', NULL, NULL, CLI_COMPLETE_NOTHING, "print this help",
};
static const struct cli_option version = {
    CLI_OPTION_VERSION, "version", 'V', NULL, NULL, CLI_COMPLETE_NOTHING, "print the version",
};

const struct cli_option *const cli_common_options[] = { &help, &version, NULL };

static const struct cli_option *const no_options[] = { NULL };
static const struct cli_option *const config_options[] = { &config, NULL };
static const struct cli_option *const check_options[] = { &config, &output, NULL };
static const struct cli_option *const plan_options[] = { &config, &kubeconfig, &context, &output,
                                                         &event,  &timeout,    NULL };
static const struct cli_option *const lint_options[] = { &config, &plugin, &plugin_dir,
                                                         &output_findings, NULL };
static const struct cli_option *const explain_options[] = { &config, &plugin, &plugin_dir,
                                                            &output_names, NULL };
static const struct cli_option *const plugins_options[] = { &config, &output_names, &rbac, NULL };
static const struct cli_option *const status_options[] = { &config, &output, &all_objects,
                                                           &quotas, &watch,  NULL };
static const struct cli_option *const resync_options[] = { &config, &all, NULL };
static const struct cli_option *const version_options[] = { &output, NULL };

/* --- environment ---------------------------------------------------------------------------- */

static const struct cli_variable kubeconfig_variable = {
    "KUBECONFIG",
    "kubeconfig files, separated by colons, that are read as one; used when neither an option nor "
    "the configuration names one. Then come the service account of the pod and ~/.kube/config",
};
static const struct cli_variable in_cluster_variable = {
    "KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT",
    "where the API server is, in a pod; used when the configuration names no kubeconfig",
};
static const struct cli_variable key_variable = {
    "ACCESS_KEY_ID, ACCESS_KEY_SECRET, SECURITY_TOKEN",
    "the key pair of the cloud and its token, for alicloud.credentials.source env or auto",
};
static const struct cli_variable role_variable = {
    "ALIBABA_CLOUD_ROLE_ARN, ALIBABA_CLOUD_OIDC_PROVIDER_ARN, ALIBABA_CLOUD_OIDC_TOKEN_FILE",
    "the role of the pod, for alicloud.credentials.source oidc or auto",
};
static const struct cli_variable proxy_variable = {
    "HTTPS_PROXY, NO_PROXY",
    "a proxy for calls to the cloud and to the API server, and whom to call without it",
};
static const struct cli_variable color_variable = {
    "NO_COLOR",
    "when it is set to anything, output on a terminal has no colours",
};

static const struct cli_variable *const run_variables[] = {
    &in_cluster_variable, &key_variable, &role_variable, &proxy_variable, NULL,
};
static const struct cli_variable *const plan_variables[] = {
    &kubeconfig_variable, &in_cluster_variable, &key_variable, &role_variable,
    &proxy_variable,      &color_variable,      NULL,
};
static const struct cli_variable *const check_variables[] = { &key_variable, &role_variable,
                                                              &color_variable, NULL };
static const struct cli_variable *const color_variables[] = { &color_variable, NULL };

/* --- exit codes ----------------------------------------------------------------------------- */

const struct cli_exit cli_common_exits[] = {
    { 0, "all went well" },
    { 1, "something failed" },
    { 2, "wrong usage" },
    { 0, NULL },
};
static const struct cli_exit run_exits[] = {
    { 0, "ended by SIGTERM or SIGINT" },
    { 1, "something failed, or the lease was lost" },
    { 2, "wrong usage" },
    { 0, NULL },
};
static const struct cli_exit check_exits[] = {
    { 0, "nothing was found" },
    { 1, "there are findings" },
    { 2, "wrong usage" },
    { 0, NULL },
};
static const struct cli_exit plan_exits[] = {
    { 0, "there is nothing to do" },
    { 1, "something failed, or could not be looked at" },
    { 2, "wrong usage" },
    { 3, "something would change, and nothing failed" },
    { 0, NULL },
};
static const struct cli_exit explain_exits[] = {
    { 0, "it was explained" },
    { 1, "no plugin knows it, or something failed" },
    { 2, "wrong usage" },
    { 0, NULL },
};
static const struct cli_exit lint_exits[] = {
    { 0, "nothing was found" },
    { 1, "there are errors or warnings" },
    { 2, "wrong usage, or something could not be checked" },
    { 0, NULL },
};

/* --- commands ------------------------------------------------------------------------------- */

static const char *const run_about[] = {
    "Watches the API server and makes the cloud match, until SIGTERM or SIGINT; a second signal "
    "ends "
    "the process at once. SIGHUP: configuration and credentials are read again.",
    "Only the holder of the Lease works; other instances stand by.",
    NULL,
};
static const struct cli_example run_examples[] = {
    { "ccmd run", "with " DEFAULT_CONFIG },
    { "ccmd run --config ./ccmd.conf", "with another configuration" },
    { NULL, NULL },
};

static const char *const check_about[] = {
    "Reads the configuration, the plugins and the files that it names, and prints every problem "
    "with "
    "file and line. Nothing is started, and nobody is asked over the network.",
    NULL,
};
static const struct cli_example check_examples[] = {
    { "ccmd check-config --config ./ccmd.conf", "before it is rolled out" },
    { "ccmd check-config -o json", "the findings for a program" },
    { NULL, NULL },
};

static const char *const plan_about[] = {
    "Looks at the cluster and the cloud and prints, object by object, what `ccmd run` would change "
    "now. It changes nothing and needs no Lease, so it can be asked beside a running controller, "
    "also that of another kind. Warning ServingBackendsRemoved marks an object whose ready "
    "backends "
    "would be removed; with -o json it is among its `warnings`. The exit code is 3 then.",
    NULL,
};
static const struct cli_example plan_examples[] = {
    { "ccmd plan", "with the configuration and the kubeconfig of the daemon" },
    { "ccmd plan --config ./ccmd.conf --context staging",
      "with a context of one's own kubeconfig" },
    { "ccmd plan -o json >plan.json", "for a program" },
    { NULL, NULL },
};

static const char *const lint_about[] = {
    "Checks the Services in manifests without a cluster and without the cloud. Folders are walked; "
    "- is standard input. Plugins check what is theirs: those of the configuration, or those that "
    "the options name.",
    NULL,
};
static const struct cli_example lint_examples[] = {
    { "ccmd lint --plugin-dir /usr/lib/ccmd/plugins manifests/", "all manifests of a folder" },
    { "helm template web | ccmd lint -", "what a chart renders" },
    { "ccmd lint -o sarif manifests/ >ccmd.sarif", "for code scanning" },
    { "ccmd lint -o github manifests/", "in a workflow: findings stand beside the lines" },
    { NULL, NULL },
};

static const char *const webhook_about[] = {
    "Serves the findings of `ccmd lint` as a validating admission webhook (POST /lint, "
    "admission.k8s.io/v1, with TLS): the API server asks it about Services of type LoadBalancer "
    "that are made or changed, and whoever applies them sees warnings, or, with option "
    "webhook.deny, a refusal. It needs no rights in the cluster, no cloud and no Lease; any number "
    "may run.",
    "/livez, /readyz and /metrics are served at the same address. A certificate that changes is "
    "taken over while it runs.",
    NULL,
};
static const struct cli_example webhook_examples[] = {
    { "ccmd webhook", "with " DEFAULT_CONFIG },
    { NULL, NULL },
};

static const char *const explain_about[] = {
    "Says what an annotation of Services means: which load balancers have it, which values it "
    "takes, "
    "what holds without it, and what a change does to a load balancer that is there. ANNOTATION is "
    "a "
    "whole key, what stands behind its prefix, or a part of that; without one all are listed.",
    "Nobody is asked over the network. Without a configuration the plugins that are installed tell "
    "what they know.",
    NULL,
};
static const struct cli_example explain_examples[] = {
    { "ccmd explain bandwidth", "one annotation" },
    { "ccmd explain health-check", "all that have to do with health checks" },
    { "ccmd explain --plugin ./mine.so", "those of a plugin" },
    { "ccmd explain -o json", "all, for a program" },
    { NULL, NULL },
};

static const char *const plugins_about[] = {
    "Prints the plugins of the configuration, or the plugin FILEs: version, ABI, options with "
    "help, "
    "what they watch and which rights they need. No function of a plugin runs.",
    NULL,
};
static const struct cli_example plugins_examples[] = {
    { "ccmd plugins", "those of the configuration" },
    { "ccmd plugins ./mine.so", "a file, before it is installed" },
    { "ccmd plugins --rbac | kubectl apply -f -", "their rights" },
    { NULL, NULL },
};

static const char *const status_about[] = {
    "Prints what the daemon of the same configuration on this machine does, what fails, why, and "
    "when "
    "it is tried again: the page /statusz.",
    "With KEY (NAMESPACE/SERVICE, or a node, also as node/NAME) all that is known of that object: "
    "load "
    "balancer, listeners, backends, who is missing and why, and the last events and calls.",
    NULL,
};
static const struct cli_example status_examples[] = {
    { "ccmd status", "what fails, and what it does" },
    { "ccmd status default/web", "all about one Service" },
    { "ccmd status node/node-1", "all about one node: its instance, why it stays" },
    { "ccmd status --quotas --watch", "what waits for a quota, again and again" },
    { NULL, NULL },
};

static const char *const resync_about[] = {
    "Has the daemon of the same configuration on this machine, which has to lead, read the load "
    "balancer of a Service again and repair what differs, at once. Needs admin.control_token_file.",
    NULL,
};
static const struct cli_example resync_examples[] = {
    { "ccmd resync default/web", "one Service" },
    { "ccmd resync --all", "every one" },
    { NULL, NULL },
};

static const char *const allow_about[] = {
    "Has the daemon of the same configuration on this machine, which has to lead, let go, for one "
    "window, what the plugin holds back because nodes are missing or not ready. Needs "
    "admin.control_token_file.",
    NULL,
};
static const struct cli_example allow_examples[] = {
    { "ccmd allow-removals clb", "backends that lost their nodes" },
    { NULL, NULL },
};

static const char *const convert_about[] = {
    "Prints a configuration made from the cloud config of cloud-provider-alibaba-cloud, the flags "
    "in "
    "its manifest, and flags behind --. What has no counterpart is told on standard error.",
    "--credentials=FILE behind -- writes the key pair of the cloud config to a new file.",
    NULL,
};
static const struct cli_example convert_examples[] = {
    { "ccmd convert-config cloud-config.conf >ccmd.conf", "from the cloud config alone" },
    { "ccmd convert-config cloud-config.conf ccm.yaml -- --route-reconciliation-period=5m",
      "with manifest and a flag" },
    { NULL, NULL },
};

static const char *const completion_about[] = {
    "Prints the completion script of a shell. Packages and `make install` put it where the shell "
    "finds it.",
    NULL,
};
static const struct cli_example completion_examples[] = {
    { "source <(ccmd completion bash)", "for this shell" },
    { "ccmd completion fish >~/.config/fish/completions/ccmd.fish", "for every shell of mine" },
    { NULL, NULL },
};

static const struct cli_example version_examples[] = {
    { "ccmd version -o json", "version and ABI for a program" },
    { NULL, NULL },
};

static const struct cli_example help_examples[] = {
    { "ccmd help plan", "what a command does, its options and examples" },
    { NULL, NULL },
};

const struct cli_command cli_commands[CLI_COMMAND_COUNT] = {
    [CLI_RUN] = {
        .name = "run", .operands = "",
        .summary = "watch the cluster and keep the cloud in step (default)",
        .about = run_about, .options = config_options, .examples = run_examples,
        .variables = run_variables, .exits = run_exits,
    },
    [CLI_CHECK_CONFIG] = {
        .name = "check-config", .operands = "",
        .summary = "tell every problem of a configuration, start nothing",
        .about = check_about, .options = check_options, .examples = check_examples,
        .variables = check_variables, .exits = check_exits,
    },
    [CLI_PLAN] = {
        .name = "plan", .operands = "",
        .summary = "print what run would change now, change nothing",
        .about = plan_about, .options = plan_options, .examples = plan_examples,
        .variables = plan_variables, .exits = plan_exits,
    },
    [CLI_LINT] = {
        .name = "lint", .operands = "FILE...", .operands_min = 1, .operands_max = SIZE_MAX,
        .complete = CLI_COMPLETE_FILE,
        .summary = "check the Services in manifests without a cluster",
        .about = lint_about, .options = lint_options, .examples = lint_examples,
        .variables = color_variables, .exits = lint_exits,
    },
    [CLI_WEBHOOK] = {
        .name = "webhook", .operands = "",
        .summary = "answer the API server about Services that are applied",
        .about = webhook_about, .options = config_options, .examples = webhook_examples,
    },
    [CLI_EXPLAIN] = {
        .name = "explain", .operands = "[ANNOTATION]", .operands_max = 1,
        .complete = CLI_COMPLETE_ANNOTATION,
        .summary = "say what an annotation of Services means, or list them",
        .about = explain_about, .options = explain_options, .examples = explain_examples,
        .variables = color_variables, .exits = explain_exits,
    },
    [CLI_PLUGINS] = {
        .name = "plugins", .operands = "[FILE...]", .operands_max = SIZE_MAX,
        .complete = CLI_COMPLETE_FILE,
        .summary = "list the configured plugins, or inspect plugin files",
        .about = plugins_about, .options = plugins_options, .examples = plugins_examples,
    },
    [CLI_STATUS] = {
        .name = "status", .operands = "[KEY]", .operands_max = 1,
        .summary = "print what the running daemon does and what fails",
        .about = status_about, .options = status_options, .examples = status_examples,
        .variables = color_variables,
    },
    [CLI_RESYNC] = {
        .name = "resync", .operands = "NAMESPACE/SERVICE", .operands_max = 1,
        .summary = "have the daemon read a load balancer again and repair it",
        .about = resync_about, .options = resync_options, .examples = resync_examples,
    },
    [CLI_ALLOW_REMOVALS] = {
        .name = "allow-removals", .operands = "PLUGIN", .operands_min = 1, .operands_max = 1,
        .complete = CLI_COMPLETE_PLUGIN,
        .summary = "let go what a plugin holds back because nodes are missing",
        .about = allow_about, .options = config_options, .examples = allow_examples,
    },
    [CLI_CONVERT_CONFIG] = {
        .name = "convert-config", .operands = "CLOUD_CONFIG [MANIFEST] [-- FLAG...]",
        .operands_min = 1, .operands_max = SIZE_MAX, .rest = true, .complete = CLI_COMPLETE_FILE,
        .summary = "turn the settings of cloud-provider-alibaba-cloud into a configuration",
        .about = convert_about, .options = no_options, .examples = convert_examples,
    },
    [CLI_COMPLETION] = {
        .name = "completion", .operands = "SHELL", .operands_min = 1, .operands_max = 1,
        .choices = "bash|zsh|fish", .complete = CLI_COMPLETE_CHOICE,
        .summary = "print the completion of bash, zsh or fish",
        .about = completion_about, .options = no_options, .examples = completion_examples,
    },
    [CLI_VERSION] = {
        .name = "version", .operands = "",
        .summary = "print the version",
        .options = version_options, .examples = version_examples,
    },
    [CLI_HELP] = {
        .name = "help", .operands = "[COMMAND]", .operands_max = 1,
        .complete = CLI_COMPLETE_COMMAND,
        .summary = "print what a command does",
        .options = no_options, .examples = help_examples,
    },
};

/* --- finding -------------------------------------------------------------------------------- */

const struct cli_command *cli_find_command(const char *name)
{
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++) {
        if (strcmp(cli_commands[i].name, name) == 0) {
            return &cli_commands[i];
        }
    }
    return NULL;
}

static const struct cli_option *table_find(const struct cli_option *const *options,
                                           const char *name, size_t len, char letter)
{
    for (size_t i = 0; options[i] != NULL; i++) {
        if (name == NULL
                ? options[i]->letter == letter
                : strlen(options[i]->name) == len && memcmp(options[i]->name, name, len) == 0) {
            return options[i];
        }
    }
    return NULL;
}

const struct cli_option *cli_find_option(const struct cli_command *command, const char *name,
                                         size_t len)
{
    const struct cli_option *found = table_find(cli_common_options, name, len, '\0');

    return found != NULL || command == NULL ? found : table_find(command->options, name, len, '\0');
}

const struct cli_option *cli_find_letter(const struct cli_command *command, char letter)
{
    const struct cli_option *found = table_find(cli_common_options, NULL, 0, letter);

    return found != NULL || command == NULL || letter == '\0'
               ? found
               : table_find(command->options, NULL, 0, letter);
}
