#include "config/files.h"

#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int files_add(struct config_files *files, char *path)
{
    if (path == NULL || ccm_array_grow(&files->items, &files->cap, files->len + 1,
                                       sizeof(struct config_file)) < 0) {
        free(path);
        return -ENOMEM;
    }
    files->items[files->len++] = (struct config_file){ .path = path };
    return 0;
}

static int files_compare(const void *a, const void *b)
{
    const struct config_file *left = a;
    const struct config_file *right = b;

    return strcmp(left->path, right->path);
}

static void files_closep(DIR **dir)
{
    if (*dir != NULL) {
        (void)closedir(*dir); /* it was only read */
    }
}

static int files_list_folder(struct config_files *files, const char *path)
{
    CCM_CLEANUP(files_closep) DIR *dir = opendir(path);
    const struct dirent *entry = NULL;

    if (dir == NULL) {
        return -errno;
    }
    /* Nobody else reads this stream. NOLINTNEXTLINE(concurrency-mt-unsafe) */
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.' || !ccm_text_ends(entry->d_name, ".conf")) {
            continue;
        }
        if (files->len == CONFIG_FILES_MAX) {
            return -E2BIG;
        }
        if (files_add(files, ccm_text_format("%s/%s", path, entry->d_name)) < 0) {
            return -ENOMEM;
        }
    }
    if (files->len == 0) {
        return -ENOENT;
    }
    qsort(files->items, files->len, sizeof(files->items[0]), files_compare);
    return 0;
}

int config_files_list(struct config_files *files, const char *path)
{
    struct stat st;

    *files = (struct config_files){ .is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode) };
    return files->is_folder ? files_list_folder(files, path) : files_add(files, strdup(path));
}

void config_files_fini(struct config_files *files)
{
    for (size_t i = 0; i < files->len; i++) {
        free(files->items[i].path);
    }
    free(files->items);
    *files = (struct config_files){ 0 };
}

void config_files_enter(struct config_files *files, struct config_file *file)
{
    if (files->is_folder) {
        files->next = files->next == 0 ? 1 : files->next;
        file->first = files->next++;
    }
}

void config_files_add_lines(struct config_files *files, const char *text)
{
    files->next++;
    for (const char *at = strchr(text, '\n'); at != NULL; at = strchr(at + 1, '\n')) {
        files->next++;
    }
}

const char *config_files_find(const struct config_files *files, unsigned place, unsigned *line)
{
    const char *path = NULL;

    *line = 0;
    for (size_t i = 0; i < files->len; i++) {
        const struct config_file *file = &files->items[i];
        const bool is_placed = !files->is_folder || file->first > 0;

        if (is_placed && file->first <= place) {
            path = file->path;
            *line = place - file->first;
        }
    }
    return path;
}
