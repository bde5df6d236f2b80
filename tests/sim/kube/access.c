#include "access.h"

#include "jx.h"
#include "status.h"
#include "util/cleanup.h"
#include "util/text.h"
#include "yaml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX 1048576

struct ccm_ks_access {
    cJSON *users; /* list, checked by check_users */
};

/* --- loading --- */

static int complain(const char *path, const char *user, const char *what)
{
    (void)fprintf(stderr, "kubesim: %s: %s%s%s\n", path, user, user[0] == '\0' ? "" : ": ", what);
    return -EINVAL;
}

static bool known(const char *name, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (strcmp(*names, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_texts(const cJSON *list)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, list)
    {
        if (!cJSON_IsString(item)) {
            return false;
        }
    }
    return cJSON_IsArray(list);
}

static int check_rule(const char *path, const char *user, const cJSON *rule)
{
    static const char *const names[] = { "apiGroups",     "resources",       "verbs", "namespaces",
                                         "resourceNames", "nonResourceURLs", NULL };
    const bool urls = ccm_json_get(rule, "nonResourceURLs") != NULL;
    const cJSON *item;

    if (!cJSON_IsObject(rule)) {
        return complain(path, user, "a rule is an object");
    }
    cJSON_ArrayForEach(item, rule)
    {
        if (!known(item->string, names)) {
            return complain(path, user, "a rule has a member that is not known");
        }
        if (!is_texts(item)) {
            return complain(path, user, "the members of a rule are lists of texts");
        }
    }
    if (ccm_json_items(rule, "verbs") == NULL ||
        (!urls &&
         (ccm_json_get(rule, "apiGroups") == NULL || ccm_json_get(rule, "resources") == NULL))) {
        return complain(path, user,
                        "a rule needs verbs, and apiGroups and resources or "
                        "nonResourceURLs");
    }
    return 0;
}

static int check_user(const char *path, const cJSON *user)
{
    static const char *const names[] = { "name", "token", "rules", NULL };
    const char *name = ccm_json_text(user, "name");
    const cJSON *rules = ccm_json_get(user, "rules");
    const cJSON *item;

    if (name[0] == '\0' || strlen(name) >= sizeof(((struct ccm_ks_user *)NULL)->name)) {
        return complain(path, "", "every user needs a name");
    }
    cJSON_ArrayForEach(item, user)
    {
        if (!known(item->string, names)) {
            return complain(path, name, "a user has name, token and rules");
        }
    }
    if (rules != NULL && !cJSON_IsArray(rules)) {
        return complain(path, name, "rules is a list");
    }
    cJSON_ArrayForEach(item, rules)
    {
        const int r = check_rule(path, name, item);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

int ccm_ks_access_load(const char *path, struct ccm_ks_access **ret)
{
    CCM_CLEANUP(ccm_freep) char *text = NULL;
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    const cJSON *user;
    size_t len = 0;
    int r = ccm_text_read_file(path, FILE_MAX, &text, &len);

    if (r < 0) {
        return complain(path, "", strerror(-r));
    }
    if (ccm_ks_yaml_parse(text, len, &json) < 0) {
        return complain(path, "", "is no YAML");
    }
    if (!cJSON_IsArray(ccm_json_get(json, "users")) || json->child->next != NULL) {
        return complain(path, "", "wants one member, the list users");
    }
    cJSON_ArrayForEach(user, ccm_json_get(json, "users"))
    {
        r = check_user(path, user);
        if (r < 0) {
            return r;
        }
    }
    *ret = calloc(1, sizeof(**ret));
    if (*ret == NULL) {
        return -ENOMEM;
    }
    (*ret)->users = cJSON_DetachItemFromObjectCaseSensitive(json, "users");
    return 0;
}

void ccm_ks_access_free(struct ccm_ks_access *access)
{
    if (access != NULL) {
        cJSON_Delete(access->users);
        free(access);
    }
}

/* --- asking --- */

static const cJSON *users_of(const struct ccm_ks_access *access)
{
    return access == NULL ? NULL : access->users;
}

const char *ccm_ks_access_user(const struct ccm_ks_access *access, const char *token)
{
    const cJSON *user;

    cJSON_ArrayForEach(user, users_of(access))
    {
        if (ccm_text_equal(ccm_json_str(user, "token"), token)) {
            return ccm_json_str(user, "name");
        }
    }
    return NULL;
}

const cJSON *ccm_ks_access_rules(const struct ccm_ks_access *access, const char *name)
{
    const cJSON *user;

    cJSON_ArrayForEach(user, users_of(access))
    {
        if (strcmp(ccm_json_text(user, "name"), name) == 0) {
            return ccm_json_get(user, "rules");
        }
    }
    return NULL;
}

static bool has(const cJSON *list, const char *text)
{
    return ccm_ks_jx_has_text(list, "*") || ccm_ks_jx_has_text(list, text);
}

static bool has_resource(const cJSON *list, const struct ccm_ks_attributes *wanted)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf whole = { .max = 1024 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf any = { .max = 1024 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf all_subs = { .max = 1024 };

    if (wanted->sub[0] == '\0') {
        return has(list, wanted->resource);
    }
    ccm_buf_addf(&whole, "%s/%s", wanted->resource, wanted->sub);
    ccm_buf_addf(&any, "*/%s", wanted->sub);
    ccm_buf_addf(&all_subs, "%s/*", wanted->resource);
    return has(list, ccm_buf_str(&whole)) || ccm_ks_jx_has_text(list, ccm_buf_str(&any)) ||
           ccm_ks_jx_has_text(list, ccm_buf_str(&all_subs));
}

static bool has_url(const cJSON *list, const char *path)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, list)
    {
        const size_t n = strlen(item->valuestring);
        const bool open = n > 0 && item->valuestring[n - 1] == '*';

        if (open ? strncmp(item->valuestring, path, n - 1) == 0
                 : strcmp(item->valuestring, path) == 0) {
            return true;
        }
    }
    return false;
}

bool ccm_ks_access_rule_in(const cJSON *rule, const char *ns)
{
    const cJSON *namespaces = ccm_json_get(rule, "namespaces");

    return namespaces == NULL || ccm_ks_jx_has_text(namespaces, ns);
}

static bool rule_allows(const cJSON *rule, const struct ccm_ks_attributes *wanted)
{
    const cJSON *names = ccm_json_get(rule, "resourceNames");

    if (!has(ccm_json_get(rule, "verbs"), wanted->verb)) {
        return false;
    }
    if (wanted->resource[0] == '\0') {
        return has_url(ccm_json_get(rule, "nonResourceURLs"), wanted->path);
    }
    return has(ccm_json_get(rule, "apiGroups"), wanted->group) &&
           has_resource(ccm_json_get(rule, "resources"), wanted) &&
           ccm_ks_access_rule_in(rule, wanted->ns) &&
           (names == NULL || ccm_ks_jx_has_text(names, wanted->name));
}

/* What RBAC gives to everybody who has shown who he is; the first four to everybody at all. */
static bool everybody_may(const struct ccm_ks_user *user, const struct ccm_ks_attributes *wanted)
{
    static const char *const paths[] = { "/healthz", "/livez",  "/readyz",     "/version",
                                         "/api",     "/apis",   "/openapi/v2", "/openapi/v3",
                                         "/api/*",   "/apis/*", "/openapi/*",  NULL };
    const size_t known_to_all = 4;
    const bool anonymous = strcmp(user->name, CCM_KS_ANONYMOUS) == 0;

    if (strcmp(wanted->group, "authorization.k8s.io") == 0) {
        return !anonymous;
    }
    if (wanted->resource[0] != '\0' || strcmp(wanted->verb, "get") != 0) {
        return false;
    }
    for (size_t i = 0; paths[i] != NULL && (!anonymous || i < known_to_all); i++) {
        const size_t n = strlen(paths[i]);

        if (paths[i][n - 1] == '*' ? strncmp(paths[i], wanted->path, n - 1) == 0
                                   : strcmp(paths[i], wanted->path) == 0) {
            return true;
        }
    }
    return false;
}

bool ccm_ks_access_allows(const struct ccm_ks_access *access, const struct ccm_ks_user *user,
                          const struct ccm_ks_attributes *wanted)
{
    const cJSON *rule;

    if (user->all || everybody_may(user, wanted)) {
        return true;
    }
    cJSON_ArrayForEach(rule, ccm_ks_access_rules(access, user->name))
    {
        if (rule_allows(rule, wanted)) {
            return true;
        }
    }
    return false;
}

void ccm_ks_access_refuse(struct ccm_sim_reply *reply, const struct ccm_ks_user *user,
                          const struct ccm_ks_attributes *wanted)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf what = { .max = 4096 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf where = { .max = 4096 };
    const bool named = wanted->name[0] != '\0' && strcmp(wanted->verb, "create") != 0;

    if (ccm_sim_params_add(&reply->headers, "X-Content-Type-Options", "nosniff") < 0) {
        reply->drop = true; /* no memory even for a header */
        return;
    }
    if (wanted->resource[0] == '\0') {
        ccm_ks_status(reply, 403, "Forbidden", cJSON_CreateObject(),
                      "forbidden: User \"%s\" cannot %s path \"%s\"", user->name, wanted->verb,
                      wanted->path);
        return;
    }
    ccm_buf_addf(&what, "%s%s%s", wanted->resource, wanted->group[0] == '\0' ? "" : ".",
                 wanted->group);
    if (named) {
        ccm_buf_addf(&what, " \"%s\"", wanted->name);
    }
    if (wanted->ns[0] == '\0') {
        ccm_buf_adds(&where, "at the cluster scope");
    } else {
        ccm_buf_addf(&where, "in the namespace \"%s\"", wanted->ns);
    }
    ccm_ks_status(
        reply, 403, "Forbidden",
        ccm_ks_status_details(named ? wanted->name : NULL, wanted->group, wanted->resource),
        "%s is forbidden: User \"%s\" cannot %s resource \"%s%s%s\" in API group \"%s\" %s",
        ccm_buf_str(&what), user->name, wanted->verb, wanted->resource,
        wanted->sub[0] == '\0' ? "" : "/", wanted->sub, wanted->group, ccm_buf_str(&where));
}
