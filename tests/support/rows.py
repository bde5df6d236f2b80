"""Annotations that can be changed on a load balancer that is there, with values, and where cloudsim shows them.

A row: suffix, kind of object ("lb", "listener", "group"), attribute in cloudsim's state, protocols, two values (each a
text, or a pair of what is written and what the cloud shows), and what has to stand beside it.
"""

import collections

Row = collections.namedtuple("Row", "suffix kind field protocols values base", defaults=({},))

L4, L7, ANY = ("tcp", "udp"), ("http", "https"), ("tcp", "udp", "http", "https")
STICKY = {"sticky-session": "on", "sticky-session-type": "insert", "cookie-timeout": "100", "cookie": "aa"}
CHECK = {"health-check-flag": "on", "health-check-uri": "/", "health-check-timeout": "5"}
ACL = {"acl-status": "off", "acl-id": "$(acl)", "acl-type": "white"}

CLB = [
    Row("name", "lb", "LoadBalancerName", ("tcp",), ("one", "two")),
    Row("delete-protection", "lb", "DeleteProtection", ("tcp",), ("off", "on")),
    Row("modification-protection", "lb", "ModificationProtectionStatus", ("tcp",), ("NonProtection", "ConsoleProtection")),
    Row("charge-type", "lb", "InternetChargeType", ("tcp",), ("paybybandwidth", ("paybytraffic", "paybybandwidth")),  # tomorrow
        {"bandwidth": "10", "instance-charge-type": "PayBySpec"}),
    Row("bandwidth", "lb", "Bandwidth", ("tcp",), ("20", "30"),
        {"charge-type": "paybybandwidth", "bandwidth": "10", "instance-charge-type": "PayBySpec"}),
    Row("spec", "lb", "LoadBalancerSpec", ("tcp",), ("slb.s2.small", "slb.s1.small"), {"instance-charge-type": "PayBySpec"}),
    Row("additional-resource-tags", "lb", "Tags", ("tcp",), (("a=1", {"a": "1"}), ("a=2", {"a": "2"}))),
    Row("scheduler", "listener", "Scheduler", ANY, ("wrr", "wlc")),
    Row("tls-cipher-policy", "listener", "TLSCipherPolicy", ("https",), ("tls_cipher_policy_1_2", "tls_cipher_policy_1_1")),
    Row("http2-enabled", "listener", "EnableHttp2", ("https",), ("off", "on")),
    Row("idle-timeout", "listener", "IdleTimeout", L7, ("20", "30")),
    Row("request-timeout", "listener", "RequestTimeout", L7, ("70", "80")),
    Row("sticky-session", "listener", "StickySession", L7, ("on", "off"), {**STICKY, "sticky-session": None}),
    Row("sticky-session-type", "listener", "StickySessionType", L7, ("server", "insert"), STICKY),
    Row("cookie-timeout", "listener", "CookieTimeout", L7, ("200", "300"), STICKY),
    Row("cookie", "listener", "Cookie", L7, ("bb", "cc"), {**STICKY, "sticky-session-type": "server"}),
    Row("xforwardedfor-proto", "listener", "XForwardedFor_proto", L7, ("on", "off")),
    Row("xforwardedfor-slbport", "listener", "XForwardedFor_SLBPORT", L7, ("on", "off")),
    Row("xforwardedfor-clientsrcport", "listener", "XForwardedFor_ClientSrcPort", L7, ("on", "off")),
    Row("persistence-timeout", "listener", "PersistenceTimeout", ("tcp",), ("300", "600")),
    Row("established-timeout", "listener", "EstablishedTimeout", ("tcp",), ("100", "200")),
    Row("connection-drain", "listener", "ConnectionDrain", L4, ("on", "off"), {"connection-drain-timeout": "20"}),
    Row("connection-drain-timeout", "listener", "ConnectionDrainTimeout", L4, ("30", "40"),
        {"connection-drain": "on", "connection-drain-timeout": "20"}),
    Row("proxy-protocol", "listener", "ProxyProtocolV2Enabled", L4, (("on", "true"), ("off", "false"))),
    Row("acl-status", "listener", "AclStatus", ANY, ("on", "off"), {**ACL, "acl-status": None}),
    Row("acl-type", "listener", "AclType", ANY, ("black", "white"), {**ACL, "acl-status": "on"}),
    Row("health-check-switch", "listener", "HealthCheck", L4, ("off", "on")),
    Row("health-check-flag", "listener", "HealthCheck", L7, ("on", "off"), {**CHECK, "health-check-flag": None}),
    Row("health-check-type", "listener", "HealthCheckType", ("tcp",), ("http", "tcp")),
    Row("health-check-uri", "listener", "HealthCheckURI", ("tcp",), ("/a", "/b"), {"health-check-type": "http"}),
    Row("health-check-uri", "listener", "HealthCheckURI", L7, ("/a", "/b"), CHECK),
    Row("health-check-domain", "listener", "HealthCheckDomain", L7, ("a.example.com", "b.example.com"), CHECK),
    Row("health-check-httpcode", "listener", "HealthCheckHttpCode", L7, ("http_3xx", "http_2xx,http_3xx"), CHECK),
    Row("health-check-method", "listener", "HealthCheckMethod", L7, ("get", "head"), CHECK),
    Row("health-check-connect-port", "listener", "HealthCheckConnectPort", L4, ("8080", "8081")),
    Row("health-check-connect-port", "listener", "HealthCheckConnectPort", L7, ("8080", "8081"), CHECK),
    Row("health-check-interval", "listener", "HealthCheckInterval", L4, ("7", "8")),
    Row("health-check-interval", "listener", "HealthCheckInterval", L7, ("7", "8"), CHECK),
    Row("healthy-threshold", "listener", "HealthyThreshold", L4, ("4", "5")),
    Row("healthy-threshold", "listener", "HealthyThreshold", L7, ("4", "5"), CHECK),
    Row("unhealthy-threshold", "listener", "UnhealthyThreshold", L4, ("4", "5")),
    Row("unhealthy-threshold", "listener", "UnhealthyThreshold", L7, ("4", "5"), CHECK),
    Row("health-check-connect-timeout", "listener", "HealthCheckConnectTimeout", L4, ("20", "30")),
    Row("health-check-timeout", "listener", "HealthCheckTimeout", L7, ("20", "30"), CHECK),
]

