/* Class decision and ownership keys. */
#include "check.h"
#include "lbc/keys.h"
#include "lbc/model/class.h"
#include "lbc/model/owner.h"
#include "objects.h"
#include "util/attr.h"

#include <stdlib.h>
#include <string.h>

struct class_case {
    const char *type;
    const char *load_balancer_class;
    const char *key;
    const char *value;
    bool clb;
    bool nlb;
};

static void test_class(void **state)
{
    static const struct class_case cases[] = {
        { "LoadBalancer", "", NULL, NULL, true, false },
        { "ClusterIP", "", NULL, NULL, false, false },
        { "NodePort", "alibabacloud.com/nlb", NULL, NULL, false, false },
        { "LoadBalancer", "alibabacloud.com/nlb", NULL, NULL, false, true },
        { "LoadBalancer", "somebody.else/lb", NULL, NULL, false, false },
        { "LoadBalancer", "", P "tunnel-type", "t", false, false },
        { "LoadBalancer", "", P "tunnel-type", "", false, false },
        { "LoadBalancer", "", LBC_CLASS_KEY, "x", false, false },
        { "LoadBalancer", "", LBC_CLASS_KEY, "", true, false },
        { "LoadBalancer", "", P "type", "nlb", true, false },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct ccm_service *service = obj_service();

        service->type = cases[i].type;
        service->load_balancer_class = cases[i].load_balancer_class;
        if (cases[i].key != NULL) {
            obj_annotate(&service->meta, cases[i].key, cases[i].value);
        }
        if (lbc_class_is_default(service) != cases[i].clb ||
            lbc_class_is(service, "alibabacloud.com/nlb") != cases[i].nlb) {
            fail_msg("case %zu", i);
        }
    }
}

static void test_needs_delete(void **state)
{
    struct ccm_service *service = obj_service();

    (void)state;
    assert_false(lbc_class_needs_delete(service));
    service->meta.deleted_ms = 1;
    assert_true(lbc_class_needs_delete(service));
    service->meta.deleted_ms = 0;
    service->type = "NodePort";
    assert_true(lbc_class_needs_delete(service));
}

struct owner_case {
    const char *text;
    bool number;
    enum lbc_owner owner;
};

static void test_owner(void **state)
{
    static const struct owner_case cases[] = {
        { "k8s/80/web/default/c1", true, LBC_OWNER_OURS },
        { "k8s/http/web/default/c1", false, LBC_OWNER_OURS },
        { "k8s/http/web/default/c1", true, LBC_OWNER_NONE },
        { "k8s//web/default/c1", true, LBC_OWNER_NONE },
        { "k8s/80/web/default/c2", true, LBC_OWNER_OTHER },
        { "k8s/80/web/other/c1", true, LBC_OWNER_OTHER },
        { "k8s/80/we/default/c1", true, LBC_OWNER_OTHER },
        { "k8s/80/web2/default/c1", true, LBC_OWNER_OTHER },
        { "k8s/80/web/default/c1/", true, LBC_OWNER_NONE },
        { "k8s/80/web/default", true, LBC_OWNER_NONE },
        { "K8S/80/web/default/c1", true, LBC_OWNER_NONE },
        { "x/80/web/default/c1", true, LBC_OWNER_NONE },
        { "", false, LBC_OWNER_NONE },
        { "by hand", false, LBC_OWNER_NONE },
        { "k8s/99999999999999999999999999/web/default/c1", true, LBC_OWNER_NONE },
    };
    const struct ccm_service *service = obj_service();

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        if (lbc_owner_parse(cases[i].text, cases[i].number, &service->meta, "c1") !=
            cases[i].owner) {
            fail_msg("%s", cases[i].text);
        }
    }
    char *text = lbc_owner_format("80", &service->meta, "c1");

    assert_string_equal(text, "k8s/80/web/default/c1");
    free(text);
}

static void test_lb_name(void **state)
{
    struct ccm_service *service = obj_service();
    char name[LBC_OWNER_LB_NAME];

    (void)state;
    lbc_owner_lb_name(&service->meta, name);
    assert_string_equal(name, "a5e4dbfc9c2ae4642b0335607860aef6");
    service->meta.uid = "x-y";
    lbc_owner_lb_name(&service->meta, name);
    assert_string_equal(name, "axy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_class, obj_end),
        cmocka_unit_test_teardown(test_needs_delete, obj_end),
        cmocka_unit_test_teardown(test_owner, obj_end),
        cmocka_unit_test_teardown(test_lb_name, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
