/* Writes the configuration, with a remark on whatever has no counterpart. */
#include "tools/convert/convert.h"

#include "util/base64.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n"

struct writer {
    const struct convert_input *in;
    struct ccm_buf *out;
    struct ccm_buf *notes;
};

/* What is to be said about a key that is not carried over, or not just so. */
struct remark {
    const char *key;
    const char *text;
};

static const struct remark remarks[] = {
    { "--cloud-config", "the file is read by this command, and not any more after that" },
    { "--cloud-provider", "the plugins are what serves a cloud" },
    { "--cluster-name", "alicloud.cluster_id is what marks resources, there as here" },
    { "--allocate-node-cidrs", "pod CIDRs come from kube-controller-manager" },
    { "--leader-elect-renew-deadline", "it is two thirds of leader_election.lease_duration_s" },
    { "--leader-elect-retry-period", "it is two fifteenths of leader_election.lease_duration_s" },
    { "--use-service-account-credentials", "one identity serves all plugins" },
    { "--allow-untagged-cloud", "alicloud.cluster_id is required" },
    { "--leader-elect-resource-lock", "the lock is a Lease" },
    { "--concurrent-service-syncs", "workers are an option of each plugin, 16 by default" },
    { "servicemaxconcurrentreconciles", "workers are an option of each plugin, 16 by default" },
    { "--sg-batch-size", "up to 40 backends are changed per call, up to 200 of an NLB" },
    { "--node-reconcile-batch-size", "up to 100 nodes are read per call" },
    { "--route-reconcile-batch-size", "up to 50 routes are changed per call" },
    { "--max-concurrent-actions", "workers of each plugin and the quotas limit what runs at once" },
    { "--max-throttling-retry-times", "throttled calls are retried until the call's deadline" },
    { "--kube-api-qps", "there is no limit on this side; the API server's own fairness counts" },
    { "--kube-api-burst", "there is no limit on this side; the API server's own fairness counts" },
    { "--node-event-aggregation-wait-seconds",
      "node events are gathered for a short time by themselves" },
    { "--pprof-bind-addr", "there is no profiling server" },
    { "--dry-run", "use `ccmd plan`" },
    { "--enable-imdsv2", "session tokens are used, plain reads where the service refuses them" },
    { "nodemaxconcurrentreconciles",
      "nodes go by one batch at a time, with several writes at once" },
    { "nodemonitorperiod", "it had no effect there either; option period_s of plugin node" },
    { "nodeaddrsyncperiod", "it had no effect there either; option period_s of plugin node" },
    { "routemaxconcurrentreconciles", "routes are changed by one batch at a time per VPC" },
    { "zoneid", "zones follow from vSwitches and annotations" },
    { "privatezoneid", "private DNS zones are not part of ccmd" },
    { "privatezonerecordttl", "private DNS zones are not part of ccmd" },
    { "uid", "the reference took on a role of that account through a helper program: set "
             "alicloud.credentials.role_arn" },
};

static const char *writer_get_value(const struct writer *w, const char *key)
{
    const char *value = ccm_strmap_get(w->in->values, key);

    return value == NULL ? "" : value;
}

static void writer_add_remark(const struct writer *w, const char *key, const char *text)
{
    ccm_buf_addf(w->notes, "%s: %s\n", key, text);
}

/* A text as libconfig reads it. */
static void writer_add_quoted(struct ccm_buf *out, const char *text, size_t len)
{
    ccm_buf_addc(out, '"');
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"' || text[i] == '\\') {
            ccm_buf_addc(out, '\\');
        }
        ccm_buf_addc(out, text[i]);
    }
    ccm_buf_addc(out, '"');
}

static void add_text(const struct writer *w, const char *indent, const char *name,
                     const char *value)
{
    if (value[0] != '\0') {
        ccm_buf_addf(w->out, "%s%s = ", indent, name);
        writer_add_quoted(w->out, value, strlen(value));
        ccm_buf_adds(w->out, ";\n");
    }
}

/* Without the blanks around it, which the reference takes off this value alone. */
static void add_trimmed(const struct writer *w, const char *indent, const char *name,
                        const char *value)
{
    const char *start = value + strspn(value, BLANKS);
    size_t len = strlen(start);

    while (len > 0 && strchr(BLANKS, start[len - 1]) != NULL) {
        len--;
    }
    if (len > 0) {
        ccm_buf_addf(w->out, "%s%s = ", indent, name);
        writer_add_quoted(w->out, start, len);
        ccm_buf_adds(w->out, ";\n");
    }
}

