#include "config/options.h"

#include <stddef.h>

#define HEAD .struct_size = sizeof(struct ccm_option)

static const struct ccm_option plugin_dir = {
    HEAD,
    .type = CCM_OPTION_PATH,
    .group = "",
    .name = "plugin_dir",
    .help = "Folder in which plugins are looked for by bare file name; empty: lib/ccmd/plugins "
            "beside the folder of the "
            "program, so /usr/lib/ccmd/plugins for /usr/bin/ccmd.",
};

static const struct ccm_option kubeconfig = {
    HEAD,
    .type = CCM_OPTION_PATH,
    .group = "kubernetes",
    .name = "kubeconfig",
    .help = "Kubeconfig file that leads to the API server; empty means the service account of the "
            "pod.",
};

static const struct ccm_option plain_http = {
    HEAD,
    .type = CCM_OPTION_BOOL,
    .group = "kubernetes",
    .name = "plain_http",
    .fallback = "false",
    .help = "Send credentials to an API server without TLS (http:// in the kubeconfig) on another "
            "machine: everybody on the way can read them.",
};

static const struct ccm_option settle = {
    HEAD,
    .type = CCM_OPTION_INT,
    .flags = CCM_OPTION_LIVE,
    .group = "kubernetes",
    .name = "settle_s",
    .fallback = "60",
    .min = 0,
    .max = 3600,
    .help = "How long an API server that was replaced, or restored from a backup, has to answer "
            "consistently before anything is changed, in the cluster or in the cloud.",
};

static const struct ccm_option event_repeat =
    CCM_OPTION_RETIRED_ROW("kubernetes", "event_repeat_s", "it is 1800 s");

static const struct ccm_option election = {
    HEAD,
    .type = CCM_OPTION_BOOL,
    .group = "leader_election",
    .name = "enabled",
    .fallback = "true",
    .help =
        "Whether only the holder of a Lease works, so that several instances can stand by. Off, "
        "make sure yourself that there is one.",
};

static const struct ccm_option election_namespace = {
    HEAD,
    .type = CCM_OPTION_STRING,
    .group = "leader_election",
    .name = "namespace",
    .fallback = "kube-system",
    .help = "Namespace of the Lease.",
};

static const struct ccm_option election_name = {
    HEAD,
    .type = CCM_OPTION_STRING,
    .group = "leader_election",
    .name = "name",
    .fallback = "ccm",
    .help = "Name of the Lease; the default is that of the reference controller, so that it and "
            "ccmd never act together.",
};

static const struct ccm_option election_duration = {
    HEAD,
    .type = CCM_OPTION_INT,
    .group = "leader_election",
    .name = "lease_duration_s",
    .fallback = "15",
    .min = 2,
    .max = 600,
    .help = "How long other instances wait for a leader that does not renew its Lease, in seconds; "
            "the same for all instances. The leader renews every two fifteenths of this time. Two "
            "thirds of it after the last renewal, it stops writing and ends.",
};

static const struct ccm_option election_renew = CCM_OPTION_RETIRED_ROW(
    "leader_election", "renew_deadline_s", "it is two thirds of lease_duration_s");

static const struct ccm_option election_retry = CCM_OPTION_RETIRED_ROW(
    "leader_election", "retry_period_ms", "it is two fifteenths of lease_duration_s");

static const struct ccm_option admin_listen = {
    HEAD,
    .type = CCM_OPTION_STRING,
    .group = "admin",
    .name = "listen",
    .fallback = "127.0.0.1:10258",
    .help =
        "ADDRESS:PORT that serves /livez, /readyz, /metrics and /statusz; empty: nothing does. An "
        "address that others can reach needs certificate, key and token.",
};

static const struct ccm_option admin_cert = {
    HEAD,
    .type = CCM_OPTION_PATH,
    .group = "admin",
    .name = "tls_cert_file",
    .help = "Certificate chain (PEM) of that address; empty: plain HTTP, on loopback only.",
};

