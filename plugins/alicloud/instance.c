/* The one client of the process: made from options, completed by the metadata service. */
#include "alicloud/ali.h"

#include "alicloud/eni_cache.h"
#include "alicloud/instance.h"
#include "alicloud/job.h"
#include "alicloud/presence_cache.h"
#include "ccm/version.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"
#include "util/thread.h"

#define GROUP         "alicloud"
#define START_MS      25000
#define POLL_MS       50
#define MAX_ID        128
#define ENI_ENTRIES   ((size_t)131072)
#define MAX_VSWITCHES ((size_t)64)
#define MAX_CA_FILE   ((size_t)4 * 1024 * 1024)

/* The plugins of a process share one client: its rate budget and its caches only work when all
 * calls pass through them. */
static pthread_mutex_t instance_lock = PTHREAD_MUTEX_INITIALIZER; /* guards instance, refs */
static struct ali_client *instance;

static void list_free(char **list)
{
    for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
        free(list[i]);
    }
    free(list);
}

static void list_freep(char ***list)
{
    list_free(*list);
}

static void ali_free(struct ali_client *ali)
{
    if (ali == NULL) {
        return;
    }
    ali_credentials_free(ali->credentials);
    ali_metadata_free(ali->metadata);
    ali_governor_free(ali->governor);
    ali_eni_cache_free(ali->eni);
    ali_jobs_free(ali->jobs);
    ali_presence_free(ali->presence);
    ali_paces_free(ali->paces);
    free(ali->config.region);
    free(ali->config.vpc_id);
    list_free(ali->config.vswitch_ids);
    free(ali->config.cluster_id);
    free(ali->config.resource_group_id);
    free(ali->config.network);
    free(ali->config.ca_file);
    free(ali->config.user_agent);
    for (size_t i = 0; i < ALI_ENDPOINT_PRODUCTS; i++) {
        free(ali->config.overrides[i]);
    }
    free(ali->region);
    free(ali->vpc_id);
    list_free(ali->vswitch_ids);
    ccm_lock_fini(&ali->lock);
    free(ali);
}

static void ali_freep(struct ali_client **ali)
{
    ali_free(*ali);
}

/* Ids go into parameters, host names, headers and log lines. */
static int check_id(const char *option, const char *text, struct ccm_error *err)
{
    const size_t len = strlen(text);
    bool ok = len <= MAX_ID;

    for (size_t i = 0; i < len; i++) {
        ok = ok && text[i] > ' ' && text[i] <= '~';
    }
    if (ok) {
        return 0;
    }
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                         "alicloud.%s: must be at most %d visible characters without blanks",
                         option, MAX_ID);
}

static int config_read_id(const struct ccm_host *host, const char *option, char **ret,
                          struct ccm_error *err)
{
    const char *text = host->option_string(host, GROUP, option);
    const char *value = text == NULL ? "" : text;
    const int r = check_id(option, value, err);

    if (r < 0) {
        return r;
    }
    *ret = strdup(value);
    return *ret == NULL ? ccm_error_nomem(err) : 0;
}

/* The part of "zone:vsw" behind the colon. */
static const char *vswitch_of(const char *text)
{
    const char *colon = strrchr(text, ':');

    return colon == NULL ? text : colon + 1;
}

static int list_add(char ***list, size_t *len, size_t *cap, const char *text)
{
    const int r = ccm_array_grow(list, cap, *len + 2, sizeof(**list));
    char *copy = r < 0 ? NULL : strdup(text);

    if (copy == NULL) {
        return -ENOMEM;
    }
    (*list)[(*len)++] = copy;
    (*list)[*len] = NULL;
    return 0;
}