/* A comma list as a list of texts, empty items left out. */
static void add_list(const struct writer *w, const char *indent, const char *name,
                     const char *value)
{
    const char *cursor = value;
    const char *start = NULL;
    const char *between = " ";
    size_t len = 0;

    if (value[0] == '\0') {
        return;
    }
    ccm_buf_addf(w->out, "%s%s = [", indent, name);
    while (ccm_parse_piece(&cursor, ',', &start, &len)) {
        if (len > 0) {
            ccm_buf_adds(w->out, between);
            writer_add_quoted(w->out, start, len);
            between = ", ";
        }
    }
    ccm_buf_adds(w->out, " ];\n");
}

/* "5m", "1h30m", "90s" -> seconds; false: no duration. */
static bool convert_parse_duration(const char *text, int64_t *ret_s)
{
    int64_t total = 0;

    while (text[0] != '\0') {
        const size_t digits = strspn(text, "0123456789");
        char number[12];
        int64_t value = 0;

        if (digits == 0 || digits >= sizeof(number)) {
            return false;
        }
        memcpy(number, text, digits);
        number[digits] = '\0';
        if (ccm_parse_i64(number, 0, 86400, &value) < 0) {
            return false;
        }
        text += digits;
        total += value * (text[0] == 'h' ? 3600 : text[0] == 'm' ? 60 : text[0] == 's' ? 1 : 0);
        if (text[0] != 'h' && text[0] != 'm' && text[0] != 's') {
            return false;
        }
        text++;
    }
    *ret_s = total;
    return true;
}

static void add_duration(const struct writer *w, const char *indent, const char *name,
                         const char *key, int64_t factor)
{
    const char *value = writer_get_value(w, key);
    int64_t seconds = 0;

    if (value[0] == '\0') {
        return;
    }
    if (convert_parse_duration(value, &seconds)) {
        ccm_buf_addf(w->out, "%s%s = %" PRId64 ";\n", indent, name, seconds * factor);
    } else {
        writer_add_remark(w, key, "is no duration in hours, minutes and seconds, and left out");
    }
}

static void write_election(const struct writer *w)
{
    ccm_buf_adds(w->out, "leader_election: {\n");
    if (strcmp(writer_get_value(w, "--leader-elect"), "false") == 0) {
        ccm_buf_adds(w->out, "    enabled = false;\n");
    }
    add_text(w, "    ", "namespace", writer_get_value(w, "--leader-elect-resource-namespace"));
    add_text(w, "    ", "name", writer_get_value(w, "--leader-elect-resource-name"));
    add_duration(w, "    ", "lease_duration_s", "--leader-elect-lease-duration", 1);
    ccm_buf_adds(w->out, "};\n");
}

/* One listener serves health and metrics here. */
static void write_admin(const struct writer *w)
{
    const char *health = writer_get_value(w, "--health-probe-bind-addr");
    const char *metrics = writer_get_value(w, "--metrics-bind-addr");

    if (metrics[0] != '\0' && strcmp(metrics, "0") != 0 && strcmp(metrics, health) != 0) {
        writer_add_remark(w, "--metrics-bind-addr",
                          "metrics are served by admin.listen, beside /livez and "
                          "/readyz");
    }
    if (health[0] != '\0' && strcmp(health, "0") != 0) {
        writer_add_remark(w, "--health-probe-bind-addr",
                          "admin.listen stays on loopback; to serve others set "
                          "it with TLS and a token");
    }
}

static void write_general(const struct writer *w)
{
    const char *kubeconfig = writer_get_value(w, "--kubeconfig");
    const char *level = writer_get_value(w, "--v");
    int64_t number = 0;

    ccm_buf_adds(w->out, "kubernetes: {\n");
    add_text(w, "    ", "kubeconfig", kubeconfig);
    ccm_buf_adds(w->out, "};\n");
    write_election(w);
    write_admin(w);
    if (ccm_parse_i64(level, 0, 100, &number) == 0 && number >= 5) {
        ccm_buf_adds(w->out, "log: { level = \"debug\"; };\n");
    } else if (level[0] != '\0') {
        writer_add_remark(w, "--v", "below 5 is level info here, the default");
    }
}

static void write_credentials_group(const struct writer *w, const char *file)
{
    if (writer_get_value(w, "accesskeyid")[0] == '\0') {
        return;
    }
    ccm_buf_adds(w->out, "    credentials: {\n");
    add_text(w, "        ", "file", file[0] == '\0' ? "/etc/ccmd/credentials.json" : file);
    ccm_buf_adds(w->out, "    };\n");
    if (file[0] == '\0') {
        writer_add_remark(
            w, "accessKeyID, accessKeySecret",
            "a key pair is not copied to standard output: run again with --credentials=FILE, "
            "which writes it there");
    }
}

