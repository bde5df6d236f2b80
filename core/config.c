#include "config.h"

#include "config_listen.h"
#include "config_options.h"
#include "config_rows.h"
#include "config_scan.h"
#include "config_value.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PLUGIN_NAME_MAX 32

/* --- outcome of a step ---------------------------------------------------------------------- */

/* -EINVAL with the line of the problem that starts at `offset` of the list. */
static int fail_at(const struct ccm_config *config, size_t offset, struct ccm_error *err)
{
    const char *text = ccm_buf_str(&config->problems.text);

    if (ccm_buf_error(&config->problems.text) != 0) {
        return ccm_error_nomem(err);
    }
    if (offset >= config->problems.text.len) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "%s: there are too many problems",
                             config->file);
    }
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "%.*s",
                         (int)strcspn(text + offset, "\n"), text + offset);
}

/* How a step ends that began with so many problems, at that offset. */
static int end_step(const struct ccm_config *config, size_t count, size_t offset,
                    struct ccm_error *err)
{
    return config->problems.count == count ? 0 : fail_at(config, offset, err);
}

/* --- reading -------------------------------------------------------------------------------- */

static void add_errno(struct ccm_config *config, int error)
{
    char text[128] = "unknown error";

    (void)strerror_r(error, text, sizeof(text)); /* the text above stays when it fails */
    ccm_config_problems_add(&config->problems, 0, "cannot be read: %s", text);
}

/* The text of the file; problems are added. 0, -ENOMEM, or -EINVAL: there is none. */
static int read_text(struct ccm_config *config, char **ret_text, size_t *ret_len)
{
    struct stat st;

    config->stamp = ccm_config_stamp_of(config->file);
    if (stat(config->file, &st) < 0) {
        add_errno(config, errno);
        return -EINVAL;
    }
    if (!S_ISREG(st.st_mode)) {
        ccm_config_problems_add(&config->problems, 0, "is %s, not a regular file",
                                S_ISDIR(st.st_mode) ? "a directory" : "a special file");
        return -EINVAL;
    }

    /* A sparse file of any size costs nothing to make, and much to read. */
    const int r = st.st_size > (off_t)CCM_CONFIG_FILE_MAX
                      ? -EFBIG
                      : ccm_text_read_file(config->file, CCM_CONFIG_FILE_MAX, ret_text, ret_len);

    if (r == -EFBIG) {
        ccm_config_problems_add(&config->problems, 0, "is larger than %zu bytes",
                                CCM_CONFIG_FILE_MAX);
    } else if (r < 0 && r != -ENOMEM) {
        add_errno(config, -r);
    }
    return r == 0 || r == -ENOMEM ? r : -EINVAL;
}

/* Fill the tree. 0, -ENOMEM, or -EINVAL: problems were added and there is no tree. */
static int parse(struct ccm_config *config)
{
    CCM_CLEANUP(ccm_freep) char *text = NULL;
    /* Each number can grow by one byte, and takes at least two. */
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf scanned = { .max = 2 * CCM_CONFIG_FILE_MAX };
    size_t len = 0;
    int r = read_text(config, &text, &len);

    if (r < 0) {
        return r;
    }
    ccm_config_scan(text, len, &scanned, &config->problems);
    r = ccm_buf_error(&scanned);
    if (r < 0) {
        return r;
    }
    if (config->problems.count > 0) {
        return -EINVAL;
    }
    if (config_read_string(&config->tree, ccm_buf_str(&scanned)) != CONFIG_TRUE) {
        const char *why = config_error_text(&config->tree);
        const int line = config_error_line(&config->tree);
        /* What the generated parser says when its stack of fixed size is full. */
        const bool deep = ccm_text_equal(why, "memory exhausted");

        ccm_config_problems_add(&config->problems, line > 0 ? (unsigned)line : 0, "%s",
                                deep          ? "groups are nested too deeply"
                                : why == NULL ? "cannot be parsed"
                                              : why);
        return -EINVAL;
    }
    config->parsed = true;
    return 0;
}

/* --- plugins -------------------------------------------------------------------------------- */

