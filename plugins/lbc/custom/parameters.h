/*
 * What load balancers of custom resources are made with, in the words of annotations: from
 * ConfigMaps that a parametersRef names, and from the object itself. No I/O. Every thread.
 */
#ifndef CCM_LBC_CUSTOM_PARAMETERS_H
#define CCM_LBC_CUSTOM_PARAMETERS_H

#include "ccm/host.h"
#include "util/attr.h"
#include "util/json.h"
#include "util/strmap.h"

/* ConfigMaps that may be named have it, whatever its value; the plugin watches those. */
#define LBC_CUSTOM_PARAMETERS_LABEL "ccm.alibabacloud.com/gateway-parameters"

/* Copies key and value into `to`, a map of texts on the heap. 0 or -ENOMEM, as the others. */
CCM_NODISCARD int lbc_custom_parameters_put(struct ccm_strmap *to, const char *key,
                                            const char *value);
/* An object of annotations; those under the beginning that Services had before are the same. */
CCM_NODISCARD int lbc_custom_parameters_add(struct ccm_strmap *to, const cJSON *annotations);
/* What a parametersRef names; NULL = nothing. namespace_: of the ConfigMap; NULL = the reference
 * says it. *ret_why: a constant, NULL = all is well. */
CCM_NODISCARD int lbc_custom_parameters_read(const struct ccm_host *host, const cJSON *ref,
                                             const char *namespace_, struct ccm_strmap *to,
                                             const char **ret_why);

#endif
