/* A private key that a call carries is in no message and no log. */
#include "alicloud/params.h"
#include "setup.h"
#include "util/text.h"

#include "check.h"

#include <string.h>

/* Neither whole, nor a line of it, nor escaped. */
static void test_private_key_is_not_repeated(void **state)
{
    static const char *const messages[] = { "bad key: MIIEvQIBADANBgkqhkiG9w0BAQEF",
                                            "-----BEGIN PRIVATE KEY-----",
                                            "PrivateKey=-----BEGIN%20PRIVATE%20KEY" };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(messages); i++) {
        struct setup setup;
        struct ccm_error err = CCM_ERROR_INIT;
        struct ali_params params = { 0 };
        char body[256];
        const struct ali_call request = { .product = ALI_CAS,
                                          .action = "CreateSSLCertificateWithName",
                                          .params = &params,
                                          .repeat = ALI_ONCE };

        setup_begin(&setup, NULL);
        ccm_text_printf(body, sizeof(body),
                        "{\"RequestId\":\"r\",\"Code\":\"NeverSeen\",\"Message\":\"%s\"}",
                        messages[i]);
        fake_host_always(setup.fake, request.action, 400, body);
        ali_param_add(&params, "PrivateKey",
                      "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END "
                      "PRIVATE KEY-----\n");
        assert_true(ali_call(&(const struct ali_caller){ setup.ali, setup.host, NULL }, &request,
                             NULL, NULL, &err) < 0);
        assert_non_null(strstr(err.message, "NeverSeen"));
        assert_null(strstr(err.message, "MIIEvQ"));
        assert_null(strstr(err.message, "BEGIN"));
        assert_null(strstr(fake_host_log_text(setup.fake), "MIIEvQ"));
        ali_params_fini(&params);
        setup_end(&setup);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_private_key_is_not_repeated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
