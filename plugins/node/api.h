/* One function per action of the cloud. Blocks until answered, or is put off
 * (ali_error_is_put_off()).
 */
#ifndef CCM_NODE_API_H
#define CCM_NODE_API_H

#include "alicloud/client.h"
#include "util/json.h"
#include "util/strmap.h"

struct node_call {
    struct ali_client *ali;
    const struct ccm_host *host;
    const struct ccm_request *req;
    enum ali_priority priority;
    bool failed_before; /* all of them did: this one is not repeated at once */
};

/* For whom places are kept in the lines of the governor. */
#define NODE_PLACE "nodes"

/* Answers of the cloud: items are found by their names and live as long as this. Zeroed = empty. */
struct node_answers {
    cJSON **items;
    size_t len;
    size_t cap;
};
void node_answers_fini(struct node_answers *answers);

/* Up to NODE_BATCH_MAX instances of a region; found: id -> item of an answer, added to what is in
 * it. A failed read adds nothing that counts. 0 or negative with err. */
CCM_NODISCARD int node_api_instances(const struct node_call *call, const char *region,
                                     const struct ccm_strmap *ids, struct node_answers *answers,
                                     struct ccm_strmap *found, struct ccm_error *err);

/* The same by private addresses in the VPC of the cluster. */
CCM_NODISCARD int node_api_addresses(const struct node_call *call, const struct ccm_strmap *ips,
                                     struct node_answers *answers, struct ccm_strmap *found,
                                     struct ccm_error *err);

/* Up to NODE_BATCH_MAX network interfaces. */
CCM_NODISCARD int node_api_interfaces(const struct node_call *call, const char *region,
                                      const struct ccm_strmap *ids, struct node_answers *answers,
                                      struct ccm_strmap *found, struct ccm_error *err);

/* A Lingjun node by its provider id. */
CCM_NODISCARD int node_api_lingjun(const struct node_call *call, const char *id,
                                   struct ccm_error *err);

/* Let the interface forward packets that are neither from nor for its own addresses. */
CCM_NODISCARD int node_api_forward(const struct node_call *call, const char *region, const char *id,
                                   struct ccm_error *err);

#endif
