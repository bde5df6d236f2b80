/*
 * Whether the libraries that a plugin brings along deserve the trust that the plugin got. The
 * dynamic linker looks for them first in the folders of the plugin's RUNPATH, and runs what it
 * finds there. Blocks on the file system only. Every thread.
 */
#ifndef CCM_PLUGIN_NEEDED_H
#define CCM_PLUGIN_NEEDED_H

#include "ccm/error.h"
#include "util/attr.h"

/*
 * Check where the open file `path` (absolute, resolved) has its libraries from, and the same for
 * each library found there, and so on.
 *
 * An element of a RUNPATH has to be an absolute path, or begin with $ORIGIN: an empty or relative
 * one means the folder that the process happens to run in. A needed name may not hold a slash. A
 * library that is found in such a folder has to pass plugin_trust_open(): it and all folders above
 * it belong to root or to our user, and nobody else can write to them; a folder of a RUNPATH that
 * does not hold the library, or is not there at all, may not be one that somebody else can put it
 * into. What none of the folders holds comes from the folders of the system; what this process has
 * loaded already is not looked for again.
 *
 * 0, or -EACCES (somebody else can decide what is loaded), -ENOEXEC (a file that is no shared
 * object, too many libraries), -ENOMEM, or what the file system says; err names file, reason and
 * remedy.
 */
CCM_NODISCARD int plugin_needed_check(int fd, const char *path, struct ccm_error *err);

#endif
