#include "util/digest.h"

#include "util/url.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void test_hash(void **state CCM_UNUSED)
{
    char hex[CCM_DIGEST_HEX];

    ccm_digest_sha256_hex("abc", 3, hex); /* FIPS 180 */
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void test_keyed_hash(void **state CCM_UNUSED)
{
    const struct ccm_secret key = { .hidden = (char *)(uintptr_t) "Jefe" };
    const char *text = "what do ya want for nothing?"; /* RFC 2202, RFC 4231 */
    struct ccm_mac mac;
    char hex[CCM_DIGEST_HEX];

    assert_int_equal(ccm_digest_hmac(CCM_DIGEST_SHA1, &key, text, &mac), 0);
    ccm_digest_format_hex(mac.bytes, mac.len, hex);
    assert_string_equal(hex, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
    assert_int_equal(ccm_digest_hmac(CCM_DIGEST_SHA256, &key, text, &mac), 0);
    ccm_digest_format_hex(mac.bytes, mac.len, hex);
    assert_string_equal(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

static void test_escape(void **state CCM_UNUSED)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { .max = 256 };

    ccm_url_escape(&buf, "aZ09-._~ +*/?#%&=:\xC3\xA9\n");
    assert_string_equal(ccm_buf_str(&buf), "aZ09-._~%20%2B%2A%2F%3F%23%25%26%3D%3A%C3%A9%0A");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_keyed_hash),
        cmocka_unit_test(test_escape),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
