/*
 * Which file may become a plugin: one that nobody but root and the user of this process can have
 * changed. Blocks on the file system only. Every thread.
 */
#ifndef CCM_PLUGIN_TRUST_H
#define CCM_PLUGIN_TRUST_H

#include "ccm/error.h"
#include "util/attr.h"

#include <stdbool.h>
#include <sys/stat.h>

/* Whether the text is the name of a plugin: [a-z0-9-]{1,32}. NULL is not. */
bool plugin_trust_is_name(const char *text);

/*
 * Find the file of a plugin, look whom it belongs to, and open it for reading.
 *
 * `spec` is an absolute path, or a bare name in plugin_dir (absolute; may be NULL when spec is a
 * path): the file name clb.so, or the plugin name clb for the same. Symbolic links are followed,
 * and what counts is where they end. The file must be a regular one, it and every folder above it
 * (of the path as given and of the resolved one) must belong to root or to our effective user, and
 * neither group nor others may write to any of them; a sticky folder of root, such as /tmp, passes.
 *
 * Returns 0: *ret_path (heap) is the resolved path, *ret_fd an open descriptor of that file (closed
 * on exec), both the caller's. Else -EINVAL (no such form of name), -EACCES (not trusted), -ENOMEM,
 * or what the file system says; err names file, reason and remedy.
 */
CCM_NODISCARD int plugin_trust_open(const char *spec, const char *plugin_dir, char **ret_path,
                                    int *ret_fd, struct ccm_error *err);

/* 0 when the path still is the very file that fd is open on, unchanged since `st` was read from fd;
 * -EACCES and err otherwise. */
CCM_NODISCARD int plugin_trust_same(const char *path, const struct stat *st, struct ccm_error *err);

#endif
