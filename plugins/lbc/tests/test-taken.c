/* What is kept about listeners that were taken over. */
#include "check.h"
#include "lbc/apply/taken.h"
#include "objects.h"

#include <string.h>

#define LABEL "ccm.alibabacloud.com/taken-443-tcp."

/* "description=shop\ngroup=rsp-1\nend\n", cut where the second label begins. */
#define FIRST  "6465736372697074696f6e3d73686f700a67726f75703d7273702d310a65"
#define SECOND "6e640a"

static void read_labels(const char *first, const char *second, struct lbc_tags *ret)
{
    struct ccm_service *service = obj_service();

    obj_label(&service->meta, LABEL "0", first);
    obj_label(&service->meta, LABEL "1", second);
    assert_int_equal(lbc_taken_read(&service->meta, "443-tcp", ret), 0);
}

static void test_read(void **state)
{
    struct lbc_tags was = { 0 };

    (void)state;
    read_labels(FIRST, SECOND, &was);
    assert_int_equal(was.len, 2);
    assert_string_equal(lbc_tags_get(&was, LBC_TAKEN_GROUP), "rsp-1");
    assert_string_equal(lbc_tags_get(&was, LBC_TAKEN_DESCRIPTION), "shop");
    lbc_tags_fini(&was);
}

/* Labels that somebody took away or wrote: nothing is known then. */
static void test_broken(void **state)
{
    static const char *const cases[][2] = {
        { FIRST, NULL }, { NULL, SECOND }, { FIRST, "6e640" },  { FIRST, "6e64zz" },
        { "zz", NULL },  { FIRST, "00" },  { FIRST, "6E640A" }, { FIRST SECOND, "61" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct lbc_tags was = { 0 };

        read_labels(cases[i][0], cases[i][1], &was);
        assert_int_equal(was.len, 0);
        lbc_tags_fini(&was);
    }
}

static void test_list(void **state)
{
    struct lbc_taken_list list = { 0 };

    (void)state;
    for (int i = 0; i < 20; i++) {
        struct lbc_taken *taken = lbc_taken_new(&list, "443-tcp");

        assert_non_null(taken);
        assert_int_equal(lbc_tags_put(&taken->was, LBC_TAKEN_GROUP, "rsp-1"), 0);
    }
    assert_int_equal(list.len, 20);
    lbc_taken_fini(&list);
    assert_int_equal(list.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_read, obj_end),
        cmocka_unit_test_teardown(test_broken, obj_end),
        cmocka_unit_test(test_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
