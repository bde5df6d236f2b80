/* What a product is called, see controller.h. */
#include "controller.h"

const char *lbc_product_noun(const struct lbc_product *product)
{
    return product->noun == NULL ? "Service" : product->noun;
}
