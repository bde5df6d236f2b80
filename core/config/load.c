#include "config/load.h"

#include "config/listen.h"
#include "config/options.h"
#include "config/read.h"
#include "config/rows.h"
#include "config/value.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"
#include "util/trust.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PLUGIN_NAME_MAX 32
#define ENTRY_NAME_SIZE 256

/* --- outcome of a step ---------------------------------------------------------------------- */

/* -EINVAL with the line of the problem that starts at `offset` of the list. */
static int fail_at(const struct config_tree *config, size_t offset, struct ccm_error *err)
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
static int end_step(const struct config_tree *config, size_t count, size_t offset,
                    struct ccm_error *err)
{
    return config->problems.count == count ? 0 : fail_at(config, offset, err);
}

/* --- plugins -------------------------------------------------------------------------------- */

static bool is_plugin_name(const char *name)
{
    const size_t len = strlen(name);

    return len > 0 && len <= PLUGIN_NAME_MAX &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

static struct config_entry *find_entry(const struct config_tree *config, const char *name)
{
    for (size_t i = 0; i < config->entry_count; i++) {
        if (strcmp(config->entries[i].plugin.name, name) == 0) {
            return &config->entries[i];
        }
    }
    return NULL;
}

/* Who gives no name is called like the file, without ".so"; false: there is none, or no text. */
static bool entry_name_from_file(const config_setting_t *setting, char *name, size_t size)
{
    const config_setting_t *member = config_setting_get_member(setting, "file");
    const char *file = member == NULL || config_setting_type(member) != CONFIG_TYPE_STRING
                           ? ""
                           : config_setting_get_string(member);
    const char *slash = strrchr(file, '/');
    const char *base = slash == NULL ? file : slash + 1;
    const size_t len = strlen(base) - (ccm_text_ends(base, ".so") ? 3 : 0);

    ccm_text_copy(name, len < size ? len + 1 : size, base);
    return file[0] != '\0';
}

/* The name of an entry, borrowed from the tree or in `own`; NULL when there is no usable one
 * (reported). */
static const char *entry_name(struct config_tree *config, const config_setting_t *setting,
                              int index, char own[static ENTRY_NAME_SIZE])
{
    struct config_problems *problems = &config->problems;
    const config_setting_t *member = NULL;

    if (!config_setting_is_group(setting)) {
        config_problems_add(problems, setting->line,
                            "'plugins': entry %d: expected a group { }, found %s", index + 1,
                            config_found_type(setting));
        return NULL;
    }
    member = config_setting_get_member(setting, "name");
    if (member == NULL && !entry_name_from_file(setting, own, ENTRY_NAME_SIZE)) {
        config_problems_add(problems, setting->line,
                            "'plugins': entry %d: option 'name' is required, or 'file'", index + 1);
        return NULL;
    }
    if (member != NULL && config_setting_type(member) != CONFIG_TYPE_STRING) {
        config_problems_add(problems, member->line,
                            "'plugins': entry %d: option 'name': expected a text in quotes, "
                            "found %s",
                            index + 1, config_found_type(member));
        return NULL;
    }

    const char *name = member == NULL ? own : config_setting_get_string(member);
    const unsigned line = member == NULL ? setting->line : member->line;

    if (!is_plugin_name(name)) {
        config_problems_add(problems, line,
                            "'plugins': entry %d: '%s' is no name of a plugin: small letters, "
                            "digits and '-', at most %d",
                            index + 1, name, PLUGIN_NAME_MAX);
        return NULL;
    }
    if (find_entry(config, name) != NULL) {
        config_problems_add(problems, line,
                            "plugin '%s' is listed twice: a second instance needs another name, "
                            "and 'file'",
                            name);
        return NULL;
    }
    return name;
}

/* What the daemon has read in the entry of a plugin; after its table was applied. */
static const struct config_value *own_value(const struct config_tree *config, const char *plugin,
                                            const char *name)
{
    char key[CONFIG_KEY_SIZE];

    config_key(key, plugin, NULL, name);
    return ccm_strmap_get(config->values, key);
}

/* The file of a plugin: what was given, or its name with the suffix. */
static char *entry_file(struct config_tree *config, const struct config_entry *entry)
{
    const char *name = entry->plugin.name;
    const char *given = own_value(config, name, "file")->text;

    if (*given == '\0') {
        return ccm_text_format("%s.so", name);
    }
    if (*given != '/' && strchr(given, '/') != NULL) {
        config_problems_add(&config->problems, entry->plugin.line,
                            "option '%s.file': '%s' is neither an absolute path nor a bare "
                            "file name",
                            name, given);
    }
    return strdup(given);
}

static int add_entry(struct config_tree *config, config_setting_t *setting, const char *name)
{
    if (ccm_array_grow(&config->entries, &config->entry_cap, config->entry_count + 1,
                       sizeof(struct config_entry)) < 0) {
        return -ENOMEM;
    }

    struct config_entry *entry = &config->entries[config->entry_count];

    *entry = (struct config_entry){ .setting = setting, .plugin.line = setting->line };
    entry->name = strdup(name);
    if (entry->name == NULL) {
        return -ENOMEM;
    }
    entry->plugin.name = entry->name;
    config->entry_count++;

    const int r = config_apply(config, entry, config_entry_options);

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

static int read_plugins(struct config_tree *config)
{
    config_setting_t *plugins =
        config_setting_get_member(config_root_setting(&config->tree), "plugins");

    if (plugins == NULL) {
        config_problems_add(&config->problems, 0,
                            "option 'plugins' is required: ( { name = \"...\"; } )");
        return 0;
    }
    config_mark(plugins, &config_mark_known);

    const int count = config_setting_length(plugins);

    if (!config_setting_is_list(plugins) || count == 0 || count > CONFIG_PLUGINS_MAX) {
        config_problems_add(&config->problems, plugins->line,
                            "'plugins': expected a list ( { name = \"...\"; } ) of 1 to %d "
                            "entries, found %s",
                            CONFIG_PLUGINS_MAX,
                            count == 0 && config_setting_is_aggregate(plugins)
                                ? "none"
                                : config_found_type(plugins));
        return 0;
    }
    for (int i = 0; i < count; i++) {
        config_setting_t *setting = config_setting_get_elem(plugins, (unsigned)i);
        char own[ENTRY_NAME_SIZE];
        const char *name = entry_name(config, setting, i, own);
        const int r = name == NULL ? 0 : add_entry(config, setting, name);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

/* --- life ----------------------------------------------------------------------------------- */

static int config_load_entries(struct config_tree *config)
{
    int r = config_read_tree(config);

    if (r == -EINVAL) {
        return 0; /* told as problems */
    }
    if (r == 0) {
        r = config_apply(config, NULL, config_core_options);
    }
    if (r < 0) {
        return r;
    }
    return read_plugins(config);
}

int config_load(const char *file, struct config_tree **ret, struct ccm_error *err)
{
    CCM_CLEANUP(config_freep) struct config_tree *config = calloc(1, sizeof(*config));

    *ret = NULL;
    if (config == NULL) {
        return ccm_error_nomem(err);
    }
    config_init(&config->tree);
    config->file = strdup(file);
    config->values = ccm_strmap_new(config_value_free);
    if (config->file == NULL || config->values == NULL) {
        return ccm_error_nomem(err);
    }
    config->problems.file = config->file;
    config->problems.files = &config->files;
    if (config_load_entries(config) < 0) {
        return ccm_error_nomem(err);
    }

    const int r = end_step(config, 0, 0, err);

    if (r != -ENOMEM) {
        *ret = CCM_STEAL(config);
    }
    return r;
}

void config_free(struct config_tree *config)
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
    ccm_buf_fini(&config->retired);
    config_destroy(&config->tree);
    config_files_fini(&config->files);
    free(config->file);
    free(config);
}

void config_freep(struct config_tree **config)
{
    config_free(*config);
}

int config_bind_plugin(struct config_tree *config, const char *plugin,
                       const struct ccm_option *const *options, struct ccm_error *err)
{
    struct config_entry *entry = find_entry(config, plugin);
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
    if (config_apply(config, entry, options) < 0) {
        return ccm_error_nomem(err);
    }
    return end_step(config, count, offset, err);
}

unsigned config_line(const struct config_tree *config, const char *plugin, const char *label)
{
    const struct config_entry *entry = plugin == NULL ? NULL : find_entry(config, plugin);
    char path[CONFIG_LABEL_SIZE];
    unsigned line = 0;

    if (!config->parsed) {
        return 0;
    }

    config_setting_t *at = config_root_setting(&config->tree);

    if (entry != NULL && strchr(label, '.') == NULL) {
        at = entry->setting;
        line = entry->plugin.line;
    }
    ccm_text_copy(path, sizeof(path), label);
    for (char *part = path, *dot = path; at != NULL && dot != NULL; part = dot + 1) {
        dot = strchr(part, '.');
        if (dot != NULL) {
            *dot = '\0';
        }
        at = config_setting_is_group(at) ? config_setting_get_member(at, part) : NULL;
        line = at == NULL ? line : at->line;
    }
    return line == 0 && entry != NULL ? entry->plugin.line : line;
}

/* What no row can say: options that have to fit each other. */
static void check_election(struct config_tree *config)
{
    static const char group[] = "leader_election";

    if (config_string(config, NULL, group, "name")[0] == '\0' ||
        config_string(config, NULL, group, "namespace")[0] == '\0') {
        config_problems_add(&config->problems, config_line(config, NULL, group),
                            "'leader_election': name and namespace may not be empty");
    }
}

static void check_admin(struct config_tree *config)
{
    static const char group[] = "admin";
    const unsigned line = config_line(config, NULL, "admin.listen");
    const char *listen = config_string(config, NULL, group, "listen");
    const bool cert = config_string(config, NULL, group, "tls_cert_file")[0] != '\0';
    const bool key = config_string(config, NULL, group, "tls_key_file")[0] != '\0';
    const bool token = config_string(config, NULL, group, "token_file")[0] != '\0';
    struct config_listen address = { .is_local = true };

    if (listen[0] != '\0' && config_listen_parse(listen, &address) < 0) {
        config_problems_add(&config->problems, line,
                            "'admin': listen: \"%s\" is no ADDRESS:PORT, such as "
                            "127.0.0.1:10258 or [::1]:10258",
                            listen);
        return;
    }
    if (cert != key) {
        config_problems_add(&config->problems, config_line(config, NULL, group),
                            "'admin': tls_cert_file and tls_key_file go together");
    }
    if (!address.is_local && (!cert || !key || !token)) {
        config_problems_add(&config->problems, line,
                            "'admin': others can reach %s: tls_cert_file, tls_key_file and "
                            "token_file are required, or an address of loopback",
                            listen);
    }
}

static bool listen_is_same(const struct config_listen *a, const struct config_listen *b)
{
    if (a->is_v6 != b->is_v6) {
        return false;
    }
    if (a->is_v6) {
        return a->v6.sin6_port == b->v6.sin6_port && a->v6.sin6_port != 0 &&
               (memcmp(&a->v6.sin6_addr, &b->v6.sin6_addr, sizeof(a->v6.sin6_addr)) == 0 ||
                IN6_IS_ADDR_UNSPECIFIED(&a->v6.sin6_addr) ||
                IN6_IS_ADDR_UNSPECIFIED(&b->v6.sin6_addr));
    }
    return a->v4.sin_port == b->v4.sin_port && a->v4.sin_port != 0 &&
           (a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr || a->v4.sin_addr.s_addr == INADDR_ANY ||
            b->v4.sin_addr.s_addr == INADDR_ANY);
}

static void check_metrics(struct config_tree *config)
{
    const unsigned line = config_line(config, NULL, "metrics.listen");
    const char *listen = config_string(config, NULL, "metrics", "listen");
    struct config_listen address;
    struct config_listen admin;

    if (listen[0] == '\0') {
        return;
    }
    if (config_listen_parse(listen, &address) < 0) {
        config_problems_add(&config->problems, line,
                            "'metrics': listen: \"%s\" is no ADDRESS:PORT, such as "
                            "0.0.0.0:10268 or [::]:10268",
                            listen);
        return;
    }
    if (config_listen_parse(config_string(config, NULL, "admin", "listen"), &admin) == 0 &&
        listen_is_same(&address, &admin)) {
        config_problems_add(&config->problems, line,
                            "'metrics': listen: admin.listen has that port, choose another");
    }
}

int config_finish(struct config_tree *config, struct ccm_error *err)
{
    if (config->parsed) {
        check_election(config);
        check_admin(config);
        check_metrics(config);
        config_check_keys(config);
    }
    return end_step(config, 0, 0, err);
}

const char *config_problems(const struct config_tree *config)
{
    return ccm_buf_str(&config->problems.text);
}

void config_check_owner(const struct config_tree *config, void (*fn)(void *arg, const char *line),
                        void *arg)
{
    for (size_t i = 0; i < config->files.len; i++) {
        struct ccm_error err = CCM_ERROR_INIT;

        if (ccm_trust_check_file(config->files.items[i].path, &err) == -EACCES) {
            fn(arg, err.message);
        }
    }
}

const char *config_retired(const struct config_tree *config)
{
    return ccm_buf_str(&config->retired);
}

size_t config_plugin_count(const struct config_tree *config)
{
    return config->entry_count;
}

const struct config_plugin *config_plugin_at(const struct config_tree *config, size_t index)
{
    return &config->entries[index].plugin;
}

/* --- values --------------------------------------------------------------------------------- */

/* Whether the plugin's own table has the option. */
static bool entry_lists_option(const struct config_tree *config, const char *plugin,
                               const char *group, const char *name)
{
    const struct config_entry *entry = find_entry(config, plugin);
    const struct ccm_option *const *rows = entry == NULL ? NULL : entry->options;

    for (size_t i = 0; rows != NULL && rows[i] != NULL; i++) {
        if (ccm_text_equal(rows[i]->group, group) && ccm_text_equal(rows[i]->name, name)) {
            return true;
        }
    }
    return false;
}

static const struct config_value *find_value(const struct config_tree *config, const char *plugin,
                                             const char *group, const char *name)
{
    char key[CONFIG_KEY_SIZE];

    if (plugin != NULL && !entry_lists_option(config, plugin, group, name)) {
        return NULL;
    }
    config_key(key, plugin, plugin == NULL && group == NULL ? "" : group, name);
    return ccm_strmap_get(config->values, key);
}

const char *config_string(const struct config_tree *config, const char *plugin, const char *group,
                          const char *name)
{
    const struct config_value *value = find_value(config, plugin, group, name);

    return value == NULL || value->text == NULL ? "" : value->text;
}

int64_t config_int(const struct config_tree *config, const char *plugin, const char *group,
                   const char *name)
{
    const struct config_value *value = find_value(config, plugin, group, name);

    return value == NULL ? 0 : value->number;
}

const char *const *config_strings(const struct config_tree *config, const char *plugin,
                                  const char *group, const char *name)
{
    const struct config_value *value = find_value(config, plugin, group, name);

    return value == NULL ? NULL : (const char *const *)value->texts;
}
