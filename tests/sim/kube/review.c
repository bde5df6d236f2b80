#include "review.h"

#include "binary.h"
#include "jx.h"
#include "status.h"
#include "util/cleanup.h"
#include "util/text.h"
#include "yaml.h"

#include <errno.h>
#include <string.h>

#define GROUP "/apis/authorization.k8s.io/v1/"

static const struct ccm_ks_field meta_fields[] = { { .name = NULL } };
static const struct ccm_ks_schema meta_schema = { .type_name = "ObjectMeta",
                                                  .fields = meta_fields };

static const struct ccm_ks_field resource_fields[] = {
    { .name = "namespace", .tag = 1, .type = CCM_KS_STRING },
    { .name = "verb", .tag = 2, .type = CCM_KS_STRING },
    { .name = "group", .tag = 3, .type = CCM_KS_STRING },
    { .name = "version", .tag = 4, .type = CCM_KS_STRING },
    { .name = "resource", .tag = 5, .type = CCM_KS_STRING },
    { .name = "subresource", .tag = 6, .type = CCM_KS_STRING },
    { .name = "name", .tag = 7, .type = CCM_KS_STRING },
    { .name = NULL },
};
static const struct ccm_ks_schema resource_schema = { .type_name = "ResourceAttributes",
                                                      .fields = resource_fields };

static const struct ccm_ks_field path_fields[] = {
    { .name = "path", .tag = 1, .type = CCM_KS_STRING },
    { .name = "verb", .tag = 2, .type = CCM_KS_STRING },
    { .name = NULL },
};
static const struct ccm_ks_schema path_schema = { .type_name = "NonResourceAttributes",
                                                  .fields = path_fields };

static const struct ccm_ks_field access_spec_fields[] = {
    { .name = "resourceAttributes", .tag = 1, .type = CCM_KS_OBJECT, .sub = &resource_schema },
    { .name = "nonResourceAttributes", .tag = 2, .type = CCM_KS_OBJECT, .sub = &path_schema },
    { .name = NULL },
};
static const struct ccm_ks_schema access_spec_schema = { .type_name = "SelfSubjectAccessReviewSpec",
                                                         .fields = access_spec_fields };

static const struct ccm_ks_field rules_spec_fields[] = {
    { .name = "namespace", .tag = 1, .type = CCM_KS_STRING },
    { .name = NULL },
};
static const struct ccm_ks_schema rules_spec_schema = { .type_name = "SelfSubjectRulesReviewSpec",
                                                        .fields = rules_spec_fields };

static const struct ccm_ks_field access_fields[] = {
    { .name = "metadata", .tag = 1, .type = CCM_KS_OBJECT, .sub = &meta_schema },
    { .name = "spec", .tag = 2, .type = CCM_KS_OBJECT, .sub = &access_spec_schema },
    { .name = NULL },
};
static const struct ccm_ks_schema access_schema = { .type_name = "SelfSubjectAccessReview",
                                                    .fields = access_fields };

static const struct ccm_ks_field rules_fields[] = {
    { .name = "metadata", .tag = 1, .type = CCM_KS_OBJECT, .sub = &meta_schema },
    { .name = "spec", .tag = 2, .type = CCM_KS_OBJECT, .sub = &rules_spec_schema },
    { .name = NULL },
};
static const struct ccm_ks_schema rules_schema = { .type_name = "SelfSubjectRulesReview",
                                                   .fields = rules_fields };

static int parse(const struct ccm_sim_request *req, const struct ccm_ks_schema *schema, cJSON **ret)
{
    const char *type = ccm_sim_request_header(req, "content-type");

    return type != NULL && ccm_text_starts(type, "application/vnd.kubernetes.protobuf")
               ? ccm_ks_binary_parse(schema, req->body, req->body_len, ret)
               : ccm_ks_yaml_parse(req->body, req->body_len, ret);
}

static void answer(struct ccm_sim_reply *reply, const char *kind, cJSON *spec, cJSON *status)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *review = cJSON_CreateObject();

    ccm_ks_jx_set_str(review, "kind", kind);
    ccm_ks_jx_set_str(review, "apiVersion", "authorization.k8s.io/v1");
    ccm_ks_jx_set(review, "metadata", cJSON_CreateObject());
    ccm_ks_jx_set(review, "spec", spec);
    ccm_ks_jx_set(review, "status", status);
    reply->status = 201;
    ccm_ks_jx_print(&reply->body, review);
    ccm_buf_addc(&reply->body, '\n');
}

