#include "config/load.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/doc.h"
#include "config/options.h"
#include "util/attr.h"
#include "util/buf.h"

#define HEAD .struct_size = sizeof(struct ccm_option)

/* --- two plugins ---------------------------------------------------------------------------- */

static const struct ccm_option region = {
    HEAD,
    .type = CCM_OPTION_STRING,
    .flags = CCM_OPTION_REQUIRED,
    .group = "alicloud",
    .name = "region",
    .help = "Region.",
    .pattern = "[a-z0-9-]{1,20}",
};
static const struct ccm_option network = {
    HEAD,
    .type = CCM_OPTION_STRING,
    .group = "alicloud",
    .name = "network",
    .fallback = "vpc",
    .values = "vpc|classic",
    .help = "Network.",
};
static const struct ccm_option vswitches = {
    HEAD,
    .type = CCM_OPTION_STRINGS,
    .group = "alicloud",
    .name = "vswitch_ids",
    .help = "vSwitches.",
};
static const struct ccm_option slb = {
    HEAD,
    .type = CCM_OPTION_STRING,
    .group = "alicloud",
    .name = "endpoints.slb",
    .help = "Address.",
    .pattern = "[^:]*",
    .unless = "plain_http",
};
static const struct ccm_option plain_http = {
    HEAD, .type = CCM_OPTION_BOOL, .group = "alicloud", .name = "plain_http", .help = "No TLS.",
};
static const struct ccm_option clb_word = {
    HEAD,
    .type = CCM_OPTION_BOOL,
    .name = "anything",
    .help = "A word.",
};
static const struct ccm_option clb_guarded = {
    HEAD,
    .type = CCM_OPTION_STRING,
    .name = "guarded",
    .help = "A text that takes a word.",
    .pattern = "a*",
    .unless = "anything",
};
static const struct ccm_option retries = {
    HEAD,
    .type = CCM_OPTION_INT,
    .group = "alicloud",
    .name = "retries",
    .fallback = "3",
    .min = 0,
    .max = 10,
    .help = "Retries.",
};
static const struct ccm_option weight = {
    HEAD,       .type = CCM_OPTION_INT, .name = "default_weight", .fallback = "100", .min = 1,
    .max = 100, .help = "Weight.",
};
static const struct ccm_option dry_run = {
    HEAD, .type = CCM_OPTION_BOOL, .name = "dry_run", .fallback = "true", .help = "Dry run.",
};
static const struct ccm_option ca_file = {
    HEAD,
    .type = CCM_OPTION_PATH,
    .name = "ca_file",
    .help = "CA.",
};
static const struct ccm_option zones = {
    HEAD, .type = CCM_OPTION_STRINGS, .name = "audit.zones", .fallback = "a, b", .help = "Zones.",
};
static const struct ccm_option bytes = {
    HEAD,
    .type = CCM_OPTION_INT,
    .name = "audit.bytes",
    .min = INT64_MIN,
    .max = INT64_MAX,
    .help = "Bytes.",
};

/* What was an option once: plugins have it in their tables. */
static const struct ccm_option old_shared =
    CCM_OPTION_RETIRED_ROW("alicloud", "endpoints.old", "it is 7 now");

static const struct ccm_option *const clb_options[] = {
    &region,  &network, &vswitches, &plain_http, &slb,         &retries,    &weight, &dry_run,
    &ca_file, &zones,   &bytes,     &clb_word,   &clb_guarded, &old_shared, NULL,
};

static const struct ccm_option nlb_region = {
    HEAD,
    .type = CCM_OPTION_STRING,
    .group = "alicloud",
    .name = "region",
    .help = "Other words.",
    .pattern = "[a-z0-9-]{1,20}",
};
static const struct ccm_option nlb_level = {
    HEAD,
    .type = CCM_OPTION_STRING,
    .group = "log",
    .name = "level",
    .fallback = "info",
    .values = "error|warn|info|debug",
    .help = "Reading along.",
};
static const struct ccm_option *const nlb_options[] = { &nlb_region, &nlb_level, &old_shared,
                                                        NULL };

/* --- files ---------------------------------------------------------------------------------- */

struct fixture {
    char folder[64];
    char path[96];
};

static int set_up(void **state)
{
    static struct fixture fixture;

    (void)snprintf(fixture.folder, sizeof(fixture.folder), "/tmp/ccm-config-XXXXXX");
    if (mkdtemp(fixture.folder) == NULL) {
        return -1;
    }
    (void)snprintf(fixture.path, sizeof(fixture.path), "%s/c.conf", fixture.folder);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    const struct fixture *f = *state;

    (void)unlink(f->path); /* not every test makes it */
    return rmdir(f->folder);
}

