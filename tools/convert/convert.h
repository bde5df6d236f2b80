/*
 * From the settings of cloud-provider-alibaba-cloud (its cloud config file and its flags) to a
 * configuration of ours. One thread.
 */
#ifndef CCM_TOOLS_CONVERT_H
#define CCM_TOOLS_CONVERT_H

#include "ccm/error.h"
#include "util/attr.h"
#include "util/buf.h"
#include "util/strmap.h"

#include <stdbool.h>

/* What was given: keys of the file in small letters ("clusterid"), flags with their dashes
 * ("--cluster-cidr"); values are heap texts, the map frees them. */
struct convert_input {
    struct ccm_strmap *values;
};

void convert_input_fini(struct convert_input *input);
/* 0 or -ENOMEM. */
CCM_NODISCARD int convert_input_init(struct convert_input *input);

/* Add what a cloud config file says (YAML or JSON with a group Global). 0 or negative with err
 * (CCM_ERROR_TERMINAL, names the file). */
CCM_NODISCARD int convert_read_config(struct convert_input *input, const char *path,
                                      struct ccm_error *err);
/* Add the flags in command and args of the containers of a manifest. As above. */
CCM_NODISCARD int convert_read_manifest(struct convert_input *input, const char *path,
                                        struct ccm_error *err);
/* Add one flag: "--name=value", or "--name" for true. 0, -ENOMEM, or -EINVAL: it is none. */
CCM_NODISCARD int convert_add_flag(struct convert_input *input, const char *flag);

/*
 * Write the configuration; what has no counterpart, or means something else here, goes to `notes`
 * as one line each. credentials_file: where the key pair will be ("" = it was not written). Secrets
 * go to neither. 0 or -ENOMEM.
 */
CCM_NODISCARD int convert_write(const struct convert_input *input, const char *credentials_file,
                                struct ccm_buf *config, struct ccm_buf *notes);

/* The key pair of the file as the JSON of a credentials file. -ENOENT: there is none; -EBADMSG: it
 * is not base64, as it has to be; -ENOMEM. The caller wipes `json`. */
CCM_NODISCARD int convert_credentials(const struct convert_input *input, struct ccm_buf *json);

#endif
