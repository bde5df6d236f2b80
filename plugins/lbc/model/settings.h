/* Annotations that all products read in the same way. Pure. Every thread. */
#ifndef CCM_LBC_SETTINGS_H
#define CCM_LBC_SETTINGS_H

#include "ccm/error.h"
#include "ccm/object.h"
#include "lbc/keys.h"
#include "lbc/model/endpoint.h"
#include "lbc/model/protocol.h"
#include "lbc/model/tags.h"
#include "lbc/model/weight.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>

#define LBC_SHOWN_MAX  200   /* most bytes of a value that a message repeats */
#define LBC_TAGS_MAX   20    /* of one resource */
#define LBC_TAGS_BYTES 32768 /* of the annotation: twice what so many can have */

struct lbc_anno_table;

/* Annotation id, the load balancer of somebody else that the Service uses; "" = none. Only where
 * the table has a row for it (LBC_ROW_ID) does it mean anything. */
const char *lbc_setting_reused_id(const struct lbc_anno_table *table,
                                  const struct ccm_service *service);
/* Whether there is one, for products whose table has that row. */
bool lbc_setting_is_reused(const struct ccm_service *service);

/* preserve-lb-on-delete: any value that does not say no. */
bool lbc_setting_preserve(const struct ccm_service *service);

/* Marks of controllers and of the cloud, which are not a person's to set. reused, here and below:
 * the load balancer is somebody else's. */
bool lbc_setting_is_reserved_tag(const char *key, bool reused);

/* additional-resource-tags without reserved ones; of very many only enough to be too many, and no
 * more than LBC_TAGS_BYTES of it. 0 or
 * -ENOMEM. */
CCM_NODISCARD int lbc_setting_tags(const struct ccm_service *service, bool reused,
                                   struct lbc_tags *ret);

/* weight and default-weight; values were checked before, a bad one counts as not set. total:
 * whether `weight` means anything here. */
struct lbc_weight_rule lbc_setting_weight(const struct ccm_service *service, bool total);

/* -EINVAL, a CCM_ERROR_TERMINAL: "annotation {key} must be {expected}, got [{value}]". */
int lbc_setting_refuse(const char *suffix, const char *value, const char *expected,
                       struct ccm_error *err);

#define LBC_PAIR_MAX  160
#define LBC_PAIRS_MAX 4096 /* bytes of a list of pairs, which is read for each port */

/* One entry "left:right" of a comma list, blanks stripped. */
struct lbc_setting_pair {
    char entry[LBC_PAIR_MAX]; /* all of it, for messages; cut when it is too long */
    char text[LBC_PAIR_MAX];  /* of the two parts */
    const char *left;
    const char *right;
    bool good; /* two parts that are not empty; `left` and `right` are "" otherwise */
};

/* Split "left:right" in place, blanks stripped; either may be empty. False: not two parts. */
bool lbc_setting_split(char *text, const char **ret_left, const char **ret_right);

/* Next entry; *cursor = the whole value at first. False at the end; "" has no entry, a list of more
 * than LBC_PAIRS_MAX bytes one that is not good. */
bool lbc_setting_next_pair(const char **cursor, struct lbc_setting_pair *ret);

/* In a list "text:port,...": the text of the first entry for the port, "" when there is none. */
void lbc_setting_for_port(const struct ccm_service *service, const char *suffix, int64_t port,
                          char ret[static LBC_PAIR_MAX]);

/* What listeners of a product may speak. */
struct lbc_protocols {
    unsigned known;         /* 1U << enum lbc_protocol */
    const char *refusal[2]; /* what is said about another one: before and behind its name */
};

/* What protocol-port says about the port, "" when nothing. 0, or -EINVAL for an entry up to that
 * one that is no pair, or not one of `protocols`; NULL = whatever it says. */
CCM_NODISCARD int lbc_setting_protocol_word(const struct ccm_service *service,
                                            const struct ccm_service_port *port,
                                            const struct lbc_protocols *protocols,
                                            char ret[static LBC_PAIR_MAX], struct ccm_error *err);
/* Protocol of a listener: that word, else the port's own protocol. 0 or -EINVAL. */
CCM_NODISCARD int lbc_setting_protocol(const struct ccm_service *service,
                                       const struct ccm_service_port *port,
                                       const struct lbc_protocols *protocols,
                                       enum lbc_protocol *ret, struct ccm_error *err);
/* Whether a listener of the Service speaks one of these (1U << enum lbc_protocol), if that is
 * known. */
bool lbc_setting_has_protocol(const struct ccm_service *service,
                              const struct lbc_protocols *protocols, unsigned mask);

/* Whether listeners are ours to manage: not on somebody else's load balancer, unless it says so. */
bool lbc_setting_has_listeners(const struct lbc_anno_table *table,
                               const struct ccm_service *service);

/* Whether spec.loadBalancerSourceRanges keeps anyone out: it has entries, and they do not admit all
 * addresses of a family (0.0.0.0/0, ::/0, or both halves of one). */
bool lbc_setting_limits_sources(const struct ccm_service *service);

/* The API server says which address families the Service has, and these (enum lbc_families) are not
 * all among them. */
bool lbc_setting_lacks_family(const struct ccm_service *service, enum lbc_families wanted);

#define LBC_RANGE_TEXT 52

/* One block, in its usual form. 0 or -ENOMEM. */
typedef int lbc_range_fn(void *arg, const char *block, bool ipv6);
/* spec.loadBalancerSourceRanges, one by one; add NULL: check them. 0, -ENOMEM, or -EINVAL with a
 * CCM_ERROR_TERMINAL: one is no block of these families. */
CCM_NODISCARD int lbc_setting_ranges(const struct ccm_service *service, enum lbc_families families,
                                     lbc_range_fn *add, void *arg, struct ccm_error *err);

#endif
