/*
 * Attributes of a listener that an option of the plugin had set for a field of the Service, and
 * that the field does not ask for any more. They are known by their values: nothing is remembered,
 * so that it works after a restart as well.
 */
#include "lbc/apply/compare.h"
#include "model_listeners.h"
#include "plan_parts.h"
#include "util/parse.h"
#include "util/text.h"

/* Where API servers take healthCheckNodePorts from, unless configured otherwise. */
#define NODE_PORT_MIN 30000
#define NODE_PORT_MAX 32767

#define MIXED_PORTS UINT32_MAX
#define PORT_TEXT   16

static const char *field_get(const struct lbc_listener *have, const char *field)
{
    return lbc_attrs_get(&have->attrs, clb_field_find(field));
}

/* Where the check asks; 0 = the port that serves. */
static uint32_t check_get_port(const struct lbc_listener *have)
{
    const char *text = field_get(have, CLB_CHECK_PORT);
    uint32_t port = 0;

    return text != NULL && ccm_parse_u32(text, 1, UINT16_MAX, &port) == 0 ? port : 0;
}

/* Whether the attribute is as the option sets it, or annotations or fields decide about it. */
static bool field_is_set(const struct lbc_listener *want, const struct lbc_listener *have,
                         const struct clb_check_field *field)
{
    return !lbc_attr_applies(clb_field_find(field->name), want->protocol) ||
           clb_listener_decides(want, field->name) ||
           ccm_text_equal(field_get(have, field->name), field->value);
}

static bool group_has_port(const struct lbc_group *group, uint32_t port)
{
    for (size_t i = 0; group != NULL && i < group->backends.len; i++) {
        if (group->backends.items[i].port == port) {
            return true;
        }
    }
    return false;
}

static bool check_is_at_backends(const struct lbc_work *work, const struct lbc_listener *have,
                                 uint32_t port)
{
    return group_has_port(lbc_state_group_by_id(work->have, have->group_id), port);
}

static bool service_has_node_port(const struct ccm_service *service, uint32_t port)
{
    for (uint64_t i = 0; i < service->port_count; i++) {
        if (service->ports[i]->node_port == port) {
            return true;
        }
    }
    return false;
}

/* The listener has the check of the option, and the Service does not ask for it. A port that
 * serves is no healthCheckNodePort: a person has chosen that check. While the option is off, and
 * may never have been on, only a port counts that a person would hardly choose. */
static bool check_is_left(const struct lbc_work *work, const struct lbc_listener *want,
                          const struct lbc_listener *have)
{
    const uint32_t port = check_get_port(have);

    if (port == 0 || want->protocol == LBC_UDP || clb_listener_decides(want, CLB_CHECK_PORT) ||
        check_is_at_backends(work, have, port) || service_has_node_port(work->in->service, port)) {
        return false;
    }
    for (const struct clb_check_field *one = clb_node_check; one->name != NULL; one++) {
        if (!field_is_set(want, have, one)) {
            return false;
        }
    }
    return (clb_work_model(work)->extras & CLB_EXTRA_HEALTH) != 0 ||
           port == work->in->service->health_check_node_port ||
           (port >= NODE_PORT_MIN && port <= NODE_PORT_MAX);
}

/* With the option on the field decides where no annotation does. Off, only a timeout that the
 * manifest has itself is the option's: the most that the cloud takes stands for the default, too,
 * and a person who wants ClientIP sets it without the option. */
static bool affinity_is_left(const struct lbc_work *work, const struct lbc_listener *want,
                             const struct lbc_listener *have)
{
    const struct ccm_service *service = work->in->service;
    const char *present = field_get(have, "PersistenceTimeout");
    char timeout[CLB_TIMEOUT_TEXT];

    if (want->protocol != LBC_TCP || ccm_text_empty(present) || ccm_text_equal(present, "0") ||
        clb_listener_decides(want, "PersistenceTimeout")) {
        return false;
    }
    return (clb_work_model(work)->extras & CLB_EXTRA_AFFINITY) != 0 ||
           (clb_affinity_timeout(service, timeout) && ccm_text_equal(present, timeout) &&
            service->session_affinity_timeout_s > 0 &&
            service->session_affinity_timeout_s < CLB_TIMEOUT_MAX);
}

/* --- the port that serves --- */

/* The port of all backends; 0 = there are none. */
static uint32_t group_get_port(const struct lbc_group *group)
{
    uint32_t port = 0;

    for (size_t i = 0; group != NULL && i < group->backends.len; i++) {
        const uint32_t one = group->backends.items[i].port;

        port = port == 0 || port == one ? one : MIXED_PORTS;
    }
    return port;
}

static uint32_t listener_get_port(const struct lbc_work *work, const struct lbc_listener *want)
{
    const uint32_t port = group_get_port(want->group);

    return port != 0 ? port : group_get_port(lbc_work_group_of(work, want));
}

/* A tcp listener cannot go back to "the port that serves", so it was given that port by number,
 * which follows the backends. */
static bool check_is_pinned(const struct lbc_work *work, const struct lbc_listener *want,
                            const struct lbc_listener *have)
{
    const uint32_t port = check_get_port(have);

    return port != 0 && want->protocol == LBC_TCP && !clb_listener_decides(want, CLB_CHECK_PORT) &&
           check_is_at_backends(work, have, port);
}

bool clb_plan_check_needs_rebuild(const struct lbc_work *work, const struct lbc_listener *want,
                                  const struct lbc_listener *have)
{
    return want->protocol == LBC_TCP && listener_get_port(work, want) == MIXED_PORTS &&
           check_is_left(work, want, have);
}

/* --- back --- */

static int field_put_back(const struct lbc_listener *want, const struct lbc_listener *have,
                          const char *field, const char *value, struct lbc_attrs *ret)
{
    const struct lbc_anno *row = clb_field_find(field);

    return value == NULL || !lbc_attr_applies(row, want->protocol) ||
                   clb_listener_decides(want, field) ||
                   ccm_text_equal(field_get(have, field), value)
               ? 0
               : lbc_attrs_set(ret, row, value, true);
}

/* Where the check asks by default, as the cloud takes it; false: not known, or several ports. */
static bool check_format_default(const struct lbc_work *work, const struct lbc_listener *want,
                                 char ret[static PORT_TEXT])
{
    const uint32_t port = listener_get_port(work, want);

    if (want->protocol == LBC_TCP) {
        ccm_text_printf(ret, PORT_TEXT, "%u", port);
        return port != 0 && port != MIXED_PORTS;
    }
    ccm_text_printf(ret, PORT_TEXT, "-520"); /* the port that serves */
    return true;
}

int clb_plan_take_back(const struct lbc_work *work, const struct lbc_listener *want,
                       const struct lbc_listener *have, struct lbc_attrs *ret)
{
    char port[PORT_TEXT];
    const bool known = check_format_default(work, want, port);
    const bool left = known && check_is_left(work, want, have);
    int r = affinity_is_left(work, want, have)
                ? field_put_back(want, have, "PersistenceTimeout", "0", ret)
                : 0;

    if (r == 0 && (left || (known && check_is_pinned(work, want, have)))) {
        r = field_put_back(want, have, CLB_CHECK_PORT, port, ret);
    }
    for (const struct clb_check_field *one = clb_node_check; left && r == 0 && one->name != NULL;
         one++) {
        r = field_put_back(want, have, one->name, one->back, ret);
    }
    return r;
}
