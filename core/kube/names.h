/*
 * Texts that many objects have in common (names of nodes in EndpointSlices), held once and counted.
 * Every thread.
 */
#ifndef CCM_KUBE_NAMES_H
#define CCM_KUBE_NAMES_H

#include <stddef.h>

struct ccm_names;

/* With one reference. NULL on ENOMEM. */
struct ccm_names *ccm_names_new(void);
/* Another reference to the table. Returns it. */
struct ccm_names *ccm_names_ref(struct ccm_names *names);
/* The last one frees; all texts were given back. NULL is fine. */
void ccm_names_unref(struct ccm_names *names);

/* The text as the table holds it, until ccm_names_drop(). NULL on ENOMEM. */
const char *ccm_names_take(struct ccm_names *names, const char *text);
/* Give back what ccm_names_take() returned. */
void ccm_names_drop(struct ccm_names *names, const char *name);
/* How many there are. */
size_t ccm_names_len(struct ccm_names *names);

#endif
