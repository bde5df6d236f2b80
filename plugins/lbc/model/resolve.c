#include "lbc/model/resolve.h"

#include "util/array.h"
#include "util/cidr.h"
#include "util/cleanup.h"
#include "util/strmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int lbc_address_is_of_node(const struct ccm_host *host, const char *address)
{
    const struct ccm_object *const *nodes = NULL;
    char usual[CCM_IP_TEXT]; /* the spelling of the index */
    struct ccm_ip ip;
    size_t count = 0;
    int r = 0;

    if (ccm_ip_parse(address, &ip) < 0) {
        return 0; /* what is no address is no node's */
    }
    ccm_ip_format(&ip, usual);
    r = host->list(host, CCM_KIND_NODE, "server", usual, &nodes, &count);
    if (r < 0) {
        return r;
    }
    host->release_list(host, nodes, count);
    return count > 0 ? 1 : 0;
}

struct lookup {
    struct ccm_strmap *index; /* address -> position + 1, as a pointer-sized number */
    const char **addresses;
    uint64_t *owners;
    size_t len;
    size_t cap;
    size_t owner_cap;
    struct lbc_interface *found;
};

static void lookup_fini(struct lookup *lookup)
{
    ccm_strmap_free(lookup->index);
    free(lookup->addresses);
    free(lookup->owners);
    free(lookup->found);
}

void lbc_resolved_fini(struct lbc_resolved *resolved)
{
    lbc_backends_fini(&resolved->backends);
    ccm_buf_fini(&resolved->invalid);
    ccm_buf_fini(&resolved->foreign);
}

void lbc_resolved_list_fini(struct lbc_resolved_list *list)
{
    for (size_t i = 0; list->items != NULL && i < list->count; i++) {
        lbc_resolved_fini(&list->items[i]);
    }
    free(list->items);
}

static int lookup_add_address(struct lookup *lookup, const struct lbc_candidate *one)
{
    const size_t need = lookup->len + 1;

    if (one->address[0] == '\0' || ccm_strmap_has(lookup->index, one->address)) {
        return 0;
    }
    if (ccm_array_grow(&lookup->addresses, &lookup->cap, need, sizeof(*lookup->addresses)) < 0 ||
        ccm_array_grow(&lookup->owners, &lookup->owner_cap, need, sizeof(*lookup->owners)) < 0) {
        return -ENOMEM;
    }
    lookup->addresses[lookup->len] = one->address;
    lookup->owners[lookup->len++] = one->owner;
    return ccm_strmap_set(lookup->index, one->address, (void *)(uintptr_t)lookup->len);
}

static int lookup_add_set(struct lookup *lookup, const struct lbc_candidates *set)
{
    int r = 0;

    for (size_t i = 0; r == 0 && !set->by_address && i < set->len; i++) {
        r = lookup_add_address(lookup, &set->items[i]);
    }
    return r;
}

/* A pod with the network of its node has the node's address. */
static int lookup_allow_hosted(const struct lookup *lookup, const struct ccm_host *host)
{
    int r = 0;

    for (size_t i = 0; r >= 0 && i < lookup->len; i++) {
        if (lookup->found[i].state == LBC_INTERFACE_NODE) {
            r = lbc_address_is_of_node(host, lookup->addresses[i]);
            lookup->found[i].state = r > 0 ? LBC_INTERFACE_FOUND : LBC_INTERFACE_NODE;
        }
    }
    return r < 0 ? r : 0;
}

static const struct lbc_interface *lookup_find_interface(const struct lookup *lookup,
                                                         const char *address)
{
    return &lookup->found[(uintptr_t)ccm_strmap_get(lookup->index, address) - 1];
}

static int resolved_put_backend(struct lbc_resolved *ret, const struct lbc_candidate *one,
                                enum lbc_backend_type type, const char *id)
{
    const struct lbc_backend backend = {
        .server_id = (char *)(uintptr_t)id, /* copied by put */
        .server_ip = (char *)(uintptr_t)one->address,
        .port = one->port,
        .weight = (uint8_t)one->weight,
        .type = (uint8_t)type,
        .leaving = one->leaving,
    };

