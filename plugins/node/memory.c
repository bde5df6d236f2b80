#include "memory.h"

#include "util/book.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <stdlib.h>

/* Whoever changes a node again sooner waits so long. */
#define REPAIR_GAP_MS INT64_C(60000)

struct node_memory {
    struct ccm_book traces;
};

struct trace {
    uint64_t look;    /* as it has to be */
    uint64_t between; /* its status is written, and nothing else yet */
    uint32_t facts;
    int64_t repaired_ms; /* monotonic: somebody's change was put right; 0 = never */
};

struct node_memory *node_memory_new(void)
{
    struct node_memory *memory = calloc(1, sizeof(*memory));

    if (memory == NULL) {
        return NULL;
    }
    if (ccm_book_init(&memory->traces, free) < 0) {
        free(memory);
        return NULL;
    }
    return memory;
}

void node_memory_free(struct node_memory *memory)
{
    if (memory == NULL) {
        return;
    }
    ccm_book_fini(&memory->traces);
    free(memory);
}

/* ---- how a node looks ---- */

static void look_add_labels(struct ccm_buf *to, const struct ccm_node *node,
                            const struct node_want *want)
{
    for (size_t i = 0; i < NODE_LABELS; i++) {
        const char *value = ccm_object_label(&node->meta, node_labels[i].key);

        if (want != NULL && (want->labels[i] != NULL || want->drop[i])) {
            value = want->labels[i];
        }
        ccm_buf_addf(to, "%s\n", value == NULL ? "-" : value);
    }
}

static void look_add_addresses(struct ccm_buf *to, const struct ccm_node *node,
                               const struct node_want *want)
{
    const bool written = want != NULL && want->set_addresses;

    for (uint64_t i = 0; !written && i < node->address_count; i++) {
        ccm_buf_addf(to, "%s %s\n", node->addresses[i]->type, node->addresses[i]->address);
    }
    for (size_t i = 0; written && i < want->addresses.len; i++) {
        ccm_buf_addf(to, "%s %s\n", want->addresses.items[i].type,
                     want->addresses.items[i].address);
    }
}

/* As far as we decide about it; with the addresses and the rest that are wanted, NULL = as they
 * are.
 */
static uint64_t look_compute(const struct ccm_node *node, const struct node_want *addresses,
                             const struct node_want *rest)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { 0 };
    bool stopped = node_is_tainted(node, NODE_TAINT_STOPPED);

    if (rest != NULL) {
        stopped = rest->stop || (stopped && !rest->start);
    }
    look_add_labels(&text, node, rest);
    look_add_addresses(&text, node, addresses);
    ccm_buf_adds(&text, stopped ? "stopped" : "");
    return ccm_buf_error(&text) < 0 ? 0 : ccm_text_hash(ccm_buf_str(&text));
}

/* ---- traces ---- */

void node_memory_expect(struct node_memory *memory, const struct ccm_node *node,
                        const struct node_want *want, uint32_t facts, int64_t now_ms)
{
    const uint64_t look = look_compute(node, want, want);
    const uint64_t between = look_compute(node, want, NULL);
    const bool repairs = !want->untaint && (want->set_addresses || node_want_has_object(want));

    (void)ccm_book_open(&memory->traces);

    struct trace *trace = ccm_book_obtain(&memory->traces, node->meta.name, sizeof(*trace));

    if (trace != NULL) {
        trace->look = look;
        trace->between = between;
        trace->facts = facts;
        trace->repaired_ms = repairs ? now_ms : trace->repaired_ms;
    }
    ccm_book_close(&memory->traces);
}

uint32_t node_memory_facts(struct node_memory *memory, const char *name)
{
    const struct trace *trace = ccm_strmap_get(ccm_book_open(&memory->traces), name);
    const uint32_t facts = trace == NULL ? 0 : trace->facts;

    ccm_book_close(&memory->traces);
    return facts;
}

bool node_memory_is_changed(struct node_memory *memory, const struct ccm_node *before,
                            const struct ccm_node *after, int64_t now_ms, uint64_t *ret_wait_ms)
{
    const uint64_t look = look_compute(after, NULL, NULL);
    bool changed = look != look_compute(before, NULL, NULL);
    int64_t wait_ms = 0;

    const struct trace *trace = ccm_strmap_get(ccm_book_open(&memory->traces), after->meta.name);

    changed = changed && trace != NULL && look != trace->look && look != trace->between;
    if (changed && trace->repaired_ms != 0) {
        wait_ms = trace->repaired_ms + REPAIR_GAP_MS - now_ms;
    }
    ccm_book_close(&memory->traces);
    *ret_wait_ms = wait_ms > 0 ? (uint64_t)wait_ms : 0;
    return changed;
}

void node_memory_forget(struct node_memory *memory, const char *name)
{
    ccm_book_forget(&memory->traces, name);
}