static void write_file(const struct fixture *f, const char *text, size_t len)
{
    FILE *file = fopen(f->path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

/* All steps, as the daemon takes them, with both plugins where they are listed. */
static int run_steps(const struct fixture *f, struct config_tree **ret, struct ccm_error *err)
{
    struct ccm_error ignored = CCM_ERROR_INIT; /* all are listed by problems() in the end */
    int bound = 0;

    if (config_load(f->path, ret, &ignored) == -ENOMEM) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < config_plugin_count(*ret); i++) {
        const struct config_plugin *plugin = config_plugin_at(*ret, i);

        if (plugin->enabled) {
            bound += config_bind_plugin(
                *ret, plugin->name, strcmp(plugin->name, "clb") == 0 ? clb_options : nlb_options,
                &ignored);
        }
    }
    (void)bound;
    return config_finish(*ret, err);
}

/* --- what is right -------------------------------------------------------------------------- */

static void test_everything(void **state)
{
    static const char text[] =
        "# the whole syntax\n"
        "plugin_dir = \"/opt/plugins\";\n"
        "kubernetes: { kubeconfig = \"/etc/kube.conf\"; };\n"
        "log: { level = \"debug\"; };\n"
        "controller: { timeout_s = 60; };\n"
        "alicloud: { region = \"cn-\" \"hangzhou\"; vswitch_ids = [ \"v1\", \"v2\" ];\n"
        "            plain_http = true; endpoints: { slb = \"http://[::1]:8080\"; }; retries = 0; "
        "};\n"
        "plugins = ( { name = \"clb\"; workers = 16; critical = true; default_weight = 7;\n"
        "              dry_run = false; ca_file = \"/etc/ca.pem\";\n"
        "              audit: { bytes = 9223372036854775807; zones = ( \"z\" ); }; },\n"
        "            { name = \"nlb\"; file = \"/lib/other.so\"; enabled = true; "
        "constructors = true; } );\n";
    struct config_tree *config = NULL;
    struct ccm_error err = CCM_ERROR_INIT;

    write_file(*state, text, strlen(text));
    assert_int_equal(run_steps(*state, &config, &err), 0);
    assert_string_equal(config_problems(config), "");
    assert_int_equal(config_plugin_count(config), 2);

    const struct config_plugin *clb = config_plugin_at(config, 0);
    const struct config_plugin *nlb = config_plugin_at(config, 1);

    assert_string_equal(clb->name, "clb");
    assert_string_equal(clb->file, "clb.so");
    assert_int_equal(clb->workers, 16);
    assert_true(clb->critical && clb->enabled);
    assert_int_equal(clb->line, 8);
    assert_string_equal(nlb->file, "/lib/other.so");
    assert_int_equal(nlb->workers, 16);
    assert_false(nlb->critical);

    assert_string_equal(config_string(config, NULL, "", "plugin_dir"), "/opt/plugins");
    assert_string_equal(config_string(config, NULL, NULL, "plugin_dir"), "/opt/plugins");
    assert_string_equal(config_string(config, NULL, "kubernetes", "kubeconfig"), "/etc/kube.conf");
    assert_string_equal(config_string(config, NULL, "log", "level"), "debug");
    assert_string_equal(config_string(config, NULL, "log", "format"), "text");
    assert_int_equal(config_int(config, NULL, "controller", "timeout_s"), 60);
    assert_int_equal(config_int(config, NULL, "controller", "stop_s"), 25);
    assert_string_equal(config_string(config, "clb", "alicloud", "region"), "cn-hangzhou");
    assert_string_equal(config_string(config, "nlb", "alicloud", "region"), "cn-hangzhou");
    assert_string_equal(config_string(config, "clb", "alicloud", "endpoints.slb"),
                        "http://[::1]:8080");
    assert_int_equal(config_int(config, "clb", "alicloud", "retries"), 0);
    assert_int_equal(config_int(config, "clb", NULL, "default_weight"), 7);
    assert_int_equal(config_int(config, "clb", NULL, "dry_run"), 0);
    assert_string_equal(config_string(config, "clb", NULL, "ca_file"), "/etc/ca.pem");
    assert_true(config_int(config, "clb", NULL, "audit.bytes") == INT64_MAX);
    assert_string_equal(config_strings(config, "clb", "alicloud", "vswitch_ids")[1], "v2");
    assert_null(config_strings(config, "clb", "alicloud", "vswitch_ids")[2]);
    assert_string_equal(config_strings(config, "clb", NULL, "audit.zones")[0], "z");

    /* Not listed by that plugin, or of another type. */
    assert_string_equal(config_string(config, "nlb", "alicloud", "endpoints.slb"), "");
    assert_string_equal(config_string(config, "nlb", "log", "level"), "debug");
    assert_string_equal(config_string(config, "clb", "log", "level"), "");
    assert_int_equal(config_int(config, "clb", NULL, "workers"), 0);
    assert_int_equal(config_int(config, "nobody", NULL, "default_weight"), 0);
    assert_string_equal(config_string(config, "clb", NULL, "default_weight"), "");
    assert_null(config_strings(config, "clb", NULL, "default_weight"));
    assert_null(config_strings(config, "nlb", "alicloud", "vswitch_ids"));
    config_free(config);
}

/* What was an option once is no problem, whatever it holds, and all are named in one line. */
static void test_retired(void **state)
{
    static const char *const values[] = {
        "7", "\"\"", "true", "1.5", "{ a = { b = 1; }; }", "( 1 )"
    };
    const char *file = ((struct fixture *)*state)->path;

    for (size_t i = 0; i < CCM_ARRAY_LEN(values); i++) {
        CCM_CLEANUP(config_freep) struct config_tree *config = NULL;
        struct ccm_error err = CCM_ERROR_INIT;
        char text[1024];

        (void)snprintf(
            text, sizeof(text),
            "alicloud: { region = \"r\";\n endpoints: { old = %s; }; };\n"
            "plugins = ( { name = \"clb\"; constructors = %s; }, { name = \"nlb\"; } );\n",
            values[i], values[i]);
        write_file(*state, text, strlen(text));
        assert_int_equal(run_steps(*state, &config, &err), 0);
        (void)snprintf(text, sizeof(text),
                       "%s: retired options are ignored, and the next version refuses them: "
                       "clb.constructors (%s:3): every plugin may have them; "
                       "alicloud.endpoints.old (%s:2): it is 7 now",
                       file, file, file);
        assert_string_equal(config_retired(config), text);
    }
}

static void test_defaults(void **state)
{
    static const char text[] = "alicloud = { region = \"r\" }\nplugins = ( { name = \"clb\" } )\n";
    struct config_tree *config = NULL;
    struct ccm_error err = CCM_ERROR_INIT;

    write_file(*state, text, strlen(text));
    assert_int_equal(run_steps(*state, &config, &err), 0);
    assert_string_equal(config_string(config, NULL, "", "plugin_dir"), "");
    assert_string_equal(config_string(config, NULL, "kubernetes", "kubeconfig"), "");
    assert_string_equal(config_string(config, "clb", "alicloud", "network"), "vpc");
    assert_string_equal(config_string(config, "clb", "alicloud", "endpoints.slb"), "");
    assert_int_equal(config_int(config, "clb", "alicloud", "retries"), 3);
    assert_int_equal(config_int(config, "clb", NULL, "dry_run"), 1);
    assert_int_equal(config_int(config, "clb", NULL, "audit.bytes"), 0);
    assert_string_equal(config_strings(config, "clb", NULL, "audit.zones")[1], "b");
    assert_null(config_strings(config, "clb", NULL, "audit.zones")[2]);
    assert_non_null(config_strings(config, "clb", "alicloud", "vswitch_ids"));
    assert_null(config_strings(config, "clb", "alicloud", "vswitch_ids")[0]);
    config_free(config);
}

/* --- what is wrong -------------------------------------------------------------------------- */

#define OK_GROUP  "alicloud: { region = \"r\"; };\n"
#define OK_PLUGIN "plugins = ( { name = \"clb\"; } );\n"

/* The problems, each without "FILE"; the file goes through all steps. */
static const struct {
    const char *text;
    const char *problems;
} faults[] = {
    /* syntax */
    { "a = ;\n", ":1: a: a value is missing\n" },
    { "# one\n\nlog: {\n level = \"info\"\n", ":3: the '{' that begins here has no end\n" },
    { "log: { level = \"info\"; };\nlog: { };\n", ":2: duplicate setting name\n" },
    { "# x\n@include \"/etc/passwd\"\n",
      ":2: @include is not supported: --config takes a folder of files\n" },
    { "  @include \"x\"\n/* @include \"y\" */ s = \"@include\";\n#@include\n@include \"z\"",
      ":1: @include is not supported: --config takes a folder of files\n"
      ":4: @include is not supported: --config takes a folder of files\n" },
    { "\na = \"x\\\"\n\n", ":2: the text that begins here has no end\n" },
    { "a = 1;\n/* b\n *", ":2: the comment that begins here has no end\n" },
    { "plugin_dir = \"/a\\x00b\";\n", ":1: a text may not contain \\x00\n" },
    { "\nx = 9223372036854775808;\n", ":2: the number is too large\n" },
    { "x = -9223372036854775809L;\n", ":1: the number is too large\n" },

    /* the daemon's options */
    { OK_GROUP OK_PLUGIN "plugin_dri = \"/x\";\n",
      ":3: unknown option 'plugin_dri' (did you mean 'plugin_dir'?)\n" },
    { OK_GROUP OK_PLUGIN "plugin_dir = 5;\n",
      ":3: option 'plugin_dir': expected an absolute path in quotes, found a whole number\n" },
    { OK_GROUP OK_PLUGIN "plugin_dir = \"lib\";\n",
      ":3: option 'plugin_dir': 'lib' is not an absolute path\n" },
    { OK_GROUP OK_PLUGIN "log:\n{\n  level = \"inof\"; };\n",
      ":5: option 'log.level': 'inof' is none of error|warn|info|debug (did you mean 'info'?)\n" },
    { OK_GROUP OK_PLUGIN "log: { level = \"quiet\"; };\n",
      ":3: option 'log.level': 'quiet' is none of error|warn|info|debug\n" },
    { OK_GROUP OK_PLUGIN "log: { level = \"\"; };\n",
      ":3: option 'log.level': '' is none of error|warn|info|debug\n" },
    { OK_GROUP OK_PLUGIN "log: { colour = true; };\n", ":3: unknown option 'log.colour'\n" },
    { OK_GROUP OK_PLUGIN "log = \"info\";\n", ":3: 'log': expected a group { }, found a text\n" },
    { OK_GROUP OK_PLUGIN "lgo: { };\n", ":3: unknown group 'lgo' (did you mean 'log'?)\n" },
    { OK_GROUP OK_PLUGIN "controller: { timeout_s = 4; };\n",
      ":3: option 'controller.timeout_s': 4 is not between 5 and 3600\n" },
    { OK_GROUP OK_PLUGIN "controller: { timeout_s = 4294967356; };\n",
      ":3: option 'controller.timeout_s': 4294967356 is not between 5 and 3600\n" },
    { OK_GROUP OK_PLUGIN
      "controller: { timeout_s = "
      "000000000000000000000000000000000000000000000000000000000000000000004294967356; };\n",
      ":3: option 'controller.timeout_s': 4294967356 is not between 5 and 3600\n" },
    { OK_GROUP OK_PLUGIN "controller: { timeout_s = 0x40; };\n",
      ":3: option 'controller.timeout_s': expected a whole decimal number, found a hexadecimal "
      "number\n" },
    { OK_GROUP OK_PLUGIN "controller: { timeout_s = 60.5; };\n",
      ":3: option 'controller.timeout_s': expected a whole decimal number, found a number with a "
      "fraction\n" },
    { OK_GROUP OK_PLUGIN "controller: { timeout_s = \"60\"; };\n",
      ":3: option 'controller.timeout_s': expected a whole decimal number, found a text\n" },

    /* plugins */
    { "", ": option 'plugins' is required: ( { name = \"...\"; } )\n" },
    { "plugin = ( );\n", ": option 'plugins' is required: ( { name = \"...\"; } )\n"
                         ":1: unknown option 'plugin' (did you mean 'plugins'?)\n" },
    { "plugins = ( );\n",
      ":1: 'plugins': expected a list ( { name = \"...\"; } ) of 1 to 64 entries, found none\n" },
    { "plugins: { clb: { }; };\n", ":1: 'plugins': expected a list ( { name = \"...\"; } ) of 1 to "
                                   "64 entries, found a group { }\n" },
    { OK_GROUP "plugins = ( { workers = 1; },\n \"clb\",\n { name = 1; }, { name = \"Clb\"; },\n { "
               "name = \"\"; }, { name = \"clb\"; },\n { name = \"clb\"; },\n"
               " { name = \"a23456789-123456789-123456789-123\"; } );\n",
      ":2: 'plugins': entry 1: option 'name' is required, or 'file'\n"
      ":3: 'plugins': entry 2: expected a group { }, found a text\n"
      ":4: 'plugins': entry 3: option 'name': expected a text in quotes, found a whole number\n"
      ":4: 'plugins': entry 4: 'Clb' is no name of a plugin: small letters, digits and '-', at "
      "most 32\n"
      ":5: 'plugins': entry 5: '' is no name of a plugin: small letters, digits and '-', at most "
      "32\n"
      ":6: plugin 'clb' is listed twice: a second instance needs another name, and 'file'\n"
      ":7: 'plugins': entry 8: 'a23456789-123456789-123456789-123' is no name of a plugin: small "
      "letters, digits and '-', at most 32\n" },
    { OK_GROUP "plugins = ( { name = \"clb\";\n workerz = 2;\n workers = 0; } );\n",
      ":4: option 'clb.workers': 0 is not between 1 and 256\n"
      ":3: unknown option 'clb.workerz' (did you mean 'workers'?)\n" },
    { OK_GROUP
      "plugins = ( { name = \"clb\"; workers = 257; critical = 1; enabled = \"yes\"; } );\n",
      ":2: option 'clb.workers': 257 is not between 1 and 256\n"
      ":2: option 'clb.critical': expected true or false, found a whole number\n"
      ":2: option 'clb.enabled': expected true or false, found a text\n" },
    { OK_GROUP "plugins = ( { name = \"clb\"; file = \"../x.so\"; } );\n",
      ":2: option 'clb.file': '../x.so' is neither an absolute path nor a bare file name\n" },

    /* a plugin's options */
    { OK_GROUP "plugins = ( { name = \"clb\";\n default_weight = 101;\n dry_run = 0;\n ca_file = "
               "\"ca.pem\";\n"
               " audit: { zones = \"a\"; bytes = true; }; } );\n",
      ":3: option 'clb.default_weight': 101 is not between 1 and 100\n"
      ":4: option 'clb.dry_run': expected true or false, found a whole number\n"
      ":5: option 'clb.ca_file': 'ca.pem' is not an absolute path\n"
      ":6: option 'clb.audit.zones': expected a list of texts [ \"a\", \"b\" ], found a text\n"
      ":6: option 'clb.audit.bytes': expected a whole decimal number, found true or false\n" },
    { OK_GROUP "plugins = ( { name = \"clb\"; audit: {\n zones = [ 1, 2 ]; zonez = [ ]; };\n "
               "audits: { }; audit_zones = 1; } );\n",
      ":3: option 'clb.audit.zones': element 1: expected a text in quotes, found a whole number\n"
      ":3: unknown option 'clb.audit.zonez' (did you mean 'zones'?)\n"
      ":4: unknown group 'clb.audits' (did you mean 'audit'?)\n"
      ":4: unknown option 'clb.audit_zones'\n" },
    { OK_GROUP "plugins = ( { name = \"clb\"; audit = [ ]; } );\n",
      ":2: 'clb.audit': expected a group { }, found an array [ ]\n" },
    { OK_GROUP "plugins = ( { name = \"clb\"; audit: { zones = [ \"a\",\n \"\" ]; }; } );\n",
      ":3: option 'clb.audit.zones': element 2 is empty\n" },

    /* shared groups */
    { OK_PLUGIN, ":1: option 'alicloud.region' is required by plugin 'clb'\n" },
    { OK_PLUGIN "alicloud: { network = \"vpc\"; };\n",
      ":2: option 'alicloud.region' is required by plugin 'clb'\n" },
    { OK_PLUGIN "alicloud: {\n region = \"\"; };\n",
      ":3: option 'alicloud.region' may not be empty\n" },
    { OK_PLUGIN "alicloud: {\n region = \"cn/hangzhou\"; };\n",
      ":3: option 'alicloud.region': 'cn/hangzhou' does not match [a-z0-9-]{1,20}\n" },
    { OK_PLUGIN "alicloud: {\n region = \"cn-hangzhou-and-so-on\"; };\n",
      ":3: option 'alicloud.region': 'cn-hangzhou-and-so-on' does not match [a-z0-9-]{1,20}\n" },
    { OK_PLUGIN "alicloud: {\n region = 5; };\n",
      ":3: option 'alicloud.region': expected a text in quotes, found a whole number\n" },
    { OK_PLUGIN "alicloud: { region = \"r\";\n regoin = \"x\";\n endpoints: { sbl = \"\"; }; "
                "network = \"clasic\"; };\n",
      ":4: option 'alicloud.network': 'clasic' is none of vpc|classic (did you mean 'classic'?)\n"
      ":3: unknown option 'alicloud.regoin' (did you mean 'region'?)\n"
      ":4: unknown option 'alicloud.endpoints.sbl' (did you mean 'slb'?)\n" },
    { OK_PLUGIN "alicloud: { region = \"r\";\n endpoints: { slb = \"http://x\"; }; };\n",
      ":3: option 'alicloud.endpoints.slb': 'http://x' is taken only with 'plain_http = true' in "
      "alicloud\n" },
    { OK_PLUGIN "alicloud: { region = \"r\"; plain_http = false;\n endpoints: { slb = \"a:b\"; }; "
                "};\n",
      ":3: option 'alicloud.endpoints.slb': 'a:b' is taken only with 'plain_http = true' in "
      "alicloud\n" },
    { OK_GROUP "plugins = ( { name = \"clb\";\n guarded = \"b\"; } );\n",
      ":3: option 'clb.guarded': 'b' is taken only with 'anything = true' in the plugin's "
      "entry\n" },
    { OK_PLUGIN OK_GROUP "aliclod: { region = \"x\"; };\n",
      ":3: unknown group 'aliclod' (did you mean 'alicloud'?)\n" },
    { OK_GROUP "plugins = ( { name = \"nlb\"; } );\nalicloud2: { };\n",
      ":3: unknown group 'alicloud2' (did you mean 'alicloud'?)\n" },
};

/* Put the path in front of each line of `lines`. */
static void prefix_lines(const char *path, const char *lines, struct ccm_buf *buf)
{
    while (*lines != '\0') {
        const size_t len = strcspn(lines, "\n") + 1;

        ccm_buf_adds(buf, path);
        ccm_buf_add(buf, lines, len);
        lines += len;
    }
}

static void test_faults(void **state)
{
    const struct fixture *f = *state;

    for (size_t i = 0; i < CCM_ARRAY_LEN(faults); i++) {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf expected = { .max = 8192 };
        CCM_CLEANUP(config_freep) struct config_tree *config = NULL;
        struct ccm_error err = CCM_ERROR_INIT;

        write_file(f, faults[i].text, strlen(faults[i].text));
        assert_int_equal(run_steps(f, &config, &err), -EINVAL);
        assert_int_equal(err.kind, CCM_ERROR_TERMINAL);
        prefix_lines(f->path, faults[i].problems, &expected);
        assert_string_equal(config_problems(config), ccm_buf_str(&expected));
        /* err is the first line. */
        assert_int_equal(strlen(err.message), strcspn(expected.data, "\n"));
        assert_memory_equal(err.message, expected.data, strlen(err.message));
    }
}

static void test_each_step_tells_its_own(void **state)
{
    static const char text[] =
        "log: { level = \"x\"; };\nplugins = ( { name = \"clb\"; dry_run = 1; } );\n";
    const struct fixture *f = *state;
    CCM_CLEANUP(config_freep) struct config_tree *config = NULL;
    struct ccm_error err = CCM_ERROR_INIT;

    write_file(f, text, strlen(text));
    assert_int_equal(config_load(f->path, &config, &err), -EINVAL);
    assert_non_null(strstr(err.message, ":1: option 'log.level'"));
    assert_int_equal(config_bind_plugin(config, "clb", clb_options, &err), -EINVAL);
    assert_non_null(strstr(err.message, ":2: option 'alicloud.region' is required"));
    assert_non_null(strstr(config_problems(config), ":2: option 'clb.dry_run'"));
    assert_int_equal(config_bind_plugin(config, "clb", clb_options, &err), -ENOENT);
    assert_non_null(strstr(err.message, "bound already"));
    assert_int_equal(config_bind_plugin(config, "route", NULL, &err), -ENOENT);
    assert_non_null(strstr(err.message, "not listed"));
    assert_int_equal(err.kind, CCM_ERROR_BUG);
    assert_int_equal(config_finish(config, &err), -EINVAL);
    assert_non_null(strstr(err.message, ":1: option 'log.level'"));
    /* A value that was refused reads as the default. */
    assert_string_equal(config_string(config, NULL, "log", "level"), "info");
}

/* Options of plugins that are not there cannot be judged; everything else is. */
static void test_unbound_plugins(void **state)
{
    static const char text[] = "alicloud: { regoin = \"r\"; };\naws: { zone = 1; };\nlog: { levle "
                               "= \"info\"; };\ntypo = 1;\n"
                               "plugins = ( { name = \"clb\"; enabled = false; anything = 1; },\n"
                               "            { name = \"nlb\"; anything = 1; } );\n";
    const struct fixture *f = *state;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf expected = { .max = 8192 };
    CCM_CLEANUP(config_freep) struct config_tree *config = NULL;
    struct ccm_error err = CCM_ERROR_INIT;

    write_file(f, text, strlen(text));
    assert_int_equal(run_steps(f, &config, &err), -EINVAL);
    prefix_lines(f->path,
                 ":3: unknown option 'log.levle' (did you mean 'level'?)\n"
                 ":4: unknown option 'typo'\n"
                 ":6: unknown option 'nlb.anything'\n",
                 &expected);
    assert_string_equal(config_problems(config), ccm_buf_str(&expected));
}

static void test_problems_are_bounded(void **state)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 65536 };
    CCM_CLEANUP(config_freep) struct config_tree *config = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    size_t lines = 0;

    ccm_buf_adds(&text, OK_GROUP OK_PLUGIN);
    for (int i = 0; i < 200; i++) {
        ccm_buf_addf(&text, "unknown%d = 1;\n", i);
    }
    write_file(*state, text.data, text.len);
    assert_int_equal(run_steps(*state, &config, &err), -EINVAL);
    for (const char *p = config_problems(config); *p != '\0'; p++) {
        lines += *p == '\n' ? 1 : 0;
    }
    assert_int_equal(lines, CONFIG_PROBLEMS_MAX + 1);
    assert_non_null(strstr(config_problems(config), "more problems than these"));
}

