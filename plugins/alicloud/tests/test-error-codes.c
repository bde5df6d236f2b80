/* The table of errors against what the cloud documents for the calls of CLB and NLB, and against
 * the errors that people ask about. */
#include "alicloud/error.h"
#include "check.h"
#include "nlb_codes.h"
#include "util/attr.h"

#include <string.h>

/* Classes that do justice to each sort. What a call refers to and does not find is the request's
 * fault, or that of a backend that has gone. */
static const unsigned fits[] = {
    [WHAT_THROTTLE] = 1U << ALI_CLASS_THROTTLED,
    [WHAT_BUSY] = 1U << ALI_CLASS_BUSY | 1U << ALI_CLASS_SERVER,
    [WHAT_SERVER] = 1U << ALI_CLASS_SERVER,
    [WHAT_AUTH] = 1U << ALI_CLASS_CREDENTIAL | 1U << ALI_CLASS_PERMISSION,
    [WHAT_QUOTA] = 1U << ALI_CLASS_QUOTA,
    [WHAT_NOT_FOUND] = 1U << ALI_CLASS_NOT_FOUND | 1U << ALI_CLASS_REQUEST | 1U << ALI_CLASS_STATE,
    [WHAT_STATE] = 1U << ALI_CLASS_STATE | 1U << ALI_CLASS_REQUEST,
    [WHAT_REQUEST] = 1U << ALI_CLASS_REQUEST,
};

/* Where our reading differs from the broad terms. */
static const struct {
    const char *code;
    enum ali_class class_;
} exceptions[] = {
    /* A wrong endpoint: only the configuration helps. */
    { "OperationFailed.Endpoint", ALI_CLASS_REQUEST },
    /* No more instances of a kind: another kind has to be asked for. */
    { "ShareSlbHaltSales", ALI_CLASS_REQUEST },
    /* The list has changed since its first page: reading it again helps. */
    { "IllegalParam.NextToken", ALI_CLASS_STATE },
    /* Mostly it means that something is there already. */
    { "DuplicatedParam.any", ALI_CLASS_STATE },
};

static bool is_row(const struct ali_error_row *row)
{
    for (size_t i = 0; ali_error_row_at(i) != NULL; i++) {
        if (ali_error_row_at(i) == row) {
            return true;
        }
    }
    return false;
}

static bool is_exception(const char *code, enum ali_class class_)
{
    for (size_t i = 0; i < CCM_ARRAY_LEN(exceptions); i++) {
        if (strcmp(exceptions[i].code, code) == 0) {
            return exceptions[i].class_ == class_;
        }
    }
    return false;
}

/* Every code has a row of the table, not just a fallback, and one of the right sort. */
static size_t count_wrong(const struct documented_code *codes, size_t count)
{
    size_t wrong = 0;

    for (size_t i = 0; i < count; i++) {
        const struct ali_error_row *row =
            ali_error_find(codes[i].code, codes[i].message, codes[i].http);
        const bool sort = (fits[codes[i].what] >> row->class_ & 1U) != 0;

        if (!is_row(row) || (!sort && !is_exception(codes[i].code, row->class_))) {
            print_error("%s (%u): class %d, row \"%s\"\n", codes[i].code, codes[i].http,
                        (int)row->class_, row->code);
            wrong++;
        }
    }
    return wrong;
}

static void test_documented_codes(void **state)
{
    (void)state;
    assert_int_equal(count_wrong(clb_codes, CCM_ARRAY_LEN(clb_codes)), 0);
    assert_true(CCM_ARRAY_LEN(clb_codes) > 250);
    assert_int_equal(count_wrong(nlb_codes, CCM_ARRAY_LEN(nlb_codes)), 0);
    assert_true(CCM_ARRAY_LEN(nlb_codes) > 150);
}

/* The cloud's answers that people run into: each has a cause and says what to do about it. */
static void test_asked_for(void **state)
{
    static const struct {
        const char *code;
        const char *message;
        enum ali_class class_;
        const char *remedy; /* part of it */
    } cases[] = {
        { "InstanceBackendServerNumberOverLimit", "", ALI_CLASS_QUOTA, "Raise the quota" },
        { "Any", "The backend server number has reached to the quota limit of this load balancers",
          ALI_CLASS_QUOTA, "backend-label" },
        { "Any", "The backend server number has reached to the quota limit of this load balancer",
          ALI_CLASS_QUOTA, "backend-label" },
        { "Any", "The loadbalancer does not support backend servers of eni type", ALI_CLASS_REQUEST,
          "slb.s1.small" },
        { "ORDER.ARREARAGE", "The account is arrearage.", ALI_CLASS_QUOTA, "Settle" },
        { "PAY.INSUFFICIENT_BALANCE", "Your account does not have enough balance.", ALI_CLASS_QUOTA,
          "Settle" },
        { "Throttling", "", ALI_CLASS_THROTTLED, "quotas" },
        { "Throttling.User", "", ALI_CLASS_THROTTLED, "quotas" },
        { "RspoolVipExist", "there are vips associating with this vServer group.", ALI_CLASS_STATE,
          "Delete that listener" },
        { "NetworkConflict", "", ALI_CLASS_REQUEST, "VPC of the cluster" },
        { "VSwitchAvailableIpNotExist", "The specified VSwitch has no available ip.",
          ALI_CLASS_QUOTA, "vswitch-id" },
        { "InvalidVSwitchId.NotFound", "The specified VSwitch does not exist.", ALI_CLASS_REQUEST,
          "vswitch-id" },
        { "InvalidParameter", "The specified Port must be between 1 and 65535.", ALI_CLASS_REQUEST,
          "port" },
        { "ShareSlbHaltSales", "The share instance has been discontinued.", ALI_CLASS_REQUEST,
          "spec" },
        { "OperationDenied.PayByCLCU", "", ALI_CLASS_REQUEST, "PayByCLCU" },
        { "InvalidLoadBalancerId.NotFound", "The specified LoadBalancerId does not exist",
          ALI_CLASS_NOT_FOUND, "annotation id" },
        { "Any", "The specified LoadBalancerId does not exist", ALI_CLASS_NOT_FOUND,
          "annotation id" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        const struct ali_error_row *row = ali_error_find(cases[i].code, cases[i].message, 400);

        print_message("%s: %s\n", cases[i].code, cases[i].message);
        assert_true(is_row(row));
        assert_int_equal(row->class_, cases[i].class_);
        assert_non_null(row->remedy);
        assert_non_null(strstr(row->remedy, cases[i].remedy));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_documented_codes),
        cmocka_unit_test(test_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
