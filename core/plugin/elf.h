/* What a file is, before the dynamic linker gets to see it. Every thread. */
#ifndef CCM_PLUGIN_ELF_H
#define CCM_PLUGIN_ELF_H

#include "ccm/error.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Check that the open file is a complete 64-bit ELF shared object for this machine that runs no
 * code of its own while it is being loaded. The compiler's start files put one entry into the table
 * of constructors; more than one means that somebody wrote a constructor, or that the runtime of a
 * language has one (C++ objects with static state, the library of Rust), which is refused unless
 * `constructors` says that it may be. Builds with sanitizers or coverage counters need such
 * entries: CCM_PLUGIN_ANY_CONSTRUCTOR, set by the build, switches that one check off. The
 * libraries that the plugin needs are plugin/needed.h's matter.
 *
 * Reads only, with an offset of its own. `path` is for messages. 0, or -ENOEXEC or the read's
 * errno, with err set.
 */
CCM_NODISCARD int plugin_elf_check(int fd, const char *path, bool constructors,
                                   struct ccm_error *err);

#define PLUGIN_ELF_MAX_NEEDED 64

/* What the dynamic linker looks for together with a file. The texts belong to the struct. */
struct plugin_elf_links {
    const char *run_path; /* DT_RUNPATH as it stands there; NULL = none */
    const char *needed[PLUGIN_ELF_MAX_NEEDED];
    size_t needed_count;
    char *private_strings;
    uint64_t private_len;
};

/*
 * Read the names of the libraries that the shared object needs, and where it wants them looked for.
 * A file with an RPATH (which would hold for libraries of its libraries, too), a filter or an audit
 * library is refused. Reads only. 0 and *ret, to be ended with plugin_elf_links_fini(); or
 * -ENOEXEC, -ENOMEM or the read's errno, with err set and nothing to end.
 */
CCM_NODISCARD int plugin_elf_read_links(int fd, const char *path, struct plugin_elf_links *ret,
                                        struct ccm_error *err);

void plugin_elf_links_fini(struct plugin_elf_links *links);

#endif
