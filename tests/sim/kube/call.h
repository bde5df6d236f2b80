/* A request to the API, taken apart: what resource, which verb, in what form the answer is wanted.
 * Every thread. */
#ifndef CCM_KS_CALL_H
#define CCM_KS_CALL_H

#include "access.h"
#include "cluster.h"
#include "common/request.h"
#include "kind.h"
#include "table.h"

#include <stdbool.h>
#include <stdint.h>

enum ccm_ks_verb {
    CCM_KS_VERB_GET,
    CCM_KS_VERB_LIST,
    CCM_KS_VERB_WATCH,
    CCM_KS_VERB_CREATE,
    CCM_KS_VERB_UPDATE,
    CCM_KS_VERB_PATCH,
    CCM_KS_VERB_DELETE,
    CCM_KS_VERB_DELETECOLLECTION,
    CCM_KS_VERB_OTHER
};

enum ccm_ks_form { CCM_KS_FORM_JSON, CCM_KS_FORM_TABLE, CCM_KS_FORM_METADATA, CCM_KS_FORM_NONE };

struct ccm_ks_call {
    const struct ccm_sim_request *req;
    struct ccm_sim_reply *reply;
    const struct ccm_ks_kind *kind;
    enum ccm_ks_verb verb;
    enum ccm_ks_form form;
    enum ccm_ks_include include;
    char group[256]; /* with `resource` what the path names, known or not; "" = no resource */
    char resource[64];
    char ns[256];
    char name[256];
    char sub[64]; /* "status", "finalize", or "" */
};

/* Longest key: namespace, '/', name. */
#define CCM_KS_KEY_MAX 520

/*
 * Take path, method, query and Accept apart. 0; -ENOENT: no path of the API groups (the caller
 * looks elsewhere); -ESRCH: such a path, but no such resource or subresource; -EPERM: the resource
 * has no such method. All but -ENOENT leave in `verb` what was meant.
 */
CCM_NODISCARD int ccm_ks_call_parse(const struct ccm_sim_request *req, struct ccm_ks_call *call);

/* The verb as rights name it: "list", "deletecollection", "get" for a path that is no resource. */
void ccm_ks_call_attributes(const struct ccm_ks_call *call, char verb[32],
                            struct ccm_ks_attributes *ret);

/* "LIST", "DELETECOLLECTION"; "GET" and so on of the method for CCM_KS_VERB_OTHER. */
const char *ccm_ks_call_verb_name(const struct ccm_ks_call *call);

/* The form of the first part of Accept that can be given. */
enum ccm_ks_form ccm_ks_call_form(const char *accept);

/* The key of the named object. */
void ccm_ks_call_key(const struct ccm_ks_call *call, const char *name, char key[CCM_KS_KEY_MAX]);

/* What the keys of all objects of a collection start with. */
void ccm_ks_call_prefix(const struct ccm_ks_call *call, char prefix[CCM_KS_KEY_MAX]);

/* A query parameter as a truth value: absent = false, "0" and "false" = false, anything else =
 * true. */
bool ccm_ks_call_flag(const struct ccm_sim_request *req, const char *name);

/* Selectors of the query. 0, or negative after the reply was made. */
CCM_NODISCARD int ccm_ks_call_selectors(struct ccm_ks_call *call,
                                        struct ccm_ks_selector **ret_labels,
                                        struct ccm_ks_selector **ret_fields);

/* A query parameter that is a number; absent = fallback. 0, or negative after the reply was made.
 */
CCM_NODISCARD int ccm_ks_call_number(struct ccm_ks_call *call, const char *name, int64_t fallback,
                                     int64_t *ret);

/* Answer with one object (storage form) in the wanted form. */
void ccm_ks_call_answer(struct ccm_ks_call *call, unsigned status, const cJSON *object);

/* The same for a stored object; its text is shared. */
void ccm_ks_call_answer_stored(struct ccm_ks_call *call, unsigned status,
                               struct ccm_ks_object *object);

#endif
