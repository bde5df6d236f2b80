/* Rules for names, labels, annotations, finalizers and addresses, with the API server's words.
 * Every thread. */
#ifndef CCM_KS_NAMES_H
#define CCM_KS_NAMES_H

#include "kind.h"

#include <stdbool.h>
#include <stdint.h>

/* NULL when the text is fine, else what is wrong with it (static text). */
const char *ccm_ks_names_label(const char *text);     /* DNS label */
const char *ccm_ks_names_subdomain(const char *text); /* DNS subdomain */
const char *ccm_ks_names_qualified(const char *text); /* [prefix/]name */
const char *ccm_ks_names_label_value(const char *text);
const char *ccm_ks_names_port(const char *text); /* name of a container port */

/* IPv4 or IPv6 address. */
bool ccm_ks_names_is_ip(const char *text);

/* NULL, or what is wrong with "10.0.0.0/8" (IPv4 or IPv6; blanks around it are the caller's
 * business). */
const char *ccm_ks_names_cidr(const char *text);

/* metadata of a new object (old NULL) or of a changed one. Faults are added to the list. */
void ccm_ks_names_validate_meta(const struct ccm_ks_kind *kind, const cJSON *object,
                                const cJSON *old, cJSON *faults);

#endif
