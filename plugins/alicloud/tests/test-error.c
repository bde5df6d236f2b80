/* Meaning of codes. */
#include "alicloud/error.h"

#include "util/text.h"

#include "check.h"

static const struct {
    const char *code;
    const char *message;
    uint64_t http;
    enum ali_class class_;
} cases[] = {
    /* throttled */
    { "Throttling", "", 400, ALI_CLASS_THROTTLED },
    { "Throttling.User", "", 400, ALI_CLASS_THROTTLED },
    { "Throttling.Api", "", 400, ALI_CLASS_THROTTLED },
    { "Throttling.ConcurrentLimitExceeded", "", 400, ALI_CLASS_THROTTLED },
    { "Rejected.Throttling", "", 400, ALI_CLASS_THROTTLED },
    { "Whatever", "", 429, ALI_CLASS_THROTTLED },
    { "", "", 429, ALI_CLASS_THROTTLED },
    /* busy */
    { "BackendServer.configuring", "", 409, ALI_CLASS_BUSY },
    { "ServiceIsStopping", "", 409, ALI_CLASS_BUSY },
    { "SystemBusy", "", 449, ALI_CLASS_BUSY },
    { "SystemBusy", "", 400, ALI_CLASS_BUSY },
    { "ServiceIsConfiguring", "", 400, ALI_CLASS_BUSY },
    { "OperationBusy", "", 400, ALI_CLASS_BUSY },
    { "VServerGroupProcessing", "", 400, ALI_CLASS_BUSY },
    { "OperationFailed.ServiceGroupProcessing", "", 400, ALI_CLASS_BUSY },
    { "ListenerProcessing", "", 400, ALI_CLASS_BUSY },
    { "Operation.Deny", "", 400, ALI_CLASS_BUSY },
    { "OperationFailed.ListenerStatusNotSupport", "", 400, ALI_CLASS_BUSY },
    { "OperationFailed.TokenIsProcessing", "", 400, ALI_CLASS_BUSY },
    { "DomainExtensionProcessing", "", 400, ALI_CLASS_BUSY },
    { "ProcessingSameRequest", "", 400, ALI_CLASS_BUSY },
    { "VpcSystemBusy", "", 400, ALI_CLASS_BUSY },
    { "Conflict.Lock", "", 400, ALI_CLASS_BUSY },
    { "TaskConflict", "", 400, ALI_CLASS_BUSY },
    { "OperationConflict", "", 400, ALI_CLASS_BUSY },
    { "IncorrectStatus.listener", "", 400, ALI_CLASS_BUSY },
    { "ResourceInConfiguring.Acl", "", 400, ALI_CLASS_BUSY },
    { "LastTokenProcessing", "", 403, ALI_CLASS_BUSY },
    { "Operation.NotAllowed", "Operation Denied. Unfinished order exists.", 400, ALI_CLASS_BUSY },
    /* the cloud's fault */
    { "InternalError", "", 500, ALI_CLASS_SERVER },
    { "ServiceUnavailable", "", 503, ALI_CLASS_SERVER },
    { "NeverSeen", "", 502, ALI_CLASS_SERVER },
    { "", "", 0, ALI_CLASS_SERVER },
    { "", "", 502, ALI_CLASS_SERVER },
    /* A page without a code is no answer of the service: a deletion must not succeed by it. */
    { "", "", 404, ALI_CLASS_SERVER },
    { NULL, NULL, 404, ALI_CLASS_SERVER },
    /* not found */
    { "InvalidLoadBalancerId.NotFound", "", 404, ALI_CLASS_NOT_FOUND },
    { "InvalidParameter", "The specified VServerGroupId does not exist.", 404,
      ALI_CLASS_NOT_FOUND },
    { "InvalidParameter", "The specified resource does not exist.", 400, ALI_CLASS_NOT_FOUND },
    { "ListenerNotFound", "", 404, ALI_CLASS_NOT_FOUND },
    { "ResourceNotFound.loadBalancer", "", 404, ALI_CLASS_NOT_FOUND },
    { "InvalidRouteEntry.NotFound", "", 404, ALI_CLASS_NOT_FOUND },
    { "ResourceNotExist", "", 400, ALI_CLASS_NOT_FOUND },
    /* looks like it and is not */
    { "InvalidAction.NotFound", "", 404, ALI_CLASS_REQUEST },
    { "InvalidRegionId.NotFound", "", 404, ALI_CLASS_REQUEST },
    { "InvalidAccessKeyId.NotFound", "", 404, ALI_CLASS_CREDENTIAL },
    { "InvalidServerId.NotFound", "", 404, ALI_CLASS_STATE },
    { "QueryTokenNotExist", "", 400, ALI_CLASS_REQUEST },
    /* credentials, permission */
    { "InvalidSecurityToken.Expired", "", 400, ALI_CLASS_CREDENTIAL },
    { "SignatureDoesNotMatch", "", 400, ALI_CLASS_CREDENTIAL },
    { "IncompleteSignature", "", 400, ALI_CLASS_CREDENTIAL },
    { "SignatureNonceUsed", "", 400, ALI_CLASS_CREDENTIAL },
    { "InvalidTimeStamp.Expired", "", 400, ALI_CLASS_CREDENTIAL },
    { "Forbidden.RAM", "", 403, ALI_CLASS_PERMISSION },
    { "NoPermission", "", 403, ALI_CLASS_PERMISSION },
    { "NeverSeen", "", 403, ALI_CLASS_PERMISSION },
    { "", "", 403, ALI_CLASS_PERMISSION },
    /* quota and money */
    { "InstanceBackendServerNumberOverLimit", "", 400, ALI_CLASS_QUOTA },
    { "Another.Code",
      "The backend server number has reached to the quota limit of this load balancers", 400,
      ALI_CLASS_QUOTA },
    { "ORDER.ARREARAGE", "The account is arrearage.", 400, ALI_CLASS_QUOTA },
    { "PAY.INSUFFICIENT_BALANCE", "", 400, ALI_CLASS_QUOTA },
    { "PAY.SOMETHING", "", 400, ALI_CLASS_QUOTA },
    { "Operation.NotAllowed", "Operation Denied, Your account does not have enough balance.", 400,
      ALI_CLASS_QUOTA },
    { "VSwitchAvailableIpNotExist", "", 400, ALI_CLASS_QUOTA },
    { "ServiceUnavailable", "The vpc subnet is not exist.", 400, ALI_CLASS_QUOTA },
    { "QuotaExceeded.Listener", "", 400, ALI_CLASS_QUOTA },
    { "ServerAttachedOverLimit", "", 400, ALI_CLASS_QUOTA },
    { "OperationDenied.ServerQuota", "", 400, ALI_CLASS_QUOTA },
    /* state */
    { "RspoolVipExist", "", 400, ALI_CLASS_STATE },
    { "ListenerAlreadyExists", "", 400, ALI_CLASS_STATE },
    { "OperationDenied.DeleteProtectionIsOn", "", 400, ALI_CLASS_STATE },
    { "Operation.NotAllowed", "The charge type is wrong.", 400, ALI_CLASS_STATE },
    { "Conflict.Port", "", 400, ALI_CLASS_STATE },
    /* requests */
    { "InvalidParameter", "The specified BackendServers is invalid", 400, ALI_CLASS_REQUEST },
    { "InvalidVSwitchId.NotFound", "", 400, ALI_CLASS_REQUEST },
    { "OperationDenied.Any", "The specified VSwitch does not exist.", 400, ALI_CLASS_REQUEST },
    { "VSwitchNotExist", "", 400, ALI_CLASS_REQUEST },
    { "ShareSlbHaltSales", "", 400, ALI_CLASS_REQUEST },
    { "TooManyBackendServers", "", 400, ALI_CLASS_REQUEST },
    { "NetworkConflict", "", 400, ALI_CLASS_REQUEST },
    { "OperationDenied.PayByCLCU", "", 400, ALI_CLASS_REQUEST },
    { "MissingParameter", "", 400, ALI_CLASS_REQUEST },
    { "InvalidParameter.SpecNotSupport", "", 400, ALI_CLASS_REQUEST },
    { "Mismatch.VpcId", "", 400, ALI_CLASS_REQUEST },
    { "IlleagalParam.healthCheckUrl", "", 400, ALI_CLASS_REQUEST }, /* their spelling */
    { "OperationDenied.ServiceLinkedRoleNotExist", "", 400, ALI_CLASS_PERMISSION },
    { "OperationDenied.Protocol", "", 400, ALI_CLASS_STATE },
    { "ResourceNotAssociated.Certificate", "", 400, ALI_CLASS_NOT_FOUND },
    { "ResourceNotEnough.Zone", "", 400, ALI_CLASS_QUOTA },
    { "OperationFailed.UnpaidBill", "", 400, ALI_CLASS_QUOTA },
    /* unknown */
    { "NeverSeen", "", 400, ALI_CLASS_OTHER },
};

