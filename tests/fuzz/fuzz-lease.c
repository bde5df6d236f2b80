/* The Lease of leader election: as it is read, and as it is sent back with a claim of ours. */
#include "fuzz.h"

#include "kube/lease_record.h"
#include "util/cleanup.h"

#include <stdbool.h>

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION /* libFuzzer; else --oom may be at work */
#define MEMORY_FAILS false
#else
#define MEMORY_FAILS true
#endif

static void claim(const struct kube_lease_record *record)
{
    const struct kube_lease_claim claim = {
        .holder = "node-1_0f8fad5b",
        .duration_ms = 15000,
        .wall_ms = 1795192567000,
        .transitions = record->transitions + 1,
        .acquired = record->acquired,
    };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = (size_t)4 * 1024 * 1024 };
    CCM_CLEANUP(kube_lease_record_fini) struct kube_lease_record again = { 0 };
    struct ccm_error err = CCM_ERROR_INIT;

    kube_lease_record_print(record, "kube-system", "ccm", &claim, &body);
    if (record->json == NULL || ccm_buf_error(&body) < 0) {
        return;
    }
    if (kube_lease_record_read(ccm_buf_str(&body), body.len, &again, &err) == 0) {
        FUZZ_REQUIRE(strcmp(again.version, record->version) == 0);
    } else {
        FUZZ_REQUIRE(MEMORY_FAILS);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct kube_lease_record none = { 0 };
    CCM_CLEANUP(kube_lease_record_fini) struct kube_lease_record record = { 0 };
    CCM_CLEANUP(ccm_freep) char *text = fuzz_text(data, size);
    struct ccm_error err = CCM_ERROR_INIT;

    if (text == NULL) {
        return 0;
    }
    if (kube_lease_record_read(text, size, &record, &err) == 0) {
        FUZZ_REQUIRE(record.version[0] != '\0' && record.duration_ms >= 0);
        claim(&record);
    } else {
        FUZZ_REQUIRE(err.message[0] != '\0' && record.json == NULL);
    }
    claim(&none);
    return 0;
}
