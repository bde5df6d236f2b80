/*
 * Annotations and attributes of the cloud as data: one table per product, one row each. A row has
 * what a person writes, what the cloud takes and returns, the default, and which differences count.
 * The table drives look-up, validation, the desired state, comparison, what is sent and read,
 * hints, lint and the documentation. Values: attrs.h; how to add a row: CONTRIBUTING.md. Pure.
 * Every thread.
 */
#ifndef CCM_LBC_ANNOTATION_H
#define CCM_LBC_ANNOTATION_H

#include "ccm/error.h"
#include "ccm/object.h"
#include "lbc/keys.h"
#include "lbc/model/protocol.h"
#include "util/attr.h"
#include "util/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LBC_ANNO_KEY_MAX   256   /* bytes of a whole key, NUL included; suffixes are short */
#define LBC_ANNO_VALUE_MAX 16384 /* bytes of a value; what is longer means no good */

enum lbc_anno_type {
    LBC_ANNO_TEXT,   /* where a row says nothing */
    LBC_ANNO_INT,    /* min..max */
    LBC_ANNO_ENUM,   /* one of `values`, "a|b|c" */
    LBC_ANNO_SWITCH, /* "on" or "off" */
    LBC_ANNO_BOOL,   /* on, off, true or false in any case */
    LBC_ANNO_ON,     /* "on"; anything else is off, and named unless it says so */
    LBC_ANNO_ANY,    /* any value; the controller looks at it itself */
};

/* How a bad number is reported; people search for these texts. */
enum lbc_anno_message {
    LBC_ANNO_SAYS_VALUE,   /* our own form */
    LBC_ANNO_SAYS_INTEGER, /* "Annotation {label} must be integer, but got [...]. message=[...] " */
    LBC_ANNO_SAYS_RANGE,   /* "{label} must be integer in range [a,b] , got [...]" */
    LBC_ANNO_SAYS_SPACED,  /* "{label} must be integer in range [a, b], got [...]" */
    LBC_ANNO_SAYS_BEHIND,  /* "{label} parse error: [...] ..."; out of range: as SAYS_RANGE */
    LBC_ANNO_SAYS_BEFORE,  /* "parse {label} error: ..." */
    LBC_ANNO_SAYS_FLAG,    /* SWITCH: "ParameterInvalid, {label} error: invalid flag ..." */
};

/* What stays as it is while the value cannot be used; see refusal.h. */
enum lbc_anno_decides {
    LBC_DECIDES_ATTRIBUTE, /* the attribute of the cloud that it is for, and nothing else */
    LBC_DECIDES_PORTS,     /* listeners, port by port: the model finds out which */
    LBC_DECIDES_WEIGHTS,   /* weights: present ones stay, new backends get what their peers have */
    LBC_DECIDES_BACKENDS,  /* which backends: groups keep their type, and no node is added */
    LBC_DECIDES_ALL,       /* the load balancer itself: only its backends are reconciled, keep.h */
};

enum lbc_anno_group {
    LBC_ANNO_INSTANCE,
    LBC_ANNO_LISTENER,
    LBC_ANNO_SERVERS, /* server groups, where they have attributes of their own */
    LBC_ANNO_BACKEND,
    LBC_ANNO_CLASS,
};

/* What the annotation is worth without the one that it needs. */
enum lbc_anno_need {
    LBC_NEED_SAID,     /* it is sent and compared all the same: an event says it does nothing */
    LBC_NEED_COMPARED, /* it is sent all the same, but no difference counts */
    LBC_NEED_SET,      /* as much; and it says nothing unless the other is set, on or off */
    LBC_NEED_ON,       /* it is no wish at all unless the other is on */
};

/* `flags`: how the annotation is read. */
#define LBC_ANNO_FIXED                                                                             \
    1U /* a later change does not reach the load balancer, and no event says so */
#define LBC_ANNO_NO_CASE 2U  /* the case of an ENUM or SWITCH value does not matter */
#define LBC_ANNO_EMPTY   4U  /* an empty value means something */
#define LBC_ANNO_ZERO    8U  /* the number 0 counts as not set */
#define LBC_ANNO_GUARD   16U /* it limits who may connect: without what it needs it is an error */

