/* Tables of attributes, and protocols. */
#include "alilb/action.h"
#include "lbc/rules/attrs.h"
#include "nlb/annotations.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_protocols(void **state)
{
    (void)state;
    assert_int_equal(lbc_protocol_parse("TCP", NLB_PROTOCOLS), LBC_TCP);
    assert_int_equal(lbc_protocol_parse("udp", NLB_PROTOCOLS), LBC_UDP);
    assert_int_equal(lbc_protocol_parse("TcpSsl", NLB_PROTOCOLS), LBC_TCPSSL);
    assert_int_equal(lbc_protocol_parse("TCP_UDP", NLB_PROTOCOLS), LBC_OTHER);
    assert_int_equal(lbc_protocol_parse("", NLB_PROTOCOLS), LBC_OTHER);
    assert_int_equal(lbc_protocol_parse(NULL, NLB_PROTOCOLS), LBC_OTHER);
    assert_string_equal(lbc_protocol_name(LBC_TCPSSL), "TCPSSL");
    assert_string_equal(lbc_protocol_name(LBC_OTHER), "OTHER");
    assert_true(lbc_protocol_clash(LBC_TCP, LBC_TCPSSL));
    assert_true(lbc_protocol_clash(LBC_UDP, LBC_UDP));
    assert_false(lbc_protocol_clash(LBC_UDP, LBC_TCPSSL));
    assert_false(lbc_protocol_clash(LBC_TCP, LBC_UDP));
}

/* What only a TCPSSL listener has. */
static void test_listener_fields(void **state)
{
    static const char *const tls[] = { "AlpnEnabled",    "AlpnPolicy",       "SecurityPolicyId",
                                       "CertificateIds", "CaCertificateIds", "CaEnabled" };
    struct lbc_attr_rows rows;
    size_t special = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(tls) / sizeof(tls[0]); i++) {
        const struct lbc_anno *field = nlb_listener_field(tls[i]);

        assert_non_null(field);
        assert_true(lbc_attr_applies(field, LBC_TCPSSL));
        assert_false(lbc_attr_applies(field, LBC_TCP));
        assert_false(lbc_attr_applies(field, LBC_UDP));
    }
    lbc_attr_rows_list(&nlb_annotations, LBC_ANNO_LISTENER, &rows);
    for (size_t i = 0; i < rows.len; i++) {
        const struct lbc_anno *row = rows.items[i];

        assert_ptr_equal(nlb_listener_field(row->field), row);
        special += lbc_attr_applies(row, LBC_UDP) ? 0 : 1;
        assert_int_equal((row->cloud & ALILB_ATTR_PPV2) != 0, strncmp(row->field, "Ppv2", 4) == 0);
    }
    assert_int_equal(special, sizeof(tls) / sizeof(tls[0]));
    assert_null(nlb_listener_field("Scheduler"));
}

static void test_group_fields(void **state)
{
    struct lbc_attr_rows rows;

    (void)state;
    lbc_attr_rows_list(&nlb_annotations, LBC_ANNO_SERVERS, &rows);
    for (size_t i = 0; i < rows.len; i++) {
        const struct lbc_anno *row = rows.items[i];

        assert_ptr_equal(nlb_group_field(row->field), row);
        assert_int_equal((row->cloud & ALILB_ATTR_HEALTH) != 0,
                         strncmp(row->field, "Health", 6) == 0 ||
                             strncmp(row->field, "Unhealthy", 9) == 0 ||
                             strcmp(row->field, "HttpCheckMethod") == 0);
        assert_int_equal((row->cloud & LBC_ATTR_CREATE) != 0,
                         strcmp(row->field, "ResourceGroupId") == 0);
    }
    assert_null(nlb_group_field("IdleTimeout"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_protocols),
        cmocka_unit_test(test_listener_fields),
        cmocka_unit_test(test_group_fields),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
