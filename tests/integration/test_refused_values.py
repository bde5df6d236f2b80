"""Every annotation, both products, load balancers of Services and of persons: a value that cannot be used is written on a Service
that works, then all its pods are replaced, or a node. No row freezes: backends follow until the value is right, and after it.

The rows come from `ccmd explain`, so a new annotation is a new row. Each row is a Service with a load balancer of its own, all of
them in one world per product."""

import json
import subprocess

import pytest

from tests.support import objects, views
from tests.support.products import PREFIX, Clb, Nlb
from tests.support.world import World

pytestmark = pytest.mark.time_scale(10)
PODS_KEY = "service.beta.kubernetes.io/backend-type"
PODS = {PODS_KEY: "eni"}
BEFORE = [("10.1.1.1", "node-1"), ("10.2.2.1", "node-2")]
AFTER = [("10.1.1.2", "node-1"), ("10.2.2.2", "node-2")]
LATER = [("10.1.1.3", "node-1"), ("10.2.2.3", "node-2")]
NODES = ["node-1", "node-2", "node-3"]
NODES_AFTER = ["node-1", "node-2", "node-4"]  # node-3 is deleted, node-4 joins

# A Service with one of these is another controller's, so its load balancer is released: there is nothing to follow.
RELEASES = ("class", "alibaba-cloud-loadbalancer-tunnel-type")
# They are set by rows of their own, below.
OWN_ROWS = ("id", "vgroup-port", "backend-type")
TEXTS = {"backend-label": "pool", "additional-resource-tags": "k" * 70 + "=v", "zone-maps": "cn-none:vsw-none,cn-other:vsw-none",
         "protocol-port": "quic:443"}
BASES = {"clb": {"protocol-port": "https:443", "cert-id": "cert-valid"},
         "nlb": {"protocol-port": "tcpssl:443", "cert-id": "101-cn-hangzhou"}}
PORTS = ((80, "TCP"), (443, "TCP"))
PRODUCTS = {"clb": Clb, "nlb": Nlb}


class Row:
    """One Service: whose load balancer it has, what its backends are, the annotations that work, and those that break it.

    A value may be a function of (world, row): an id that is known only then. follows: what each group has to hold at the end."""

    def __init__(self, owner, mode, bad, base=None, follows=None, ports=PORTS, **options):
        self.owner, self.mode, self.bad, self.base, self.ports, self.options = owner, mode, bad, base or {}, ports, options
        self.follows = follows or (NODES_AFTER if mode == "nodes" else [address for address, _ in AFTER])
        self.name = self.lb = None

    def __repr__(self):
        return f"{self.owner} {self.mode} {self.bad}"


