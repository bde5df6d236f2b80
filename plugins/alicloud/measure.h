/* Calls, waits and credentials as metrics of the host. Every thread; nothing blocks. */
#ifndef CCM_ALICLOUD_MEASURE_H
#define CCM_ALICLOUD_MEASURE_H

#include "alicloud/client.h"

/* What came of a try. Throttled counts as failed, too. */
enum ali_measured { ALI_MEASURED_OK, ALI_MEASURED_FAILED, ALI_MEASURED_THROTTLED };

static inline enum ali_measured ali_measured(bool failed, bool throttled)
{
    return !failed ? ALI_MEASURED_OK : throttled ? ALI_MEASURED_THROTTLED : ALI_MEASURED_FAILED;
}

/* One try of a call was answered, or not. code: the cloud's, "" = it has none. */
void ali_measure_try(const struct ccm_host *host, const struct ali_call *call, int64_t took_ms,
                     enum ali_measured measured, const char *code);

/* The same for what is no call of a product: the metadata service, whose codes are HTTP states. */
void ali_measure_request(const struct ccm_host *host, const char *product, const char *request,
                         int64_t took_ms, enum ali_measured measured, const char *code);

/* How long a call waited for its turn; refused: it did not come in time. */
void ali_measure_wait(const struct ccm_host *host, const struct ali_call *call, int64_t waited_ms,
                      bool refused);

/* How many calls per window an action may make, now that it is another number. */
void ali_measure_share(const struct ccm_host *host, const struct ali_call *call, int64_t allowed);

/* A credential was fetched. life_ms: how long it is good for, 0 = without end. */
void ali_measure_credential(const struct ccm_host *host, int64_t life_ms);
void ali_measure_credential_failure(const struct ccm_host *host);

#endif
