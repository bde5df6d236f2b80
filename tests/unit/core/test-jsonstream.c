#include "kube/cache/jsonstream.h"

#include "util/json.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What came out, as text: "<item>" and "name=<member>", one per line. */
struct seen {
    struct ccm_buf text;
    size_t items;
    int refuse_after; /* the sink fails at this item; 0 = never */
};

static int see_item(void *arg, const char *text, size_t len)
{
    struct seen *seen = arg;

    seen->items++;
    if (seen->refuse_after != 0 && seen->items == (size_t)seen->refuse_after) {
        return -ECANCELED;
    }
    ccm_buf_addc(&seen->text, '<');
    ccm_buf_add(&seen->text, text, len);
    ccm_buf_adds(&seen->text, ">\n");
    return 0;
}

static int see_member(void *arg, const char *name, const char *text, size_t len)
{
    struct seen *seen = arg;

    ccm_buf_addf(&seen->text, "%s=<", name);
    ccm_buf_add(&seen->text, text, len);
    ccm_buf_adds(&seen->text, ">\n");
    return 0;
}

/* Feed in pieces of `step` bytes. */
static int run_steps(enum kube_jsonstream_form form, const char *text, size_t len, size_t step,
                     size_t max, struct seen *seen)
{
    const struct kube_jsonstream_sink sink = { .item = see_item,
                                               .member = see_member,
                                               .arg = seen };
    CCM_CLEANUP(kube_jsonstream_fini) struct kube_jsonstream stream;
    int r = 0;

    kube_jsonstream_init(&stream, form, "items", max, &sink);
    for (size_t i = 0; i < len && r == 0; i += step) {
        const size_t n = len - i < step ? len - i : step;

        /* On the heap and of exact size, so that a sanitizer sees a byte too far. */
        char *chunk = malloc(n);

        assert_non_null(chunk);
        memcpy(chunk, text + i, n);
        r = kube_jsonstream_feed(&stream, chunk, n);
        free(chunk);
    }
    if (r < 0) {
        assert_int_equal(kube_jsonstream_feed(&stream, "{}", 2), r);
        assert_int_equal(kube_jsonstream_finish(&stream), r);
        return r;
    }
    return kube_jsonstream_finish(&stream);
}

static void seen_fini(struct seen *seen)
{
    ccm_buf_fini(&seen->text);
}

struct good_case {
    enum kube_jsonstream_form form;
    const char *text;
    const char *out;
};

static const struct good_case good_cases[] = {
    { KUBE_JSONSTREAM_LINES, "", "" },
    { KUBE_JSONSTREAM_LINES, " \n\r\n\t", "" },
    { KUBE_JSONSTREAM_LINES, "{}", "<{}>\n" },
    { KUBE_JSONSTREAM_LINES, "{\"a\":1}\n{\"b\":[{}]}\n", "<{\"a\":1}>\n<{\"b\":[{}]}>\n" },
    { KUBE_JSONSTREAM_LINES, "{}\n\n \n{}", "<{}>\n<{}>\n" },
    { KUBE_JSONSTREAM_LINES, "{\"a\":\"}]{[\\\"}\"}\n", "<{\"a\":\"}]{[\\\"}\"}>\n" },
    { KUBE_JSONSTREAM_LINES, "{\"a\":\"\\\\\"}\n", "<{\"a\":\"\\\\\"}>\n" },
    { KUBE_JSONSTREAM_LINES, "{ \"a\": 1 } \r\n", "<{ \"a\": 1 } \r>\n" },
    { KUBE_JSONSTREAM_MEMBERS, "{}", "" },
    { KUBE_JSONSTREAM_MEMBERS, " { } \n", "" },
    { KUBE_JSONSTREAM_MEMBERS, "{\"items\":[]}", "" },
    { KUBE_JSONSTREAM_MEMBERS, "{\"items\":[ ]}", "" },
    { KUBE_JSONSTREAM_MEMBERS, "{\"items\":null}", "items=<null>\n" },
    { KUBE_JSONSTREAM_MEMBERS, "{\"items\":{\"a\":[]}}", "items=<{\"a\":[]}>\n" },
    { KUBE_JSONSTREAM_MEMBERS,
      "{\"kind\":\"XList\",\"metadata\":{\"continue\":\"\"},\"n\":-1.5e+3}",
      "kind=<\"XList\">\nmetadata=<{\"continue\":\"\"}>\nn=<-1.5e+3>\n" },
    { KUBE_JSONSTREAM_MEMBERS, "{\"items\":[{\"a\":\"]\"},{}],\"kind\":\"XList\"}",
      "<{\"a\":\"]\"}>\n<{}>\nkind=<\"XList\">\n" },
    { KUBE_JSONSTREAM_MEMBERS,
      "{\n  \"kind\" : \"XList\" ,\n  \"items\" : [\n    {\"items\":[1]} ,\n    7 , \"s\" , null , "
      "[ 1 ]\n"
      "  ] ,\n  \"x\" : true\n}\n",
      "kind=<\"XList\">\n<{\"items\":[1]}>\n<7>\n<\"s\">\n<null>\n<[ 1 ]>\nx=<true>\n" },
    { KUBE_JSONSTREAM_MEMBERS, "{\"a\\\"b\":{}}", "a\\\"b=<{}>\n" },
};

