#include "tools/lint.h"

#include "kube/object/decode.h"
#include "tools/lint_ask.h"
#include "tools/lint_report.h"
#include "tools/lint_yaml.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/text.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_MAX_BYTES ((size_t)16 * 1024 * 1024)
#define MAX_DEPTH      64 /* of folders */

/* --- one Service --- */

/* Where findings of one Service go. */
struct look {
    const struct tool_lint_item *item;
    struct tool_lint_report *report;
};

static void look_add_finding(void *arg, uint64_t level, const char *place, const char *text)
{
    const struct look *look = arg;

    tool_lint_report_add(look->report, tool_lint_item_line(look->item, place), level, text);
}

struct file {
    struct tool_lint *lint;
    const char *name;
    struct kube_builder *builder;
    struct tool_lint_report report;
};

static void ask_plugins(struct file *file, const struct tool_lint_item *item,
                        const struct ccm_service *service)
{
    struct look look = { .item = item, .report = &file->report };

    for (size_t i = 0; i < file->lint->plugin_count; i++) {
        const struct daemon_plugin_options *plugin = &file->lint->plugins[i];

        file->report.origin = plugin->name;

        const int r = tool_lint_ask(plugin, service, look_add_finding, &look);

        file->report.origin = NULL;
        if (r == -ENOMEM) {
            file->report.error = r;
        } else if (r != 0) {
            fprintf(file->lint->complaint, "%s:%u: plugin %s could not check the Service: %d\n",
                    file->name, tool_lint_item_line(item, NULL), plugin->name, r);
            file->lint->failures++;
        }
    }
}

/* A name for a Service that leaves it to the server, so that it can be decoded. */
static bool add_name(cJSON *meta)
{
    const char *start = ccm_json_text(meta, "generateName");

    return start[0] != '\0' && ccm_json_get(meta, "name") == NULL &&
           cJSON_AddStringToObject(meta, "name", start) != NULL;
}

/* The second address family, which comes with the policy. */
static bool add_family(cJSON *spec)
{
    const char *policy = ccm_json_text(spec, "ipFamilyPolicy");
    cJSON *families = cJSON_GetObjectItemCaseSensitive(spec, "ipFamilies");
    const char *first = cJSON_GetStringValue(cJSON_GetArrayItem(families, 0));

    if ((strcmp(policy, "PreferDualStack") != 0 && strcmp(policy, "RequireDualStack") != 0) ||
        !cJSON_IsArray(families) || cJSON_GetArraySize(families) != 1 || first == NULL) {
        return false;
    }
    cJSON *other = cJSON_CreateString(strcmp(first, "IPv4") == 0 ? "IPv6" : "IPv4");

    return other != NULL && cJSON_AddItemToArray(families, other);
}

/* What the manifest leaves to the server, as far as it matters here. */
static int manifest_add_defaults(struct ccm_buf *json)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *tree = NULL;

    if (ccm_buf_error(json) < 0 || ccm_json_parse(ccm_buf_str(json), json->len, &tree) < 0) {
        return ccm_buf_error(json);
    }

    const bool named = add_name(cJSON_GetObjectItemCaseSensitive(tree, "metadata"));
    const bool grown = add_family(cJSON_GetObjectItemCaseSensitive(tree, "spec"));

    if (!named && !grown) {
        return 0;
    }
    ccm_buf_reset(json);
    return ccm_json_print(json, tree);
}

/* The line that an error of the decoder is about: "key: member: problem". */
static unsigned decode_line(const struct tool_lint_item *item, const char *message)
{
    static const char *const parts[] = { "metadata", "spec", "status", "status.loadBalancer" };
    unsigned line = tool_lint_item_line(item, NULL);
    const char *start = message;
    char member[64];

    for (const char *colon; (colon = strstr(start, ": ")) != NULL; start = colon + 2) {
        ccm_text_printf(member, sizeof(member), "%.*s", (int)(colon - start), start);
        for (size_t i = 0; i < CCM_ARRAY_LEN(parts); i++) {
            char path[96];

            ccm_text_printf(path, sizeof(path), "%s.%s", parts[i], member);
            if (tool_lint_item_has(item, path)) {
                line = tool_lint_item_line(item, path);
            }
        }
    }
    return line;
}

