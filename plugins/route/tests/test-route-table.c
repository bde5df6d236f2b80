/* Tables as data (rows T10 to T12 of the specification), and pages of the cloud's list. */
#include "build.h"
#include "check.h"
#include "route/read.h"
#include "util/json.h"

#include <errno.h>
#include <string.h>

static int fixture_begin(void **state)
{
    static struct route_table table;

    build_entry(&table, "192.168.2.0/24", "a-345", ROUTE_SETTLED);
    build_entry(&table, "192.168.0.0/24", "a-123", ROUTE_SETTLED);
    build_entry(&table, "192.168.1.0/24", "a-234", ROUTE_SETTLED);
    *state = &table;
    return 0;
}

static int fixture_end(void **state)
{
    route_table_fini(*state);
    return 0;
}

static void test_t10_found(void **state)
{
    const struct ccm_cidr net = build_net("192.168.0.0/24");
    const struct route_entry *entry = NULL;

    assert_int_equal(route_table_find(*state, &net, "a-123", &entry), 0);
    assert_string_equal(entry->hop, "a-123");
    assert_int_equal(route_table_find(*state, NULL, "a-123", &entry), 0);
    assert_string_equal(entry->hop, "a-123");
    assert_int_equal(route_table_find(*state, &net, NULL, &entry), 0);
    assert_string_equal(entry->hop, "a-123");
}

static void test_t11_not_found(void **state)
{
    const struct ccm_cidr net = build_net("192.168.0.0/24");
    const struct route_entry *entry = NULL;

    assert_int_equal(route_table_find(*state, &net, "a-1234", &entry), 0);
    assert_null(entry);
}

static void test_t12_empty_query(void **state)
{
    const struct route_entry *entry = NULL;

    assert_int_equal(route_table_find(*state, NULL, "", &entry), -EINVAL);
}

static void test_own_writes(void **state)
{
    struct route_table *table = *state;
    const struct ccm_cidr net = build_net("192.168.1.128/25");
    const struct route_entry *entry = NULL;

    assert_int_equal(route_table_created(table, &net, "a-9"), 0);
    for (size_t i = 1; i < table->len; i++) {
        assert_true(route_net_compare(&table->entries[i - 1].net, &table->entries[i].net) < 0);
    }
    assert_int_equal(route_table_find(table, &net, "a-9", &entry), 0);
    assert_int_equal(entry->status, ROUTE_MADE);
    route_table_deleted(table, &net, "another");
    assert_int_equal(entry->status, ROUTE_MADE);
    route_table_deleted(table, &net, "a-9");
    assert_int_equal(entry->status, ROUTE_LEAVING);
}

#define HOP(type, id) "{\"NextHopType\":\"" type "\",\"NextHopId\":\"" id "\"}"
#define ENTRY(type, net, status, hops)                                                             \
    "{\"Type\":\"" type "\",\"DestinationCidrBlock\":\"" net "\",\"Status\":\"" status             \
    "\",\"NextHops\":{\"NextHop\":[" hops "]}}"

/* Which entries can be ours: one next hop, an instance, not the default route, not the system's. */
static void test_page(void **state)
{
    static const struct {
        const char *entry;
        bool listed;
        bool ours;
        enum route_status status;
    } rows[] = {
        { ENTRY("Custom", "10.0.1.0/24", "Available", HOP("Instance", "i-1")), true, true,
          ROUTE_SETTLED },
        { ENTRY("Custom", "10.0.1.0/24", "Pending", HOP("instance", "i-1")), true, true,
          ROUTE_COMING },
        { ENTRY("Custom", "10.0.1.0/24", "Modifying", HOP("Instance", "i-1")), true, true,
          ROUTE_COMING },
        { ENTRY("Custom", "10.0.1.0/24", "Deleting", HOP("Instance", "i-1")), true, true,
          ROUTE_LEAVING },
        { ENTRY("Custom", "10.0.1.0/24", "", HOP("Instance", "i-1")), true, true, ROUTE_SETTLED },
        { ENTRY("Custom", "0.0.0.0/0", "Available", HOP("Instance", "i-1")), true, false,
          ROUTE_SETTLED },
        { ENTRY("Custom", "10.0.1.0/24", "Available", HOP("NetworkInterface", "eni-1")), true,
          false, ROUTE_SETTLED },
        { ENTRY("Custom", "10.0.1.0/24", "Available",
                HOP("Instance", "i-1") "," HOP("Instance", "i-2")),
          true, false, ROUTE_SETTLED },
        { ENTRY("Custom", "10.0.1.0/24", "Available", ""), true, false, ROUTE_SETTLED },
        { ENTRY("System", "10.0.1.0/24", "Available", HOP("Instance", "i-1")), true, false,
          ROUTE_SETTLED },
        { ENTRY("Custom", "pl-123", "Available", HOP("Instance", "i-1")), false, false,
          ROUTE_SETTLED },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct route_table table = { 0 };
        const char *token = NULL;
        char text[512];
        cJSON *json = NULL;

        (void)snprintf(text, sizeof(text),
                       "{\"RouteEntrys\":{\"RouteEntry\":[%s]},\"NextToken\":\"7\"}",
                       rows[i].entry);
        assert_int_equal(ccm_json_parse(text, strlen(text), &json), 0);
        assert_int_equal(route_read_page(&table, json, &token), 0);
        assert_string_equal(token, "7");
        assert_int_equal(table.len, rows[i].listed ? 1 : 0);
        if (rows[i].listed) {
            assert_int_equal(table.entries[0].can_be_ours, rows[i].ours);
            assert_int_equal(table.entries[0].status, rows[i].status);
        }
        route_table_fini(&table);
        cJSON_Delete(json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_t10_found, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_t11_not_found, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_t12_empty_query, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_own_writes, fixture_begin, fixture_end),
        cmocka_unit_test(test_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
