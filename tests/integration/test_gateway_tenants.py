"""Who may write Gateways, routes and Services in one namespace does nothing with them to what is others'."""

import pytest

from tests.support import objects
from tests.support.certificates import ref, tls_listener
from tests.support.gateway_api import BACKEND_TYPE, FINALIZER, PREFIX, backend, listener, service, world_with_class
from tests.support.products import ZONES, Nlb

OLD = "service.beta.kubernetes.io/alicloud-loadbalancer-"
LABEL = {"ccm.alibabacloud.com/gateway-parameters": ""}
RESOURCES = ("services", "nodes", "endpointslices")


@pytest.fixture
def api(world):
    return world_with_class(world)


def make_namespace(world, name, **labels):
    world.kube.http.request("POST", "/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})


def make_map(world, name, data):
    world.kube.http.request("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": name, "labels": LABEL}, "data": data})
    return {"group": "", "kind": "ConfigMap", "name": name}


def pods_of(name, *addresses, namespace="default"):
    """A Service without node ports, and its slice."""
    item = service(name, kind="ClusterIP", namespace=namespace)
    return item, objects.endpoint_slice(item, [(address, "node-1") for address in addresses])


def pods(*addresses):
    return [(address, 8080, 100) for address in addresses]


# --- annotations ---

@pytest.mark.parametrize("name, value", [("id", None), ("force-override-listeners", "true"), ("vgroup-port", "rsp-1:80"),
                                         ("protocol-port", "udp:80"), ("listener-port-range", "80:1-9")])
def test_annotations_of_services_under_their_old_names(world, api, name, value):
    """The beginning that annotations of Services had before leads no Gateway to the load balancer of a person either."""
    lb, _ = Nlb(lambda action, params: world.cloud.edit("call", product="nlb", action=action, params={
        key: str(one) for key, one in params.items()})["answer"]).make_lb("theirs", {}, {})
    before = api.load_balancers()
    api.make_gateway(listener("tcp", 80), annotations={OLD + name: value or lb})
    world.start_ccmd()
    world.wait(lambda: api.conditions("Gateway", "web").get("Accepted") == ("False", "InvalidParameters"), "the refusal")
    world.settled()
    assert api.load_balancers() == before


def test_an_annotation_under_its_old_name_goes_before_the_defaults(world, api):
    """What stands at the Gateway wins over its ConfigMap, by whichever name."""
    own = make_map(world, "own", {"idle-timeout": "100", "additional-resource-tags": "a=map"})
    api.make_gateway(listener("tcp", 80), parametersRef=own, labels={"team": "x"},
                     annotations={OLD + "idle-timeout": "200", OLD + "additional-resource-tags": "a=gateway"})
    world.start_ccmd()
    world.wait(api.programmed, "the Gateway")
    (lb,) = api.load_balancers()
    assert lb["Listeners"][0]["IdleTimeout"] == "200" and (lb["Tags"]["a"], lb["Tags"]["team"]) == ("gateway", "x")


@pytest.mark.parametrize("labels", [{}, {"team": "x"}], ids=["alone", "with labels"])
def test_tags_without_end(world, api, labels):
    """They are refused by name, and what is done for all Gateways is done for the others."""
    api.configure("audit_interval_s = 1; missing_wait_s = 0;")
    long = make_map(world, "long", {"additional-resource-tags": ",".join(f"key-{n}=value" for n in range(3000))})
    api.make_gateway(listener("tcp", 80), name="long", parametersRef=long, labels=labels)
    api.make_gateway(listener("tcp", 80))
    world.start_ccmd()
    world.wait(api.programmed, "the other Gateway")
    world.wait(lambda: world.cloud.actions().count("ListServerGroups") >= 3, "looks for what is left over")
    world.wait(lambda: api.conditions("Gateway", "long").get("Programmed") == ("False", "Invalid"), "the refusal")
    messages = [one["message"] for one in api.get("Gateway", "long")["status"]["conditions"] if one["type"] == "Programmed"]
    assert "additional-resource-tags must be at most" in messages[0], messages