/* --- files that are none -------------------------------------------------------------------- */

static void expect_unreadable(const char *path, const char *why)
{
    CCM_CLEANUP(config_freep) struct config_tree *config = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    char expected[256];

    (void)snprintf(expected, sizeof(expected), "%s: %s", path, why);
    assert_int_equal(config_load(path, &config, &err), -EINVAL);
    assert_non_null(config);
    assert_string_equal(err.message, expected);
    assert_int_equal(config_plugin_count(config), 0);
    assert_int_equal(config_bind_plugin(config, "clb", clb_options, &err), -EINVAL);
    assert_int_equal(config_finish(config, &err), -EINVAL);
    assert_string_equal(err.message, expected);
    assert_string_equal(config_string(config, NULL, "log", "level"), "");
}

static void test_unreadable_files(void **state)
{
    const struct fixture *f = *state;

    expect_unreadable(f->path, "cannot be read: No such file or directory");
    expect_unreadable(f->folder, "is a folder without a file whose name ends in .conf");
    expect_unreadable("/dev/zero", "is a special file, not a regular file");
    write_file(f, "x", 1);
    assert_int_equal(truncate(f->path, (off_t)CONFIG_FILE_MAX + 1), 0);
    expect_unreadable(f->path, "is larger than 1048576 bytes");
    if (geteuid() != 0) { /* nothing is unreadable for root */
        assert_int_equal(chmod(f->path, 0), 0);
        expect_unreadable(f->path, "cannot be read: Permission denied");
    }
}

