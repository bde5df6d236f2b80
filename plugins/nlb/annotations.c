#include "annotations.h"

#include "alilb/action.h"
#include "alilb/class.h"
#include "lbc/rules/allow.h"
#include "lbc/rules/attrs.h"
#include "lbc/rules/rows.h"
#include "state.h"

#define UDP (1U << LBC_UDP)
#define TLS (1U << LBC_TCPSSL)

/* A text of the load balancer. */
#define LB(number) .id = 1U + (number)
/* A number of this range; what is none is told as most are. */
#define NUMBER(low, high) LBC_ROW_NUMBER(low, high), .says = LBC_ANNO_SAYS_BEHIND
/* An attribute of health checks, which counts only where these are on. */
#define HEALTH(suffix, bits)                                                                       \
    LBC_ROW_SERVERS(suffix), .place = 1, .needs = "health-check-flag", .need = LBC_NEED_ON,        \
                             .cloud = (bits) | ALILB_ATTR_HEALTH

static const struct lbc_anno rows[] = {
    LBC_ROW_ID("LoadBalancerId"),
    { LBC_ROW_INSTANCE("zone-maps"), .fallback = "none", .field = "ZoneMappings",
      .ids = LBC_ALLOW_EIP, .piece = 3,
      .form = "zone:vSwitch separated by commas; each may go on :address or :address:allocation",
      .example = "cn-hangzhou-h:vsw-0123456789abcdef,cn-hangzhou-i:vsw-123456789abcdef0",
      .help = "Zones, required unless id is set: zone:vSwitch, zone:vSwitch:address or "
              "zone:vSwitch:address:allocation-id of an elastic address, separated by commas. A "
              "zone that is taken out of the list is taken off the load balancer." },
    { LBC_ROW_INSTANCE("address-type"), .type = LBC_ANNO_ENUM, .flags = LBC_ANNO_NO_CASE,
      .values = "internet|intranet", .fallback = "internet", .field = "AddressType",
      .spelling = "Internet|Intranet", .cloud = LBC_ATTR_ASKED, LB(NLB_LB_ADDRESS_TYPE),
      .help = "internet for a public address, intranet for one of a vSwitch." },
    { LBC_ROW_INSTANCE("ip-version"), .type = LBC_ANNO_ENUM, .flags = LBC_ANNO_NO_CASE,
      .values = "ipv4|dualstack", .fallback = "ipv4", .field = "AddressIpVersion",
      .spelling = "ipv4|DualStack", .immutable = "AddressIpVersion", LB(NLB_LB_IP_VERSION),
      .help = "Address families of the load balancer." },
    { LBC_ROW_INSTANCE("ipv6-address-type"), .fallback = "intranet", .form = "internet or intranet",
      .field = "Ipv6AddressType", .spelling = "Internet|Intranet", .cloud = LBC_ATTR_LATER,
      LB(NLB_LB_IPV6_TYPE), .example = "internet",
      .help = "internet or intranet: the same for the IPv6 address of a dualstack load balancer." },
    LBC_ROW_NAME("LoadBalancerName"),
    { LBC_ROW_INSTANCE("resource-group-id"), .fallback = "the configured one",
      .field = "ResourceGroupId", .immutable = "ResourceGroupId", LB(NLB_LB_GROUP),
      .example = "rg-0123456789abcde",
      .help = "Resource group of the load balancer and of new server groups." },
    LBC_ROW_TAGS("Tag"),
    { LBC_ROW_INSTANCE("security-group-ids"), .flags = LBC_ANNO_EMPTY, .fallback = "none",
      .field = "SecurityGroupIds", .ids = LBC_ALLOW_SECURITY_GROUP,
      .example = "sg-0123456789abcdef",
      .help = "Security groups, separated by commas, at most 4; empty for none." },
    { LBC_ROW_INSTANCE("bandwidth-package-id"), .flags = LBC_ANNO_EMPTY, .fallback = "none",
      .field = "BandwidthPackageId", LB(NLB_LB_PACKAGE), .ids = LBC_ALLOW_PACKAGE,
      .example = "cbwp-0123456789abcdef",
      .help = "Shared bandwidth package of the public address; empty for none." },
    { LBC_ROW_INSTANCE("cross-zone-enabled"), .type = LBC_ANNO_SWITCH, .flags = LBC_ANNO_NO_CASE,
      .fallback = "on", .field = "CrossZoneEnabled",
      .cloud = LBC_ATTR_LATER | LBC_ATTR_RESET | LBC_ATTR_BOOL, LB(NLB_LB_CROSS_ZONE),
      .says = LBC_ANNO_SAYS_FLAG, .label = "cross zone enabled flag",
      .help = "Whether a zone sends to backends of the other zones." },
    { LBC_ROW_INSTANCE("delete-protection"), .type = LBC_ANNO_BOOL, .fallback = "on",
      .field = "DeletionProtectionEnabled", .create_name = "DeletionProtectionConfig.Enabled",
      .read_name = "DeletionProtectionConfig.Enabled",
      .cloud = LBC_ATTR_ASKED | LBC_ATTR_RESET | LBC_ATTR_PROTECTS, LB(NLB_LB_PROTECT),
      .help =
          "Protection against deletion in the console; never blocks the deletion of the Service." },
    { LBC_ROW_INSTANCE("modification-protection"), .type = LBC_ANNO_ENUM,
      .values = "ConsoleProtection|NonProtection", .fallback = "ConsoleProtection",
      .field = "ModificationProtectionStatus", .create_name = "ModificationProtectionConfig.Status",
      .read_name = "ModificationProtectionConfig.Status",
      .cloud = LBC_ATTR_ASKED | LBC_ATTR_RESET | LBC_ATTR_PROTECTS, LB(NLB_LB_MODIFICATION),
      .help = "Protection against changes in the console." },
    LBC_ROW_PRESERVE,
    LBC_ROW_OVERRIDE,
    LBC_ROW_PROTOCOLS("TCP, UDP or TCPSSL in any case", "tcpssl:443,tcp:80"),
    { LBC_ROW_LISTENER("listener-port-range", 0), .decides = LBC_DECIDES_PORTS,
      .form = "start-end:port separated by commas, such as 1000-2000:80", .example = "1000-2000:80",
      .help = "Listen on a range of ports instead of one: start-end:port separated by commas; "
              "backends get each connection on the port it came in on. Only where pods are "
              "backends (backend-type eni)." },
    { LBC_ROW_LISTENER("idle-timeout", 0), LBC_ROW_NUMBER(10, 900), .flags = LBC_ANNO_ZERO,
      .fallback = "900", .field = "IdleTimeout", .place = 1, .other = { UDP, "20" },
      .cloud = LBC_ATTR_RESET, .says = LBC_ANNO_SAYS_BEFORE, .example = "60",
      .help = "Seconds an idle connection is kept; at most 90 for UDP." },
    { LBC_ROW_LISTENER("cps", 0), LBC_ROW_NUMBER(0, 1000000), .fallback = "0", .field = "Cps",
      .place = 1, .cloud = LBC_ATTR_RESET, .says = LBC_ANNO_SAYS_BEFORE, .label = "Mss",
      .example = "10000", .help = "New connections per second and zone; 0 is no limit." },
    { LBC_ROW_LISTENER("proxy-protocol", 0), .type = LBC_ANNO_BOOL, .fallback = "off",
      .field = "ProxyProtocolEnabled", .cloud = LBC_ATTR_RESET,
      .help = "Proxy protocol version 2 towards the backends." },
    { LBC_ROW_LISTENER("ppv2-pvl-ep-id-enabled", 0), .needs = "proxy-protocol",
      .type = LBC_ANNO_BOOL, .fallback = "off", .field = "Ppv2PrivateLinkEpIdEnabled",
      .cloud = LBC_ATTR_RESET | ALILB_ATTR_PPV2,
      .help = "With proxy protocol: tell the id of the PrivateLink endpoint." },
    { LBC_ROW_LISTENER("ppv2-pvl-eps-id-enabled", 0), .needs = "proxy-protocol",
      .type = LBC_ANNO_BOOL, .fallback = "off", .field = "Ppv2PrivateLinkEpsIdEnabled",
      .cloud = LBC_ATTR_RESET | ALILB_ATTR_PPV2,
      .help = "With proxy protocol: tell the id of the PrivateLink endpoint service." },
    { LBC_ROW_LISTENER("ppv2-pvl-vpc-id-enabled", 0), .needs = "proxy-protocol",
      .type = LBC_ANNO_BOOL, .fallback = "off", .field = "Ppv2VpcIdEnabled",
      .cloud = LBC_ATTR_RESET | ALILB_ATTR_PPV2,
      .help = "With proxy protocol: tell the id of the VPC." },
    { LBC_ROW_LISTENER("tls-cipher-policy", TLS), .fallback = "tls_cipher_policy_1_0",
      .field = "SecurityPolicyId", .place = 2, .example = "tls_cipher_policy_1_2",
      .help = "TLS policy: tls_cipher_policy_1_0, tls_cipher_policy_1_1, tls_cipher_policy_1_2, "
              "tls_cipher_policy_1_2_strict, tls_cipher_policy_1_2_strict_with_1_3, or the id of "
              "one of your own." },
    { LBC_ROW_LISTENER("cert-id", TLS), .fallback = "none", .field = "CertificateIds", .place = 2,
      .cloud = LBC_ATTR_LIST | LBC_ATTR_SET, .ids = LBC_ALLOW_CERTIFICATE,
      .example = "12345678-cn-hangzhou", .help = "Server certificate." },
    { LBC_ROW_LISTENER("cacert-id", TLS), .flags = LBC_ANNO_GUARD, .needs = "cacert",
      .fallback = "none", .field = "CaCertificateIds", .place = 2,
      .cloud = LBC_ATTR_LIST | LBC_ATTR_SET, .ids = LBC_ALLOW_CERTIFICATE, .along = "cacert",
      .example = "87654321-cn-hangzhou",
      .help = "Certificate of the authority that clients are checked against." },
    { LBC_ROW_LISTENER("cacert", TLS), .type = LBC_ANNO_BOOL, .fallback = "off",
      .field = "CaEnabled", .place = 2, .help = "Whether clients have to show a certificate." },
    { LBC_ROW_LISTENER("alpn", TLS), .type = LBC_ANNO_BOOL, .fallback = "off",
      .field = "AlpnEnabled", .place = 1, .cloud = LBC_ATTR_RESET,
      .help = "Negotiation of the protocol inside TLS." },
    { LBC_ROW_LISTENER("alpn-policy", TLS), .type = LBC_ANNO_ENUM, .flags = LBC_ANNO_NO_CASE,
      .values = "HTTP1Only|HTTP2Only|HTTP2Optional|HTTP2Preferred", .fallback = "none",
      .field = "AlpnPolicy", .place = 1, .needs = "alpn", .need = LBC_NEED_ON,
      .example = "HTTP2Preferred", .help = "What is negotiated, with alpn on." },
    { LBC_ROW_LISTENER("additional-cert-ids", TLS), .flags = LBC_ANNO_EMPTY, .fallback = "none",
      .field = "AdditionalCertificateIds", .cloud = LBC_ATTR_OWN, .ids = LBC_ALLOW_CERTIFICATE,
      .example = "12345679-cn-hangzhou",
      .help = "Further server certificates, separated by commas; empty for none." },
    { LBC_ROW_SERVERS("server-group-type"), .decides = LBC_DECIDES_BACKENDS, .fallback = "Instance",
      .field = "ServerGroupType", .cloud = LBC_ATTR_OWN, .example = "Ip",
      .help = "Instance or Ip: backends as instances and network interfaces, or as addresses. A "
              "change makes new server groups." },
    { LBC_ROW_SERVERS("scheduler"), .type = LBC_ANNO_ENUM, .flags = LBC_ANNO_NO_CASE,
      .values = "Wrr|Wlc|rr|sch|tch|qch", .fallback = "Wrr", .field = "Scheduler",
      .cloud = LBC_ATTR_RESET,
      .help = "How connections are shared out; Local policy goes best with Wrr, session affinity "
              "with sch." },
    { LBC_ROW_SERVERS("connection-drain"), .type = LBC_ANNO_BOOL, .fallback = "off",
      .field = "ConnectionDrainEnabled", .cloud = LBC_ATTR_RESET | LBC_ATTR_DRAINS,
      .help = "Let connections of a removed backend end by themselves. Pods that are being stopped "
              "keep their place without new connections as long as they serve." },
    { LBC_ROW_SERVERS("connection-drain-timeout"), NUMBER(0, 900),
      .field = "ConnectionDrainTimeout", .needs = "connection-drain", .need = LBC_NEED_SET,
      .example = "30", .help = "How long they may take, in seconds." },
    { LBC_ROW_SERVERS("preserve-client-ip"), .type = LBC_ANNO_BOOL, .fallback = "on",
      .field = "PreserveClientIpEnabled", .cloud = LBC_ATTR_RESET,
      .help = "Backends see the address of the client." },
    { LBC_ROW_SERVERS("health-check-flag"), .type = LBC_ANNO_BOOL, .fallback = "on",
      .field = "HealthCheckEnabled", .place = 1, .cloud = LBC_ATTR_RESET | ALILB_ATTR_HEALTH,
      .help = "Health check; the other annotations about it count only when this one is on." },
    { HEALTH("health-check-type", LBC_ATTR_RESET), .type = LBC_ANNO_ENUM, .flags = LBC_ANNO_NO_CASE,
      .values = "TCP|HTTP|UDP", .fallback = "TCP", .field = "HealthCheckType",
      .help = "Kind of health check." },
    { HEALTH("health-check-connect-port", LBC_ATTR_RESET), NUMBER(0, 65535), .flags = LBC_ANNO_ZERO,
      .fallback = "0", .field = "HealthCheckConnectPort", .example = "8080",
      .help = "Port that is checked; 0 for that of the backend." },
    { HEALTH("healthy-threshold", LBC_ATTR_RESET), NUMBER(2, 10), .flags = LBC_ANNO_ZERO,
      .fallback = "2", .field = "HealthyThreshold", .example = "3",
      .help = "Good checks in a row until a backend counts as healthy." },
    { HEALTH("unhealthy-threshold", LBC_ATTR_RESET), NUMBER(2, 10), .flags = LBC_ANNO_ZERO,
      .fallback = "2", .field = "UnhealthyThreshold", .example = "3",
      .help = "Bad checks in a row until a backend counts as unhealthy." },
    { HEALTH("health-check-connect-timeout", LBC_ATTR_RESET), NUMBER(1, 300),
      .flags = LBC_ANNO_ZERO, .fallback = "5", .field = "HealthCheckConnectTimeout",
      .example = "10", .help = "Seconds a check may take." },
    { HEALTH("health-check-interval", LBC_ATTR_RESET), NUMBER(1, 300), .flags = LBC_ANNO_ZERO,
      .fallback = "5", .field = "HealthCheckInterval", .example = "10",
      .help = "Seconds between two checks; at most 50 unless the type is udp." },
    { HEALTH("health-check-domain", 0), .fallback = "none", .field = "HealthCheckDomain",
      .example = "web.example.com",
      .help = "Host that an HTTP check asks for; $SERVER_IP for the address of the backend." },
    { HEALTH("health-check-uri", 0), .fallback = "none", .field = "HealthCheckUrl",
      .example = "/healthz", .help = "Path that an HTTP check asks for." },
    { HEALTH("health-check-method", LBC_ATTR_RESET), .type = LBC_ANNO_ENUM,
      .flags = LBC_ANNO_NO_CASE, .values = "GET|HEAD", .fallback = "GET",
      .field = "HttpCheckMethod", .help = "Method of an HTTP check." },
    { HEALTH("health-check-httpcode", LBC_ATTR_RESET | LBC_ATTR_LIST | LBC_ATTR_SET),
      .fallback = "http_2xx", .field = "HealthCheckHttpCode", .example = "http_2xx,http_3xx",
      .help = "Answers that count as healthy, http_2xx and so on, separated by commas." },
    LBC_ROW_GROUPS(" Only with id."),
    { LBC_ROW_BACKEND("weight", LBC_DECIDES_WEIGHTS), LBC_ROW_NUMBER(0, 100), .fallback = "none",
      .field = "Weight", .says = LBC_ANNO_SAYS_SPACED, .label = "weight", .example = "60",
      .help = "Sum of weights of a server group that vgroup-port names." },
    LBC_ROW_WEIGHT("Weight", LBC_ANNO_SAYS_BEHIND),
    LBC_ROW_KEEP_WEIGHTS(LBC_ANNO_BOOL),
    LBC_ROW_LABELS,
    LBC_ROW_UNSCHEDULED(LBC_ANNO_BOOL),
    LBC_ROW_FAMILIES("; only with ip-version dualstack"),
    LBC_ROW_BACKEND_TYPE,
    ALILB_TYPE_ROW,
};