def test_parameters_without_end(world, api):
    """A ConfigMap is read in every pass of what names it: what is longer than anybody needs is refused."""
    long = make_map(world, "long", {f"key-{number}": "x" * 50 for number in range(2000)})
    api.make_gateway(listener("tcp", 80), name="long", parametersRef=long)
    api.make_route("web", backend("web"), gateway="long")
    world.start_ccmd()
    world.wait(lambda: api.conditions("Gateway", "long").get("Accepted") == ("False", "InvalidParameters"), "the refusal")
    messages = [one["message"] for one in api.get("Gateway", "long")["status"]["conditions"] if one["type"] == "Accepted"]
    assert "more than 64 KiB" in messages[0], messages
    world.kube.http.request("PATCH", "/api/v1/namespaces/default/configmaps/long", {"data": None}, "application/merge-patch+json")
    api.patch("Gateway", "long", {"spec": {"infrastructure": {"annotations": {
        PREFIX + "zone-maps": ",".join(f"{zone}:{switch}" for zone, switch in ZONES.items())}}}})
    world.wait(lambda: api.programmed("long"), "the Gateway")


# --- names that are the same in two namespaces ---

def unseen(world, change):
    """What is changed now no watch sees: the next list shows it."""
    def lists():
        values = world.metrics()
        return {resource: values[f'ccmd_cache_lists_total{{kind="{resource}"}}'] for resource in RESOURCES}

    world.kube.fault(action="WATCH *", count=100000, http=503)
    for resource in RESOURCES:
        world.kube.watches("drop", resource)
    change()
    for resource in RESOURCES:
        world.kube.watches("expire", resource)
    before = lists()
    world.kube.clear_faults()
    world.wait(lambda: all(count > before[resource] for resource, count in lists().items()), "a list of each kind", timeout=60)
    world.settled()


def test_slices_of_another_namespace_say_nothing(world, api):
    """Backends whose slice is missing are kept, whatever becomes of a Service of the same name elsewhere."""
    make_namespace(world, "other")
    own, own_slice = pods_of("app", "10.1.1.1")
    alien, alien_slice = pods_of("app", "10.1.9.9", namespace="other")
    world.kube.create(own, own_slice, alien, alien_slice)
    api.make_gateway(listener("tcp", 80), annotations={BACKEND_TYPE: "eni"})
    api.make_route("web", backend("app"))
    world.start_ccmd()
    world.wait(lambda: api.served() == {"80/tcp": pods("10.1.1.1")}, "the pod")
    world.settled()
    unseen(world, lambda: world.kube.delete("EndpointSlice", own_slice["metadata"]["name"]))
    assert api.served() == {"80/tcp": pods("10.1.1.1")}
    world.kube.replace(objects.endpoint_slice(alien, [("10.1.1.1", "node-1")]))
    world.kube.delete("EndpointSlice", alien_slice["metadata"]["name"], "other")
    world.wait(lambda: world.kube.get("EndpointSlice", alien_slice["metadata"]["name"], "other") is None, "the other slice to go")
    api.patch("Gateway", "web", {"spec": {"listeners": [listener("tcp", 80), listener("more", 81)]}})
    world.wait(lambda: len(api.served()) == 2, "a pass")
    world.settled()
    assert api.served()["80/tcp"] == pods("10.1.1.1")


