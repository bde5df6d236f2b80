#include "cloud.h"

#include "busy.h"
#include "families.h"
#include "job.h"
#include "listener.h"
#include "nlb.h"
#include "plain.h"
#include "quota.h"
#include "store.h"
#include "token.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

/* Most load balancers and so on that the real services allow an account. */
static const struct ccm_cloud_limits default_limits = {
    .load_balancers = 60,
    .listeners = 50,
    .backends = 200,
    .backends_per_call = 40,
    .vserver_groups = 500,
    .acls = 200,
    .acl_entries = 300,
    .domain_extensions = 3,
    .routes = 200,
    .routes_per_call = 50,
    .route_tables = 9,
    .eips = 20,
    .nlb_load_balancers = 60,
    .nlb_listeners = 50,
    .nlb_servers = 400,
    .nlb_server_groups = 3000,
    .nlb_server_uses = 200,
    .security_groups = 100,
    .security_rules = 200,
    .description = 256,
    .slb_add_updates = 1,
    .token_life_s = 24 * 3600,
    .nlb_job_ids = 20,
    .nlb_job_keep_s = 3600,
    .nlb_drain_percent = 100,
    .route_page = 100,
};

const char *const ccm_cloud_product_names[CCM_CLOUD_PRODUCTS] = {
    [CCM_CLOUD_SLB] = "slb",   [CCM_CLOUD_ECS] = "ecs", [CCM_CLOUD_VPC] = "vpc",
    [CCM_CLOUD_STS] = "sts",   [CCM_CLOUD_CAS] = "cas", [CCM_CLOUD_NLB] = "nlb",
    [CCM_CLOUD_EFLO] = "eflo",
};

static int actions_add(struct ccm_cloud *cloud, enum ccm_cloud_product product,
                       const struct ccm_cloud_action *rows)
{
    int r = 0;

    for (const struct ccm_cloud_action *row = rows; row->name != NULL && r == 0; row++) {
        union {
            const struct ccm_cloud_action *from;
            void *to;
        } value = { .from = row };

        r = ccm_strmap_set(cloud->actions[product], row->name, value.to);
    }
    return r;
}