static void test_classes(void **state)
{
    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        const struct ali_error_row *row =
            ali_error_find(cases[i].code, cases[i].message, cases[i].http);

        print_message("%s %d\n", cases[i].code == NULL ? "NULL" : cases[i].code,
                      (int)cases[i].http);
        assert_non_null(row);
        assert_int_equal(row->class_, cases[i].class_);
    }
}

static void test_kinds(void **state)
{
    (void)state;
    assert_int_equal(ali_error_kind(ALI_CLASS_THROTTLED), CCM_ERROR_THROTTLED);
    assert_int_equal(ali_error_kind(ALI_CLASS_BUSY), CCM_ERROR_CONFLICT);
    assert_int_equal(ali_error_kind(ALI_CLASS_STATE), CCM_ERROR_CONFLICT);
    assert_int_equal(ali_error_kind(ALI_CLASS_SERVER), CCM_ERROR_TRANSIENT);
    assert_int_equal(ali_error_kind(ALI_CLASS_OTHER), CCM_ERROR_TRANSIENT);
    assert_int_equal(ali_error_kind(ALI_CLASS_NOT_FOUND), CCM_ERROR_NOT_FOUND);
    assert_int_equal(ali_error_kind(ALI_CLASS_CREDENTIAL), CCM_ERROR_AUTH);
    assert_int_equal(ali_error_kind(ALI_CLASS_PERMISSION), CCM_ERROR_AUTH);
    assert_int_equal(ali_error_kind(ALI_CLASS_QUOTA), CCM_ERROR_AUTH);
    assert_int_equal(ali_error_kind(ALI_CLASS_REQUEST), CCM_ERROR_TERMINAL);
}

