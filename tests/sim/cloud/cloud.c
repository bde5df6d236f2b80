#include "cloud.h"

#include "families.h"
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
        { CCM_CLOUD_SLB, ccm_cloud_vgroup_actions },
        { CCM_CLOUD_SLB, ccm_cloud_backend_actions },
        { CCM_CLOUD_SLB, ccm_cloud_tag_actions },
        { CCM_CLOUD_ECS, ccm_cloud_ecs_actions },
        { CCM_CLOUD_VPC, ccm_cloud_vpc_actions },
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
    cloud->addresses = ccm_strmap_new(NULL);
    cloud->tokens = ccm_strmap_new(ccm_cloud_token_free);
    cloud->metadata.tokens = ccm_strmap_new(free);
    if (cloud->accounts == NULL || cloud->lbs == NULL || cloud->vgroups == NULL ||
        cloud->vpcs == NULL || cloud->vswitches == NULL || cloud->instances == NULL ||
        cloud->enis == NULL || cloud->addresses == NULL || cloud->tokens == NULL ||
        cloud->metadata.tokens == NULL || actions_init(cloud) < 0) {
        return NULL;
    }
    return CCM_STEAL(cloud);
}

void ccm_cloud_free(struct ccm_cloud *cloud)
{
    if (cloud == NULL) {
        return;
    }
    ccm_strmap_free(cloud->lbs);
    ccm_strmap_free(cloud->vgroups);
    ccm_strmap_free(cloud->vpcs);
    ccm_strmap_free(cloud->vswitches);
    ccm_strmap_free(cloud->instances);
    ccm_strmap_free(cloud->enis);
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

void ccm_cloud_call_fini(struct ccm_cloud_call *call)
{
    ccm_buf_fini(&call->message);
}

int ccm_cloud_run(struct ccm_cloud_call *call)
{
    int r = ccm_cloud_spec_check(call);

    if (r == 0) {
        r = call->action->token && ccm_cloud_has(call, "ClientToken") ? ccm_cloud_token_run(call)
                                                                      : call->action->run(call);
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

    /* The golden ratio spreads consecutive numbers, so that ids do not look alike; it is a
     * bijection on 64 bits. */
    ccm_buf_addf(&buf, "%s-%016" PRIx64, prefix, ++cloud->last_seq * UINT64_C(0x9E3779B97F4A7C15));
    ccm_text_copy(text, size, ccm_buf_str(&buf));
}

static void field_write(struct ccm_jsonw *w, const struct ccm_cloud_field *field, const char *value)
{
    int64_t number = 0;

    switch (field->kind) {
    case 'n':
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
