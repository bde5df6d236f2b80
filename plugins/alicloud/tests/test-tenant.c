/* Namespaces that ask for one action: what each has had lately, and whose turn it is. */
#include "alicloud/tenant.h"

#include "util/cleanup.h"
#include "util/strmap.h"
#include "util/text.h"

#include "check.h"

#define SPAN 40000

/* All of the last span, and what is up to a quarter older. */
static void test_lately(void **state)
{
    static const struct {
        int64_t now_ms;
        bool add;
        int64_t count;   /* afterwards */
        int64_t wait_ms; /* until fewer than three */
    } rows[] = {
        { 0, true, 1, 0 },         { 9999, true, 2, 0 },       { 10000, true, 3, 40000 },
        { 35000, true, 4, 15000 }, { 40000, false, 4, 10000 }, { 49999, false, 4, 1 },
        { 50000, false, 2, 0 },    { 50000, true, 3, 10000 },  { 60000, false, 2, 0 },
        { 80000, false, 1, 0 },    { 1000000, false, 0, 0 },   { 1000000, true, 1, 0 },
    };
    struct ali_lately lately = { 0 };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        if (rows[i].add) {
            ali_lately_add(&lately, rows[i].now_ms, SPAN);
        }
        print_message("row %zu\n", i);
        assert_int_equal(ali_lately_count(&lately, rows[i].now_ms, SPAN), rows[i].count);
        assert_int_equal(ali_lately_wait_ms(&lately, 3, rows[i].now_ms, SPAN), rows[i].wait_ms);
    }
}

/* Another span, as when options change: nothing is counted that cannot be. */
static void test_another_span(void **state)
{
    struct ali_lately lately = { 0 };

    (void)state;
    ali_lately_add(&lately, 1000000, SPAN);
    assert_int_equal(ali_lately_count(&lately, 1000000, SPAN / 10), 0);
    assert_int_equal(ali_lately_count(&lately, 1000000, 10 * SPAN), 0);
    ali_lately_add(&lately, 1000000, 10 * SPAN);
    assert_int_equal(ali_lately_count(&lately, 1000000, 10 * SPAN), 1);
    ali_lately_add(&lately, 1000000, 1);
    assert_int_equal(ali_lately_count(&lately, 1000000, 1), 1);
}

static struct ali_tenant *tenant_of(struct ali_tenants *tenants, const char *object)
{
    struct ali_tenant *tenant = ali_tenants_get(tenants, object, 0, SPAN);

    assert_non_null(tenant);
    return tenant;
}

static void test_namespaces(void **state)
{
    struct ali_tenants tenants;

    (void)state;
    assert_int_equal(ali_tenants_init(&tenants), 0);

    struct ali_tenant *tenant = tenant_of(&tenants, "shop/web");

    assert_ptr_equal(tenant_of(&tenants, "shop/api"), tenant);
    assert_ptr_not_equal(tenant_of(&tenants, "shops/web"), tenant);
    assert_ptr_not_equal(tenant_of(&tenants, "web"), tenant);
    assert_ptr_equal(tenant_of(&tenants, NULL), tenant_of(&tenants, "inventory"));
    assert_ptr_not_equal(ali_tenant_had(tenant, ALI_PRIO_NEW),
                         ali_tenant_had(tenant, ALI_PRIO_SPEC));
    assert_ptr_equal(ali_tenant_had(tenant, ALI_PRIO_REMOVE),
                     ali_tenant_had(tenant, ALI_PRIO_SPEC));
    ali_tenants_fini(&tenants);
}

/* However many there were: those that want nothing any more are forgotten, and no others. */
static void test_memory_is_bounded(void **state)
{
    struct ali_tenants tenants;

    (void)state;
    assert_int_equal(ali_tenants_init(&tenants), 0);

    struct ali_tenant *waits = tenant_of(&tenants, "waits/a");
    struct ali_tenant *had = tenant_of(&tenants, "had/a");

    (void)ali_tenants_enter(&tenants, waits, ALI_PRIO_SPEC);
    for (int i = 0; i < 5000; i++) {
        char object[32];

        ali_lately_add(ali_tenant_had(had, ALI_PRIO_SPEC), i * 1000, SPAN);
        ccm_text_printf(object, sizeof(object), "n-%d/a", i);
        assert_non_null(ali_tenants_get(&tenants, object, i * 1000, SPAN));
        assert_true(ccm_strmap_len(tenants.all) <= 64);
    }
    assert_ptr_equal(ali_tenants_get(&tenants, "waits/b", 0, SPAN), waits);
    assert_ptr_equal(ali_tenants_get(&tenants, "had/b", 0, SPAN), had);
    ali_tenants_fini(&tenants);
}

/* e: enters, s: is served, l: leaves. */
static void test_turns(void **state)
{
    static const struct {
        char act;
        const char *object;
        int64_t turn; /* that it gets, or had */
    } rows[] = {
        { 'e', "a/1", 1 }, { 'e', "a/2", 2 }, { 'e', "a/3", 3 }, { 'e', "b/1", 1 },
        { 's', "a/1", 1 }, { 'e', "b/2", 2 }, { 'e', "c/1", 2 }, { 'l', "a/3", 3 },
        { 'e', "a/4", 3 }, { 's', "b/1", 1 }, { 's', "a/2", 2 }, { 's', "b/2", 2 },
        { 's', "c/1", 2 }, { 'e', "b/3", 3 }, /* it has waited for nothing */
        { 's', "a/4", 3 }, { 's', "b/3", 3 }, { 'e', "c/2", 4 },
    };
    struct ali_tenants tenants;

    (void)state;
    assert_int_equal(ali_tenants_init(&tenants), 0);
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct ali_tenant *tenant = tenant_of(&tenants, rows[i].object);

        if (rows[i].act == 'e') {
            print_message("row %zu\n", i);
            assert_int_equal(ali_tenants_enter(&tenants, tenant, ALI_PRIO_BULK), rows[i].turn);
        } else {
            ali_tenants_leave(&tenants, tenant, ALI_PRIO_BULK, rows[i].turn, rows[i].act == 's');
        }
    }
    assert_int_equal(ali_tenants_enter(&tenants, tenant_of(&tenants, "c/3"), ALI_PRIO_SPEC), 1);
    ali_tenants_fini(&tenants);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lately),     cmocka_unit_test(test_another_span),
        cmocka_unit_test(test_namespaces), cmocka_unit_test(test_memory_is_bounded),
        cmocka_unit_test(test_turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
