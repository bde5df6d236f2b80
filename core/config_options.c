#include "config_options.h"

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

static const struct ccm_option log_level = {
    HEAD,
    .type = CCM_OPTION_STRING,
    .group = "log",
    .name = "level",
    .fallback = "info",
    .values = "error|warn|info|debug",
    .help = "Least urgent messages that are written.",
};

static const struct ccm_option log_format = {
    HEAD,
    .type = CCM_OPTION_STRING,
    .group = "log",
    .name = "format",
    .fallback = "text",
    .values = "text|json",
    .help = "Form of a line of the log.",
};

static const struct ccm_option timeout_s = {
    HEAD,
    .type = CCM_OPTION_INT,
    .group = "controller",
    .name = "timeout_s",
    .fallback = "120",
    .min = 5,
    .max = 3600,
    .help = "Deadline of one reconcile call, in seconds.",
};

static const struct ccm_option slow_s = {
    HEAD,
    .type = CCM_OPTION_INT,
    .group = "controller",
    .name = "slow_s",
    .fallback = "30",
    .min = 1,
    .max = 3600,
    .help = "A reconcile call that takes longer than so many seconds is named in the log.",
};

static const struct ccm_option stop_s = {
    HEAD,
    .type = CCM_OPTION_INT,
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

const struct ccm_option *const ccm_config_core_options[] = {
    &plugin_dir, &kubeconfig, &log_level,  &log_format, &timeout_s,
    &slow_s,     &stop_s,     &core_dumps, NULL,
};

static const struct ccm_option entry_name = {
    HEAD,
    .type = CCM_OPTION_STRING,
    .flags = CCM_OPTION_REQUIRED,
    .name = "name",
    .help = "Name of the plugin: small letters, digits and '-', at most 32.",
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
    .fallback = "4",
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

const struct ccm_option *const ccm_config_entry_options[] = {
    &entry_name, &entry_file, &entry_workers, &entry_critical, &entry_enabled, NULL,
};
