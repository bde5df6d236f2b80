/*
 * Metrics of all Services of a controller together, put together from what passes know of
 * each: backends that the cloud finds unhealthy, when the first certificate ends, how long Services
 * wait for their address. No call is made for it. One lock, a leaf; every thread; nothing blocks.
 */
#ifndef CCM_LBC_FIGURES_H
#define CCM_LBC_FIGURES_H

#include "ccm/host.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lbc_figures;

/* host and type, the label of the metrics, are borrowed. NULL on ENOMEM. */
struct lbc_figures *lbc_figures_new(const struct ccm_host *host, const char *type);
/* NULL is fine. */
void lbc_figures_free(struct lbc_figures *figures);

/* This instance works from now on: what it may count later is there, at 0. */
void lbc_figures_start(struct lbc_figures *figures);

/* What the last look at the Service's health has found; out of memory it is left out. */
void lbc_figures_set_unhealthy(struct lbc_figures *figures, const char *key, size_t backends);
/* ends_ms: since 1970, of the certificate of the Service that ends first; 0 = it has none. */
void lbc_figures_set_certificate(struct lbc_figures *figures, const char *key, int64_t ends_ms);
/* The Service, or its load balancer, is gone, or none is wanted. */
void lbc_figures_forget(struct lbc_figures *figures, const char *key);

/* The Service wants an address and has none: its time runs, from the first such call on. */
void lbc_figures_begin_wish(struct lbc_figures *figures, const char *key);
/* It has one. The pass that gave it reports how long it took, if this instance works. */
void lbc_figures_meet_wish(struct lbc_figures *figures, const char *key);
/* It wants none, or a pass has gone well; created: which has given it its first address. */
void lbc_figures_end_wish(struct lbc_figures *figures, const char *key, bool created);

#endif
