/*
 * From changes of objects to keys in the queue: which Services a change concerns. Runs in the
 * reflector's thread; no I/O.
 */
#ifndef CCM_LBC_MAPPING_H
#define CCM_LBC_MAPPING_H

#include "ccm/plugin.h"
#include "lbc/model/absence.h"

#include <stdbool.h>

struct lbc_inventory;
struct lbc_mirrors;

struct lbc_mapping {
    const struct ccm_host *host;
    const char *finalizer;   /* a Service that carries it is always looked at */
    const char *component;   /* of events */
    const char *extra_label; /* a third label that the controller keeps; NULL = none */
    struct lbc_mirrors
        *mirrors;         /* is told when what we keep on a Service changes; NULL = nobody is */
    bool pods_by_default; /* backend mode of Services that do not say */
    bool filter_nodes; /* changes of nodes only concern Services whose nodes are chosen by them */
    bool (*is_ours)(const struct ccm_service *service);
    struct lbc_absence *absence;     /* is told what went, and how */
    struct lbc_inventory *inventory; /* is told of edits; NULL = nobody is */
};

void lbc_mapping_service(const struct lbc_mapping *mapping, const struct ccm_change *change);
void lbc_mapping_slice(const struct lbc_mapping *mapping, const struct ccm_change *change);
/* Fans out to every Service with nodes as backends; `delay_ms` lets several changes become one
 * pass. */
void lbc_mapping_node(const struct lbc_mapping *mapping, const struct ccm_change *change,
                      uint64_t delay_ms);

#endif
