/* What a product serves, see controller.h. */
#include "controller.h"

const struct lbc_served *lbc_product_served(const struct lbc_product *product)
{
    static const struct lbc_served service = { .noun = "Service",
                                               .resource = "service",
                                               .member = "loadBalancer" };

    return product->served == NULL ? &service : product->served;
}