static int config_read_vswitches(const struct ccm_host *host, char ***ret, struct ccm_error *err)
{
    const char *const *given = host->option_strings(host, GROUP, "vswitch_ids");
    CCM_CLEANUP(list_freep) char **list = calloc(1, sizeof(*list));
    size_t cap = 1;
    size_t len = 0;

    if (list == NULL) {
        return ccm_error_nomem(err);
    }
    for (size_t i = 0; given != NULL && given[i] != NULL; i++) {
        const char *id = vswitch_of(given[i]);

        if (id[0] == '\0' || i >= MAX_VSWITCHES) {
            return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                                 "alicloud.vswitch_ids: \"%.64s\": at most %zu entries of the form "
                                 "vsw-id or zone:vsw-id",
                                 given[i], MAX_VSWITCHES);
        }

        const int r = check_id("vswitch_ids", id, err);

        if (r < 0) {
            return r;
        }
        if (list_add(&list, &len, &cap, id) < 0) {
            return ccm_error_nomem(err);
        }
    }
    *ret = CCM_STEAL(list);
    return 0;
}

static const char *override_name(enum ali_product product)
{
    static const char *const names[ALI_ENDPOINT_PRODUCTS] = {
        [ALI_SLB] = "endpoints.slb", [ALI_NLB] = "endpoints.nlb", [ALI_VPC] = "endpoints.vpc",
        [ALI_ECS] = "endpoints.ecs", [ALI_STS] = "endpoints.sts", [ALI_EFLO] = "endpoints.eflo",
        [ALI_CAS] = "endpoints.cas",
    };

    return names[product];
}

static int config_read_ids(struct ali_config *config, const struct ccm_host *host,
                           struct ccm_error *err)
{
    const struct {
        const char *name;
        char **value;
    } wanted[] = {
        { "region", &config->region },         { "vpc_id", &config->vpc_id },
        { "cluster_id", &config->cluster_id }, { "resource_group_id", &config->resource_group_id },
        { "network", &config->network },
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(wanted); i++) {
        const int r = config_read_id(host, wanted[i].name, wanted[i].value, err);

        if (r < 0) {
            return r;
        }
    }
    for (size_t i = 0; i < ALI_ENDPOINT_PRODUCTS; i++) {
        const int r =
            config_read_id(host, override_name((enum ali_product)i), &config->overrides[i], err);

        if (r < 0) {
            return r;
        }
    }
    return config_read_vswitches(host, &config->vswitch_ids, err);
}

/* "" is what a host answers for options it does not know: the defaults apply then too. */
static int config_read_options(struct ali_config *config, const struct ccm_host *host,
                               struct ccm_error *err)
{
    const char *ca_file = host->option_string(host, GROUP, "ca_file");
    const int r = config_read_ids(config, host, err);

    if (r < 0) {
        return r;
    }
    if (config->network[0] == '\0') {
        free(config->network);
        config->network = strdup("vpc");
    }
    if (config->network == NULL) {
        return ccm_error_nomem(err);
    }
    if (strcmp(config->network, "vpc") != 0 && strcmp(config->network, "public") != 0) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "alicloud.network: \"%s\" is neither vpc nor public", config->network);
    }
    if (config->region[0] != '\0' && !ali_endpoint_valid_part(config->region)) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "alicloud.region: \"%s\" is no region (letters, digits, - and _)",
                             config->region);
    }
    config->plain_http = host->option_int(host, GROUP, "plain_http") != 0;
    config->ca_file = strdup(ca_file == NULL ? "" : ca_file);
    config->user_agent = ccm_text_format("ccmd/%s ClusterId/%s", CCM_VERSION, config->cluster_id);
    return config->ca_file == NULL || config->user_agent == NULL ? ccm_error_nomem(err) : 0;
}

/* What the configuration itself says was judged by its table; this is for the environment. */
static int refuse_plain(const char *what, const struct ali_endpoint *endpoint,
                        struct ccm_error *err)
{
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                         "%s: http://%s is called without TLS, which takes 'plain_http = true' in "
                         "alicloud",
                         what, endpoint->host);
}

