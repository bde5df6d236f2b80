/* Parameter lists as the wire wants them. One thread at a time per list. */
#ifndef CCM_ALICLOUD_PARAMS_H
#define CCM_ALICLOUD_PARAMS_H

#include "alicloud/api.h"
#include "util/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parameters of one call: an ordered list with sticky failure. Zeroed = empty. */
struct ali_param {
    char *name;
    char *value;
};
struct ali_params {
    struct ali_param *items;
    size_t len;
    size_t cap;
    int error;
};

/* The one parameter whose value no message repeats, of whatever action. */
#define ALI_PARAM_PRIVATE_KEY "PrivateKey"

/* Append a copy. Empty values are sent; a NULL value appends nothing. */
ALI_API void ali_param_add(struct ali_params *params, const char *name, const char *value);
/* The same unless the value is NULL or "". */
ALI_API void ali_param_opt(struct ali_params *params, const char *name, const char *value);
ALI_API void ali_param_i64(struct ali_params *params, const char *name, int64_t value);
/* One of a list: "<name>.<n>"; n counts from 1. */
ALI_API void ali_param_item(struct ali_params *params, const char *name, size_t n,
                            const char *value);
/* "Tag.<n>.Key" / "Tag.<n>.Value"; n counts from 1. */
ALI_API void ali_param_tag(struct ali_params *params, size_t n, const char *key, const char *value);
ALI_API void ali_params_fini(struct ali_params *params);

/* --- inside of the library --- */

/* Most bytes of one encoded request. */
#define ALI_PARAMS_MAX ((size_t)1024 * 1024)

/* Append "name=value&...", escaped, sorted by the bytes of the plain names (equal names keep their
 * order). 0, or the sticky failure of the list or the buffer. */
CCM_NODISCARD int ali_params_encode(const struct ali_params *params, struct ccm_buf *buf);

/* Append copies of all of them. Failures stick in `to`. */
void ali_params_extend(struct ali_params *to, const struct ali_params *from);

/* Whether a parameter of that name is there. */
bool ali_params_has(const struct ali_params *params, const char *name);

#endif