/* `cloud`: what is special about the attribute; bits from 4096 on are the product's. */
#define LBC_ATTR_OWN    1U   /* the product keeps it elsewhere than among its attributes */
#define LBC_ATTR_CREATE 2U   /* cannot be changed in place: not part of an update */
#define LBC_ATTR_LATER  4U   /* the other way round: creation does not take it */
#define LBC_ATTR_ASKED  8U   /* creation asks for the default */
#define LBC_ATTR_RESET  16U  /* goes back to the default when nobody asks for a value any more */
#define LBC_ATTR_LIST   32U  /* "a,b"; blanks and empty entries do not count */
#define LBC_ATTR_SET    64U  /* a list in which the order does not matter either */
#define LBC_ATTR_TOP    128U /* stands beside, not inside, the protocol's part of an answer */
#define LBC_ATTR_BOOL                                                                              \
    256U /* a switch that the cloud writes true and false, as any of type BOOL                     \
          */
#define LBC_ATTR_PROTECTS 512U /* of a load balancer: a release switches it off */
#define LBC_ATTR_ADMITS                                                                            \
    1024U /* limits who may connect: the record of a person's listener has it, changed or not */
#define LBC_ATTR_DRAINS                                                                            \
    2048U /* of a group: removed backends stay until their connections have ended */

#define LBC_UNTOLD_ANY "*" /* `untold`: there is no telling, so it is no difference */

/* A value that holds for listeners of some protocols. */
struct lbc_anno_case {
    unsigned on; /* 1U << enum lbc_protocol */
    const char *value;
};

struct lbc_anno {
    /* Suffix behind the prefix or, with a slash, the whole key, which has no legacy form; NULL: no
     * annotation sets it. */
    const char *name;
    enum lbc_anno_group group;
    enum lbc_anno_type type;
    unsigned flags; /* LBC_ANNO_* */
    int64_t min;    /* INT; 0 is a value in answers where it is the smallest, else "not set" */
    int64_t max;
    const char *values;   /* ENUM */
    const char *spelling; /* the words in the cloud's case, "A|B"; NULL = as in `values` */
    const char *fallback; /* what holds without it, as people write it, "none" = nothing; NULL = the
                             cloud decides */
    struct lbc_anno_case other; /* another default for some protocols */
    unsigned on;                /* LISTENER: 1U << enum lbc_protocol it is for; 0 = all */
    const char *needs; /* the switch, an annotation, without which it does nothing; listeners of
                        * protocols that the switch is not for do without */
    enum lbc_anno_need need;
    const char *field;       /* parameter of the cloud's API; NULL = none */
    const char *create_name; /* spelled differently at creation; NULL = field */
    unsigned create_on;      /* 1U << enum lbc_protocol for which it is so; 0 = all */
    const char *read_name;   /* spelled differently in answers, "a.b" = b inside a; NULL = field */
    unsigned place;          /* attributes are read, compared and told about in this order, those of
                                one place as the rows stand */
    unsigned cloud;          /* LBC_ATTR_* */
    const char *untold;      /* what there is when an answer does not tell; NULL = not known */
    struct lbc_anno_case absent; /* said by leaving the parameter out */
    const char *immutable; /* how the refusal of a change calls it; NULL = it can be changed */
    unsigned id; /* INSTANCE: the product's number of the attribute, from 1 on; 0 = it has none */
    enum lbc_anno_message says;
    enum lbc_anno_decides decides;
    const char *label;   /* how messages call it; NULL = field or, without one, name */
    const char *example; /* a value that is taken; NULL = a choice that is not the default */
    const char *form;    /* what refusals say that a text must be; NULL = they say it. Of a number:
                          * its unit, or NULL */
    const char *ids;     /* kind of the account's ids that it names (allow.h); NULL = none */
    unsigned piece;      /* which part of each "a:b:c" of the list they are, counted from 0 */
    const char *along; /* "a|b": what cannot be used either when those ids cannot; NULL = nothing */
    const char *help;  /* one sentence for people */
};

