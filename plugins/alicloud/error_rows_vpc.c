/* Errors of VPC and its routes: rows for error_rows.h. */
#include "alicloud/error_rows.h"

#include "util/attr.h"

/* Codes of route tables and their entries; some come as the code of one item of a batch. They stand
 * before the families of the general table. */
const struct ali_error_row ali_error_rows_vpc[] = {
    { "VPC_ROUTE_ENTRY_STATUS_ERROR", NULL, ALI_CLASS_BUSY,
      "The route is being created, changed or deleted.", NULL },
    { "IncorrcetRouteEntryStatus", NULL, ALI_CLASS_BUSY, "The route is being created or changed.",
      NULL },

    { "VPC_ROUTE_ENTRY_CIDR_BLOCK_DUPLICATE", NULL, ALI_CLASS_STATE,
      "A route with this destination exists.", NULL },
    { "InvalidCIDRBlock.Duplicate", NULL, ALI_CLASS_STATE, "A route with this destination exists.",
      "Delete the other route, or choose pod CIDRs that meet no vSwitch of the VPC." },
    { "InvalidRouteEntry.Duplicate", NULL, ALI_CLASS_STATE, "A route with this destination exists.",
      "Delete the other route, or choose pod CIDRs that meet no vSwitch of the VPC." },
    { "RouteConflict.AlreadyExist", NULL, ALI_CLASS_STATE,
      "The destination meets a vSwitch of the VPC, or another route.",
      "Delete the other route, or choose pod CIDRs that meet no vSwitch of the VPC." },
    { "Duplicated.VpcNextHop", NULL, ALI_CLASS_STATE,
      "A route with this destination and next hop exists.", NULL },
    { "RouterEntryConflict.Duplicated", NULL, ALI_CLASS_STATE,
      "A route with this destination exists.", NULL },
    { "IllegalParam.NextToken*", NULL, ALI_CLASS_STATE, "The next page cannot be found any more.",
      NULL },

    { "VPC_ROUTER_ENTRY_NOT_EXIST", NULL, ALI_CLASS_NOT_FOUND, "The route does not exist.", NULL },
    { "InvalidRouteTableId.NotFound", NULL, ALI_CLASS_NOT_FOUND, "The route table does not exist.",
      "Check option table_ids of plugin route." },
    { "InvalidRouteTable.NotFound", NULL, ALI_CLASS_NOT_FOUND, "The route table does not exist.",
      "Check option table_ids of plugin route." },

    { "IllegalParam.NextHopId", NULL, ALI_CLASS_REQUEST,
      "The instance does not exist, or not in a VPC.",
      "Check spec.providerID of the node, and whether its instance was released." },
    { "InvalidParameter", "not exists or not vpc vm", ALI_CLASS_REQUEST,
      "The instance does not exist, or not in a VPC.",
      "Check spec.providerID of the node, and whether its instance was released." },
    { "InvalidNextHop.NotFound", NULL, ALI_CLASS_REQUEST, "The next hop does not exist.",
      "Check spec.providerID of the node, and whether its instance was released." },
    { "InvalidNexthop.NotFound", NULL, ALI_CLASS_REQUEST, "The next hop does not exist.",
      "Check spec.providerID of the node, and whether its instance was released." },
    { "InvalidNextHopId.NotFound", NULL, ALI_CLASS_REQUEST, "The next hop does not exist.",
      "Check spec.providerID of the node, and whether its instance was released." },
    { "OperationFailed.InstanceDismatchCurrentVpc", NULL, ALI_CLASS_REQUEST,
      "The instance is in another VPC than the route table.",
      "Check option table_ids of plugin route and alicloud.vpc_id." },
    { "InvalidDestinationCidrBlock", NULL, ALI_CLASS_REQUEST,
      "The destination lies in a range that the cloud keeps for itself.",
      "Choose pod CIDRs outside of 100.64.0.0/10." },
    { "InvalidCidrBlock", NULL, ALI_CLASS_REQUEST, "The destination is no valid network.",
      "Correct spec.podCIDRs of the node." },
};

const size_t ali_error_row_vpc_count = CCM_ARRAY_LEN(ali_error_rows_vpc);
