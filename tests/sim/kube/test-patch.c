#include "jx.h"
#include "patch.h"
#include "schemas.h"
#include "util/attr.h"
#include "util/cleanup.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum type { MERGE, JSON, NODE, SERVICE }; /* the last two: strategic merge with that schema */

struct row {
    enum type type;
    const char *object;
    const char *patch;
    int result;
    const char *outcome; /* exact text of the new object, or what the message contains */
};

static cJSON *parse(const char *text)
{
    cJSON *json = NULL;

    if (ccm_json_parse(text, strlen(text), &json) < 0) {
        fail_msg("not JSON: %s", text);
    }
    return json;
}

static int apply(const struct row *row, const cJSON *object, const cJSON *patch, cJSON **ret,
                 struct ccm_buf *message)
{
    switch (row->type) {
    case MERGE:
        return ccm_ks_patch_merge(object, patch, ret, message);
    case JSON:
        return ccm_ks_patch_json(object, patch, ret, message);
    case NODE:
        return ccm_ks_patch_strategic(object, patch, &ccm_ks_schema_node, ret, message);
    case SERVICE:
        break;
    }
    return ccm_ks_patch_strategic(object, patch, &ccm_ks_schema_service, ret, message);
}

static void row_check_patch(const struct row *row)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *object = parse(row->object);
    CCM_CLEANUP(ccm_json_freep) cJSON *before = parse(row->object);
    CCM_CLEANUP(ccm_json_freep) cJSON *patch = parse(row->patch);
    CCM_CLEANUP(ccm_json_freep) cJSON *outcome = NULL;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf message = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { 0 };

    assert_int_equal(apply(row, object, patch, &outcome, &message), row->result);
    assert_true(ccm_ks_jx_equal(object, before));
    if (row->result < 0) {
        assert_null(outcome);
        if (strstr(ccm_buf_str(&message), row->outcome) == NULL) {
            fail_msg("%s: message is %s", row->patch, ccm_buf_str(&message));
        }
        return;
    }
    ccm_ks_jx_print(&text, outcome);
    assert_string_equal(ccm_buf_str(&text), row->outcome);
}

static void check_all(const struct row *rows, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        row_check_patch(&rows[i]);
    }
}

static void test_merge(void **state)
{
    static const struct row rows[] = {
        { MERGE, "{\"a\":1,\"b\":2}", "{\"b\":null,\"c\":3}", 0, "{\"a\":1,\"c\":3}" },
        { MERGE, "{\"a\":{\"x\":1,\"y\":2}}", "{\"a\":{\"y\":null,\"z\":{\"n\":null}}}", 0,
          "{\"a\":{\"x\":1,\"z\":{}}}" },
        { MERGE, "{\"a\":[1,2]}", "{\"a\":[3]}", 0, "{\"a\":[3]}" },
        { MERGE, "{\"a\":[1]}", "{\"a\":{\"b\":1}}", 0, "{\"a\":{\"b\":1}}" },
        { MERGE, "{\"a\":1}", "{}", 0, "{\"a\":1}" },
        { MERGE, "{}", "null", -EBADMSG, "Invalid JSON Patch" },
        { MERGE, "{}", "[]", -EBADMSG, "cannot unmarshal array" },
    };

    (void)state;
    check_all(rows, CCM_ARRAY_LEN(rows));
}

static void test_json(void **state)
{
    static const char *const refused = "the server rejected our request";
    const struct row rows[] = {
        { JSON, "{\"a\":{}}", "[{\"op\":\"add\",\"path\":\"/a/x~1y~0z\",\"value\":1}]", 0,
          "{\"a\":{\"x/y~z\":1}}" },
        { JSON, "{\"a\":[1,3]}", "[{\"op\":\"add\",\"path\":\"/a/1\",\"value\":2}]", 0,
          "{\"a\":[1,2,3]}" },
        { JSON, "{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/-\",\"value\":2}]", 0,
          "{\"a\":[1,2]}" },
        { JSON, "{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a\",\"value\":[]}]", 0, "{\"a\":[]}" },
        { JSON, "{\"a\":[1,2]}", "[{\"op\":\"remove\",\"path\":\"/a/0\"}]", 0, "{\"a\":[2]}" },
        { JSON, "{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":null}]", 0,
          "{\"a\":null}" },
        { JSON, "{\"a\":1}",
          "[{\"op\":\"test\",\"path\":\"/a\",\"value\":1},{\"op\":\"remove\",\"path\":\"/a\"}]", 0,
          "{}" },
        { JSON, "{\"a\":{\"b\":1}}", "[{\"op\":\"move\",\"from\":\"/a/b\",\"path\":\"/c\"}]", 0,
          "{\"a\":{},\"c\":1}" },
        { JSON, "{\"a\":1}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}]", 0,
          "{\"a\":1,\"b\":1}" },
        { JSON, "{\"a\":{\"b\":1}}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b\"}]",
          -EINVAL, refused },
        { JSON, "{\"a\":1}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":2}]", -EINVAL, refused },
        { JSON, "{\"a\":1}", "[{\"op\":\"remove\",\"path\":\"/b\"}]", -EINVAL, refused },
        { JSON, "{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"/b\",\"value\":1}]", -EINVAL,
          refused },
        { JSON, "{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/b/-\",\"value\":1}]", -EINVAL, refused },
        { JSON, "{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/5\",\"value\":1}]", -EINVAL,
          refused },
        { JSON, "{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/b\"}]", -EINVAL, refused },
        { JSON, "{\"a\":1}", "[{\"op\":\"frob\",\"path\":\"/a\",\"value\":1}]", -EINVAL, refused },
        { JSON, "{\"a\":1}", "[1]", -EINVAL, refused },
        { JSON, "{\"a\":1}", "{\"a\":2}", -EBADMSG, "cannot unmarshal object" },
    };

    (void)state;
    check_all(rows, CCM_ARRAY_LEN(rows));
}

