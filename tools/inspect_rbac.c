/* Roles with the rights that a plugin needs. What is printed was checked with the descriptor: it
 * needs no quoting beyond quotes. */
#include "tools/inspect.h"
#include "util/text.h"

/* A rule of a role; both sources come down to it. */
struct rule {
    const char *api_version;
    const char *resource;
    const char *verbs;
    const char *namespace_; /* NULL or "" = everywhere */
    const char *name;
};

static bool rule_of_watch(const struct ccm_watch *watch, struct rule *ret)
{
    *ret = (struct rule){ .verbs = "list, watch" };
    switch (watch->kind) {
    case CCM_KIND_SERVICE:
        ret->api_version = "v1";
        ret->resource = "services";
        return true;
    case CCM_KIND_NODE:
        ret->api_version = "v1";
        ret->resource = "nodes";
        return true;
    case CCM_KIND_ENDPOINT_SLICE:
        ret->api_version = "discovery.k8s.io/v1";
        ret->resource = "endpointslices";
        return true;
    case CCM_KIND_RAW:
        ret->api_version = watch->api_version;
        ret->resource = watch->resource;
        ret->namespace_ = watch->namespace_;
        return true;
    default:
        return false;
    }
}

/* Rule number i of the plugin: its watches, then its rights. False: it has no more. */
static bool rule_at(const struct ccm_plugin *desc, size_t i, struct rule *ret)
{
    for (size_t k = 0; desc->watches[k] != NULL; k++) {
        if (i-- == 0) {
            return rule_of_watch(desc->watches[k], ret);
        }
    }
    for (size_t k = 0; desc->rights != NULL && desc->rights[k] != NULL; k++) {
        if (i-- == 0) {
            const struct ccm_right *right = desc->rights[k];

            *ret = (struct rule){ right->api_version, right->resource, right->verbs,
                                  right->namespace_, right->name };
            return true;
        }
    }
    return false;
}

static const char *rule_namespace(const struct rule *rule)
{
    return rule->namespace_ == NULL ? "" : rule->namespace_;
}

static bool rule_is_same(const struct rule *a, const struct rule *b)
{
    return ccm_text_equal(a->api_version, b->api_version) &&
           ccm_text_equal(a->resource, b->resource) && ccm_text_equal(a->verbs, b->verbs) &&
           ccm_text_equal(rule_namespace(a), rule_namespace(b)) && ccm_text_equal(a->name, b->name);
}

/* Whether one before it says the same: two watches of one resource need one rule. */
static bool rule_is_known(const struct ccm_plugin *desc, size_t i, const struct rule *rule)
{
    struct rule other;

    for (size_t k = 0; k < i; k++) {
        if (rule_at(desc, k, &other) && rule_is_same(&other, rule)) {
            return true;
        }
    }
    return false;
}

/* "get,patch" -> "get, patch" */
static void rule_print_verbs(FILE *out, const char *verbs)
{
    const char *between = "";

    for (const char *p = verbs; *p != '\0';) {
        const size_t n = strcspn(p, ", ");

        if (n > 0) {
            (void)fprintf(out, "%s%.*s", between, (int)n,
                          p); /* sticks in the stream, as all here */
            between = ", ";
        }
        p += n;
        p += strspn(p, ", ");
    }
}

static void rule_print(FILE *out, const struct rule *rule)
{
    const char *slash = strchr(rule->api_version, '/');
    const int group = slash == NULL ? 0 : (int)(slash - rule->api_version);

    (void)fprintf(out, "- apiGroups: [\"%.*s\"]\n  resources: [\"%s\"]\n", group, rule->api_version,
                  rule->resource);
    if (!ccm_text_empty(rule->name)) {
        (void)fprintf(out, "  resourceNames: [\"%s\"]\n", rule->name);
    }
    (void)fputs("  verbs: [", out);
    rule_print_verbs(out, rule->verbs);
    (void)fputs("]\n", out);
}

static void role_print_head(FILE *out, const struct ccm_plugin *desc, const char *namespace_)
{
    const bool all = namespace_[0] == '\0';

    (void)fprintf(out,
                  "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata:\n"
                  "  name: ccmd-plugin-%s\n",
                  all ? "ClusterRole" : "Role", desc->name);
    if (!all) {
        (void)fprintf(out, "  namespace: \"%s\"\n", namespace_);
    }
    (void)fputs("  labels:\n    app.kubernetes.io/name: ccmd\n"
                "    app.kubernetes.io/component: cloud-controller-manager\nrules:\n",
                out);
}

static void role_print(FILE *out, const struct ccm_plugin *desc, const char *namespace_)
{
    struct rule rule;
    bool begun = false;

    for (size_t i = 0; rule_at(desc, i, &rule); i++) {
        if (!ccm_text_equal(rule_namespace(&rule), namespace_) || rule_is_known(desc, i, &rule)) {
            continue;
        }
        if (!begun) {
            role_print_head(out, desc, namespace_);
            begun = true;
        }
        rule_print(out, &rule);
    }
}

/* Whether a rule before this one is about the same namespace: its role is printed already. */
static bool namespace_is_known(const struct ccm_plugin *desc, size_t i, const char *namespace_)
{
    struct rule other;

    for (size_t k = 0; k < i; k++) {
        if (rule_at(desc, k, &other) && ccm_text_equal(rule_namespace(&other), namespace_)) {
            return true;
        }
    }
    return false;
}

void tool_inspect_print_rbac(FILE *out, const struct plugin_loaded_plugin *plugin)
{
    const struct ccm_plugin *desc = plugin->desc;
    struct rule rule;

    role_print(out, desc, "");
    for (size_t i = 0; rule_at(desc, i, &rule); i++) {
        const char *namespace_ = rule_namespace(&rule);

        if (namespace_[0] != '\0' && !namespace_is_known(desc, i, namespace_)) {
            role_print(out, desc, namespace_);
        }
    }
}
