/*
 * What a kind is made of: names, types, how absent values show, and how lists merge. One
 * description serves decoding (unknown fields, wrong types), the order of fields in answers, and
 * strategic merge patch. Const data; every thread.
 */
#ifndef CCM_KS_SCHEMA_H
#define CCM_KS_SCHEMA_H

#include "util/json.h"

#include <stdbool.h>
#include <stdint.h>

enum ccm_ks_type {
    CCM_KS_STRING,
    CCM_KS_INT32,
    CCM_KS_INT64,
    CCM_KS_BOOL,
    CCM_KS_TIME,          /* RFC 3339, seconds */
    CCM_KS_MICROTIME,     /* RFC 3339, exactly six digits of fraction */
    CCM_KS_INT_OR_STRING, /* port number or port name */
    CCM_KS_QUANTITY,      /* text or number */
    CCM_KS_OBJECT,        /* `sub` */
    CCM_KS_LIST,          /* of `sub` */
    CCM_KS_STRINGS,       /* list of strings */
    CCM_KS_MAP,           /* text -> text */
    CCM_KS_QUANTITIES,    /* text -> quantity */
    CCM_KS_ANY            /* anything, kept as sent */
};

enum ccm_ks_flag {
    CCM_KS_KEEP = 1, /* an explicit zero is kept ("pointer" fields); else zero, "", false, [] and {}
                        mean absent */
    CCM_KS_SHOW =
        2, /* absent shows: null for times and lists, "" or 0 for scalars, {} for objects */
    CCM_KS_SET = 4,  /* list of strings that strategic merge treats as a set */
    CCM_KS_BYTES = 8 /* map whose values are bytes: base64 in JSON, bare in the binary form */
};

struct ccm_ks_schema;

struct ccm_ks_field {
    const char *name; /* NULL ends the table */
    uint32_t tag;     /* field number in the binary form; 0 = not read from there */
    enum ccm_ks_type type;
    unsigned flags;
    const struct ccm_ks_schema *sub;
    uint32_t inner; /* the binary form has it in a message of its own, there under this number; 0 =
                       it does not */
    const char *merge_key; /* of a list that strategic merge joins by this member; NULL = atomic */
};

struct ccm_ks_schema {
    const char *type_name; /* as error messages of the API server name it */
    const struct ccm_ks_field *fields;
    bool open; /* what has no field is kept as it was sent, behind the fields */
};

#define CCM_KS_FIELDS_MAX 48

/* What decoding found. */
struct ccm_ks_decode {
    cJSON *found;         /* list of texts: unknown field "spec.ports[0].x", duplicate field ... */
    struct ccm_buf error; /* "" or the message of the first type error */
};

void ccm_ks_decode_fini(struct ccm_ks_decode *decode);

/* The field of that name, or NULL. schema may be NULL. */
const struct ccm_ks_field *ccm_ks_schema_field(const struct ccm_ks_schema *schema,
                                               const char *name);

/*
 * A new tree with what the schema knows, in its order, maps sorted by key. Never NULL but on ENOMEM
 * or when a type is wrong (decode->error then says so). `in` that is no object counts as one
 * without members.
 */
cJSON *ccm_ks_schema_decode(const struct ccm_ks_schema *schema, const cJSON *in,
                            struct ccm_ks_decode *decode);

/* The empty object of the kind: only what shows when absent (a bookmark's body). */
cJSON *ccm_ks_schema_empty(const struct ccm_ks_schema *schema);

#endif