/* A misspelt type makes it a Service that nobody here looks at, and no API server takes it. */
static void check_type(struct file *file, const struct tool_lint_item *item)
{
    static const char *const types[] = { "", "ClusterIP", "NodePort", "LoadBalancer",
                                         "ExternalName" };
    const char *type = tool_lint_item_text(item, "spec", "type");
    struct ccm_error text = CCM_ERROR_INIT;

    for (size_t i = 0; i < CCM_ARRAY_LEN(types); i++) {
        if (strcmp(type, types[i]) == 0) {
            return;
        }
    }
    (void)ccm_error_set(&text, 0, CCM_ERROR_TERMINAL,
                        "spec.type must be one of [ClusterIP|NodePort|LoadBalancer|ExternalName], "
                        "got [%.60s]",
                        type); /* the text is wanted */
    tool_lint_report_add(&file->report, tool_lint_item_line(item, "spec.type"), false,
                         text.message);
}

static int file_check_service(struct file *file, const struct tool_lint_item *item)
{
    const struct kube_decode_kind kind = { .kind = CCM_KIND_SERVICE,
                                           .watches = file->lint->watches };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf json = { .max = KUBE_DECODE_MAX_TEXT };
    CCM_CLEANUP(kube_object_unrefp) const struct ccm_object *object = NULL;
    struct ccm_error err = CCM_ERROR_INIT;

    check_type(file, item);
    if (!tool_lint_item_json(item, &json, &file->report)) {
        return file->report.error;
    }
    if (manifest_add_defaults(&json) < 0) {
        (void)ccm_error_set(&err, -EMSGSIZE, CCM_ERROR_TERMINAL, "the Service is too large");
    } else if (kube_decode(file->builder, &kind, ccm_buf_str(&json), json.len, &object, &err) ==
                   0 &&
               object->too_large == NULL) {
        ask_plugins(file, item, (const struct ccm_service *)(const void *)object);
        return file->report.error;
    } else if (object != NULL) {
        (void)ccm_error_set(&err, -EMSGSIZE, CCM_ERROR_TERMINAL, "%s", object->too_large);
    }
    if (err.kind != CCM_ERROR_TERMINAL) {
        return -ENOMEM;
    }
    tool_lint_report_add(&file->report, decode_line(item, err.message), CCM_LEVEL_ERROR,
                         err.message);
    return file->report.error;
}

static int check_service(void *arg, const struct tool_lint_item *item)
{
    struct file *file = arg;
    const char *namespace_ = tool_lint_item_text(item, "metadata", "namespace");
    const char *name = tool_lint_item_text(item, "metadata", "name");
    CCM_CLEANUP(ccm_freep)
    char *subject = ccm_text_format("%s%s%s", namespace_, namespace_[0] == '\0' ? "" : "/", name);

    if (subject == NULL) {
        return -ENOMEM;
    }
    file->lint->services++;
    file->report.subject = name[0] == '\0' ? NULL : subject;

    const int r = file_check_service(file, item);

    file->report.subject = NULL;
    return r;
}

/* --- files --- */

static void lint_print_problem(struct tool_lint *lint, const char *name, const char *problem)
{
    fprintf(lint->complaint, "%s: %s\n", name, problem);
    lint->failures++;
}

static void file_fini(struct file *file)
{
    kube_builder_free(file->builder);
    tool_lint_report_fini(&file->report);
}

static int lint_check_text(struct tool_lint *lint, const char *name, const char *text, size_t len)
{
    CCM_CLEANUP(file_fini)
    struct file file = { .lint = lint, .name = name, .builder = kube_builder_new() };

    if (file.builder == NULL) {
        return -ENOMEM;
    }

    const int r = tool_lint_visit_services(text, len, &file.report, check_service, &file);

    tool_lint_format_add(lint->format, &file.report, name);
    lint->findings += tool_lint_report_count_bad(&file.report);
    return r < 0 ? r : file.report.error;
}