static int actions_init(struct ccm_cloud *cloud)
{
    static const struct {
        enum ccm_cloud_product product;
        const struct ccm_cloud_action *rows;
    } families[] = {
        { CCM_CLOUD_SLB, ccm_cloud_lb_actions },
        { CCM_CLOUD_SLB, ccm_cloud_lb_read_actions },
        { CCM_CLOUD_SLB, ccm_cloud_lb_spec_actions },
        { CCM_CLOUD_SLB, ccm_cloud_listener_actions },
        { CCM_CLOUD_SLB, ccm_cloud_listener_read_actions },
        { CCM_CLOUD_SLB, ccm_cloud_listener_state_actions },
        { CCM_CLOUD_SLB, ccm_cloud_vgroup_actions },
        { CCM_CLOUD_SLB, ccm_cloud_backend_actions },
        { CCM_CLOUD_SLB, ccm_cloud_health_actions },
        { CCM_CLOUD_SLB, ccm_cloud_tag_actions },
        { CCM_CLOUD_ECS, ccm_cloud_instance_actions },
        { CCM_CLOUD_ECS, ccm_cloud_eni_actions },
        { CCM_CLOUD_SLB, ccm_cloud_listener_attr_actions },
        { CCM_CLOUD_SLB, ccm_cloud_http_actions },
        { CCM_CLOUD_SLB, ccm_cloud_acl_actions },
        { CCM_CLOUD_SLB, ccm_cloud_acl_entry_actions },
        { CCM_CLOUD_SLB, ccm_cloud_cert_actions },
        { CCM_CLOUD_SLB, ccm_cloud_slb_region_actions },
        { CCM_CLOUD_ECS, ccm_cloud_ecs_change_actions },
        { CCM_CLOUD_ECS, ccm_cloud_security_actions },
        { CCM_CLOUD_ECS, ccm_cloud_security_rule_actions },
        { CCM_CLOUD_ECS, ccm_cloud_security_rule_read_actions },
        { CCM_CLOUD_ECS, ccm_cloud_ecs_region_actions },
        { CCM_CLOUD_ECS, ccm_cloud_ecs_tag_actions },
        { CCM_CLOUD_VPC, ccm_cloud_vpc_actions },
        { CCM_CLOUD_VPC, ccm_cloud_vpc_region_actions },
        { CCM_CLOUD_VPC, ccm_cloud_vpc_tag_actions },
        { CCM_CLOUD_VPC, ccm_cloud_route_actions },
        { CCM_CLOUD_VPC, ccm_cloud_route_table_actions },
        { CCM_CLOUD_VPC, ccm_cloud_route_read_actions },
        { CCM_CLOUD_VPC, ccm_cloud_eip_actions },
        { CCM_CLOUD_STS, ccm_cloud_sts_actions },
        { CCM_CLOUD_CAS, ccm_cloud_cas_actions },
        { CCM_CLOUD_EFLO, ccm_cloud_eflo_actions },
        { CCM_CLOUD_NLB, ccm_cloud_nlb_lb_actions },
        { CCM_CLOUD_NLB, ccm_cloud_nlb_zone_actions },
        { CCM_CLOUD_NLB, ccm_cloud_nlb_join_actions },
        { CCM_CLOUD_NLB, ccm_cloud_nlb_lb_read_actions },
        { CCM_CLOUD_NLB, ccm_cloud_nlb_group_actions },
        { CCM_CLOUD_NLB, ccm_cloud_nlb_server_actions },
        { CCM_CLOUD_NLB, ccm_cloud_nlb_group_read_actions },
        { CCM_CLOUD_NLB, ccm_cloud_nlb_listener_actions },
        { CCM_CLOUD_NLB, ccm_cloud_nlb_listener_read_actions },
        { CCM_CLOUD_NLB, ccm_cloud_nlb_cert_actions },
        { CCM_CLOUD_NLB, ccm_cloud_nlb_tag_actions },
        { CCM_CLOUD_NLB, ccm_cloud_nlb_job_actions },
    };

    for (size_t i = 0; i < CCM_CLOUD_PRODUCTS; i++) {
        cloud->actions[i] = ccm_strmap_new(NULL);
        if (cloud->actions[i] == NULL) {
            return -ENOMEM;
        }
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(families); i++) {
        int r = actions_add(cloud, families[i].product, families[i].rows);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

static bool plain_init(struct ccm_cloud *cloud)
{
    cloud->route_ids = ccm_strmap_new(free);
    if (cloud->route_ids == NULL) {
        return false;
    }
    for (size_t i = 0; i < CCM_CLOUD_KINDS; i++) {
        cloud->plain[i] = ccm_strmap_new(ccm_cloud_plain_free);
        if (cloud->plain[i] == NULL) {
            return false;
        }
    }
    return true;
}

struct ccm_cloud *ccm_cloud_new(void)
{
    CCM_CLEANUP(ccm_cloud_freep) struct ccm_cloud *cloud = calloc(1, sizeof(*cloud));

    if (cloud == NULL) {
        return NULL;
    }
    (void)pthread_mutex_init(&cloud->lock, NULL); /* cannot fail with default attributes */
    cloud->limits = default_limits;
    cloud->accounts = ccm_cloud_accounts_new();
    cloud->lbs = ccm_strmap_new(ccm_cloud_lb_free);
    cloud->vgroups = ccm_strmap_new(NULL);
    cloud->vpcs = ccm_strmap_new(ccm_cloud_vpc_free);
    cloud->vswitches = ccm_strmap_new(ccm_cloud_vswitch_free);
    cloud->instances = ccm_strmap_new(ccm_cloud_instance_free);
    cloud->enis = ccm_strmap_new(ccm_cloud_eni_free);
    cloud->eni_by_ip = ccm_strmap_new(NULL);
    cloud->addresses = ccm_strmap_new(NULL);
    cloud->tokens = ccm_strmap_new(ccm_cloud_token_free);
    cloud->nlb = ccm_nlb_new();
    cloud->jobs = ccm_cloud_jobs_new();
    cloud->moves = ccm_cloud_moves_new();
    cloud->metadata.tokens = ccm_strmap_new(free);
    if (cloud->accounts == NULL || cloud->lbs == NULL || cloud->vgroups == NULL ||
        cloud->vpcs == NULL || cloud->vswitches == NULL || cloud->instances == NULL ||
        cloud->enis == NULL || cloud->eni_by_ip == NULL || !plain_init(cloud) ||
        cloud->addresses == NULL || cloud->tokens == NULL || cloud->nlb == NULL ||
        cloud->jobs == NULL || cloud->moves == NULL || cloud->metadata.tokens == NULL ||
        actions_init(cloud) < 0) {
        return NULL;
    }
    return CCM_STEAL(cloud);
}

void ccm_cloud_free(struct ccm_cloud *cloud)
{
    if (cloud == NULL) {
        return;
    }
    ccm_cloud_jobs_free(cloud->jobs);
    ccm_cloud_moves_free(cloud->moves);
    ccm_nlb_free(cloud->nlb);
    ccm_strmap_free(cloud->lbs);
    ccm_strmap_free(cloud->vgroups);
    ccm_strmap_free(cloud->vpcs);
    ccm_strmap_free(cloud->vswitches);
    ccm_strmap_free(cloud->instances);
    ccm_strmap_free(cloud->enis);
    ccm_cloud_quota_free(cloud->quota);
    ccm_strmap_free(cloud->eni_by_ip);
    ccm_strmap_free(cloud->route_ids);
    for (size_t i = 0; i < CCM_CLOUD_KINDS; i++) {
        ccm_strmap_free(cloud->plain[i]);
    }
    ccm_strmap_free(cloud->addresses);
    ccm_strmap_free(cloud->tokens);
    ccm_strmap_free(cloud->metadata.tokens);
    for (size_t i = 0; i < CCM_CLOUD_PRODUCTS; i++) {
        ccm_strmap_free(cloud->actions[i]);
    }
    ccm_cloud_accounts_free(cloud->accounts);
    (void)pthread_mutex_destroy(&cloud->lock); /* nobody holds it any more */
    free(cloud);
}

void ccm_cloud_freep(struct ccm_cloud **cloud)
{
    ccm_cloud_free(*cloud);
}

void ccm_cloud_lock(struct ccm_cloud *cloud)
{
    (void)pthread_mutex_lock(&cloud->lock); /* a default mutex that we do not hold cannot fail */
}

void ccm_cloud_unlock(struct ccm_cloud *cloud)
{
    (void)pthread_mutex_unlock(&cloud->lock); /* held by us */
}

const struct ccm_cloud_action *ccm_cloud_find_action(const struct ccm_cloud *cloud,
                                                     enum ccm_cloud_product product,
                                                     const char *name)
{
    return ccm_strmap_get(cloud->actions[product], name);
}

int ccm_cloud_fail(struct ccm_cloud_call *call, unsigned http, const char *code, const char *format,
                   ...)
{
    va_list args;

    call->http = http;
    ccm_text_copy(call->code, sizeof(call->code), code);
    ccm_buf_reset(&call->message);
    va_start(args, format);
    ccm_buf_vaddf(&call->message, format, args);
    va_end(args);
    return -EPROTO;
}

int ccm_cloud_fail_with(struct ccm_cloud_call *call, const char *code, const char *format,
                        const char *name)
{
    const char *mark = strstr(format, "%s");
    int head = mark == NULL ? (int)strlen(format) : (int)(mark - format);

    return ccm_cloud_fail(call, 400, code, "%.*s%s%s", head, format, mark == NULL ? "" : name,
                          mark == NULL ? "" : mark + 2);
}

void ccm_cloud_call_fini(struct ccm_cloud_call *call)
{
    ccm_buf_fini(&call->message);
}

void ccm_cloud_advance(struct ccm_cloud *cloud)
{
    ccm_cloud_jobs_advance(cloud);
    ccm_cloud_listeners_advance(cloud);
    ccm_nlb_drains_advance(cloud);
}

int ccm_cloud_run(struct ccm_cloud_call *call)
{
    int r = 0;

    ccm_cloud_advance(call->cloud);
    r = ccm_cloud_spec_check(call);

    r = r < 0 ? r : ccm_cloud_busy_check(call);
    if (r == 0) {
        r = call->action->token && ccm_cloud_has(call, "ClientToken") ? ccm_cloud_token_run(call)
                                                                      : call->action->run(call);
    }
    if (r == 0) {
        ccm_cloud_busy_mark(call);
    }
    if (r < 0 && r != -EPROTO) {
        r = ccm_cloud_fail(call, 500, "InternalError",
                           "The request processing has failed due to some unknown error, "
                           "exception or failure.");
    }
    return r;
}

const char *ccm_cloud_text(const struct ccm_cloud_call *call, const char *name,
                           const char *fallback)
{
    const char *value = ccm_sim_params_get(call->params, name);

    return ccm_text_empty(value) ? fallback : value;
}

int64_t ccm_cloud_int(const struct ccm_cloud_call *call, const char *name, int64_t fallback)
{
    int64_t number = fallback;
    const char *value = ccm_sim_params_get(call->params, name);

    /* Validation has refused what is no number; without a value the fallback stays. */
    if (!ccm_text_empty(value) && ccm_parse_i64(value, INT64_MIN, INT64_MAX, &number) < 0) {
        return fallback;
    }
    return number;
}

bool ccm_cloud_has(const struct ccm_cloud_call *call, const char *name)
{
    return !ccm_text_empty(ccm_sim_params_get(call->params, name));
}

static int compare_index(const void *a, const void *b)
{
    const struct ccm_sim_param *left = a;
    const struct ccm_sim_param *right = b;
    size_t left_len = strlen(left->name);
    size_t right_len = strlen(right->name);

    if (left_len != right_len) {
        return left_len < right_len ? -1 : 1;
    }
    return strcmp(left->name, right->name);
}

int ccm_cloud_list(struct ccm_cloud_call *call, const char *name, struct ccm_sim_params *ret)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < call->params->len; i++) {
        const struct ccm_sim_param *param = &call->params->items[i];

        if (strncmp(param->name, name, len) != 0 || param->name[len] != '.' ||
            param->value[0] == '\0') {
            continue;
        }

        int r = ccm_sim_params_add(ret, param->name + len + 1, param->value);

        if (r < 0) {
            return r;
        }
    }
    if (ret->len > 1) {
        qsort(ret->items, ret->len, sizeof(*ret->items), compare_index);
    }
    return 0;
}

