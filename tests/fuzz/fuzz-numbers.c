/* Numbers, times, lists, addresses and blocks: what is read can be written and read again. */
#include "fuzz.h"

#include "util/cidr.h"
#include "util/cleanup.h"
#include "util/parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void check_numbers(const char *text)
{
    char again[24];
    int64_t number = 0;
    int64_t second = 0;
    uint32_t small = 0;
    bool truth = false;

    if (ccm_parse_i64(text, INT64_MIN, INT64_MAX, &number) == 0) {
        (void)snprintf(again, sizeof(again), "%" PRId64, number); /* 20 characters at most */
        FUZZ_REQUIRE(ccm_parse_i64(again, INT64_MIN, INT64_MAX, &second) == 0 && second == number);
    }
    if (ccm_parse_u32(text, 5, 500, &small) == 0) {
        FUZZ_REQUIRE(small >= 5 && small <= 500);
    }
    FUZZ_REQUIRE(ccm_parse_bool(text, &truth) <= 0);
    FUZZ_REQUIRE(ccm_parse_rfc3339(text, &second) <= 0);
}

static void check_pieces(const char *text)
{
    const char *cursor = text;
    const char *start = NULL;
    size_t len = 0;
    size_t total = 0;

    while (ccm_parse_piece(&cursor, ',', &start, &len)) {
        FUZZ_REQUIRE(start >= text && start + len <= text + strlen(text));
        total += len;
    }
    FUZZ_REQUIRE(total <= strlen(text));
}

static void check_addresses(const char *text)
{
    char again[CCM_IP_TEXT];
    struct ccm_ip ip;
    struct ccm_ip second;
    struct ccm_cidr block;

    if (ccm_ip_parse(text, &ip) == 0) {
        ccm_ip_format(&ip, again);
        FUZZ_REQUIRE(ccm_ip_parse(again, &second) == 0 && memcmp(&ip, &second, sizeof(ip)) == 0);
    }
    if (ccm_cidr_parse(text, &block) == 0) {
        FUZZ_REQUIRE(block.bits <= 128 && ccm_cidr_contains(&block, &block.ip));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CCM_CLEANUP(ccm_freep) char *text = fuzz_text(data, size);

    if (text != NULL) {
        check_numbers(text);
        check_pieces(text);
        check_addresses(text);
    }
    return 0;
}
