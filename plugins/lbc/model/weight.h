/* How much traffic a backend gets: by the rule of the annotations (read in settings.c), policy and
 * the pods of its node. candidate.c:candidates_set_weights() asks for it; a backend that leaves has
 * 0. Pure. Every thread. */
#ifndef CCM_LBC_WEIGHT_H
#define CCM_LBC_WEIGHT_H

#include <stdbool.h>
#include <stdint.h>

#define LBC_WEIGHT_MAX     100U
#define LBC_WEIGHT_DEFAULT 100U

struct lbc_weight_rule {
    bool has_total; /* annotation `weight`: one sum, shared out among the backends */
    uint32_t total; /* 0..100 */
    uint32_t each;  /* annotation `default-weight`, or LBC_WEIGHT_DEFAULT */
    bool local;     /* externalTrafficPolicy Local: by number of pods */
};

/*
 * Weight of one backend, 0..100.
 *   pods       endpoints behind it (Local, instances); 0 for a backend that is a pod itself
 *   max_pods   the largest `pods` of the group: more than 100 are scaled down, keeping the ratio
 *   backends   number of backends before those of one instance were merged
 */
uint32_t lbc_weight_compute(const struct lbc_weight_rule *rule, uint32_t pods, uint32_t max_pods,
                            uint32_t backends);

#endif
