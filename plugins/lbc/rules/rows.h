/*
 * How rows of annotations are written, and the rows of what the engine itself acts on, which
 * products take as they are: `api` is how their cloud calls it. See annotation.h.
 */
#ifndef CCM_LBC_ROWS_H
#define CCM_LBC_ROWS_H

#include "lbc/model/annotation.h"
#include "lbc/rules/lb_attrs.h"

/* How a row begins; protocols: 1U << enum lbc_protocol, 0 = all. */
#define LBC_ROW_INSTANCE(suffix) .name = (suffix), .group = LBC_ANNO_INSTANCE
#define LBC_ROW_LISTENER(suffix, protocols)                                                        \
    .name = (suffix), .group = LBC_ANNO_LISTENER, .on = (protocols)
#define LBC_ROW_SERVERS(suffix)       .name = (suffix), .group = LBC_ANNO_SERVERS
#define LBC_ROW_BACKEND(suffix, what) .name = (suffix), .group = LBC_ANNO_BACKEND, .decides = (what)
#define LBC_ROW_CLASS(key)            .name = (key), .group = LBC_ANNO_CLASS

/* A number of this range. */
#define LBC_ROW_NUMBER(low, high) .type = LBC_ANNO_INT, .min = (low), .max = (high)

/* clang-format off */
#define LBC_ROW_ID(api)                                                                            \
    { LBC_ROW_INSTANCE("id"), .decides = LBC_DECIDES_ALL, .flags = LBC_ANNO_FIXED, .field = (api), \
      .example = "lb-0123456789abcdef",                                                            \
      .help = "Use an existing load balancer, made in the console, instead of a new one." }
#define LBC_ROW_NAME(api)                                                                          \
    { LBC_ROW_INSTANCE("name"), .field = (api), .id = 1U + LBC_LB_NAME,                            \
      .example = "web",                                                                            \
      .help = "Name of the load balancer; it is found again by tag, whatever its name. Not the "   \
              "default name of another Service (a and 31 hexadecimal digits)." }
#define LBC_ROW_TAGS(api)                                                                          \
    { LBC_ROW_INSTANCE("additional-resource-tags"), .field = (api),                                \
      .example = "team=shop,stage=test",                                                           \
      .help = "Further tags, key=value separated by commas." }
#define LBC_ROW_PRESERVE                                                                           \
    { LBC_ROW_INSTANCE("preserve-lb-on-delete"),                                                   \
      .example = "true",                                                                           \
      .help = "Any value but false, off, no or 0: the load balancer stays, with all that serves, " \
              "when the Service is deleted." }
#define LBC_ROW_OVERRIDE                                                                           \
    { LBC_ROW_INSTANCE("force-override-listeners"), .type = LBC_ANNO_ENUM,                         \
      .values = "true|false", .fallback = "false",                                                 \
      .help = "With annotation id. true: manage listeners of the existing load balancer too, and " \
              "take over those that are on the ports of the Service. Else listeners are made by "  \
              "hand. Taken away later: listeners that were created or taken over serve on as "     \
              "they are, and follow their server group; each is deleted with its port and the "    \
              "Service." }
#define LBC_ROW_PROTOCOLS(known, sample)                                                           \
    { LBC_ROW_LISTENER("protocol-port", 0), .decides = LBC_DECIDES_PORTS, .type = LBC_ANNO_ANY,    \
      .fallback = "protocol of the port",                                                          \
      .form = "protocol:port separated by commas, such as " sample,                                \
      .example = sample,                                                                           \
      .help = "Protocol by port: protocol:port separated by commas; " known "." }
#define LBC_ROW_LABELS                                                                             \
    { LBC_ROW_BACKEND("backend-label", LBC_DECIDES_BACKENDS), .type = LBC_ANNO_ANY,                \
      .form = "label=value separated by commas",                                                   \
      .example = "zone=a",                                                                         \
      .help = "Only nodes with all these labels: k1=v1,k2=v2." }
#define LBC_ROW_UNSCHEDULED(kind)                                                                  \
    { LBC_ROW_BACKEND("remove-unscheduled-backend", LBC_DECIDES_ATTRIBUTE), .type = (kind),        \
      .fallback = "off", .example = "on",                                                          \
      .help = "on: nodes that are cordoned take no traffic." }
#define LBC_ROW_FAMILIES(more)                                                                     \
    { LBC_ROW_BACKEND("backend-ip-version", LBC_DECIDES_BACKENDS), .type = LBC_ANNO_ENUM,          \
      .flags = LBC_ANNO_NO_CASE, .values = "ipv4|ipv6|dualstack", .fallback = "ipv4",              \
      .help = "Address family of the backends" more "." }
#define LBC_ROW_GROUPS(more)                                                                       \
    { LBC_ROW_BACKEND("vgroup-port", LBC_DECIDES_PORTS),                                           \
      .form = "group:port separated by commas",                                                    \
      .example = "rsp-0123456789:80",                                                              \
      .help = "Use existing server groups by port: group:port separated by commas." more }
#define LBC_ROW_KEEP_WEIGHTS(kind)                                                                 \
    { LBC_ROW_BACKEND("ignore-weight-update", LBC_DECIDES_ATTRIBUTE), .type = (kind),              \
      .flags = LBC_ANNO_NO_CASE, .fallback = "off", .example = "on",                               \
      .help = "on: weights that somebody changed in the console stay." }
#define LBC_ROW_WEIGHT(api, message)                                                               \
    { LBC_ROW_BACKEND("default-weight", LBC_DECIDES_WEIGHTS), LBC_ROW_NUMBER(0, 100),              \
      .fallback = "100", .field = (api), .says = (message), .label = "default weight",             \
      .example = "50",                                                                             \
      .help = "Weight of one backend, not with Local policy." }
#define LBC_ROW_BACKEND_TYPE                                                                       \
    { LBC_ROW_CLASS(LBC_BACKEND_TYPE_KEY), .fallback = "configuration",                            \
      .example = LBC_BACKEND_TYPE_PODS,                                                            \
      .help = LBC_BACKEND_TYPE_PODS ": pods by their own address; anything else: nodes." }
/* clang-format on */

#endif
