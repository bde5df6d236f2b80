/* Which plugin a Service is for, and the annotation that may say so. */
#include "alilb/class.h"
#include "lbc/model/hint.h"
#include "lbc/tests/check.h"
#include "lbc/tests/objects.h"
#include "util/attr.h"

#include <string.h>

static void test_class(void **state)
{
    static const struct {
        const char *class_;
        const char *type; /* the annotation; NULL = none */
        bool clb;
        bool nlb;
        bool typed_clb;
        bool typed_nlb;
        bool hint;
    } cases[] = {
        { "", NULL, true, false, true, false, false },
        { "", "", true, false, true, false, false },
        { "", "nlb", true, false, false, true, true },
        { "", "alb", true, false, false, false, true },
        { ALILB_CLASS_NLB, NULL, false, true, false, true, false },
        /* The class says which kind it is: then the annotation is no promise. */
        { ALILB_CLASS_NLB, "nlb", false, true, false, true, false },
        { "somebody.else/lb", "nlb", false, false, false, false, false },
    };
    static const struct lbc_hint hint = ALILB_TYPE_HINT;

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct ccm_service *service = obj_service();

        service->load_balancer_class = cases[i].class_;
        if (cases[i].type != NULL) {
            obj_annotate(&service->meta, P "type", cases[i].type);
        }
        if (alilb_class_is_clb(service) != cases[i].clb ||
            alilb_class_is_nlb(service) != cases[i].nlb ||
            alilb_class_is_typed_clb(service) != cases[i].typed_clb ||
            alilb_class_is_typed_nlb(service) != cases[i].typed_nlb ||
            lbc_hint_applies(&hint, service) != cases[i].hint) {
            fail_msg("case %zu", i);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_class, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