const char *ccm_cloud_attr(const struct ccm_cloud_obj *obj, const char *name)
{
    return ccm_sim_params_text(&obj->attrs, name);
}

int ccm_cloud_attrs_set(struct ccm_cloud_obj *obj, const struct ccm_cloud_pair *pairs, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        int r = pairs[i].value == NULL
                    ? 0
                    : ccm_sim_params_set(&obj->attrs, pairs[i].name, pairs[i].value);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

int ccm_cloud_obj_init(struct ccm_cloud *cloud, struct ccm_cloud_obj *obj, const char *id)
{
    obj->seq = ++cloud->last_seq;
    obj->made_ms = ccm_clock_now_ms();
    obj->tag_lag_ms = &cloud->limits.tag_lag_ms;
    obj->id = strdup(id);
    return obj->id == NULL ? -ENOMEM : 0;
}

void ccm_cloud_obj_fini(struct ccm_cloud_obj *obj)
{
    free(obj->id);
    ccm_sim_params_fini(&obj->attrs);
    ccm_sim_params_fini(&obj->tags);
}

void ccm_cloud_new_id(struct ccm_cloud *cloud, const char *prefix, char *text, size_t size)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { 0 };
    const size_t len = strlen(prefix);

    if (strncmp(cloud->next_id, prefix, len) == 0 && cloud->next_id[len] == '-') {
        ccm_text_copy(text, size, cloud->next_id);
        cloud->next_id[0] = '\0';
        return;
    }
    /* The golden ratio spreads consecutive numbers, so that ids do not look alike; it is a
     * bijection on 64 bits. */
    ccm_buf_addf(&buf, "%s-%016" PRIx64, prefix, ++cloud->last_seq * UINT64_C(0x9E3779B97F4A7C15));
    ccm_text_copy(text, size, ccm_buf_str(&buf));
}

