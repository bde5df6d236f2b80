/* Parts of fixtures.c: each makes one object of a list of the file. With the
 * cloud's lock held. */
#ifndef CCM_CLOUD_FIXTURES_PART_H
#define CCM_CLOUD_FIXTURES_PART_H

#include "cloud.h"

#include <cjson/cJSON.h>

/* "WHAT 'ID': TEXT" appended to `why`. Always -EINVAL, to be returned. */
int ccm_cloud_fixture_bad(struct ccm_buf *why, const char *what, const char *id, const char *text);

/* The object has these members only (the list ends with NULL), and an id. 0 or
 * -EINVAL. */
CCM_NODISCARD int ccm_cloud_fixture_check(const cJSON *json, const char *what,
                                          const char *const *names, struct ccm_buf *why);

/* Member "tags" -> tags. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_cloud_fixture_tags(const cJSON *json, struct ccm_cloud_obj *obj);

/* Texts of an array, joined by commas; the caller frees. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_cloud_fixture_join(const cJSON *json, const char *name, char **ret);

/* 0, -ENOMEM, or -EINVAL with the reason appended to `why`. */
CCM_NODISCARD int ccm_cloud_fixture_instance(struct ccm_cloud *cloud, const cJSON *json,
                                             struct ccm_buf *why);
CCM_NODISCARD int ccm_cloud_fixture_eni(struct ccm_cloud *cloud, const cJSON *json,
                                        struct ccm_buf *why);
CCM_NODISCARD int ccm_cloud_fixture_cert(struct ccm_cloud *cloud, const cJSON *json,
                                         struct ccm_buf *why);
CCM_NODISCARD int ccm_cloud_fixture_lingjun(struct ccm_cloud *cloud, const cJSON *json,
                                            struct ccm_buf *why);
CCM_NODISCARD int ccm_cloud_fixture_cas_cert(struct ccm_cloud *cloud, const cJSON *json,
                                             struct ccm_buf *why);
CCM_NODISCARD int ccm_cloud_fixture_security_group(struct ccm_cloud *cloud, const cJSON *json,
                                                   struct ccm_buf *why);
CCM_NODISCARD int ccm_cloud_fixture_role(struct ccm_cloud *cloud, const cJSON *json,
                                         struct ccm_buf *why);
CCM_NODISCARD int ccm_cloud_fixture_bandwidth_package(struct ccm_cloud *cloud, const cJSON *json,
                                                      struct ccm_buf *why);

#endif
