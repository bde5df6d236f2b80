"""What options set on listeners for fields of a Service goes back to what annotations or defaults say when the field, or the
option, does not ask for it any more: in a running process and by one that starts afterwards."""

import pytest

from tests.support import objects, views
from tests.support.products import Clb, Nlb

PREFIX = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
BACKEND_TYPE = "service.beta.kubernetes.io/backend-type"
PORTS = ((80, "TCP"), (8080, "TCP"), (8081, "TCP"), (53, "UDP"))
PROTOCOLS = {PREFIX + "protocol-port": "http:8080,http:8081"}
OPTIONS = "node_port_health_check = true; session_affinity = true; source_ranges = true;"
CHECK = ("HealthCheck", "HealthCheckType", "HealthCheckURI", "HealthCheckConnectPort")
WRITES = ("Create", "Set", "Delete", "Start", "Stop", "Add", "Remove", "Tag", "Untag", "Modify", "Update")

both_ways = pytest.mark.parametrize("restarted", [False, True], ids=["running", "restarted"])


def start(world, options=OPTIONS):
    Clb().configure(world, options)
    world.start_ccmd()


def up(world, options=OPTIONS, ports=PORTS, annotations=None, slice_of=("10.1.1.1", "node-1"), **spec):
    """A Service with its listeners, served; ccmd runs."""
    views.nodes(world, 2)
    start(world, options)
    service = objects.service("web", ports, annotations={**(PROTOCOLS if ports == PORTS else {}), **(annotations or {})}, **spec)
    world.kube.create(service, objects.endpoint_slice(service, [slice_of]))
    world.wait(lambda: world.kube.ingress("web") and len(views.listeners(views.only_lb(world))) == len(ports), "the load balancer")
    world.settled()


def fields(world, port, *names):
    for one in (views.only_lb(world) or {}).get("Listeners", []):
        if int(one["ListenerPort"]) == port:
            return tuple(str(one.get(name) or "") for name in names)
    return None


def port_of(world, number):
    return next(port for port in world.kube.get("Service", "web")["spec"]["ports"] if port["port"] == number)


def change(world, restarted, edit, options=OPTIONS, options_after=None):
    """The edit, and maybe other options: seen by the process that runs, or by the next one."""
    if restarted or options_after is not None:
        world.stop_ccmd()
    edit()
    if restarted or options_after is not None:
        start(world, options if options_after is None else options_after)


def no_further_writes(world, options=OPTIONS):
    """Not by the process that runs, nor by the next one."""
    world.settled()
    mark = world.cloud.mark()
    world.stop_ccmd()
    start(world, options)
    world.settled()
    assert [one for one in world.cloud.actions(mark) if one.startswith(WRITES)] == []


def set_policy(world, policy):
    world.kube.patch("Service", "web", {"spec": {"externalTrafficPolicy": policy}})


def annotate(world, **annotations):
    world.kube.patch("Service", "web", {"metadata": {"annotations": annotations}})


def checks_nodes(world):
    port = str(world.kube.get("Service", "web")["spec"]["healthCheckNodePort"])
    return [fields(world, number, *CHECK) for number in (80, 8080)] == [("on", "http", "/healthz", port), ("on", "", "/healthz", port)]


def checks_ports(world, tcp_port):
    """What defaults say; of tcp listeners the port that serves has a number."""
    return [fields(world, number, *CHECK) for number in (80, 8080)] == [("on", "tcp", "/", str(tcp_port)), ("off", "", "/", "-520")]


# --- node_port_health_check ---

@both_ways
@pytest.mark.parametrize("leave", ["cluster", "pods", "option", "cluster and option"])
def test_health_check(world, restarted, leave):
    up(world, policy="Local")
    assert checks_nodes(world)
    assert fields(world, 53, "HealthCheckConnectPort") in (("",), ("0",))
    edits = {"cluster": lambda: set_policy(world, "Cluster"), "pods": lambda: annotate(world, **{BACKEND_TYPE: "eni"}),
             "option": lambda: None, "cluster and option": lambda: set_policy(world, "Cluster")}
    after = "" if "option" in leave else OPTIONS
    change(world, restarted, edits[leave], options_after=after if "option" in leave else None)
    serves = port_of(world, 80)["targetPort" if leave == "pods" else "nodePort"]
    world.wait(lambda: checks_ports(world, serves), "the checks of before")
    no_further_writes(world, after)
    assert checks_ports(world, serves) and [e for e in world.kube.events("web") if e[0] == "Warning"] == []


@both_ways
def test_health_check_and_annotations(world, restarted):
    """Annotations decide, before and after."""
    up(world, policy="Local", annotations={PREFIX + "health-check-type": "http", PREFIX + "health-check-uri": "/up", PREFIX + "health-check-flag": "on"})
    port = str(world.kube.get("Service", "web")["spec"]["healthCheckNodePort"])
    assert fields(world, 80, *CHECK) == ("on", "http", "/up", port) and fields(world, 8080, *CHECK) == ("on", "", "/up", port)
    change(world, restarted, lambda: set_policy(world, "Cluster"))
    serves = str(port_of(world, 80)["nodePort"])
    world.wait(lambda: (fields(world, 80, *CHECK), fields(world, 8080, *CHECK)) ==
               (("on", "http", "/up", serves), ("on", "", "/up", "-520")), "the port of before")
    no_further_writes(world)


