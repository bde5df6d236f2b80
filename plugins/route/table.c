#include "table.h"

#include "util/array.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void route_table_clear(struct route_table *table)
{
    for (size_t i = 0; i < table->len; i++) {
        free(table->entries[i].hop);
    }
    table->len = 0;
    table->valid = false;
    free(table->listing.token);
    table->listing = (struct route_listing){ .token = NULL };
}

void route_table_fini(struct route_table *table)
{
    route_table_clear(table);
    free(table->entries);
    free(table->id);
    memset(table, 0, sizeof(*table));
}

int route_table_add(struct route_table *table, const struct ccm_cidr *net, const char *hop,
                    bool can_be_ours, enum route_status status)
{
    char *copy = strdup(hop);

    if (copy == NULL ||
        ccm_array_grow(&table->entries, &table->cap, table->len + 1, sizeof(*table->entries)) < 0) {
        free(copy);
        return -ENOMEM;
    }
    table->entries[table->len++] = (struct route_entry){
        .net = *net, .hop = copy, .status = status, .can_be_ours = can_be_ours
    };
    return 0;
}

static int table_compare_entries(const void *a, const void *b)
{
    return route_net_compare(&((const struct route_entry *)a)->net,
                             &((const struct route_entry *)b)->net);
}

void route_table_sort(struct route_table *table)
{
    if (table->len > 1) {
        qsort(table->entries, table->len, sizeof(*table->entries), table_compare_entries);
    }
}

size_t route_table_used(const struct route_table *table)
{
    size_t used = 0;

    for (size_t i = 0; i < table->len; i++) {
        used += table->entries[i].status != ROUTE_LEAVING ? 1 : 0;
    }
    return used;
}

size_t route_table_from(const struct route_table *table, const struct ccm_cidr *net)
{
    size_t low = 0;
    size_t high = table->len;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (route_net_compare(&table->entries[middle].net, net) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

int route_table_created(struct route_table *table, const struct ccm_cidr *net, const char *hop)
{
    const size_t at = route_table_from(table, net);
    struct route_entry made;

    if (route_table_add(table, net, hop, true, ROUTE_MADE) < 0) {
        table->valid = false;
        return -ENOMEM;
    }
    made = table->entries[table->len - 1];
    memmove(table->entries + at + 1, table->entries + at,
            (table->len - 1 - at) * sizeof(*table->entries));
    table->entries[at] = made;
    return 0;
}

int route_table_find(const struct route_table *table, const struct ccm_cidr *net, const char *hop,
                     const struct route_entry **ret)
{
    if (net == NULL && ccm_text_empty(hop)) {
        return -EINVAL;
    }
    *ret = NULL;
    for (size_t i = net == NULL ? 0 : route_table_from(table, net); i < table->len; i++) {
        const struct route_entry *entry = &table->entries[i];

        if (net != NULL && route_net_compare(net, &entry->net) != 0) {
            break;
        }
        if (ccm_text_empty(hop) || (entry->can_be_ours && strcmp(entry->hop, hop) == 0)) {
            *ret = entry;
            break;
        }
    }
    return 0;
}

void route_table_deleted(struct route_table *table, const struct ccm_cidr *net, const char *hop)
{
    for (size_t i = route_table_from(table, net); i < table->len; i++) {
        struct route_entry *entry = &table->entries[i];

        if (route_net_compare(net, &entry->net) != 0) {
            break;
        }
        if (entry->can_be_ours && strcmp(entry->hop, hop) == 0) {
            entry->status = ROUTE_LEAVING;
        }
    }
}