def test_a_slice_that_goes_over_to_another_service(world, api):
    """The Gateway of the Service that it was of is told as well."""
    first, first_slice = pods_of("first", "10.1.1.1", "10.1.1.2")
    more = objects.endpoint_slice(first, [("10.1.1.3", "node-1")], "more")
    second, _ = pods_of("second")
    world.kube.create(first, first_slice, more, second)
    api.make_gateway(listener("tcp", 80), annotations={BACKEND_TYPE: "eni"})
    api.make_route("web", backend("first"))
    world.start_ccmd()
    world.wait(lambda: api.served() == {"80/tcp": pods("10.1.1.1", "10.1.1.2", "10.1.1.3")}, "the pods")
    world.settled()
    world.kube.patch("EndpointSlice", more["metadata"]["name"], {"metadata": {"labels": {"kubernetes.io/service-name": "second"}}})
    world.wait(lambda: api.served() == {"80/tcp": pods("10.1.1.1", "10.1.1.2")}, "the pod to go")


def host_pod(world, name, ip, namespace):
    world.kube.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace},
                       "spec": {"nodeName": "node-1", "hostNetwork": True, "containers": [{"name": "c", "image": "i"}]}})
    world.kube.patch("Pod", name, {"status": {"podIP": ip, "podIPs": [{"ip": ip}]}}, namespace, subresource="status")


def test_pods_with_the_network_of_their_node_are_those_of_their_namespace(world, api):
    """One Service has such a pod; another one, of another namespace, writes the addresses of both nodes into its slice."""
    nodes = ("10.1.0.11", "10.2.0.12")
    for number, ip in enumerate(nodes, 1):
        world.kube.patch("Node", f"node-{number}", {"status": {"addresses": [{"type": "InternalIP", "address": ip}]}}, subresource="status")
    make_namespace(world, "other")
    own, own_slice = pods_of("app", nodes[0], namespace="other")
    forged, forged_slice = pods_of("forged", *nodes)
    name = own_slice["endpoints"][0]["targetRef"]["name"]
    host_pod(world, name, nodes[0], "other")
    world.kube.create(own, own_slice, forged, forged_slice)
    api.create("ReferenceGrant", "routes", {"from": [{"group": "gateway.networking.k8s.io", "kind": "TCPRoute", "namespace": "default"}],
                                            "to": [{"group": "", "kind": "Service"}]}, "other")
    api.make_gateway(listener("tcp", 80), annotations={BACKEND_TYPE: "eni"})
    api.make_route("web", backend("forged"), backend("app", namespace="other"))
    world.start_ccmd()
    world.wait(lambda: api.served() == {"80/tcp": pods(nodes[0])}, "the pod")
    world.settled()
    reads = [action for action in world.kube.actions() if action.startswith("GET ") and "/pods/" in action]
    assert sorted(reads) == sorted(["GET /api/v1/namespaces/other/pods/" + name] + [
        f"GET /api/v1/namespaces/default/pods/{item['targetRef']['name']}" for item in forged_slice["endpoints"]])
    assert api.served() == {"80/tcp": pods(nodes[0])}
    # A backend stays one, whatever its endpoint says later.
    own_slice["endpoints"][0]["targetRef"]["name"] = "missing"
    world.kube.replace(own_slice)
    world.wait(lambda: [e for e in world.kube.events() if "no hostNetwork pod of the namespace has it: " in e[2]], "the Warning")
    world.settled()
    assert api.served() == {"80/tcp": pods(nodes[0])}
    world.kube.delete("EndpointSlice", own_slice["metadata"]["name"], "other")
    world.kube.delete("EndpointSlice", forged_slice["metadata"]["name"])
    world.wait(lambda: api.served() == {"80/tcp": []}, "no backend")