def test_health_check_at_an_annotated_port(world):
    """Then the check is as annotations say, with policy Local, too."""
    up(world, policy="Local", annotations={PREFIX + "health-check-connect-port": "31999"})
    assert fields(world, 80, "HealthCheckType", "HealthCheckConnectPort") == ("tcp", "31999")
    mark = world.cloud.mark()
    set_policy(world, "Cluster")
    world.settled()
    assert "SetLoadBalancerTCPListenerAttribute" not in world.cloud.actions(mark)
    no_further_writes(world)


def test_health_check_there_and_back(world):
    up(world, policy="Local")
    for policy, reached in (("Cluster", lambda: checks_ports(world, port_of(world, 80)["nodePort"])), ("Local", lambda: checks_nodes(world))) * 2:
        set_policy(world, policy)
        world.wait(reached, policy)


def test_health_check_follows_the_port_that_serves(world):
    """A tcp listener was given it by its number, which is not to become an old one."""
    up(world, policy="Local")
    set_policy(world, "Cluster")
    world.wait(lambda: checks_ports(world, port_of(world, 80)["nodePort"]), "the checks of before")
    old = port_of(world, 80)["nodePort"]
    new = 30123 if old != 30123 else 30124
    ports = world.kube.get("Service", "web")["spec"]["ports"]
    world.kube.patch("Service", "web", {"spec": {"ports": [{**one, "nodePort": new} if one["port"] == 80 else one for one in ports]}})
    world.wait(lambda: checks_ports(world, new), "the check to follow")
    no_further_writes(world)


def test_health_check_of_pods_with_several_ports(world):
    """No number stands for the port that serves: the listener is deleted and created, without one."""
    port = {"name": "web", "port": 80, "protocol": "TCP", "targetPort": "http"}
    views.nodes(world, 2)
    start(world)
    service = objects.service("web", ((80, "TCP"),), policy="Local")
    service["spec"]["ports"] = [port]
    slices = []
    for name, address, node, number in (("a", "10.1.1.1", "node-1", 8080), ("b", "10.2.2.1", "node-2", 9090)):
        one = objects.endpoint_slice(service, [(address, node)])
        one["metadata"]["name"] = f"web-{name}"
        one["ports"] = [{"name": "web", "port": number, "protocol": "TCP"}]
        slices.append(one)
    world.kube.create(*slices, service)
    world.wait(lambda: views.complete(views.only_lb(world), ((80, "TCP"),)) and world.kube.ingress("web"), "the load balancer")
    assert fields(world, 80, "HealthCheckType") == ("http",)
    annotate(world, **{BACKEND_TYPE: "eni"})
    world.wait(lambda: views.complete(views.only_lb(world), ((80, "TCP"),)) and fields(world, 80, "HealthCheckType") == ("tcp",) and
               fields(world, 80, "HealthCheckConnectPort") in (("",), ("0",)), "a listener without a port")
    no_further_writes(world)


# --- session_affinity ---

@both_ways
@pytest.mark.parametrize("seconds", [None, 10800, 77])
@pytest.mark.parametrize("leave", ["none", "option"])
def test_session_affinity(world, restarted, leave, seconds):
    config = {} if seconds is None else {"sessionAffinityConfig": {"clientIP": {"timeoutSeconds": seconds}}}
    up(world, sessionAffinity="ClientIP", **config)
    assert fields(world, 80, "PersistenceTimeout") == (str(min(seconds or 3600, 3600)),)
    after = "" if leave == "option" else OPTIONS
    change(world, restarted, lambda: leave == "option" or world.kube.patch(
        "Service", "web", {"spec": {"sessionAffinity": "None", "sessionAffinityConfig": None}}),
        options_after=after if leave == "option" else None)
    kept = leave == "option" and seconds != 77  # the most that the cloud takes: a person may have set it
    world.wait(lambda: fields(world, 80, "PersistenceTimeout") == ("3600" if kept else "0",), "the end of persistence")
    no_further_writes(world, after)
    assert fields(world, 80, "PersistenceTimeout") == ("3600" if kept else "0",)


@both_ways
def test_session_affinity_and_its_annotation(world, restarted):
    up(world, sessionAffinity="ClientIP", annotations={PREFIX + "persistence-timeout": "600"})
    change(world, restarted, lambda: world.kube.patch("Service", "web", {"spec": {"sessionAffinity": "None"}}))
    world.settled()
    assert fields(world, 80, "PersistenceTimeout") == ("600",)
    no_further_writes(world)


# --- source_ranges ---

def access(world):
    state = world.cloud.state()
    return len(state["acls"]), sorted({str(one.get("AclStatus")) for one in views.only_lb(world)["Listeners"]})