static void test_hostile_texts(void **state)
{
    const struct fixture *f = *state;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf deep = { .max = 0 };
    CCM_CLEANUP(config_freep) struct config_tree *config = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    static const char with_nul[] = "a = 1;\nb = \"\0\";\n";

    for (int i = 0; i < 100000; i++) {
        ccm_buf_adds(&deep, "a:{");
    }
    write_file(f, deep.data, deep.len);
    assert_int_equal(config_load(f->path, &config, &err), -EINVAL);
    assert_non_null(strstr(err.message, "nested too deeply"));
    config_free(config);
    write_file(f, with_nul, sizeof(with_nul) - 1);
    assert_int_equal(config_load(f->path, &config, &err), -EINVAL);
    assert_non_null(strstr(err.message, ":2: there is a NUL byte"));
    config_free(config);
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf full = { .max = 0 };

    while (full.len < CONFIG_FILE_MAX) {
        ccm_buf_adds(&full, "\"\\");
    }
    write_file(f, full.data, CONFIG_FILE_MAX);
    assert_int_equal(config_load(f->path, &config, &err), -EINVAL);
}

/* --- faults of a plugin's table ------------------------------------------------------------- */

static const struct {
    struct ccm_option row;
    const char *why;
} table_faults[] = {
    { { .struct_size = 8, .type = CCM_OPTION_INT, .name = "x" },
      "option 'x': its struct_size is too small" },
    { { HEAD, .type = 77, .name = "x" }, "option 'clb.x': its type is unknown" },
    { { HEAD, .type = CCM_OPTION_INT, .name = "x", .flags = 8 }, "option 'x': it has flags" },
    { {
          HEAD,
          .type = CCM_OPTION_INT,
          .name = "x.",
      },
      "option 'x.': its name is not words" },
    { {
          HEAD,
          .type = CCM_OPTION_INT,
          .name = "X",
      },
      "option 'X': its name is not words" },
    { {
          HEAD,
          .type = CCM_OPTION_INT,
          .name = "",
      },
      "option '?': its name is not words" },
    { {
          HEAD,
          .type = CCM_OPTION_INT,
          .name = NULL,
      },
      "option '?': its name is not words" },
    { {
          HEAD,
          .type = CCM_OPTION_INT,
          .name = "workers",
      },
      "option 'workers': its name belongs to the daemon" },
    { { HEAD, .type = CCM_OPTION_INT, .name = "x", .group = "a.b" },
      "option 'x': its group is not a word" },
    { { HEAD, .type = CCM_OPTION_INT, .name = "x", .group = "log" },
      "option 'x': its group belongs to the daemon" },
    { { HEAD, .type = CCM_OPTION_INT, .name = "x", .group = "" },
      "option 'x': its group belongs to the daemon" },
    { { HEAD, .type = CCM_OPTION_INT, .name = "x", .group = "plugins" },
      "option 'x': its group belongs to the daemon" },
    { { HEAD, .type = CCM_OPTION_INT, .name = "level", .group = "log" },
      "option 'log.level': another plugin or the daemon lists it" },
    { { HEAD, .type = CCM_OPTION_STRING, .name = "region", .group = "alicloud", .fallback = "x" },
      "option 'alicloud.region': another plugin" },
    { { HEAD, .type = CCM_OPTION_STRINGS, .name = "region", .group = "alicloud" },
      "option 'alicloud.region': another plugin" },
    { { HEAD, .type = CCM_OPTION_INT, .name = "x", .min = 1, .max = 9, .fallback = "10" },
      "option 'clb.x': its default is no whole number" },
    { { HEAD, .type = CCM_OPTION_INT, .name = "x", .min = 2, .max = 1 },
      "option 'clb.x': its default is no whole number" },
    { { HEAD, .type = CCM_OPTION_BOOL, .name = "x", .fallback = "yes" },
      "option 'clb.x': its default is neither true" },
    { { HEAD, .type = CCM_OPTION_PATH, .name = "x", .fallback = "a/b" },
      "option 'clb.x': its default is no absolute path" },
    { { HEAD, .type = CCM_OPTION_STRING, .name = "x", .values = "a|b", .fallback = "c" },
      "option 'clb.x': its default is not among" },
};