/* The metadata service has no TLS; it is trusted at an address that no router passes on. */
static bool is_link_local(const struct ali_endpoint *endpoint)
{
    const char *const host = endpoint->host;
    const size_t len = strcspn(host, ":");
    const bool digits = strspn(host, "0123456789.") == len;

    return digits &&
           ((len == strlen("100.100.100.200") && ccm_text_starts(host, "100.100.100.200")) ||
            ccm_text_starts(host, "169.254."));
}

static int make_metadata(struct ali_client *ali, const struct ccm_host *host, struct ccm_error *err)
{
    const char *variable = getenv("METADATA_ENDPOINT");
    const char *option = host->option_string(host, GROUP, "endpoints.metadata");
    const char *text = ccm_text_empty(option) ? "http://100.100.100.200" : option;
    struct ali_endpoint endpoint = { .plain_http = true };
    const int r =
        ccm_text_empty(variable)
            ? ali_endpoint_parse("alicloud.endpoints.metadata", text, false, &endpoint, err)
            : ali_endpoint_parse("METADATA_ENDPOINT", variable, true, &endpoint, err);

    if (r < 0) {
        return r;
    }
    if (endpoint.plain_http && !is_link_local(&endpoint) && !ali->config.plain_http) {
        return refuse_plain(ccm_text_empty(variable) ? "alicloud.endpoints.metadata"
                                                     : "METADATA_ENDPOINT",
                            &endpoint, err);
    }

    CCM_CLEANUP(ccm_freep)
    char *base = ccm_text_format("%s://%s", endpoint.plain_http ? "http" : "https", endpoint.host);

    ali->metadata = base == NULL ? NULL : ali_metadata_new(base);
    return ali->metadata == NULL ? ccm_error_nomem(err) : 0;
}

static int make_governor(struct ali_client *ali, struct ccm_error *err)
{
    ali->governor = ali_governor_new(); /* each call takes the quotas over */
    ali->eni = ali_eni_cache_new(ENI_ENTRIES);
    ali->jobs = ali_jobs_new();
    ali->presence = ali_presence_new();
    ali->paces = ali_paces_new();
    return ali->governor == NULL || ali->eni == NULL || ali->jobs == NULL ||
                   ali->presence == NULL || ali->paces == NULL
               ? ccm_error_nomem(err)
               : 0;
}

/* Overrides are checked now, so that a typo shows before anything runs. */
static int check_endpoints(const struct ali_client *ali, struct ccm_error *err)
{
    const char *region = ali->config.region[0] == '\0' ? "later" : ali->config.region;

    for (size_t i = 0; i < ALI_ENDPOINT_PRODUCTS; i++) {
        struct ali_endpoint found;
        const int r = ali_endpoint_find((enum ali_product)i, region, ali->config.network,
                                        ali->config.overrides[i], &found, err);

        if (r < 0) {
            return r;
        }
        if (found.plain_http && !ali->config.plain_http) {
            char what[48];

            ccm_text_printf(what, sizeof(what), "alicloud.%s", override_name((enum ali_product)i));
            return refuse_plain(ccm_text_equal(getenv("ALICLOUD_CLIENT_SCHEME"), "HTTP")
                                    ? "ALICLOUD_CLIENT_SCHEME"
                                    : what,
                                &found, err);
        }
    }
    return 0;
}

static struct ali_client *ali_alloc(void)
{
    struct ali_client *ali = calloc(1, sizeof(*ali));

    if (ali != NULL && pthread_mutex_init(&ali->lock, NULL) != 0) {
        free(ali);
        return NULL;
    }
    return ali;
}

static int ali_new(const struct ccm_host *host, struct ali_client **ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_freep) struct ali_client *ali = ali_alloc();
    int r;

    if (ali == NULL) {
        return ccm_error_nomem(err);
    }
    atomic_init(&ali->started, false);
    r = config_read_options(&ali->config, host, err);
    if (r == 0) {
        r = check_endpoints(ali, err);
    }
    if (r == 0) {
        r = make_metadata(ali, host, err);
    }
    if (r == 0) {
        r = ali_make_credentials(ali, host, err);
    }
    if (r == 0) {
        r = make_governor(ali, err);
    }
    if (r < 0) {
        return r;
    }
    ali->refs = 1;
    *ret = CCM_STEAL(ali);
    return 0;
}

