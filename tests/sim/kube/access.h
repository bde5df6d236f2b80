/*
 * Who may do what: users, their tokens and their rights, from a rules file (YAML or JSON) in the
 * words of RBAC:
 *
 *   users:
 *   - name: system:serviceaccount:kube-system:ccm
 *     token: secret
 *     rules:
 *     - apiGroups: [""]
 *       resources: [services, services/status]
 *       verbs: [get, list, watch, patch]
 *       namespaces: [demo]        # absent: everywhere, cluster-scoped resources too
 *       resourceNames: [web]      # absent: all
 *     - nonResourceURLs: ["/metrics"]
 *       verbs: [get]
 *
 * A star stands for all, for all subresources of a resource, for one of all resources, or for the
 * rest of a URL, as in RBAC. What every
 * user may do (discovery, asking for one's own rights) needs no rule; "system:anonymous" is who
 * sends no credentials. Constant after loading; every thread.
 */
#ifndef CCM_KS_ACCESS_H
#define CCM_KS_ACCESS_H

#include "common/request.h"
#include "util/attr.h"
#include "util/json.h"

#include <stdbool.h>

#define CCM_KS_ANONYMOUS "system:anonymous"

struct ccm_ks_access;

/* Who a request is from. */
struct ccm_ks_user {
    char name[256];
    bool all; /* may do everything */
};

/* What a request wants. resource "" = a path that is no resource. */
struct ccm_ks_attributes {
    const char *verb; /* "get", "deletecollection" */
    const char *group;
    const char *resource;
    const char *sub;
    const char *ns; /* "" = cluster scope, or all namespaces */
    const char *name;
    const char *path;
};

/* 0, or negative after a message on standard error. */
CCM_NODISCARD int ccm_ks_access_load(const char *path, struct ccm_ks_access **ret);
void ccm_ks_access_free(struct ccm_ks_access *access);

/* The name of the user with that token (borrowed), or NULL. access may be NULL. */
const char *ccm_ks_access_user(const struct ccm_ks_access *access, const char *token);

/* access NULL: nobody but those who may do everything has rights beyond what everybody has. */
bool ccm_ks_access_allows(const struct ccm_ks_access *access, const struct ccm_ks_user *user,
                          const struct ccm_ks_attributes *wanted);

/* 403 with the server's words. */
void ccm_ks_access_refuse(struct ccm_sim_reply *reply, const struct ccm_ks_user *user,
                          const struct ccm_ks_attributes *wanted);

/* The rules of a user (a list, borrowed), or NULL. */
const cJSON *ccm_ks_access_rules(const struct ccm_ks_access *access, const char *user);

/* Whether a rule counts in this namespace. */
bool ccm_ks_access_rule_in(const cJSON *rule, const char *ns);

#endif
