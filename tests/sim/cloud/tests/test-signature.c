/* Both signatures against the published and recorded vectors, and every reason to refuse a request.
 */
#include "account.h"
#include "signature.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define HEADERS_MAX 12
#define MINUTE_MS   ((int64_t)60 * 1000)

struct header {
    const char *name;
    const char *value;
};

/* V: header signature, published. R: parameter signature, published. C: recorded from clients. */
struct vector {
    const char *name;
    const char *token; /* security token of the key, "" = none */
    const char *time;
    const char *query; /* as sent */
    const char *body;
    struct header headers[HEADERS_MAX];
    const char *hash; /* of the canonical request; NULL: not published */
    const char *signature;
};

static const struct vector vectors[] = {
    {
        .name = "V1",
        .token = "",
        .time = "2026-01-02T03:04:05Z",
        .query = "JobId=72dcd26b-f12d-4c27-b3af-18f6aed5%2A%2A%2A%2A",
        .body = "",
        .headers = { { "authorization",
                       "ACS3-HMAC-SHA256 "
                       "Credential=testAccessKeyId,SignedHeaders=host;x-acs-action;"
                       "x-acs-content-sha256;x-acs-date;x-acs-signature-nonce;x-acs-version,"
                       "Signatur"
                       "e=b1a95f246714db75c16f49b4d0944c50246531fa04e82a431b54037b23992a4a" },
                     { "host", "nlb.cn-hangzhou.aliyuncs.com" },
                     { "x-acs-action", "GetJobStatus" },
                     { "x-acs-content-sha256",
                       "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
                     { "x-acs-date", "2026-01-02T03:04:05Z" },
                     { "x-acs-signature-nonce", "0123456789abcdef0123456789abcdef" },
                     { "x-acs-version", "2022-04-30" } },
        .hash = "b1b8e39262d959f89aedcfeb21f3aab406c32ae1aeff2193a52f7da0a65f7ead",
        .signature = "b1a95f246714db75c16f49b4d0944c50246531fa04e82a431b54037b23992a4a",
    },
    {
        .name = "V2",
        .token = "",
        .time = "2026-01-02T03:04:05Z",
        .query = "",
        .body = "ServerGroupId=sgp-1&Servers.1.Description=k8s.80.TCP.web.default.c1&Servers."
                "1.Port=80&Servers.1.ServerId=eni-1&Servers.1.ServerIp=10.0.0.5&Servers.1.Ser"
                "verType=Eni&Servers.1.Weight=100",
        .headers = { { "authorization",
                       "ACS3-HMAC-SHA256 "
                       "Credential=testAccessKeyId,SignedHeaders=content-type;host;"
                       "x-acs-action;x-acs-content-sha256;x-acs-date;x-acs-signature-nonce;x-acs-"
                       "ver"
                       "sion,Signature="
                       "1e5ff90d5c5b5ceea749af64d77ca8ef7777163efb7b5443f930c43786eae"
                       "9dd" },
                     { "content-type", "application/x-www-form-urlencoded" },
                     { "host", "nlb.cn-hangzhou.aliyuncs.com" },
                     { "x-acs-action", "AddServersToServerGroup" },
                     { "x-acs-content-sha256",
                       "e583e6339940b0020ef49d743922208b9658691cd2107190431a73a66df9b945" },
                     { "x-acs-date", "2026-01-02T03:04:05Z" },
                     { "x-acs-signature-nonce", "0123456789abcdef0123456789abcdef" },
                     { "x-acs-version", "2022-04-30" } },
        .hash = "3abf75bf69225cf477529da35cb113fae77d852937c4bb1b8f1c161c3c0fc7ba",
        .signature = "1e5ff90d5c5b5ceea749af64d77ca8ef7777163efb7b5443f930c43786eae9dd",
    },
    {
        .name = "V3",
        .token = "testSecurityToken",
        .time = "2026-01-02T03:04:05Z",
        .query = "Tag.1.Key=kubernetes.do.not.delete&Tag.1.Value=a+b*~/%C3%A9",
        .body = "",
        .headers = { { "authorization",
                       "ACS3-HMAC-SHA256 "
                       "Credential=testAccessKeyId,SignedHeaders=host;x-acs-accessk"
                       "ey-id;x-acs-action;x-acs-content-sha256;x-acs-date;x-acs-security-token;x-"
                       "ac"
                       "s-signature-nonce;x-acs-version,Signature="
                       "6ba498937ccd5e1c13d74ed37185fe0016"
                       "0a14fc63a47c3efe97be5b9d6ae681" },
                     { "host", "nlb.cn-hangzhou.aliyuncs.com" },
                     { "x-acs-accesskey-id", "testAccessKeyId" },
                     { "x-acs-action", "ListLoadBalancers" },
                     { "x-acs-content-sha256",
                       "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
                     { "x-acs-date", "2026-01-02T03:04:05Z" },
                     { "x-acs-security-token", "testSecurityToken" },
                     { "x-acs-signature-nonce", "0123456789abcdef0123456789abcdef" },
                     { "x-acs-version", "2022-04-30" } },
        .hash = "8298ea65a1f198362137a9dae6c3f0b2501ba01bafb6c336669c02ab3117b415",
        .signature = "6ba498937ccd5e1c13d74ed37185fe00160a14fc63a47c3efe97be5b9d6ae681",
    },
    {
        .name = "V4",
        .token = "",
        .time = "2026-01-02T03:04:05Z",
        .query = "",
        .body = "AddressType=Internet&ClientToken=5f0c0a3e-0000-4000-8000-000000000001&Deleti"
                "onProtectionConfig.Enabled=true&LoadBalancerName=a5e4dbfc9c2ae4642b033560786"
                "0aef6&ModificationProtectionConfig.Reason=managed.by.ack&ModificationProtect"
                "ionConfig.Status=ConsoleProtection&Tag.1.Key=kubernetes.do.not.delete&Tag.1."
                "Value=a5e4dbfc9c2ae4642b0335607860aef6&Tag.2.Key=ack.aliyun.com&Tag.2.Value="
                "c1&VpcId=vpc-1&ZoneMappings.1.VSwitchId=vsw-1&ZoneMappings.1.ZoneId=cn-hangz"
                "hou-g&ZoneMappings.2.VSwitchId=vsw-2&ZoneMappings.2.ZoneId=cn-hangzhou-h",
        .headers = { { "authorization",
                       "ACS3-HMAC-SHA256 "
                       "Credential=testAccessKeyId,SignedHeaders=content-type;host;"
                       "x-acs-action;x-acs-content-sha256;x-acs-date;x-acs-signature-nonce;x-acs-"
                       "ver"
                       "sion,Signature="
                       "6ec44f068a85c8da25e217c12a328e531fa227a7388015270012b5cb08b64"
                       "e0a" },
                     { "content-type", "application/x-www-form-urlencoded" },
                     { "host", "nlb.cn-hangzhou.aliyuncs.com" },
                     { "x-acs-action", "CreateLoadBalancer" },
                     { "x-acs-content-sha256",
                       "7246d34e341444fa7144403703da00f38bd706be21560c579e8df939c6041825" },
                     { "x-acs-date", "2026-01-02T03:04:05Z" },
                     { "x-acs-signature-nonce", "0123456789abcdef0123456789abcdef" },
                     { "x-acs-version", "2022-04-30" } },
        .hash = "d97bc4f5a2387691a7c2de56ac6d70e084fc86f84803aa8674653ac93db6167c",
        .signature = "6ec44f068a85c8da25e217c12a328e531fa227a7388015270012b5cb08b64e0a",
    },
    {
        .name = "V5",
        .token = "",
        .time = "2026-01-02T03:04:05Z",
        .query = "RegionId=cn-hangzhou&Tags=%5B%7B%22TagKey%22%3A%22kubernetes.do.not.delete%2"
                 "2%2C%22TagValue%22%3A%22a5e4dbfc9c2ae4642b0335607860aef6%22%7D%5D",
        .body = "",
        .headers = { { "authorization",
                       "ACS3-HMAC-SHA256 "
                       "Credential=testAccessKeyId,SignedHeaders=host;x-acs-action;"
                       "x-acs-content-sha256;x-acs-date;x-acs-signature-nonce;x-acs-version,"
                       "Signatur"
                       "e=c16b06167b1d521de525a0488d6d805b033df8be6bfc647bb3882be59433b54f" },
                     { "host", "slb.aliyuncs.com" },
                     { "x-acs-action", "DescribeLoadBalancers" },
                     { "x-acs-content-sha256",
                       "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
                     { "x-acs-date", "2026-01-02T03:04:05Z" },
                     { "x-acs-signature-nonce", "0123456789abcdef0123456789abcdef" },
                     { "x-acs-version", "2014-05-15" } },
        .hash = "49461585ecf12db60abbee30594e4ab69dbb714d55fedd61b32f9f3db7d6cd8f",
        .signature = "c16b06167b1d521de525a0488d6d805b033df8be6bfc647bb3882be59433b54f",
    },
    {
        .name = "C1",
        .token = "",
        .time = "2026-11-20T16:36:07Z",
        .query = "Tag.1.Key=kubernetes.do.not.delete&Tag.1.Value=a5e4dbfc9c2ae4642b0335607860a"
                 "ef6",
        .body = "",
        .headers = { { "authorization",
                       "ACS3-HMAC-SHA256 "
                       "Credential=testAK,SignedHeaders=host;x-acs-action;x-acs-con"
                       "tent-sha256;x-acs-credentials-provider;x-acs-date;x-acs-signature-nonce;x-"
                       "ac"
                       "s-version,Signature="
                       "95b3fa5de6cd694f9192122769eb1a23d63b1dfaa156800e9fad3e16"
                       "6ece45a8" },
                     { "host", "127.0.0.1:18080" },
                     { "x-acs-action", "ListLoadBalancers" },
                     { "x-acs-content-sha256",
                       "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
                     { "x-acs-credentials-provider", "static_ak" },
                     { "x-acs-date", "2026-11-20T16:36:07Z" },
                     { "x-acs-signature-nonce", "c649222ecc4aee39c6f1af8445517eea" },
                     { "x-acs-version", "2022-04-30" } },
        .hash = NULL,
        .signature = "95b3fa5de6cd694f9192122769eb1a23d63b1dfaa156800e9fad3e166ece45a8",
    },
    {
        .name = "C2",
        .token = "STSTOKEN",
        .time = "2026-11-20T16:36:22Z",
        .query = "",
        .body = "AddressIpVersion=ipv4&AddressType=internet&BandwidthPackageId=cbwp-1&ClientT"
                "oken=5f0c0a3e-0000-4000-8000-000000000001&DeletionProtectionConfig.Enabled=t"
                "rue&LoadBalancerName=my+lb%2A~&ModificationProtectionConfig.Reason=managed.b"
                "y.ack&ModificationProtectionConfig.Status=ConsoleProtection&ResourceGroupId="
                "rg-1&Tag.1.Key=kubernetes.do.not.delete&Tag.1.Value=a5e4dbfc9c2ae4642b033560"
                "7860aef6&Tag.2.Key=ack.aliyun.com&Tag.2.Value=c1&Tag.3.Key=owner&Tag.3.Value"
                "=%E5%9B%A2%E9%98%9F+a%2Bb&VpcId=vpc-1&ZoneMappings.1.VSwitchId=vsw-1&ZoneMap"
                "pings.1.ZoneId=cn-hangzhou-g&ZoneMappings.2.AllocationId=eip-1&ZoneMappings."
                "2.PrivateIPv4Address=10.0.0.9&ZoneMappings.2.VSwitchId=vsw-2&ZoneMappings.2."
                "ZoneId=cn-hangzhou-h",
        .headers = { { "authorization",
                       "ACS3-HMAC-SHA256 "
                       "Credential=testAK,SignedHeaders=content-type;host;x-acs-acc"
                       "esskey-id;x-acs-action;x-acs-content-sha256;x-acs-credentials-provider;x-"
                       "acs"
                       "-date;x-acs-security-token;x-acs-signature-nonce;x-acs-version,Signature="
                       "690"
                       "5049fcc2c8f380f66048fa826da403a1d17b96a6d59990d45f0d53d72bcee" },
                     { "content-type", "application/x-www-form-urlencoded" },
                     { "host", "127.0.0.1:18080" },
                     { "x-acs-accesskey-id", "testAK" },
                     { "x-acs-action", "CreateLoadBalancer" },
                     { "x-acs-content-sha256",
                       "510dfed78313fd71cf371e814a39b9ad6ee90b7ea2d1674edd6451da04874ceb" },
                     { "x-acs-credentials-provider", "static_sts" },
                     { "x-acs-date", "2026-11-20T16:36:22Z" },
                     { "x-acs-security-token", "STSTOKEN" },
                     { "x-acs-signature-nonce", "ee937010713721b969faf16660a1dbf1" },
                     { "x-acs-version", "2022-04-30" } },
        .hash = NULL,
        .signature = "6905049fcc2c8f380f66048fa826da403a1d17b96a6d59990d45f0d53d72bcee",
    },
    {
        .name = "C3",
        .token = "",
        .time = "2026-11-20T16:36:07Z",
        .query = "",
        .body = "ServerGroupId=sgp-1&Servers.1.Description=k8s.30080.TCP.web.default.c1&Serve"
                "rs.1.Port=30080&Servers.1.ServerId=i-1&Servers.1.ServerType=Ecs&Servers.1.We"
                "ight=100&Servers.2.Description=k8s.80.TCP.web.default.c1&Servers.2.Port=80&S"
                "ervers.2.ServerId=eni-1&Servers.2.ServerIp=10.0.0.5&Servers.2.ServerType=Eni"
                "&Servers.2.Weight=0",
        .headers = { { "authorization",
                       "ACS3-HMAC-SHA256 "
                       "Credential=testAK,SignedHeaders=content-type;host;x-acs-act"
                       "ion;x-acs-content-sha256;x-acs-credentials-provider;x-acs-date;x-acs-"
                       "signatu"
                       "re-nonce;x-acs-version,Signature="
                       "68358c5f75d33b1bbcab58e21c15a694007096ab5f0"
                       "0cc67fb4ec3108557bff2" },
                     { "content-type", "application/x-www-form-urlencoded" },
                     { "host", "127.0.0.1:18080" },
                     { "x-acs-action", "AddServersToServerGroup" },
                     { "x-acs-content-sha256",
                       "f739ea7769d9613081cd0d2820575675562e2e6d0f0c83fe845caa239e856e0b" },
                     { "x-acs-credentials-provider", "static_ak" },
                     { "x-acs-date", "2026-11-20T16:36:07Z" },
                     { "x-acs-signature-nonce", "f1935f156421551fcee6c5ae013005c4" },
                     { "x-acs-version", "2022-04-30" } },
        .hash = NULL,
        .signature = "68358c5f75d33b1bbcab58e21c15a694007096ab5f00cc67fb4ec3108557bff2",
    },
    {
        .name = "C4",
        .token = "",
        .time = "2026-11-20T16:36:07Z",
        .query = "JobId=job-1",
        .body = "",
        .headers = { { "authorization",
                       "ACS3-HMAC-SHA256 "
                       "Credential=testAK,SignedHeaders=host;x-acs-action;x-acs-con"
                       "tent-sha256;x-acs-credentials-provider;x-acs-date;x-acs-signature-nonce;x-"
                       "ac"
                       "s-version,Signature="
                       "c0e966b59422f2d90da6ce067bbf99c3189f8e8a9030a4b7e73b1762"
                       "2e37013d" },
                     { "host", "127.0.0.1:18080" },
                     { "x-acs-action", "GetJobStatus" },
                     { "x-acs-content-sha256",
                       "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
                     { "x-acs-credentials-provider", "static_ak" },
                     { "x-acs-date", "2026-11-20T16:36:07Z" },
                     { "x-acs-signature-nonce", "a9b9b7f948e169e924116fc43bbac814" },
                     { "x-acs-version", "2022-04-30" } },
        .hash = NULL,
        .signature = "c0e966b59422f2d90da6ce067bbf99c3189f8e8a9030a4b7e73b17622e37013d",
    },
    {
        .name = "R1",
        .token = "",
        .time = "2026-01-02T03:04:05Z",
        .query = "AccessKeyId=testAccessKeyId&Action=DescribeLoadBalancers&Format=JSON&RegionI"
                 "d=cn-hangzhou&SignatureMethod=HMAC-SHA1&SignatureNonce=0123456789abcdef01234"
                 "56789abcdef&SignatureType=&SignatureVersion=1.0&Timestamp=2026-01-02T03%3A04"
                 "%3A05Z&Version=2014-05-15&Tags=%5B%7B%22TagKey%22%3A%22kubernetes.do.not.del"
                 "ete%22%2C%22TagValue%22%3A%22a5e4dbfc9c2ae4642b0335607860aef6%22%7D%5D&Signa"
                 "ture=1HP8a69K8GGU%2B89WS7NF5AZGSwQ%3D",
        .body = "",
        .headers = { { "host", "slb.aliyuncs.com" } },
        .hash = NULL,
        .signature = "1HP8a69K8GGU+89WS7NF5AZGSwQ=",
    },
    {
        .name = "R2",
        .token = "",
        .time = "2026-01-02T03:04:05Z",
        .query = "AccessKeyId=testAccessKeyId&Action=AddVServerGroupBackendServers&Format=JSON"
                 "&RegionId=cn-hangzhou&SignatureMethod=HMAC-SHA1&SignatureNonce=0123456789abc"
                 "def0123456789abcdef&SignatureType=&SignatureVersion=1.0&Timestamp=2026-01-02"
                 "T03%3A04%3A05Z&Version=2014-05-15&VServerGroupId=rsp-1&BackendServers=%5B%7B"
                 "%22ServerId%22%3A%22i-1%22%2C%22Port%22%3A%2230080%22%2C%22Weight%22%3A%2210"
                 "0%22%2C%22Type%22%3A%22ecs%22%2C%22Description%22%3A%22k8s%2F30080%2Fweb%2Fd"
                 "efault%2Fc1%22%7D%5D&Signature=FbgL1%2B0ACGfKtf6yC%2BRbF2ajAoo%3D",
        .body = "",
        .headers = { { "host", "slb.aliyuncs.com" } },
        .hash = NULL,
        .signature = "FbgL1+0ACGfKtf6yC+RbF2ajAoo=",
    },
    {
        .name = "R3",
        .token = "",
        .time = "2026-01-02T03:04:05Z",
        .query = "AccessKeyId=testAccessKeyId&Action=CreateRouteEntries&Format=JSON&RegionId=c"
                 "n-hangzhou&SignatureMethod=HMAC-SHA1&SignatureNonce=0123456789abcdef01234567"
                 "89abcdef&SignatureType=&SignatureVersion=1.0&Timestamp=2026-01-02T03%3A04%3A"
                 "05Z&Version=2016-04-28&RouteEntries.1.RouteTableId=vtb-1&RouteEntries.1.DstC"
                 "idrBlock=10.1.0.0%2F26&RouteEntries.1.NextHop=i-1&RouteEntries.1.NextHopType"
                 "=Instance&Signature=clOxZWwsJMtcp%2FQw5dUHUj1HbLw%3D",
        .body = "",
        .headers = { { "host", "slb.aliyuncs.com" } },
        .hash = NULL,
        .signature = "clOxZWwsJMtcp/Qw5dUHUj1HbLw=",
    },
    {
        .name = "R4",
        .token = "testSecurityToken",
        .time = "2026-01-02T03:04:05Z",
        .query = "AccessKeyId=testAccessKeyId&Action=DescribeInstances&Format=JSON&RegionId=cn"
                 "-hangzhou&SignatureMethod=HMAC-SHA1&SignatureNonce=0123456789abcdef012345678"
                 "9abcdef&SignatureType=&SignatureVersion=1.0&Timestamp=2026-01-02T03%3A04%3A0"
                 "5Z&Version=2014-05-26&InstanceIds=%5B%22i-1%22%2C%22i-2%22%5D&MaxResults=100"
                 "&AdditionalAttributes.1=NETWORK_PRIMARY_ENI_IP&SecurityToken=testSecurityTok"
                 "en&Signature=pQioukkLU3Z%2FlQK%2BzEA8RN1HrmM%3D",
        .body = "",
        .headers = { { "host", "slb.aliyuncs.com" } },
        .hash = NULL,
        .signature = "pQioukkLU3Z/lQK+zEA8RN1HrmM=",
    },
    {
        .name = "R5",
        .token = "",
        .time = "2026-01-02T03:04:05Z",
        .query = "AccessKeyId=testAccessKeyId&Action=DescribeSecurityGroups&Format=JSON&Region"
                 "Id=cn-hangzhou&SignatureMethod=HMAC-SHA1&SignatureNonce=0123456789abcdef0123"
                 "456789abcdef&SignatureType=&SignatureVersion=1.0&Timestamp=2026-01-02T03%3A0"
                 "4%3A05Z&Version=2014-05-26&Tag.1.Key=k%20ey%2A~&Tag.1.Value=v%2F%C3%A9%2B%26"
                 "%3D&Signature=qp9VzuCX06jSYb%2Bxws291bv%2FIDw%3D",
        .body = "",
        .headers = { { "host", "slb.aliyuncs.com" } },
        .hash = NULL,
        .signature = "qp9VzuCX06jSYb+xws291bv/IDw=",
    },
    {
        .name = "C5",
        .token = "",
        .time = "2026-11-20T16:36:07Z",
        .query = "AccessKeyId=testAK&Action=DescribeLoadBalancers&Format=JSON&RegionId=cn-hang"
                 "zhou&Signature=fggh7W%2BDABN7J1LU1HXFF%2FST1vI%3D&SignatureMethod=HMAC-SHA1&"
                 "SignatureNonce=7da93c5ba4ca646b2b2abfa6fe3e6832&SignatureType=&SignatureVers"
                 "ion=1.0&Tags=%5B%7B%22TagValue%22%3A%22a5e4dbfc9c2ae4642b0335607860aef6%22%2"
                 "C%22TagKey%22%3A%22kubernetes.do.not.delete%22%7D%5D&Timestamp=2026-11-20T16"
                 "%3A36%3A07Z&Version=2014-05-15",
        .body = "",
        .headers = { { "content-type", "application/x-www-form-urlencoded" },
                     { "host", "127.0.0.1:18080" },
                     { "x-acs-action", "DescribeLoadBalancers" },
                     { "x-acs-version", "2014-05-15" } },
        .hash = NULL,
        .signature = "fggh7W+DABN7J1LU1HXFF/ST1vI=",
    },
    {
        .name = "C6",
        .token = "STSTOKEN",
        .time = "2026-11-20T16:36:22Z",
        .query = "AccessKeyId=testAK&Action=DescribeInstances&AdditionalAttributes.1=NETWORK_P"
                 "RIMARY_ENI_IP&Format=JSON&InstanceIds=%5B%22i-1%22%2C%22i-2%22%5D&MaxResults"
                 "=100&RegionId=cn-hangzhou&SecurityToken=STSTOKEN&Signature=5wwGSoNN6oq3X77cW"
                 "BpUKkMyf8k%3D&SignatureMethod=HMAC-SHA1&SignatureNonce=58fbf570b6553a66dbdf1"
                 "3983a26418d&SignatureType=&SignatureVersion=1.0&Timestamp=2026-11-20T16%3A36"
                 "%3A22Z&Version=2014-05-26",
        .body = "",
        .headers = { { "content-type", "application/x-www-form-urlencoded" },
                     { "host", "127.0.0.1:18080" } },
        .hash = NULL,
        .signature = "5wwGSoNN6oq3X77cWBpUKkMyf8k=",
    },

};

struct fixture {
    struct ccm_sim_request req;
    struct ccm_cloud_accounts *accounts;
    struct ccm_cloud_refusal refusal;
    int64_t now_ms;
};

static void request_build(struct ccm_sim_request *req, const struct vector *vector)
{
    *req = (struct ccm_sim_request){
        .method = "POST",
        .path = "/",
        .raw_path = "/",
        .raw_query = vector->query,
        .body = vector->body,
        .body_len = strlen(vector->body),
    };
    assert_int_equal(ccm_sim_params_parse(&req->query, vector->query, strlen(vector->query)), 0);
    assert_int_equal(ccm_sim_params_parse(&req->form, vector->body, strlen(vector->body)), 0);
    assert_int_equal(ccm_sim_params_parse(&req->all, vector->query, strlen(vector->query)), 0);
    assert_int_equal(ccm_sim_params_parse(&req->all, vector->body, strlen(vector->body)), 0);
    for (size_t i = 0; i < HEADERS_MAX && vector->headers[i].name != NULL; i++) {
        assert_int_equal(
            ccm_sim_params_add(&req->headers, vector->headers[i].name, vector->headers[i].value),
            0);
    }
    ccm_sim_params_sort(&req->query);
    ccm_sim_params_sort(&req->form);
    ccm_sim_params_sort(&req->all);
    ccm_sim_params_sort(&req->headers);
}

static void fixture_init(struct fixture *fixture, const struct vector *vector)
{
    *fixture = (struct fixture){ 0 };
    request_build(&fixture->req, vector);
    fixture->accounts = ccm_cloud_accounts_new();
    assert_non_null(fixture->accounts);
    assert_int_equal(ccm_cloud_accounts_set(fixture->accounts, "testAccessKeyId",
                                            "testAccessKeySecret", vector->token, 0),
                     0);
    assert_int_equal(
        ccm_cloud_accounts_set(fixture->accounts, "testAK", "testSecret", vector->token, 0), 0);
    assert_int_equal(ccm_parse_rfc3339(vector->time, &fixture->now_ms), 0);
}

static void fixture_fini(struct fixture *fixture)
{
    ccm_sim_params_fini(&fixture->req.query);
    ccm_sim_params_fini(&fixture->req.form);
    ccm_sim_params_fini(&fixture->req.all);
    ccm_sim_params_fini(&fixture->req.headers);
    ccm_cloud_accounts_free(fixture->accounts);
    ccm_buf_fini(&fixture->refusal.message);
}

static int fixture_check_signature(struct fixture *fixture)
{
    return ccm_cloud_signature_check(&fixture->req, fixture->accounts, fixture->now_ms,
                                     &fixture->refusal);
}

static const struct vector *vector_get(const char *name)
{
    for (size_t i = 0; i < CCM_ARRAY_LEN(vectors); i++) {
        if (strcmp(vectors[i].name, name) == 0) {
            return &vectors[i];
        }
    }
    fail_msg("no vector %s", name);
    return NULL;
}

static void expect_code(struct fixture *fixture, const char *code, unsigned http)
{
    assert_true(fixture_check_signature(fixture) < 0);
    assert_string_equal(fixture->refusal.code, code);
    assert_int_equal(fixture->refusal.http, http);
}

static void test_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(vectors); i++) {
        CCM_CLEANUP(fixture_fini) struct fixture fixture;

        fixture_init(&fixture, &vectors[i]);
        if (fixture_check_signature(&fixture) != 0) {
            fail_msg("%s: %s: %s", vectors[i].name, fixture.refusal.code,
                     ccm_buf_str(&fixture.refusal.message));
        }
    }
}

/* Any change of what is signed must break every vector. */
static void test_vectors_with_another_secret(void **state)
{
    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(vectors); i++) {
        CCM_CLEANUP(fixture_fini) struct fixture fixture;

        fixture_init(&fixture, &vectors[i]);
        assert_int_equal(ccm_cloud_accounts_set(fixture.accounts, "testAccessKeyId", "other",
                                                vectors[i].token, 0),
                         0);
        assert_int_equal(
            ccm_cloud_accounts_set(fixture.accounts, "testAK", "other", vectors[i].token, 0), 0);
        expect_code(&fixture, "SignatureDoesNotMatch", 400);
        assert_non_null(strstr(ccm_buf_str(&fixture.refusal.message), "server string to sign is:"));
    }
}

static void test_canonical_hashes(void **state)
{
    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(vectors); i++) {
        CCM_CLEANUP(fixture_fini) struct fixture fixture;
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf canonical = { 0 };
        char list[512];
        char hash[65];

        fixture_init(&fixture, &vectors[i]);

        const char *auth = ccm_sim_params_text(&fixture.req.headers, "authorization");
        const char *start = strstr(auth, "SignedHeaders=");

        if (vectors[i].hash == NULL) {
            continue;
        }
        start += strlen("SignedHeaders=");
        ccm_text_copy(list, strcspn(start, ",") + 1, start);
        assert_int_equal(ccm_cloud_v3_canonical(&fixture.req, list, &canonical), 0);
        assert_int_equal(ccm_cloud_sha256_hex(ccm_buf_str(&canonical), canonical.len, hash), 0);
        assert_string_equal(hash, vectors[i].hash);
    }
}

static void test_v1_string(void **state)
{
    CCM_CLEANUP(fixture_fini) struct fixture fixture;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { 0 };

    (void)state;
    fixture_init(&fixture, vector_get("R5"));
    ccm_cloud_v1_string(&fixture.req, &text);
    assert_string_equal(
        ccm_buf_str(&text),
        "POST&%2F&AccessKeyId%3DtestAccessKeyId%26Action%3DDescribeSecurityGroups%26Format%3DJSON"
        "%26RegionId%3Dcn-hangzhou%26SignatureMethod%3DHMAC-SHA1%26SignatureNonce%3D"
        "0123456789abcdef0123456789abcdef%26SignatureType%3D%26SignatureVersion%3D1.0%26"
        "Tag.1.Key%3Dk%2520ey%252A~%26Tag.1.Value%3Dv%252F%25C3%25A9%252B%2526%253D%26"
        "Timestamp%3D2026-01-02T03%253A04%253A05Z%26Version%3D2014-05-26");
}

/* Moving parameters from query to form does not change a parameter signature. */
static void test_v1_in_the_form(void **state)
{
    CCM_CLEANUP(fixture_fini) struct fixture fixture;
    struct vector moved = *vector_get("R2");

    (void)state;
    moved.body = moved.query;
    moved.query = "";
    fixture_init(&fixture, &moved);
    assert_int_equal(fixture_check_signature(&fixture), 0);
}

static void test_nonce_is_used_once(void **state)
{
    static const char *const names[] = { "V1", "R1" };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(names); i++) {
        CCM_CLEANUP(fixture_fini) struct fixture fixture;

        fixture_init(&fixture, vector_get(names[i]));
        assert_int_equal(fixture_check_signature(&fixture), 0);
        expect_code(&fixture, "SignatureNonceUsed", 400);
    }
}

