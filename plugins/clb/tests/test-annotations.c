/* The table itself, and protocol-port. */
#include "lbc/tests/check.h"

#include "clb/annotation_text.h"
#include "clb/annotations.h"
#include "clb/lint.h"
#include "lbc/model/candidate.h"
#include "lbc/tests/objects.h"
#include "lbc/tests/refused.h"
#include "util/parse.h"
#include "util/text.h"

#include <string.h>

static int check_service(const struct ccm_service *service, struct ccm_error *err)
{
    return refused_by(&clb_rules, service, err);
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < clb_annotations.count; i++) {
        const struct lbc_anno *row = &clb_annotations.rows[i];

        assert_true(row->help != NULL && row->help[strlen(row->help) - 1] == '.');
        assert_ptr_equal(lbc_anno_find(&clb_annotations, row->name), row);
        assert_true((row->type == LBC_ANNO_ENUM) == (row->values != NULL));
        assert_true(row->type != LBC_ANNO_INT || row->min < row->max);
        assert_true((row->group == LBC_ANNO_CLASS) == (strchr(row->name, '/') != NULL));
    }
}

/* Only those of listeners are for some protocols, and for those that there are. */
static void test_protocols_of_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < clb_annotations.count; i++) {
        const struct lbc_anno *row = &clb_annotations.rows[i];

        assert_true(row->group == LBC_ANNO_LISTENER || row->on == 0);
        assert_int_equal(row->on & ~CLB_PROTOCOLS, 0);
    }
}

struct protocol_case {
    const char *value;
    const char *protocol; /* of the port */
    int64_t port;
    const char *expect; /* "tcp", "udp", or the start of the message */
};

static void test_protocol(void **state)
{
    static const struct protocol_case cases[] = {
        { NULL, "TCP", 80, "tcp" },
        { NULL, "UDP", 80, "udp" },
        { NULL, "SCTP", 80,
          "SCTP protocol is not supported (port 80 of the Service: TCP and UDP are)" },
        { "udp:80", "TCP", 80, "udp" },
        { "udp:80", "TCP", 81, "tcp" },
        { "udp:81,tcp:80", "UDP", 80, "tcp" },
        { " UDP : 80 ", "TCP", 80, "udp" },
        { "udp:80,nonsense", "TCP", 80, "udp" },
        { "nonsense,udp:80", "TCP", 80,
          "port and protocol format must be like 'https:443' with colon separated. "
          "got=[[nonsense]]" },
        { "udp:81,,tcp:80", "TCP", 80, "port and protocol format must be like" },
        { "quic:80", "TCP", 80,
          "port protocol format must be either [http|https|tcp|udp], protocol not supported with "
          "[quic]" },
        { "http:80", "TCP", 80, "http" },
        { "https:443,http:80", "TCP", 80, "http" },
        { "https:80", "TCP", 80, "https" },
        { "", "TCP", 80, "tcp" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct ccm_service *service = obj_service();
        struct ccm_error err = CCM_ERROR_INIT;
        enum lbc_protocol protocol = LBC_OTHER;

        obj_port(service, "p", cases[i].protocol, cases[i].port, "80", 30080);
        obj_annotate(&service->meta, P "cert-id", "cert-1");
        if (cases[i].value != NULL) {
            obj_annotate(&service->meta, P "protocol-port", cases[i].value);
        }
        const int r =
            lbc_setting_protocol(service, service->ports[0], &clb_protocols, &protocol, &err);
        const char *got = r < 0 ? err.message : lbc_protocol_lower(protocol);

        if (strncmp(got, cases[i].expect, strlen(cases[i].expect)) != 0) {
            fail_msg("%s: %s", cases[i].value, got);
        }
        assert_int_equal(check_service(service, &err), r);
    }
}

static void test_other_checks(void **state)
{
    struct ccm_service *service = obj_service();
    struct ccm_error err = CCM_ERROR_INIT;

    (void)state;
    obj_annotate(&service->meta, P "address-type", "intranet");
    obj_annotate(&service->meta, P "vswitch-id", "vsw-1");
    obj_annotate(&service->meta, P "scheduler", "wrr");
    obj_annotate(&service->meta, P "backend-label", "a=b");
    obj_annotate(&service->meta, LBC_BACKEND_TYPE_KEY, "eni");
    assert_int_equal(check_service(service, &err), 0);
    obj_annotate(&service->meta, P "backend-label", "a=b,c");
    assert_true(check_service(service, &err) < 0);
    assert_string_equal(err.message, "get nodes error: filter nodes by label error: parse backend "
                                     "label: c, [k1=v1,k2=v2] (annotation " P
                                     "backend-label must be label=value separated by commas)");
    obj_annotate(&service->meta, P "address-type", "private");
    assert_true(check_service(service, &err) < 0);
    assert_non_null(strstr(err.message, "must be one of [internet|intranet], got [private]"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_protocols_of_rows),
        cmocka_unit_test_teardown(test_protocol, obj_end),
        cmocka_unit_test_teardown(test_other_checks, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