struct lbc_anno_table {
    const struct lbc_anno *rows;
    size_t count;
    const char *kind;    /* of the load balancer, for messages */
    const char *foreign; /* "a|b": suffixes that only the other kind knows */
    const char *page;    /* of the documentation that has a section for each group; NULL = none */
    /* What to do instead of one or another of them, behind "load balancers do not have it"; ends
     * with a NULL suffix. NULL: nothing but to take it away. */
    const struct lbc_anno_instead {
        const char *suffix;
        const char *text;
    } * instead;
    const struct lbc_anno *mute; /* attributes that no annotation sets; their names are NULL */
    size_t mute_count;
    bool tells_defaults; /* what an answer leaves out is as the row's default */
};

/* The key behind one of our prefixes; NULL: it has none. */
const char *lbc_anno_suffix(const char *key);
/* Whether the suffix is set, also when it is empty. */
bool lbc_anno_is_set(const struct ccm_object *object, const char *suffix);
/* Value of a BOOL: on or true. */
bool lbc_anno_is_on(const char *value);
/* The entry of `values` ("a|b|c") that equals the value but for case, in the spelling of the list;
 * "" when there is none. Cut to size. */
void lbc_anno_spell(const char *values, const char *value, char *ret, size_t size);

/* The value for a suffix, "" when it is not set. The key hides the legacy key, even when empty. */
const char *lbc_anno_get(const struct ccm_object *object, const char *suffix);
/* Whether that is this word, in any case. */
bool lbc_anno_says(const struct ccm_object *object, const char *suffix, const char *word);
/* The same for a row. */
const char *lbc_anno_value(const struct ccm_object *object, const struct lbc_anno *row);
/* The key under which the suffix, or the row, is set on the object; that with the prefix when it is
 * not set. Returns `key`. */
const char *lbc_anno_suffix_key(const struct ccm_object *object, const char *suffix,
                                char key[static LBC_ANNO_KEY_MAX]);
const char *lbc_anno_key(const struct ccm_object *object, const struct lbc_anno *row,
                         char key[static LBC_ANNO_KEY_MAX]);
const struct lbc_anno *lbc_anno_find(const struct lbc_anno_table *table, const char *name);
/* Whether the annotation counts: it has a value, and the one that it needs is there. */
bool lbc_anno_is_asked(const struct lbc_anno *row, const struct ccm_object *object);

/* Whether the value of one row, when it is set and not empty, is well-formed, and short enough to
 * be looked at again and again: 0, or -EINVAL with a CCM_ERROR_TERMINAL that names key and value.
 */
CCM_NODISCARD int lbc_anno_check(const struct lbc_anno *row, const struct ccm_object *object,
                                 struct ccm_error *err);

/* Complete a refusal of the annotation whose text, which people search for, does not name it:
 * behind that its key, and what the value must be. Returns r; only of -EINVAL err is changed.
 * row NULL: nothing is. */
int lbc_anno_explain(const struct lbc_anno *row, int r, struct ccm_error *err);

/* Append the row's protocols, "tcp", with the separator; nothing when it is for all. */
void lbc_anno_write_protocols(const struct lbc_anno *row, const char *separator,
                              struct ccm_buf *text);

/* One finding; see lbc_anno_lint(). */
typedef void (*lbc_anno_say_fn)(void *arg, const char *key, bool warning, const char *message);

/* The findings of lbc_anno_check() of all rows and of lbc_anno_unknown(), one by one: `say` gets
 * the key as the object has it. Warnings are about annotations without effect: unknown ones, and
 * those of the legacy prefix that are hidden by the same one with the other prefix. */
void lbc_anno_lint(const struct lbc_anno_table *table, const struct ccm_object *object,
                   lbc_anno_say_fn say, void *arg);

/* Append one sentence per key with one of our prefixes that the table lacks, with the nearest known
 * suffix as a guess. Nothing is appended when all are known. */
void lbc_anno_unknown(const struct lbc_anno_table *table, const struct ccm_object *object,
                      struct ccm_buf *text);

#endif
