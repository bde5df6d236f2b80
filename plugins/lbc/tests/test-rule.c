/* Annotations that do nothing, or not what they seem to. */
#include "check.h"
#include "lbc/model/annotation.h"
#include "lbc/model/candidate.h"
#include "lbc/rules/rule.h"
#include "objects.h"
#include "util/attr.h"
#include "util/text.h"

#include <string.h>

static const struct lbc_rule *rule_find_row(const char *key)
{
    const struct lbc_rule *rule = lbc_rules;

    while (rule->key != NULL && strcmp(lbc_rule_key(rule), key) != 0) {
        rule++;
    }
    assert_non_null(rule->key);
    return rule;
}

static void test_rows(void **state)
{
    static const struct {
        const char *key;
        const char *value;
        const char *beside; /* suffix of another annotation */
        const char *beside_value;
        bool expected;
    } cases[] = {
        { "vgroup-port", "rsp-1:80", NULL, NULL, true },
        { "vgroup-port", "rsp-1:80", "id", "lb-1", false },
        { "vgroup-port", "", NULL, NULL, false },
        { "weight", "60", NULL, NULL, true },
        { "weight", "60", "id", "lb-1", true },
        { "weight", "60", "vgroup-port", "rsp-1:80", true },
        { "force-override-listeners", "true", NULL, NULL, true },
        { "force-override-listeners", "false", NULL, NULL, false },
        { "force-override-listeners", "true", "id", "lb-1", false },
        { "protocol-port", "udp:80", NULL, NULL, true },
        { "protocol-port", "UDP:80", NULL, NULL, true },
        { "protocol-port", "https:80", NULL, NULL, false },
        { "protocol-port", "tcp:53", NULL, NULL, true },
        { "protocol-port", "udp:53", NULL, NULL, false },
        { "protocol-port", "tcp:5353,https:443", NULL, NULL, false },
        { "protocol-port", "tcp:53", "id", "lb-1", false },
        { "protocol-port", "tcp", NULL, NULL, false },
        { "additional-resource-tags", "a=1,b", NULL, NULL, false },
        { "additional-resource-tags", "a=1,acs:b=2", NULL, NULL, true },
        { "additional-resource-tags", "kubernetes.do.not.delete", NULL, NULL, true },
        { "additional-resource-tags", " ack.aliyun.com =x", NULL, NULL, true },
        { "additional-resource-tags", "kubernetes.reused.by.user=x", NULL, NULL, false },
        { "additional-resource-tags", "kubernetes.reused.by.user=x", "id", "lb-1", true },
        { "additional-resource-tags", ",=x, ,", NULL, NULL, false },
        { LBC_BACKEND_TYPE_KEY, "ENI", NULL, NULL, true },
        { LBC_BACKEND_TYPE_KEY, "eni", NULL, NULL, false },
        { LBC_BACKEND_TYPE_KEY, "ecs", NULL, NULL, false },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct ccm_service *service = obj_service();
        char key[LBC_ANNO_KEY_MAX];

        obj_port(service, "http", "TCP", 80, "8080", 30080);
        obj_port(service, "dns", "UDP", 53, "53", 30053);
        ccm_text_copy(key, sizeof(key), cases[i].key);
        if (strchr(cases[i].key, '/') == NULL) {
            (void)lbc_anno_suffix_key(&service->meta, cases[i].key, key); /* is the key */
        }
        obj_annotate(&service->meta, key, cases[i].value);
        if (cases[i].beside != NULL) {
            obj_annotate(&service->meta, lbc_anno_suffix_key(&service->meta, cases[i].beside, key),
                         cases[i].beside_value);
        }
        const struct lbc_rule_ask ask = { .service = service };

        if (lbc_rule_holds(&ask, rule_find_row(cases[i].key)) != cases[i].expected) {
            fail_msg("case %zu: %s=%s", i, cases[i].key, cases[i].value);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_rows, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