/* A row that an earlier one hides would never be found. */
static void test_every_row_is_reached(void **state)
{
    size_t count = 0;

    (void)state;
    for (const struct ali_error_row *row = ali_error_row_at(0); row != NULL;
         row = ali_error_row_at(++count)) {
        char code[CCM_ERROR_CODE_MAX];
        const bool front = row->code[0] == '*';

        ccm_text_copy(code, sizeof(code), front ? row->code + 1 : row->code);
        code[strcspn(code, "*")] = '\0';

        /* A family matches with anything in place of its star. */
        char full[CCM_ERROR_CODE_MAX + 4];

        (void)snprintf(full, sizeof(full), "%s%s", front ? "Zz" : "", code);
        print_message("%s\n", row->code);
        assert_ptr_equal(ali_error_find(full, row->text == NULL ? "" : row->text, 400), row);
        assert_true(strlen(row->cause) > 10 && row->cause[strlen(row->cause) - 1] == '.');
        if (row->remedy != NULL) {
            assert_true(strlen(row->remedy) > 10 && row->remedy[strlen(row->remedy) - 1] == '.');
        }
    }
    assert_true(count > 150);
}

static void test_remedy(void **state)
{
    struct ccm_error err = CCM_ERROR_INIT;

    (void)state;
    ccm_text_copy(err.code, sizeof(err.code), "ORDER.ARREARAGE");
    err.http_status = 400;
    assert_non_null(strstr(ali_error_remedy(&err), "account"));
    ccm_text_copy(err.code, sizeof(err.code), "SystemBusy");
    assert_null(ali_error_remedy(&err));
    err.code[0] = '\0';
    err.http_status = 0;
    err.kind = CCM_ERROR_TRANSIENT;
    assert_non_null(strstr(ali_error_remedy(&err), "alicloud.network"));
    ccm_text_copy(err.message, sizeof(err.message),
                  "https://h: the certificate of this host is not trusted (...)");
    assert_non_null(strstr(ali_error_remedy(&err), "alicloud.ca_file"));
    err.kind = CCM_ERROR_TERMINAL; /* no call was made: a broken annotation, say */
    assert_null(ali_error_remedy(&err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_every_row_is_reached),
        cmocka_unit_test(test_remedy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