static bool has_item(const char *list, const char *name)
{
    const char *cursor = list;
    const char *start = NULL;
    size_t len = 0;

    while (ccm_parse_piece(&cursor, ',', &start, &len)) {
        if (len == strlen(name) && memcmp(start, name, len) == 0) {
            return true;
        }
    }
    return false;
}

static bool writer_has_feature_gate(const struct writer *w, const char *name)
{
    CCM_CLEANUP(ccm_freep) char *on = ccm_text_format("%s=true", name);

    return on != NULL && has_item(writer_get_value(w, "featuregates"), on);
}

static void write_cloud(const struct writer *w, const char *credentials_file)
{
    const char *id = writer_get_value(w, "clusterid");

    if (id[0] == '\0') {
        id = "clusterid";
        writer_add_remark(
            w, "clusterID",
            "is not set, so the reference marked everything with \"clusterid\"; that is kept, "
            "but no second cluster of the account may do the same");
    }
    if (writer_get_value(w, "kubernetesclustertag")[0] != '\0' &&
        strcmp(writer_get_value(w, "kubernetesclustertag"), "ack.aliyun.com") != 0) {
        writer_add_remark(w, "kubernetesClusterTag", "the tag is always ack.aliyun.com");
    }
    ccm_buf_adds(w->out, "alicloud: {\n");
    add_text(w, "    ", "cluster_id", id);
    add_text(w, "    ", "region", writer_get_value(w, "region"));
    add_text(w, "    ", "vpc_id", writer_get_value(w, "vpcid"));
    add_list(w, "    ", "vswitch_ids", writer_get_value(w, "vswitchid"));
    add_trimmed(w, "    ", "resource_group_id", writer_get_value(w, "resourcegroupid"));
    add_text(w, "    ", "network", writer_get_value(w, "--network"));
    if (writer_has_feature_gate(w, "LoadBalancerTypeAnnotation")) {
        ccm_buf_adds(w->out, "    type_annotation = true;\n");
    }
    write_credentials_group(w, credentials_file);
    ccm_buf_adds(w->out, "};\n");
    if (writer_get_value(w, "region")[0] != '\0' &&
        (writer_get_value(w, "vpcid")[0] == '\0' || writer_get_value(w, "vswitchid")[0] == '\0')) {
        writer_add_remark(w, "region",
                          "the reference ignored it without vpcid and vswitchid; here it counts");
    }
}

static void add_flag(const struct writer *w, const char *name, bool on)
{
    if (on) {
        ccm_buf_addf(w->out, " %s = true;", name);
    }
}

/* Before the next entry of the list. */
static void begin_entry(const struct writer *w)
{
    ccm_buf_adds(w->out, ccm_text_ends(ccm_buf_str(w->out), "(") ? "\n    " : ",\n    ");
}

static void write_balancers(const struct writer *w, const char *controllers)
{
    const bool eni = strcmp(writer_get_value(w, "servicebackendtype"), "eni") == 0;
    const bool private_only = strcmp(writer_get_value(w, "disablepublicslb"), "true") == 0;
    static const char *const names[][2] = { { "service", "clb" }, { "nlb", "nlb" } };

    for (size_t i = 0; i < CCM_ARRAY_LEN(names); i++) {
        const bool clb = i == 0;

        if (!has_item(controllers, names[i][0])) {
            continue;
        }
        begin_entry(w);
        /* Services of the reference may use any load balancer that a person made. */
        ccm_buf_addf(w->out, "{ name = \"%s\"; reuse = \"on\";", names[i][1]);
        if (eni) {
            ccm_buf_adds(w->out, " default_backend_type = \"eni\";");
        }
        add_flag(w, "disable_public_slb", clb && private_only);
        ccm_buf_adds(w->out, " }");
    }
}

static void write_route(const struct writer *w)
{
    begin_entry(w);
    ccm_buf_adds(w->out, "{ name = \"route\";\n");
    add_text(w, "      ", "cluster_cidr", writer_get_value(w, "--cluster-cidr"));
    add_list(w, "      ", "table_ids", writer_get_value(w, "routetableids"));
    add_duration(w, "      ", "period_s", "--route-reconciliation-period", 1);
    ccm_buf_adds(w->out, "    }");
    if (writer_get_value(w, "--cluster-cidr")[0] == '\0') {
        writer_add_remark(w, "--cluster-cidr", "is required by plugin route: set cluster_cidr");
    }
}