/* Whether the text is a number just as JSON and we write it: no sign, no needless zero. */
static bool is_digits(const char *text)
{
    size_t len = strspn(text, "0123456789");

    return len > 0 && len < 19 && text[len] == '\0' && (text[0] != '0' || len == 1);
}

static void field_write(struct ccm_jsonw *w, const struct ccm_cloud_field *field, const char *value)
{
    int64_t number = 0;

    switch (field->kind) {
    case 'n':
        if (is_digits(value)) {
            ccm_jsonw_raw(w, field->name, value);
            break;
        }
        if (ccm_parse_i64(value, INT64_MIN, INT64_MAX, &number) < 0) {
            number = 0; /* what is no number can only come from a console edit */
        }
        ccm_jsonw_i64(w, field->name, number);
        break;
    case 'b':
        ccm_jsonw_bool(w, field->name, ccm_text_equal(value, "true"));
        break;
    default:
        ccm_jsonw_str(w, field->name, value);
        break;
    }
}

void ccm_cloud_write_fields(struct ccm_jsonw *w, const struct ccm_cloud_obj *obj,
                            const struct ccm_cloud_field *fields)
{
    for (const struct ccm_cloud_field *field = fields; field->name != NULL; field++) {
        const char *value =
            ccm_sim_params_get(&obj->attrs, field->attr == NULL ? field->name : field->attr);

        value = value == NULL ? field->fallback : value;
        if (value != NULL) {
            field_write(w, field, value);
        }
    }
}

void ccm_cloud_format_time(int64_t wall_ms, bool seconds, char *text, size_t size)
{
    char whole[CCM_CLOCK_TEXT];

    ccm_clock_format(wall_ms, whole, sizeof(whole));
    if (seconds) {
        ccm_text_copy(text, size, whole);
        return;
    }
    whole[strlen("2026-01-02T03:04")] = 'Z';
    whole[strlen("2026-01-02T03:04") + 1] = '\0';
    ccm_text_copy(text, size, whole);
}