static const struct lbc_anno mute_rows[] = {
    { .group = LBC_ANNO_SERVERS,
      .type = LBC_ANNO_ENUM,
      .flags = LBC_ANNO_NO_CASE,
      .values = "NonAffinity|Affinity",
      .field = "IpVersionAffinityMode" },
    { .group = LBC_ANNO_SERVERS, .field = "ResourceGroupId", .cloud = LBC_ATTR_CREATE },
};

static const struct lbc_anno_instead instead[] = {
    { "acl-id", "so it keeps nobody out. To restrict access set spec.loadBalancerSourceRanges or "
                "annotation " LBC_ANNO_PREFIX "security-group-ids, and take this one away" },
    { NULL, NULL },
};

const struct lbc_anno_table nlb_annotations = {
    .rows = rows,
    .count = CCM_ARRAY_LEN(rows),
    .mute = mute_rows,
    .mute_count = CCM_ARRAY_LEN(mute_rows),
    .tells_defaults = true,
    .kind = "NLB",
    .page = "annotations.md",
    .instead = instead,
    .foreign =
        "vswitch-id|network-type|charge-type|instance-charge-type|spec|bandwidth|master-zoneid|"
        "slave-zoneid|external-ip-type|hostname|ip|acl-id|acl-status|acl-type|forward-port|"
        "http2-enabled|health-check-switch|health-check-timeout|sticky-session|sticky-session-type|"
        "cookie|cookie-timeout|persistence-timeout|xforwardedfor-proto|xforwardedfor-slbport|"
        "xforwardedfor-clientsrcport|request-timeout|established-timeout|domain-extensions|tunnel-"
        "type"
};

const struct lbc_anno *nlb_listener_field(const char *name)
{
    return lbc_attr_row(&nlb_annotations, LBC_ANNO_LISTENER, name);
}

const struct lbc_anno *nlb_group_field(const char *name)
{
    return lbc_attr_row(&nlb_annotations, LBC_ANNO_SERVERS, name);
}
