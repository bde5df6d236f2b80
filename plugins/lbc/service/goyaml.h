/*
 * Block-style YAML text of a JSON tree, byte for byte as the common Go library for Kubernetes
 * manifests writes it: the hash label of Services depends on every byte. One thread per buffer.
 */
#ifndef CCM_LBC_YAML_H
#define CCM_LBC_YAML_H

#include "util/attr.h"
#include "util/buf.h"
#include "util/json.h"

#include <stdbool.h>

/*
 * Append the text of the tree, ending with a newline. Map keys come in natural order. The tree goes
 * through JSON first there, so this is the text of what a reader of YAML makes of that: some
 * control characters are folded, others it refuses. 0, -EBADMSG when it does, or the buffer's
 * error.
 */
CCM_NODISCARD int lbc_yaml_emit(struct ccm_buf *buf, const cJSON *json);

/* Natural order of map keys: letters after other characters, runs of digits by value. <0, 0, >0. */
int lbc_yaml_compare_keys(const char *a, const char *b);

/* Whether plain text would be read back as something else than text (number, date, true, ...). */
bool lbc_yaml_resolves(const char *text);

#endif