/* routes: nodes wait for theirs. */
static void write_node(const struct writer *w, bool routes)
{
    begin_entry(w);
    ccm_buf_adds(w->out, "{ name = \"node\";\n");
    add_duration(w, "      ", "period_s", "--node-monitor-period", 1);
    if (routes) {
        ccm_buf_adds(w->out, "      network_condition = true;\n");
    }
    if (strcmp(writer_get_value(w, "--skip-disable-source-dest-check"), "true") == 0) {
        ccm_buf_adds(w->out, "      disable_source_dest_check = false;\n");
    }
    if (writer_has_feature_gate(w, "IPv6DualStack")) {
        ccm_buf_adds(w->out, "      ipv6 = true;\n");
    }
    ccm_buf_adds(w->out, "    }");
}

static void write_plugins(const struct writer *w)
{
    static const char *const others[][2] = {
        { "ingress", "ingress is not part of ccmd: see docs/migration.md" },
        { "pvtz", "pvtz is not part of ccmd: see docs/migration.md" },
    };
    const char *told = writer_get_value(w, "--controllers");
    const char *controllers = told[0] == '\0' ? "node,route,service,nlb" : told;
    const bool routes = has_item(controllers, "route") &&
                        strcmp(writer_get_value(w, "--configure-cloud-routes"), "false") != 0;

    ccm_buf_adds(w->out, "plugins = (");
    write_balancers(w, controllers);
    if (routes) {
        write_route(w);
    }
    if (has_item(controllers, "node")) {
        write_node(w, routes);
    }
    ccm_buf_adds(w->out, "\n);\n");
    for (size_t i = 0; i < CCM_ARRAY_LEN(others); i++) {
        if (has_item(controllers, others[i][0])) {
            writer_add_remark(w, "--controllers", others[i][1]);
        }
    }
}

/* Keys that write_*() look at. */
static bool is_used(const char *key)
{
    static const char *const used[] = {
        "--kubeconfig",
        "--leader-elect",
        "--leader-elect-resource-namespace",
        "--leader-elect-resource-name",
        "--leader-elect-lease-duration",
        "--health-probe-bind-addr",
        "--metrics-bind-addr",
        "--v",
        "--network",
        "--controllers",
        "--configure-cloud-routes",
        "--node-monitor-period",
        "--skip-disable-source-dest-check",
        "--cluster-cidr",
        "--route-reconciliation-period",
        "accesskeyid",
        "accesskeysecret",
        "clusterid",
        "kubernetesclustertag",
        "region",
        "vpcid",
        "vswitchid",
        "resourcegroupid",
        "servicebackendtype",
        "disablepublicslb",
        "routetableids",
        "featuregates",
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(used); i++) {
        if (strcmp(key, used[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void remark_on(const struct writer *w, const char *key)
{
    for (size_t i = 0; i < CCM_ARRAY_LEN(remarks); i++) {
        if (strcmp(key, remarks[i].key) == 0) {
            writer_add_remark(w, key, remarks[i].text);
            return;
        }
    }
    writer_add_remark(w, key, "is not known, and left out");
}

int convert_write(const struct convert_input *input, const char *credentials_file,
                  struct ccm_buf *config, struct ccm_buf *notes)
{
    const struct writer w = { input, config, notes };
    const char *key = NULL;
    void *cursor = NULL;

    write_general(&w);
    write_cloud(&w, credentials_file);
    write_plugins(&w);
    while (ccm_strmap_next(input->values, &cursor, &key, NULL)) {
        if (!is_used(key)) {
            remark_on(&w, key);
        }
    }
    return ccm_buf_error(config) < 0 || ccm_buf_error(notes) < 0 ? -ENOMEM : 0;
}

int convert_credentials(const struct convert_input *input, struct ccm_buf *json)
{
    const struct writer w = { input, NULL, NULL };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf id = { .max = 4096 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf secret = { .max = 4096 };
    int r = writer_get_value(&w, "accesskeyid")[0] == '\0' ? -ENOENT : 0;

    if (r == 0) {
        r = ccm_base64_decode(&id, writer_get_value(&w, "accesskeyid"));
    }
    if (r == 0) {
        r = ccm_base64_decode(&secret, writer_get_value(&w, "accesskeysecret"));
    }
    if (r == 0 && (id.len == 0 || secret.len == 0)) {
        r = -EBADMSG;
    }
    if (r == 0) {
        ccm_buf_adds(json, "{\n  \"access_key_id\": ");
        ccm_json_quote(json, ccm_buf_str(&id));
        ccm_buf_adds(json, ",\n  \"access_key_secret\": ");
        ccm_json_quote(json, ccm_buf_str(&secret));
        ccm_buf_adds(json, "\n}\n");
        r = ccm_buf_error(json);
    }
    if (secret.data != NULL) {
        explicit_bzero(secret.data, secret.len);
    }
    return r;
}
