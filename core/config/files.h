/*
 * The files of a configuration: one, or those of a folder whose names end in ".conf" and do not
 * begin with a dot, in the order of their names (bytes, not words of a language).
 *
 * A place tells file and line in one number: 0 is the configuration as such. Of a single file a
 * place is the line. Of a folder each file has a place of its own, and its lines follow.
 *
 * One thread; what is borrowed lives as long as the list.
 */
#ifndef CCM_CONFIG_FILES_H
#define CCM_CONFIG_FILES_H

#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>

#define CONFIG_FILES_MAX 100

struct config_file {
    char *path;
    unsigned first; /* its own place */
};

struct config_files {
    struct config_file *items;
    size_t len;
    size_t cap;
    unsigned next; /* the first place that is free */
    bool is_folder;
};

/*
 * 0; -ENOMEM; -ENOENT: a folder without such a file; -E2BIG: with more than CONFIG_FILES_MAX of
 * them; -errno of the folder. What is no folder is listed without a look at it. Those of a folder
 * get their places from config_place().
 */
CCM_NODISCARD int config_files_list(struct config_files *files, const char *path);
void config_files_fini(struct config_files *files);

/* Give a file its place, before it is read; then its lines theirs. One file after the other. */
void config_files_enter(struct config_files *files, struct config_file *file);
void config_files_add_lines(struct config_files *files, const char *text);

/* The file of a place, with the line (0: the file as such); NULL: the place is none of them. */
const char *config_files_find(const struct config_files *files, unsigned place, unsigned *line);

#endif