@both_ways
@pytest.mark.parametrize("option", ["stays on", "is off"])
def test_source_ranges(world, restarted, option):
    """With the option off the list stays as long as the field limits sources."""
    up(world, loadBalancerSourceRanges=["10.0.0.0/8"])
    assert access(world) == (1, ["on"])
    after = "" if option == "is off" else OPTIONS
    if after == "":
        world.stop_ccmd()
        start(world, after)
        mark = world.cloud.mark()
        world.kube.patch("Service", "web", {"spec": {"loadBalancerSourceRanges": ["10.0.0.0/8", "192.168.0.0/16"]}})
        world.wait(lambda: [e for e in world.kube.events("web") if "an access list that exists stays as it is" in e[2]], "the Warning")
        world.settled()
        assert [one for one in world.cloud.actions(mark) if one.startswith(WRITES)] == [] and access(world) == (1, ["on"])
    change(world, restarted, lambda: world.kube.patch("Service", "web", {"spec": {"loadBalancerSourceRanges": None}}), after)
    world.wait(lambda: access(world) == (0, ["off"]), "the list to be gone")
    world.wait(lambda: "service.k8s.alibaba/access-list-id" not in world.kube.get("Service", "web")["metadata"].get("labels", {}),
               "the label to be gone")
    no_further_writes(world, after)


@both_ways
def test_source_ranges_of_nlb(world, restarted):
    product = Nlb()
    views.nodes(world, 2)
    product.configure(world)
    world.start_ccmd()
    world.kube.create(product.new("web", ((80, "TCP"),), loadBalancerSourceRanges=["10.0.0.0/8"]))
    world.wait(lambda: product.complete(product.only(world), ((80, "TCP"),)) and world.kube.ingress("web"), "the load balancer")
    groups = len(world.cloud.state()["securityGroups"])
    if restarted:
        world.stop_ccmd()
    world.kube.patch("Service", "web", {"spec": {"loadBalancerSourceRanges": None}})
    if restarted:
        world.start_ccmd()
    world.wait(lambda: len(world.cloud.state()["securityGroups"]) == groups - 1 and not product.only(world).get("SecurityGroupIds"),
               "the security group to be gone")


# --- what was never set by an option ---

def edit_listener(world, port, protocol, **attributes):
    """As a person does in the console of the cloud."""
    world.cloud.edit("update", type="listener", load_balancer=views.only_lb(world)["LoadBalancerId"], port=port, protocol=protocol,
                     attributes=attributes)


@pytest.mark.parametrize("options", ["", OPTIONS], ids=["options off", "options on"])
def test_what_a_person_made_of_a_check(world, options):
    """A person's values stay: a first pass over them writes nothing."""
    up(world, "", ports=((80, "TCP"),))
    lb = views.only_lb(world)["LoadBalancerId"]
    for values in ({"HealthCheckType": "http", "HealthCheckURI": "/up", "HealthCheckHttpCode": "http_2xx", "HealthCheckConnectPort": "31999"},
                   {"HealthCheckType": "tcp", "HealthCheckConnectPort": "31999"}):
        world.cloud.edit("update", type="listener", load_balancer=lb, port=80, protocol="tcp", attributes=values)
        no_further_writes(world, options)


def test_what_a_person_made_without_options(world):
    """The health of kube-proxy, and a persistence that no field asks for."""
    up(world, "", ports=((80, "TCP"),))
    lb = views.only_lb(world)["LoadBalancerId"]
    world.cloud.edit("update", type="listener", load_balancer=lb, port=80, protocol="tcp", attributes={
        "HealthCheckType": "http", "HealthCheckURI": "/healthz", "HealthCheckHttpCode": "http_2xx", "HealthCheckConnectPort": "10256",
        "PersistenceTimeout": "3600"})
    no_further_writes(world, "")


@pytest.mark.parametrize("options", ["", OPTIONS], ids=["options off", "options on"])
@pytest.mark.parametrize("port, protocol", [(80, "tcp"), (8080, "http")])
def test_a_check_at_the_port_that_serves(world, port, protocol, options):
    """A person checks /healthz of the program, at the node port of the Service."""
    up(world, options, ports=PORTS)
    more = {"HealthCheckType": "http"} if protocol == "tcp" else {"HealthCheck": "on"}
    edit_listener(world, port, protocol, HealthCheckURI="/healthz", HealthCheckHttpCode="http_2xx",
                  HealthCheckConnectPort=str(port_of(world, port)["nodePort"]), **more)
    before = fields(world, port, *CHECK)
    assert before[2:] == ("/healthz", str(port_of(world, port)["nodePort"]))
    no_further_writes(world, options)
    assert fields(world, port, *CHECK) == before


def test_a_persistence_beside_client_ip(world):
    """The option is off, so a person who needs ClientIP sets the longest timeout in the console. To end it takes an annotation."""
    up(world, "", ports=((80, "TCP"),), sessionAffinity="ClientIP")
    edit_listener(world, 80, "tcp", PersistenceTimeout="3600")
    no_further_writes(world, "")
    assert fields(world, 80, "PersistenceTimeout") == ("3600",)
    annotate(world, **{PREFIX + "persistence-timeout": "0"})
    world.wait(lambda: fields(world, 80, "PersistenceTimeout") == ("0",), "the end of persistence")
