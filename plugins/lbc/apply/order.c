#include "lbc/apply/order.h"

#include <string.h>

void lbc_order_record(struct lbc_order *order, uint64_t before, uint64_t wanted, int64_t now_ms)
{
    *order = (struct lbc_order){ .before = before, .wanted = wanted, .ms = now_ms };
}

bool lbc_order_stands(const struct lbc_order *order, uint64_t before, uint64_t wanted,
                      int64_t now_ms)
{
    return order->wanted != 0 && order->before == before && order->wanted == wanted &&
           now_ms - order->ms < LBC_ORDER_MS;
}

void lbc_order_see(struct lbc_order *order, uint64_t shown)
{
    if (order->wanted == shown) {
        memset(order, 0, sizeof(*order));
    }
}