def annotations_of(build, product):
    found = subprocess.run([f"{build}/bin/ccmd", "explain", "-o", "json", "--plugin-dir", f"{build}/plugins"], check=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return [one for one in json.loads(found.stdout)["annotations"] if one["plugin"] == product]


def bad_values(annotation):
    """None of the values that the annotation takes."""
    name, values = annotation["name"], annotation["values"]
    if " to " in values:
        return ["99999999"]
    return [TEXTS.get(name, "x-none")] if values.startswith("text") else ["x-none"]


def generated(build, product):
    rows = []
    for annotation in annotations_of(build, product):
        name = annotation["name"]
        if name in RELEASES or name in OWN_ROWS:
            continue
        key = name if "-loadbalancer-" in name else PREFIX + name
        for value in bad_values(annotation):
            for owner in ("managed", "reused"):
                if owner == "managed" or name != "zone-maps":
                    rows.append(Row(owner, "pods", {key: value}))
                # A node that the label may exclude does not join.
                label = NODES_AFTER[:2] if name == "backend-label" else None
                rows.append(Row(owner, "nodes", {key: value}, follows=label))
    return rows


def own_id(world, row):
    return world.kube.get("Service", row.name)["metadata"]["labels"]["service.k8s.alibaba/loadbalancer-id"]


def lb_of_another(world, row):
    return world.kube.get("Service", "another")["metadata"]["labels"]["service.k8s.alibaba/loadbalancer-id"]


def spare(world, row):
    return row.spare


def by_hand(product):
    """Rows of the annotations that name load balancers and groups, and of those that need something beside them."""
    key, rows = PREFIX + "id", []
    for mode in ("pods", "nodes"):
        rows += [Row("managed", mode, {key: value}) for value in (own_id, "lb-none", lb_of_another, spare)]
        rows += [Row("reused", mode, {key: value}) for value in (None, "lb-none", lb_of_another, spare)]
        rows += [Row("reused", mode, {PREFIX + "vgroup-port": "rsp-none:80"}),
                 Row("reused", mode, {PREFIX + "vgroup-port": "nonsense"}),
                 Row("chosen", mode, {PREFIX + "vgroup-port": "rsp-none:80"}),
                 Row("chosen", mode, {PREFIX + "vgroup-port": "nonsense"}),
                 Row("chosen", mode, {key: None}), Row("chosen", mode, {key: "lb-none"}),
                 Row("chosen", mode, {key: None, PREFIX + "vgroup-port": None, PREFIX + "force-override-listeners": None})]
    # Any other value than eni means nodes, so the pods are exchanged for them; where there are no node ports they stay.
    rows += [Row("managed", "pods", {PODS_KEY: "x-none"}, follows=NODES_AFTER),
             Row("managed", "pods", {PODS_KEY: "x-none"}, allocateLoadBalancerNodePorts=False)]
    if product == "nlb":
        span = {PREFIX + "listener-port-range": "1000-2000:80"}
        rows += [Row("managed", "nodes", span), Row("reused", "nodes", span),
                 Row("managed", "pods", {PODS_KEY: "x-none"}, base=span, ports=PORTS[:1]),
                 Row("managed", "pods", {PREFIX + "listener-port-range": "80-443:80"}),
                 Row("managed", "pods", {PREFIX + "server-group-type": "x-none"}, base={PREFIX + "server-group-type": "Ip"}),
                 Row("chosen", "pods", {PREFIX + "server-group-type": "Ip"})]
    return rows


@pytest.fixture(params=["clb", "nlb"])
def product(request):
    return PRODUCTS[request.param]()


@pytest.fixture
def world(build, tmp_path, product):
    with World(build, tmp_path, cloud_args=[*product.allow(1000), "--limit=acls=1000"]) as instance:
        product.call = lambda action, params, kind=None: instance.cloud.edit(
            "call", product=kind or product.product, action=action, params={k: str(v) for k, v in params.items()})["answer"]
        yield instance


def group_ids(product, lb_id):
    if product.name == "nlb":
        return product.groups[lb_id]
    return {one["VServerGroupName"]: one["VServerGroupId"]
            for one in product.call("DescribeVServerGroups", {"LoadBalancerId": lb_id})["VServerGroups"]["VServerGroup"]}


def make(world, product, row, number):
    """The Service of a row, and what a person creates for it."""
    row.name = f"row-{number}"
    annotations = {**{PREFIX + key: value for key, value in BASES[product.name].items()}, **row.base,
                   **(PODS if row.mode == "pods" else {})}
    if spare in row.bad.values():
        row.spare = product.make_lb(row.name + "-spare", {}, {})[0]
    if row.owner != "managed":
        row.lb = product.make_lb(row.name, {}, {})[0]
        annotations.update({PREFIX + "id": row.lb, PREFIX + "force-override-listeners": "true"})
    if row.owner == "chosen":
        product.make_group(row.lb, "theirs", [])
        annotations[PREFIX + "vgroup-port"] = group_ids(product, row.lb)["theirs"] + ":80"
    service = world.kube.create(product.new(row.name, row.ports, annotations=annotations, **row.options))
    world.kube.create(objects.endpoint_slice(service, BEFORE))


def found(world, product, rows):
    """Row -> what each group of its listeners holds."""
    state = {lb["LoadBalancerId"]: lb for lb in product.find(world)}
    services = {one["metadata"]["name"]: one["metadata"]["labels"].get("service.k8s.alibaba/loadbalancer-id")
                for one in world.kube.items("Service") if one["metadata"].get("labels")}
    ret = {}
    for row in rows:
        lb = state.get(services.get(row.name), {"Listeners": [], "Groups": []})
        used = {listener["group"] for listener in lb["Listeners"]}
        ret[row] = [sorted(server.removeprefix("i-") for server, _, _ in group["servers"]) for group in lb["Groups"] if group["id"] in used]
    return ret


def late(world, product, rows, wanted):
    return [(row, groups) for row, groups in found(world, product, rows).items()
            if not groups or any(group != sorted(wanted(row)) for group in groups)]


def until_all(world, product, rows, wanted, what, timeout=60):
    """All rows hold what is wanted. Returns those that do not in time."""
    try:
        world.wait(lambda: not late(world, product, rows, wanted), what, timeout, every=0.4)
        return []
    except AssertionError:
        return late(world, product, rows, wanted)


def replace_pods(world, rows, pods):
    for row in rows:
        world.kube.replace(objects.endpoint_slice(world.kube.get("Service", row.name), pods))


def test_no_row_freezes(world, product, build, capsys):
    rows = generated(build, product.name) + by_hand(product.name)
    product.configure(world, unlimited=True, log_level="info")
    views.nodes(world, 3)
    world.start_ccmd()
    world.kube.create(product.new("another", PORTS))
    for number, row in enumerate(rows):
        make(world, product, row, number)
    begun = until_all(world, product, rows, lambda row: NODES if row.mode == "nodes" else [a for a, _ in BEFORE], "all to work")
    assert not begun, begun
    world.wait(lambda: all(world.kube.ingress(row.name) for row in rows), "all addresses", 60, every=0.5)
    world.settled()

    for row in rows:
        bad = {key: value(world, row) if callable(value) else value for key, value in row.bad.items()}
        world.kube.patch("Service", row.name, {"metadata": {"annotations": bad}})
    world.settled()
    replace_pods(world, rows, AFTER)
    world.kube.delete("Node", "node-3")
    views.nodes(world, 1, first=4)
    frozen = until_all(world, product, rows, lambda row: row.follows, "all to follow", 40)
    world.settled()
    with capsys.disabled():
        print(f"\n{product.name}: {len(rows)} rows of {len({key for row in rows for key in row.bad})} annotations, frozen = {len(frozen)}")
    assert not frozen, "\n".join(str(one) for one in frozen)
