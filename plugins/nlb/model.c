#include "model.h"

#include "annotations.h"
#include "model_parts.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void nlb_model_fini(struct nlb_model *model)
{
    lbc_model_fini(&model->lbc);
    nlb_state_fini(&model->want);
    memset(model, 0, sizeof(*model));
}

static int model_report_port(const struct nlb_builder *b, const struct nlb_desired_port *want,
                             struct ccm_error *err)
{
    (void)ccm_error_wrap(err, 0, "port %lld/%s", (long long)want->port->port,
                         want->protocol == LBC_OTHER
                             ? want->port->protocol
                             : lbc_protocol_name(want->protocol)); /* sets the text only */
    lbc_problems_add(b->problems, err, NULL);
    b->model->lbc.incomplete = true;
    return 0;
}

/* What has to be known before there can be a listener at all. */
static int port_read_annotations(const struct nlb_builder *b, uint64_t index,
                                 struct nlb_desired_port *want, struct ccm_error *err)
{
    const struct ccm_service *service = b->in->lbc.service;
    int r = nlb_protocol_of(service, want->port, &want->protocol, err);

    if (r == 0 && b->mode != LBC_MODE_ENI &&
        lbc_anno_get(&service->meta, "listener-port-range")[0] != '\0') {
        r = ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                          "listener port range can only be used for eni backend type service");
    }
    r = r < 0 ? r : nlb_span_of(service, want->port, &want->span, err);
    nlb_chosen_group_of(service, want->port, want->chosen);
    return r < 0 ? r : nlb_check_overlap(service, index, err);
}

static int add_listener(struct nlb_builder *b, const struct nlb_desired_port *want,
                        struct ccm_error *err)
{
    return nlb_model_listener(b->model, b->in, want) < 0 ? ccm_error_nomem(err) : 0;
}

/* An annotation that is refused leaves it open what the port is to be. It was told for all ports
 * at once. */
static bool port_is_open(const struct nlb_builder *b, const struct nlb_desired_port *want)
{
    const struct lbc_refusals *refused = b->in->lbc.refused;

    return lbc_refusals_has(refused, "protocol-port") ||
           lbc_refusals_has(refused, "listener-port-range") ||
           (lbc_refusals_has(refused, "vgroup-port") && want->chosen[0] == '\0');
}

/* The group of whatever listener serves the port now: one of these protocols. */
static int add_open_groups(struct nlb_builder *b, const struct nlb_desired_port *want,
                           struct ccm_error *err)
{
    int r = 0;

    for (int i = 0; r != -ENOMEM && i < LBC_OTHER; i++) {
        CCM_CLEANUP(ccm_freep) char *name = NULL;
        struct nlb_desired_port one = *want;

        if ((NLB_PROTOCOLS >> i & 1U) == 0) {
            continue;
        }
        one.open = true;
        one.protocol = (enum lbc_protocol)i;
        name = nlb_model_group_name(b, &one);
        one.group_name = name;
        r = name == NULL ? ccm_error_nomem(err) : nlb_model_group(b, &one, err);
    }
    return r == -ENOMEM ? r : 0; /* what else is wrong with it, is for when it is known */
}

/* A broken listener keeps what serves the port today, whatever it is. */
static int port_give_up(struct nlb_builder *b, struct nlb_desired_port *want, struct ccm_error *err)
{
    const int64_t number = want->port->port;
    const bool open = port_is_open(b, want);

    b->model->lbc.incomplete = true;
    if (!open) {
        (void)model_report_port(b, want, err); /* always 0 */
    }
    if (number < 1 || number > UINT16_MAX) {
        return 0;
    }
    want->broken = true;
    want->chosen[0] = '\0';
    want->span = (struct nlb_span){ (uint16_t)number, (uint16_t)number, false };
    if (open && add_open_groups(b, want, err) < 0) {
        return -ENOMEM;
    }
    return add_listener(b, want, err);
}

/* Whether the group of the port may be one that an entry names which cannot be read. */
static bool is_unchosen(const struct nlb_builder *b, const struct nlb_desired_port *want)
{
    return b->model->lbc.reused && want->chosen[0] == '\0' &&
           lbc_refusals_has(b->in->lbc.refused, "vgroup-port");
}

