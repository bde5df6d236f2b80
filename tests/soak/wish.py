"""What a Service of a soak asks for: drawn at random, and changed at random, such that the cloud can follow each change.

Annotations are never taken off: that does not reset what they have set, so the cloud would depend on the past.
"""

from tests.support import objects
from tests.support.products import PREFIX, PRODUCTS
from tests.support.rows import ROWS

BACKEND_TYPE = "service.beta.kubernetes.io/backend-type"
EDITABLE = {
    "clb": {"name", "delete-protection", "modification-protection", "additional-resource-tags", "scheduler", "persistence-timeout",
            "established-timeout", "connection-drain-timeout", "proxy-protocol", "health-check-connect-port", "healthy-threshold",
            "health-check-interval", "unhealthy-threshold", "health-check-connect-timeout"},
    "nlb": {"name", "cross-zone-enabled", "additional-resource-tags", "cps", "scheduler", "connection-drain-timeout",
            "preserve-client-ip", "healthy-threshold", "unhealthy-threshold", "health-check-interval", "health-check-connect-timeout"},
}
EDITS = {name: [row for row in rows if row.suffix in EDITABLE[name] and "tcp" in row.protocols] for name, rows in ROWS.items()}
PORTS = ([(80, "TCP")],
         [(80, "TCP"), (443, "TCP")], [(80, "TCP"), (53, "UDP")], [(80, "TCP"), (443, "TCP"), (8080, "TCP")], [(443, "TCP")])
RANGES = (["10.0.0.0/8"], ["10.0.0.0/8", "192.168.0.0/16"], ["0.0.0.0/0"])
PODS = [(f"10.{1 if node % 2 else 2}.{node}.{number}", f"node-{node}") for node in range(1, 6) for number in range(1, 9)]
NLB_CLASS = PRODUCTS["nlb"].service_class
OTHERS_CLASS = "example.com/other"


def written(value):
    return value[0] if isinstance(value, tuple) else value


class Wish:
    """One Service. reuse: handle and id of the load balancer of a person that it may use, by product."""

    def __init__(self, name, random, reuse):
        self.name = name
        self.random = random
        self.product = random.choice(("clb", "nlb"))
        self.reuse = reuse if random.random() < 0.5 else {}
        self.ports = random.choice(PORTS)
        self.policy = random.choice(("Cluster", "Cluster", "Local"))
        self.eni = random.random() < 0.25
        self.ranges = random.choice(RANGES) if random.random() < 0.2 and not self.reuse else None
        self.movable = random.random() < 0.3  # to the other product, whose annotations would be others
        self.rows = {product: [] if self.movable else self._rows(product) for product in EDITS}
        self.values = {product: [0] * len(rows) for product, rows in self.rows.items()}
        self.kind = "LoadBalancer"
        self.foreign_class = False
        self.draw_pods()

    def _rows(self, product):
        known = [row for row in EDITS[product] if not (self.reuse and row.kind == "lb")]
        return self.random.sample(known, self.random.choice((0, 0, 1, 2, 3)))

    def draw_pods(self):
        self.pods = [(*pod, self.random.random() > 0.1) for pod in self.random.sample(PODS, self.random.choice((0, 1, 1, 2, 3, 5, 8)))]

    # --- as objects ---

    def annotations(self, product=None):
        product = product or self.product
        found = {BACKEND_TYPE: "eni" if self.eni else "ecs"}
        if product == "nlb":
            found[PREFIX + "zone-maps"] = "cn-hangzhou-h:vsw-a,cn-hangzhou-i:vsw-b"
        if product in self.reuse:
            found.update({PREFIX + "id": self.reuse[product], PREFIX + "force-override-listeners": "true"})
        for row, value in zip(self.rows[product], self.values[product]):
            found.update({PREFIX + key: text for key, text in row.base.items() if text is not None})
            found[PREFIX + row.suffix] = written(row.values[value])
        return found

    def spec(self):
        """Everything that a change of the type or class has to say."""
        balanced = self.kind == "LoadBalancer"
        return {
            "type": self.kind, "loadBalancerSourceRanges": self.ranges if balanced else None,
            "loadBalancerClass": self._class() if balanced else None,
            "externalTrafficPolicy": self.policy if self.kind != "ClusterIP" else None}

    def _class(self):
        if self.foreign_class:
            return OTHERS_CLASS
        return NLB_CLASS if self.product == "nlb" else None

    def service(self):
        made = objects.service(self.name, self.ports, annotations=self.annotations(), policy=self.policy)
        made["spec"].update(self.spec())
        made["spec"] = {key: value for key, value in made["spec"].items() if value is not None}
        return made

    def slices(self):
        """Two of them, so that endpoints stand in more than one place."""
        half = (len(self.pods) + 1) // 2
        service = objects.service(self.name, self.ports)
        return [objects.endpoint_slice(service, self.pods[:half], "a"), objects.endpoint_slice(service, self.pods[half:], "b")]
