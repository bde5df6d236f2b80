#include "want.h"

#include "util/text.h"

#include <errno.h>
#include <string.h>

#define LABEL_MAX 63
#define NODE_IP   "alpha.kubernetes.io/provided-node-ip"

void node_want_fini(struct node_want *want)
{
    node_addresses_fini(&want->addresses);
}

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool node_label_is_valid(const char *value)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
    const size_t len = strlen(value);

    return len == 0 || (len <= LABEL_MAX && strspn(value, allowed) == len && is_alnum(value[0]) &&
                        is_alnum(value[len - 1]));
}

uint32_t node_want_facts(const cJSON *machine)
{
    uint32_t facts = 0;

    for (int fact = 0; fact < NODE_FACTS; fact++) {
        if (node_machine_fact(machine, (enum node_fact)fact) != NULL) {
            facts |= UINT32_C(1) << fact;
        }
    }
    return facts;
}

static void want_make_label(const struct node_sight *sight, size_t i, struct node_want *ret)
{
    const struct node_label *label = &node_labels[i];
    const char *value = node_machine_fact(sight->machine, label->fact);
    const char *actual = ccm_object_label(&sight->node->meta, label->key);

    if (value == NULL) {
        ret->drop[i] =
            label->ours && actual != NULL && (sight->told & (UINT32_C(1) << label->fact)) != 0;
    } else if (!node_label_is_valid(value)) {
        ret->bad_value = ret->bad_label == NULL ? value : ret->bad_value;
        ret->bad_label = ret->bad_label == NULL ? label->key : ret->bad_label;
    } else if (!ccm_text_equal(value, actual)) {
        ret->labels[i] = value;
    }
}

/* Names come from the node itself. */
static bool addresses_have_machine(const struct node_addresses *list)
{
    return list->len > 0 && strcmp(list->items[0].type, "Hostname") != 0;
}

static int want_make_addresses(const struct node_rules *rules, const struct node_sight *sight,
                               struct node_want *ret)
{
    const char *own = ccm_object_annotation(&sight->node->meta, NODE_IP);
    const int r = node_machine_addresses(sight->machine, sight->node, rules->ipv6, &ret->addresses);

    if (r < 0) {
        return r;
    }
    if (!addresses_have_machine(&ret->addresses)) {
        ret->unaddressed = true;
        return 0;
    }
    if (!ccm_text_empty(own) && node_addresses_choose(&ret->addresses, own) < 0) {
        ret->no_address = own;
        return 0;
    }
    ret->set_addresses = !node_addresses_match(&ret->addresses, sight->node);
    return 0;
}

static void want_make_stopped(const struct node_sight *sight, struct node_want *ret)
{
    const char *status = node_machine_status(sight->machine);

    ret->stop = !sight->subject->stopped && strcmp(status, "Stopped") == 0 &&
                sight->node->ready != CCM_CONDITION_TRUE;
    ret->start = sight->subject->stopped && strcmp(status, "Running") == 0;
}

int node_want_make(const struct node_rules *rules, const struct node_sight *sight,
                   struct node_want *ret)
{
    const struct node_subject *subject = sight->subject;
    int r = 0;

    ret->untaint = subject->fresh && !sight->closed;
    if (sight->machine == NULL) {
        return 0;
    }
    r = want_make_addresses(rules, sight, ret);
    if (r < 0 || ret->no_address != NULL || ret->unaddressed) {
        ret->untaint = false; /* nobody can say which address it is reached at */
        return r;
    }
    for (size_t i = 0; i < NODE_LABELS; i++) {
        want_make_label(sight, i, ret);
    }
    if (subject->kind == NODE_UNNAMED) {
        ccm_text_printf(ret->provider, sizeof(ret->provider), "%.70s.%.70s",
                        ccm_json_text(sight->machine, "RegionId"),
                        ccm_json_text(sight->machine, "InstanceId"));
    }
    ret->set_network = rules->network && subject->fresh &&
                       sight->node->network_unavailable == CCM_CONDITION_ABSENT;
    if (rules->shutdown) {
        want_make_stopped(sight, ret);
    }
    return 0;
}

bool node_want_has_object(const struct node_want *want)
{
    for (size_t i = 0; i < NODE_LABELS; i++) {
        if (want->labels[i] != NULL || want->drop[i]) {
            return true;
        }
    }
    return want->provider[0] != '\0' || want->untaint || want->stop || want->start;
}

bool node_want_has_status(const struct node_want *want)
{
    return want->set_addresses || want->set_network;
}
