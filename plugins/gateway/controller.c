#include "controller.h"

#include "candidates.h"
#include "nlb/annotations.h"
#include "nlb/controller.h"
#include "nlb/lint.h"
#include "util/text.h"
#include "view.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

const struct ccm_option gateway_opt_controller = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRING,
    .name = "controller_name",
    .fallback = GATEWAY_CONTROLLER,
    .help = "spec.controllerName of the GatewayClasses that are served.",
};

const struct ccm_option gateway_opt_disable_public = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .flags = CCM_OPTION_LIVE,
    .name = NLB_PUBLIC_OPTION,
    .fallback = "false",
    .help = "Refuse to create load balancers with a public address.",
};

/* --- certificates of each listener --- */

/* While not all are known, further ones stay as they are in the cloud. */
static int listener_set_certificates(struct nlb_listener *listener,
                                     const struct gateway_listener *from)
{
    const char *ids = from->certificates;
    const char *comma = strchr(ids, ',');
    char first[128];

    ccm_text_printf(first, sizeof(first), "%.*s",
                    (int)(comma == NULL ? strlen(ids) : (size_t)(comma - ids)), ids);
    if (lbc_attrs_set(&listener->lbc.attrs, nlb_listener_field("CertificateIds"), first, true) <
        0) {
        return -ENOMEM;
    }
    listener->lbc.certs_known = !from->open;
    lbc_texts_fini(&listener->certs);
    return from->open ? 0 : lbc_texts_split(&listener->certs, comma == NULL ? "" : comma + 1);
}

static int listener_keep_certificates(struct nlb_listener *listener)
{
    listener->lbc.lacks = true;
    listener->lbc.certs_known = false;
    lbc_texts_fini(&listener->certs);
    return lbc_attrs_keep(&listener->lbc.attrs, nlb_listener_field("CertificateIds"));
}

static int controller_build_port(struct lbc_builder *b, struct lbc_desired_port *want,
                                 struct ccm_error *err)
{
    const struct gateway_listener *from = ((const struct gateway_port *)want->port)->listener;
    const struct lbc_state *desired = b->model->want;
    const size_t before = desired->listener_count;
    struct nlb_listener *listener = NULL;
    int r = 0;

    want->open = from->keeps; /* its group is not created either */
    r = nlb_model_ops.port(b, want, err);
    if (r < 0 || desired->listener_count == before) {
        return r;
    }
    listener = (struct nlb_listener *)desired->listeners[before];
    if (from->keeps) {
        r = listener_keep_certificates(listener);
    } else if (from->certificates[0] != '\0') {
        r = listener_set_certificates(listener, from);
    }
    return r < 0 ? ccm_error_nomem(err) : 0;
}

/* --- tables --- */

/* Which listener has a certificate is known here; one of a Secret is in no annotation. */
static void controller_copy_checks(struct gateway *self)
{
    size_t len = 0;

    for (const struct lbc_check *one = nlb_rules.checks;
         one->suffix != NULL && len < CCM_ARRAY_LEN(self->checks) - 1; one++) {
        if (strcmp(one->suffix, "cert-id") != 0) {
            self->checks[len++] = *one;
        }
    }
    self->rules.checks = self->checks; /* the end is zero */
}

/* Controllers of other names leave each other's Gateways alone. */
static void controller_name_finalizer(struct gateway *self)
{
    const bool usual = strcmp(self->controller, GATEWAY_CONTROLLER) == 0;
    char more[24] = "";

    if (!usual) {
        ccm_text_printf(more, sizeof(more), "-%016" PRIx64, ccm_text_hash(self->controller));
    }
    ccm_text_printf(self->finalizer, sizeof(self->finalizer), "%s%s", GATEWAY_FINALIZER, more);
}

void gateway_controller_init(struct gateway *self)
{
    static const struct lbc_served served = {
        .letter = GATEWAY_KIND, .noun = "Gateway", .resource = "gateway", .member = "addresses"
    };

    controller_name_finalizer(self);
    self->rules = nlb_rules;
    controller_copy_checks(self);
    self->rules.class_name = GATEWAY_CLASS;
    self->rules.is_ours = gateway_view_is_ours;
    self->rules.choose = NULL; /* classes are objects here */
    self->rules.takes = NULL;
    self->rules.public_text =
        "option " NLB_PUBLIC_OPTION " of plugin gateway forbids a public address: set annotation "
        "address-type to intranet";
    self->product = *nlb_ops.product;
    self->product.name = "gateway";
    self->product.finalizer = self->finalizer;
    self->product.component = GATEWAY_COMPONENT;
    self->product.reused_label = LBC_LIFE_REUSED_LABEL "gateway";
    self->product.type = "Gateway";
    self->product.served = &served;
    self->product.needs_mark = NULL; /* there are no source ranges */
    self->product.refuse = NULL;
    self->model = nlb_model_ops;
    self->model.rules = &self->rules;
    self->model.candidates = gateway_candidates_build;
    self->model.find_node_port = gateway_find_node_port;
    self->model.port = controller_build_port;
    self->ops = nlb_ops;
    self->ops.product = &self->product;
    self->ops.model = &self->model;
}
