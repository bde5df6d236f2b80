/* Annotations that a refusal of the cloud is about, behind its remedy. */
#include "lbc/rules/blame.h"

#include "lbc/tests/check.h"
#include "lbc/tests/objects.h"

#include <string.h>

static const struct lbc_anno rows[] = {
    { .name = "id" },
    { .name = "spec", .field = "LoadBalancerSpec" },
    { .name = "cert-id", .field = "CertificateId" },
    { .name = "acl-id" },
    { .name = NULL, .field = "Mute" },
};
static const struct lbc_anno_table table = {
    .rows = rows, .count = CCM_ARRAY_LEN(rows), .kind = "TOY", .foreign = ""
};

static void test_named(void **state)
{
    static const struct {
        const char *remedy;
        const char *message;
        const char *text;
    } cases[] = {
        { NULL, "no", "" },
        { "Wait.", "no", "Wait." },
        /* By the remedy: beside the word alone, as "id" is a word of many. */
        { "Check annotation cert-id.", "no",
          "Check annotation cert-id: annotation " P "cert-id is [c-1]" },
        { "Look at the cert-id annotation, or else.", "no",
          "Look at the cert-id annotation, or else: annotation " P "cert-id is [c-1]" },
        { "The id is wrong, or the cert-id.", "no", "The id is wrong, or the cert-id." },
        /* By its parameter in the message. */
        { "See.", "The LoadBalancerSpec is bad", "See: annotation " P "spec is [big]" },
        { NULL, "LoadBalancerSpec", "annotation " P "spec is [big]" },
        { "See.", "MyLoadBalancerSpecs, Mute", "See." },
        { "Set annotation id.", "CertificateId",
          "Set annotation id: annotation " P "id is [lb-1], annotation " P "cert-id is [c-1]" },
        /* That is not set. */
        { "Check annotation acl-id.", "no", "Check annotation acl-id." },
    };
    struct ccm_service *service = obj_service();

    (void)state;
    obj_annotate(&service->meta, P "id", "lb-1");
    obj_annotate(&service->meta, P "spec", "big");
    obj_annotate(&service->meta, P "cert-id", "c-1");
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct ccm_buf text = { .max = 900 };

        lbc_blame_write(&table, &service->meta, cases[i].remedy, cases[i].message, &text);
        assert_string_equal(ccm_buf_str(&text), cases[i].text);
        ccm_buf_fini(&text);
        lbc_blame_write(NULL, &service->meta, cases[i].remedy, cases[i].message, &text);
        assert_string_equal(ccm_buf_str(&text), cases[i].remedy == NULL ? "" : cases[i].remedy);
        ccm_buf_fini(&text);
    }
}

static void test_long_value(void **state)
{
    struct ccm_service *service = obj_service();
    struct ccm_buf text = { .max = 900 };
    char value[300];

    (void)state;
    memset(value, 'x', sizeof(value) - 1);
    value[sizeof(value) - 1] = '\0';
    obj_annotate(&service->meta, P "spec", value);
    lbc_blame_write(&table, &service->meta, NULL, "LoadBalancerSpec", &text);
    assert_non_null(strstr(ccm_buf_str(&text), "xxx...]"));
    assert_in_range(text.len, 150, 200);
    ccm_buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_named, obj_end),
        cmocka_unit_test_teardown(test_long_value, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
