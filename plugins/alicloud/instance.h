/* The client of the process, made from the options of whoever comes first. */
#ifndef CCM_ALICLOUD_INSTANCE_H
#define CCM_ALICLOUD_INSTANCE_H

#include "alicloud/api.h"
#include "ccm/plugin.h"

struct ali_client;

/* What acquire() would say about the options that `host` answers, and what can be known without the
 * cloud about the files that they name: 0, or the error. There is no instance afterwards that was
 * none before; only files are read. Any thread. */
CCM_NODISCARD ALI_API int ali_check(const struct ccm_host *host, struct ccm_error *err);

/*
 * The instance, reference-counted. acquire() does no I/O (call it in create()); configuration
 * errors are CCM_ERROR_TERMINAL and name the option. `host` is the caller's own and is used for the
 * calls it makes.
 */
CCM_NODISCARD ALI_API int ali_acquire(const struct ccm_host *host, struct ali_client **ret,
                                      struct ccm_error *err);
ALI_API void ali_release(struct ali_client *ali);

/*
 * Find what the configuration leaves out (region, VPC, vSwitch from the metadata service) and a
 * first credential. Blocks; call it in start(). Any plugin may call it again: done once, later
 * calls return the first result or try again.
 */
CCM_NODISCARD ALI_API int ali_start(struct ali_client *ali, const struct ccm_host *host,
                                    struct ccm_error *err);

#endif