static void test_pieces_do_not_depend_on_the_chunks(void **state)
{
    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(good_cases); i++) {
        const struct good_case *c = &good_cases[i];
        const size_t len = strlen(c->text);

        for (size_t step = 1; step <= len + 1; step++) {
            CCM_CLEANUP(seen_fini) struct seen seen = { .refuse_after = 0 };

            assert_int_equal(run_steps(c->form, c->text, len, step, 1000, &seen), 0);
            assert_string_equal(ccm_buf_str(&seen.text), c->out);
        }
    }
}

static void test_every_split_into_two(void **state)
{
    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(good_cases); i++) {
        const struct good_case *c = &good_cases[i];
        const size_t len = strlen(c->text);

        for (size_t at = 0; at <= len; at++) {
            CCM_CLEANUP(seen_fini) struct seen seen = { .refuse_after = 0 };
            const struct kube_jsonstream_sink sink = { .item = see_item,
                                                       .member = see_member,
                                                       .arg = &seen };
            CCM_CLEANUP(kube_jsonstream_fini) struct kube_jsonstream stream;

            kube_jsonstream_init(&stream, c->form, "items", 1000, &sink);
            assert_int_equal(kube_jsonstream_feed(&stream, c->text, at), 0);
            assert_int_equal(kube_jsonstream_feed(&stream, c->text + at, len - at), 0);
            assert_int_equal(kube_jsonstream_finish(&stream), 0);
            assert_string_equal(ccm_buf_str(&seen.text), c->out);
        }
    }
}