static void test_table_faults(void **state)
{
    const struct fixture *f = *state;
    static const char text[] =
        OK_GROUP "plugins = ( { name = \"nlb\"; },\n { name = \"clb\"; } );\n";

    write_file(f, text, strlen(text));
    for (size_t i = 0; i < CCM_ARRAY_LEN(table_faults); i++) {
        CCM_CLEANUP(config_freep) struct config_tree *config = NULL;
        const struct ccm_option *const rows[] = { &table_faults[i].row, NULL };
        struct ccm_error err = CCM_ERROR_INIT;
        char expected[512];

        assert_int_equal(config_load(f->path, &config, &err), 0);
        assert_int_equal(config_bind_plugin(config, "nlb", nlb_options, &err), 0);
        assert_int_equal(config_bind_plugin(config, "clb", rows, &err), -EINVAL);
        (void)snprintf(expected, sizeof(expected), "%s:3: plugin 'clb' has a fault: %s", f->path,
                       table_faults[i].why);
        assert_memory_equal(err.message, expected, strlen(expected));
    }
}

/* Whether an option is required is each plugin's own matter. */
static void test_required_by_the_second(void **state)
{
    static const char text[] = "plugins = ( { name = \"nlb\"; },\n { name = \"clb\"; } );\n";
    CCM_CLEANUP(config_freep) struct config_tree *config = NULL;
    const struct fixture *f = *state;
    struct ccm_error err = CCM_ERROR_INIT;

    write_file(f, text, strlen(text));
    assert_int_equal(config_load(f->path, &config, &err), 0);
    assert_int_equal(config_bind_plugin(config, "nlb", nlb_options, &err), 0);
    assert_int_equal(config_bind_plugin(config, "clb", clb_options, &err), -EINVAL);
    assert_non_null(
        strstr(err.message, ":2: option 'alicloud.region' is required by plugin 'clb'"));
}