    return lbc_backends_put(&ret->backends, &backend);
}

static void list_add_address(struct ccm_buf *list, const char *address)
{
    ccm_buf_addf(list, "%s%s", list->len == 0 ? "" : ",", address);
}

static int settle_pod(const struct lbc_interface *found, const struct lbc_candidate *one,
                      struct lbc_candidates *set, struct lbc_resolved *ret)
{
    const struct lbc_ruled ruled = { one->address, "", one->port, LBC_OWN_RULE_NODE_ADDRESS };

    if (found->state == LBC_INTERFACE_FOUND) {
        return resolved_put_backend(ret, one, LBC_BACKEND_INTERFACE, found->id);
    }
    if (found->state == LBC_INTERFACE_NODE) {
        return one->leaving ? 0 : lbc_candidates_add_ruled(set, &ruled);
    }
    if (!one->leaving) { /* that one loses its interface as it should */
        list_add_address(found->state == LBC_INTERFACE_MISSING ? &ret->invalid : &ret->foreign,
                         one->address);
    }
    return 0;
}

static int resolved_settle_all(const struct lookup *lookup, struct lbc_candidates *set,
                               struct lbc_resolved *ret)
{
    size_t pods = 0;
    size_t missing = 0;
    int r = 0;

    for (size_t i = 0; r == 0 && i < set->len; i++) {
        const struct lbc_candidate *one = &set->items[i];

        if (set->by_address) {
            r = resolved_put_backend(ret, one, LBC_BACKEND_IP, one->address);
        } else if (one->address[0] == '\0') {
            r = resolved_put_backend(ret, one, LBC_BACKEND_INSTANCE, one->instance_id);
        } else {
            const struct lbc_interface *found = lookup_find_interface(lookup, one->address);

            pods += one->leaving ? 0 : 1;
            missing += !one->leaving && found->state == LBC_INTERFACE_MISSING ? 1 : 0;
            r = settle_pod(found, one, set, ret);
        }
    }
    ret->doubtful = missing > pods / 2;
    return r;
}

int lbc_resolve(const struct lbc_cloud_ops *cloud, const struct lbc_cloud_caller *by,
                struct lbc_candidates *sets, size_t count, bool anew, struct lbc_resolved *ret,
                struct ccm_error *err)
{
    CCM_CLEANUP(lookup_fini) struct lookup lookup = { .index = ccm_strmap_new(NULL) };
    int r = lookup.index == NULL ? -1 : 0;

    for (size_t s = 0; r == 0 && s < count; s++) {
        r = lookup_add_set(&lookup, &sets[s]);
    }
    lookup.found = calloc(lookup.len == 0 ? 1 : lookup.len, sizeof(*lookup.found));
    if (r < 0 || lookup.found == NULL) {
        return ccm_error_nomem(err);
    }
    if (lookup.len > 0) {
        const struct lbc_addresses addresses = { lookup.addresses, lookup.owners, lookup.len,
                                                 anew };

        r = cloud->find_interfaces(by, &addresses, lookup.found, err);
        if (r < 0) {
            return r;
        }
        r = lookup_allow_hosted(&lookup, by->host);
    }
    for (size_t s = 0; r == 0 && s < count; s++) {
        r = resolved_settle_all(&lookup, &sets[s], &ret[s]);
    }
    return r < 0 ? ccm_error_nomem(err) : 0;
}

void lbc_resolve_forget(const struct lbc_cloud *cloud, const struct lbc_backends *set)
{
    for (size_t i = 0; i < set->len; i++) {
        if (set->items[i].type == LBC_BACKEND_INTERFACE) {
            cloud->ops->forget_interface(cloud->account, set->items[i].server_ip);
        }
    }
}