T3, TLS = ("tcp", "udp", "tcpssl"), ("tcpssl",)
PPV2, ON, ALPN = {"proxy-protocol": "on"}, {"health-check-flag": "on"}, {"alpn": "on", "alpn-policy": "HTTP1Only"}
HTTP = {"health-check-flag": "on", "health-check-type": "http"}
SWITCH, OFF_ON = (("on", "true"), ("off", "false")), (("off", "false"), ("on", "true"))

NLB = [
    Row("name", "lb", "LoadBalancerName", ("tcp",), ("one", "two")),
    Row("cross-zone-enabled", "lb", "CrossZoneEnabled", ("tcp",), OFF_ON),
    Row("additional-resource-tags", "lb", "Tags", ("tcp",), (("a=1", {"a": "1"}), ("a=2", {"a": "2"}))),
    Row("idle-timeout", "listener", "IdleTimeout", ("tcp", "tcpssl"), ("30", "40")),
    Row("idle-timeout", "listener", "IdleTimeout", ("udp",), ("15", "18")),
    Row("proxy-protocol", "listener", "ProxyProtocolEnabled", T3, SWITCH),
    Row("cps", "listener", "Cps", T3, ("100", "200")),
    Row("ppv2-pvl-ep-id-enabled", "listener", "Ppv2PrivateLinkEpIdEnabled", ("tcp",), SWITCH, PPV2),
    Row("ppv2-pvl-eps-id-enabled", "listener", "Ppv2PrivateLinkEpsIdEnabled", ("tcp",), SWITCH, PPV2),
    Row("ppv2-pvl-vpc-id-enabled", "listener", "Ppv2VpcIdEnabled", ("tcp",), SWITCH, PPV2),
    Row("tls-cipher-policy", "listener", "SecurityPolicyId", TLS, ("tls_cipher_policy_1_2", "tls_cipher_policy_1_1")),
    Row("alpn", "listener", "AlpnEnabled", TLS, SWITCH, {**ALPN, "alpn": None}),
    Row("alpn-policy", "listener", "AlpnPolicy", TLS, ("HTTP2Only", "HTTP2Optional"), ALPN),
    Row("scheduler", "group", "Scheduler", T3, ("rr", "Wlc")),
    Row("connection-drain", "group", "ConnectionDrainEnabled", T3, SWITCH, {"connection-drain-timeout": "20"}),
    Row("connection-drain-timeout", "group", "ConnectionDrainTimeout", T3, ("30", "40"),
        {"connection-drain": "on", "connection-drain-timeout": "20"}),
    Row("preserve-client-ip", "group", "PreserveClientIpEnabled", ("tcp", "udp"), OFF_ON),
    Row("health-check-flag", "group", "HealthCheckEnabled", T3, OFF_ON),
    Row("health-check-type", "group", "HealthCheckType", ("tcp",), ("HTTP", "TCP"), ON),
    Row("health-check-connect-port", "group", "HealthCheckConnectPort", T3, ("8080", "8081"), ON),
    Row("healthy-threshold", "group", "HealthyThreshold", T3, ("4", "5"), ON),
    Row("unhealthy-threshold", "group", "UnhealthyThreshold", T3, ("4", "5"), ON),
    Row("health-check-connect-timeout", "group", "HealthCheckConnectTimeout", T3, ("20", "30"), ON),
    Row("health-check-interval", "group", "HealthCheckInterval", T3, ("7", "8"), ON),
    Row("health-check-domain", "group", "HealthCheckDomain", ("tcp",), ("a.example.com", "b.example.com"), HTTP),
    Row("health-check-uri", "group", "HealthCheckUrl", ("tcp",), ("/a", "/b"), HTTP),
    Row("health-check-method", "group", "HttpCheckMethod", ("tcp",), ("HEAD", "GET"), HTTP),
    Row("health-check-httpcode", "group", "HealthCheckHttpCode", ("tcp",), ("http_3xx", "http_2xx,http_3xx"), HTTP),
]

ROWS = {"clb": CLB, "nlb": NLB}

# Rows of docs/annotations.md that can be changed and are not here, and where they are shown instead.
ELSEWHERE = {
    "preserve-lb-on-delete": "scenarios 093 and nlb/108",
    "external-ip-type": "scenario 042: status only", "hostname": "scenario 034: status only",
    "force-override-listeners": "scenarios 060 and 063", "address-type": "nlb/022", "zone-maps": "nlb/021",
    "ipv6-address-type": "nlb/022", "security-group-ids": "nlb/030", "bandwidth-package-id": "nlb/025",
    "instance-charge-type": "scenario 024: one way only", "protocol-port": "scenarios 053 and nlb/032", "cert-id": "scenarios 054 and nlb/033", "domain-extensions": "scenario 055",
    "forward-port": "scenarios 057, 065 to 069", "acl-id": "scenarios 046 and 047", "listener-port-range": "nlb/036",
    "delete-protection": "nlb/110", "modification-protection": "nlb/110", "cacert-id": "nlb/033", "cacert": "nlb/033", "additional-cert-ids": "nlb/033", "server-group-type": "nlb/043",
}
