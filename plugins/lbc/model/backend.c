#include "lbc/model/backend.h"

#include "util/array.h"
#include "util/cidr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void lbc_backends_fini(struct lbc_backends *set)
{
    for (size_t i = 0; set->rest == NULL && i < set->len; i++) {
        free(set->items[i].server_id);
    }
    free(set->items);
    free(set->rest);
    memset(set, 0, sizeof(*set));
}

int lbc_backend_compare(const struct lbc_backend *a, const struct lbc_backend *b)
{
    int order = (int)a->type - (int)b->type;

    if (order == 0) {
        order = strcmp(a->server_id, b->server_id);
    }
    if (order == 0 && a->type == LBC_BACKEND_INTERFACE) {
        order = strcmp(a->server_ip, b->server_ip);
    }
    return order != 0 ? order : (int)a->port - (int)b->port;
}

/* Index of the first one that is not less; *ret_found tells whether it is equal. */
static size_t lower_bound(const struct lbc_backends *set, const struct lbc_backend *backend,
                          bool *ret_found)
{
    size_t low = 0;
    size_t high = set->len;

    *ret_found = false;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = lbc_backend_compare(&set->items[middle], backend);

        if (order == 0) {
            *ret_found = true;
            return middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool backend_same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* One spelling per address. Only those of IPv6 have several; what is none stays as it is. */
static const char *backend_spell_address(const char *text, char room[static CCM_IP_TEXT])
{
    struct ccm_ip ip;

    if (text == NULL || strchr(text, ':') == NULL || ccm_ip_parse(text, &ip) < 0) {
        return text;
    }
    ccm_ip_format(&ip, room);
    return room;
}

static int backend_copy_one(struct lbc_backend *to, const struct lbc_backend *from)
{
    const char *ip =
        from->type == LBC_BACKEND_INTERFACE && from->server_ip != NULL ? from->server_ip : "";
    const size_t id_size = strlen(from->server_id) + 1;
    const size_t ip_size = strlen(ip) + 1;
    const size_t text_size = from->description == NULL ? 0 : strlen(from->description) + 1;
    char *block = malloc(id_size + ip_size + text_size);

    if (block == NULL) {
        return -ENOMEM;
    }
    memcpy(block, from->server_id, id_size);
    memcpy(block + id_size, ip, ip_size);
    *to = *from;
    to->server_id = block;
    to->server_ip = from->type == LBC_BACKEND_IP ? block : block + id_size;
    to->description = NULL;
    if (text_size > 0) {
        to->description = block + id_size + ip_size;
        memcpy(to->description, from->description, text_size);
    }
    return 0;
}

int lbc_backends_put(struct lbc_backends *set, const struct lbc_backend *given)
{
    char id[CCM_IP_TEXT];
    char ip[CCM_IP_TEXT];
    struct lbc_backend one = *given;
    const struct lbc_backend *backend = &one;
    bool found = false;

    if (given->type == LBC_BACKEND_IP) {
        one.server_id =
            (char *)(uintptr_t)backend_spell_address(given->server_id, id); /* copied below */
    } else if (given->type == LBC_BACKEND_INTERFACE) {
        one.server_ip = (char *)(uintptr_t)backend_spell_address(given->server_ip, ip);
    }
    const size_t at = lower_bound(set, backend, &found);
    struct lbc_backend fresh = { .server_id = NULL };

    if (found && backend_same_text(set->items[at].description, backend->description)) {
        set->items[at].weight = backend->weight;
        set->items[at].leaving = backend->leaving;
        return 0;
    }
    if (found) {
        if (backend_copy_one(&fresh, backend) < 0) {
            return -ENOMEM;
        }
        free(set->items[at].server_id);
        set->items[at] = fresh;
        return 0;
    }
    int r = ccm_array_grow(&set->items, &set->cap, set->len + 1, sizeof(*set->items));

    if (r == 0) {
        r = backend_copy_one(&fresh, backend);
    }
    if (r < 0) {
        return r;
    }
    memmove(&set->items[at + 1], &set->items[at], (set->len - at) * sizeof(*set->items));
    set->items[at] = fresh;
    set->len++;
    return 0;
}

void lbc_backends_remove(struct lbc_backends *set, const struct lbc_backend *backend)
{
    bool found = false;
    const size_t at = lower_bound(set, backend, &found);

    if (!found) {
        return;
    }
    free(set->items[at].server_id);
    set->len--;
    memmove(&set->items[at], &set->items[at + 1], (set->len - at) * sizeof(*set->items));
}

struct lbc_backend *lbc_backends_find(const struct lbc_backends *set,
                                      const struct lbc_backend *backend)
{
    bool found = false;
    const size_t at = lower_bound(set, backend, &found);

    return found ? &set->items[at] : NULL;
}