#define CONDITIONS(list) "{\"status\":{\"conditions\":[" list "]}}"
#define READY            "{\"type\":\"Ready\",\"status\":\"True\"}"
#define MEMORY           "{\"type\":\"Memory\",\"status\":\"False\"}"

static void test_strategic_keyed_list(void **state)
{
    static const struct row rows[] = {
        /* A new item goes first, the others stay. */
        { NODE, CONDITIONS(READY "," MEMORY), CONDITIONS("{\"type\":\"Net\",\"status\":\"True\"}"),
          0, CONDITIONS("{\"type\":\"Net\",\"status\":\"True\"}," READY "," MEMORY) },
        /* A known one keeps its place; only the sent fields change. */
        { NODE, CONDITIONS(READY "," MEMORY), CONDITIONS("{\"type\":\"Memory\",\"reason\":\"r\"}"),
          0, CONDITIONS(READY ",{\"type\":\"Memory\",\"status\":\"False\",\"reason\":\"r\"}") },
        { NODE, CONDITIONS("{\"type\":\"Ready\",\"message\":\"m\"}"),
          CONDITIONS("{\"type\":\"Ready\",\"message\":null}"), 0,
          CONDITIONS("{\"type\":\"Ready\"}") },
        { NODE, CONDITIONS(READY "," MEMORY),
          CONDITIONS("{\"$patch\":\"delete\",\"type\":\"Ready\"}"), 0, CONDITIONS(MEMORY) },
        { NODE, CONDITIONS(READY "," MEMORY),
          CONDITIONS("{\"$patch\":\"replace\"},{\"type\":\"Net\"}"), 0,
          CONDITIONS("{\"type\":\"Net\"}") },
        { NODE, "{\"status\":{}}", CONDITIONS("{\"type\":\"Net\",\"message\":null}"), 0,
          CONDITIONS("{\"type\":\"Net\"}") },
        { NODE, CONDITIONS(READY), CONDITIONS("{\"status\":\"True\"}"), -EINVAL,
          "map: map[status:True] does not contain declared merge key: type" },
        /* Order lists order, they delete nothing. */
        { NODE, CONDITIONS(READY "," MEMORY),
          "{\"status\":{\"$setElementOrder/"
          "conditions\":[{\"type\":\"Memory\"},{\"type\":\"Ready\"}]}}",
          0, CONDITIONS(MEMORY "," READY) },
        { NODE, CONDITIONS(READY "," MEMORY),
          "{\"status\":{\"$setElementOrder/conditions\":[{\"type\":\"Ready\"}],"
          "\"conditions\":[{\"type\":\"Net\"}]}}",
          -EINVAL, "doesn't match $setElementOrder list" },
        /* The second of two items with one key wins. */
        { NODE, "{\"status\":{\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"a\"}]}}",
          "{\"status\":{\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"b\"},"
          "{\"type\":\"InternalIP\",\"address\":\"c\"}]}}",
          0, "{\"status\":{\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"c\"}]}}" },
        { SERVICE, "{\"spec\":{\"ports\":[{\"name\":\"http\",\"port\":80,\"nodePort\":30001}]}}",
          "{\"spec\":{\"ports\":[{\"name\":\"https\",\"port\":443}]}}", 0,
          "{\"spec\":{\"ports\":[{\"name\":\"https\",\"port\":443},"
          "{\"name\":\"http\",\"port\":80,\"nodePort\":30001}]}}" },
        { SERVICE, "{\"spec\":{\"ports\":[{\"port\":80},{\"port\":443}]}}",
          "{\"spec\":{\"$setElementOrder/ports\":[{\"port\":80}],"
          "\"ports\":[{\"port\":80,\"targetPort\":7070},{\"$patch\":\"delete\",\"port\":443}]}}",
          0, "{\"spec\":{\"ports\":[{\"port\":80,\"targetPort\":7070}]}}" },
    };

    (void)state;
    check_all(rows, CCM_ARRAY_LEN(rows));
}

