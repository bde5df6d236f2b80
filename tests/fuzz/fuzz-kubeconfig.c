/* A kubeconfig. */
#include "fuzz.h"

#include "kube/client/auth.h"
#include "util/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CCM_CLEANUP(kube_auth_fini) struct kube_auth auth = { 0 };
    struct ccm_error err = CCM_ERROR_INIT;
    const char *path = fuzz_file(data, size);

    if (path != NULL && kube_auth_read(path, &auth, &err) == 0) {
        FUZZ_REQUIRE(auth.server != NULL && auth.server[0] != '\0');
    }
    return 0;
}
