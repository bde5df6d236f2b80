/* Which ids of the account a namespace may name. */
#include "check.h"
#include "lbc/rules/allow.h"
#include "objects.h"
#include "util/attr.h"

#include <errno.h>
#include <string.h>

static const char *const entries[] = { "shop:certificate:cert-shop*",
                                       "*:acl:acl-office",
                                       "team-*:*:*",
                                       "shop:eip:eip-1",
                                       "shop : server-group : rsp-1",
                                       NULL };

static int check_id(const char *namespace_, const char *kind, const char *id)
{
    const struct lbc_allow allow = { entries, "CLB", namespace_ };
    struct ccm_error err = CCM_ERROR_INIT;

    return lbc_allow_check_id(&allow, kind, id, strlen(id), &err);
}

static void test_ids(void **state)
{
    static const struct {
        const char *namespace_;
        const char *kind;
        const char *id;
        int r;
    } cases[] = {
        { "shop", LBC_ALLOW_CERTIFICATE, "cert-shop", 0 },
        { "shop", LBC_ALLOW_CERTIFICATE, "cert-shop-2", 0 },
        { "shop", LBC_ALLOW_CERTIFICATE, "cert-sho", -EPERM },
        { "shop", LBC_ALLOW_CERTIFICATE, "cert-bank", -EPERM },
        { "shop2", LBC_ALLOW_CERTIFICATE, "cert-shop", -EPERM },
        { "sho", LBC_ALLOW_CERTIFICATE, "cert-shop", -EPERM },
        { "shop", LBC_ALLOW_ACL, "cert-shop", -EPERM },
        { "bank", LBC_ALLOW_ACL, "acl-office", 0 },
        { "bank", LBC_ALLOW_ACL, "acl-office2", -EPERM },
        { "bank", LBC_ALLOW_ACL, "*", -EPERM },
        { "team-a", LBC_ALLOW_PACKAGE, "cbwp-1", 0 },
        { "shop", LBC_ALLOW_GROUP, "rsp-1", 0 },
        { "shop", LBC_ALLOW_GROUP, "", 0 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        if (check_id(cases[i].namespace_, cases[i].kind, cases[i].id) != cases[i].r) {
            fail_msg("%s %s %s", cases[i].namespace_, cases[i].kind, cases[i].id);
        }
    }
}

static void test_nothing_listed(void **state)
{
    static const char *const none[] = { NULL };
    struct ccm_error err = CCM_ERROR_INIT;
    const struct lbc_allow unset = { NULL, "CLB", "shop" };
    const struct lbc_allow empty = { none, "CLB", "shop" };

    (void)state;
    assert_int_equal(lbc_allow_check_id(&unset, LBC_ALLOW_ACL, "acl-1", 5, &err), 0);
    assert_int_equal(lbc_allow_check_id(&empty, LBC_ALLOW_ACL, "acl-1", 5, &err), 0);
}

/* The id of each entry of a list, wherever it stands. */
static void test_rows(void **state)
{
    static const struct lbc_anno plain = { .name = "cert-id", .ids = LBC_ALLOW_CERTIFICATE };
    static const struct lbc_anno second = { .name = "cert-id",
                                            .ids = LBC_ALLOW_CERTIFICATE,
                                            .piece = 1 };
    static const struct lbc_anno fourth = { .name = "cert-id", .ids = LBC_ALLOW_EIP, .piece = 3 };
    static const struct lbc_anno other = { .name = "cert-id" };
    static const struct {
        const struct lbc_anno *row;
        const char *value;
        const char *blamed; /* NULL: allowed */
    } cases[] = {
        { &plain, "cert-shop", NULL },
        { &plain, "cert-shop, cert-shop-2", NULL },
        { &plain, "cert-shop, cert-bank ,x", "certificate cert-bank:" },
        { &second, "a.example:cert-shop", NULL },
        { &second, "a.example:cert-shop,b.example: cert-bank", "certificate cert-bank:" },
        { &second, "a.example", NULL },
        { &fourth, "h:vsw-1:10.0.0.1:eip-1,i:vsw-2", NULL },
        { &fourth, "h:vsw-1::eip-1,i:vsw-2::eip-2", "eip eip-2:" },
        { &other, "whatever", NULL },
        { &plain, "", NULL },
    };
    const struct lbc_allow allow = { entries, "NLB", "shop" };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct ccm_service *service = obj_service();
        struct ccm_error err = CCM_ERROR_INIT;

        obj_annotate(&service->meta, LBC_ANNO_PREFIX "cert-id", cases[i].value);

        const int r = lbc_allow_check_row(&allow, cases[i].row, &service->meta, &err);

        assert_int_equal(r, cases[i].blamed == NULL ? 0 : -EPERM);
        if (cases[i].blamed != NULL && (strstr(err.message, cases[i].blamed) == NULL ||
                                        strstr(err.message, "namespace shop may not") == NULL ||
                                        strstr(err.message, "allowed_ids of the NLB") == NULL)) {
            fail_msg("%s: %s", cases[i].value, err.message);
        }
    }
}

static void test_entries(void **state)
{
    static const char *const bad[] = { "",     "shop",         "shop:acl",        "shop:acl:a:b",
                                       "::",   "shop:lb:lb-1", "shop:acl:",       ":acl:acl-1",
                                       "a,b:", "shop:ac*:x",   "shop:vgroup:rsp1" };
    struct ccm_error err = CCM_ERROR_INIT;

    (void)state;
    assert_int_equal(lbc_allow_check_entries(entries, &err), 0);
    assert_int_equal(lbc_allow_check_entries(NULL, &err), 0);
    for (size_t i = 0; i < CCM_ARRAY_LEN(bad); i++) {
        const char *const list[] = { bad[i], NULL };

        assert_int_equal(lbc_allow_check_entries(list, &err), -EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_nothing_listed),
        cmocka_unit_test_teardown(test_rows, obj_end),
        cmocka_unit_test(test_entries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
