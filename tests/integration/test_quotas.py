"""Quotas of the cloud are seen before they are used up: who is told, what metrics and the status page say."""

import pytest

from tests.support import objects
from tests.support.products import PREFIX, Clb, Nlb
from tests.support.scenario_route import CLUSTER_CIDR, SYSTEM_TABLE, node
from tests.support.world import World

pytestmark = pytest.mark.time_scale(10)
TYPES = {"clb": "CLBType", "nlb": "NLBType"}


@pytest.fixture(params=[Clb, Nlb], ids=["clb", "nlb"])
def product(request):
    return request.param


def nodes(world, first, count):
    for n in range(first, first + count):
        world.kube.create(objects.node(f"node-{n}", f"i-node-{n}"))


def servers(world, product):
    lb = product.only(world)
    return sorted({server for group in lb["Groups"] for server, *_ in group["servers"]}) if lb else []


def told(world, name=None):
    return [e for e in world.kube.events(name) if e[1] == "QuotaNear"]


def told_lease(world):
    items = world.kube.http.request("GET", "/api/v1/namespaces/kube-system/events")["items"]
    return sorted(e["message"] for e in items if e["involvedObject"]["kind"] == "Lease" and e["reason"] == "QuotaNear")


def metric(world, product, what, quota):
    return world.metrics().get(f'ccmd_quota_{what}{{type="{TYPES[product.name]}",quota="{quota}"}}')



def test_backends_and_listeners_of_a_load_balancer(build, tmp_path, product):
    """Once at 80 %, not again with each further one; gone from the page when there is room again."""
    product = product()
    with World(build, tmp_path) as world:
        product.configure(world, 'account_quotas = "backends=10, listeners=2";')
        nodes(world, 1, 3)
        world.start_ccmd()
        world.kube.create(product.new("web", ((80, "TCP"), (81, "TCP"))))
        world.wait(lambda: world.kube.ingress("web"), "the Service")
        world.settled()
        assert [e[2].split("; ")[0].split("]: ")[1] for e in told(world)] == ["80 % or more of 2 listeners of its load balancer are used"]
        nodes(world, 4, 1)
        world.wait(lambda: len(told(world)) == 2, "the Warning")
        warning = told(world)[1]
        lb = product.only(world)["LoadBalancerId"]
        assert warning[0] == "Warning"
        assert f"load balancer [{lb}]: 80 % or more of 10 backends of its load balancer are used" in warning[2]
        assert "backends in option account_quotas of plugin" in warning[2]
        world.settled()
        assert metric(world, product, "used", "backends-per-load-balancer") == 8
        assert metric(world, product, "limit", "backends-per-load-balancer") == 10
        page = world.admin("/statusz")[1]
        assert "default/web: backends of its load balancer" in page
        nodes(world, 5, 1)
        world.wait(lambda: len(servers(world, product)) == 5, "the fifth node")
        world.settled()
        assert len(told(world)) == 2
        world.kube.delete("Service", "web")
        world.wait(lambda: world.kube.get("Service", "web") is None, "the deletion")
        world.settled()
        assert "backends of its load balancer" not in world.admin("/statusz")[1]
        assert metric(world, product, "used", "backends-per-load-balancer") == 0
        world.stop_ccmd()


def test_a_restart_tells_no_second_time(build, tmp_path, product):
    product = product()
    with World(build, tmp_path) as world:
        product.configure(world, 'account_quotas = "backends=3";')
        nodes(world, 1, 3)
        world.start_ccmd()
        world.kube.create(product.new("web"))
        world.wait(lambda: len(told(world)) == 1, "the Warning")
        world.settled()
        world.stop_ccmd()
        world.start_ccmd()
        world.wait(lambda: metric(world, product, "used", "backends-per-load-balancer") == 3, "the count")
        world.settled()
        assert len(told(world)) == 1 and told(world)[0][3] == 1
        assert "default/web: backends of its load balancer" in world.admin("/statusz")[1]
        world.stop_ccmd()


