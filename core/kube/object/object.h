/*
 * Objects of ccm/object.h as the core makes them: immutable, reference-counted, one allocation
 * each. In front of the struct that plugins see stands a private header with the count; behind it
 * lie the lists and the text, where equal strings are stored once. Names of nodes in EndpointSlices
 * lie elsewhere, once for all objects that a builder made (names.h).
 *
 * References: any thread. A builder is scratch memory for making objects: one thread at a time,
 * kept and reused.
 */
#ifndef CCM_KUBE_OBJECT_H
#define CCM_KUBE_OBJECT_H

#include "ccm/error.h"
#include "ccm/object.h"
#include "util/attr.h"

#include <stddef.h>

/* Another reference to an object that kube_object_build() made. Returns it. */
const struct ccm_object *kube_object_ref(const struct ccm_object *object);

/* Give a reference back; the last one frees. NULL is fine. */
void kube_object_unref(const struct ccm_object *object);
/* For CCM_CLEANUP. */
void kube_object_unrefp(const struct ccm_object **object);

/* Bytes of its allocation, header included; without the names of nodes. */
size_t kube_object_bytes(const struct ccm_object *object);

struct kube_builder;

/* NULL on ENOMEM. */
struct kube_builder *kube_builder_new(void);
void kube_builder_free(struct kube_builder *builder);
/* For CCM_CLEANUP. */
void kube_builder_freep(struct kube_builder **builder);

/*
 * Describes one object to the builder, in this order of calls or any other, always the same for the
 * same source: it runs twice, first to measure and then to fill. Ends with kube_builder_root().
 * Returns 0, or negative with err set.
 */
typedef int (*kube_build_fn)(struct kube_builder *builder, const void *source,
                             struct ccm_error *err);

/*
 * Make an object of at most max_bytes. On success the caller owns one reference. -ENOMEM; -EMSGSIZE
 * when it would be larger; or what fn returned.
 */
CCM_NODISCARD int kube_object_build(struct kube_builder *builder, kube_build_fn fn,
                                    const void *source, size_t max_bytes,
                                    const struct ccm_object **ret, struct ccm_error *err);

/* --- for a kube_build_fn only --- */

/* The text as the object will hold it. NULL counts as "". The argument must stay valid until the
 * build is over. What is returned may only be stored (while measuring it is not yet the text). */
const char *kube_builder_text(struct kube_builder *builder, const char *text);

/* The same for `node_name` in an EndpointSlice, which many slices have in common. */
const char *kube_builder_node_name(struct kube_builder *builder, const char *name);

/* Room for `count` pointers: assign it to a list member, fill it with the calls below. NULL while
 * measuring and for 0. */
void *kube_builder_list(struct kube_builder *builder, size_t count);

/* Element i of a list becomes a copy of the struct `item`, or a text. */
void kube_builder_put(struct kube_builder *builder, void *list, size_t i, const void *item,
                      size_t size);
void kube_builder_put_text(struct kube_builder *builder, void *list, size_t i, const char *text);

/* The typed struct itself (starts with struct ccm_object); once, last. */
void kube_builder_root(struct kube_builder *builder, const void *typed, size_t size);

#endif
