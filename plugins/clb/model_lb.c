#include "model.h"

#include "clb.h"
#include "service/annotation.h"
#include "service/owner.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define PIECE_MAX 512

/* --- additional tags --- */

static bool is_reserved(const char *key, bool reused)
{
    return key[0] == '\0' || ccm_text_starts(key, "acs:") || strcmp(key, CLB_TAG_OWNER) == 0 ||
           strcmp(key, CLB_TAG_CLUSTER) == 0 || (reused && strcmp(key, CLB_TAG_REUSE) == 0);
}

/* One "key=value", "key=" or "key"; the value may contain '='. */
static int add_tag(struct clb_tags *tags, const char *entry, size_t len, bool reused)
{
    char text[PIECE_MAX];
    const char *cursor = text;
    const char *key = NULL;
    size_t key_len = 0;
    char key_text[PIECE_MAX];

    (void)snprintf(text, sizeof(text), "%.*s", len < sizeof(text) ? (int)len : 0, entry); /* fits */
    if (!ccm_parse_piece(&cursor, '=', &key, &key_len)) {
        return 0;
    }
    (void)snprintf(key_text, sizeof(key_text), "%.*s", (int)key_len, key); /* fits */
    if (is_reserved(key_text, reused)) {
        return 0;
    }
    const char *equals = strchr(text, '=');
    const char *value = equals == NULL ? "" : equals + 1;

    return clb_tags_put(tags, key_text, value + strspn(value, " \t"));
}

static int build_tags(struct clb_model *model, const struct ccm_service *service)
{
    const char *cursor = ccm_anno_get(&service->meta, "additional-resource-tags");
    const char *entry = NULL;
    size_t len = 0;
    int r = 0;

    while (r == 0 && cursor != NULL && cursor[0] != '\0' &&
           ccm_parse_piece(&cursor, ',', &entry, &len)) {
        r = add_tag(&model->want.lb.tags, entry, len, model->reused);
    }
    return r;
}

/* --- attributes --- */

/* Values that people write in any case, as the cloud writes them. */
static const char *canonical(enum clb_lb_field_id id, const char *value)
{
    static const char *const known[] = { "PayBySpec", "PayByCLCU", "ipv4", "ipv6" };

    for (size_t i = 0; (id == CLB_LB_CHARGE || id == CLB_LB_IP_VERSION) && i < CCM_ARRAY_LEN(known);
         i++) {
        if (ccm_text_equal_case(known[i], value)) {
            return known[i];
        }
    }
    return value;
}

static int take_annotations(struct clb_model *model, const struct ccm_service *service)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < CLB_LB_FIELD_COUNT; i++) {
        const enum clb_lb_field_id id = (enum clb_lb_field_id)i;
        const char *value = ccm_anno_get(&service->meta, clb_lb_fields[i].annotation);

        if (value[0] == '\0') {
            continue;
        }
        model->told |= 1U << id;
        if (clb_lb_fields[i].offset != SIZE_MAX) {
            r = clb_lb_set(&model->want.lb, id, canonical(id, value));
        }
    }
    return r;
}

/* What creation asks for when nobody says otherwise. */
static int fill_defaults(struct clb_lb *lb, const struct ccm_service *service)
{
    char name[CCM_OWNER_LB_NAME];

    ccm_owner_lb_name(&service->meta, name);

    const struct {
        enum clb_lb_field_id id;
        const char *value;
    } defaults[] = {
        { CLB_LB_NAME, name },
        { CLB_LB_ADDRESS_TYPE, "internet" },
        { CLB_LB_CHARGE, "PayByCLCU" },
        { CLB_LB_MODIFICATION, "ConsoleProtection" },
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(defaults); i++) {
        if (clb_lb_get(lb, defaults[i].id) == NULL &&
            clb_lb_set(lb, defaults[i].id, defaults[i].value) < 0) {
            return -ENOMEM;
        }
    }
    if (ccm_text_equal(lb->network_type, "classic")) {
        return clb_text_set(&lb->vswitch_id, NULL);
    }
    return 0;
}

static bool is_yes(const char *value)
{
    static const char *const no[] = { "", "false", "off", "no", "0" };

    for (size_t i = 0; i < CCM_ARRAY_LEN(no); i++) {
        if (ccm_text_equal_case(value, no[i])) {
            return false;
        }
    }
    return true;
}

/* --- backends --- */

static void take_weights(struct clb_model *model, const struct ccm_service *service)
{
    const char *total = ccm_anno_get(&service->meta, "weight");
    struct ccm_weight_rule *rule = &model->weight;

    rule->each = CCM_WEIGHT_DEFAULT;
    /* Checked before; a text that is no number cannot get here. */
    if (ccm_parse_u32(ccm_anno_get(&service->meta, "default-weight"), 0, CCM_WEIGHT_MAX,
                      &rule->each) < 0) {
        rule->each = CCM_WEIGHT_DEFAULT;
    }
    rule->has_total = model->reused && ccm_anno_get(&service->meta, "vgroup-port")[0] != '\0' &&
                      ccm_parse_u32(total, 0, CCM_WEIGHT_MAX, &rule->total) == 0;
}

int clb_model_lb(struct clb_model *model, const struct ccm_service *service)
{
    const struct ccm_object *meta = &service->meta;
    struct clb_lb *lb = &model->want.lb;

    model->reused = ccm_anno_get(meta, "id")[0] != '\0';
    model->override = ccm_text_equal(ccm_anno_get(meta, "force-override-listeners"), "true");
    model->preserve = is_yes(ccm_anno_get(meta, "preserve-lb-on-delete"));
    model->show_eip = ccm_text_equal(ccm_anno_get(meta, "external-ip-type"), "eip");
    model->hostname = ccm_anno_get(meta, "hostname");
    model->keep_weights = ccm_text_equal_case(ccm_anno_get(meta, "ignore-weight-update"), "on");
    lb->protect = !ccm_text_equal(ccm_anno_get(meta, "delete-protection"), "off");
    take_weights(model, service);
    if (clb_text_set(&lb->id, ccm_anno_get(meta, "id")) < 0 ||
        take_annotations(model, service) < 0 || fill_defaults(lb, service) < 0 ||
        build_tags(model, service) < 0) {
        return -ENOMEM;
    }
    model->ipv6 = ccm_text_equal(lb->ip_version, "ipv6") &&
                  ccm_text_equal_case(ccm_anno_get(meta, "backend-ip-version"), "ipv6");
    return 0;
}

bool clb_model_has_listeners(const struct clb_model *model)
{
    return !model->reused || model->override;
}
