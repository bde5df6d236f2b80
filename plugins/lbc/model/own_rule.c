#include "lbc/model/own_rule.h"

const char *lbc_own_rule_explain(enum lbc_own_rule rule)
{
    static const char *const words[LBC_OWN_RULE_COUNT] = {
        [LBC_OWN_RULE_NODE_ADDRESS] =
            "address of a node, and no hostNetwork pod of the namespace has it",
        [LBC_OWN_RULE_UNREAD] = "address of a node, and its pod cannot be read",
        [LBC_OWN_RULE_FURTHER] = "not the first address of its endpoint",
        [LBC_OWN_RULE_SILENT] = "nodes without condition Ready",
        [LBC_OWN_RULE_NODELESS] = "an endpoint without nodeName may be there",
    };

    return words[rule];
}
