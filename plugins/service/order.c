#include "service/order.h"

#include <string.h>

void ccm_order_note(struct ccm_order *order, uint64_t before, uint64_t wanted, int64_t now_ms)
{
    *order = (struct ccm_order){ .before = before, .wanted = wanted, .ms = now_ms };
}

bool ccm_order_stands(const struct ccm_order *order, uint64_t before, uint64_t wanted,
                      int64_t now_ms)
{
    return order->wanted != 0 && order->before == before && order->wanted == wanted &&
           now_ms - order->ms < CCM_ORDER_MS;
}

void ccm_order_see(struct ccm_order *order, uint64_t shown)
{
    if (order->wanted == shown) {
        memset(order, 0, sizeof(*order));
    }
}
