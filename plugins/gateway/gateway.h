/*
 * What the parts of the plugin share: names, and the instance. Every thread; what is written in it
 * after create() is guarded by memory.h.
 */
#ifndef CCM_GATEWAY_GATEWAY_H
#define CCM_GATEWAY_GATEWAY_H

#include "lbc/controller.h"
#include "lbc/custom/front.h"
#include "past.h"

#define GATEWAY_GROUP      "gateway.networking.k8s.io"
#define GATEWAY_V1         GATEWAY_GROUP "/v1"
#define GATEWAY_V1BETA1    GATEWAY_GROUP "/v1beta1"
#define GATEWAY_V1ALPHA2   GATEWAY_GROUP "/v1alpha2"
#define GATEWAY_CONTROLLER "ccm.alibabacloud.com/nlb"
#define GATEWAY_FINALIZER  "ccm.alibabacloud.com/gateway-nlb"
/* Of classes that Gateways use, by the API. */
#define GATEWAY_CLASS_FINALIZER "gateway-exists-finalizer." GATEWAY_GROUP
#define GATEWAY_COMPONENT       "gateway-controller"
#define GATEWAY_CLASS           "ccm.alibabacloud.com/gateway" /* of Gateways, shown as Services */
#define GATEWAY_KIND            'g'                            /* of struct lbc_served */
#define GATEWAY_NAME_PREFIX     "gateway_"                     /* no Service is called so */
/* In tls.options of a listener: certificates by id, the first of them by default. */
#define GATEWAY_CERTIFICATES_KEY "ccm.alibabacloud.com/certificate-ids"

/* Reasons that stand in more than one place. */
#define GATEWAY_ACCEPTED      "Accepted"
#define GATEWAY_RESOLVED_REFS "ResolvedRefs"
#define GATEWAY_PROGRAMMED    "Programmed"
#define GATEWAY_CONFLICTED    "Conflicted"
#define GATEWAY_INVALID       "Invalid"
#define GATEWAY_PENDING       "Pending"
#define GATEWAY_NOT_VALID     "ListenersNotValid"
#define GATEWAY_INVALID_REF   "InvalidCertificateRef"

struct gateway {
    struct lbc_custom_front front; /* Gateways as Services, view.c; first */
    const struct ccm_host *host;   /* the daemon's */
    /* Those of NLB, but for what makes Gateways no Services; controller.c. */
    struct lbc_lint_rules rules;
    struct lbc_check checks[32];
    struct lbc_product product;
    struct lbc_model_ops model;
    struct lbc_ops ops;
    struct lbc_instance *lbc;
    struct alilb_uploads *uploads; /* certificates of Secrets; secret.c */
    struct gateway_past *past;
    const char *controller; /* controllerName of classes that are ours */
    char finalizer[64];     /* of Gateways: GATEWAY_FINALIZER, or one of that controllerName */
    char *mark;             /* of certificates, for struct alilb_call; NULL = the usual one */
};

#endif
