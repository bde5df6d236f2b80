"""A Service from creation to deletion: what the cloud holds, what the API server shows, what the user reads."""

from tests.support import objects, service_hash, views

FINALIZER = "service.k8s.alibaba/resources"
HASH_LABEL = "service.beta.kubernetes.io/hash"
ID_LABEL = "service.k8s.alibaba/loadbalancer-id"
PORTS = ((80, "TCP"), (443, "TCP"))


def ensured(world, name):
    return any(reason == "EnsuredLoadBalancer" for _, reason, _, _ in world.kube.events(name))


def create(world, service, slices=()):
    views.nodes(world, 3)
    world.start_ccmd()
    world.kube.create(service, *slices)
    return world.wait(lambda: ensured(world, service["metadata"]["name"]) and views.only_lb(world), "the load balancer")


def gone(world, name):
    return world.kube.get("Service", name) is None and not world.cloud.load_balancers()


def test_creation_and_deletion(world):
    lb = create(world, objects.service("web", PORTS))
    service = world.kube.get("Service", "web")
    uid = service["metadata"]["uid"]
    default_name = ("a" + uid.replace("-", ""))[:32]

    assert lb["LoadBalancerName"] == default_name
    assert lb["Tags"] == {"kubernetes.do.not.delete": default_name, "ack.aliyun.com": "c-test"}
    assert lb["AddressType"] == "internet"
    assert lb["DeleteProtection"] == "on"
    assert lb["ModificationProtectionStatus"] == "ConsoleProtection"
    assert lb["ModificationProtectionReason"] == "managed.by.ack"
    assert lb["InstanceChargeType"] == "PayByCLCU"
    assert views.listeners(lb) == [(80, "tcp", "running"), (443, "tcp", "running")]
    node_ports = {p["port"]: p["nodePort"] for p in service["spec"]["ports"]}
    assert views.groups(lb) == {
        f"k8s/{node_ports[port]}/web/default/c-test": {
            (f"i-node-{n}", node_ports[port], 100) for n in (1, 2, 3)
        }
        for port in (80, 443)
    }
    for listener in lb["Listeners"]:
        assert listener["Description"] == f"k8s/{listener['ListenerPort']}/web/default/c-test"
        assert listener["Scheduler"] == "rr"
        assert int(listener["Bandwidth"]) == -1

    assert service["status"]["loadBalancer"]["ingress"] == [{"ip": lb["Address"]}] or (
        service["status"]["loadBalancer"]["ingress"] == [{"ip": lb["Address"], "ipMode": "VIP"}]
    )
    assert FINALIZER in service["metadata"]["finalizers"]
    assert service["metadata"]["labels"][ID_LABEL] == lb["LoadBalancerId"]
    assert service_hash.is_current(service)
    assert ("Normal", "EnsuredLoadBalancer", f"Ensured load balancer [{lb['LoadBalancerId']}]", 1) in (
        world.kube.events("web")
    )

    world.kube.delete("Service", "web")
    world.wait(lambda: gone(world, "web"), "deletion")
    assert any(reason == "CleanLoadBalancer" for _, reason, _, _ in world.wait(
        lambda: [e for e in world.kube.events("web") if e[1] == "CleanLoadBalancer"], "the event"))
    world.stop_ccmd()


def test_tcp_and_udp_on_one_port(world):
    lb = create(world, objects.service("dns", ((53, "TCP"), (53, "UDP"))))
    assert views.listeners(lb) == [(53, "tcp", "running"), (53, "udp", "running")]
    # one node port serves both protocols, and the group is named after it
    assert len(lb["VServerGroups"]) == 1
    assert {listener["VServerGroupId"] for listener in lb["Listeners"]} == {lb["VServerGroups"][0]["VServerGroupId"]}


def test_local_policy_uses_nodes_with_pods_and_counts_them(world):
    service = objects.service("web", ((80, "TCP"),), policy="Local")
    pods = [("10.1.0.1", "node-1"), ("10.1.0.2", "node-1"), ("10.1.0.3", "node-2"), ("10.1.0.4", "node-3", False)]
    lb = create(world, service, [objects.endpoint_slice(service, pods)])
    port = world.kube.get("Service", "web")["spec"]["ports"][0]["nodePort"]
    wanted = {("i-node-1", port, 2), ("i-node-2", port, 1)}

    def groups_match():
        return list(views.groups(views.only_lb(world)).values()) == [wanted]

    assert lb
    world.wait(groups_match, "one backend per node, weighted by its pods")


def enis(world, addresses):
    world.cloud.http.request("POST", "/_sim/instances", {
        "enis": [{"id": "eni-" + a.replace(".", "-"), "ip": a, "instance": "i-node-1"} for a in addresses]
    })