def test_a_grant_is_looked_at_by_those_whom_it_lets_in(world, api):
    """Somebody who writes grants without end keeps nobody else busy; labels of them say nothing."""
    def passes():
        return sum(value for name, value in world.metrics().items()
                   if name.startswith('controller_runtime_reconcile_total{controller="gateway"'))

    world.kube.create(service("web"))
    api.make_gateway(listener("tcp", 80))
    api.make_route("web", backend("web"))
    spec = {"from": [{"group": "gateway.networking.k8s.io", "kind": "TCPRoute", "namespace": "third"}], "to": [{"group": "", "kind": "Service"}]}
    api.create("ReferenceGrant", "own", {**spec, "from": [{**spec["from"][0], "namespace": "default"}]}, "default")
    world.start_ccmd()
    world.wait(api.programmed, "the Gateway")
    world.settled()
    before = passes()
    api.create("ReferenceGrant", "theirs", spec, "default")
    for number in range(20):
        api.patch("ReferenceGrant", "theirs", {"spec": {"to": [{"group": "", "kind": "Service", "name": f"a-{number}"}]}})
        api.patch("ReferenceGrant", "own", {"metadata": {"labels": {"a": str(number)}}})
    world.settled()
    assert passes() == before
    api.delete("ReferenceGrant", "own")
    world.wait(lambda: passes() > before, "those whom it let in to be looked at")


@pytest.mark.parametrize("label", ["service.k8s.alibaba/loadbalancer-id", "ccm.alibabacloud.com/reused-gateway"])
@pytest.mark.parametrize("whose", ["gateway", "person"])
def test_labels_that_name_the_load_balancer_of_others(world, api, label, whose):
    """Labels and finalizer, as ccmd writes them, of a Gateway that somebody else has written: nothing is taken, nor deleted at its end."""
    make_namespace(world, "other")
    product = Nlb(lambda action, params: world.cloud.edit("call", product="nlb", action=action, params={
        key: str(one) for key, one in params.items()})["answer"])
    theirs, _ = product.make_lb("theirs", {}, {"kubernetes.reused.by.user": "true"})
    api.make_gateway(listener("tcp", 80))
    world.start_ccmd()
    world.wait(api.programmed, "the Gateway")
    world.settled()
    before = {one["LoadBalancerId"]: one for one in api.load_balancers()}
    (own,) = set(before) - {theirs}
    zones = {PREFIX + "zone-maps": ",".join(f"{zone}:{switch}" for zone, switch in ZONES.items())}
    api.create("Gateway", "web", {"gatewayClassName": "nlb", "listeners": [listener("tcp", 80), listener("more", 81)],
                                  "infrastructure": {"annotations": {**zones, PREFIX + "idle-timeout": "17"}}}, "other",
               labels={label: own if whose == "gateway" else theirs}, finalizers=[FINALIZER])
    world.settled()
    api.delete("Gateway", "web", "other")
    world.settled()
    after = {one["LoadBalancerId"]: one for one in api.load_balancers()}
    assert {key: after.get(key) for key in before} == before


# --- many ---

def test_more_services_than_one_would_think(world, api):
    """A route may name 256, and the servers of 100 fill a group: all of them get traffic."""
    names = [f"app-{number}" for number in range(100)]
    world.kube.create(*(service(name) for name in names))
    api.make_gateway(listener("tcp", 80))
    api.create("TCPRoute", "web", {"parentRefs": [{"name": "web"}], "rules": [
        {"backendRefs": [backend(name, weight=1000) for name in names[at:at + 16]]} for at in range(0, 100, 16)]})
    world.start_ccmd()
    world.wait(lambda: len((api.served() or {}).get("80/tcp") or []) == 200, "two nodes of each", timeout=60)
    assert len({weight for _, _, weight in api.served()["80/tcp"]}) == 1


def test_status_of_a_route_that_is_full(world, api):
    """The API has 32 parents at most: those of others stay, and of ours there are as many as fit."""
    theirs = [{"parentRef": {"name": f"mesh-{number}"}, "controllerName": "example.com/other", "conditions": []} for number in range(31)]
    api.make_gateway(listener("one", 1), listener("two", 2))
    api.create("TCPRoute", "web", {"parentRefs": [{"name": "web", "sectionName": "one"}, {"name": "web", "sectionName": "two"}], "rules": []})
    api.patch("TCPRoute", "web", {"status": {"parents": theirs}}, subresource="status")
    world.start_ccmd()
    world.wait(api.programmed, "the Gateway")
    world.wait(lambda: len(api.get("TCPRoute", "web")["status"]["parents"]) == 32, "the first of ours")
    world.settled()
    parents = api.get("TCPRoute", "web")["status"]["parents"]
    assert parents[:31] == theirs and parents[31]["parentRef"]["sectionName"] == "one"