/* --- the daemon's own tables ---------------------------------------------------------------- */

static void test_option_doc(void **state)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { .max = 65536 };

    (void)state;
    config_option_doc(&buf, NULL, config_core_options);
    config_option_doc(&buf, "clb", clb_options);
    config_option_doc(&buf, "x", NULL);
    assert_int_equal(ccm_buf_error(&buf), 0);
    assert_non_null(strstr(buf.data, "| `plugin_dir` | absolute path | empty | "));
    assert_non_null(
        strstr(buf.data, "| `log.level` | one of error\\|warn\\|info\\|debug | `info` | "));
    assert_non_null(
        strstr(buf.data, "| `controller.timeout_s` | whole number, 5 to 3600 | `120` | "));
    assert_non_null(strstr(buf.data, "| `alicloud.region` | text of the form [a-z0-9-]{1,20} | "
                                     "required | Region. |\n"));
    assert_non_null(strstr(buf.data, "| `clb.audit.zones` | list of texts | `a, b` | Zones. |\n"));
    assert_non_null(strstr(buf.data, "There are no options.\n"));
}

/* --- the next snapshot ---------------------------------------------------------------------- */

static const struct ccm_option live_weight = {
    HEAD,       .type = CCM_OPTION_INT, .flags = CCM_OPTION_LIVE, .name = "weight",
    .max = 100, .help = "Weight.",
};
static const struct ccm_option fixed_zones = {
    HEAD,
    .type = CCM_OPTION_STRINGS,
    .name = "zones",
    .help = "Zones.",
};
static const struct ccm_option live_quota = {
    HEAD,       .type = CCM_OPTION_INT, .flags = CCM_OPTION_LIVE, .group = "cloud", .name = "quota",
    .max = 100, .help = "Quota.",
};
static const struct ccm_option half_live_pause = {
    HEAD,       .type = CCM_OPTION_INT, .flags = CCM_OPTION_LIVE, .group = "cloud", .name = "pause",
    .max = 100, .help = "Pause.",
};
static const struct ccm_option fixed_pause = {
    HEAD, .type = CCM_OPTION_INT, .group = "cloud", .name = "pause", .max = 100, .help = "Pause.",
};
static const struct ccm_option *const one_options[] = { &live_weight, &fixed_zones, &live_quota,
                                                        &half_live_pause, NULL };
