/* Bounds of the histograms that the reference controller has, in milliseconds: what reads its
 * metrics reads these. For an array of double. */
#ifndef CCM_UTIL_BUCKETS_H
#define CCM_UTIL_BUCKETS_H

#define CCM_REFERENCE_BUCKETS_MS                                                                   \
    500, 700, 1000, 1500, 2000, 3000, 4000, 5000, 7000, 8000, 9000, 10000, 30000, 60000, 100000,   \
        150000, 200000, 300000, 600000, 700000, 800000

#endif