static void review_access(const struct ccm_ks_access *access, const struct ccm_ks_user *user,
                          const cJSON *spec, struct ccm_sim_reply *reply)
{
    const cJSON *resource = ccm_json_get(spec, "resourceAttributes");
    const cJSON *path = ccm_json_get(spec, "nonResourceAttributes");
    const struct ccm_ks_attributes wanted = {
        .verb = ccm_json_text(resource != NULL ? resource : path, "verb"),
        .group = ccm_json_text(resource, "group"),
        .resource = ccm_json_text(resource, "resource"),
        .sub = ccm_json_text(resource, "subresource"),
        .ns = ccm_json_text(resource, "namespace"),
        .name = ccm_json_text(resource, "name"),
        .path = ccm_json_text(path, "path"),
    };
    const bool allowed = ccm_ks_access_allows(access, user, &wanted);
    cJSON *status = cJSON_CreateObject();

    ccm_ks_jx_set_bool(status, "allowed", allowed);
    if (allowed) {
        ccm_ks_jx_set_str(status, "reason", user->all ? "" : "allowed by the rules file");
    }
    answer(reply, "SelfSubjectAccessReview", ccm_ks_jx_dup(spec), status);
}

static void add_rule(cJSON *to, const cJSON *rule, const char *const *names)
{
    cJSON *shown = cJSON_CreateObject();

    for (; *names != NULL; names++) {
        ccm_ks_jx_carry(shown, rule, *names);
    }
    (void)cJSON_AddItemToArray(to, shown); /* ENOMEM: see jx.h */
}

static void review_rules(const struct ccm_ks_access *access, const struct ccm_ks_user *user,
                         const cJSON *spec, struct ccm_sim_reply *reply)
{
    static const char *const of_resource[] = { "verbs", "apiGroups", "resources", "resourceNames",
                                               NULL };
    static const char *const of_url[] = { "verbs", "nonResourceURLs", NULL };
    static const char everything[] =
        "{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],\"resources\":[\"*\"]}";
    CCM_CLEANUP(ccm_json_freep) cJSON *all = NULL;
    cJSON *status = cJSON_CreateObject();
    cJSON *resources = cJSON_CreateArray();
    cJSON *urls = cJSON_CreateArray();
    const cJSON *rule;

    if (user->all && ccm_json_parse(everything, sizeof(everything) - 1, &all) == 0) {
        add_rule(resources, all, of_resource);
    }
    cJSON_ArrayForEach(rule, ccm_ks_access_rules(access, user->name))
    {
        if (ccm_json_get(rule, "nonResourceURLs") != NULL) {
            add_rule(urls, rule, of_url);
        } else if (ccm_ks_access_rule_in(rule, ccm_json_text(spec, "namespace"))) {
            add_rule(resources, rule, of_resource);
        }
    }
    ccm_ks_jx_set(status, "resourceRules", resources);
    ccm_ks_jx_set(status, "nonResourceRules", urls);
    ccm_ks_jx_set_bool(status, "incomplete", false);
    answer(reply, "SelfSubjectRulesReview", cJSON_CreateObject(), status);
}

int ccm_ks_review(const struct ccm_ks_access *access, const struct ccm_ks_user *user,
                  const struct ccm_sim_request *req, struct ccm_sim_reply *reply)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *review = NULL;
    const bool rules = strcmp(req->path, GROUP "selfsubjectrulesreviews") == 0;

    if (strcmp(req->method, "POST") != 0 ||
        (!rules && strcmp(req->path, GROUP "selfsubjectaccessreviews") != 0)) {
        return -ENOENT;
    }
    if (parse(req, rules ? &rules_schema : &access_schema, &review) < 0) {
        ccm_ks_status_bad_request(reply, "couldn't get version/kind; json parse error: unexpected "
                                         "end of JSON input");
    } else if (rules) {
        review_rules(access, user, ccm_json_get(review, "spec"), reply);
    } else {
        review_access(access, user, ccm_json_get(review, "spec"), reply);
    }
    return 0;
}
