/* Plans: what all parts build on. */
#include "annotations.h"
#include "plan_parts.h"
#include "util/parse.h"
#include "util/text.h"

uint16_t clb_forward_target(const struct lbc_listener *listener)
{
    const char *port = lbc_attrs_get(&listener->attrs, clb_field_find("ForwardPort"));
    const char *on = lbc_attrs_get(&listener->attrs, clb_field_find("ListenerForward"));
    uint32_t number = 0;

    if (port == NULL || !ccm_text_equal(on, "on") ||
        ccm_parse_u32(port, 1, UINT16_MAX, &number) < 0) {
        return 0;
    }
    return (uint16_t)number;
}

struct clb_step *clb_plan_new_step(struct clb_work *work, unsigned type)
{
    return (struct clb_step *)lbc_work_lb_step(&work->lbc, type);
}