static int check_ca_file(const struct ali_client *ali, struct ccm_error *err)
{
    const char *path = ali->config.ca_file;
    CCM_CLEANUP(ccm_freep) char *text = NULL;
    const int r = path[0] == '\0' ? 0 : ccm_text_read_file(path, MAX_CA_FILE, &text, NULL);

    if (r < 0) {
        return ccm_error_set(err, r, CCM_ERROR_TERMINAL, "alicloud.ca_file: %s: %s", path,
                             strerror(-r));
    }
    return text == NULL || strstr(text, "-----BEGIN CERTIFICATE") != NULL
               ? 0
               : ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                               "alicloud.ca_file: %s: there is no certificate (PEM) in it", path);
}

static int check_credential_files(const struct ali_client *ali, const struct ccm_host *host,
                                  struct ccm_error *err)
{
    static const char start[] = "credentials: "; /* the option says it */
    const struct ali_ctx ctx = ali_ctx(host, NULL, START_MS);
    struct ccm_error found = CCM_ERROR_INIT;
    const char *option = "";
    const int r = ali_credentials_check(ali->credentials, &ctx, &option, &found);

    return r == 0 ? 0
                  : ccm_error_set(err, r, found.kind, "alicloud.%s: %s", option,
                                  found.message +
                                      (ccm_text_starts(found.message, start) ? strlen(start) : 0));
}

int ali_check(const struct ccm_host *host, struct ccm_error *err)
{
    struct ali_client *ali = NULL;
    int r = ali_new(host, &ali, err);

    if (r < 0) {
        return r;
    }
    r = check_ca_file(ali, err);
    if (r == 0) {
        r = check_credential_files(ali, host, err);
    }
    ali_free(ali);
    return r;
}

int ali_acquire(const struct ccm_host *host, struct ali_client **ret, struct ccm_error *err)
{
    int r = 0;

    ccm_lock(&instance_lock);
    if (instance != NULL) {
        instance->refs++;
    } else {
        r = ali_new(host, &instance, err);
    }
    if (r == 0) {
        *ret = instance;
    }
    ccm_unlock(&instance_lock);
    return r;
}

void ali_release(struct ali_client *ali)
{
    if (ali == NULL) {
        return;
    }
    ali_credentials_settle(ali->credentials); /* it may use the host of the caller */
    ccm_lock(&instance_lock);
    if (--ali->refs == 0) {
        instance = NULL;
        ali_free(ali);
    }
    ccm_unlock(&instance_lock);
}

/* The configured value, else that of the metadata service; -ENOENT counts as "". */
static int find_text(struct ali_client *ali, const struct ali_ctx *ctx, const char *configured,
                     const char *item, char **ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *text = NULL;
    int r = 0;

    if (configured[0] == '\0') {
        r = ali_metadata_get(ali->metadata, ctx, item, &text, err);
    }
    if (r == -ENOENT) {
        ccm_error_clear(err);
    } else if (r < 0) {
        return r;
    }
    if (text != NULL && !ali_endpoint_valid_part(text)) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "metadata service: %s: the answer is no id", item);
    }

    char *copy = strdup(text != NULL ? text : configured);

    if (copy == NULL) {
        return ccm_error_nomem(err);
    }
    free(*ret);
    *ret = copy;
    return 0;
}

/* A VPC that is configured may be another than the instance's, whose vSwitch would be wrong then.
 */