# --- what no server would take ---

ODD = [None, True, -1, 1e300, 2**63, "", "x" * 300, "ünï\u202e", [], [None], [[1]], {}, {"a": {"b": []}}, [{"name": 7}], "\u0001",
       "..", "a/../b", ["a"], ["a", {"b": "c"}, 1], {"": ""}, {"a": "b"}, {"a": ["b"]}]


def odd_objects():
    """An object for each field and each thing that could stand there."""
    fields = {"gatewayClassName", "listeners", "infrastructure", "addresses", "tls", "allowedListeners"}
    for field in sorted(fields):
        yield from (("Gateway", {"gatewayClassName": "nlb", "listeners": [listener("tcp", 80)], field: odd}) for odd in ODD)
    for field in ("name", "port", "protocol", "hostname", "tls", "allowedRoutes"):
        yield from (("Gateway", {"gatewayClassName": "nlb", "listeners": [{**listener("t", 80, "TLS"), field: odd}]}) for odd in ODD)
    for field in ("annotations", "labels", "parametersRef"):
        yield from (("Gateway", {"gatewayClassName": "nlb", "listeners": [listener("tcp", 80)], "infrastructure": {field: odd}})
                    for odd in ODD)
    for field in ("kinds", "namespaces"):
        yield from (("Gateway", {"gatewayClassName": "nlb", "listeners": [{**listener("t", 80), "allowedRoutes": {field: odd}}]})
                    for odd in ODD)
    for field in ("name", "port", "protocol", "hostname", "tls", "allowedRoutes"):
        yield from (("ListenerSet", {"parentRef": {"name": "web"}, "listeners": [{**listener("t", 83), field: odd}]}) for odd in ODD)
        yield from (("ListenerSet", {"parentRef": {"name": "web"}, "listeners": [{**tls_listener("t", 84, ref("cert")), field: odd}]})
                    for odd in ODD)
    for field in ("mode", "options", "certificateRefs"):
        tls = {"options": {"ccm.alibabacloud.com/certificate-ids": "101-cn-hangzhou"}}
        yield from (("Gateway", {"gatewayClassName": "nlb", "listeners": [listener("t", 80, "TLS", tls={**tls, field: odd})]}) for odd in ODD)
        yield from (("ListenerSet", {"parentRef": {"name": "web"}, "listeners": [listener("t", 81, "TLS", tls={field: odd})]}) for odd in ODD)
    for field in ("group", "kind", "namespace", "name"):
        yield from (("Gateway", {"gatewayClassName": "nlb", "listeners": [
            listener("t", 80, "TLS", tls={"certificateRefs": [{"name": "cert", field: odd}]})]}) for odd in ODD)
        yield from (("ListenerSet", {"parentRef": {"name": "web", field: odd}, "listeners": [listener("t", 82)]}) for odd in ODD)
    for field in ("matchLabels", "matchExpressions"):
        chosen = [{"namespaces": {"from": "Selector", "selector": {field: odd}}} for odd in ODD]
        yield from (("Gateway", {"gatewayClassName": "nlb", "listeners": [{**listener("t", 80), "allowedRoutes": one}]}) for one in chosen)
        yield from (("Gateway", {"gatewayClassName": "nlb", "listeners": [listener("t", 80)], "allowedListeners": one}) for one in chosen)
    yield from (("ListenerSet", {"parentRef": odd, "listeners": odd}) for odd in ODD)
    yield from (("GatewayClass", {"controllerName": "ccm.alibabacloud.com/nlb", "parametersRef": odd}) for odd in ODD)
    for field in ("parentRefs", "rules", "hostnames"):
        yield from (("TLSRoute", {"parentRefs": [{"name": "web"}], "rules": [], field: odd}) for odd in ODD)
    for field in ("name", "namespace", "group", "kind", "sectionName", "port"):
        yield from (("TCPRoute", {"parentRefs": [{"name": "web", field: odd}], "rules": []}) for odd in ODD)
    for field in ("name", "namespace", "group", "kind", "port", "weight"):
        yield from (("TCPRoute", {"parentRefs": [{"name": "web"}], "rules": [{"backendRefs": [{**backend("web"), field: odd}]}]})
                    for odd in ODD)
    for field in ("from", "to"):
        yield from (("ReferenceGrant", {"from": [], "to": [], field: odd}) for odd in ODD)


