/*
 * Whether only root and the user of this process can have changed a file, by owner and mode. Every
 * function returns 0; -EACCES: others can, and err names file, reason and remedy; -ENOMEM; or what
 * the file system says. They block on the file system only. Every thread.
 */
#ifndef CCM_UTIL_TRUST_H
#define CCM_UTIL_TRUST_H

#include "ccm/error.h"
#include "util/attr.h"

#include <sys/stat.h>

/* Of one file or folder whose state is known; `subject` is the file that the message is about. A
 * sticky folder of root, such as /tmp, passes. */
CCM_NODISCARD int ccm_trust_check_stat(const char *subject, const char *path, const struct stat *st,
                                       struct ccm_error *err);

/* Of every folder above a file: of `given`, which has a slash, before its links are followed, and
 * of `path`, the resolved one. */
CCM_NODISCARD int ccm_trust_check_folders(const char *given, const char *path,
                                          struct ccm_error *err);

/* Of a file alone, where its links end: the folder of a ConfigMap or Secret in a pod has mode 0777
 * and is mounted read-only. */
CCM_NODISCARD int ccm_trust_check_file(const char *path, struct ccm_error *err);

/* Of a file with a slash in its path that is code for this process, and of all folders above it. */
CCM_NODISCARD int ccm_trust_check_program(const char *given, struct ccm_error *err);

#endif
