/* What a file is, before the dynamic linker gets to see it. Every thread. */
#ifndef CCM_PLUGIN_ELF_H
#define CCM_PLUGIN_ELF_H

#include "ccm/error.h"
#include "util/attr.h"

/*
 * Check that the open file is a complete 64-bit ELF shared object for this machine that runs no
 * code of its own while it is being loaded. The compiler's start files put one entry into the table
 * of constructors; more than one means that somebody wrote a constructor (or linked a C++ object
 * with static state), which is refused. Builds with sanitizers or coverage counters need such
 * entries: CCM_PLUGIN_ANY_CONSTRUCTOR, set by the build, switches that one check off. Libraries
 * that the plugin needs are not looked at.
 *
 * Reads only, with an offset of its own. `path` is for messages. 0, or -ENOEXEC or the read's
 * errno, with err set.
 */
CCM_NODISCARD int plugin_elf_check(int fd, const char *path, struct ccm_error *err);

#endif