static int build_port(struct nlb_builder *b, uint64_t index, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *name = NULL;
    struct nlb_desired_port want = { .port = b->in->lbc.service->ports[index],
                                     .protocol = LBC_OTHER };
    int r = port_read_annotations(b, index, &want, err);

    if (r < 0 || is_unchosen(b, &want)) {
        return port_give_up(b, &want, err);
    }
    name = nlb_model_group_name(b, &want);
    if (name == NULL) {
        return ccm_error_nomem(err);
    }
    want.group_name = name;
    r = nlb_model_group(b, &want, err);
    if (r == -ENOMEM) {
        return r;
    }
    if (r < 0) {
        (void)model_report_port(b, &want, err); /* always 0 */
        want.broken = true;
    }
    return add_listener(b, &want, err);
}

static void keep_fields(struct nlb_model *model, const struct lbc_refusals *refused)
{
    static const struct {
        const char *suffix;
        enum nlb_lb_field field;
    } rows[] = {
        { "name", NLB_LB_NAME },
        { "address-type", NLB_LB_ADDRESS_TYPE },
        { "ipv6-address-type", NLB_LB_IPV6_TYPE },
        { "ip-version", NLB_LB_IP_VERSION },
        { "resource-group-id", NLB_LB_GROUP },
        { "bandwidth-package-id", NLB_LB_PACKAGE },
        { "cross-zone-enabled", NLB_LB_CROSS_ZONE },
        { "modification-protection", NLB_LB_MODIFICATION },
        { "delete-protection", NLB_LB_PROTECT },
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        if (lbc_refusals_has(refused, rows[i].suffix)) {
            model->kept |= 1U << rows[i].field;
        }
    }
}

/* What stays as it is beside single attributes of listeners and groups. */
static void keep_refused(struct nlb_model *model, const struct nlb_model_input *in)
{
    const struct lbc_refusals *refused = in->lbc.refused;
    const bool version = lbc_refusals_has(refused, "ip-version");

    keep_fields(model, refused);
    model->keep_security = lbc_refusals_has(refused, "security-group-ids") ||
                           (version && in->lbc.service->source_range_count > 0);
    model->lbc.peer_weights = lbc_refusals_decide(refused, LBC_DECIDES_WEIGHTS);
    model->lbc.keep_weights = model->lbc.keep_weights || model->lbc.peer_weights;
    model->lbc.keep_backends = lbc_refusals_freeze(
        refused, lbc_backend_mode(in->lbc.service, in->lbc.default_eni) == LBC_MODE_ENI);
    model->lbc.incomplete = model->lbc.keep_backends;
}

static int model_build_security_group(struct nlb_model *model, const struct nlb_model_input *in,
                                      struct lbc_problems *problems, struct ccm_error *err)
{
    int r = 0;

    if (model->lbc.reused || in->lbc.service->source_range_count == 0 || model->keep_security) {
        return 0;
    }
    r = nlb_model_security_group(&model->want.security_group, in->lbc.service, in->lbc.cluster_id,
                                 err);
    if (r == -EINVAL) {
        nlb_security_group_fini(&model->want.security_group);
        lbc_problems_add(problems, err, NULL);
        model->keep_security = true;
        r = 0;
    }
    return r;
}

int nlb_model_begin(struct nlb_model *model, const struct nlb_model_input *in,
                    struct lbc_problems *problems, struct ccm_error *err)
{
    const struct ccm_object *meta = &in->lbc.service->meta;
    const struct lbc_node_rules rules = {
        .drop_unschedulable = lbc_anno_is_on(lbc_anno_get(meta, "remove-unscheduled-backend")),
        .labels = lbc_anno_get(meta, "backend-label"),
    };
    struct nlb_builder b = {
        .model = model,
        .in = in,
        .problems = problems,
        .mode = lbc_backend_mode(in->lbc.service, in->lbc.default_eni),
        .families = nlb_model_families(in->lbc.service),
    };

    memset(model, 0, sizeof(*model));
    if (nlb_model_lb(model, in->lbc.service, in->resource_group) < 0 ||
        lbc_node_table_init(&model->lbc.nodes, in->lbc.nodes, in->lbc.node_count, &rules) < 0) {
        return ccm_error_nomem(err);
    }
    keep_refused(model, in);
    if (model_build_security_group(model, in, problems, err) < 0) {
        return -ENOMEM;
    }
    for (uint64_t i = 0; i < in->lbc.service->port_count; i++) {
        const int r = build_port(&b, i, err);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}
