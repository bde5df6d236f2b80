#include "kube/cache/watch_event.h"

#include "util/cleanup.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* On the heap and of exact size, so that a sanitizer sees a byte too far. */
static int parse(const char *line, char **ret_text, struct kube_watch_event *event)
{
    const size_t len = strlen(line);

    *ret_text = malloc(len + 1);
    assert_non_null(*ret_text);
    memcpy(*ret_text, line, len);
    *ret_text = realloc(*ret_text, len == 0 ? 1 : len);
    return kube_watch_event_parse(*ret_text, len, event);
}

static void test_events(void **state)
{
    static const struct {
        const char *line;
        enum kube_watch_type type;
        const char *object;
    } table[] = {
        { "{\"type\":\"ADDED\",\"object\":{\"a\":1}}", KUBE_WATCH_ADDED, "{\"a\":1}" },
        { " { \"object\" : {\"n\": 9007199254740993} ,\"type\": \"MODIFIED\" } \r",
          KUBE_WATCH_MODIFIED, "{\"n\": 9007199254740993}" },
        { "{\"type\":\"DELETED\",\"x\":[{}],\"object\":null}", KUBE_WATCH_DELETED, "null" },
        { "{\"type\":\"BOOKMARK\",\"object\":7}", KUBE_WATCH_BOOKMARK, "7" },
        { "{\"type\":\"ERROR\",\"object\":\"}\"}", KUBE_WATCH_ERROR, "\"}\"" },
        { "{\"type\":\"added\",\"object\":{}}", KUBE_WATCH_UNKNOWN, "{}" },
        { "{\"t\\u0079pe\":\"ADDED\",\"object\":1,\"object\":[2]}", KUBE_WATCH_ADDED, "[2]" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(table); i++) {
        CCM_CLEANUP(kube_watch_event_fini) struct kube_watch_event event = { 0 };
        CCM_CLEANUP(ccm_freep) char *text = NULL;

        assert_int_equal(parse(table[i].line, &text, &event), 0);
        assert_int_equal(event.type, table[i].type);
        assert_int_equal(event.object.len, strlen(table[i].object));
        assert_memory_equal(event.object.text, table[i].object, event.object.len);
        assert_non_null(event.object.json);
    }
}

static void test_what_is_no_event(void **state)
{
    static const char *const lines[] = {
        "",
        "{",
        "{}",
        "[]",
        "{}{}",
        "{\"type\":\"ADDED\"}",
        "{\"object\":{}}",
        "{\"type\":1,\"object\":{}}",
        "{\"type\":\"ADDED\",\"object\":{}",
        "{\"type\":\"ADDED\",\"object\":{}}}",
        "{\"type\":\"ADDED\",\"object\":{}} x",
        "{\"type\":\"ADDED\",\"object\":}",
        "{\"type\":\"ADDED\" \"object\":{}}",
        "{\"type\":\"ADDED\",\"object\":{},}",
        "{type:\"ADDED\",\"object\":{}}",
        "{\"type\" \"ADDED\",\"object\":{}}",
        "{\"type\":\"ADDED\",\"object\":{\"a\":[}}",
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(lines); i++) {
        CCM_CLEANUP(kube_watch_event_fini) struct kube_watch_event event = { 0 };
        CCM_CLEANUP(ccm_freep) char *text = NULL;

        assert_int_equal(parse(lines[i], &text, &event), -EBADMSG);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_what_is_no_event),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