static const struct ccm_option admin_key = {
    HEAD,
    .type = CCM_OPTION_PATH,
    .group = "admin",
    .name = "tls_key_file",
    .help = "Private key (PEM) of the certificate.",
};

static const struct ccm_option admin_token = {
    HEAD,
    .type = CCM_OPTION_PATH,
    .group = "admin",
    .name = "token_file",
    .help = "File with the bearer token that /metrics and /statusz ask for, read at each request; "
            "empty: they ask for none. /livez and /readyz never do.",
};

static const struct ccm_option admin_control = {
    HEAD,
    .type = CCM_OPTION_PATH,
    .group = "admin",
    .name = "control_token_file",
    .help =
        "File with the token that `ccmd allow-removals` and `ccmd resync` show to the daemon, 16 "
        "bytes or more, that nobody else may read (chmod 600), read at each request. When it is "
        "not there, the daemon makes it as it starts; empty: nobody can ask it to act.",
};

static const struct ccm_option metrics_listen = {
    HEAD,
    .type = CCM_OPTION_STRING,
    .group = "metrics",
    .name = "listen",
    .help = "ADDRESS:PORT that serves /metrics and nothing else, without TLS and to whoever can "
            "reach it, such as 0.0.0.0:10268; empty: only admin.listen serves it. Metrics have "
            "neither names of objects nor secrets.",
};

static const struct ccm_option webhook_listen = {
    HEAD,
    .type = CCM_OPTION_STRING,
    .group = "webhook",
    .name = "listen",
    .fallback = "0.0.0.0:9443",
    .help = "ADDRESS:PORT where `ccmd webhook` answers the API server, with TLS always.",
};

static const struct ccm_option webhook_cert = {
    HEAD,
    .type = CCM_OPTION_PATH,
    .group = "webhook",
    .name = "tls_cert_file",
    .fallback = "/etc/ccmd-webhook/tls.crt",
    .help = "Certificate chain (PEM) of `ccmd webhook`; looked at every 5 s, another one is taken "
            "over.",
};

static const struct ccm_option webhook_key = {
    HEAD,
    .type = CCM_OPTION_PATH,
    .group = "webhook",
    .name = "tls_key_file",
    .fallback = "/etc/ccmd-webhook/tls.key",
    .help = "Private key (PEM) of the certificate.",
};

static const struct ccm_option webhook_client_ca = {
    HEAD,
    .type = CCM_OPTION_PATH,
    .group = "webhook",
    .name = "client_ca_file",
    .help = "CA (PEM) of the client certificates of the API servers; when it is set, a review "
            "without such a certificate is refused before its body is read. Probes and /metrics "
            "need none. Looked at every 5 s, as the certificate.",
};

static const struct ccm_option webhook_deny = {
    HEAD,
    .type = CCM_OPTION_STRING,
    .group = "webhook",
    .name = "deny",
    .fallback = "nothing",
    .values = "nothing|errors",
    .help = "What `ccmd webhook` refuses: nothing (findings are warnings), or errors, in a Service "
            "that is made, and where a change adds one. What was wrong before stays editable, and "
            "a Service that is being deleted is never held up.",
};

static const struct ccm_option log_level = {
    HEAD,
    .type = CCM_OPTION_STRING,
    .flags = CCM_OPTION_LIVE,
    .group = "log",
    .name = "level",
    .fallback = "info",
    .values = "error|warn|info|debug",
    .help = "Least urgent messages that are written.",
};

static const struct ccm_option log_format = {
    HEAD,
    .type = CCM_OPTION_STRING,
    .flags = CCM_OPTION_LIVE,
    .group = "log",
    .name = "format",
    .fallback = "text",
    .values = "text|json",
    .help = "Form of a line of the log.",
};