static void test_strategic_other(void **state)
{
    static const struct row rows[] = {
        /* Lists without a merge key are replaced. */
        { NODE, "{\"spec\":{\"taints\":[{\"key\":\"a\"}]}}",
          "{\"spec\":{\"taints\":[{\"key\":\"b\"}]}}", 0,
          "{\"spec\":{\"taints\":[{\"key\":\"b\"}]}}" },
        { NODE, "{\"spec\":{\"taints\":[{\"key\":\"a\"}]}}", "{\"spec\":{\"taints\":null}}", 0,
          "{\"spec\":{}}" },
        { NODE, "{\"spec\":{\"taints\":[{\"key\":\"a\"}]}}",
          "{\"spec\":{\"$setElementOrder/taints\":[],\"taints\":[]}}", -EINVAL,
          "map: map[key:a] does not contain declared merge key: " },
        { SERVICE, "{\"status\":{\"loadBalancer\":{\"ingress\":[{\"ip\":\"a\"}]}}}",
          "{\"status\":{\"loadBalancer\":{\"ingress\":[{\"ip\":\"b\"}]}}}", 0,
          "{\"status\":{\"loadBalancer\":{\"ingress\":[{\"ip\":\"b\"}]}}}" },
        /* Finalizers are a set. */
        { SERVICE, "{\"metadata\":{\"finalizers\":[\"one\"]}}",
          "{\"metadata\":{\"finalizers\":[\"two\"]}}", 0,
          "{\"metadata\":{\"finalizers\":[\"two\",\"one\"]}}" },
        { SERVICE, "{\"metadata\":{\"finalizers\":[\"one\",\"two\"]}}",
          "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"one\"]}}", 0,
          "{\"metadata\":{\"finalizers\":[\"two\"]}}" },
        { SERVICE, "{\"metadata\":{\"finalizers\":[\"one\"]}}",
          "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"zero\"]}}", 0,
          "{\"metadata\":{\"finalizers\":[\"one\"]}}" },
        { SERVICE, "{\"metadata\":{}}",
          "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"zero\"]}}", 0,
          "{\"metadata\":{}}" },
        /* Maps. */
        { SERVICE, "{\"metadata\":{\"labels\":{\"a\":\"1\",\"b\":\"2\"}}}",
          "{\"metadata\":{\"labels\":{\"a\":null,\"c\":\"3\"}}}", 0,
          "{\"metadata\":{\"labels\":{\"b\":\"2\",\"c\":\"3\"}}}" },
        { SERVICE, "{\"metadata\":{\"labels\":{\"a\":\"1\"}}}",
          "{\"metadata\":{\"labels\":{\"$patch\":\"replace\",\"c\":\"3\"}}}", 0,
          "{\"metadata\":{\"labels\":{\"c\":\"3\"}}}" },
        { SERVICE, "{\"spec\":{\"a\":1,\"b\":2}}",
          "{\"spec\":{\"$retainKeys\":[\"b\",\"c\"],\"c\":3}}", 0, "{\"spec\":{\"b\":2,\"c\":3}}" },
        { SERVICE, "{}", "[]", -EBADMSG, "cannot unmarshal array" },
    };

    (void)state;
    check_all(rows, CCM_ARRAY_LEN(rows));
}

/* Patches nested deeper than any object are refused, not followed. */
static void test_depth_is_limited(void **state)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *object = parse("{}");
    CCM_CLEANUP(ccm_json_freep) cJSON *patch = NULL;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf message = { 0 };
    cJSON *outcome = NULL;

    (void)state;
    for (int i = 0; i < 900; i++) {
        ccm_buf_adds(&text, "{\"a\":");
    }
    ccm_buf_adds(&text, "1");
    for (int i = 0; i < 900; i++) {
        ccm_buf_addc(&text, '}');
    }
    patch = parse(ccm_buf_str(&text));
    assert_int_equal(ccm_ks_patch_merge(object, patch, &outcome, &message), -EBADMSG);
    assert_int_equal(
        ccm_ks_patch_strategic(object, patch, &ccm_ks_schema_service, &outcome, &message), -EINVAL);
    assert_null(outcome);
}

/* Copies of copies double; the patch is refused long before memory is. */
static void test_copies_are_limited(void **state)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *object = parse("{\"a\":[1,2,3]}");
    CCM_CLEANUP(ccm_json_freep) cJSON *patch = NULL;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf message = { 0 };
    cJSON *outcome = NULL;

    (void)state;
    ccm_buf_addc(&text, '[');
    for (int i = 0; i < 60; i++) {
        ccm_buf_addf(&text, "%s{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/-\"}",
                     i == 0 ? "" : ",");
    }
    ccm_buf_addc(&text, ']');
    patch = parse(ccm_buf_str(&text));
    assert_int_equal(ccm_ks_patch_json(object, patch, &outcome, &message), -EINVAL);
    assert_null(outcome);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_strategic_keyed_list),
        cmocka_unit_test(test_strategic_other),
        cmocka_unit_test(test_depth_is_limited),
        cmocka_unit_test(test_copies_are_limited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