static int check_stream(struct tool_lint *lint, FILE *in)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = FILE_MAX_BYTES };
    char chunk[4096];
    size_t got;

    while ((got = fread(chunk, 1, sizeof(chunk), in)) > 0) {
        ccm_buf_add(&text, chunk, got);
    }
    if (ferror(in) != 0 || ccm_buf_error(&text) == -EMSGSIZE) {
        lint_print_problem(lint, "<stdin>", ferror(in) != 0 ? "cannot be read" : "is too large");
        return 0;
    }
    return ccm_buf_error(&text) < 0
               ? -ENOMEM
               : lint_check_text(lint, "<stdin>", ccm_buf_str(&text), text.len);
}

static int lint_check_file(struct tool_lint *lint, const char *name)
{
    CCM_CLEANUP(ccm_freep) char *text = NULL;
    size_t len = 0;
    const int r = ccm_text_read_file(name, FILE_MAX_BYTES, &text, &len);

    if (r < 0) {
        lint_print_problem(lint, name, r == -EFBIG ? "is larger than 16 MiB" : strerror(-r));
        return r == -ENOMEM ? r : 0;
    }
    return lint_check_text(lint, name, text, len);
}

/* --- folders --- */

struct names {
    char **items;
    size_t len;
    size_t cap;
};

static void names_fini(struct names *names)
{
    for (size_t i = 0; i < names->len; i++) {
        free(names->items[i]);
    }
    free(names->items);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void dir_closep(DIR **dir)
{
    if (*dir != NULL) {
        (void)closedir(*dir); /* it was only read */
    }
}

static int read_folder(const char *path, struct names *names)
{
    CCM_CLEANUP(dir_closep) DIR *dir = opendir(path);
    const struct dirent *entry;

    if (dir == NULL) {
        return -errno;
    }
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.') {
            continue;
        }

        char *name =
            ccm_text_format("%s%s%s", path, ccm_text_ends(path, "/") ? "" : "/", entry->d_name);

        if (name == NULL ||
            ccm_array_grow(&names->items, &names->cap, names->len + 1, sizeof(*names->items)) < 0) {
            free(name);
            return -ENOMEM;
        }
        names->items[names->len++] = name;
    }
    if (names->len > 1) {
        qsort(names->items, names->len, sizeof(*names->items), compare_names);
    }
    return 0;
}

static bool is_manifest(const char *name)
{
    return ccm_text_ends(name, ".yaml") || ccm_text_ends(name, ".yml") ||
           ccm_text_ends(name, ".json");
}

static int check_folder(struct tool_lint *lint, const char *path, unsigned depth);

static int check_entry(struct tool_lint *lint, const char *name, unsigned depth)
{
    struct stat st;

    if (lstat(name, &st) < 0) {
        lint_print_problem(lint, name, strerror(errno));
        return 0;
    }
    if (S_ISDIR(st.st_mode)) {
        return check_folder(lint, name, depth + 1);
    }
    if (!is_manifest(name) ||
        (S_ISLNK(st.st_mode) && stat(name, &st) == 0 && S_ISDIR(st.st_mode))) {
        return 0;
    }
    return lint_check_file(lint, name);
}

static int check_folder(struct tool_lint *lint, const char *path, unsigned depth)
{
    CCM_CLEANUP(names_fini) struct names names = { 0 };
    const int read = depth > MAX_DEPTH ? -ELOOP : read_folder(path, &names);

    if (read < 0) {
        lint_print_problem(lint, path, strerror(-read));
        return read == -ENOMEM ? read : 0;
    }
    for (size_t i = 0; i < names.len; i++) {
        const int r = check_entry(lint, names.items[i], depth);

        if (r != 0) {
            return r;
        }
    }
    return 0;
}

int tool_lint_path(struct tool_lint *lint, const char *name)
{
    struct stat st;

    if (strcmp(name, "-") == 0) {
        return check_stream(lint, stdin);
    }
    if (stat(name, &st) < 0) {
        lint_print_problem(lint, name, strerror(errno));
        return 0;
    }
    return S_ISDIR(st.st_mode) ? check_folder(lint, name, 0) : lint_check_file(lint, name);
}