def test_eni_mode_uses_pod_addresses(world):
    enis(world, ["10.1.0.1", "10.1.0.2", "10.1.0.3"])
    service = objects.service("web", ((80, "TCP"),), annotations={"service.beta.kubernetes.io/backend-type": "eni"})
    slice_ = objects.endpoint_slice(service, [("10.1.0.1", "node-1"), ("10.1.0.2", "node-2")])
    lb = create(world, service, [slice_])
    name = "k8s/8080/web/default/c-test"

    def servers():
        return views.groups(views.only_lb(world)).get(name)

    world.wait(lambda: servers() == {("10.1.0.1", 8080, 100), ("10.1.0.2", 8080, 100)}, "both pods")
    assert {b["Type"] for g in lb["VServerGroups"] for b in g["BackendServers"]} <= {"eni"}

    slice_["endpoints"][0]["addresses"] = ["10.1.0.3"]
    world.kube.replace(slice_)
    world.wait(lambda: servers() == {("10.1.0.2", 8080, 100), ("10.1.0.3", 8080, 100)}, "the replaced pod")


def test_port_added_changed_and_removed(world):
    create(world, objects.service("web", PORTS))

    def ports(*wanted):
        world.kube.patch("Service", "web", {"spec": {"ports": [
            {"name": f"p{port}", "port": port, "protocol": protocol} for port, protocol in wanted]}})
        world.wait(lambda: views.complete(views.only_lb(world), wanted), f"ports {wanted}")

    ports((80, "TCP"), (443, "TCP"), (8080, "TCP"))
    ports((81, "TCP"), (443, "TCP"))
    ports((443, "UDP"))


def test_type_change_deletes_and_creates_again(world):
    first = create(world, objects.service("web", PORTS))
    world.kube.patch("Service", "web", {"spec": {"type": "ClusterIP"}})
    world.wait(lambda: not world.cloud.load_balancers(), "the cloud to be empty")

    def released():
        service = world.kube.get("Service", "web")
        return (
            FINALIZER not in service["metadata"].get("finalizers", [])
            and not service["status"].get("loadBalancer")
            and not {HASH_LABEL, ID_LABEL} & set(service["metadata"].get("labels", {}))
        )

    world.wait(released, "finalizer, labels and status to go")
    world.kube.patch("Service", "web", {"spec": {"type": "LoadBalancer"}})
    second = world.wait(
        lambda: views.complete(views.only_lb(world), PORTS) and views.only_lb(world), "a new load balancer"
    )
    assert second["LoadBalancerId"] != first["LoadBalancerId"]
    world.wait(lambda: [i["ip"] for i in world.kube.ingress("web")] == [second["Address"]], "the new address")


def test_restart_finds_by_tag_and_writes_nothing(world):
    create(world, objects.service("web", PORTS))
    world.settled()
    world.stop_ccmd()
    cloud, kube = world.cloud.mark(), world.kube.mark()
    world.start_ccmd()
    world.wait(lambda: "DescribeLoadBalancers" in world.cloud.actions(cloud), "the look-up")
    world.settled()
    assert all(a.startswith(("Describe", "List")) for a in world.cloud.actions(cloud)), world.cloud.actions(cloud)
    assert all(a.split()[0] in ("LIST", "WATCH", "GET") for a in world.kube.actions(kube)), world.kube.actions(kube)


def test_service_deleted_while_ccmd_is_down(world):
    create(world, objects.service("web", PORTS))
    world.settled()
    world.stop_ccmd()
    world.kube.delete("Service", "web")
    assert world.kube.get("Service", "web")["metadata"]["deletionTimestamp"]
    world.start_ccmd()
    world.wait(lambda: gone(world, "web"), "deletion")


def test_deletion_when_somebody_was_faster(world):
    lb = create(world, objects.service("web", PORTS))
    world.settled()
    world.cloud.edit("delete", type="loadbalancer", id=lb["LoadBalancerId"])
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "deletion")


def test_other_services_are_left_alone(world):
    views.nodes(world, 1)
    world.start_ccmd()
    world.kube.create(
        objects.service("cluster-ip", type="ClusterIP", externalTrafficPolicy=None),
        objects.service("other", loadBalancerClass="example.com/other"),
    )
    world.kube.create(objects.service("web"))
    world.wait(lambda: views.complete(views.only_lb(world), ((80, "TCP"),)), "the one load balancer")
    for name in ("cluster-ip", "other"):
        assert "finalizers" not in world.kube.get("Service", name)["metadata"]
        assert world.kube.events(name) == []


def test_foreign_resources_survive(world):
    lb = create(world, objects.service("web", ((80, "TCP"),)))
    world.cloud.edit("create", type="vservergroup", load_balancer=lb["LoadBalancerId"], name="mine")
    world.kube.patch("Service", "web", {"spec": {"ports": [{"name": "x", "port": 81, "protocol": "TCP"}]}})
    world.wait(lambda: views.listeners(views.only_lb(world)) == [(81, "tcp", "running")], "the new port")
    world.settled()
    assert "mine" in views.groups(views.only_lb(world))
