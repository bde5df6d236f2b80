/* The Table form of lists and objects: what `kubectl get` prints. Pure functions; every thread. */
#ifndef CCM_KS_TABLE_H
#define CCM_KS_TABLE_H

#include "kind.h"

#include <stdint.h>

extern const struct ccm_ks_column ccm_ks_table_plain[];
extern const struct ccm_ks_column ccm_ks_table_config_map[];
extern const struct ccm_ks_column ccm_ks_table_crd[];
extern const struct ccm_ks_column ccm_ks_table_endpoints[];
extern const struct ccm_ks_column ccm_ks_table_ingress[];
extern const struct ccm_ks_column ccm_ks_table_secret[];
extern const struct ccm_ks_column ccm_ks_table_event[];
extern const struct ccm_ks_column ccm_ks_table_lease[];
extern const struct ccm_ks_column ccm_ks_table_namespace[];
extern const struct ccm_ks_column ccm_ks_table_node[];
extern const struct ccm_ks_column ccm_ks_table_pod[];
extern const struct ccm_ks_column ccm_ks_table_service[];
extern const struct ccm_ks_column ccm_ks_table_slice[];

/* One row: append a cell per column. `object` is in storage form. */
void ccm_ks_table_plain_row(cJSON *cells, const cJSON *object, int64_t now_ms);
void ccm_ks_table_config_map_row(cJSON *cells, const cJSON *object, int64_t now_ms);
void ccm_ks_table_endpoints_row(cJSON *cells, const cJSON *object, int64_t now_ms);
void ccm_ks_table_event_row(cJSON *cells, const cJSON *object, int64_t now_ms);
void ccm_ks_table_ingress_row(cJSON *cells, const cJSON *object, int64_t now_ms);
void ccm_ks_table_secret_row(cJSON *cells, const cJSON *object, int64_t now_ms);
void ccm_ks_table_lease_row(cJSON *cells, const cJSON *object, int64_t now_ms);
void ccm_ks_table_namespace_row(cJSON *cells, const cJSON *object, int64_t now_ms);
void ccm_ks_table_node_row(cJSON *cells, const cJSON *object, int64_t now_ms);
void ccm_ks_table_pod_row(cJSON *cells, const cJSON *object, int64_t now_ms);
void ccm_ks_table_service_row(cJSON *cells, const cJSON *object, int64_t now_ms);
void ccm_ks_table_slice_row(cJSON *cells, const cJSON *object, int64_t now_ms);

/* What a row carries besides its cells. */
enum ccm_ks_include { CCM_KS_INCLUDE_METADATA, CCM_KS_INCLUDE_NONE, CCM_KS_INCLUDE_OBJECT };

/* Append `"columnDefinitions":[...],"rows":` without the rows; `columns` false writes null for
 * them. */
void ccm_ks_table_head(struct ccm_buf *buf, const struct ccm_ks_kind *kind, bool columns);

/* Append one row object. */
void ccm_ks_table_row(struct ccm_buf *buf, const struct ccm_ks_kind *kind, const cJSON *object,
                      enum ccm_ks_include include);

/* Append {"kind":"PartialObjectMetadata",...} of an object. */
void ccm_ks_table_metadata(struct ccm_buf *buf, const cJSON *object);

/* A span as people read it: "45s", "5m30s", "3h", "2d". size >= 32. */
void ccm_ks_table_span(int64_t ms, char *text, size_t size);

#endif
