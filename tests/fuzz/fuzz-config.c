/* The configuration file of the daemon. */
#include "fuzz.h"

#include "config/load.h"
#include "util/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CCM_CLEANUP(config_freep) struct config_tree *config = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    const char *path = fuzz_file(data, size);

    if (path == NULL) {
        return 0;
    }

    const int r = config_load(path, &config, &err);

    FUZZ_REQUIRE(r == 0 || err.message[0] != '\0');
    if (r == 0) {
        const int f = config_finish(config, &err);

        FUZZ_REQUIRE(f == 0 || err.message[0] != '\0');
    }
    return 0;
}