def test_what_all_services_share(build, tmp_path, product):
    """How many groups a server is in, and load balancers, are told at the Lease, once."""
    product = product()
    with World(build, tmp_path) as world:
        product.configure(world, 'account_quotas = "attachments=5, load_balancers=3";')
        nodes(world, 1, 1)
        world.start_ccmd()
        for n in range(5):
            world.kube.create(product.new(f"web-{n}"))
        world.wait(lambda: all(world.kube.ingress(f"web-{n}") for n in range(5)), "the Services")
        world.settled()
        texts = told_lease(world)
        assert len(texts) == 2
        assert texts[0].startswith("80 % or more of 3 load balancers are used")
        assert texts[1].startswith("80 % or more of 5 server groups that one server may be in are used") and "i-node-1 is in " in texts[1]
        assert metric(world, product, "used", "groups-per-server") == 5
        assert metric(world, product, "used", "load-balancers") == 5
        page = world.admin("/statusz")[1]
        assert "all Services: load balancers" in page and "all Services: server groups that one server may be in" in page
        for n in range(5):
            world.kube.delete("Service", f"web-{n}")
        world.wait(lambda: not world.kube.items("Service"), "the deletions")
        world.settled()
        assert metric(world, product, "used", "groups-per-server") == 0
        assert metric(world, product, "used", "load-balancers") == 0
        assert "all Services: " not in world.admin("/statusz")[1]
        world.stop_ccmd()


LIMIT = {"clb": "backends", "nlb": "nlb-servers"}


def test_a_batch_over_the_limit_is_filled_up_to_it(build, tmp_path, product):
    """Five nodes where three fit: three serve, and the Warning says so."""
    product = product()
    with World(build, tmp_path, cloud_args=[f"--limit={LIMIT[product.name]}=3"]) as world:
        product.configure(world)
        nodes(world, 1, 5)
        world.start_ccmd()
        world.kube.create(product.new("web"))
        world.wait(lambda: any(e[0] == "Warning" and "3 of 5 " in e[2] for e in world.kube.events("web")), "the Warning")
        assert len(servers(world, product)) == 3
        assert world.kube.ingress("web")
        world.stop_ccmd()


def test_routes_of_a_table(world):
    """One entry per node; what a person has in the table counts as well."""
    world.config = world.write_config(plugins=f'{{ name = "route"; cluster_cidr = "{CLUSTER_CIDR}"; period_s = 1; account_quotas = "routes=5"; }}')
    for n in range(1, 4):
        world.kube.create(node(f"node-{n}"))
    world.start_ccmd()
    used = 'ccmd_quota_used{type="route",quota="routes-per-table"}'
    world.wait(lambda: world.metrics().get(used) == 3, "three routes")
    assert told_lease(world) == []
    world.kube.create(node("node-4"))
    world.wait(lambda: len(told_lease(world)) == 1, "the Warning")
    assert told_lease(world)[0].startswith(f"Route table {SYSTEM_TABLE}: 80 % or more of 5 custom entries are used")
    assert f"{SYSTEM_TABLE}: routes of the table" in world.admin("/statusz")[1]
    world.kube.create(node("node-5"))
    world.wait(lambda: world.metrics().get(used) == 5, "five routes")
    assert len(told_lease(world)) == 1


SMALL = "vsw-small"  # of 12 addresses


def begin_in_vswitch(world, product, *names):
    """Services whose load balancers stand in one small vSwitch, with second looks all the time."""
    product.configure(world, "audit_interval_s = 1; backend_health = true;")
    vpc = world.cloud.state()["vSwitches"][0]["VpcId"]
    world.cloud.edit("create", type="vswitch", id=SMALL, vpc=vpc, zone="cn-hangzhou-h", cidr="10.1.250.0/28")
    nodes(world, 1, 1)
    world.start_ccmd()
    notes = {"clb": {"address-type": "intranet", "vswitch-id": SMALL}, "nlb": {"zone-maps": f"cn-hangzhou-h:{SMALL},cn-hangzhou-i:vsw-b"}}
    for name in names:
        world.kube.create(product.new(name, annotations={PREFIX + key: value for key, value in notes[product.name].items()}))
    world.wait(lambda: all(world.kube.ingress(name) for name in names), "the Services")


