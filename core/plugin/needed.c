#include "plugin/needed.h"

#include "plugin/elf.h"
#include "plugin/trust.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILES 64 /* of one plugin; the in-tree plugins have one library each */

/* The libraries that were found in folders of a RUNPATH; each is looked at once. */
struct needed_set {
    char *paths[MAX_FILES];
    size_t count;
};

static void needed_set_fini(struct needed_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        free(set->paths[i]);
    }
}

/* The folder that one element of the RUNPATH of `path` means. */
static int folder_of_element(const char *path, const char *element, char **ret,
                             struct ccm_error *err)
{
    static const char *const origins[] = { "$ORIGIN", "${ORIGIN}" };
    const char *rest = element;
    const int dir = (int)(strrchr(path, '/') - path);
    char *folder = NULL;

    for (size_t i = 0; i < CCM_ARRAY_LEN(origins) && rest == element; i++) {
        rest += ccm_text_starts(element, origins[i]) ? strlen(origins[i]) : 0;
    }
    if (strchr(rest, '$') != NULL || (rest[0] != '/' && (rest == element || rest[0] != '\0'))) {
        return ccm_error_set(err, -EACCES, CCM_ERROR_TERMINAL,
                             "%s: its RUNPATH holds \"%s\", which depends on the folder or the "
                             "machine that this process runs in: link it with $ORIGIN or an "
                             "absolute path, or without (-Wl,-rpath, BUILD_RPATH, patchelf)",
                             path, element);
    }
    folder = rest == element ? strdup(element) : ccm_text_format("%.*s%s", dir, path, rest);
    if (folder == NULL) {
        return ccm_error_nomem(err);
    }
    *ret = folder;
    return 0;
}

static int add_file(struct needed_set *set, char **file, const char *path, struct ccm_error *err)
{
    for (size_t i = 0; i < set->count; i++) {
        if (strcmp(set->paths[i], *file) == 0) {
            return 0;
        }
    }
    if (set->count == MAX_FILES) {
        return ccm_error_set(err, -ENOEXEC, CCM_ERROR_TERMINAL,
                             "%s: brings more than %d libraries along", path, MAX_FILES);
    }
    set->paths[set->count++] = CCM_STEAL(*file);
    return 0;
}

/* A library that the process has already is taken by its name, wherever a RUNPATH leads to. */
static bool is_loaded(const char *name)
{
    void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);

    return handle != NULL && dlclose(handle) == 0;
}

/* Returns 1 when the library is in that folder, 0 when nobody but who is trusted can put it there.
 */
static int find_in_folder(const char *path, const char *folder, const char *name,
                          struct needed_set *set, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *given = ccm_text_format("%s/%s", folder, name);
    CCM_CLEANUP(ccm_freep) char *file = NULL;
    CCM_CLEANUP(ccm_closep) int fd = -1;
    int r;

    if (given == NULL) {
        return ccm_error_nomem(err);
    }
    r = plugin_trust_open(given, NULL, &file, &fd, err);
    if (r == -ENOENT || r == -ENOTDIR) {
        ccm_error_clear(err);
        return plugin_trust_check_missing(path, given, err);
    }
    if (r < 0) {
        return ccm_error_wrap(err, r, "%s needs %s", path, name);
    }
    r = add_file(set, &file, path, err);
    return r < 0 ? r : 1;
}

/* name: the library that is looked for; NULL = only judge what the RUNPATH holds. */
static int walk_run_path(const char *path, const char *run_path, const char *name,
                         struct needed_set *set, struct ccm_error *err)
{
    const char *rest = run_path;
    int found = 0;

    for (const char *end = rest; found == 0 && end != NULL; rest = end + 1) {
        CCM_CLEANUP(ccm_freep) char *element = NULL;
        CCM_CLEANUP(ccm_freep) char *folder = NULL;

        end = strchr(rest, ':');
        element = end == NULL ? strdup(rest) : strndup(rest, (size_t)(end - rest));
        if (element == NULL) {
            return ccm_error_nomem(err);
        }
        found = folder_of_element(path, element, &folder, err);
        if (found == 0 && name != NULL) {
            found = find_in_folder(path, folder, name, set, err);
        }
    }
    return found < 0 ? found : 0;
}

static int check_links(int fd, const char *path, struct needed_set *set, struct ccm_error *err)
{
    CCM_CLEANUP(plugin_elf_links_fini) struct plugin_elf_links links;
    int r = plugin_elf_read_links(fd, path, &links, err);

    if (r == 0 && links.run_path != NULL) {
        r = walk_run_path(path, links.run_path, NULL, set, err);
    }
    for (size_t i = 0; r == 0 && i < links.needed_count; i++) {
        if (strchr(links.needed[i], '/') != NULL) {
            return ccm_error_set(err, -EACCES, CCM_ERROR_TERMINAL,
                                 "%s: needs \"%s\", a path instead of a name: give that library a "
                                 "soname (-Wl,-soname) and link again",
                                 path, links.needed[i]);
        }
        if (links.run_path != NULL && !is_loaded(links.needed[i])) {
            r = walk_run_path(path, links.run_path, links.needed[i], set, err);
        }
    }
    return r;
}

int plugin_needed_check(int fd, const char *path, struct ccm_error *err)
{
    CCM_CLEANUP(needed_set_fini) struct needed_set set = { 0 };
    int r = check_links(fd, path, &set, err);

    for (size_t i = 0; r == 0 && i < set.count; i++) {
        CCM_CLEANUP(ccm_freep) char *file = NULL;
        CCM_CLEANUP(ccm_closep) int library = -1;

        r = plugin_trust_open(set.paths[i], NULL, &file, &library, err);
        if (r == 0) {
            r = check_links(library, file, &set, err);
        }
    }
    return r;
}