def test_fields_of_any_type(world, api):
    """No load balancer is deleted because of them, and the daemon works on, also for the Gateway with the odd ListenerSets."""
    api.configure("upload_certificates = true;")
    world.kube.create(service("web"))
    for number, (kind, spec) in enumerate(odd_objects()):
        api.create(kind, f"odd-{number}", spec, creationTimestamp="2026-01-02T00:00:00Z")
    api.make_gateway(listener("tcp", 8080))
    api.patch("Gateway", "web", {"spec": {"allowedListeners": {"namespaces": {"from": "Same"}}}})
    world.start_ccmd()
    world.wait(api.programmed, "the Gateway", timeout=60)
    world.settled()
    assert world.admin("/readyz")[0] == 200


# --- certificates ---

@pytest.mark.parametrize("ids", [["999-cn-hangzhou"], ["101-cn-hangzhou,999-cn-hangzhou"], ["101-cn-hangzhou", "999-cn-hangzhou"]],
                         ids=["the only one", "a further one", "of another listener"])
def test_certificates_that_are_not_for_the_namespace(world, api, ids):
    """Option allowed_ids holds for tls.options as it does for annotations, of each listener and each id."""
    api.configure('allowed_ids = ( "default:certificate:101-*" );')

    def listeners(all_ids):
        return [listener(f"tls-{number}", 443 + number, "TLS", tls={"options": {"ccm.alibabacloud.com/certificate-ids": one}})
                for number, one in enumerate(all_ids)]

    def refused():
        found = [one for one in api.get("Gateway", "web").get("status", {}).get("listeners", [])
                 for condition in one["conditions"] if "namespace default may not use certificate 999-cn-hangzhou" in condition["message"]]
        return {one["name"] for one in found}

    world.kube.create(service("web"))
    api.make_gateway(listener("tcp", 80), *listeners(ids))
    api.make_route("web", backend("web"), section="tcp")
    world.start_ccmd()
    world.wait(lambda: refused() == {f"tls-{len(ids) - 1}"} and api.programmed(), "the refusal, and the Gateway with the others")
    world.settled()
    assert set(api.served()) == {"80/tcp", *(f"{443 + number}/tcpssl" for number in range(len(ids) - 1))}
    assert not [call for call in world.cloud.calls() if "999-cn-hangzhou" in str(call["params"])]
    api.patch("Gateway", "web", {"spec": {"listeners": [listener("tcp", 80), *listeners(["101-cn-hangzhou"])]}})
    world.wait(lambda: api.programmed() and refused() == set(), "the Gateway")
    (lb,) = api.load_balancers()
    assert {one["key"]: one.get("CertificateIds") for one in lb["Listeners"]}["443/tcpssl"] == "101-cn-hangzhou"
    api.patch("Gateway", "web", {"spec": {"listeners": [listener("tcp", 80), *listeners(["999-cn-hangzhou"])]}})
    world.wait(lambda: refused() == {"tls-0"} and api.programmed(), "another refusal")
    world.settled()
    (lb,) = api.load_balancers()
    assert {one["key"]: one.get("CertificateIds") for one in lb["Listeners"]}["443/tcpssl"] == "101-cn-hangzhou", "as it was"
