/*
 * Cluster IPs (10.96.0.0/12, fd00:10:96::/112) and node ports (30000-32767) of Services. Choosing
 * and recording are apart: a write chooses what is free, and only what is stored is recorded. The
 * owner brings the lock.
 */
#ifndef CCM_KS_ALLOC_H
#define CCM_KS_ALLOC_H

#include "util/attr.h"
#include "util/json.h"

#include <stdbool.h>
#include <stdint.h>

#define CCM_KS_PORT_MIN 30000
#define CCM_KS_PORT_MAX 32767

struct ccm_ks_alloc;

/* NULL on ENOMEM. */
struct ccm_ks_alloc *ccm_ks_alloc_new(void);
void ccm_ks_alloc_free(struct ccm_ks_alloc *alloc);

/* Whether another Service than `old` (may be NULL) has it. */
bool ccm_ks_alloc_port_taken(const struct ccm_ks_alloc *alloc, int port, const cJSON *old);
bool ccm_ks_alloc_ip_taken(const struct ccm_ks_alloc *alloc, const char *ip, const cJSON *old);

/* A free one that neither `old` nor `object` names; 0 / false when the range is full. */
int ccm_ks_alloc_port(struct ccm_ks_alloc *alloc, const cJSON *object, const cJSON *old);
bool ccm_ks_alloc_ip(struct ccm_ks_alloc *alloc, char ip[16]);
bool ccm_ks_alloc_ip6(struct ccm_ks_alloc *alloc, char ip[48]);

/* A Service was stored (old NULL: new; object NULL: removed). */
void ccm_ks_alloc_record(struct ccm_ks_alloc *alloc, const cJSON *old, const cJSON *object);

#endif