static const struct ccm_option *const two_options[] = { &live_quota, &fixed_pause, NULL };

static struct config_tree *snapshot(struct fixture *fixture, const char *text, bool two)
{
    struct ccm_error err = CCM_ERROR_INIT;
    struct config_tree *config = NULL;

    write_file(fixture, text, strlen(text));
    assert_int_equal(config_load(fixture->path, &config, &err), 0);
    assert_int_equal(config_bind_plugin(config, "one", one_options, &err), 0);
    if (two) {
        assert_int_equal(config_bind_plugin(config, "two", two_options, &err), 0);
    }
    assert_int_equal(config_finish(config, &err), 0);
    return config;
}

static void add_label(void *arg, const char *label, bool live)
{
    struct ccm_buf *told = arg;

    ccm_buf_addf(told, "%s%s;", label, live ? "!" : "");
}

static void test_follow(void **state)
{
    struct fixture *fixture = *state;
    CCM_CLEANUP(config_freep)
    struct config_tree *old =
        snapshot(fixture,
                 "cloud: { quota = 1; pause = 1; };\nlog: { level = \"warn\"; };\n"
                 "plugins = ( { name = \"one\"; weight = 1; zones = [\"a\"]; },"
                 " { name = \"two\"; workers = 3; } );\n",
                 true);
    CCM_CLEANUP(config_freep)
    struct config_tree *config =
        snapshot(fixture,
                 "cloud: { quota = 2; pause = 2; };\nlog: { level = \"debug\"; };\n"
                 "admin: { listen = \"\"; };\n"
                 "plugins = ( { name = \"one\"; weight = 2; zones = [\"a\", \"b\"]; },"
                 " { name = \"three\"; } );\n",
                 false);
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf told = { .max = 4096 };

    assert_int_equal(config_follow(config, old, add_label, &told), 0);
    assert_string_equal(ccm_buf_str(&told),
                        "plugins (two removed);plugins (three added);admin.listen;log.level!;"
                        "one.weight!;one.zones;cloud.quota!;cloud.pause;");
    assert_string_equal(config_string(config, NULL, "log", "level"), "debug");
    assert_int_equal(config_int(config, "one", NULL, "weight"), 2);
    assert_int_equal(config_int(config, "one", "cloud", "quota"), 2);
    assert_int_equal(config_int(config, "two", "cloud", "quota"), 2); /* it still runs */
    assert_int_equal(config_int(config, "one", "cloud", "pause"), 1);
    assert_string_equal(config_string(config, NULL, "admin", "listen"), "127.0.0.1:10258");
    assert_null(config_strings(config, "one", NULL, "zones")[1]);
    assert_int_equal(config_plugin_count(config), 2);
    assert_string_equal(config_plugin_at(config, 1)->name, "two");
    assert_int_equal(config_plugin_at(config, 1)->workers, 3);
    assert_int_equal(config_int(old, "one", NULL, "weight"), 1);
}

/* --- folders -------------------------------------------------------------------------------- */

struct part {
    const char *name;
    const char *text;
};

/* What a folder with these files comes to; `said` has the problems. */
static struct config_tree *load_parts(const struct fixture *f, const struct part *parts,
                                      size_t count, const char *said)
{
    struct ccm_error err = CCM_ERROR_INIT;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf found = { .max = 4096 };
    struct config_tree *config = NULL;
    struct fixture file = *f;

    for (size_t i = 0; i < count; i++) {
        (void)snprintf(file.path, sizeof(file.path), "%s/%s", f->folder, parts[i].name);
        write_file(&file, parts[i].text, strlen(parts[i].text));
    }
    (void)snprintf(file.path, sizeof(file.path), "%s", f->folder);
    (void)run_steps(&file, &config, &err);
    assert_non_null(config);
    for (const char *at = config_problems(config); *at != '\0'; at += strcspn(at, "\n") + 1) {
        const size_t skip = strncmp(at, f->folder, strlen(f->folder)) == 0 ? strlen(f->folder) : 0;

        ccm_buf_addf(&found, "%.*s\n", (int)(strcspn(at, "\n") - skip), at + skip);
    }
    assert_string_equal(ccm_buf_str(&found), said);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(file.path, sizeof(file.path), "%s/%s", f->folder, parts[i].name);
        assert_int_equal(unlink(file.path), 0);
    }
    return config;
}