static void test_clock(void **state)
{
    static const struct {
        const char *name;
        int64_t off_ms;
        const char *code; /* NULL = accepted */
    } rows[] = {
        { "V1", 15 * MINUTE_MS, NULL },
        { "V1", -15 * MINUTE_MS, NULL },
        { "V1", 15 * MINUTE_MS + 1, "InvalidTimeStamp.Expired" },
        { "V1", -15 * MINUTE_MS - 1, "InvalidTimeStamp.Expired" },
        { "R1", 31 * MINUTE_MS, NULL },
        { "R1", -31 * MINUTE_MS, NULL },
        { "R1", 31 * MINUTE_MS + 1, "InvalidTimeStamp.Expired" },
        { "R1", -31 * MINUTE_MS - 1, "InvalidTimeStamp.Expired" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        CCM_CLEANUP(fixture_fini) struct fixture fixture;

        fixture_init(&fixture, vector_get(rows[i].name));
        fixture.now_ms += rows[i].off_ms;
        if (rows[i].code == NULL) {
            assert_int_equal(fixture_check_signature(&fixture), 0);
        } else {
            expect_code(&fixture, rows[i].code, 400);
        }
    }
}

static void test_tokens(void **state)
{
    static const struct {
        const char *vector;
        const char *token; /* what the key has */
        const char *other; /* token of another key */
        int64_t expires_after_ms;
        const char *code;
    } rows[] = {
        { "V3", "testSecurityToken", "", 1, NULL },
        { "V3", "testSecurityToken", "", -1, "InvalidSecurityToken.Expired" },
        { "R4", "testSecurityToken", "", -1, "InvalidSecurityToken.Expired" },
        { "V3", "new", "", 1, "InvalidSecurityToken.Malformed" },
        { "R4", "new", "testSecurityToken", 1, "InvalidSecurityToken.MismatchWithAccessKey" },
        { "V3", "", "", 1, "InvalidSecurityToken.MismatchWithAccessKey" },
        { "V1", "new", "", 1, "MissingSecurityToken" },
        { "R1", "new", "", 1, "MissingSecurityToken" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        CCM_CLEANUP(fixture_fini) struct fixture fixture;

        fixture_init(&fixture, vector_get(rows[i].vector));
        assert_int_equal(ccm_cloud_accounts_set(fixture.accounts, "testAccessKeyId",
                                                "testAccessKeySecret", rows[i].token,
                                                fixture.now_ms + rows[i].expires_after_ms),
                         0);
        assert_int_equal(ccm_cloud_accounts_set(fixture.accounts, "testAK", "x", rows[i].other, 0),
                         0);
        if (rows[i].code == NULL) {
            assert_int_equal(fixture_check_signature(&fixture), 0);
        } else {
            expect_code(&fixture, rows[i].code, 400);
        }
    }
}

static void test_unknown_key(void **state)
{
    static const char *const names[] = { "V1", "R1" };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(names); i++) {
        CCM_CLEANUP(fixture_fini) struct fixture fixture;

        fixture_init(&fixture, vector_get(names[i]));
        ccm_cloud_accounts_del(fixture.accounts, "testAccessKeyId");
        expect_code(&fixture, "InvalidAccessKeyId.NotFound", 404);
    }
}

static void test_missing_parts(void **state)
{
    static const struct {
        const char *vector;
        const char *name;
        const char *code;
    } rows[] = {
        { "V1", "x-acs-date", "IncompleteSignature" },
        { "V1", "x-acs-signature-nonce", "IncompleteSignature" },
        { "V1", "x-acs-content-sha256", "IncompleteSignature" },
        { "V1", "host", "IncompleteSignature" },
        { "V1", "authorization", "MissingAccessKeyId" },
        { "R1", "AccessKeyId", "MissingAccessKeyId" },
        { "R1", "Timestamp", "MissingTimestamp" },
        { "R1", "SignatureNonce", "MissingSignatureNonce" },
        { "R1", "SignatureMethod", "MissingSignatureMethod" },
        { "R1", "SignatureVersion", "MissingSignatureVersion" },
        { "R1", "Signature", "MissingSignature" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        CCM_CLEANUP(fixture_fini) struct fixture fixture;

        fixture_init(&fixture, vector_get(rows[i].vector));
        ccm_sim_params_del(&fixture.req.headers, rows[i].name);
        ccm_sim_params_del(&fixture.req.all, rows[i].name);
        expect_code(&fixture, rows[i].code, 400);
    }
}

static void test_changed_parts(void **state)
{
    static const struct {
        const char *vector;
        const char *name;
        const char *value;
        const char *code;
    } rows[] = {
        { "V1", "x-acs-date", "yesterday", "InvalidTimeStamp.Format" },
        { "R1", "Timestamp", "2026-01-02 03:04:05", "InvalidTimeStamp.Format" },
        { "V1", "x-acs-action", "DeleteLoadBalancer", "SignatureDoesNotMatch" },
        { "V1", "host", "elsewhere", "SignatureDoesNotMatch" },
        { "V1", "x-acs-new", "1", "IncompleteSignature" },
        { "R1", "Action", "DeleteLoadBalancer", "SignatureDoesNotMatch" },
        { "R1", "Extra", "1", "SignatureDoesNotMatch" },
        { "R1", "SignatureMethod", "HMAC-MD5", "InvalidSignatureMethod" },
        { "R1", "SignatureVersion", "2.0", "IncompleteSignature" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        CCM_CLEANUP(fixture_fini) struct fixture fixture;
        bool v3 = rows[i].vector[0] == 'V';

        fixture_init(&fixture, vector_get(rows[i].vector));
        assert_int_equal(ccm_sim_params_set(v3 ? &fixture.req.headers : &fixture.req.all,
                                            rows[i].name, rows[i].value),
                         0);
        expect_code(&fixture, rows[i].code, 400);
    }
}

/* The body is covered through its hash. */
static void test_changed_body(void **state)
{
    CCM_CLEANUP(fixture_fini) struct fixture fixture;

    (void)state;
    fixture_init(&fixture, vector_get("V2"));
    fixture.req.body = "ServerGroupId=sgp-2";
    fixture.req.body_len = strlen(fixture.req.body);
    expect_code(&fixture, "IncompleteSignature", 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_vectors_with_another_secret),
        cmocka_unit_test(test_canonical_hashes),
        cmocka_unit_test(test_v1_string),
        cmocka_unit_test(test_v1_in_the_form),
        cmocka_unit_test(test_nonce_is_used_once),
        cmocka_unit_test(test_clock),
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_unknown_key),
        cmocka_unit_test(test_missing_parts),
        cmocka_unit_test(test_changed_parts),
        cmocka_unit_test(test_changed_body),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
