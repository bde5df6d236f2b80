#include "setup.h"

#include "util/text.h"

#include "alicloud/instance.h"
#include "check.h"

#include <stdlib.h>

void setup_no_secret(const char *text)
{
    assert_null(strstr(text, TEST_SECRET));
    assert_null(strstr(text, TEST_TOKEN));
    assert_null(strstr(text, "Signature="));
}

void setup_begin(struct setup *setup, const char *const *options)
{
    struct ccm_error err = CCM_ERROR_INIT;

    assert_int_equal(setenv("ACCESS_KEY_ID", TEST_KEY_ID, 1), 0);
    assert_int_equal(setenv("ACCESS_KEY_SECRET", TEST_SECRET, 1), 0);
    assert_int_equal(setenv("SECURITY_TOKEN", TEST_TOKEN, 1), 0);
    *setup = (struct setup){ .fake = fake_host_new() };
    setup->host = fake_host_table(setup->fake);
    fake_host_option(setup->fake, "alicloud", "region", "cn-hangzhou");
    fake_host_option(setup->fake, "alicloud", "vpc_id", "vpc-1");
    fake_host_option(setup->fake, "alicloud", "cluster_id", "c1");
    for (size_t i = 0; options != NULL && options[i] != NULL; i += 2) {
        fake_host_option(setup->fake, "alicloud", options[i], options[i + 1]);
    }
    assert_int_equal(ali_acquire(setup->host, &setup->ali, &err), 0);
    assert_int_equal(ali_start(setup->ali, setup->host, &err), 0);
}

void setup_end(struct setup *setup)
{
    setup_no_secret(fake_host_log_text(setup->fake));
    assert_int_equal(fake_host_unexpected(setup->fake), 0);
    ali_release(setup->ali);
    fake_host_free(setup->fake);
}

struct ccm_request setup_request(const struct setup *setup, int64_t ms)
{
    return (struct ccm_request){
        .struct_size = sizeof(struct ccm_request),
        .deadline_ms = fake_host_now(setup->fake) + ms,
        .id = "test",
    };
}
