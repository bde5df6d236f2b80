"""Load balancers of both products at the console: what a person does there, in the words that tests of ownership use."""

from . import views
from .products import OWNER_TAG, PREFIX, PRODUCTS, default_name  # noqa: F401 (for those who import from here)

CLUSTER_TAG = "ack.aliyun.com"
OTHER = "a0123456789abcdef0123456789abcdef"[:32]
SLOW_AUDIT = "audit_interval_s = 0;"
TYPES = {"clb": "loadbalancer", "nlb": "nlb"}


class Console:
    """One world with one plugin, and somebody at the console."""

    def __init__(self, world, product, options=""):
        self.world = world
        self.product = PRODUCTS[product](self.call)
        self.product.configure(world, SLOW_AUDIT + options)

    def call(self, action, params, product=None):
        done = self.world.cloud.edit("call", product=product or self.product.product, action=action,
                                     params={name: str(value) for name, value in params.items()})
        assert done["http"] == 200, (action, params, done)
        return done["answer"]

    def lbs(self):
        return self.product.find(self.world)

    def lb(self, lb_id=None):
        found = self.lbs()
        if lb_id is None:
            assert len(found) <= 1, [one["LoadBalancerId"] for one in found]
            return found[0] if found else None
        return next((one for one in found if one["LoadBalancerId"] == lb_id), None)

    def tag(self, lb_id, **tags):
        """owner=..., cluster=...; None takes the tag off."""
        keys = {"owner": OWNER_TAG, "cluster": CLUSTER_TAG}
        self.world.cloud.edit("update", type=TYPES[self.product.name], id=lb_id,
                              tags={keys[name]: value for name, value in tags.items()})

    def serving(self, name="web", ports=((80, "TCP"), (443, "TCP")), **options):
        """A Service with a complete load balancer, at rest: its id."""
        if not self.world.kube.items("Node"):
            views.nodes(self.world, 2)
        self.world.kube.create(self.product.new(name, ports, **options))
        if self.world.ccmd is None:
            self.world.start_ccmd()
        self.world.wait(lambda: self.world.kube.ingress(name) and self.said(name, "EnsuredLoadBalancer"), "the load balancer", 30)
        self.world.settled()
        return self.of(name)["LoadBalancerId"]

    def of(self, name):
        """The load balancer that the status shows."""
        shown = self.world.kube.ingress(name)[0]
        return next(lb for lb in self.lbs() if shown.get("ip", shown.get("hostname")) in (lb.get("Address"), lb.get("DNSName")))

    def said(self, name, reason, part="", kind=None):
        return [message for k, r, message, _ in self.world.kube.events(name)
                if r == reason and part in message and kind in (None, k)]

    def gone(self, name="web"):
        self.world.wait(lambda: self.world.kube.get("Service", name) is None, f"the end of {name}", 30)
        self.world.settled()

    def writes(self, since):
        return [a for a in self.world.cloud.actions(since) if not a.startswith(("Describe", "List", "Get"))]