static const struct ccm_option timeout_s = {
    HEAD,
    .type = CCM_OPTION_INT,
    .flags = CCM_OPTION_LIVE,
    .group = "controller",
    .name = "timeout_s",
    .fallback = "120",
    .min = 5,
    .max = 3600,
    .help = "Deadline of one reconcile call, in seconds.",
};

static const struct ccm_option slow_s =
    CCM_OPTION_RETIRED_ROW("controller", "slow_s", "it is 30 s");

static const struct ccm_option hang_s =
    CCM_OPTION_RETIRED_ROW("controller", "hang_s", "it is 120 s");

static const struct ccm_option stop_s = {
    HEAD,
    .type = CCM_OPTION_INT,
    .flags = CCM_OPTION_LIVE,
    .group = "controller",
    .name = "stop_s",
    .fallback = "25",
    .min = 1,
    .max = 600,
    .help = "How long running calls may take to end at shutdown, in seconds.",
};

static const struct ccm_option core_dumps = {
    HEAD,
    .type = CCM_OPTION_BOOL,
    .group = "process",
    .name = "core_dumps",
    .fallback = "false",
    .help = "Whether a crash may leave a core dump. It holds every secret that the process holds.",
};

static const struct ccm_option crash_file = CCM_OPTION_RETIRED_ROW(
    "process", "crash_file", "the log names each crash, and no file records it");
static const struct ccm_option crash_limit = CCM_OPTION_RETIRED_ROW(
    "process", "crash_limit", "an object is reconciled again after each crash");

const struct ccm_option *const config_core_options[] = {
    &plugin_dir,
    &kubeconfig,
    &plain_http,
    &settle,
    &event_repeat,
    &election,
    &election_namespace,
    &election_name,
    &election_duration,
    &election_renew,
    &election_retry,
    &admin_listen,
    &admin_cert,
    &admin_key,
    &admin_token,
    &admin_control,
    &metrics_listen,
    &webhook_listen,
    &webhook_cert,
    &webhook_key,
    &webhook_client_ca,
    &webhook_deny,
    &log_level,
    &log_format,
    &timeout_s,
    &slow_s,
    &hang_s,
    &stop_s,
    &core_dumps,
    &crash_file,
    &crash_limit,
    NULL,
};

static const struct ccm_option entry_name = {
    HEAD,
    .type = CCM_OPTION_STRING,
    .name = "name",
    .help = "Name of the plugin: small letters, digits and '-', at most 32; empty means that of "
            "the file, without '.so'. A plugin that allows it can be listed several times with the "
            "same file, under a name of its own each time: that name is the one in log, metrics, "
            "status page and commands. Those of ccmd itself (clb, nlb, gateway, route, node) run "
            "once in a process, which has one account and one set of classes; for others run "
            "another ccmd.",
};

static const struct ccm_option entry_file = {
    HEAD,
    .type = CCM_OPTION_STRING,
    .name = "file",
    .help = "Absolute path, or file name in plugin_dir; empty means the name with '.so'.",
};

static const struct ccm_option entry_workers = {
    HEAD,
    .type = CCM_OPTION_INT,
    .name = "workers",
    .fallback = "16",
    .min = 1,
    .max = 256,
    .help = "Reconcile calls at the same time, at most.",
};

static const struct ccm_option entry_critical = {
    HEAD,
    .type = CCM_OPTION_BOOL,
    .name = "critical",
    .fallback = "false",
    .help = "Whether the daemon ends when this plugin cannot run.",
};

static const struct ccm_option entry_enabled = {
    HEAD,
    .type = CCM_OPTION_BOOL,
    .name = "enabled",
    .fallback = "true",
    .help = "Whether the plugin is loaded.",
};

static const struct ccm_option entry_constructors =
    CCM_OPTION_RETIRED_ROW(NULL, "constructors", "every plugin may have them");

const struct ccm_option *const config_entry_options[] = {
    &entry_name,    &entry_file,         &entry_workers, &entry_critical,
    &entry_enabled, &entry_constructors, NULL,
};