static void test_what_is_refused(void **state)
{
    static const struct {
        enum kube_jsonstream_form form;
        const char *text;
    } table[] = {
        { KUBE_JSONSTREAM_LINES, "x" },
        { KUBE_JSONSTREAM_LINES, "[]" },
        { KUBE_JSONSTREAM_LINES, "\"a\"" },
        { KUBE_JSONSTREAM_LINES, "{}," },
        { KUBE_JSONSTREAM_LINES, "{]" },
        { KUBE_JSONSTREAM_LINES, "{\"a\":[}]" },
        { KUBE_JSONSTREAM_LINES, "{\"a\":\"" },
        { KUBE_JSONSTREAM_LINES, "{}\n x" },
        { KUBE_JSONSTREAM_LINES, "{}\n]" },
        { KUBE_JSONSTREAM_LINES, "HTTP/1.1 200 OK" },
        { KUBE_JSONSTREAM_MEMBERS, "" },
        { KUBE_JSONSTREAM_MEMBERS, "[]" },
        { KUBE_JSONSTREAM_MEMBERS, "{" },
        { KUBE_JSONSTREAM_MEMBERS, "{,}" },
        { KUBE_JSONSTREAM_MEMBERS, "{\"a\"}" },
        { KUBE_JSONSTREAM_MEMBERS, "{\"a\":}" },
        { KUBE_JSONSTREAM_MEMBERS, "{\"a\":1,}" },
        { KUBE_JSONSTREAM_MEMBERS, "{\"a\":1 2}" },
        { KUBE_JSONSTREAM_MEMBERS, "{\"a\":1{}}" },
        { KUBE_JSONSTREAM_MEMBERS, "{\"a\":1\"\"}" },
        { KUBE_JSONSTREAM_MEMBERS, "{\"a\":,}" },
        { KUBE_JSONSTREAM_MEMBERS, "{\"items\":[,]}" },
        { KUBE_JSONSTREAM_MEMBERS, "{\"items\":[{},]}" },
        { KUBE_JSONSTREAM_MEMBERS, "{\"items\":[{}" },
        { KUBE_JSONSTREAM_MEMBERS, "{\"items\":[{}}" },
        { KUBE_JSONSTREAM_MEMBERS, "{\"items\":[{}]" },
        { KUBE_JSONSTREAM_MEMBERS, "{\"items\":[],\"items\":[]}" },
        { KUBE_JSONSTREAM_MEMBERS, "{}{}" },
        { KUBE_JSONSTREAM_MEMBERS, "{} x" },
        { KUBE_JSONSTREAM_MEMBERS, "<html>" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(table); i++) {
        const size_t len = strlen(table[i].text);

        for (size_t step = 1; step <= len + 1; step++) {
            CCM_CLEANUP(seen_fini) struct seen seen = { .refuse_after = 0 };

            assert_int_equal(run_steps(table[i].form, table[i].text, len, step, 1000, &seen),
                             -EBADMSG);
        }
    }
}

static void test_size_is_limited(void **state)
{
    static const char text[] = "{\"a\":\"0123456789\"}\n{}";

    (void)state;
    for (size_t step = 1; step <= sizeof(text); step++) {
        CCM_CLEANUP(seen_fini) struct seen fits = { .refuse_after = 0 };
        CCM_CLEANUP(seen_fini) struct seen large = { .refuse_after = 0 };

        assert_int_equal(run_steps(KUBE_JSONSTREAM_LINES, text, sizeof(text) - 1, step, 18, &fits),
                         0);
        assert_int_equal(fits.items, 2);
        assert_int_equal(run_steps(KUBE_JSONSTREAM_LINES, text, sizeof(text) - 1, step, 17, &large),
                         -EMSGSIZE);
        assert_int_equal(large.items, 0);
    }
}

static void test_depth_and_names_are_limited(void **state)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf deep = { .max = 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf named = { .max = 0 };
    CCM_CLEANUP(seen_fini) struct seen seen = { .refuse_after = 0 };

    (void)state;
    ccm_buf_adds(&deep, "{\"a\":");
    for (int i = 0; i < KUBE_JSONSTREAM_DEPTH - 1; i++) {
        ccm_buf_addc(&deep, i % 2 == 0 ? '[' : '[');
    }
    for (int i = 0; i < KUBE_JSONSTREAM_DEPTH - 1; i++) {
        ccm_buf_addc(&deep, ']');
    }
    ccm_buf_addc(&deep, '}');
    assert_int_equal(run_steps(KUBE_JSONSTREAM_MEMBERS, deep.data, deep.len, 7, 10000, &seen), 0);
    ccm_buf_reset(&deep);
    for (int i = 0; i <= KUBE_JSONSTREAM_DEPTH; i++) {
        ccm_buf_adds(&deep, "{\"a\":");
    }
    assert_int_equal(run_steps(KUBE_JSONSTREAM_MEMBERS, deep.data, deep.len, 7, 10000, &seen),
                     -EBADMSG);

    ccm_buf_adds(&named, "{\"");
    for (int i = 0; i < KUBE_JSONSTREAM_NAME; i++) {
        ccm_buf_addc(&named, 'n');
    }
    ccm_buf_adds(&named, "\":1}");
    assert_int_equal(run_steps(KUBE_JSONSTREAM_MEMBERS, named.data, named.len, 50, 10000, &seen),
                     -EBADMSG);
}

static void test_the_sink_can_end_it(void **state)
{
    CCM_CLEANUP(seen_fini) struct seen seen = { .refuse_after = 2 };

    (void)state;
    assert_int_equal(run_steps(KUBE_JSONSTREAM_LINES, "{}\n{}\n{}\n", 9, 9, 100, &seen),
                     -ECANCELED);
    assert_int_equal(seen.items, 2);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return *seed >> 8;
}

/* Whatever comes in: no crash, the same outcome for any chunks. */
static void test_mutations(void **state)
{
    static const char base[] =
        "{\"kind\":\"XList\",\"metadata\":{\"resourceVersion\":\"7\",\"continue\":\"a\\\"b\"},"
        "\"items\":[{\"a\":[1,2,{\"b\":\"\\\\\"}]},{\"c\":null}, 3 ],\"z\":-1}\n";
    static const char alphabet[] = "{}[]\",:\\ \nn0x\0\xff";
    uint32_t seed = 20240229;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        char text[sizeof(base)];
        size_t len = sizeof(base) - 1;

        memcpy(text, base, sizeof(base));
        for (uint32_t edits = next_random(&seed) % 4; edits > 0; edits--) {
            text[next_random(&seed) % len] = alphabet[next_random(&seed) % (sizeof(alphabet) - 1)];
        }
        if (next_random(&seed) % 3 == 0) {
            len = next_random(&seed) % len;
        }

        const enum kube_jsonstream_form form =
            next_random(&seed) % 2 == 0 ? KUBE_JSONSTREAM_LINES : KUBE_JSONSTREAM_MEMBERS;
        CCM_CLEANUP(seen_fini) struct seen whole = { .refuse_after = 0 };
        CCM_CLEANUP(seen_fini) struct seen cut = { .refuse_after = 0 };
        const int r = run_steps(form, text, len, len + 1, 1000, &whole);

        assert_int_equal(run_steps(form, text, len, 1 + next_random(&seed) % 9, 1000, &cut), r);
        assert_string_equal(ccm_buf_str(&whole.text), ccm_buf_str(&cut.text));
        if (memchr(text, 0, len) == NULL) {
            CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;

            /* Whatever is valid as a whole must have come through; two lists of items are not, nor
             * is an object on two lines. */
            if (ccm_json_parse(text, len, &json) == 0 && cJSON_IsObject(json) &&
                (form == KUBE_JSONSTREAM_MEMBERS || memchr(text, '\n', len - 1) == NULL)) {
                assert_int_equal(r, 0);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_do_not_depend_on_the_chunks),
        cmocka_unit_test(test_every_split_into_two),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_size_is_limited),
        cmocka_unit_test(test_depth_and_names_are_limited),
        cmocka_unit_test(test_the_sink_can_end_it),
        cmocka_unit_test(test_mutations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
