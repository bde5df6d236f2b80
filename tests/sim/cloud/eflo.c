/* Machines of Lingjun, which fixtures and edits bring. */
#include "families.h"
#include "plain.h"

static const struct ccm_cloud_field fields[] = {
    { "ClusterId", 's', NULL, "" },
    { "ClusterName", 's', NULL, "" },
    { "CreateTime", 's', NULL, "1767225600" },
    { "ExpiredTime", 's', NULL, "2082758400" },
    { "Hostname", 's', NULL, "" },
    { "HpnZone", 's', NULL, "A1" },
    { "ImageId", 's', NULL, "" },
    { "ImageName", 's', NULL, "" },
    { "MachineType", 's', NULL, "efg1.nvga1" },
    { "NodeGroupId", 's', NULL, "" },
    { "NodeGroupName", 's', NULL, "" },
    { "OperatingState", 's', NULL, "Using" },
    { "Sn", 's', NULL, "" },
    { "ZoneId", 's', NULL, "" },
    { 0 },
};

static int describe_node(struct ccm_cloud_call *call)
{
    const struct ccm_cloud_obj *node =
        ccm_cloud_plain_get(call->cloud, CCM_CLOUD_LINGJUN, ccm_cloud_text(call, "NodeId", ""));

    if (node == NULL) {
        return ccm_cloud_fail(call, 404, "RESOURCE_NOT_FOUND", "The node is not found.");
    }
    ccm_jsonw_str(call->out, "NodeId", node->id);
    ccm_cloud_write_fields(call->out, node, fields);
    return 0;
}

static const struct ccm_cloud_param params[] = {
    { .name = "NodeId", .required = true },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_eflo_actions[] = {
    { .name = "DescribeNode", .params = params, .run = describe_node },
    { 0 },
};
