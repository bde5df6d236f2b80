/*
 * Runs a fuzz target over files and folders: replay [--oom] PATH...
 *
 * --oom: each input again and again, the first time with the first allocation failing, then with
 * the second, and so on until none is left; once with only that one failing, once with all behind
 * it too.
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
static size_t failures;

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
    for (int i = with_oom ? 2 : 1; i < argc; i++) {
        const int count = run_path(argv[i]);

        if (count <= 0) {
            fprintf(stderr, "%s: no input\n", argv[i]);
            return 1;
        }
        total += count;
    }
    printf("%d inputs, %zu failed allocations\n", total, failures);
    return total == 0 || (with_oom && failures == 0);
}