def others_in_vswitch(world, first, last, op="create"):
    for n in range(first, last + 1):
        world.cloud.edit(op, type="instance", id=f"i-full-{n}", **({"vswitch": SMALL} if op == "create" else {}))


def switches_read(world, since):
    return [call["params"]["VSwitchId"] for call in world.cloud.calls(since) if call["action"] == "DescribeVSwitches"]


def test_addresses_of_a_vswitch(build, tmp_path, product):
    """Whoever uses them up, the Lease says so once, for all load balancers in it; not any more when some are free again."""
    product = product()
    with World(build, tmp_path) as world:
        begin_in_vswitch(world, product, "web", "api")
        world.wait(lambda: metric(world, product, "limit", "addresses-per-vswitch") == 12, "the metric")
        assert told_lease(world) == []
        others_in_vswitch(world, 1, 8)
        world.wait(lambda: told_lease(world), "the Warning")
        text, = told_lease(world)
        assert text.startswith(f"vSwitch {SMALL}: 80 % or more of its 12 addresses are used")
        assert {"clb": "annotation vswitch-id", "nlb": "annotation zone-maps"}[product.name] in text
        world.wait(lambda: metric(world, product, "used", "addresses-per-vswitch") == 10, "the metric")
        assert f"{SMALL}: addresses of the vSwitch" in world.admin("/statusz")[1]
        others_in_vswitch(world, 9, 9)
        world.wait(lambda: metric(world, product, "used", "addresses-per-vswitch") == 11, "one more")
        assert told_lease(world) == [text] and told(world) == []
        others_in_vswitch(world, 5, 9, "delete")
        world.wait(lambda: metric(world, product, "used", "addresses-per-vswitch") == 6, "the free ones")
        world.wait(lambda: "addresses of the vSwitch" not in world.admin("/statusz")[1], "the end of it")
        others_in_vswitch(world, 5, 8)
        world.wait(lambda: "addresses of the vSwitch" in world.admin("/statusz")[1], "it again")
        for name in ("web", "api"):
            world.kube.delete("Service", name)
        world.wait(lambda: not world.kube.items("Service"), "the deletions")
        world.wait(lambda: "addresses of the vSwitch" not in world.admin("/statusz")[1], "nothing stands there any more")
        world.wait(lambda: metric(world, product, "limit", "addresses-per-vswitch") == 0, "the metric")
        world.stop_ccmd()


def test_vswitches_are_read_with_second_looks_only(build, tmp_path, product):
    """One call for each, not one for each load balancer in it; none when nobody looks."""
    product = product()
    with World(build, tmp_path) as world:
        begin_in_vswitch(world, product, "web", "api")
        look = {"clb": "DescribeHealthStatus", "nlb": "GetListenerHealthStatus"}[product.name]
        since = world.cloud.mark()
        world.wait(lambda: len(switches_read(world, since)) >= 6, "reads")
        read = switches_read(world, since)
        assert set(read) == ({SMALL} if product.name == "clb" else {SMALL, "vsw-b"})
        assert read.count(SMALL) <= world.cloud.actions(since).count(look) + 2  # two looks may have begun before
        world.stop_ccmd()
        product.configure(world, "audit_interval_s = 86400; backend_health = true;")
        since = world.cloud.mark()
        world.start_ccmd()
        world.wait(lambda: world.cloud.actions(since), "the first reads")
        world.settled()
        assert switches_read(world, since) == []
        world.stop_ccmd()


def test_vswitches_that_may_not_be_read(build, tmp_path, product):
    """One line of the log, and nothing else."""
    product = product()
    with World(build, tmp_path) as world:
        world.cloud.fault("DescribeVSwitches", count=100000, code="Forbidden.RAM", http=403)
        begin_in_vswitch(world, product, "web")
        world.wait(lambda: world.cloud.actions().count("DescribeVSwitches") >= 3, "reads")
        world.wait(lambda: "how many addresses vSwitches have left is not known" in world.log(), "the line")
        assert world.log().count("how many addresses vSwitches have left is not known") == 1
        assert "SyncLoadBalancerFailed" not in [e[1] for e in world.kube.events("web")]
        assert told_lease(world) == []
        world.stop_ccmd()
