#include "annotations.h"

#include "alilb/class.h"
#include "lbc/model/allow.h"
#include "lbc/model/attrs.h"
#include "lbc/model/rows.h"
#include "state.h"

#define TCP   (1U << LBC_TCP)
#define UDP   (1U << LBC_UDP)
#define HTTP  (1U << LBC_HTTP)
#define HTTPS (1U << LBC_HTTPS)
#define L4    (TCP | UDP)
#define L7    (HTTP | HTTPS)

/* A text of the load balancer. */
#define LB(number) .id = 1U + (number)
/* A number of this range; what is none is told as most are. */
#define NUMBER(low, high) LBC_ROW_NUMBER(low, high), .says = LBC_ANNO_SAYS_INTEGER

static const struct lbc_anno rows[] = {
    { LBC_ROW_INSTANCE("address-type"), .type = LBC_ANNO_ENUM, .values = "internet|intranet",
      .fallback = "internet", .field = "AddressType", .cloud = LBC_ATTR_ASKED,
      .immutable = "LoadBalancer AddressType once created. delete and retry",
      LB(CLB_LB_ADDRESS_TYPE),
      .help = "internet for a public address, intranet for one of a vSwitch." },
    LBC_ROW_ID("LoadBalancerId"),
    LBC_ROW_NAME("LoadBalancerName"),
    { LBC_ROW_INSTANCE("resource-group-id"), .field = "ResourceGroupId",
      .immutable = "ResourceGroupId once created", LB(CLB_LB_GROUP),
      .help = "Resource group of the load balancer." },
    LBC_ROW_TAGS("Tag"),
    { LBC_ROW_INSTANCE("delete-protection"), .type = LBC_ANNO_SWITCH, .fallback = "on",
      .field = "DeleteProtection", .cloud = LBC_ATTR_OWN, LB(CLB_LB_PROTECT),
      .help =
          "Protection against deletion in the console; never blocks the deletion of the Service." },
    { LBC_ROW_INSTANCE("modification-protection"), .type = LBC_ANNO_ENUM,
      .values = "ConsoleProtection|NonProtection", .fallback = "ConsoleProtection",
      .field = "ModificationProtectionStatus", .cloud = LBC_ATTR_ASKED, LB(CLB_LB_MODIFICATION),
      .help = "Protection against changes in the console." },
    LBC_ROW_PRESERVE,
    { LBC_ROW_INSTANCE("vswitch-id"), .fallback = "one of the configured vSwitches",
      .field = "VSwitchId", .immutable = "LoadBalancer vSwitch once created. delete and retry",
      LB(CLB_LB_VSWITCH), .help = "vSwitch of an intranet load balancer." },
    { LBC_ROW_INSTANCE("network-type"), .type = LBC_ANNO_ENUM, .values = "classic|vpc",
      .read_name = "NetworkType", .cloud = LBC_ATTR_LATER,
      .immutable = "LoadBalancer network type once created", LB(CLB_LB_NETWORK),
      .help = "Network type of the load balancer." },
    { LBC_ROW_INSTANCE("charge-type"), .type = LBC_ANNO_ENUM,
      .values = "paybytraffic|paybybandwidth", .field = "InternetChargeType",
      .read_name = "InternetChargeTypeAlias", LB(CLB_LB_TRAFFIC_CHARGE),
      .help = "How traffic of an internet load balancer is billed." },
    { LBC_ROW_INSTANCE("bandwidth"), LBC_ROW_NUMBER(1, 5000), .flags = LBC_ANNO_ZERO,
      .field = "Bandwidth", LB(CLB_LB_BANDWIDTH), .label = "bandwidth", .form = "Mbit/s",
      .help = "Peak bandwidth in Mbit/s, with paybybandwidth." },
    { LBC_ROW_INSTANCE("spec"), .field = "LoadBalancerSpec", LB(CLB_LB_SPEC),
      .help = "Size class, with PayBySpec." },
    { LBC_ROW_INSTANCE("instance-charge-type"), .type = LBC_ANNO_ENUM, .flags = LBC_ANNO_NO_CASE,
      .values = "PayBySpec|PayByCLCU", .fallback = "PayByCLCU", .field = "InstanceChargeType",
      .cloud = LBC_ATTR_ASKED, LB(CLB_LB_CHARGE),
      .help = "How the load balancer itself is billed." },
    { LBC_ROW_INSTANCE("master-zoneid"), .field = "MasterZoneId",
      .immutable = "LoadBalancer master zone id once created", LB(CLB_LB_MASTER),
      .help = "Zone that serves." },
    { LBC_ROW_INSTANCE("slave-zoneid"), .field = "SlaveZoneId",
      .immutable = "LoadBalancer slave zone id once created", LB(CLB_LB_SLAVE),
      .help = "Zone that takes over." },
    { LBC_ROW_INSTANCE("ip-version"), .type = LBC_ANNO_ENUM, .flags = LBC_ANNO_NO_CASE,
      .values = "ipv4|ipv6", .fallback = "ipv4", .field = "AddressIPVersion",
      .immutable = "LoadBalancer AddressIPVersion once created", LB(CLB_LB_IP_VERSION),
      .help = "Address family of the load balancer." },
    { LBC_ROW_INSTANCE("ip"), .field = "Address", .immutable = "LoadBalancer address once created",
      LB(CLB_LB_ADDRESS), .help = "Address inside the vSwitch." },
    { LBC_ROW_INSTANCE("external-ip-type"), .type = LBC_ANNO_ENUM, .values = "eip",
      .help = "Show the bound elastic address in the status." },
    { LBC_ROW_INSTANCE("hostname"),
      .help = "Show this name in the status instead of the address." },
    LBC_ROW_OVERRIDE,
    LBC_ROW_PROTOCOLS("tcp, udp, http or https", "https:443,http:80"),
    { LBC_ROW_LISTENER("scheduler", 0), .type = LBC_ANNO_ENUM, .values = "rr|wrr|wlc|sch|tch|qch",
      .fallback = "rr", .field = "Scheduler", .cloud = LBC_ATTR_TOP | LBC_ATTR_ASKED,
      .help = "How connections are shared out; Local policy goes best with wrr." },
    { LBC_ROW_LISTENER("cert-id", HTTPS), .field = "ServerCertificateId", .place = 11,
      .ids = LBC_ALLOW_CERTIFICATE, .help = "Certificate of https listeners." },
    { LBC_ROW_LISTENER("tls-cipher-policy", HTTPS), .type = LBC_ANNO_ENUM,
      .values = "tls_cipher_policy_1_0|tls_cipher_policy_1_1|tls_cipher_policy_1_2|"
                "tls_cipher_policy_1_2_strict|tls_cipher_policy_1_2_strict_with_1_3",
      .field = "TLSCipherPolicy", .place = 12, .help = "TLS policy of https listeners." },
    { LBC_ROW_LISTENER("http2-enabled", HTTPS), .type = LBC_ANNO_SWITCH, .field = "EnableHttp2",
      .place = 11, .help = "HTTP/2 of https listeners." },
    { LBC_ROW_LISTENER("domain-extensions", HTTPS), .flags = LBC_ANNO_EMPTY,
      .ids = LBC_ALLOW_CERTIFICATE, .piece = 1, .form = "domain:certificate separated by commas",
      .help = "Further certificates by domain: domain:certificate separated by commas." },
    { LBC_ROW_LISTENER("forward-port", HTTP), .decides = LBC_DECIDES_PORTS, .flags = LBC_ANNO_EMPTY,
      .form = "http port:https port separated by commas, such as 80:443",
      .field = "ListenerForward", .place = 12, .cloud = LBC_ATTR_CREATE,
      .help = "Redirect http ports to https ports: 80:443 separated by commas." },
    { LBC_ROW_LISTENER("idle-timeout", L7), NUMBER(1, 60), .flags = LBC_ANNO_ZERO,
      .field = "IdleTimeout", .place = 10,
      .help = "Seconds an idle client connection is kept, http and https." },
    { LBC_ROW_LISTENER("request-timeout", L7), NUMBER(1, 180), .flags = LBC_ANNO_ZERO,
      .field = "RequestTimeout", .place = 10,
      .help = "Seconds a backend may take to answer, http and https." },
    { LBC_ROW_LISTENER("sticky-session", L7), .type = LBC_ANNO_SWITCH, .fallback = "off",
      .field = "StickySession", .place = 9, .cloud = LBC_ATTR_ASKED,
      .help = "Session persistence by cookie, http and https." },
    { LBC_ROW_LISTENER("sticky-session-type", L7), .type = LBC_ANNO_ENUM, .values = "insert|server",
      .field = "StickySessionType", .place = 9, .help = "Who sets the cookie." },
    { LBC_ROW_LISTENER("cookie-timeout", L7), NUMBER(1, 86400), .flags = LBC_ANNO_ZERO,
      .field = "CookieTimeout", .place = 9, .help = "Life of an inserted cookie in seconds." },
    { LBC_ROW_LISTENER("cookie", L7), .field = "Cookie", .place = 9,
      .help = "Name of the server's cookie." },
    { LBC_ROW_LISTENER("xforwardedfor-proto", L7), .type = LBC_ANNO_SWITCH,
      .field = "XForwardedFor_proto", .place = 9, .help = "Header with the listener's protocol." },
    { LBC_ROW_LISTENER("xforwardedfor-slbport", L7), .type = LBC_ANNO_SWITCH,
      .field = "XForwardedFor_SLBPORT", .place = 9, .help = "Header with the listener's port." },
    { LBC_ROW_LISTENER("xforwardedfor-clientsrcport", L7), .type = LBC_ANNO_SWITCH,
      .field = "XForwardedFor_ClientSrcPort", .place = 9,
      .help = "Header with the client's port." },
    { LBC_ROW_LISTENER("persistence-timeout", TCP), NUMBER(0, 3600), .field = "PersistenceTimeout",
      .place = 8, .untold = LBC_UNTOLD_ANY, .label = "persistence timeout",
      .help = "Seconds a client stays on its backend, tcp; 0 switches it off." },
    { LBC_ROW_LISTENER("established-timeout", TCP), NUMBER(10, 900), .flags = LBC_ANNO_ZERO,
      .field = "EstablishedTimeout", .place = 8,
      .help = "Seconds an established tcp connection may be silent." },
    { LBC_ROW_LISTENER("connection-drain", L4), .type = LBC_ANNO_SWITCH, .field = "ConnectionDrain",
      .place = 8, .help = "Let connections of a removed backend end by themselves, tcp and udp." },
    { LBC_ROW_LISTENER("connection-drain-timeout", L4), NUMBER(10, 900), .flags = LBC_ANNO_ZERO,
      .field = "ConnectionDrainTimeout", .place = 8, .needs = "connection-drain",
      .help = "How long they may take, in seconds." },
    { LBC_ROW_LISTENER("proxy-protocol", L4), .type = LBC_ANNO_ANY,
      .field = "ProxyProtocolV2Enabled", .place = 8, .cloud = LBC_ATTR_BOOL, .untold = "false",
      .help =
          "Proxy protocol version 2 towards the backends, tcp and udp: on; anything else is off." },
    { LBC_ROW_LISTENER("acl-status", 0), .type = LBC_ANNO_SWITCH, .field = "AclStatus", .place = 2,
      .cloud = LBC_ATTR_TOP, .help = "Access control." },
    { LBC_ROW_LISTENER("acl-id", 0), .field = "AclId", .place = 1,
      .cloud = LBC_ATTR_TOP | LBC_ATTR_LIST | LBC_ATTR_SET, .needs = "acl-status",
      .read_name = "AclIds", /* an update that says only the single one drops the others */
      .ids = LBC_ALLOW_ACL, .along = "acl-status|acl-type",
      .help = "Access control lists, separated by commas." },
    { LBC_ROW_LISTENER("acl-type", 0), .type = LBC_ANNO_ENUM, .values = "white|black",
      .field = "AclType", .place = 1, .cloud = LBC_ATTR_TOP, .needs = "acl-status",
      .help = "Whether the lists allow or deny." },
    { LBC_ROW_LISTENER("health-check-switch", L4), .type = LBC_ANNO_SWITCH,
      .field = "HealthCheckSwitch", .place = 3, .read_name = "HealthCheck",
      .help = "Health check of tcp and udp listeners." },
    { LBC_ROW_LISTENER("health-check-flag", L7), .type = LBC_ANNO_SWITCH, .fallback = "off",
      .field = "HealthCheck", .place = 3, .cloud = LBC_ATTR_ASKED,
      .help = "Health check of http and https listeners." },
    { LBC_ROW_LISTENER("health-check-type", TCP), .type = LBC_ANNO_ENUM, .values = "tcp|http",
      .field = "HealthCheckType", .place = 7, .help = "Kind of health check of tcp listeners." },
    { LBC_ROW_LISTENER("health-check-uri", TCP | L7), .field = "HealthCheckURI", .place = 6,
      .help = "Path that an http check asks for." },
    { LBC_ROW_LISTENER("health-check-domain", TCP | L7), .field = "HealthCheckDomain", .place = 7,
      .help = "Host that an http check asks for." },
    { LBC_ROW_LISTENER("health-check-httpcode", TCP | L7), .field = "HealthCheckHttpCode",
      .place = 5, .cloud = LBC_ATTR_LIST,
      .help = "Answers that count as healthy, http_2xx and so on." },
    { LBC_ROW_LISTENER("health-check-method", L7), .type = LBC_ANNO_ENUM, .values = "head|get",
      .field = "HealthCheckMethod", .place = 4, .help = "Method of an http check." },
    { LBC_ROW_LISTENER("health-check-connect-port", 0), NUMBER(-520, 65535), .flags = LBC_ANNO_ZERO,
      .field = "HealthCheckConnectPort", .place = 2,
      .absent = { L4, "-520" }, /* the backend's own */
      .help = "Port that is checked." },
    { LBC_ROW_LISTENER("health-check-interval", 0), NUMBER(1, 50), .flags = LBC_ANNO_ZERO,
      .field = "HealthCheckInterval", .place = 2, .create_name = "healthCheckInterval",
      .create_on = L4, .help = "Seconds between two checks." },
    { LBC_ROW_LISTENER("healthy-threshold", 0), NUMBER(2, 10), .flags = LBC_ANNO_ZERO,
      .field = "HealthyThreshold", .place = 2,
      .help = "Good checks in a row until a backend counts as healthy." },
    { LBC_ROW_LISTENER("unhealthy-threshold", 0), NUMBER(2, 10), .flags = LBC_ANNO_ZERO,
      .field = "UnhealthyThreshold", .place = 2,
      .help = "Bad checks in a row until a backend counts as unhealthy." },
    { LBC_ROW_LISTENER("health-check-connect-timeout", L4), NUMBER(1, 300), .flags = LBC_ANNO_ZERO,
      .field = "HealthCheckConnectTimeout", .place = 2,
      .help = "Seconds a check of tcp and udp listeners may take." },
    { LBC_ROW_LISTENER("health-check-timeout", L7), NUMBER(1, 300), .flags = LBC_ANNO_ZERO,
      .field = "HealthCheckTimeout", .place = 3,
      .help = "Seconds a check of http and https listeners may take." },
    LBC_ROW_LABELS,
    LBC_ROW_UNSCHEDULED(LBC_ANNO_TEXT),
    LBC_ROW_FAMILIES(""),
    LBC_ROW_GROUPS(""),
    { LBC_ROW_BACKEND("weight", LBC_DECIDES_WEIGHTS), LBC_ROW_NUMBER(0, 100), .field = "Weight",
      .says = LBC_ANNO_SAYS_RANGE, .label = "weight",
      .help = "Sum of weights of one server group." },
    LBC_ROW_WEIGHT("Weight", LBC_ANNO_SAYS_RANGE),
    LBC_ROW_KEEP_WEIGHTS(LBC_ANNO_TEXT),
    LBC_ROW_BACKEND_TYPE,
    { LBC_ROW_CLASS("service.beta.kubernetes.io/class"),
      .help = "Not empty: this controller leaves the Service alone." },
    ALILB_TYPE_ROW,
    { LBC_ROW_CLASS("service.beta.kubernetes.io/alibaba-cloud-loadbalancer-tunnel-type"),
      .flags = LBC_ANNO_FIXED, .help = "Present: this controller leaves the Service alone." },
};