static bool is_plugin_name(const char *name)
{
    const size_t len = strlen(name);

    return len > 0 && len <= PLUGIN_NAME_MAX &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

static struct ccm_config_entry *find_entry(const struct ccm_config *config, const char *name)
{
    for (size_t i = 0; i < config->entry_count; i++) {
        if (strcmp(config->entries[i].plugin.name, name) == 0) {
            return &config->entries[i];
        }
    }
    return NULL;
}

/* The name of an entry, borrowed from the tree; NULL when there is no usable one (reported). */
static const char *entry_name(struct ccm_config *config, const config_setting_t *setting, int index)
{
    struct ccm_config_problems *problems = &config->problems;
    const config_setting_t *member = NULL;

    if (!config_setting_is_group(setting)) {
        ccm_config_problems_add(problems, setting->line,
                                "'plugins': entry %d: expected a group { }, found %s", index + 1,
                                ccm_config_found(setting));
        return NULL;
    }
    member = config_setting_get_member(setting, "name");
    if (member == NULL) {
        ccm_config_problems_add(problems, setting->line,
                                "'plugins': entry %d: option 'name' is required", index + 1);
        return NULL;
    }
    if (config_setting_type(member) != CONFIG_TYPE_STRING) {
        ccm_config_problems_add(problems, member->line,
                                "'plugins': entry %d: option 'name': expected a text in quotes, "
                                "found %s",
                                index + 1, ccm_config_found(member));
        return NULL;
    }

    const char *name = config_setting_get_string(member);

    if (!is_plugin_name(name)) {
        ccm_config_problems_add(problems, member->line,
                                "'plugins': entry %d: '%s' is no name of a plugin: small letters, "
                                "digits and '-', at most %d",
                                index + 1, name, PLUGIN_NAME_MAX);
        return NULL;
    }
    if (find_entry(config, name) != NULL) {
        ccm_config_problems_add(problems, member->line, "plugin '%s' is listed twice", name);
        return NULL;
    }
    return name;
}

/* What the daemon has read in the entry of a plugin; after its table was applied. */
static const struct ccm_config_value *own_value(const struct ccm_config *config, const char *plugin,
                                                const char *name)
{
    char key[CCM_CONFIG_KEY_SIZE];

    ccm_config_key(key, plugin, NULL, name);
    return ccm_strmap_get(config->values, key);
}

/* The file of a plugin: what was given, or its name with the suffix. */
static char *entry_file(struct ccm_config *config, const struct ccm_config_entry *entry)
{
    const char *name = entry->plugin.name;
    const char *given = own_value(config, name, "file")->text;

    if (*given == '\0') {
        return ccm_text_format("%s.so", name);
    }
    if (*given != '/' && strchr(given, '/') != NULL) {
        ccm_config_problems_add(&config->problems, entry->plugin.line,
                                "option '%s.file': '%s' is neither an absolute path nor a bare "
                                "file name",
                                name, given);
    }
    return strdup(given);
}

static int add_entry(struct ccm_config *config, config_setting_t *setting, const char *name)
{
    if (ccm_array_grow(&config->entries, &config->entry_cap, config->entry_count + 1,
                       sizeof(struct ccm_config_entry)) < 0) {
        return -ENOMEM;
    }

    struct ccm_config_entry *entry = &config->entries[config->entry_count];

    *entry = (struct ccm_config_entry){ .setting = setting, .plugin.line = setting->line };
    entry->name = strdup(name);
    if (entry->name == NULL) {
        return -ENOMEM;
    }
    entry->plugin.name = entry->name;
    config->entry_count++;

    const int r = ccm_config_apply(config, entry, ccm_config_entry_options);

    if (r < 0) {
        return r;
    }
    entry->file = entry_file(config, entry);
    entry->plugin.file = entry->file;
    entry->plugin.workers = (uint32_t)own_value(config, name, "workers")->number;
    entry->plugin.critical = own_value(config, name, "critical")->number != 0;
    entry->plugin.enabled = own_value(config, name, "enabled")->number != 0;
    return entry->file == NULL ? -ENOMEM : 0;
}

static int read_plugins(struct ccm_config *config)
{
    config_setting_t *plugins =
        config_setting_get_member(config_root_setting(&config->tree), "plugins");

    if (plugins == NULL) {
        ccm_config_problems_add(&config->problems, 0,
                                "option 'plugins' is required: ( { name = \"...\"; } )");
        return 0;
    }
    ccm_config_mark(plugins, &ccm_config_mark_known);

    const int count = config_setting_length(plugins);

    if (!config_setting_is_list(plugins) || count == 0 || count > CCM_CONFIG_PLUGINS_MAX) {
        ccm_config_problems_add(&config->problems, plugins->line,
                                "'plugins': expected a list ( { name = \"...\"; } ) of 1 to %d "
                                "entries, found %s",
                                CCM_CONFIG_PLUGINS_MAX,
                                count == 0 && config_setting_is_aggregate(plugins)
                                    ? "none"
                                    : ccm_config_found(plugins));
        return 0;
    }
    for (int i = 0; i < count; i++) {
        config_setting_t *setting = config_setting_get_elem(plugins, (unsigned)i);
        const char *name = entry_name(config, setting, i);
        const int r = name == NULL ? 0 : add_entry(config, setting, name);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

/* --- life ----------------------------------------------------------------------------------- */

static int load(struct ccm_config *config)
{
    int r = parse(config);

    if (r == -EINVAL) {
        return 0; /* told as problems */
    }
    if (r == 0) {
        r = ccm_config_apply(config, NULL, ccm_config_core_options);
    }
    return r < 0 ? r : read_plugins(config);
}

int ccm_config_load(const char *file, struct ccm_config **ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_config_freep) struct ccm_config *config = calloc(1, sizeof(*config));

    *ret = NULL;
    if (config == NULL) {
        return ccm_error_nomem(err);
    }
    config_init(&config->tree);
    config->file = strdup(file);
    config->values = ccm_strmap_new(ccm_config_value_free);
    if (config->file == NULL || config->values == NULL) {
        return ccm_error_nomem(err);
    }
    config->problems.file = config->file;
    if (load(config) < 0) {
        return ccm_error_nomem(err);
    }

    const int r = end_step(config, 0, 0, err);

    if (r != -ENOMEM) {
        *ret = CCM_STEAL(config);
    }
    return r;
}

void ccm_config_free(struct ccm_config *config)
{
    if (config == NULL) {
        return;
    }
    for (size_t i = 0; i < config->entry_count; i++) {
        free(config->entries[i].name);
        free(config->entries[i].file);
    }
    free(config->entries);
    ccm_strmap_free(config->values);
    ccm_buf_fini(&config->problems.text);
    config_destroy(&config->tree);
    free(config->file);
    free(config);
}

void ccm_config_freep(struct ccm_config **config)
{
    ccm_config_free(*config);
}

int ccm_config_bind_plugin(struct ccm_config *config, const char *plugin,
                           const struct ccm_option *const *options, struct ccm_error *err)
{
    struct ccm_config_entry *entry = find_entry(config, plugin);
    const size_t count = config->problems.count;
    const size_t offset = config->problems.text.len;

    if (!config->parsed) {
        return fail_at(config, 0, err);
    }
    if (entry == NULL || entry->bound) {
        return ccm_error_set(err, -ENOENT, CCM_ERROR_BUG, "%s: plugin '%s' %s", config->file,
                             plugin, entry == NULL ? "is not listed" : "is bound already");
    }
    entry->options = options;
    entry->bound = true;
    if (ccm_config_apply(config, entry, options) < 0) {
        return ccm_error_nomem(err);
    }
    return end_step(config, count, offset, err);
}

/* What no row can say: options that have to fit each other. */
static void check_election(struct ccm_config *config)
{
    static const char group[] = "leader_election";
    const config_setting_t *setting =
        config_setting_get_member(config_root_setting(&config->tree), group);
    const unsigned line = setting == NULL ? 0 : setting->line;
    const int64_t duration = ccm_config_int(config, NULL, group, "lease_duration_s");
    const int64_t renew = ccm_config_int(config, NULL, group, "renew_deadline_s");

    if (renew >= duration) {
        ccm_config_problems_add(&config->problems, line,
                                "'leader_election': renew_deadline_s has to be less than "
                                "lease_duration_s");
    }
    if (ccm_config_int(config, NULL, group, "retry_period_ms") >= renew * 1000) {
        ccm_config_problems_add(&config->problems, line,
                                "'leader_election': retry_period_ms has to be less than "
                                "renew_deadline_s");
    }
    if (ccm_config_string(config, NULL, group, "name")[0] == '\0' ||
        ccm_config_string(config, NULL, group, "namespace")[0] == '\0') {
        ccm_config_problems_add(&config->problems, line,
                                "'leader_election': name and namespace may not be empty");
    }
}

static void check_admin(struct ccm_config *config)
{
    static const char group[] = "admin";
    const config_setting_t *setting =
        config_setting_get_member(config_root_setting(&config->tree), group);
    const unsigned line = setting == NULL ? 0 : setting->line;
    const char *listen = ccm_config_string(config, NULL, group, "listen");
    const bool cert = ccm_config_string(config, NULL, group, "tls_cert_file")[0] != '\0';
    const bool key = ccm_config_string(config, NULL, group, "tls_key_file")[0] != '\0';
    const bool token = ccm_config_string(config, NULL, group, "token_file")[0] != '\0';
    struct ccm_config_listen address = { .is_local = true };

    if (listen[0] != '\0' && ccm_config_listen_parse(listen, &address) < 0) {
        ccm_config_problems_add(&config->problems, line,
                                "'admin': listen: \"%s\" is no ADDRESS:PORT, such as "
                                "127.0.0.1:10258 or [::1]:10258",
                                listen);
        return;
    }
    if (cert != key) {
        ccm_config_problems_add(&config->problems, line,
                                "'admin': tls_cert_file and tls_key_file go together");
    }
    if (!address.is_local && (!cert || !key || !token)) {
        ccm_config_problems_add(&config->problems, line,
                                "'admin': others can reach %s: tls_cert_file, tls_key_file and "
                                "token_file are required, or an address of loopback",
                                listen);
    }
}

int ccm_config_finish(struct ccm_config *config, struct ccm_error *err)
{
    if (config->parsed) {
        check_election(config);
        check_admin(config);
        ccm_config_judge(config);
    }
    return end_step(config, 0, 0, err);
}

const char *ccm_config_problems(const struct ccm_config *config)
{
    return ccm_buf_str(&config->problems.text);
}

size_t ccm_config_plugin_count(const struct ccm_config *config)
{
    return config->entry_count;
}

const struct ccm_config_plugin *ccm_config_plugin_at(const struct ccm_config *config, size_t index)
{
    return &config->entries[index].plugin;
}

/* --- values --------------------------------------------------------------------------------- */

/* Whether the plugin's own table has the option. */
static bool lists(const struct ccm_config *config, const char *plugin, const char *group,
                  const char *name)
{
    const struct ccm_config_entry *entry = find_entry(config, plugin);
    const struct ccm_option *const *rows = entry == NULL ? NULL : entry->options;

    for (size_t i = 0; rows != NULL && rows[i] != NULL; i++) {
        if (ccm_text_equal(rows[i]->group, group) && ccm_text_equal(rows[i]->name, name)) {
            return true;
        }
    }
    return false;
}

static const struct ccm_config_value *
find_value(const struct ccm_config *config, const char *plugin, const char *group, const char *name)
{
    char key[CCM_CONFIG_KEY_SIZE];

    if (plugin != NULL && !lists(config, plugin, group, name)) {
        return NULL;
    }
    ccm_config_key(key, plugin, plugin == NULL && group == NULL ? "" : group, name);
    return ccm_strmap_get(config->values, key);
}

const char *ccm_config_string(const struct ccm_config *config, const char *plugin,
                              const char *group, const char *name)
{
    const struct ccm_config_value *value = find_value(config, plugin, group, name);

    return value == NULL || value->text == NULL ? "" : value->text;
}

int64_t ccm_config_int(const struct ccm_config *config, const char *plugin, const char *group,
                       const char *name)
{
    const struct ccm_config_value *value = find_value(config, plugin, group, name);

    return value == NULL ? 0 : value->number;
}

const char *const *ccm_config_strings(const struct ccm_config *config, const char *plugin,
                                      const char *group, const char *name)
{
    const struct ccm_config_value *value = find_value(config, plugin, group, name);

    return value == NULL ? NULL : (const char *const *)value->texts;
}
