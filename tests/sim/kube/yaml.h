/* YAML as the JSON tree it stands for. Every thread. */
#ifndef CCM_KS_YAML_H
#define CCM_KS_YAML_H

#include "util/attr.h"
#include "util/json.h"

/* One document (JSON is one, too). Aliases are refused: they can grow without bound. The caller
 * deletes *ret. 0, or -EBADMSG. */
CCM_NODISCARD int ccm_ks_yaml_parse(const char *text, size_t len, cJSON **ret);

#endif
