/*
 * Texts that many objects have in common (names of nodes in EndpointSlices), held once and counted.
 * Every thread.
 */
#ifndef CCM_KUBE_NAMES_H
#define CCM_KUBE_NAMES_H

#include <stddef.h>

struct kube_names;

/* With one reference. NULL on ENOMEM. */
struct kube_names *kube_names_new(void);
/* Another reference to the table. Returns it. */
struct kube_names *kube_names_ref(struct kube_names *names);
/* The last one frees; all texts were given back. NULL is fine. */
void kube_names_unref(struct kube_names *names);

/* The text as the table holds it, until kube_names_drop(). NULL on ENOMEM. */
const char *kube_names_intern(struct kube_names *names, const char *text);
/* Give back what kube_names_intern() returned. */
void kube_names_drop(struct kube_names *names, const char *name);
/* How many there are. */
size_t kube_names_len(struct kube_names *names);

#endif
