/*
 * Runs a fuzz target over files and folders: replay [--oom | --types] PATH...
 *
 * --oom: each input again and again, the first time with the first allocation failing, then with
 * the second, and so on until none is left; once with only that one failing, once with all behind
 * it too.
 * --types: each input of which every line is JSON again and again, with one value of it being one
 * of another type: as if there were no schema.
 */
#include "fuzz.h"
#include "oom.h"

#include <cJSON.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INPUT_MAX ((size_t)1024 * 1024)
#define OOM_MAX   ((size_t)20000) /* allocations of one input; more: the corpus is at fault */

static bool with_oom;
static bool with_types;
static size_t failures;
static size_t variants;

static void run_with_oom(const uint8_t *data, size_t size)
{
    for (int all = 0; all < 2; all++) {
        bool failed = true;

        for (size_t at = 1; failed && at < OOM_MAX; at++) {
            oom_begin(at, all != 0);
            (void)LLVMFuzzerTestOneInput(data, size); /* always 0 */
            failed = oom_end();
            failures += failed ? 1 : 0;
        }
    }
}

/* --- values of other types --- */

static const char *const odd_values[] = {
    "null",          "true",    "-1",          "1e300",         "\"\"",
    "\"..\"",        "\"a/b\"", "[]",          "[null]",        "[\"a\"]",
    "[[1]]",         "{}",      "{\"\":\"\"}", "{\"a\":\"b\"}", "{\"a\":[\"b\"]}",
    "[{\"name\":7}]"
};

/* The value number *at in the order of the text, 0 = the whole; *at goes down on the way. */
static cJSON *value_find(cJSON *json, size_t *at)
{
    cJSON *found = *at == 0 ? json : NULL;

    for (cJSON *child = json->child; found == NULL && child != NULL; child = child->next) {
        (*at)--;
        found = value_find(child, at);
    }
    return found;
}

/* The text with that value replaced; NULL = there are not so many. The caller frees. */
static char *value_replace(const char *line, size_t at, const char *odd)
{
    cJSON *json = cJSON_Parse(line);
    cJSON *found = json == NULL ? NULL : value_find(json, &at);
    char *text = NULL;

    if (found != NULL) { /* it becomes the odd one in its place: its name stays */
        cJSON *value = cJSON_CreateRaw(odd);

        cJSON_Delete(found->child);
        cJSON_free(found->valuestring);
        found->child = NULL;
        found->type = value->type;
        found->valuestring = value->valuestring;
        value->valuestring = NULL;
        cJSON_Delete(value);
        text = cJSON_PrintUnformatted(json);
    }
    cJSON_Delete(json);
    return text;
}

/* All that an input becomes by one of its lines, which is at `from`. */
static void run_line_with_types(const char *input, size_t size, size_t from, const char *line)
{
    const size_t behind = from + strlen(line);
    const size_t most = size + strlen(line) + 64; /* printed without blanks it is no longer */
    char *all = malloc(2 * most);

    for (size_t at = 0; all != NULL; at++) {
        for (size_t i = 0; i < sizeof(odd_values) / sizeof(odd_values[0]); i++) {
            char *text = value_replace(line, at, odd_values[i]);
            const int len = text == NULL ? -1
                                         : snprintf(all, 2 * most, "%.*s%s%.*s", (int)from, input,
                                                    text, (int)(size - behind), input + behind);

            cJSON_free(text);
            if (len < 0) {
                free(all);
                return;
            }
            (void)LLVMFuzzerTestOneInput((const uint8_t *)all, (size_t)len); /* always 0 */
            variants++;
        }
    }
}

static void run_with_types(const uint8_t *data, size_t size)
{
    char *input = calloc(1, size + 1);
    char *line = calloc(1, size + 1);

    for (size_t from = 0; input != NULL && line != NULL && from < size;) {
        size_t len = 0;

        memcpy(input, data, size);
        from += strspn(input + from, " "); /* it may say something else */
        len = strcspn(input + from, "\n");
        memcpy(line, input + from, len);
        line[len] = '\0';
        run_line_with_types(input, size, from, line);
        from += len + 1;
    }
    free(input);
    free(line);
}

/* --- files --- */

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = file == NULL ? NULL : malloc(INPUT_MAX);

    if (data == NULL) {
        fprintf(stderr, "%s: cannot be read\n", path);
        if (file != NULL) {
            (void)fclose(file); /* only read */
        }
        return -1;
    }

    const size_t size = fread(data, 1, INPUT_MAX, file);

    (void)fclose(file); /* only read */
    if (with_oom) {
        run_with_oom(data, size);
    } else if (with_types) {
        run_with_types(data, size);
    } else {
        (void)LLVMFuzzerTestOneInput(data, size); /* always 0 */
    }
    free(data);
    return 1;
}

/* Number of inputs, or -1. */
static int run_path(const char *path)
{
    struct stat st;
    struct dirent *entry = NULL;
    int count = 0;

    if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode)) {
        return run_file(path);
    }

    DIR *folder = opendir(path);

    if (folder == NULL) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return -1;
    }
    while (count >= 0 && (entry = readdir(folder)) != NULL) {
        char name[512];

        if (entry->d_name[0] != '.' &&
            snprintf(name, sizeof(name), "%s/%s", path, entry->d_name) < (int)sizeof(name)) {
            count = run_file(name) < 0 ? -1 : count + 1;
        }
    }
    (void)closedir(folder); /* only read */
    return count;
}

int main(int argc, char **argv)
{
    /* Its own look-up would miss the allocators that can be made to fail. */
    cJSON_Hooks hooks = { .malloc_fn = malloc, .free_fn = free };
    int total = 0;

    cJSON_InitHooks(&hooks);

    with_oom = argc > 1 && strcmp(argv[1], "--oom") == 0;
    with_types = argc > 1 && strcmp(argv[1], "--types") == 0;
    for (int i = with_oom || with_types ? 2 : 1; i < argc; i++) {
        const int count = run_path(argv[i]);

        if (count <= 0) {
            fprintf(stderr, "%s: no input\n", argv[i]);
            return 1;
        }
        total += count;
    }
    printf("%d inputs, %zu failed allocations, %zu of other types\n", total, failures, variants);
    return total == 0 || (with_oom && failures == 0) || (with_types && variants == 0);
}
