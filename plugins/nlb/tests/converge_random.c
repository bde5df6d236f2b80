/* Random wishes, and random states that a start may be in. */
#include "converge.h"

#include "lbc/tests/objects.h"
#include "nlb/nlb.h"
#include "nlb/owner_key.h"
#include "util/array.h"
#include "util/text.h"

#include <stdlib.h>
#include <string.h>

static void random_assert_ok(int r)
{
    assert_int_equal(r, 0);
}

unsigned trial_dice(struct trial *trial, unsigned limit)
{
    trial->random ^= trial->random << 13;
    trial->random ^= trial->random >> 7;
    trial->random ^= trial->random << 17;
    return (unsigned)(trial->random >> 33) % limit;
}

/* True in `percent` of the cases. */
static bool trial_has_chance(struct trial *trial, unsigned percent)
{
    return trial_dice(trial, 100) < percent;
}

static const char *trial_pick_text(struct trial *trial, const char *const *texts, unsigned count)
{
    return texts[trial_dice(trial, count)];
}

#define PICK(trial, ...)                                                                           \
    trial_pick_text((trial), (const char *const[]){ __VA_ARGS__ },                                 \
                    sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

static void random_set_text(char **to, char *text)
{
    assert_non_null(text);
    random_assert_ok(lbc_text_set(to, text));
    free(text);
}

static void key_text(const struct trial *trial, char **to, const char *key,
                     enum lbc_protocol protocol)
{
    random_set_text(to, nlb_name_format(key, protocol, &trial->service->meta, "c1", NLB_NAME_MAX));
}

/* --- the load balancer --- */

static const char *lb_value(struct trial *trial, enum nlb_lb_field field)
{
    switch (field) {
    case NLB_LB_ADDRESS_TYPE:
    case NLB_LB_IPV6_TYPE:
        return PICK(trial, "Internet", "Intranet");
    case NLB_LB_PACKAGE:
        return PICK(trial, "", "cbwp-1", "cbwp-2");
    case NLB_LB_CROSS_ZONE:
    case NLB_LB_PROTECT:
        return PICK(trial, "true", "false");
    case NLB_LB_MODIFICATION:
        return PICK(trial, "ConsoleProtection", "NonProtection");
    case NLB_LB_NAME:
        return PICK(trial, "aa", "bb");
    case NLB_LB_IP_VERSION:
        return "DualStack";
    default:
        return "rg-1";
    }
}

static void random_lb(struct trial *trial, struct nlb_lb *lb, unsigned *explicit)
{
    for (size_t i = 0; i < NLB_LB_FIELD_COUNT; i++) {
        if (explicit == NULL || trial_has_chance(trial, 40)) {
            random_assert_ok(
                nlb_lb_set(lb, (enum nlb_lb_field)i, lb_value(trial, (enum nlb_lb_field)i)));
            if (explicit != NULL) {
                *explicit |= 1U << i;
            }
        }
    }
    for (unsigned i = 0; i < 3; i++) {
        if (trial_has_chance(trial, 40)) {
            random_assert_ok(
                lbc_tags_put(&lb->lbc.tags, PICK(trial, "k1", "k2", "k3"), PICK(trial, "1", "2")));
        }
    }
}

/* Two or three: the start takes no fewer. */
static void random_zones(struct trial *trial, struct nlb_lb *lb)
{
    static const char *const zones[][2] = { { "z-a", "vsw-1" },
                                            { "z-b", "vsw-2" },
                                            { "z-c", "vsw-3" } };
    const size_t without = trial_dice(trial, 4);

    for (size_t i = 0; i < CCM_ARRAY_LEN(zones); i++) {
        if (i != without) {
            random_assert_ok(nlb_lb_put_zone(lb, zones[i][0], zones[i][1], NULL, NULL));
        }
    }
}

/* Only what is on the internet has a bandwidth package. */
static void lb_clear_package(struct nlb_lb *lb, const char *type)
{
    if (!ccm_text_equal(type, "Internet") && lb->lbc.texts[NLB_LB_PACKAGE] != NULL) {
        random_assert_ok(nlb_lb_set(lb, NLB_LB_PACKAGE, ""));
    }
}

static void random_groups_joined(struct trial *trial, struct lbc_texts *texts, unsigned most)
{
    while (texts->len < most && trial_has_chance(trial, 60)) {
        random_assert_ok(lbc_texts_put(texts, PICK(trial, "sg-a", "sg-b", "sg-c", "sg-d", "sg-e")));
    }
}

/* --- the security group --- */

static void put_rule(struct trial *trial, struct nlb_security_group *security_group, bool present,
                     const char *cidr)
{
    struct nlb_rule *rule = nlb_security_group_new_rule(security_group);

    rule->drop = strcmp(cidr, "0.0.0.0/0") == 0;
    rule->priority = rule->drop ? 100 : 1;
    random_assert_ok(lbc_text_set(&rule->cidr, cidr));
    random_assert_ok(lbc_text_set(&rule->protocol, "All"));
    random_assert_ok(lbc_text_set(&rule->port_range, "-1/-1"));
    random_assert_ok(lbc_text_set(&rule->description, security_group->description));
    if (present) {
        rule->id = ccm_text_format("r-%u", ++trial->next_id);
        if (trial_has_chance(trial, 20)) {
            rule->priority = 50;
        }
        if (trial_has_chance(trial, 20)) {
            random_assert_ok(lbc_text_set(&rule->description, "hand"));
        }
    }
}

static void random_guard(struct trial *trial, struct nlb_security_group *security_group,
                         bool present)
{
    static const char *const cidrs[] = { "10.0.0.0/8", "10.1.0.0/16", "10.2.0.0/16", "0.0.0.0/0" };

    security_group->wanted = !present;
    random_set_text(&security_group->name, nlb_security_group_name(&trial->service->meta));
    random_set_text(&security_group->description,
                    nlb_security_group_description(&trial->service->meta, "c1"));
    if (present) {
        random_assert_ok(lbc_text_set(&security_group->id, "sg-own"));
        if (trial_has_chance(trial, 20)) {
            random_assert_ok(lbc_text_set(&security_group->name, "renamed"));
        }
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(cidrs); i++) {
        if (trial_has_chance(trial, 60) || (!present && i + 1 == CCM_ARRAY_LEN(cidrs))) {
            put_rule(trial, security_group, present, cidrs[i]);
        }
    }
}

/* --- groups --- */

static void random_attrs(struct trial *trial, struct nlb_group *group, bool explicit)
{
    if (trial_has_chance(trial, 50)) {
        random_assert_ok(lbc_attrs_set(&group->lbc.attrs, nlb_group_field("Scheduler"),
                                       PICK(trial, "Wrr", "rr", "sch", "tch"), explicit));
    }
    if (trial_has_chance(trial, 50)) {
        random_assert_ok(lbc_attrs_set(
            &group->lbc.attrs, nlb_group_field("HealthCheckHttpCode"),
            PICK(trial, "http_2xx", "http_2xx,http_3xx", "http_3xx,http_2xx"), explicit));
    }
    if (group->any_port) { /* there is no port that could be checked otherwise */
        random_assert_ok(lbc_attrs_set(&group->lbc.attrs, nlb_group_field("HealthCheckConnectPort"),
                                       "8080", explicit));
    }
    if (group->lbc.protocol != LBC_TCPSSL && trial_has_chance(trial, 30)) {
        random_assert_ok(lbc_attrs_set(&group->lbc.attrs,
                                       nlb_group_field("PreserveClientIpEnabled"),
                                       PICK(trial, "true", "false"), explicit));
    }
}

static void random_server(struct trial *trial, struct nlb_group *group, bool present)
{
    const bool is_address = ccm_text_equal(group->type, "Ip");
    struct lbc_backend one = { .weight = (uint8_t)(trial_dice(trial, 3) * 50),
                               .port = (uint16_t)(80 + trial_dice(trial, 2)),
                               .type = is_address ? LBC_BACKEND_IP : LBC_BACKEND_INSTANCE };
    char id[] = "n-0";
    char address[] = "172.16.1.20";

    id[sizeof(id) - 2] = address[sizeof(address) - 2] = (char)('0' + trial_dice(trial, 6));
    one.server_id = is_address ? address : id;
    one.server_ip = is_address ? address : id + sizeof(id) - 1;
    if (group->any_port) {
        one.port = 0;
    }
    if (present && trial_has_chance(trial, 20)) {
        one.description = (char *)(uintptr_t)PICK(trial, "hand", "k8s.7.TCP.web.default.c1");
    }
    one.leaving = !present && trial_has_chance(trial, 10);
    random_assert_ok(lbc_backends_put(&group->lbc.backends, &one));
}

static void random_servers(struct trial *trial, struct nlb_group *group, bool present)
{
    const unsigned count = trial_dice(trial, 6);

    for (unsigned i = 0; i < count; i++) {
        random_server(trial, group, present);
    }
}

static struct nlb_group *add_group(struct trial *trial, struct nlb_state *state, const char *key,
                                   enum lbc_protocol protocol, bool range, bool present)
{
    struct nlb_group *group = nlb_state_new_group(state);

    key_text(trial, &group->lbc.name, key, protocol);
    group->lbc.protocol = protocol;
    group->any_port = range;
    random_assert_ok(lbc_text_set(&group->type, PICK(trial, "Instance", "Ip", "")));
    random_assert_ok(lbc_text_set(&group->family, PICK(trial, "", "", "dualstack")));
    if (present) {
        group->lbc.id = ccm_text_format("g-%u", ++trial->next_id);
        if (trial_has_chance(trial, 10)) {
            random_assert_ok(lbc_text_set(&group->lbc.name, "mine"));
        }
    } else {
        group->lbc.port = 80;
        group->lbc.frozen_by = trial_has_chance(trial, 5);
        group->lbc.add_only = trial_has_chance(trial, 5);
    }
    random_attrs(trial, group, !present);
    random_servers(trial, group, present);
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
static struct nlb_listener *add_listener(struct trial *trial, struct nlb_state *state, size_t port)
{
    struct nlb_listener *listener = nlb_state_new_listener(state);

    listener->lbc.protocol = protocols[trial_dice(trial, 3)];
    listener->lbc.port = ports[port].start;
    listener->lbc.last_port = ports[port].end;
    listener->lbc.is_range = ports[port].start != ports[port].end;
    key_text(trial, &listener->lbc.description, ports[port].key, listener->lbc.protocol);
    if (!is_free(state, listener)) {
        lbc_state_drop_listener(&state->lbc, &listener->lbc);
        return NULL;
    }
    return listener;
}

static void random_listener_attrs(struct trial *trial, struct nlb_listener *listener, bool explicit)
{
    if (trial_has_chance(trial, 50)) {
        random_assert_ok(lbc_attrs_set(&listener->lbc.attrs, nlb_listener_field("Cps"),
                                       PICK(trial, "0", "5"), explicit));
    }
    if (listener->lbc.protocol == LBC_TCPSSL || trial_has_chance(trial, 50)) {
        random_assert_ok(lbc_attrs_set(&listener->lbc.attrs, nlb_listener_field("CertificateIds"),
                                       PICK(trial, "c-1", "c-2"), explicit));
    }
    if (listener->lbc.protocol != LBC_TCPSSL || (explicit && trial_has_chance(trial, 40))) {
        return;
    }
    listener->lbc.certs_known = true;
    for (unsigned i = 0; i < 20 && trial_has_chance(trial, 90); i++) {
        char cert[] = "x-a";

        cert[2] = (char)('a' + trial_dice(trial, 26));
        random_assert_ok(lbc_texts_put(&listener->certs, cert));
    }
}

static struct nlb_group *wanted_group(struct trial *trial, size_t port,
                                      const struct nlb_listener *listener)
{
    struct nlb_state *want = &trial->model.want;
    const bool shared = ports[port].shared != NULL && trial_has_chance(trial, 50);
    const char *key = shared ? ports[port].shared : ports[port].key;
    char *name = NULL;

    key_text(trial, &name, key, listener->lbc.protocol);
    for (size_t i = 0; i < want->lbc.group_count; i++) {
        if (ccm_text_equal(nlb_group_at(want, i)->lbc.name, name)) {
            free(name);
            return nlb_group_at(want, i);
        }
    }
    free(name);
    return add_group(trial, want, key, listener->lbc.protocol, listener->lbc.is_range, false);
}

static void random_wishes(struct trial *trial)
{
    struct nlb_model *model = &trial->model;

    for (size_t i = 0; i < CCM_ARRAY_LEN(ports); i++) {
        struct nlb_listener *listener =
            trial_has_chance(trial, 50) ? add_listener(trial, &model->want, i) : NULL;

        if (listener == NULL) {
            continue;
        }
        listener->lbc.broken = trial_has_chance(trial, 5);
        model->lbc.incomplete = model->lbc.incomplete || listener->lbc.broken;
        random_listener_attrs(trial, listener, true);
        listener->lbc.group = &wanted_group(trial, i, listener)->lbc;
    }
    random_lb(trial, &model->want.lb, &model->lbc.explicit);
    lb_clear_package(&model->want.lb, model->want.lb.lbc.texts[NLB_LB_ADDRESS_TYPE]);
    if ((model->lbc.explicit & 1U << NLB_LB_IPV6_TYPE) != 0) { /* else it has no such address */
        random_assert_ok(nlb_lb_set(&model->want.lb, NLB_LB_IP_VERSION, "DualStack"));
        model->lbc.explicit |= 1U << NLB_LB_IP_VERSION;
    }
    if (trial_has_chance(trial, 60)) {
        random_zones(trial, &model->want.lb);
    }
    model->zones_explicit = model->want.lb.zone_count > 0;
    model->groups_explicit = trial_has_chance(trial, 50);
    if (!model->lbc.reused && trial_has_chance(trial, 50)) {
        random_guard(trial, &model->want.security_group, false);
    }
    if (model->groups_explicit) {
        random_groups_joined(trial, &model->want.lb.security_groups, 3);
    }
    model->lbc.keep_weights = trial_has_chance(trial, 20);
}

/* --- what is there --- */

static void random_listener(struct trial *trial, size_t port)
{
    struct nlb_state *start = &trial->start;
    struct nlb_listener *listener = add_listener(trial, start, port);
    struct nlb_group *group = NULL;

    if (listener == NULL) {
        return;
    }
    listener->lbc.id = ccm_text_format("l-%u", ++trial->next_id);
    if (trial_has_chance(trial, 30)) {
        random_assert_ok(lbc_text_set(&listener->lbc.description,
                                      PICK(trial, "hand", "k8s.80.TCP.other.default.c1")));
    }
    random_listener_attrs(trial, listener, false);
    for (size_t i = 0; i < start->lbc.group_count; i++) {
        if (nlb_group_at(start, i)->lbc.protocol == listener->lbc.protocol &&
            nlb_group_at(start, i)->any_port == listener->lbc.is_range &&
            trial_has_chance(trial, 60)) {
            group = nlb_group_at(start, i);
        }
    }
    if (group == NULL) { /* one that is neither named nor tagged as ours */
        group = add_group(trial, start, ports[port].key, listener->lbc.protocol,
                          listener->lbc.is_range, true);
        random_assert_ok(lbc_text_set(&group->lbc.name, "elsewhere"));
    }
    random_assert_ok(lbc_text_set(&listener->lbc.group_id, group->lbc.id));
}

static void random_present(struct trial *trial)
{
    struct nlb_state *start = &trial->start;
    const bool there = trial->model.lbc.reused || trial_has_chance(trial, 85);
    const unsigned count = trial_dice(trial, 7);

    for (unsigned i = 0; i < count; i++) {
        const size_t port = trial_dice(trial, CCM_ARRAY_LEN(ports));
        const bool shared = ports[port].shared != NULL && trial_has_chance(trial, 50);

        (void)add_group(trial, start, shared ? ports[port].shared : ports[port].key,
                        protocols[trial_dice(trial, 3)], ports[port].start != ports[port].end,
                        true); /* it is in the list */
    }
    if (there) {
        random_assert_ok(lbc_text_set(&start->lb.lbc.id, "nlb-0"));
        random_lb(trial, &start->lb, NULL);
        random_zones(trial, &start->lb);
        lb_clear_package(&start->lb, start->lb.lbc.texts[NLB_LB_ADDRESS_TYPE]);
        lb_clear_package(&start->lb, trial->model.want.lb.lbc.texts[NLB_LB_ADDRESS_TYPE]);
        if (trial->model.lbc.reused) { /* its type stays */
            lb_clear_package(&trial->model.want.lb, start->lb.lbc.texts[NLB_LB_ADDRESS_TYPE]);
        }
        random_groups_joined(trial, &start->lb.security_groups,
                             trial->model.groups_explicit ? 4 : 3);
        for (size_t i = 0; i < CCM_ARRAY_LEN(ports); i++) {
            if (trial_has_chance(trial, 50)) {
                random_listener(trial, i);
            }
        }
    }
    if (!there && trial->model.want.lb.zone_count == 0) {
        random_zones(trial, &trial->model.want.lb);
        trial->model.zones_explicit = true;
    }
    start->security_group.known = true;
    if (!trial->model.lbc.reused && trial_has_chance(trial, 50)) {
        random_guard(trial, &start->security_group, true);
        start->security_group.known = true;
        start->security_group.wanted = false;
        if (there && start->lb.security_groups.len < 4 && trial_has_chance(trial, 60)) {
            random_assert_ok(lbc_texts_put(&start->lb.security_groups, start->security_group.id));
        }
    }
    start->lbc.groups_known = true;
    start->lbc.listeners_known = true;
}

void trial_init(struct trial *trial, uint64_t seed)
{
    memset(trial, 0, sizeof(*trial));
    trial->seed = seed;
    trial->random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    trial->service = obj_service();
    trial->fail_at = TRIAL_NEVER;
    for (int i = 0; i < 4; i++) {
        (void)trial_dice(trial, 2); /* seeds close to one another shall not begin alike */
    }
    trial->model.lbc.want = &trial->model.want.lbc;
    trial->model.lbc.ops = &nlb_model_ops;
    trial->model.lbc.reused = trial_has_chance(trial, 30);
    trial->model.lbc.override = trial->model.lbc.reused && trial_has_chance(trial, 70);
    random_wishes(trial);
    random_present(trial);
}

void trial_fini(struct trial *trial)
{
    nlb_state_fini(&trial->start);
    nlb_state_fini(&trial->have);
    nlb_state_fini(&trial->model.want);
}