static void test_folder(void **state)
{
    static const struct part parts[] = {
        { "z.conf",
          "alicloud: { region = \"z\"; };\nplugins = ( { name = \"clb\"; default_weight = 7;"
          " audit: { zones = [ \"q\" ]; }; } );\n" },
        { "a.conf",
          "# first\nalicloud: { region = \"a\"; retries = 3; };\nlog: { level = \"warn\"; };\n"
          "plugins = ( { name = \"clb\"; workers = 3; default_weight = 5;"
          " audit: { bytes = 5000000000; }; } );\n" },
        { "m.conf", "plugins = ( { name = \"nlb\"; } );" },
        { ".hidden.conf", "foo = 1;\n" },
        { "other.txt", "foo = 1;\n" },
    };
    CCM_CLEANUP(config_freep)
    struct config_tree *config = load_parts(*state, parts, CCM_ARRAY_LEN(parts), "");

    assert_string_equal(config_string(config, "clb", "alicloud", "region"), "z");
    assert_int_equal(config_int(config, "clb", "alicloud", "retries"), 3);
    assert_string_equal(config_string(config, NULL, "log", "level"), "warn");
    assert_int_equal(config_plugin_count(config), 2);
    assert_string_equal(config_plugin_at(config, 0)->name, "clb");
    assert_int_equal(config_plugin_at(config, 0)->workers, 3);
    assert_int_equal(config_int(config, "clb", NULL, "default_weight"), 7);
    assert_int_equal(config_int(config, "clb", NULL, "audit.bytes"), 5000000000);
    assert_string_equal(config_strings(config, "clb", NULL, "audit.zones")[0], "q");
    assert_null(config_strings(config, "clb", NULL, "audit.zones")[1]);
}

/* Each problem has file and line of its own, also beside files that cannot be read. */
static void test_folder_faults(void **state)
{
    const struct fixture *f = *state;
    static const struct part wrong[] = {
        { "a.conf",
          "alicloud: { region = \"a\"; };\n\nfoo = 1;\nplugins = ( { name = \"clb\"; } );\n" },
        { "b.conf", "\n\nalicloud: { retries = \"x\"; };\n" },
        { "c.conf", "plugins = ( { name = \"nlb\"; },\n { name = \"nlb\"; },\n { name = \"clb\"; "
                    "wokers = 1; } );\n" },
        { "d.conf", "log = 3;\n" },
        { "e.conf", "log: { level = \"x\"; };" },
    };
    static const struct part broken[] = {
        { "a.conf", "alicloud: {\n" },
        { "b.conf", "plugins = ( { name = \"clb\"; } );\nfoo = 1;\n" },
        { "c.conf", "\n@include \"x\"\n" },
    };

    config_free(load_parts(f, wrong, CCM_ARRAY_LEN(wrong),
                           "/e.conf:1: option 'log.level': 'x' is none of error|warn|info|debug\n"
                           "/c.conf:2: plugin 'nlb' is listed twice: a second instance needs "
                           "another name, and 'file'\n"
                           "/b.conf:3: option 'alicloud.retries': expected a whole decimal number, "
                           "found a text\n"
                           "/a.conf:3: unknown option 'foo'\n"
                           "/c.conf:3: unknown option 'clb.wokers' (did you mean 'workers'?)\n"));
    config_free(load_parts(f, broken, CCM_ARRAY_LEN(broken),
                           "/a.conf:1: the '{' that begins here has no end\n"
                           "/c.conf:2: @include is not supported: --config takes a folder of "
                           "files\n"));
}

/* Whatever becomes another file, or a file more or less, makes another stamp. */
static void test_folder_stamp(void **state)
{
    struct fixture file = *(struct fixture *)*state;
    struct config_stamp stamps[5];

    write_file(&file, "a = 1;\n", 7);
    stamps[0] = config_stamp_of(file.folder);
    write_file(&file, "a = 12;\n", 8);
    stamps[1] = config_stamp_of(file.folder);
    (void)snprintf(file.path, sizeof(file.path), "%s/d.conf", file.folder);
    write_file(&file, "", 0);
    stamps[2] = config_stamp_of(file.folder);
    assert_int_equal(unlink(file.path), 0);
    stamps[3] = config_stamp_of(file.folder);
    (void)snprintf(file.path, sizeof(file.path), "%s/d.txt", file.folder);
    write_file(&file, "", 0);
    stamps[4] = config_stamp_of(file.folder);
    assert_int_equal(unlink(file.path), 0);
    assert_false(config_stamp_equal(&stamps[0], &stamps[1]));
    assert_false(config_stamp_equal(&stamps[1], &stamps[2]));
    assert_true(config_stamp_equal(&stamps[1], &stamps[3]));
    assert_true(config_stamp_equal(&stamps[1], &stamps[4]));
}

static void test_every_row_has_help(void **state)
{
    static const struct ccm_option *const *const tables[] = { config_core_options,
                                                              config_entry_options };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(tables); i++) {
        for (size_t j = 0; tables[i][j] != NULL; j++) {
            assert_true(strlen(tables[i][j]->help) > 8);
        }
    }
}

#define CONFIG_TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONFIG_TEST(test_everything),
        CONFIG_TEST(test_retired),
        CONFIG_TEST(test_defaults),
        CONFIG_TEST(test_faults),
        CONFIG_TEST(test_each_step_tells_its_own),
        CONFIG_TEST(test_unbound_plugins),
        CONFIG_TEST(test_problems_are_bounded),
        CONFIG_TEST(test_unreadable_files),
        CONFIG_TEST(test_folder),
        CONFIG_TEST(test_folder_faults),
        CONFIG_TEST(test_folder_stamp),
        CONFIG_TEST(test_hostile_texts),
        CONFIG_TEST(test_table_faults),
        CONFIG_TEST(test_required_by_the_second),
        CONFIG_TEST(test_follow),
        cmocka_unit_test(test_option_doc),
        cmocka_unit_test(test_every_row_has_help),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
