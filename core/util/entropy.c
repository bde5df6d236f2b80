#include "util/entropy.h"

#include "util/clock.h"

#include <sys/random.h>

uint64_t ccm_entropy_seed(void)
{
    uint64_t seed = 0;

    if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed) || seed == 0) {
        seed = (uint64_t)ccm_clock_wall_ms() | 1;
    }
    return seed;
}