static const struct lbc_anno mute_rows[] = {
    { .group = LBC_ANNO_LISTENER,
      .type = LBC_ANNO_INT,
      .min = -1,
      .max = 5120,
      .fallback = "-1",
      .on = L4 | HTTPS,
      .field = "Bandwidth",
      .cloud = LBC_ATTR_TOP | LBC_ATTR_ASKED },
    { .group = LBC_ANNO_LISTENER,
      .on = HTTP,
      .field = "ForwardPort",
      .place = 12,
      .cloud = LBC_ATTR_CREATE },
};

static const struct lbc_anno_instead instead[] = {
    { "security-group-ids",
      "so it keeps nobody out. To restrict access set annotations " LBC_ANNO_PREFIX
      "acl-status, acl-type and acl-id, and take this one away" },
    { NULL, NULL },
};

const struct lbc_anno_table clb_annotations = {
    .rows = rows,
    .count = CCM_ARRAY_LEN(rows),
    .mute = mute_rows,
    .mute_count = CCM_ARRAY_LEN(mute_rows),
    .kind = "CLB",
    .instead = instead,
    .foreign =
        "zone-maps|ipv6-address-type|security-group-ids|bandwidth-package-id|cross-zone-enabled|"
        "listener-port-range|cps|ppv2-pvl-ep-id-enabled|ppv2-pvl-eps-id-enabled|"
        "ppv2-pvl-vpc-id-enabled|cacert-id|cacert|alpn|alpn-policy|additional-cert-ids|"
        "server-group-type|preserve-client-ip"
};

const struct lbc_anno *clb_field_find(const char *name)
{
    return lbc_attr_row(&clb_annotations, LBC_ANNO_LISTENER, name);
}
