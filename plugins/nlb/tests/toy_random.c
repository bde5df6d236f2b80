/* Random wishes, and random states that a cloud may be in. */
#include "toy.h"

#include "lbc/tests/objects.h"
#include "nlb/names.h"
#include "nlb/nlb.h"
#include "util/array.h"
#include "util/text.h"

#include <stdlib.h>
#include <string.h>

static void must(int r)
{
    assert_int_equal(r, 0);
}

unsigned toy_dice(struct toy *toy, unsigned limit)
{
    toy->random ^= toy->random << 13;
    toy->random ^= toy->random >> 7;
    toy->random ^= toy->random << 17;
    return (unsigned)(toy->random >> 33) % limit;
}

/* True in `percent` of the cases. */
static bool chance(struct toy *toy, unsigned percent)
{
    return toy_dice(toy, 100) < percent;
}

static const char *pick(struct toy *toy, const char *const *texts, unsigned count)
{
    return texts[toy_dice(toy, count)];
}

#define PICK(toy, ...)                                                                             \
    pick((toy), (const char *const[]){ __VA_ARGS__ },                                              \
         sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

static void own(char **to, char *text)
{
    assert_non_null(text);
    must(lbc_text_set(to, text));
    free(text);
}

static void key_text(const struct toy *toy, char **to, const char *key, enum lbc_protocol protocol)
{
    own(to, nlb_name_format(key, protocol, &toy->service->meta, "c1", NLB_NAME_MAX));
}

/* --- the load balancer --- */

static const char *lb_value(struct toy *toy, enum nlb_lb_field field)
{
    switch (field) {
    case NLB_LB_ADDRESS_TYPE:
    case NLB_LB_IPV6_TYPE:
        return PICK(toy, "Internet", "Intranet");
    case NLB_LB_PACKAGE:
        return PICK(toy, "", "p-1", "p-2");
    case NLB_LB_CROSS_ZONE:
    case NLB_LB_PROTECT:
        return PICK(toy, "true", "false");
    case NLB_LB_MODIFICATION:
        return PICK(toy, "ConsoleProtection", "NonProtection");
    case NLB_LB_NAME:
        return PICK(toy, "a", "b");
    default:
        return "same";
    }
}

static void random_lb(struct toy *toy, struct nlb_lb *lb, unsigned *explicit)
{
    for (size_t i = 0; i < NLB_LB_FIELD_COUNT; i++) {
        if (explicit == NULL || chance(toy, 40)) {
            must(nlb_lb_set(lb, (enum nlb_lb_field)i, lb_value(toy, (enum nlb_lb_field)i)));
            if (explicit != NULL) {
                *explicit |= 1U << i;
            }
        }
    }
    for (unsigned i = 0; i < 3; i++) {
        if (chance(toy, 60)) {
            must(nlb_lb_put_zone(lb, PICK(toy, "za", "zb", "zc"), PICK(toy, "v1", "v2"), NULL,
                                 explicit != NULL && chance(toy, 20) ? "eip-1" : NULL));
        }
        if (chance(toy, 40)) {
            must(lbc_tags_put(&lb->lbc.tags, PICK(toy, "k1", "k2", "k3"), PICK(toy, "1", "2")));
        }
    }
}

static void random_groups_joined(struct toy *toy, struct lbc_texts *texts, unsigned most)
{
    while (texts->len < most && chance(toy, 60)) {
        must(lbc_texts_put(texts, PICK(toy, "sg-a", "sg-b", "sg-c", "sg-d", "sg-e")));
    }
}

/* --- the security group --- */

static void put_rule(struct toy *toy, struct nlb_security_group *security_group, bool present,
                     const char *cidr)
{
    struct nlb_rule *rule = nlb_security_group_new_rule(security_group);

    rule->drop = strcmp(cidr, "0.0.0.0/0") == 0;
    rule->priority = rule->drop ? 100 : 1;
    must(lbc_text_set(&rule->cidr, cidr));
    must(lbc_text_set(&rule->protocol, "All"));
    must(lbc_text_set(&rule->port_range, "-1/-1"));
    must(lbc_text_set(&rule->description, security_group->description));
    if (present) {
        rule->id = ccm_text_format("r-%u", ++toy->next_id);
        rule->priority += chance(toy, 20) ? 1 : 0;
        if (chance(toy, 20)) {
            must(lbc_text_set(&rule->description, "hand"));
        }
    }
}

static void random_guard(struct toy *toy, struct nlb_security_group *security_group, bool present)
{
    static const char *const cidrs[] = { "10.0.0.0/8", "10.1.0.0/16", "10.2.0.0/16", "0.0.0.0/0" };

    security_group->wanted = !present;
    own(&security_group->name, nlb_security_group_name(&toy->service->meta));
    own(&security_group->description, nlb_security_group_description(&toy->service->meta, "c1"));
    if (present) {
        must(lbc_text_set(&security_group->id, "sg-own"));
        if (chance(toy, 20)) {
            must(lbc_text_set(&security_group->name, "renamed"));
        }
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(cidrs); i++) {
        if (chance(toy, 60) || (!present && i + 1 == CCM_ARRAY_LEN(cidrs))) {
            put_rule(toy, security_group, present, cidrs[i]);
        }
    }
}

/* --- groups --- */

static void random_attrs(struct toy *toy, struct nlb_group *group, bool explicit)
{
    if (chance(toy, 50)) {
        must(lbc_attrs_set(&group->lbc.attrs, nlb_group_field("Scheduler"),
                           PICK(toy, "Wrr", "rr", "sch", "tch"), explicit));
    }
    if (chance(toy, 50)) {
        must(lbc_attrs_set(&group->lbc.attrs, nlb_group_field("HealthCheckHttpCode"),
                           PICK(toy, "http_2xx", "http_2xx,http_3xx", "http_3xx,http_2xx"),
                           explicit));
    }
    if (chance(toy, 30)) {
        must(lbc_attrs_set(&group->lbc.attrs, nlb_group_field("PreserveClientIpEnabled"),
                           PICK(toy, "true", "false"), explicit));
    }
}

static void random_server(struct toy *toy, struct nlb_group *group, bool present)
{
    struct lbc_backend one = { .weight = (uint8_t)(toy_dice(toy, 3) * 50),
                               .port = (uint16_t)(80 + toy_dice(toy, 2)) };
    char id[] = "i-0";

    id[2] = (char)('0' + toy_dice(toy, 6));
    one.server_id = id;
    if (present && chance(toy, 20)) {
        one.description = (char *)(uintptr_t)PICK(toy, "hand", "k8s.7.TCP.web.default.c1");
    }
    one.leaving = !present && chance(toy, 10);
    must(lbc_backends_put(&group->lbc.backends, &one));
}

static void random_servers(struct toy *toy, struct nlb_group *group, bool present)
{
    const unsigned count = toy_dice(toy, 6);

    for (unsigned i = 0; i < count; i++) {
        random_server(toy, group, present);
    }
}

static struct nlb_group *add_group(struct toy *toy, struct nlb_state *state, const char *key,
                                   enum lbc_protocol protocol, bool range, bool present)
{
    struct nlb_group *group = nlb_state_new_group(state);

    key_text(toy, &group->lbc.name, key, protocol);
    group->lbc.protocol = protocol;
    group->any_port = range;
    must(lbc_text_set(&group->type, PICK(toy, "Instance", "Ip", "")));
    must(lbc_text_set(&group->family, PICK(toy, "", "", "dualstack")));
    if (present) {
        group->lbc.id = ccm_text_format("g-%u", ++toy->next_id);
        if (chance(toy, 10)) {
            must(lbc_text_set(&group->lbc.name, "mine"));
        }
    } else {
        group->lbc.port = 80;
        group->lbc.frozen_by = chance(toy, 5);
        group->lbc.add_only = chance(toy, 5);
    }
    random_attrs(toy, group, !present);
    random_servers(toy, group, present);
    return group;
}

/* --- listeners --- */

static const enum lbc_protocol protocols[] = { LBC_TCP, LBC_UDP, LBC_TCPSSL };

static const struct {
    uint16_t start;
    uint16_t end;
    const char *key;
    const char *shared; /* key of a group for several ports; NULL: none */
} ports[] = {
    { 80, 80, "80", "9" },         { 81, 81, "81", "9" },    { 443, 443, "443", NULL },
    { 100, 200, "100_200", NULL }, { 150, 150, "150", "9" },
};

static bool is_free(const struct nlb_state *state, const struct nlb_listener *listener)
{
    for (size_t i = 0; i + 1 < state->lbc.listener_count; i++) {
        if (lbc_listener_clash(&nlb_listener_at(state, i)->lbc, &listener->lbc)) {
            return false;
        }
    }
    return true;
}

/* Some listener of that port; NULL when its port is taken. */
static struct nlb_listener *add_listener(struct toy *toy, struct nlb_state *state, size_t port)
{
    struct nlb_listener *listener = nlb_state_new_listener(state);

    listener->lbc.protocol = protocols[toy_dice(toy, 3)];
    listener->lbc.port = ports[port].start;
    listener->lbc.last_port = ports[port].end;
    listener->lbc.is_range = ports[port].start != ports[port].end;
    key_text(toy, &listener->lbc.description, ports[port].key, listener->lbc.protocol);
    if (!is_free(state, listener)) {
        lbc_state_drop_listener(&state->lbc, &listener->lbc);
        return NULL;
    }
    return listener;
}

static void random_listener_attrs(struct toy *toy, struct nlb_listener *listener, bool explicit)
{
    if (chance(toy, 50)) {
        must(lbc_attrs_set(&listener->lbc.attrs, nlb_listener_field("Cps"), PICK(toy, "0", "5"),
                           explicit));
    }
    if (chance(toy, 50)) {
        must(lbc_attrs_set(&listener->lbc.attrs, nlb_listener_field("CertificateIds"),
                           PICK(toy, "c-1", "c-2"), explicit));
    }
    if (listener->lbc.protocol != LBC_TCPSSL || (explicit && chance(toy, 40))) {
        return;
    }
    listener->certs_known = true;
    for (unsigned i = 0; i < 20 && chance(toy, 90); i++) {
        char cert[] = "x-a";

        cert[2] = (char)('a' + toy_dice(toy, 26));
        must(lbc_texts_put(&listener->certs, cert));
    }
}

static struct nlb_group *wanted_group(struct toy *toy, size_t port,
                                      const struct nlb_listener *listener)
{
    struct nlb_state *want = &toy->model.want;
    const bool shared = ports[port].shared != NULL && chance(toy, 50);
    const char *key = shared ? ports[port].shared : ports[port].key;
    char *name = NULL;

    key_text(toy, &name, key, listener->lbc.protocol);
    for (size_t i = 0; i < want->lbc.group_count; i++) {
        if (ccm_text_equal(nlb_group_at(want, i)->lbc.name, name)) {
            free(name);
            return nlb_group_at(want, i);
        }
    }
    free(name);
    return add_group(toy, want, key, listener->lbc.protocol, listener->lbc.is_range, false);
}

static void random_wishes(struct toy *toy)
{
    struct nlb_model *model = &toy->model;

    for (size_t i = 0; i < CCM_ARRAY_LEN(ports); i++) {
        struct nlb_listener *listener = chance(toy, 50) ? add_listener(toy, &model->want, i) : NULL;

        if (listener == NULL) {
            continue;
        }
        listener->lbc.broken = chance(toy, 5);
        model->lbc.incomplete = model->lbc.incomplete || listener->lbc.broken;
        random_listener_attrs(toy, listener, true);
        listener->lbc.group = &wanted_group(toy, i, listener)->lbc;
    }
    random_lb(toy, &model->want.lb, &model->lbc.explicit);
    model->zones_explicit = model->want.lb.zone_count > 0;
    model->groups_explicit = chance(toy, 50);
    if (!model->lbc.reused && chance(toy, 50)) {
        random_guard(toy, &model->want.security_group, false);
    }
    if (model->groups_explicit) {
        random_groups_joined(toy, &model->want.lb.security_groups, 3);
    }
    model->lbc.keep_weights = chance(toy, 20);
}

/* --- what is there --- */

static void random_listener(struct toy *toy, size_t port)
{
    struct nlb_state *cloud = &toy->cloud;
    struct nlb_listener *listener = add_listener(toy, cloud, port);
    struct nlb_group *group = NULL;

    if (listener == NULL) {
        return;
    }
    listener->lbc.id = ccm_text_format("l-%u", ++toy->next_id);
    if (chance(toy, 30)) {
        must(lbc_text_set(&listener->lbc.description,
                          PICK(toy, "hand", "k8s.80.TCP.other.default.c1")));
    }
    random_listener_attrs(toy, listener, false);
    for (size_t i = 0; i < cloud->lbc.group_count; i++) {
        if (nlb_group_at(cloud, i)->lbc.protocol == listener->lbc.protocol &&
            nlb_group_at(cloud, i)->any_port == listener->lbc.is_range && chance(toy, 60)) {
            group = nlb_group_at(cloud, i);
        }
    }
    must(lbc_text_set(&listener->lbc.group_id, group == NULL ? "g-elsewhere" : group->lbc.id));
}

static void random_present(struct toy *toy)
{
    struct nlb_state *cloud = &toy->cloud;
    const bool there = toy->model.lbc.reused || chance(toy, 85);
    const unsigned count = toy_dice(toy, 7);

    for (unsigned i = 0; i < count; i++) {
        const size_t port = toy_dice(toy, CCM_ARRAY_LEN(ports));
        const bool shared = ports[port].shared != NULL && chance(toy, 50);

        (void)add_group(toy, cloud, shared ? ports[port].shared : ports[port].key,
                        protocols[toy_dice(toy, 3)], ports[port].start != ports[port].end,
                        true); /* it is in the list */
    }
    if (there) {
        must(lbc_text_set(&cloud->lb.lbc.id, "nlb-0"));
        random_lb(toy, &cloud->lb, NULL);
        random_groups_joined(toy, &cloud->lb.security_groups, toy->model.groups_explicit ? 4 : 3);
        for (size_t i = 0; i < CCM_ARRAY_LEN(ports); i++) {
            if (chance(toy, 50)) {
                random_listener(toy, i);
            }
        }
    }
    cloud->security_group.known = true;
    if (!toy->model.lbc.reused && chance(toy, 50)) {
        random_guard(toy, &cloud->security_group, true);
        cloud->security_group.known = true;
        cloud->security_group.wanted = false;
        if (there && cloud->lb.security_groups.len < 4 && chance(toy, 60)) {
            must(lbc_texts_put(&cloud->lb.security_groups, cloud->security_group.id));
        }
    }
    cloud->lbc.groups_known = true;
    cloud->lbc.listeners_known = true;
}

void toy_init(struct toy *toy, uint64_t seed)
{
    memset(toy, 0, sizeof(*toy));
    toy->seed = seed;
    toy->random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    toy->service = obj_service();
    toy->fail_at = TOY_NEVER;
    for (int i = 0; i < 4; i++) {
        (void)toy_dice(toy, 2); /* seeds close to one another shall not begin alike */
    }
    toy->model.lbc.want = &toy->model.want.lbc;
    toy->model.lbc.reused = chance(toy, 30);
    toy->model.lbc.override = toy->model.lbc.reused && chance(toy, 70);
    random_wishes(toy);
    random_present(toy);
}

void toy_fini(struct toy *toy)
{
    nlb_state_fini(&toy->cloud);
    nlb_state_fini(&toy->model.want);
    lbc_texts_fini(&toy->fresh);
    lbc_texts_fini(&toy->dying);
    lbc_texts_fini(&toy->lacking);
}
