/*
 * From changes of objects to keys in the queue: which Services a change concerns. Runs in the
 * reflector's thread; no I/O.
 */
#ifndef CCM_SERVICE_MAPPING_H
#define CCM_SERVICE_MAPPING_H

#include "ccm/plugin.h"
#include "service/absence.h"

#include <stdbool.h>

struct ccm_inventory;
struct ccm_store;

struct ccm_mapping {
    const struct ccm_host *host;
    const char *finalizer;   /* a Service that carries it is always looked at */
    const char *component;   /* of events */
    const char *extra_label; /* a third label that the controller keeps; NULL = none */
    struct ccm_store *store; /* is told when what we keep on a Service changes; NULL = nobody is */
    bool default_eni;        /* backend mode of Services that do not say */
    bool filter_nodes; /* changes of nodes only concern Services whose nodes are chosen by them */
    bool (*is_ours)(const struct ccm_service *service);
    struct ccm_absence *absence;     /* is told what went, and how */
    struct ccm_inventory *inventory; /* is told of edits; NULL = nobody is */
};

void ccm_mapping_service(const struct ccm_mapping *mapping, const struct ccm_change *change);
void ccm_mapping_slice(const struct ccm_mapping *mapping, const struct ccm_change *change);
/* Fans out to every Service with nodes as backends; `delay_ms` lets several changes become one
 * pass. */
void ccm_mapping_node(const struct ccm_mapping *mapping, const struct ccm_change *change,
                      uint64_t delay_ms);

#endif