static int find_vswitches(struct ali_client *ali, const struct ali_ctx *ctx, struct ccm_error *err)
{
    const bool ask = ali->config.vswitch_ids[0] == NULL && ali->config.vpc_id[0] == '\0';
    CCM_CLEANUP(list_freep) char **list = NULL;
    CCM_CLEANUP(ccm_freep) char *text = NULL;
    size_t cap = 0;
    size_t len = 0;
    int r = 0;

    if (ask) {
        r = find_text(ali, ctx, "", "vswitch-id", &text, err);
    }
    if (r < 0) {
        return r;
    }
    r = ccm_array_grow(&list, &cap, 1, sizeof(*list));
    if (r < 0) {
        return ccm_error_nomem(err);
    }
    list[0] = NULL;
    for (size_t i = 0; ali->config.vswitch_ids[i] != NULL; i++) {
        if (list_add(&list, &len, &cap, ali->config.vswitch_ids[i]) < 0) {
            return ccm_error_nomem(err);
        }
    }
    if (!ccm_text_empty(text) && list_add(&list, &len, &cap, text) < 0) {
        return ccm_error_nomem(err);
    }
    list_free(ali->vswitch_ids);
    ali->vswitch_ids = CCM_STEAL(list);
    return 0;
}

static int find_endpoints(struct ali_client *ali, const struct ccm_host *host,
                          struct ccm_error *err)
{
    for (size_t i = 0; i < ALI_ENDPOINT_PRODUCTS; i++) {
        const int r = ali_endpoint_find((enum ali_product)i, ali->region, ali->config.network,
                                        ali->config.overrides[i], &ali->endpoints[i], err);

        if (r < 0) {
            return r;
        }
        if (ali->endpoints[i].plain_http) {
            host->log(host, CCM_LEVEL_WARN, NULL, "%s is called without TLS at %s",
                      ali_endpoint_product((enum ali_product)i)->name, ali->endpoints[i].host);
        }
    }
    return 0;
}

/* Everything start() is for; one thread at a time. */
static int instance_discover(struct ali_client *ali, const struct ccm_host *host,
                             struct ccm_error *err)
{
    const struct ali_ctx ctx = ali_ctx(host, NULL, START_MS);
    CCM_CLEANUP(ali_credential_unrefp) const struct ali_credential *credential = NULL;
    int r = find_text(ali, &ctx, ali->config.region, "region-id", &ali->region, err);

    if (r == 0 && ali->region[0] == '\0') {
        r = ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                          "alicloud.region is not set and the metadata service does not know it");
    }
    if (r == 0) {
        r = find_text(ali, &ctx, ali->config.vpc_id, "vpc-id", &ali->vpc_id, err);
    }
    if (r == 0) {
        r = find_vswitches(ali, &ctx, err);
    }
    if (r == 0) {
        r = find_endpoints(ali, host, err);
    }
    if (r == 0) {
        r = ali_credentials_get(ali->credentials, &ctx, &credential, err);
    }
    if (r == 0) {
        host->log(host, CCM_LEVEL_INFO, NULL, "alicloud: region %s, VPC %s, vSwitch %s",
                  ali->region, ali->vpc_id[0] == '\0' ? "unknown" : ali->vpc_id,
                  ali->vswitch_ids[0] == NULL ? "unknown" : ali->vswitch_ids[0]);
    }
    return r;
}

/* True: this caller is to do it. */
static bool instance_begin_start(struct ali_client *ali)
{
    bool mine = false;

    ccm_lock(&ali->lock);
    if (!ali->starting && !atomic_load(&ali->started)) {
        ali->starting = true;
        mine = true;
    }
    ccm_unlock(&ali->lock);
    return mine;
}

int ali_start(struct ali_client *ali, const struct ccm_host *host, struct ccm_error *err)
{
    while (!atomic_load(&ali->started)) {
        if (instance_begin_start(ali)) {
            const int r = instance_discover(ali, host, err);

            atomic_store(&ali->started, r == 0);
            ccm_lock(&ali->lock);
            ali->starting = false;
            ccm_unlock(&ali->lock);
            return r;
        }
        if (host->wait(host, NULL, POLL_MS) < 0) {
            return ccm_error_set(err, -ECANCELED, CCM_ERROR_CANCELLED,
                                 "cancelled while another plugin finds the region");
        }
    }
    return 0;
}
