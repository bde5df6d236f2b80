#include "plugin/loader.h"

#include "plugin/trust.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#define OUR_MACHINE EM_NONE /* not compared */
#endif

/* The dynamic linker calls a file for another machine missing, and one without its end is a SIGBUS
 * once it is mapped. Section headers are at the end of a file. */
static int check_form(const char *path, int fd, uint64_t size, struct ccm_error *err)
{
    Elf64_Ehdr header;

    if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
        return ccm_error_set(err, -ENOEXEC, CCM_ERROR_TERMINAL,
                             "%s: not a shared object: build it with -shared", path);
    }
    if (OUR_MACHINE != EM_NONE && header.e_machine != OUR_MACHINE) {
        return ccm_error_set(err, -ENOEXEC, CCM_ERROR_TERMINAL,
                             "%s: built for another machine (ELF machine %u, this ccmd is for %u)",
                             path, header.e_machine, OUR_MACHINE);
    }
    if (header.e_shoff > size ||
        (uint64_t)header.e_shnum * header.e_shentsize > size - header.e_shoff) {
        return ccm_error_set(err, -ENOEXEC, CCM_ERROR_TERMINAL,
                             "%s: the file is cut off: copy or build it again", path);
    }
    return 0;
}

/*
 * The path is opened once for the checks and again by the dynamic linker. A path through
 * /proc/self/fd would close that gap, but takes the meaning of $ORIGIN away from the plugin's
 * RUNPATH and its name from debuggers and sanitizers, and a reused descriptor number would hand out
 * the wrong plugin. So the path is compared with the opened file afterwards; in between only those
 * who are trusted anyway can write to any folder on the way.
 */
static int map_file(const char *path, int fd, void **ret_handle, struct ccm_error *err)
{
    struct stat st;
    void *handle;
    int r;

    if (fstat(fd, &st) < 0) {
        return ccm_error_set(err, -errno, CCM_ERROR_TERMINAL, "%s: %s", path, strerror(errno));
    }
    r = check_form(path, fd, (uint64_t)st.st_size, err);
    if (r < 0) {
        return r;
    }
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == NULL) {
        const char *reason = dlerror();
        const size_t len = strlen(path);

        if (reason == NULL) {
            reason = "no reason given";
        } else if (ccm_text_starts(reason, path) && ccm_text_starts(reason + len, ": ")) {
            reason += len + 2;
        }
        return ccm_error_set(err, -ENOEXEC, CCM_ERROR_TERMINAL, "%s: cannot be loaded: %s", path,
                             reason);
    }
    r = plugin_trust_same(path, &st, err);
    if (r < 0) {
        return r;
    }
    *ret_handle = handle;
    return 0;
}

static int loader_read_descriptor(struct plugin_loaded_plugin *plugin, struct ccm_error *err)
{
    const struct ccm_plugin *theirs = dlsym(plugin->handle, "ccm_plugin");
    int r;

    if (theirs == NULL) {
        return ccm_error_set(err, -ENOEXEC, CCM_ERROR_TERMINAL,
                             "%s: not a plugin of ccmd: it does not export the symbol ccm_plugin",
                             plugin->path);
    }
    r = plugin_descriptor_init(&plugin->private_descriptor, theirs, err);
    if (r < 0) {
        return ccm_error_wrap(err, r, "%s", plugin->path);
    }
    plugin->desc = &plugin->private_descriptor.plugin;
    return 0;
}

int plugin_load(const char *spec, const char *plugin_dir, struct plugin_loaded_plugin **ret,
                struct ccm_error *err)
{
    CCM_CLEANUP(plugin_freep)
    struct plugin_loaded_plugin *plugin = calloc(1, sizeof(*plugin));
    CCM_CLEANUP(ccm_closep) int fd = -1;
    int r;

    if (plugin == NULL) {
        return ccm_error_nomem(err);
    }
    r = plugin_trust_open(spec, plugin_dir, &plugin->private_path, &fd, err);
    if (r < 0) {
        return r;
    }
    plugin->path = plugin->private_path;
    r = map_file(plugin->path, fd, &plugin->handle, err);
    if (r < 0) {
        return r;
    }
    r = loader_read_descriptor(plugin, err);
    if (r < 0) {
        return r;
    }
    *ret = CCM_STEAL(plugin);
    return 0;
}

void plugin_free(struct plugin_loaded_plugin *plugin)
{
    if (plugin != NULL) {
        plugin_descriptor_fini(&plugin->private_descriptor);
        free(plugin->private_path);
        free(plugin);
    }
}

void plugin_freep(struct plugin_loaded_plugin **plugin)
{
    plugin_free(*plugin);
}
